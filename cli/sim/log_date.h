/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_date.h - reads the dates of logs: RFC 3339 and [10/Oct/2000:13:55:36 -0700].
 *
 *     log_date d;
 *     const char *end = log_date_rfc3339("2026-11-15T19:20:01.5Z", &d);
 */
#ifndef CLI_LOG_DATE_H
#define CLI_LOG_DATE_H

#include <stdbool.h>
#include <stddef.h>

#include <seine/time.h>

typedef struct log_date {
    seine_time at; /* nanoseconds since 1970, UTC */
    int zone;      /* minutes east of UTC, as written */
    bool fine;     /* the text has fractions of a second */
} log_date;

/* Reads 2026-11-15T19:20:01.5+01:00; the T may be a blank, and a missing zone is UTC.
 * Returns the end of the date, or NULL. */
const char *log_date_rfc3339(const char *text, log_date *out);

/* Reads 10/Oct/2000:13:55:36 -0700 in the same way. */
const char *log_date_access_log(const char *text, log_date *out);

typedef struct clock_text {
    char text[40];
} clock_text;

/* Write "2000-10-10 13:55:36" and "13:55:36" in a zone, with `digits` decimals. */
clock_text log_date_date(seine_time at, int zone);
clock_text log_date_clock(seine_time at, int zone, int digits);

#endif
