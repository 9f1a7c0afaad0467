/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rules.h - may a browser's request be for this console, and does it come from
 * one of its own pages?
 *
 * A page of another site can make a browser send requests to 127.0.0.1, and a name of
 * another site can lead there (DNS rebinding). `Host` must therefore be a name of this
 * server, `Origin`, if there is one, the origin of that very host, and a request that
 * changes something must be JSON, which no form can send.
 *
 *     sn_request_rules rules;
 *     e = sn_request_rules_init(&rules, "127.0.0.1:8787", NULL);
 *     int status = sn_request_rules_host(&rules, host);          0, or 421
 *     status = sn_request_rules_origin(&rules, host, origin);    0, or 403
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread once initialised.
 */
#ifndef SN_REQUEST_RULES_H
#define SN_REQUEST_RULES_H

#include "base/str.h"

typedef struct sn_request_rules {
    char hosts[4][80]; /* lower case */
    size_t n_hosts;
    char origin[160];      /* "https://seine.example", or "" */
    char origin_host[150]; /* its host and port */
} sn_request_rules;

/* `where` is "127.0.0.1:8787", "[::1]:8787" or "unix:/path"; `origin` may be NULL.
 * CONFIG: an origin that is none; UNKNOWN: every address is listened on, and there is no
 * origin, so no Host would be right. */
SEINE_MUST_CHECK seine_err sn_request_rules_init(sn_request_rules *r, const char *where,
                                                 const char *origin);

/* 0, or the status that refuses the request. */
int sn_request_rules_host(const sn_request_rules *r, sn_str host);
/* `origin` with ptr NULL: the request has none. The host has passed already. */
int sn_request_rules_origin(const sn_request_rules *r, sn_str host, sn_str origin);
/* Of a request that changes something: 415 or 403. Absent fields have ptr NULL. */
int sn_request_rules_unsafe(sn_str content_type, sn_str fetch_site);

#endif
