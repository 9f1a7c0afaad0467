/* SPDX-License-Identifier: Apache-2.0 */
/* keyed.h - the table of buckets as call.c uses it, beyond the contract. */
#ifndef SN_KEYED_H
#define SN_KEYED_H

#include "seine/keyed.h"

/* As seine_keyed_wait; *out_mark is written when it returns OK and `k` is not NULL. */
SEINE_MUST_CHECK seine_err sn_keyed_wait(seine_keyed *k, seine_ctx *ctx, seine_view key,
                                         int64_t n, seine_span max_wait,
                                         seine_time *out_mark);

/* As sn_shared_give_back, on the bucket of `key`. */
void sn_keyed_give_back(seine_keyed *k, seine_view key, seine_time now, seine_time mark,
                        uint32_t n);

#endif
