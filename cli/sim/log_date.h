/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_date.h - writes the moments of a trace as dates and times of day.
 *
 *     puts(log_date_clock(SEINE_SECS(971211336), -7 * 60, 3).text);
 */
#ifndef CLI_LOG_DATE_H
#define CLI_LOG_DATE_H

#include <seine/time.h>

typedef struct clock_text {
    char text[40];
} clock_text;

/* Writes "2000-10-10 13:55:36-07:00"; `at` is Unix time in nanoseconds, `zone` minutes
 * east of UTC. */
clock_text log_date_date(seine_time at, int zone);

/* Writes "13:55:36.000", with `digits` decimals. */
clock_text log_date_clock(seine_time at, int zone, int digits);

#endif
