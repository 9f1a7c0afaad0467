/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eta.h - how long will the rest of the work take?
 *
 * An eta counts the results of each of the last 60 seconds. The work that is left,
 * divided by the upper and by the lower quartile of these counts, is an interval: 1,000
 * results at 40 to 50 a second are 20 to 25 seconds. Where the last five seconds were
 * faster than the upper quartile, their rate is the fast end. An eta gives no interval in
 * its first 5 seconds, nor before 20 results.
 *
 *     seine_eta e;
 *     seine_eta_init(&e, now);
 *     seine_eta_add(&e, now, done, known);
 *     if (seine_eta_interval(&e, now, known - done, &low, &high))
 *         printf("%d to %d s", (int)(low / SEINE_SECS(1)), (int)(high / SEINE_SECS(1)));
 *
 * In a crawl results bring new work. The growth is the new work per result, over the last
 * quarter of the results and over 1,000 of them at most, so that the URLs of a sitemap
 * read at the beginning are soon forgotten. With a growth g below 1 each piece of work
 * becomes 1 / (1 - g) pieces in the end; from 1 on the work has no end in sight.
 *
 * Time    is an argument; after a pause longer than a minute the last minute counts.
 * Memory  1,320 bytes, the caller's; nothing is allocated.
 * Threads one owner.
 */
#ifndef SEINE_ETA_H
#define SEINE_ETA_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/time.h"

enum { SEINE_ETA_SLOTS = 60, SEINE_ETA_MARKS = 64, SEINE_ETA_WINDOW = 1000 };

/* Private: `known` pieces of work were known when `done` were done. */
typedef struct seine_eta_mark {
    uint64_t done, known;
} seine_eta_mark;

typedef struct seine_eta { /* private */
    seine_time start, slot_end;
    uint64_t done, slot_done;        /* results by now, and when the slot began */
    uint32_t slots[SEINE_ETA_SLOTS]; /* a ring: results of each second */
    uint32_t next, filled;
    uint64_t known;
    seine_eta_mark marks[SEINE_ETA_MARKS]; /* a ring: at least 15 results apart */
    uint32_t n_marks;
} seine_eta;

SEINE_BEGIN

void seine_eta_init(seine_eta *e, seine_time now);

/* Tells how many results there are and how much work is known, the results included. Both
 * are totals and never shrink. Call as often as you like; with calls more than a second
 * apart, the results of the gap go to one slot. */
void seine_eta_add(seine_eta *e, seine_time now, uint64_t done, uint64_t known);

/* Results per second over the last five seconds; 0 before the first result. */
double seine_eta_rate(const seine_eta *e, seine_time now);

/* New work per result; 0 before 20 results. */
double seine_eta_growth(const seine_eta *e);

/* What `left` becomes with the growth: left / (1 - growth). UINT64_MAX: the growth is 1
 * or more. */
uint64_t seine_eta_grown(const seine_eta *e, uint64_t left);

/* How long `left` more results take, in whole seconds, rounded outwards and at most 99
 * hours. False, and nothing written: too little is known. */
bool seine_eta_interval(const seine_eta *e, seine_time now, uint64_t left,
                        seine_span *out_low, seine_span *out_high);

SEINE_END

#endif
