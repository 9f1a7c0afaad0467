/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_limit.h - throttle strategies that find their limit themselves.
 *
 * Time    comes with the samples; no clock is read.
 * Memory  one allocation, which the strategy's fini frees; an sn_aimd allocates nothing.
 * Threads any thread; an sn_aimd has one owner.
 */
#ifndef SN_ADAPTIVE_LIMIT_H
#define SN_ADAPTIVE_LIMIT_H

#include "seine/throttle.h"

extern const seine_throttle_ops sn_adaptive_limit_ops;

/* AIMD alone, for a throttle with one owner that never waits, so nothing is locked. For
 * seine_throttle_init_custom, with `self` the sn_aimd. */
typedef struct sn_aimd {
    seine_time lowered_at;     /* slots older than this cannot lower the limit again */
    uint32_t limit, successes; /* successes since the limit last moved */
    uint32_t min, max;
} sn_aimd;

#define SN_AIMD(initial, min, max)            \
    {                                         \
        INT64_MIN, (initial), 0, (min), (max) \
    }

extern const seine_throttle_ops sn_aimd_ops;
void sn_aimd_ceiling(sn_aimd *a, uint32_t max); /* `max` is at least `min` */
void sn_aimd_sample(void *self, seine_outcome how, seine_time start, seine_time now,
                    uint32_t in_flight);

/* INVAL, NOMEM. */
seine_err sn_adaptive_limit_new(const seine_adapt_opts *opts, void **out_self);

/* Caps the limit at `max` from now on; INVAL when `max` is below the minimum. */
seine_err sn_adaptive_limit_ceiling(void *self, uint32_t max);

#endif
