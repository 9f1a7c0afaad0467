/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socks.h - parses the messages of a client to a SOCKS5 proxy (RFC 1928, 1929).
 *
 *     snc_socks s = {.at = SNC_SOCKS_HELLO};
 *     switch (snc_socks_read(&s, bytes, &used)) {
 *     case SNC_PARSED_MORE: …              read on and try again with all of it
 *     case SNC_PARSED_BAD:  …              s.why says what is wrong
 *     case SNC_PARSED_OK:   …              one message; `at` stays the caller's
 *     }
 *
 * Time    plays no part.
 * Memory  nothing is allocated; texts are copied into the struct.
 * Threads any thread.
 */
#ifndef SNC_SOCKS_H
#define SNC_SOCKS_H

#include "chaos/request.h"

typedef enum snc_socks_at {
    SNC_SOCKS_HELLO,
    SNC_SOCKS_LOGIN,
    SNC_SOCKS_REQUEST
} snc_socks_at;

typedef struct snc_socks {
    snc_socks_at at;
    bool offers_none, offers_login; /* among the methods */
    char login[512];                /* "USER:PASSWORD"; empty: none was given */
    size_t login_len;
    unsigned command, type; /* 1: connect; 1: IPv4, 3: a name, 4: IPv6 */
    char host[256];         /* a name, or an address as text */
    uint16_t port;
    const char *why; /* static */
} snc_socks;

snc_parsed snc_socks_read(snc_socks *s, sn_str bytes, size_t *out_used);

#endif
