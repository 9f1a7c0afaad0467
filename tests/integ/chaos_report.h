/* SPDX-License-Identifier: Apache-2.0 */
/* chaos_report.h - numbers out of the report of the evil server. */
#ifndef CHAOS_REPORT_H
#define CHAOS_REPORT_H

#include <poll.h>
#include <string.h>

#include <seine/chaos.h>
#include <seine/clock.h>
#include <seine/plumbing.h>

#include "check.h"

/* The number `name` in the member `b` of the member `a`; b NULL: in `a` itself. */
static inline int64_t
chaos_number(seine_chaos *c, const char *a, const char *b, const char *name)
{
    int64_t n = -1;
    char *text = NULL;
    seine_json *r = NULL;

    CHECK_EQ(seine_chaos_report(c, &text), SEINE_OK);
    CHECK_EQ(seine_json_parse(text, strlen(text), &r, NULL), SEINE_OK);
    const seine_json *at = seine_json_get(r, a);
    at = b ? seine_json_get(at, b) : at;
    seine_json_int(seine_json_get(at, name), &n);
    seine_json_free(r);
    seine_chaos_text_free(text);
    return n;
}

/* The same, waiting for it to become `want`. */
static inline int64_t
chaos_number_soon(seine_chaos *c, const char *a, const char *b, const char *name,
                  int64_t want)
{
    seine_clock *clock = seine_clock_system();
    int64_t n;

    for (seine_time until = clock->now(clock) + CHECK_PATIENCE;; poll(NULL, 0, 2))
        if ((n = chaos_number(c, a, b, name)) == want || clock->now(clock) > until)
            return n;
}

#endif
