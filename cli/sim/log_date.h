/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_date.h - dates in logs: RFC 3339 and the access log's [10/Oct/2000:13:55:36 -0700].
 */
#ifndef CLI_LOG_DATE_H
#define CLI_LOG_DATE_H

#include <stdbool.h>
#include <stddef.h>

#include <seine/time.h>

typedef struct log_date {
    seine_time at; /* nanoseconds since 1970, UTC */
    int zone;      /* minutes east of UTC, as written */
    bool fine;     /* written with more than whole seconds */
} log_date;

/* 2026-11-15T19:20:01.5+01:00; a blank for the T and no zone (UTC) are fine. The
 * end of what was read, or NULL. */
const char *log_date_rfc3339(const char *text, log_date *out);

/* 10/Oct/2000:13:55:36 -0700 */
const char *log_date_access_log(const char *text, log_date *out);

typedef struct clock_text {
    char text[40];
} clock_text;

/* "2000-10-10 13:55:36" and "13:55:36" in the zone; `digits` of the second. */
clock_text log_date_date(seine_time at, int zone);
clock_text log_date_clock(seine_time at, int zone, int digits);

#endif
