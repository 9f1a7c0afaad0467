/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/log_date.h"

#include <stdint.h>

#include "check.h"

/* 2000-10-10 20:55:36 UTC */
#define AT SEINE_SECS(INT64_C(971211336))

TEST(log_date_is_written_in_its_zone)
{
    CHECK_STR(log_date_date(AT, 0).text, "2000-10-10 20:55:36Z");
    CHECK_STR(log_date_date(AT, -420).text, "2000-10-10 13:55:36-07:00");
    CHECK_STR(log_date_date(AT, 330).text, "2000-10-11 02:25:36+05:30");
    CHECK_STR(log_date_date(0, 0).text, "1970-01-01 00:00:00Z");
}

TEST(log_date_clock_has_as_many_decimals_as_asked)
{
    CHECK_STR(log_date_clock(AT, -420, 0).text, "13:55:36");
    CHECK_STR(log_date_clock(AT + SEINE_MS(250), -420, 3).text, "13:55:36.250");
    CHECK_STR(log_date_clock(AT + SEINE_MS(999), 0, 1).text, "20:55:36.9"); /* cut */
}
