/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/retry_after.h"

#include <string.h>

#include "base/time.h"
#include "seine/calendar.h"

#define YEAR SEINE_SECS((seine_span)366 * SEINE_DAY_SECONDS)

static bool
two_digits(const char *p, int *out)
{
    if (!sn_is_digit(p[0]) || !sn_is_digit(p[1]))
        return false;
    *out = (p[0] - '0') * 10 + (p[1] - '0');
    return true;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" in seconds; -1: no such date. */
static int64_t
date_of(sn_str s)
{
    seine_date d = {.month = 1};
    int century;

    if (s.len != 29 || memcmp(s.ptr + 25, " GMT", 4) != 0 ||
        !two_digits(s.ptr + 5, &d.day) || !two_digits(s.ptr + 12, &century) ||
        !two_digits(s.ptr + 14, &d.year) || !two_digits(s.ptr + 17, &d.hour) ||
        !two_digits(s.ptr + 20, &d.minute) || !two_digits(s.ptr + 23, &d.second))
        return -1;
    while (d.month <= 12 && memcmp(s.ptr + 8, seine_calendar_month_name(d.month), 3) != 0)
        d.month++;
    d.year += century * 100;
    if (d.month > 12 || d.year < 1970 || d.day < 1 || d.day > 31 || d.hour > 23 ||
        d.minute > 59)
        return -1;
    return seine_calendar_seconds(&d);
}

seine_span
snc_retry_after_read(sn_str value, int64_t wall)
{
    uint64_t seconds;
    int64_t date;
    seine_span span = 0;

    value = sn_str_trim(value);
    if (sn_str_u64(value, &seconds) == SEINE_OK)
        span = sn_time_mul(SEINE_SECS(1), seconds);
    else if ((date = date_of(value)) >= 0)
        span = sn_time_sub(sn_time_mul(SEINE_SECS(1), (uint64_t)date), wall);
    return span > YEAR ? YEAR : span > 0 ? span : 0;
}
