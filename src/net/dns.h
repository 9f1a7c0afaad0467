/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns.h - which addresses has this name?
 *
 * c-ares asks, two questions per name so that a slow family does not hold the other;
 * answers are kept for their time to live (1 s to 1 h; that there is no such name 60 s
 * at most, failures 1 s), 65,536 names at most, the least recently used goes first. One
 * lookup is in flight per name, others join it; at most 256 in all, the rest queue.
 *
 *     switch (sn_dns_ask(dns, SN_STR("e.example"), 80, now, deadline, &lookup)) {
 *     case SEINE_OK:       use lookup.answer …            it was known
 *     case SEINE_E_BUSY:   …                              lookup.done will be called
 *     default:             e                              known to fail
 *     }
 *
 * An answer comes when both families are there, or one is and 50 ms have passed without
 * the other; or at the deadline. Names are lower-case LDH and "_" without a dot at the
 * end (seine_url_name makes them so), asked as they are: no search domains. localhost
 * and *.localhost are this machine, address literals themselves (without brackets), and
 * the hosts file is read once, by new; none of these reaches a server.
 *
 * When servers fail nearly all of 20 or more questions in 10 s, a breaker answers in
 * their place for 5 s: DNS_SERVFAIL, at once.
 *
 * Time    through the loop.
 * Memory  bounded by names and by 16 addresses per family.
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
    const char *const *resolve; /* "host:port:addr"; NULL ends; these never expire */
    seine_family family;
    seine_span timeout; /* 5 s: of one question; 0 is that, too */
    uint32_t max_names; /* 65536; 0 is that, too */
} sn_dns_opts;

struct sn_question;

/* One who asks; part of its owner; zeroed but for `done` and `of`, which are its. */
typedef struct sn_lookup {
    /* Never from inside ask or cancel. e: OK and an answer, valid during the call; or
     * DNS_NXDOMAIN, DNS_SERVFAIL, DNS_ERROR, DNS_TIMEOUT; of our own NO_FILES, NOMEM.
     * It may ask again. */
    void (*done)(struct sn_lookup *l, seine_err e, const sn_dns_answer *answer);
    struct sn_lookup *next, **prev; /* the others that wait for the same name */
    sn_dns_answer answer;
    sn_timer timer;
    struct sn_question *question; /* that it waits for */
    void *of;
} sn_lookup;

/* CONFIG, and the diag says what: a resolve entry or the server
 * is no such thing. NOMEM. */
SEINE_MUST_CHECK seine_err sn_dns_new(sn_loop *loop, const sn_dns_opts *opts,
                                      sn_dns **out_dns, seine_diag *diag);
void sn_dns_free(sn_dns *d); /* nobody waits */

/* OK: l->answer. BUSY: l->done will be called by `deadline`. Otherwise the error is
 * known; DNS_BAD_NAME, NOMEM. `port` matters for `resolve` entries. */
SEINE_MUST_CHECK seine_err sn_dns_ask(sn_dns *d, sn_str name, uint16_t port,
                                      seine_time now, seine_time deadline, sn_lookup *l);
void sn_dns_cancel(sn_dns *d, sn_lookup *l); /* not waiting is fine */

/* For metrics: asked and known; questions by how they ended. */
typedef struct sn_dns_stats {
    uint64_t hits, ok, nxdomain, errors, timeouts;
} sn_dns_stats;
void sn_dns_stats_get(const sn_dns *d, sn_dns_stats *out_stats);

#endif
