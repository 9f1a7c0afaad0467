/* SPDX-License-Identifier: Apache-2.0 */
/* keyed.h - the table of buckets as call.c and gates use it, beyond the contract. */
#ifndef SN_KEYED_H
#define SN_KEYED_H

#include "seine/keyed.h"

/* As seine_keyed_wait; *out_mark is written when it returns OK and `k` is not NULL. */
SEINE_MUST_CHECK seine_err sn_keyed_wait(seine_keyed *k, seine_ctx *ctx, seine_view key,
                                         int64_t n, seine_span max_wait,
                                         seine_time *out_mark);

/* All buckets that come later are empty at `now`. The table has no key yet. */
void sn_keyed_start_empty(seine_keyed *k, seine_time now);

/* As sn_shared_give_back, on the bucket of `key`. */
void sn_keyed_give_back(seine_keyed *k, seine_view key, seine_time now, seine_time mark,
                        uint32_t n);

/* Called for each key that owes tokens, without locks; `full` is the moment at which its
 * bucket is full again. False stops. */
typedef bool (*sn_keyed_debt_fn)(seine_view key, seine_time full, void *arg);

/* Visits every key of at most `SN_KEYED_DEBT_KEY` bytes that is not full at `now`, pauses
 * and own rates aside. False: `fn` stopped it. */
enum { SN_KEYED_DEBT_KEY = 24 };
bool sn_keyed_debts(const seine_keyed *k, seine_time now, sn_keyed_debt_fn fn, void *arg);

/* The key owes until `full` or longer: never shortens a debt. FULL: no room. */
SEINE_MUST_CHECK seine_err sn_keyed_owe(seine_keyed *k, seine_view key, seine_time now,
                                        seine_time full);

/* The moment at which the bucket is full that keys without a place share, and another one
 * for it: a debt is never shortened. */
seine_time sn_keyed_overflow_full(const seine_keyed *k);
void sn_keyed_overflow_owe(seine_keyed *k, seine_time full);

#endif
