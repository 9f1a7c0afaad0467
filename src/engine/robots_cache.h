/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_cache.h - the robots.txt of one host: is it known, what does it say, when is it
 * asked for again?
 *
 *     UNKNOWN → ASKED → PARSED       2xx: what the text says, for 24 h
 *                     → ABSENT       4xx but 429, too many redirects, a host that is not
 *                                    there: everything is allowed, for 24 h
 *                     → UNREACHABLE  5xx, 429, no response: nothing for now; asked again
 *                                    after 60 s, doubling up to 1 h
 *
 * A host whose name does not exist, whose address is forbidden or whose certificate is
 * bad counts as one without rules: its pages then fail for their own reason.
 *
 *     sn_robots_cache_settle(&rules, &fault, body, agent, now);
 *     if (!sn_robots_cache_allow(&rules, agent, target, &verdict, &steps))
 *         …                                   verdict.rule, verdict.line
 *
 * Time    is passed in.
 * Memory  the lines that count for the agent, and 44 bytes for each.
 * Threads one owner.
 */
#ifndef SN_ROBOTS_CACHE_H
#define SN_ROBOTS_CACHE_H

#include "base/str.h"
#include "seine/robots.h"
#include "seine/time.h"

typedef enum sn_robots_state {
    SN_ROBOTS_UNKNOWN, /* nobody asked yet, or it is too old */
    SN_ROBOTS_ASKED,
    SN_ROBOTS_PARSED,
    SN_ROBOTS_ABSENT,
    SN_ROBOTS_UNREACHABLE,
} sn_robots_state;

typedef struct sn_robots_cache {
    seine_robots *robots; /* PARSED; stays for its sitemaps while it is asked again */
    seine_time until;     /* PARSED, ABSENT: good before; UNREACHABLE: asked again at */
    uint8_t state;        /* sn_robots_state */
    uint8_t failures;     /* in a row */
} sn_robots_cache;

enum { SN_ROBOTS_HOPS = 5 }; /* redirects of robots.txt that are followed */

void sn_robots_cache_fini(sn_robots_cache *r);

/* What the end of the last attempt means. `body` is what came of it; of its groups those
 * for `agent` are kept (NULL: all). NOMEM: it is as if there had been no response. */
void sn_robots_cache_settle(sn_robots_cache *r, const seine_fault *end, sn_str body,
                            const char *agent, seine_time now);

/* It cannot be had for now; there is none, or none that counts. */
void sn_robots_cache_fail(sn_robots_cache *r, seine_time now);
void sn_robots_cache_ignore(sn_robots_cache *r, seine_time now);

/* Are they too old to be used? Then the state is UNKNOWN. */
bool sn_robots_cache_expire(sn_robots_cache *r, seine_time now);

/* PARSED or ABSENT: what they say about the target of a URL. Adds the steps that it took
 * (text/robots.h). */
bool sn_robots_cache_allow(const sn_robots_cache *r, const char *agent, sn_str target,
                           seine_robots_verdict *out_verdict, uint64_t *io_steps);

/* Bytes of memory that the rules hold. */
size_t sn_robots_cache_bytes(const sn_robots_cache *r);

/* Room for the rule that refuses, as records tell it: "robots.txt:14 Disallow: /cgi". */
enum { SN_ROBOTS_RULE = 256 };
size_t sn_robots_cache_rule(const seine_robots_verdict *v, char out[SN_ROBOTS_RULE]);

/* Crawl-delay, at most `longest`; 0: none. *out_cut: it was longer. */
seine_span sn_robots_cache_delay(const sn_robots_cache *r, const char *agent,
                                 seine_span longest, bool *out_cut);

#endif
