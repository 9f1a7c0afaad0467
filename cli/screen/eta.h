/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eta.h - how long will it take still, honestly?
 *
 * The results of each of the last 60 seconds are kept. What is left, divided by the
 * fast and by the slow quartile of these rates, is an interval, and the interval is
 * what is shown. Where the last seconds were faster still, they are the fast end. Nothing
 * is said in the first 5 s, nor before 20 results.
 *
 *     eta_add(&e, now, done, known);                as often as one likes
 *     if (eta_interval(&e, now, left, &low, &high))
 *         printf("ETA %s–%s", …);
 *
 * Where results bring new work, the growth is what the last quarter of them brought,
 * each, or the last 1,000: what a sitemap told at the beginning is soon forgotten.
 * With a growth g below 1 the work that is left becomes left / (1 - g) in the end; from 1
 * on there is no end in sight.
 *
 * Time    passed in.
 * Memory  a plain value.
 */
#ifndef CLI_ETA_H
#define CLI_ETA_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/time.h>

enum { ETA_SLOTS = 60, ETA_MARKS = 64, ETA_WINDOW = 1000 };

/* So many were done when so many were known. */
typedef struct eta_mark {
    uint64_t done, known;
} eta_mark;

typedef struct eta {
    seine_time start, slot_end;
    uint64_t done, slot_done; /* results by now, and when the slot began */
    uint32_t slots[ETA_SLOTS];
    uint32_t next, filled;
    uint64_t known;            /* done, and waiting for it */
    eta_mark marks[ETA_MARKS]; /* a ring, at least ETA_WINDOW / ETA_MARKS results apart */
    uint32_t n_marks;
} eta;

void eta_init(eta *e, seine_time now);
void eta_add(eta *e, seine_time now, uint64_t done, uint64_t known);

/* Results per second over the last few seconds; 0 before the first. */
double eta_rate(const eta *e, seine_time now);

/* New work per result; 0 before there are 20. */
double eta_growth(const eta *e);

/* Of `left`, as it stands. */
bool eta_interval(const eta *e, seine_time now, uint64_t left, seine_span *out_low,
                  seine_span *out_high);

#endif
