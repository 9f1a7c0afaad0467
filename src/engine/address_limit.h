/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_limit.h - a thousand hosts on one address: how much of that is one server?
 *
 * Politeness is per host, but hosts share machines. One table, for all shards,
 * counts per address (IPv4 alone, IPv6 by its /64) how many requests are in flight
 * and when the address has recovered from the last ones: at most 8 at a time and
 * four times the rate of a host, unless a group says otherwise for its net.
 *
 *     sn_address_limits_opts opts = {SN_ADDRESS_LIMIT(host_every)};
 *     e = sn_address_limits_init(&t, &opts);
 *     switch (sn_address_limits_start(&t, &ip, now, &slot, &when)) {
 *     case SEINE_OK:    …      connect; at the end sn_address_limits_end(&t, slot)
 *     default:          …      put the host on the wheel until `when`
 *     }
 *
 * It limits and never schedules: nobody waits here, nobody is woken. An entry that
 * has recovered and has nothing in flight is free for another address. When none of
 * the eight places of an address is free, one overflow entry serves all that come
 * so: they are limited together, and counted.
 *
 * Time    is passed in.
 * Memory  65,536 entries of 24 bytes, 1.5 MiB, and the groups.
 * Threads any thread. A start is one CAS and one add; a lock only when an address
 *         is new.
 */
#ifndef SN_ADDRESS_LIMIT_H
#define SN_ADDRESS_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/cidr.h"
#include "seine/limiter.h"

#define SN_ADDRESS_LIMITS_SLOTS 65536

typedef struct sn_address_limit {
    uint16_t cap;     /* in flight, at least 1 */
    uint32_t burst;   /* starts at once, at least 1 */
    seine_span every; /* between two starts; 0: no limit */
} sn_address_limit;

/* The defaults beside hosts that may be asked every `host_every`. */
#define SN_ADDRESS_LIMIT(host_every) ((sn_address_limit){8, 4, (host_every) / 4})

typedef struct sn_address_limits_group {
    sn_cidr net;
    sn_address_limit limit;
} sn_address_limits_group;

typedef struct sn_address_limits_opts {
    sn_address_limit limit;
    const sn_address_limits_group
        *groups; /* the narrowest counts, of equals the last; borrowed */
    size_t n_groups;
    uint64_t secret[2]; /* of the hash; zeros: drawn */
} sn_address_limits_opts;

typedef struct sn_address_limits_entry {
    _Atomic uint64_t key;       /* hash of the address; 0: never used */
    _Atomic int64_t full;       /* when its bucket is full again */
    _Atomic uint32_t in_flight; /* and a mark while the entry changes its address */
    uint16_t rule;
} sn_address_limits_entry;

typedef struct sn_address_limits {
    sn_address_limits_entry *entries; /* one more than the slots: the overflow */
    seine_limiter *rules;             /* arithmetic of each limit; [0] is the default */
    sn_address_limits_group *groups;  /* of rules[1] … */
    size_t n_groups;
    uint64_t secret[2];
    _Atomic uint16_t cap;     /* of the default, and … */
    _Atomic seine_span every; /* … its interval, which may change */
    uint32_t burst;
    _Atomic uint32_t n_used;    /* entries that an address has */
    _Atomic uint64_t overflows; /* starts that went to the overflow entry */
    pthread_mutex_t locks[64];  /* one per stretch of homes, for new addresses */
} sn_address_limits;

/* Another interval of the default limit, from now on. */
void sn_address_limits_set_cap(sn_address_limits *t, uint16_t cap); /* at least 1 */
void sn_address_limits_set(sn_address_limits *t, seine_span every);

/* INVAL: a limit without sense, more than 65,534 groups. NOMEM. */
SEINE_MUST_CHECK seine_err sn_address_limits_init(sn_address_limits *t,
                                                  const sn_address_limits_opts *opts);
void sn_address_limits_fini(sn_address_limits *t);

/* OK: counted, and sn_address_limits_end is called with *out_slot once. BUSY: as many as
 * allowed are in flight; LIMITED: too early. Then nothing is counted and *out_when
 * says when to come back; for BUSY, which ends at no known moment, that is one
 * interval or 10 ms later. */
SEINE_MUST_CHECK seine_err sn_address_limits_start(sn_address_limits *t, const sn_ip *ip,
                                                   seine_time now, uint32_t *out_slot,
                                                   seine_time *out_when);
void sn_address_limits_end(sn_address_limits *t, uint32_t slot);

/* When a start could succeed; `now` if it could now. Takes nothing. */
seine_time sn_address_limits_when(const sn_address_limits *t, const sn_ip *ip,
                                  seine_time now);

#endif
