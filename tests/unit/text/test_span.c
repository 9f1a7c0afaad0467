/* SPDX-License-Identifier: Apache-2.0 */
#include "text/span.h"

#include "check.h"

TEST(span_is_read_as_people_write_it)
{
    static const struct {
        const char *text;
        seine_span want;
    } rows[] = {
        {"500ms", SEINE_MS(500)},
        {"2s", SEINE_SECS(2)},
        {"1h30m", SEINE_SECS(5400)},
        {"1.5", SEINE_MS(1500)}, /* bare is seconds */
        {"0", 0},
        {"0s", 0},
        {"00.10s", SEINE_MS(100)},
        {"1ns", 1},
        {"0.9ns", 0}, /* no parts of a nanosecond */
        {"7us", SEINE_US(7)},
        {"1w1d1h1m1s1ms1us1ns", SEINE_SECS(604800 + 86400 + 3600 + 60 + 1) + 1001001},
        {"1.000000001s", SEINE_SECS(1) + 1},
        {"3652.5d", SN_SPAN_MAX},
        {"315576000", SN_SPAN_MAX},
    };

    EACH_ROW(i, rows) {
        seine_span got = -1;

        CHECK_EQ(sn_span_parse(sn_str_of(rows[i].text), &got), SEINE_OK);
        CHECK_EQ(got, rows[i].want);
    }
}

TEST(span_that_is_none_changes_nothing)
{
    static const struct {
        const char *text;
        seine_err want;
    } rows[] = {
        {"", SEINE_E_INVAL},
        {"s", SEINE_E_INVAL},
        {"-1s", SEINE_E_INVAL},
        {"+1s", SEINE_E_INVAL},
        {"1 s", SEINE_E_INVAL},
        {"1s ", SEINE_E_INVAL},
        {"1.s", SEINE_E_INVAL},
        {".5s", SEINE_E_INVAL},
        {"1..5s", SEINE_E_INVAL},
        {"1h30", SEINE_E_INVAL}, /* bare stands alone */
        {"1sec", SEINE_E_INVAL},
        {"1S", SEINE_E_INVAL},
        {"off", SEINE_E_INVAL},
        {"1e3s", SEINE_E_INVAL},
        {"315576000.000000001", SEINE_E_RANGE},
        {"522w", SEINE_E_RANGE},
        {"521w6d", SEINE_E_RANGE},
        {"9999999999999999999s", SEINE_E_RANGE},
        {"1.0000000000000000001s", SEINE_E_RANGE},
    };

    EACH_ROW(i, rows) {
        seine_span got = -1;

        CHECK_EQ(sn_span_parse(sn_str_of(rows[i].text), &got), rows[i].want);
        CHECK_EQ(got, -1);
    }
}
