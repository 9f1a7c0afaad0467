/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - how did many calls go? Totals, averages and a rate, kept as one goes.
 *
 *     seine_summary s = SEINE_SUMMARY;
 *     seine_summary_add(&s, e == SEINE_OK, res.took);
 *     printf("%.1f %% of %llu\n", seine_summary_rate(&s), s.total);
 *
 * `total_duration_ms` is the sum over all calls, which is more than the time that
 * passed when calls run at once; that stands in `wall_ms`, set by the caller.
 *
 * Time    durations are passed in.
 * Memory  a plain value.
 * Threads one owner.
 */
#ifndef SEINE_SUMMARY_H
#define SEINE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/time.h"

typedef struct seine_summary {
    uint64_t total, success, failed;
    uint64_t total_duration_ms, wall_ms;
    seine_span rest; /* of the durations, below a millisecond */
} seine_summary;

#define SEINE_SUMMARY    \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }

SEINE_BEGIN

void seine_summary_add(seine_summary *s, bool ok, seine_span took);

/* Whole milliseconds, rounded down; 0 of 0. */
uint64_t seine_summary_avg_ms(const seine_summary *s);

/* success / total * 100, in that order; 0.0 of 0. */
double seine_summary_rate(const seine_summary *s);

SEINE_END

#endif
