/* SPDX-License-Identifier: Apache-2.0 */
/* breaker_stats.h - are two breakers in the same state? */
#ifndef BREAKER_STATS_H
#define BREAKER_STATS_H

#include <stdbool.h>

#include "seine/breaker.h"

/* All but the generation, which begins higher in a registry. */
static inline bool
breaker_stats_alike(const seine_breaker_stats *a, const seine_breaker_stats *b)
{
    return a->state == b->state && a->why == b->why && a->failures == b->failures &&
           a->half_open_successes == b->half_open_successes &&
           a->half_open_failures == b->half_open_failures &&
           a->half_open_active == b->half_open_active && a->streak == b->streak &&
           a->last_failure_at == b->last_failure_at && a->open_until == b->open_until &&
           a->succeeded == b->succeeded && a->failed == b->failed &&
           a->ignored == b->ignored && a->slow == b->slow && a->rejected == b->rejected &&
           a->late == b->late && a->opened == b->opened &&
           a->failure_rate == b->failure_rate && a->slow_rate == b->slow_rate;
}

#endif
