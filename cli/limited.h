/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited.h - what a token bucket does to a trace.
 *
 *     limited sim;
 *     if (limited_run(&sim, &trace, &policy) != SAY_DONE)
 *         return SAY_USAGE;
 *     limited_plot(&sim, &screen, 0);
 *     limited_sum_up(&sim, &screen);
 *     limited_free(&sim);
 */
#ifndef CLI_LIMITED_H
#define CLI_LIMITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/limiter.h>
#include <seine/plumbing.h>

#include "screen.h"
#include "trace.h"
#include "units.h"

typedef struct policy {
    pace rate; /* count 0: no limit */
    uint32_t burst;
    int64_t initial;     /* tokens, or SEINE_FULL */
    seine_span max_wait; /* 0: refused at once; SEINE_NEVER: waits for ever */
} policy;

#define LIMITED_REFUSED (-1)

/* A rate of three digits, and how it is typed. */
typedef struct offer {
    pace rate;
    char text[24];
} offer;

typedef struct limited {
    const trace *trace;
    policy policy;
    seine_span *waits; /* by request; LIMITED_REFUSED */
    uint32_t *left;    /* tokens after each request */
    uint64_t refused, waited;
    seine_span longest, sum;              /* of those that waited */
    bool weighted;                        /* some request wants other than one token */
    uint64_t peak_offered, peak_admitted; /* tokens in any one second */
    size_t *by_key;                       /* places of the requests, ordered by key */
    bool *begins;                         /* by that order: the first of its key */
    uint64_t keys;                        /* different ones; 1 without */
    uint64_t overflowed;                  /* requests whose key found no place */
    uint64_t enough_burst; /* with this burst nothing is refused or waits; 0 unknown */
    offer enough_rate;     /* or with this rate; count 0 unknown */
} limited;

/* A bucket of this policy, or why there is none. */
const char *limited_bucket(const policy *p, seine_time now, seine_limiter *out);

int limited_run(limited *sim, const trace *t, const policy *p);
void limited_free(limited *sim);

void limited_plot(const limited *sim, const screen *s, seine_span bin);
void limited_sum_up(const limited *sim, const screen *s);
void limited_decisions(const limited *sim);
seine_json *limited_summary(const limited *sim);

#endif
