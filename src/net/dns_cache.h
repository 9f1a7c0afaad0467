/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_cache.h - what a name server said, for as long as it holds.
 *
 *     sn_dns_cache_put(&c, name, SEINE_OK, &answer, now + sn_dns_keep(SEINE_OK, ttl));
 *     if (sn_dns_cache_get(&c, name, now, &e, &answer))
 *         …                                              e is OK, or what failed
 *
 * When `max` names are there the least recently asked goes. What is over is forgotten
 * when somebody asks for it, or when it is the oldest.
 *
 * Time    is passed in.
 * Memory  80 bytes and a slot of a map per name, its text, 4 or 16 bytes an address:
 *         about 200 in all, 710 at most.
 * Threads one owner.
 */
#ifndef SN_DNS_CACHE_H
#define SN_DNS_CACHE_H

#include "base/map.h"
#include "net/dns.h"

struct sn_dns_entry;

typedef struct sn_dns_cache {
    sn_map names;
    struct sn_dns_entry *newest, *oldest;
} sn_dns_cache;

void sn_dns_cache_init(sn_dns_cache *c, uint32_t max);
void sn_dns_cache_fini(sn_dns_cache *c);

/* Takes the place of what was known. Without memory nothing is. */
void sn_dns_cache_put(sn_dns_cache *c, sn_str name, seine_err e,
                      const sn_dns_answer *answer, seine_time until);

/* False: not known, or not any more. out_answer is written when *out_e is OK. */
bool sn_dns_cache_get(sn_dns_cache *c, sn_str name, seine_time now, seine_err *out_e,
                      sn_dns_answer *out_answer);

/* How long this holds: addresses for their time to live, from 1 s to 1 h; that there is
 * no such name 60 s; a server's failure 1 s; our own 0. */
seine_span sn_dns_keep(seine_err e, int64_t ttl_seconds);

#endif
