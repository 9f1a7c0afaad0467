/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_cache.h - cache DNS answers for their TTL.
 *
 *     sn_dns_cache_put(&c, name, SEINE_OK, &answer, now + sn_dns_keep(SEINE_OK, ttl));
 *     if (sn_dns_cache_get(&c, name, now, &e, &answer))
 *         …                                              e is OK, or what failed
 *
 * At `max` names the least recently used one is dropped. An expired answer is dropped
 * when it is asked for, or when it is the least recently used.
 *
 * Time    is passed in.
 * Memory  48 bytes and a slot of a map per name, its text, 4 or 16 bytes an address:
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

/* Replaces the entry of the name. Without memory nothing is cached. */
void sn_dns_cache_put(sn_dns_cache *c, sn_str name, seine_err e,
                      const sn_dns_answer *answer, seine_time until);

/* False: not cached, or expired. out_answer is written if *out_e is OK. */
bool sn_dns_cache_get(sn_dns_cache *c, sn_str name, seine_time now, seine_err *out_e,
                      sn_dns_answer *out_answer);

/* Returns how long to cache a result: addresses for their TTL, from 1 s to 1 h; NXDOMAIN
 * 60 s; a server's failure 1 s; a local failure 0. */
seine_span sn_dns_keep(seine_err e, int64_t ttl_seconds);

#endif
