/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_breaker.h - simulates a circuit breaker on a trace of calls.
 *
 * Every call of the trace asks the breaker at its time. An admitted call ends as the
 * trace says, after the time that the trace says. A refused call is never made; the trace
 * tells whether it would have failed (spared) or succeeded (lost).
 */
#ifndef CLI_SIM_BREAKER_H
#define CLI_SIM_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/breaker.h>
#include <seine/plumbing.h>

#include "screen/screen.h"
#include "sim/trace.h"

typedef struct change {
    seine_time at;
    seine_breaker_state from, to;
} change;

typedef struct sim_breaker {
    const trace *trace;
    const seine_breaker_opts *opts;
    bool *admitted;  /* one for each call, as the next */
    uint8_t *states; /* a seine_breaker_state: which decided */
    change *changes;
    size_t changed;
    seine_time end; /* the last call has ended */
    uint64_t refused;
    uint64_t failed, reached; /* failures in the trace; those that were called */
    uint64_t lost;            /* refused calls that would have succeeded */
    uint64_t opened;
    seine_span open; /* time in the state OPEN */
} sim_breaker;

int sim_breaker_run(sim_breaker *sim, const trace *t, const seine_breaker_opts *opts);
void sim_breaker_free(sim_breaker *sim);

void sim_breaker_plot(const sim_breaker *sim, const screen *s, seine_span bin);
void sim_breaker_changes(const sim_breaker *sim, const screen *s);
void sim_breaker_sum_up(const sim_breaker *sim, const screen *s);
void sim_breaker_decisions(const sim_breaker *sim);
seine_json *sim_breaker_summary(const sim_breaker *sim);

/* "closed", "open", "half-open" */
const char *sim_breaker_state(seine_breaker_state state);

#endif
