/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hit_counter.h - how often each key was asked for, and how fast.
 *
 *     snc_key *key = snc_hit_counter_hit(&counter, SN_STR("a.test/ok"));
 *     if (key->hits > 1 && snc_key_limit(key, now, 10, window))
 *         refuse();
 *
 * The hits include this one.
 *
 * Time    is passed in.
 * Memory  about 100 bytes and the name per key, 262,144 keys; a rate adds 8 bytes
 *         per request it allows in its window. Keys that find no room are counted.
 * Threads one owner.
 */
#ifndef SNC_HIT_COUNTER_H
#define SNC_HIT_COUNTER_H

#include "base/map.h"
#include "seine/time.h"

#define SNC_HIT_COUNTER_KEYS 262144

typedef struct snc_key {
    uint64_t hits, in_flight;
    seine_time *taken; /* a ring: moments of the last admissions */
    uint64_t room, next;
    sn_str name;
    char text[];
} snc_key;

typedef struct snc_hit_counter {
    sn_map keys;
    uint64_t dropped;
} snc_hit_counter;

void snc_hit_counter_init(snc_hit_counter *t);
void snc_hit_counter_fini(snc_hit_counter *t);
void snc_hit_counter_reset(snc_hit_counter *t); /* forgets all keys */

/* Counts one hit. NULL: no room; the hit is counted as dropped. */
snc_key *snc_hit_counter_hit(snc_hit_counter *t, sn_str name);

/* Admits the request and returns false, unless `rate` were admitted during the window
 * that ends now. Without memory for the ring it admits all. */
bool snc_key_limit(snc_key *key, seine_time now, uint64_t rate, seine_span window);

#endif
