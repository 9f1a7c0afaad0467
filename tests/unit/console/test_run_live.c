/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_live.h"

#include "check.h"
#include "seine/clock.h"

/* A run that is looked at, `since` after the loop began. */
static sn_run_live *
begin_live(seine_console *c, sn_console_run *r, seine_time since)
{
    sn_run_live *l = NULL;

    CHECK_EQ(seine_clock_fake_new(since, 0, 1, &c->loop.clock), SEINE_OK);
    c->loop.now = since;
    *r = (sn_console_run){.console = c};
    r->meta.state = SN_RUN_RUNNING;
    CHECK_EQ(sn_run_live_new(r, &l), SEINE_OK);
    l->second_at = l->minute_at = since;
    return l;
}

static void
end_live(sn_run_live *l, seine_console *c)
{
    sn_run_live_free(l);
    seine_clock_fake_free(c->loop.clock);
}

TEST(run_live_a_run_that_ends_a_moment_after_a_second_makes_no_spike)
{
    static seine_console c;
    static sn_console_run r;
    sn_run_live *l = begin_live(&c, &r, SEINE_SECS(1));

    for (uint64_t second = 1; second <= 2; second++) { /* 100 requests in each */
        l->now.stats.requests = 100 * second;
        sn_run_live_second(l, SEINE_SECS(1) + SEINE_SECS((int64_t)second));
    }
    CHECK_EQ((int)l->newest.rps, 100);
    r.meta.last.requests =
        225; /* 25 of them were not counted yet when the second ended */
    c.loop.now = SEINE_SECS(3) + SEINE_MS(5);
    sn_run_live_end(l);
    CHECK_EQ(l->n_seconds, 2);
    CHECK_EQ((int)l->seconds[1].rps, 124);
    CHECK_EQ((int)l->newest.rps, 0);
    end_live(l, &c);
}

TEST(run_live_a_run_without_length_has_a_rate_that_can_be_shown)
{
    static seine_console c;
    static sn_console_run r;
    sn_run_live *l = begin_live(&c, &r, SEINE_SECS(1));

    r.meta.last.requests = 3;
    sn_run_live_end(l);
    CHECK_EQ(l->n_seconds, 1);
    CHECK(l->seconds[0].rps > 0 && l->seconds[0].rps <= 300);
    end_live(l, &c);
}

TEST(run_live_a_minute_is_the_mean_of_its_seconds)
{
    static seine_console c;
    static sn_console_run r;
    sn_run_live *l = begin_live(&c, &r, SEINE_SECS(1));

    for (int64_t second = 1; second <= 60; second++) {
        l->now.stats.in_flight = second == 1 ? 1 : 64;
        sn_run_live_second(l, SEINE_SECS(1 + second));
    }
    CHECK_EQ(l->n_minutes, 1);
    CHECK_EQ(l->minutes[0].in_flight, 63); /* (1 + 59 × 64) / 60 = 62.95 */
    end_live(l, &c);
}

TEST(run_live_percentiles_are_those_of_the_last_ten_seconds)
{
    static seine_console c;
    static sn_console_run r;
    sn_run_live *l = begin_live(&c, &r, SEINE_SECS(1));
    unsigned slow = sn_snapshot_bin(SEINE_SECS(1));

    l->now.latency[slow] = 10; /* all in the first second */
    for (int64_t second = 1; second <= 11; second++) {
        sn_run_live_second(l, SEINE_SECS(1 + second));
        CHECK_EQ(l->newest.p[3] > 900, second <= 10);
    }
    CHECK(l->newest.p[3] < 0);
    end_live(l, &c);
}
