/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - sequences and rates: which of the requests for a key fail, and how.
 *
 *     /ok?fail=2&with=status:503         hits 1 and 2 fail, all later ones are fine
 *     /ok?pattern=5ok5fail               five of each, for ever
 *     /ok?seq=status:500,reset:0,ok      one after the other, the last repeats
 *     /ok?rate=10&retry_after=2          429 above ten a second
 *     /ok?p=0.1                          one in ten, decided by the seed
 *     /ok?max=4                          503 when more than four are in flight
 *
 * Everything is counted per `key=`, or without one per host and path, so requests for
 * other keys do not matter. When several words stand together, the first of max, rate,
 * seq, pattern, fail, p that fails decides.
 *
 *     snc_flow flow;
 *     if (!snc_flow_parse(query, &arena, &flow, &why))
 *         return complain(why);
 *     snc_verdict v = snc_flow_decide(&flow, &turn);
 *
 * Other names in a query mean nothing here.
 *
 * Time    matters for `rate` alone, as `too_fast` of the turn.
 * Memory  decoded texts come from the arena.
 * Threads any thread.
 */
#ifndef SNC_FLOW_H
#define SNC_FLOW_H

#include "base/arena.h"
#include "base/str.h"
#include "seine/time.h"

#define SNC_FLOW_RATE 10000 /* the highest `rate` */

typedef struct snc_flow {
    uint64_t fail;
    sn_str with, pattern, seq, retry_after, key; /* ptr NULL: missing */
    uint64_t rate;                               /* 0: none */
    seine_span window;                           /* of the rate */
    uint64_t p;                                  /* parts per 10^9 */
    uint64_t max;                                /* 0: none */
} snc_flow;

/* What a decision depends on. */
typedef struct snc_turn {
    uint64_t seed, hit; /* the first hit is 1 */
    sn_str key;
    uint64_t in_flight; /* this request included */
    bool too_fast;      /* above the rate */
} snc_turn;

typedef struct snc_verdict {
    bool fails;
    sn_str words; /* what the request gets; empty: the path as it is */
} snc_verdict;

bool snc_flow_parse(sn_str query, sn_arena *arena, snc_flow *out_flow,
                    const char **out_why);
snc_verdict snc_flow_decide(const snc_flow *f, const snc_turn *turn);

#endif
