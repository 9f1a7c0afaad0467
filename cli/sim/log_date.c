/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/log_date.h"

#include <stdio.h>

#include <seine/calendar.h>

static seine_date
date_in_zone(seine_time at, int zone)
{
    return seine_calendar_date(at / SEINE_SECS(1) + INT64_C(60) * zone);
}

clock_text
log_date_date(seine_time at, int zone)
{
    seine_date c = date_in_zone(at, zone);
    clock_text out;
    int n = snprintf(out.text, sizeof out.text, "%04d-%02d-%02d %02d:%02d:%02d", c.year,
                     c.month, c.day, c.hour, c.minute, c.second);

    if (zone == 0)
        snprintf(out.text + n, sizeof out.text - (size_t)n, "Z");
    else
        snprintf(out.text + n, sizeof out.text - (size_t)n, "%+03d:%02d", zone / 60,
                 (zone < 0 ? -zone : zone) % 60);
    return out;
}

clock_text
log_date_clock(seine_time at, int zone, int digits)
{
    seine_date c = date_in_zone(at, zone);
    clock_text out;
    char nanos[24];
    int n =
        snprintf(out.text, sizeof out.text, "%02d:%02d:%02d", c.hour, c.minute, c.second);

    snprintf(nanos, sizeof nanos, ".%09ld", (long)(at % SEINE_SECS(1)));
    if (digits > 0)
        snprintf(out.text + n, sizeof out.text - (size_t)n, "%.*s", 1 + digits, nanos);
    return out;
}
