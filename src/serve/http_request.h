/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_request.h - parse HTTP/1.x requests strictly.
 *
 * The reader knows no socket and no clock. The caller appends what it receives to one
 * buffer and asks again; the reader remembers how far it has looked, so that the work is
 * linear however small the pieces are.
 *
 *     sn_http_reader r = {.limits = SN_HTTP_LIMITS};
 *     switch (sn_http_read(&r, received, n, &req)) {
 *     case SN_HTTP_MORE: …                          not whole yet; r.wants_continue
 *     case SN_HTTP_WHOLE: handle(&req); drop(r.used); sn_http_reader_next(&r); …
 *     case SN_HTTP_BAD: refuse(r.status); …         and close
 *     }
 *
 * Strict means that no proxy in front can see another request in the bytes than this
 * reader does (RFC 9112, 11.2): lines end with CRLF and hold no bare CR or LF, no line is
 * folded, no blank stands before a colon, there is one Host, one length at most, and
 * never a length beside a transfer coding. The one coding is chunked, in HTTP/1.1 alone.
 *
 * Time    plays no part.
 * Memory  the caller's buffer, which the reader changes: a chunked body is joined in it.
 * Threads one owner.
 */
#ifndef SN_HTTP_REQUEST_H
#define SN_HTTP_REQUEST_H

#include "base/str.h"

enum { SN_HTTP_FIELDS = 64 };

typedef struct sn_http_limits {
    uint32_t line;   /* bytes of the request line; more is 414 */
    uint32_t head;   /* bytes of line and fields, and of trailers; more is 431 */
    uint32_t fields; /* at most SN_HTTP_FIELDS */
    uint32_t body;   /* bytes; more is 413 */
} sn_http_limits;

#define SN_HTTP_LIMITS                     \
    {                                      \
        8192, 16384, SN_HTTP_FIELDS, 65536 \
    }

typedef struct sn_http_request {
    sn_str method, target; /* target: origin form, or as it came */
    uint8_t minor;         /* HTTP/1.minor */
    bool keeps;            /* the connection, as far as the client says */
    sn_str body;
    uint32_t n_fields;
    seine_field fields[SN_HTTP_FIELDS];
} sn_http_request;

typedef enum sn_http_event { SN_HTTP_MORE, SN_HTTP_WHOLE, SN_HTTP_BAD } sn_http_event;

typedef struct sn_http_reader {
    sn_http_limits limits;
    int status;          /* of BAD */
    size_t used;         /* of WHOLE: bytes of this request */
    bool wants_continue; /* MORE: the client waits for 100 before it sends the body */
    /* private */
    uint8_t state;
    size_t start, at; /* where the request line begins; the next byte to look at */
    size_t head_end;  /* where the body begins */
    size_t body_end;  /* of what is joined so far */
    size_t left;      /* bytes of the body or the chunk that are still to come */
    size_t trailers;  /* where they begin */
    bool is_chunked;
    const char *base; /* of the views in the request */
} sn_http_reader;

/* `bytes` begin with the request; the same bytes and more come with the next call, and
 * the same `out_request`. Its views are valid after WHOLE, until the bytes change. */
sn_http_event sn_http_read(sn_http_reader *r, char *bytes, size_t n,
                           sn_http_request *out_request);

/* Ready for the next request, which begins at the front of the buffer. */
void sn_http_reader_next(sn_http_reader *r);

/* True if nothing of a request has come, empty lines aside. */
bool sn_http_reader_is_idle(const sn_http_reader *r, size_t n);

/* The nth field of that name, from 0, whatever the case of letters. */
bool sn_http_field(const sn_http_request *req, sn_str name, unsigned nth,
                   sn_str *out_value);

#endif
