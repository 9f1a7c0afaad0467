/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traceline.h - reads one line of a trace: time, tokens, outcome and key.
 *
 *     traceline r = {.opts = opts, .line = text, .len = length, .event = {.n = 1}};
 *     if (!traceline_read(&r))
 *         say_fail(SAY_USAGE, NULL, "column %td: %s", r.p - r.line, r.why);
 */
#ifndef CLI_TRACELINE_H
#define CLI_TRACELINE_H

#include <stdbool.h>
#include <stddef.h>

#include <seine/timestamp.h>

#include "sim/trace.h"

typedef struct traceline {
    const trace_opts *opts;
    const char *line, *p; /* p: where the mistake is */
    size_t len;           /* of the line, zero bytes included */
    event event;
    seine_timestamp date; /* if `dated`, the time, and event.at is unused */
    bool dated;
    char key[256];
    char why[160];
} traceline;

bool traceline_read(traceline *r);

/* Remembers a mistake at a place in the line. Returns false. */
bool traceline_wrong(traceline *r, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
