/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns.h - resolve a host name to addresses.
 *
 * c-ares sends two questions per name (A, AAAA), so that a slow family does not delay the
 * other. Answers are cached for their TTL (1 s to 1 h; NXDOMAIN at most 60 s; failures 1
 * s), up to 65,536 names, least recently used out first. There is one lookup in flight
 * per name, which others join, and at most 256 in all; the rest queue.
 *
 *     switch (sn_dns_ask(dns, SN_STR("e.example"), 80, now, deadline, &lookup)) {
 *     case SEINE_OK:       use *lookup.answer …           it was known
 *     case SEINE_E_BUSY:   …                              lookup.done will be called
 *     default:             e                              known to fail
 *     }
 *
 * An answer comes when both families have answered, or 50 ms after the first one, or at
 * the deadline. Names are lower-case letters, digits, "-" and "_" without a trailing dot,
 * as seine_url_name makes them; there are no search domains. localhost and *.localhost,
 * address literals (without brackets) and names of the hosts file, which is read once by
 * new, never reach a server.
 *
 * If nearly all of 20 or more questions fail within 10 s, a breaker opens for 5 s:
 * lookups fail with DNS_SERVFAIL at once.
 *
 * Time    through the loop.
 * Memory  bounded by the number of names and 16 addresses per family.
 * Threads one owner: the shard's loop.
 */
#ifndef SN_DNS_H
#define SN_DNS_H

#include "net/cidr.h"
#include "net/loop.h"
#include "seine/diag.h"
#include "seine/family.h"

#define SN_DNS_ADDRESSES 16 /* per family */

typedef struct sn_dns sn_dns;

typedef struct sn_dns_answer {
    uint8_t n4, n6;
    sn_ip v4[SN_DNS_ADDRESSES], v6[SN_DNS_ADDRESSES]; /* as the server ordered them */
} sn_dns_answer;

typedef struct sn_dns_opts {
    const char *server;         /* "127.0.0.1:53"; NULL: the system's */
    const char *const *resolve; /* "host:port:addr", NULL ends; never expire */
    seine_family family;
    seine_span timeout; /* of one question; 0: 5 s */
    uint32_t max_names; /* 0: 65536 */
} sn_dns_opts;

struct sn_question;

/* A pending lookup, part of its owner; zeroed except for `done` and `of`, which the owner
 * sets. */
typedef struct sn_lookup {
    /* Never called from inside ask or cancel. e is OK with an answer, valid during the
     * call; or DNS_NXDOMAIN, DNS_SERVFAIL, DNS_ERROR, DNS_TIMEOUT, or the local NO_FILES,
     * NOMEM. May ask again. */
    void (*done)(struct sn_lookup *l, seine_err e, const sn_dns_answer *answer);
    struct sn_lookup *next, **prev; /* others that wait for the same name */
    const sn_dns_answer *answer;    /* of an ask that was OK; valid until the next ask */
    sn_timer timer;
    struct sn_question *question; /* the question it waits for */
    void *of;
} sn_lookup;

/* CONFIG: the diag says which resolve entry or server is invalid. NOMEM. */
SEINE_MUST_CHECK seine_err sn_dns_new(sn_loop *loop, const sn_dns_opts *opts,
                                      sn_dns **out_dns, seine_diag *diag);
void sn_dns_free(sn_dns *d); /* requires: no lookup waits */

/* OK: *l->answer. BUSY: l->done will be called by `deadline`. Else the error is known
 * already; DNS_BAD_NAME, NOMEM. `port` matters for `resolve` entries. */
SEINE_MUST_CHECK seine_err sn_dns_ask(sn_dns *d, sn_str name, uint16_t port,
                                      seine_time now, seine_time deadline, sn_lookup *l);
void sn_dns_cancel(sn_dns *d, sn_lookup *l); /* fine if it does not wait */

/* Returns the error of a lookup whose time is over: DNS_TIMEOUT, or what is known to be
 * wrong. */
seine_err sn_dns_why(const sn_lookup *l);

/* For metrics: cache hits, and questions by result. */
typedef struct sn_dns_stats {
    uint64_t hits, ok, nxdomain, errors, timeouts;
} sn_dns_stats;
void sn_dns_stats_get(const sn_dns *d, sn_dns_stats *out_stats);

#endif
