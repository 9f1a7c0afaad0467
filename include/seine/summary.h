/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - how did many calls go? Running totals, averages and a success rate.
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     seine_summary s = SEINE_SUMMARY;
 *     for (int i = 0; i < 3; i++)
 *         seine_summary_add(&s, i > 0, SEINE_MS(20));
 *     printf("%.1f %% of %" PRIu64 "\n", seine_summary_rate(&s), s.total);
 *
 * `total_duration_ms` is the sum over all calls. When calls run at once, this is more
 * than the time that passed, which the caller sets in `wall_ms`.
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
    seine_span rest; /* the part of all durations below a millisecond */
} seine_summary;

#define SEINE_SUMMARY    \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }

SEINE_BEGIN

void seine_summary_add(seine_summary *s, bool ok, seine_span took);

/* Whole milliseconds, rounded down; 0 without calls. */
uint64_t seine_summary_avg_ms(const seine_summary *s);

/* success / total * 100, in that order; 0.0 without calls. */
double seine_summary_rate(const seine_summary *s);

SEINE_END

#endif
