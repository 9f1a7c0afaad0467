/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/pause.h"

#include <string.h>

#include "base/time.h"

#define YEAR SEINE_SECS((seine_span)366 * 86400)

static bool
two_digits(const char *p, int *out)
{
    if (!sn_is_digit(p[0]) || !sn_is_digit(p[1]))
        return false;
    *out = (p[0] - '0') * 10 + (p[1] - '0');
    return true;
}

/* Days since 1970-01-01 in the Gregorian calendar, for years from 1970. */
static int64_t
days(int year, int month, int day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int past = year - 1;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return (year - 1970) * INT64_C(365) + (past / 4 - past / 100 + past / 400) - 477 +
           before[month] + (leap && month > 1) + day - 1;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", in seconds; -1: it is none. */
static int64_t
date_of(sn_str s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int day, century, year, hour, minute, second, month = 0;

    if (s.len != 29 || memcmp(s.ptr + 25, " GMT", 4) != 0 ||
        !two_digits(s.ptr + 5, &day) || !two_digits(s.ptr + 12, &century) ||
        !two_digits(s.ptr + 14, &year) || !two_digits(s.ptr + 17, &hour) ||
        !two_digits(s.ptr + 20, &minute) || !two_digits(s.ptr + 23, &second))
        return -1;
    while (month < 12 && memcmp(s.ptr + 8, months + (size_t)3 * (size_t)month, 3) != 0)
        month++;
    year += century * 100;
    if (month == 12 || year < 1970 || day < 1 || day > 31 || hour > 23 || minute > 59)
        return -1;
    return ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
}

seine_span
snc_pause_of(sn_str value, int64_t wall)
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
