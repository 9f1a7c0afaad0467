/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breaker_spec.h"

#include <string.h>

#include "check.h"

TEST(breaker_spec_sets_what_it_names_and_leaves_the_rest)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    const seine_breaker_opts before = o;

    CHECK_EQ(seine_breaker_spec("fail=7,open=90s,probes=3,close=2", &o, NULL, NULL),
             SEINE_OK);
    CHECK_EQ(o.failure_threshold, 7);
    CHECK_EQ(o.open_for, SEINE_SECS(90));
    CHECK_EQ(o.half_open_max, 3);
    CHECK_EQ(o.success_threshold, 2);
    CHECK_EQ(o.open_max, before.open_max);
    CHECK_EQ(o.min_calls, before.min_calls);
    CHECK_EQ(o.failure_pct, 0);
}

TEST(breaker_spec_of_a_rate_replaces_the_failures_in_a_row)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    CHECK_EQ(seine_breaker_spec("rate=50%,min=20", &o, NULL, NULL), SEINE_OK);
    CHECK_EQ(o.failure_threshold, 0);
    CHECK_EQ(o.failure_pct, 50);
    CHECK_EQ(o.min_calls, 20);
    CHECK_EQ(o.window_calls, 100);
    o = (seine_breaker_opts)SEINE_BREAKER_OPTS;
    CHECK_EQ(seine_breaker_spec("rate=50%,fail=9,window=40", &o, NULL, NULL), SEINE_OK);
    CHECK_EQ(o.failure_threshold, 9); /* unless both are asked for */
    CHECK_EQ(o.window_calls, 40);
}

TEST(breaker_spec_of_a_long_pause_raises_its_ceiling)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    CHECK_EQ(seine_breaker_spec("open=1h", &o, NULL, NULL), SEINE_OK);
    CHECK_EQ(o.open_max, SEINE_SECS(3600));
    CHECK_EQ(seine_breaker_spec("open=1m,max-open=2h", &o, NULL, NULL), SEINE_OK);
    CHECK_EQ(o.open_max, SEINE_SECS(7200));
}

TEST(breaker_spec_off_has_no_trigger)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    CHECK_EQ(seine_breaker_spec("off", &o, NULL, NULL), SEINE_OK);
    CHECK(o.failure_threshold == 0 && o.failure_pct == 0);
}

TEST(breaker_spec_reads_park_only_for_those_who_park)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    uint32_t park = 1;

    CHECK_EQ(seine_breaker_spec("park=4", &o, &park, NULL), SEINE_OK);
    CHECK_EQ(park, 4);
    CHECK_EQ(seine_breaker_spec("park=4", &o, NULL, NULL), SEINE_E_CONFIG);
}

TEST(breaker_spec_says_which_key_is_wrong_and_changes_nothing)
{
    static const struct {
        const char *text, *member, *why;
    } rows[] = {
        {"", "", "no value"},
        {"fail", "fail", "no value"},
        {"fial=5", "fial", "unknown key"},
        {"fail=x", "fail", "not a whole number"},
        {"open=5,open=soon", "open", "not a duration"},
        {"rate=50", "rate", "not a share"},
        {"rate=101%", "rate", "a share must not be above 100%"},
        {"min=0", "min", "out of its range"},
        {"window=1025", "window", "out of its range"},
        {"probes=65", "probes", "out of its range"},
        {"park=0", "park", "out of its range"},
        {"fail=0", "", "nothing would open it; off switches it off"},
        {"open=60s,max-open=59s", "", "max-open is shorter than open"},
        {"rate=50%,min=11,window=10", "", "min is more than the window"},
        {"fail=00000000000000000000000000000000000000000000000000000000000000005",
         "fail=00000000000000000000000000", "too long"},
    };

    EACH_ROW(i, rows) {
        seine_breaker_opts o = SEINE_BREAKER_OPTS;
        const seine_breaker_opts before = o;
        seine_diag diag = SEINE_DIAG;
        uint32_t park = 3;

        CHECK_EQ(seine_breaker_spec(rows[i].text, &o, &park, &diag), SEINE_E_CONFIG);
        CHECK_EQ(strncmp(diag.member, rows[i].member, strlen(rows[i].member)), 0);
        CHECK_STR(diag.text, rows[i].why);
        CHECK_EQ(memcmp(&o, &before, sizeof o), 0);
        CHECK_EQ(park, 3);
    }
}
