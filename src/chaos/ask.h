/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - a request as the evil server reads it: strictly, and on its own.
 *
 * The server judges clients, so it takes nothing that RFC 9112 does not allow and
 * shares no code with the client's parser. The head comes first, from bytes that
 * may hold more than it; the body is intake.h's:
 *
 *     snc_ask ask;
 *     switch (snc_ask_head(&ask, bytes)) {
 *     case SNC_ASK_MORE: …               read on and try again with all of it
 *     case SNC_ASK_BAD:  …               ask.why says what is wrong
 *     case SNC_ASK_OK:   …               ask.head_len bytes are used up
 *     }
 *
 * What is refused: a line that does not end in CRLF, a folded line, a control
 * byte, a name that is no token, no Host or two of them in HTTP/1.1, a target
 * with a fragment or a byte outside of ASCII, lengths that are no number or
 * contradict each other, length and chunked together, any other coding.
 *
 * Time    plays no part.
 * Memory  nothing is allocated; an ask looks into the bytes it was made from.
 * Threads any thread.
 */
#ifndef SNC_ASK_H
#define SNC_ASK_H

#include "base/str.h"

#define SNC_ASK_HEAD   65536 /* bytes of a head */
#define SNC_ASK_FIELDS 128

typedef enum snc_ask_got { SNC_ASK_OK, SNC_ASK_MORE, SNC_ASK_BAD } snc_ask_got;

typedef struct snc_ask_field {
    sn_str name, value;
} snc_ask_field;

typedef struct snc_ask {
    sn_str method, target; /* as on the wire */
    sn_str path, query;    /* the target's, without "?"; of an absolute one, too */
    sn_str host;           /* of the target or of Host, with its port; may be empty */
    unsigned minor;        /* HTTP/1.minor */
    bool keep_alive, chunked, continues, absolute;
    bool connect;    /* to `host`, which has a port; there is no path */
    uint64_t length; /* of the body, when it is not chunked */
    size_t head_len;
    const char *why; /* when it is bad; static */
    size_t count;
    snc_ask_field fields[SNC_ASK_FIELDS];
} snc_ask;

/* Reads the head at the start of `bytes`. */
snc_ask_got snc_ask_head(snc_ask *ask, sn_str bytes);

/* The first field of that name, in any case; ptr NULL when there is none. */
sn_str snc_ask_field_of(const snc_ask *ask, sn_str name);

/* The value of the cookie, of all Cookie fields; ptr NULL when there is none. */
sn_str snc_ask_cookie(const snc_ask *ask, sn_str name);

/* The host without its port. */
sn_str snc_ask_host_name(const snc_ask *ask);

#endif
