/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_http.h - find the payload of an HTTP message in an archive.
 *
 * A record holds a message as it was on the wire. The payload, which has a digest, is the
 * body without chunked framing, but with its content coding. So the reader skips heads,
 * interim ones too, and removes chunked framing:
 *
 *     sn_warc_http_begin(&h, head_only);
 *     while (in.len > 0 && sn_warc_http_next(&h, &in, &piece))
 *         digest(piece);                              may be empty
 *     if (sn_warc_http_is_whole(&h))
 *         tell(h.status, h.type, h.head_len);
 *
 * The reader reports no errors: a block that is not HTTP has no payload. Bytes after the
 * end of the message are not taken.
 *
 * Time    plays no part.
 * Memory  its own: the beginning of a line.
 * Threads one owner.
 */
#ifndef SN_WARC_HTTP_H
#define SN_WARC_HTTP_H

#include "base/str.h"

enum { SN_WARC_LINE = 256, SN_WARC_TYPE = 128 };

typedef struct sn_warc_http {
    bool head_only;          /* the request was HEAD: no body */
    bool is_request;         /* the message is a request */
    bool has_head;           /* the final head is complete */
    uint16_t status;         /* of the final head */
    uint64_t head_len;       /* bytes up to the body */
    uint64_t taken;          /* bytes in all */
    char type[SN_WARC_TYPE]; /* its media type in lower case, or "" */
    /* private */
    uint8_t state;
    bool is_chunked, has_length;
    uint64_t left; /* bytes of the body, or of the chunk */
    uint16_t line_len;
    bool at_first; /* line of a head */
    char line[SN_WARC_LINE];
} sn_warc_http;

void sn_warc_http_begin(sn_warc_http *h, bool head_only);

/* Takes some of `in`; *out_piece is payload, or empty. False: the message has ended, or
 * is no HTTP; nothing more is taken. */
bool sn_warc_http_next(sn_warc_http *h, sn_str *in, sn_str *out_piece);

/* Called after all bytes: is the message complete, if the connection closed here? */
bool sn_warc_http_has_ended(const sn_warc_http *h); /* by itself, not by the close */
bool sn_warc_http_is_whole(const sn_warc_http *h);

#endif
