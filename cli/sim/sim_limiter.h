/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_limiter.h - simulates a token bucket on a trace of requests.
 *
 *     sim_limiter sim;
 *     if (sim_limiter_run(&sim, &t, &p) != SAY_DONE)
 *         return SAY_USAGE;
 *     sim_limiter_plot(&sim, &s, 0);
 *     sim_limiter_sum_up(&sim, &s);
 *     sim_limiter_free(&sim);
 */
#ifndef CLI_SIM_LIMITER_H
#define CLI_SIM_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/limiter.h>
#include <seine/plumbing.h>
#include <seine/units.h>

#include "screen/screen.h"
#include "sim/trace.h"

typedef struct policy {
    seine_frequency rate; /* count 0: no limit */
    uint32_t burst;
    int64_t initial;     /* tokens, or SEINE_FULL */
    seine_span max_wait; /* 0: refuses at once; SEINE_NEVER: waits for ever */
} policy;

#define SIM_LIMITER_REFUSED (-1)

/* A rate of three digits, and how it is typed. */
typedef struct offer {
    seine_frequency rate;
    char text[24];
} offer;

typedef struct sim_limiter {
    const trace *trace;
    policy policy;
    seine_span *waits; /* by request; SIM_LIMITER_REFUSED */
    uint32_t *left;    /* tokens after each request */
    uint64_t refused, waited;
    seine_span longest, sum;              /* of the requests that waited */
    bool weighted;                        /* some request wants other than one token */
    uint64_t peak_offered, peak_admitted; /* tokens in any one second */
    size_t *by_key;                       /* places of the requests, ordered by key */
    bool *begins;                         /* by that order: the first of its key */
    uint64_t keys;                        /* number of different keys; 1 without keys */
    uint64_t overflowed; /* requests whose key had no room in the table */
    uint64_t
        enough_burst;  /* with this burst no request is refused or waits; 0: unknown */
    offer enough_rate; /* or with this rate; count 0: unknown */
} sim_limiter;

/* Makes a bucket of this policy. Returns NULL, or the reason why there is none. */
const char *sim_limiter_bucket(const policy *p, seine_time now, seine_limiter *out);

int sim_limiter_run(sim_limiter *sim, const trace *t, const policy *p);
void sim_limiter_free(sim_limiter *sim);

void sim_limiter_plot(const sim_limiter *sim, const screen *s, seine_span bin);
void sim_limiter_sum_up(const sim_limiter *sim, const screen *s);
void sim_limiter_decisions(const sim_limiter *sim);
seine_json *sim_limiter_summary(const sim_limiter *sim);

#endif
