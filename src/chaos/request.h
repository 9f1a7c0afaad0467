/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - parses a request strictly, without code of the client.
 *
 * The server judges clients, so it accepts only what RFC 9112 allows and shares no code
 * with the client's parser. The head comes first, from bytes that may hold more;
 * request_body.h reads the body:
 *
 *     snc_request req;
 *     switch (snc_request_head(&req, bytes)) {
 *     case SNC_PARSED_MORE: …            read on and try again with all of it
 *     case SNC_PARSED_BAD:  …            req.why says what is wrong
 *     case SNC_PARSED_OK:   …            req.head_len bytes are used up
 *     }
 *
 * It refuses: a line that does not end in CRLF, a folded line, a control byte, a name
 * that is no token, no Host or two of them in HTTP/1.1, a target with a fragment or a
 * byte outside of ASCII, lengths that are no number or contradict each other, length and
 * chunked together, any other coding.
 *
 * Time    plays no part.
 * Memory  nothing is allocated; a request points into the bytes it was made from.
 * Threads any thread.
 */
#ifndef SNC_REQUEST_H
#define SNC_REQUEST_H

#include "base/str.h"

#define SNC_REQUEST_HEAD   65536 /* bytes of a head */
#define SNC_REQUEST_FIELDS 128

typedef enum snc_parsed { SNC_PARSED_OK, SNC_PARSED_MORE, SNC_PARSED_BAD } snc_parsed;

typedef struct snc_request_field {
    sn_str name, value;
} snc_request_field;

typedef struct snc_request {
    sn_str method, target; /* as on the wire */
    sn_str path, query;    /* of the target, without "?"; also of an absolute one */
    sn_str host;           /* of the target or of Host, with its port; may be empty */
    unsigned minor;        /* HTTP/1.minor */
    bool keep_alive, chunked, continues, absolute;
    bool connect;    /* CONNECT to `host`, which has a port; there is no path */
    uint64_t length; /* of the body, when it is not chunked */
    size_t head_len;
    const char *why; /* why it is bad; static */
    size_t count;
    snc_request_field fields[SNC_REQUEST_FIELDS];
} snc_request;

/* Reads the head at the start of `bytes`. */
snc_parsed snc_request_head(snc_request *req, sn_str bytes);

/* The first field of that name, case-insensitive; ptr NULL: none. */
sn_str snc_request_field_of(const snc_request *req, sn_str name);

/* The value of the cookie, from all Cookie fields; ptr NULL: none. */
sn_str snc_request_cookie(const snc_request *req, sn_str name);

/* The host without its port. */
sn_str snc_request_host_name(const snc_request *req);

#endif
