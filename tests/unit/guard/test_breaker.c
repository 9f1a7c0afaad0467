/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breaker.h"

#include <stdbool.h>
#include <string.h>

#include "breaker_stats.h"
#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

enum {
    CLOSED = SEINE_BREAKER_CLOSED,
    OPEN = SEINE_BREAKER_OPEN,
    HALF_OPEN = SEINE_BREAKER_HALF_OPEN,
    FORCED_OPEN = SEINE_BREAKER_FORCED_OPEN,
    DISABLED = SEINE_BREAKER_DISABLED,
    F = SEINE_FAILURE,
    S = SEINE_SUCCESS,
    I = SEINE_IGNORED
};

static seine_breaker_opts
opens_after(uint32_t failures, seine_span open_for)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    o.failure_threshold = failures;
    o.open_for = open_for;
    return o;
}

static seine_breaker
make(const seine_breaker_opts *opts)
{
    seine_breaker b = {0};

    CHECK_EQ(seine_breaker_init(&b, opts), SEINE_OK);
    return b;
}

static seine_breaker_stats
stats(const seine_breaker *b)
{
    seine_breaker_stats s;

    seine_breaker_stats_get(b, &s);
    return s;
}

static bool
take(seine_breaker *b, seine_time now, seine_permit *p)
{
    return seine_breaker_acquire(b, now, p) == SEINE_OK;
}

/* One whole call; false when it was refused. */
static bool
call(seine_breaker *b, int how, seine_time now)
{
    seine_permit p = {0};

    if (!take(b, now, &p))
        return false;
    CHECK_EQ(seine_breaker_settle(b, &p, (seine_outcome)how, now), SEINE_OK);
    return true;
}

static void
fail(seine_breaker *b, int n, seine_time now)
{
    for (int i = 0; i < n; i++)
        CHECK(call(b, F, now));
}

/* What a response says about the host: 5xx is a failure, except 501 and 505. */
static int
outcome_of(int status)
{
    return status >= 500 && status != 501 && status != 505 ? F : S;
}

/* Requirements of the seeds. */

TEST(s0_12_a_breaker_starts_closed)
{
    seine_breaker_opts o = opens_after(3, SEINE_SECS(1));
    seine_breaker b = make(&o);

    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK(call(&b, S, T0));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
}

TEST(s0_13_s0_14_opens_at_the_third_failure_in_a_row_and_then_fails_fast)
{
    seine_breaker_opts o = opens_after(3, SEINE_SECS(1));
    seine_breaker b = make(&o);
    int run = 0;

    fail(&b, 2, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);

    seine_permit p = {0};
    if (take(&b, T0, &p)) /* refused at the same moment: nothing was waited for */
        run++;
    CHECK_EQ(run, 0);
    CHECK_EQ(p.held, 0);
    CHECK_EQ(stats(&b).rejected, 1);
}

TEST(s0_15_after_the_timeout_the_next_call_is_admitted_as_a_probe)
{
    static const struct {
        uint32_t success_threshold;
        seine_span at;
        int state;
    } rows[] = {
        {2, SEINE_MS(150), HALF_OPEN}, /* one of two successes */
        {1, SEINE_MS(120), CLOSED},
    };

    EACH_ROW(i, rows) {
        seine_breaker_opts o = opens_after(2, SEINE_MS(100));
        o.success_threshold = rows[i].success_threshold;
        seine_breaker b = make(&o);

        fail(&b, 2, T0);
        CHECK(call(&b, S, T0 + rows[i].at));
        CHECK_EQ(seine_breaker_state_get(&b), rows[i].state);
    }
}

TEST(s0_16_s0_17_s0_18_successes_close_a_failure_reopens_a_success_resets_the_count)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    o.success_threshold = 2;
    seine_breaker b = make(&o);

    fail(&b, 2, T0);
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);

    fail(&b, 2, T0 + SEINE_MS(200));
    CHECK(call(&b, F, T0 + SEINE_MS(300)));
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);

    o = opens_after(3, SEINE_MS(100));
    b = make(&o);
    fail(&b, 2, T0);
    CHECK(call(&b, S, T0));
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
}

TEST(s0_19_two_pages_of_status_500_open_it)
{
    static const struct {
        int status, state;
    } rows[] = {
        {500, OPEN},   {503, OPEN},
        {501, CLOSED}, /* says what the server cannot do, not that it is down */
        {505, CLOSED}, /* the same */
        {429, CLOSED}, /* limiter and throttle take care of it */
        {404, CLOSED}, {200, CLOSED},
    };

    EACH_ROW(i, rows) {
        seine_breaker_opts o = opens_after(2, SEINE_MS(100));
        seine_breaker b = make(&o);

        CHECK(call(&b, outcome_of(rows[i].status), T0));
        CHECK(call(&b, outcome_of(rows[i].status), T0));
        CHECK_EQ(seine_breaker_state_get(&b), rows[i].state);
    }
}

TEST(s0_20_half_open_lets_one_of_a_hundred_through)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&o);
    int admitted = 0;

    fail(&b, 2, T0);
    for (int i = 0; i < 100; i++) {
        seine_permit p;

        admitted += take(&b, T0 + SEINE_MS(100), &p);
    }
    CHECK_EQ(admitted, 1);
    CHECK_EQ(stats(&b).half_open_active, 1);
    CHECK_EQ(stats(&b).rejected, 99);
}

TEST(s3_01_opens_when_the_count_reaches_the_threshold_and_a_success_zeroes_it)
{
    seine_breaker_opts o = opens_after(3, SEINE_SECS(10));
    seine_breaker b = make(&o);

    fail(&b, 2, T0);
    CHECK_EQ(stats(&b).failures, 2);
    CHECK(call(&b, S, T0));
    CHECK_EQ(stats(&b).failures, 0);
    fail(&b, 2, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
}

TEST(s4_01_s4_02_states_have_numbers_and_names_and_the_defaults_are_5_60_s_1)
{
    static const struct {
        int state, number;
        const char *name;
    } rows[] = {
        {CLOSED, 0, "Closed"},
        {OPEN, 1, "Open"},
        {HALF_OPEN, 2, "HalfOpen"},
        {FORCED_OPEN, 3, "ForcedOpen"},
        {DISABLED, 4, "Disabled"},
        {5, 5, "Unknown"},
        {-1, -1, "Unknown"},
        {99, 99, "Unknown"},
        {INT32_MAX, INT32_MAX, "Unknown"},
    };
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;

    EACH_ROW(i, rows) {
        CHECK_EQ(rows[i].state, rows[i].number);
        CHECK_STR(seine_breaker_state_name(rows[i].state), rows[i].name);
    }
    CHECK_EQ(o.failure_threshold, 5);
    CHECK_EQ(o.open_for, SEINE_SECS(60));
    CHECK_EQ(o.half_open_max, 1);
}

TEST(s4_03_s4_04_can_execute_says_why_and_stats_show_failures_and_their_time)
{
    seine_breaker_opts o = opens_after(3, SEINE_MS(100));
    seine_breaker b = make(&o);

    CHECK_EQ(seine_breaker_can_execute(&b, T0), SEINE_OK);
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    seine_breaker_record(&b, SEINE_FAILURE, T0 + 7);
    seine_breaker_stats s = stats(&b);
    CHECK_EQ(s.state, CLOSED);
    CHECK_EQ(s.failures, 2);
    CHECK_EQ(s.last_failure_at, T0 + 7);
    CHECK_EQ(s.half_open_successes, 0);
    CHECK_EQ(s.half_open_failures, 0);
    CHECK_EQ(s.half_open_active, 0);

    seine_breaker_record(&b, SEINE_FAILURE, T0 + 8);
    seine_err e = seine_breaker_can_execute(&b, T0 + 8);
    CHECK_EQ(e, SEINE_E_BREAKER);
    CHECK_STR(seine_err_text(e), "circuit breaker is open");
}

TEST(s4_05_closed_becomes_open_at_the_maximum_of_failures_in_a_row)
{
    seine_breaker_opts o = opens_after(3, SEINE_MS(100));
    seine_breaker b = make(&o);

    seine_breaker_record(&b, SEINE_SUCCESS, T0);
    seine_breaker_record(&b, SEINE_SUCCESS, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
        seine_breaker_record(&b, SEINE_FAILURE, T0);
    }
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK_EQ(seine_breaker_can_execute(&b, T0), SEINE_E_BREAKER);
}

TEST(s4_06_s4_07_open_becomes_half_open_at_the_next_can_execute_in_time)
{
    static const struct {
        seine_outcome how;
        int state;
    } rows[] = {{SEINE_SUCCESS, CLOSED}, {SEINE_FAILURE, OPEN}};

    EACH_ROW(i, rows) {
        seine_breaker_opts o = opens_after(3, SEINE_MS(50));
        seine_breaker b = make(&o);

        for (int k = 0; k < 3; k++)
            seine_breaker_record(&b, SEINE_FAILURE, T0);
        CHECK_EQ(seine_breaker_can_execute(&b, T0 + SEINE_MS(50) - 1), SEINE_E_BREAKER);
        CHECK_EQ(seine_breaker_state_get(&b), OPEN);
        CHECK_EQ(seine_breaker_can_execute(&b, T0 + SEINE_MS(50)), SEINE_OK);
        CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
        seine_breaker_record(&b, rows[i].how, T0 + SEINE_MS(51));
        CHECK_EQ(seine_breaker_state_get(&b), rows[i].state);
    }
}

TEST(s4_08_half_open_admits_exactly_the_maximum_at_once)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(50));
    o.half_open_max = 2;
    seine_breaker b = make(&o);

    seine_breaker_record(&b, SEINE_FAILURE, T0);
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_can_execute(&b, T0 + SEINE_MS(60)), SEINE_OK);
    CHECK_EQ(seine_breaker_can_execute(&b, T0 + SEINE_MS(60)), SEINE_OK);
    CHECK_EQ(seine_breaker_can_execute(&b, T0 + SEINE_MS(60)), SEINE_E_BREAKER);
    seine_breaker_fini(&b);
}

TEST(s4_09_reset_closes_and_executes)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    seine_breaker b = make(&o);

    for (int i = 0; i < 5; i++)
        seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    seine_breaker_reset(&b);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(seine_breaker_can_execute(&b, T0), SEINE_OK);
    CHECK_EQ(stats(&b).failures, 0);
}

TEST(s4_10_records_count_without_can_execute)
{
    seine_breaker_opts o = opens_after(3, SEINE_MS(100));
    seine_breaker b = make(&o);

    for (int i = 0; i < 3; i++)
        seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
}

/* Where the two seeds contradict each other: what seine does. */

TEST(x_01_success_threshold_is_explicit_and_1_by_default)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;

    CHECK_EQ(o.success_threshold, 1);
    seine_breaker_opts quick = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&quick);
    fail(&b, 2, T0);
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
}

TEST(x_02_any_failed_probe_reopens_at_once)
{
    seine_breaker_opts o = opens_after(5, SEINE_MS(100));
    o.success_threshold = 3;
    seine_breaker b = make(&o);

    fail(&b, 5, T0);
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK(call(&b, F, T0 + SEINE_MS(100)));
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK_EQ(stats(&b).open_until, T0 + SEINE_MS(200));
}

TEST(x_03_probes_are_capped_one_by_default)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;
    seine_breaker b = make(&o);
    seine_permit p, q = {0};

    CHECK_EQ(o.half_open_max, 1);
    fail(&b, 5, T0);
    CHECK(take(&b, T0 + SEINE_SECS(60), &p));
    CHECK(!take(&b, T0 + SEINE_SECS(60), &q));
    CHECK_EQ(q.held, 0);
}

TEST(x_04_the_call_that_ends_open_is_the_first_probe)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.half_open_max = 3;
    seine_breaker b = make(&o);
    seine_permit p;
    int admitted = 0;

    fail(&b, 1, T0);
    CHECK(take(&b, T0 + SEINE_MS(100), &p));
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(stats(&b).half_open_active, 1);
    for (int i = 0; i < 10; i++)
        admitted += take(&b, T0 + SEINE_MS(100), &p);
    CHECK_EQ(admitted, 2);
    seine_breaker_fini(&b);
}

TEST(x_05_records_without_a_slot_stop_at_zero)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.success_threshold = 2;
    seine_breaker b = make(&o);
    seine_permit p;

    fail(&b, 1, T0);
    CHECK(take(&b, T0 + SEINE_MS(100), &p)); /* a permit: record may not settle it */
    for (int i = 0; i < 3; i++)
        seine_breaker_record(&b, SEINE_SUCCESS, T0 + SEINE_MS(100));
    CHECK_EQ(stats(&b).half_open_active, 1);
    CHECK_EQ(stats(&b).half_open_successes, 0);
    CHECK_EQ(stats(&b).late, 3);

    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_IGNORED, T0 + SEINE_MS(100)), SEINE_OK);
    seine_breaker_record(&b, SEINE_FAILURE, T0 + SEINE_MS(100));
    CHECK_EQ(stats(&b).half_open_active, 0);
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(stats(&b).late, 4);
}

TEST(x_07_a_late_success_does_not_close_an_open_breaker)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p;

    CHECK(take(&b, T0, &p));
    fail(&b, 2, T0);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, T0 + 1), SEINE_OK);
    seine_breaker_record(&b, SEINE_SUCCESS, T0 + 1);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK_EQ(stats(&b).late, 2);
    CHECK_EQ(stats(&b).succeeded, 0);
}

TEST(x_08_late_failures_do_not_move_the_open_time_on)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p;

    CHECK(take(&b, T0, &p));
    fail(&b, 2, T0);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0 + SEINE_MS(99)), SEINE_OK);
    seine_breaker_record(&b, SEINE_FAILURE, T0 + SEINE_MS(99));
    CHECK_EQ(stats(&b).open_until, T0 + SEINE_MS(100));
    CHECK_EQ(stats(&b).last_failure_at, T0);
    CHECK(take(&b, T0 + SEINE_MS(100), &p));
}

TEST(x_09_every_counter_of_a_state_is_zero_after_a_change)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    o.success_threshold = 2;
    seine_breaker b = make(&o);
    seine_permit early;

    CHECK(take(&b, T0, &early));
    fail(&b, 2, T0);
    CHECK_EQ(stats(&b).failures, 0);
    CHECK_EQ(seine_breaker_settle(&b, &early, SEINE_SUCCESS, T0 + 1), SEINE_OK);
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK_EQ(stats(&b).half_open_successes, 1); /* not 2: the late one is no probe */
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);

    CHECK(call(&b, F, T0 + SEINE_MS(100)));
    seine_breaker_stats s = stats(&b);
    CHECK_EQ(s.half_open_successes, 0);
    CHECK_EQ(s.half_open_failures, 0);
    CHECK_EQ(s.half_open_active, 0);
    CHECK(call(&b, S, T0 + SEINE_MS(200)));
    CHECK_EQ(stats(&b).half_open_successes, 1);
    CHECK(call(&b, S, T0 + SEINE_MS(200)));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(stats(&b).half_open_successes, 0);
}

TEST(x_10_a_probe_that_is_ignored_or_lost_blocks_nobody)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.probe_lease = SEINE_MS(30);
    seine_breaker b = make(&o);
    seine_permit p, q;
    seine_time t = T0 + SEINE_MS(100);

    fail(&b, 1, T0);
    CHECK(take(&b, t, &p));
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_IGNORED, t), SEINE_OK);
    CHECK(take(&b, t, &p));

    /* This probe is never settled in time. */
    CHECK(!take(&b, t + SEINE_MS(30) - 1, &q));
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK(!take(&b, t + SEINE_MS(30), &q));
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    seine_breaker_stats s = stats(&b);
    CHECK_EQ(s.open_until, t + SEINE_MS(130));
    CHECK_EQ(s.failed, 2);
    CHECK_EQ(s.streak, 1);
    CHECK_EQ(s.why, SEINE_E_TIMEOUT);
    CHECK_EQ(s.last_failure_at, t + SEINE_MS(30));

    /* It is settled after all, while another probe is out. */
    CHECK(take(&b, t + SEINE_MS(130), &q));
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, t + SEINE_MS(130)), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(stats(&b).half_open_active, 1);
    CHECK_EQ(stats(&b).late, 1);
}

TEST(x_47_settings_that_make_no_sense_are_refused_and_leave_the_struct_alone)
{
    /* clang-format off */
    static const seine_breaker_opts rows[] = {
        /*thr prb  ok  grow  calls time  min  fail  slow% slow  for max lease */
        {sizeof(seine_breaker_opts), 0,   1,  1,  100,     0,   0,  10,    0,    0,   0,   1,  1,   0,  0,  0}, /* nothing opens it */
        {sizeof(seine_breaker_opts), 0,   1,  1,  100,     9,   0,   9,    0,    0,   0,   1,  1,   0,  0,  0}, /* a window alone neither */
        {sizeof(seine_breaker_opts), 5,   0,  1,  100,     0,   0,  10,    0,    0,   0,   1,  1,   0,  0,  0}, /* no probe: never closes */
        {sizeof(seine_breaker_opts), 5,  65,  1,  100,     0,   0,  10,    0,    0,   0,   1,  1,   0,  0,  0}, /* more than 64 probes */
        {sizeof(seine_breaker_opts), 5,   1,  0,  100,     0,   0,  10,    0,    0,   0,   1,  1,   0,  0,  0}, /* closes on nothing */
        {sizeof(seine_breaker_opts), 5,   1,  1,   99,     0,   0,  10,    0,    0,   0,   1,  1,   0,  0,  0}, /* would shrink */
        {sizeof(seine_breaker_opts), 5,   1,  1,    0,     0,   0,  10,    0,    0,   0,   1,  1,   0,  0,  0}, /* the same */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,  1025,   0,  10,   50,    0,   0,   1,  1,   0,  0,  0}, /* window too long */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,  -1,  10,   50,    0,   0,   1,  1,   0,  0,  0}, /* negative window */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,    10,  10,  10,   50,    0,   0,   1,  1,   0,  0,  0}, /* two windows */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,    10,   0,  10,  101,    0,   0,   1,  1,   0,  0,  0}, /* more than all */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,    10,   0,  10,    0,  101,   1,   1,  1,   0,  0,  0}, /* more than all */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,   50,    0,   0,   1,  1,   0,  0,  0}, /* share of no window */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,    0,   50,   1,   1,  1,   0,  0,  0}, /* share of no window */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,    10,   0,   0,   50,    0,   0,   1,  1,   0,  0,  0}, /* share of 0 calls */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,    10,   0,  11,   50,    0,   0,   1,  1,   0,  0,  0}, /* never so many calls */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     1,   0,   2,   50,    0,   0,   1,  1,   0,  0,  0}, /* nor in a window of one */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,    10,   0,  10,    0,   50,   0,   1,  1,   0,  0,  0}, /* what is slow? */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,    0,    0,  -1,   1,  1,   0,  0,  0}, /* negative slow */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,    0,    0,   0,   0,  1,   0,  0,  0}, /* open for nothing */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,    0,    0,   0,  -1,  1,   0,  0,  0}, /* negative */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,    0,    0,   0,   2,  1,   0,  0,  0}, /* ceiling below the floor */
        {sizeof(seine_breaker_opts), 5,   1,  1,  100,     0,   0,  10,    0,    0,   0,   1,  1,  -1,  0,  0}, /* negative lease */
    };
    /* clang-format on */
    static const seine_breaker_opts good = SEINE_BREAKER_OPTS;

    EACH_ROW(i, rows) {
        seine_breaker b = make(&good);

        CHECK_EQ(seine_breaker_init(&b, &rows[i]), SEINE_E_INVAL);
        CHECK(b.opts == &good);
    }
    seine_breaker b = make(&good);
    CHECK_EQ(seine_breaker_init(&b, NULL), SEINE_E_INVAL);
    CHECK(b.opts == &good);
}

TEST(x_47_extreme_settings_that_make_sense_are_taken)
{
    static const seine_breaker_opts rows[] = {
        {sizeof(seine_breaker_opts), 0, 1, 1, 100, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0,
         0}, /* threshold off, a share on */
        {sizeof(seine_breaker_opts), 0, 1, 1, 100, 0, 1, 1, 0, 100, 1, 1, 1, 0, 0,
         0}, /* a window of 1 ns */
        {sizeof(seine_breaker_opts), 1, 64, 9, 100, 1024, 0, 1024, 100, 100, 1, 1, 1, 0,
         0, 0},
        {sizeof(seine_breaker_opts), UINT32_MAX, 1, UINT32_MAX, UINT32_MAX, 0,
         SEINE_NEVER, UINT32_MAX, 1, 1, SEINE_NEVER, SEINE_NEVER, SEINE_NEVER,
         SEINE_NEVER, 0, 0},
    };

    EACH_ROW(i, rows) {
        seine_breaker b = make(&rows[i]);

        CHECK(call(&b, S, T0));
        seine_breaker_fini(&b);
    }
}

TEST(x_48_counters_stop_at_their_last_value)
{
    seine_breaker_opts o = opens_after(UINT32_MAX, SEINE_SECS(1));
    seine_breaker b = make(&o);
    uint32_t half[28], at = 0, found = 0;

    for (int i = 0; i < 12345; i++)
        seine_breaker_record(&b, i % 2345 ? SEINE_FAILURE : SEINE_SUCCESS, T0);
    uint32_t row = stats(&b).failures; /* since the last multiple of 2345 */
    CHECK_EQ(row, 12344 % 2345);

    /* 2^32 failures take too long: sets the counter close to the end. */
    memcpy(half, b.word, sizeof half);
    for (uint32_t i = 0; i < 28; i++) {
        if (half[i] == row) {
            at = i;
            found++;
        }
    }
    CHECK_EQ(found, 1);
    half[at] = UINT32_MAX - 2;
    memcpy(b.word, half, sizeof half);
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(stats(&b).failures, UINT32_MAX - 1);
    o.failure_threshold = 0; /* out of the way: what comes after the last value? */
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(stats(&b).failures, UINT32_MAX);
    o.failure_threshold = UINT32_MAX;
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN); /* and not closed by a count of 0 */
}

TEST(x_50_the_defaults_are_60_s_after_5_failures)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;
    seine_breaker b = make(&o);
    seine_permit p;

    fail(&b, 4, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK(!take(&b, T0 + SEINE_SECS(60) - 1, &p));
    CHECK(take(&b, T0 + SEINE_SECS(60), &p));

    CHECK_EQ(o.open_growth_pct, 100);
    CHECK_EQ(o.window_calls, 0);
    CHECK_EQ(o.window_time, 0);
    CHECK_EQ(o.min_calls, 10);
    CHECK_EQ(o.failure_pct, 0);
    CHECK_EQ(o.slow_pct, 0);
    CHECK_EQ(o.slow, 0);
    CHECK_EQ(o.open_max, SEINE_SECS(300));
    CHECK_EQ(o.probe_lease, 0);
    CHECK(!o.on_change && !o.arg);
}

/* The floor. */

TEST(t10_two_probes_are_admitted_the_third_is_not)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.half_open_max = 2;
    seine_breaker b = make(&o);
    seine_permit p[3] = {{0}};

    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_acquire(&b, T0 + SEINE_MS(100), &p[0]), SEINE_OK);
    CHECK_EQ(seine_breaker_acquire(&b, T0 + SEINE_MS(100), &p[1]), SEINE_OK);
    CHECK_EQ(seine_breaker_acquire(&b, T0 + SEINE_MS(100), &p[2]), SEINE_E_BREAKER);
    seine_breaker_fini(&b);
}

TEST(t11_ten_in_flight_when_it_opens_decide_nothing_any_more)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p[10], q;

    for (int i = 0; i < 10; i++)
        CHECK(take(&b, T0, &p[i]));
    CHECK_EQ(seine_breaker_settle(&b, &p[0], SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breaker_settle(&b, &p[1], SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breaker_settle(&b, &p[2], SEINE_SUCCESS, T0 + SEINE_MS(10)), SEINE_OK);
    for (int i = 3; i < 10; i++) {
        CHECK_EQ(seine_breaker_state_get(&b), OPEN);
        CHECK_EQ(seine_breaker_settle(&b, &p[i], SEINE_FAILURE,
                                      T0 + SEINE_MS((seine_span)10 * (i - 1))),
                 SEINE_OK);
    }
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK_EQ(stats(&b).open_until, T0 + SEINE_MS(100));
    CHECK_EQ(stats(&b).late, 8);
    CHECK(!take(&b, T0 + SEINE_MS(99), &q));
    CHECK(take(&b, T0 + SEINE_MS(100), &q));
}

TEST(t12_success_threshold_2_needs_two_successes)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.success_threshold = 2;
    seine_breaker b = make(&o);

    fail(&b, 1, T0);
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK(call(&b, S, T0 + SEINE_MS(100)));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
}

TEST(t13_an_ignored_probe_frees_its_slot)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p;

    fail(&b, 1, T0);
    CHECK(take(&b, T0 + SEINE_MS(100), &p));
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_IGNORED, T0 + SEINE_MS(101)), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(stats(&b).half_open_active, 0);
    CHECK_EQ(stats(&b).half_open_successes, 0);
    CHECK(take(&b, T0 + SEINE_MS(101), &p));
}

TEST(t14_f_f_s_f_leaves_one_failure)
{
    static const int how[] = {F, F, S, F};
    seine_breaker_opts o = opens_after(3, SEINE_SECS(1));
    seine_breaker b = make(&o);

    for (int i = 0; i < 4; i++)
        CHECK(call(&b, how[i], T0));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(stats(&b).failures, 1);
}

/* Permits. */

TEST(breaker_settles_a_permit_once)
{
    seine_breaker_opts o = opens_after(2, SEINE_SECS(1));
    seine_breaker b = make(&o);
    seine_permit p;

    CHECK(take(&b, T0, &p));
    CHECK_EQ(p.held, 1);
    CHECK_EQ(p.start, T0);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(p.held, 0);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0), SEINE_E_ALREADY);
    CHECK_EQ(stats(&b).failures, 1);
    CHECK_EQ(stats(&b).failed, 1);

    seine_permit never = {0};
    CHECK_EQ(seine_breaker_settle(&b, &never, SEINE_SUCCESS, T0), SEINE_E_ALREADY);
    CHECK_EQ(stats(&b).succeeded, 0);
}

TEST(breaker_settles_a_probe_once_even_through_a_copy_of_its_permit)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.half_open_max = 2;
    o.success_threshold = 9;
    seine_breaker b = make(&o);
    seine_permit p, q, copy;
    seine_time t = T0 + SEINE_MS(100);

    fail(&b, 1, T0);
    CHECK(take(&b, t, &p));
    copy = p;
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_IGNORED, t), SEINE_OK);
    CHECK(take(&b, t, &p));
    CHECK(take(&b, t, &q));
    CHECK_EQ(seine_breaker_settle(&b, &copy, SEINE_FAILURE, t), SEINE_E_ALREADY);
    CHECK_EQ(copy.held, 0);
    CHECK_EQ(stats(&b).half_open_active, 2); /* nobody else's slot was freed */
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(seine_breaker_settle(&b, &q, SEINE_SUCCESS, t), SEINE_OK);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, t), SEINE_OK);
    CHECK_EQ(stats(&b).half_open_successes, 2);
    seine_breaker_fini(&b);
}

TEST(breaker_refuses_what_is_no_outcome_and_keeps_the_permit)
{
    seine_breaker_opts o = opens_after(1, SEINE_SECS(1));
    seine_breaker b = make(&o);
    seine_permit p;

    CHECK(take(&b, T0, &p));
    CHECK_EQ(seine_breaker_settle(&b, &p, (seine_outcome)3, T0), SEINE_E_INVAL);
    CHECK_EQ(p.held, 1);
    seine_breaker_record(&b, (seine_outcome)3, T0);
    seine_breaker_force(&b, (seine_breaker_state)5, T0);
    CHECK_EQ(stats(&b).generation, p.generation);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
}

TEST(breaker_tells_what_the_last_counted_failure_was)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p, late;

    CHECK_EQ(stats(&b).why, SEINE_OK);
    CHECK(take(&b, T0, &late));
    CHECK(take(&b, T0, &p));
    p.why = SEINE_E_CONNECT;
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, T0), SEINE_OK);
    CHECK_EQ(stats(&b).why, SEINE_OK); /* was none */
    for (int i = 0; i < 2; i++) {
        CHECK(take(&b, T0, &p));
        CHECK_EQ(p.why, 0);
        p.why = i == 0 ? SEINE_E_RESET : SEINE_E_CONNECT_REFUSED;
        CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0), SEINE_OK);
    }
    CHECK_EQ(stats(&b).why, SEINE_E_CONNECT_REFUSED);
    late.why = SEINE_E_TIMEOUT;
    CHECK_EQ(seine_breaker_settle(&b, &late, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(stats(&b).why, SEINE_E_CONNECT_REFUSED); /* late: not counted */
}

TEST(breaker_ignores_ignored_calls_when_closed)
{
    seine_breaker_opts o = opens_after(2, SEINE_SECS(1));
    seine_breaker b = make(&o);

    fail(&b, 1, T0);
    CHECK(call(&b, I, T0));
    CHECK_EQ(stats(&b).failures, 1);
    CHECK_EQ(stats(&b).ignored, 1);
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
}

TEST(breaker_records_settle_the_oldest_loose_slot)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.half_open_max = 3;
    o.success_threshold = 9;
    o.slow = SEINE_MS(10);
    seine_breaker b = make(&o);
    seine_permit p;
    seine_time t = T0 + SEINE_MS(100);

    fail(&b, 1, T0);
    CHECK(take(&b, t, &p)); /* a permit before them, never theirs */
    CHECK_EQ(seine_breaker_can_execute(&b, t), SEINE_OK);
    CHECK_EQ(seine_breaker_can_execute(&b, t + SEINE_MS(10)), SEINE_OK);
    seine_breaker_record(&b, SEINE_SUCCESS, t + SEINE_MS(15)); /* 15 ms: slow */
    CHECK_EQ(stats(&b).slow, 1);
    seine_breaker_record(&b, SEINE_SUCCESS, t + SEINE_MS(15)); /* 5 ms: not */
    CHECK_EQ(stats(&b).slow, 1);
    seine_breaker_record(&b, SEINE_SUCCESS, t + SEINE_MS(15)); /* nobody's */
    CHECK_EQ(stats(&b).late, 1);
    CHECK_EQ(stats(&b).half_open_active, 1);
    CHECK_EQ(stats(&b).half_open_successes, 2);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, t), SEINE_OK);
    CHECK_EQ(stats(&b).half_open_active, 0);
    seine_breaker_fini(&b);
}

TEST(breaker_judges_half_open_by_probes_alone)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.half_open_max = 2;
    seine_breaker b = make(&o);
    seine_permit before, p, q;
    seine_time t = T0 + SEINE_MS(100);

    CHECK(take(&b, T0, &before));
    fail(&b, 1, T0);
    CHECK(take(&b, t, &p));
    CHECK(take(&b, t, &q));
    CHECK_EQ(seine_breaker_settle(&b, &before, SEINE_FAILURE, t), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, t), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(seine_breaker_settle(&b, &q, SEINE_FAILURE, t), SEINE_OK); /* late now */
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(stats(&b).failures, 0);
    CHECK_EQ(stats(&b).late, 2);
    seine_breaker_fini(&b);
}

/* Time. */

TEST(breaker_says_when)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.probe_lease = SEINE_MS(40);
    seine_breaker b = make(&o);
    seine_permit p;
    seine_time t = T0 + SEINE_MS(100);

    CHECK(seine_breaker_when(&b, T0) <= T0);
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_when(&b, T0), t);
    CHECK_EQ(seine_breaker_when(&b, t - 1), t);
    CHECK(seine_breaker_when(&b, t) <= t);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN); /* asking changes nothing */
    CHECK_EQ(stats(&b).rejected, 0);

    CHECK(take(&b, t, &p));
    CHECK_EQ(seine_breaker_when(&b, t), t + SEINE_MS(40));
    CHECK_EQ(seine_breaker_when(&b, t + SEINE_MS(40) - 1), t + SEINE_MS(40));
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(seine_breaker_when(&b, t + SEINE_MS(40)), t + SEINE_MS(140));
    CHECK_EQ(seine_breaker_state_get(&b), OPEN); /* but for a lease that ran out */

    seine_breaker_force(&b, SEINE_BREAKER_FORCED_OPEN, t);
    CHECK_EQ(seine_breaker_when(&b, t), SEINE_NEVER);
    seine_breaker_force(&b, SEINE_BREAKER_DISABLED, t);
    CHECK(seine_breaker_when(&b, t) <= t);
    seine_breaker_force(&b, SEINE_BREAKER_HALF_OPEN, t);
    CHECK(seine_breaker_when(&b, t) <= t);
}

TEST(breaker_leases_a_probe_for_the_open_time_by_default_from_the_earliest_start)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.half_open_max = 3;
    seine_breaker b = make(&o);
    seine_permit p;
    seine_time t = T0 + SEINE_MS(100);

    fail(&b, 1, T0);
    CHECK(take(&b, t, &p));
    CHECK(take(&b, t - SEINE_MS(5), &p)); /* the clock steps back */
    CHECK(take(&b, t + SEINE_MS(5), &p));
    CHECK_EQ(seine_breaker_when(&b, t), t + SEINE_MS(95));
    CHECK(!take(&b, t + SEINE_MS(95), &p));
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK_EQ(stats(&b).streak, 1); /* one reopening, however many were lost */
    CHECK_EQ(stats(&b).failed, 2);
    seine_breaker_fini(&b);
}

TEST(breaker_grows_the_open_time_at_each_reopening_until_it_closes)
{
    static const struct {
        uint32_t pct;
        int64_t max_us, want_us[5];
    } rows[] = {
        {100, 1000000, {100000, 100000, 100000, 100000, 100000}},
        {200, 500000, {100000, 200000, 400000, 500000, 500000}}, /* up to the ceiling */
        {150, 1000000, {100000, 150000, 225000, 337500, 506250}},
        {200, 100000, {100000, 100000, 100000, 100000, 100000}}, /* no room to grow */
    };

    EACH_ROW(i, rows) {
        seine_breaker_opts o = opens_after(1, SEINE_MS(100));
        o.open_growth_pct = rows[i].pct;
        o.open_max = SEINE_US(rows[i].max_us);
        seine_breaker b = make(&o);
        seine_time t = T0;

        fail(&b, 1, t);
        for (uint32_t k = 0; k < 5; k++) {
            CHECK_EQ(stats(&b).streak, k);
            CHECK_EQ(stats(&b).open_until - t, SEINE_US(rows[i].want_us[k]));
            t = stats(&b).open_until;
            CHECK(call(&b, F, t));
        }
    }

    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.open_growth_pct = 200;
    seine_breaker b = make(&o);
    fail(&b, 1, T0);
    CHECK(call(&b, F, T0 + SEINE_MS(100)));
    CHECK(call(&b, S, T0 + SEINE_MS(300)));
    CHECK_EQ(stats(&b).streak, 0);
    fail(&b, 1, T0 + SEINE_MS(300));
    CHECK_EQ(stats(&b).open_until, T0 + SEINE_MS(400));
    CHECK_EQ(stats(&b).opened, 3);
}

TEST(breaker_growth_saturates)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.open_growth_pct = UINT32_MAX;
    o.open_max = SEINE_NEVER - 1;
    seine_breaker b = make(&o);
    seine_time t = T0 + SEINE_MS(100);

    fail(&b, 1, T0);
    CHECK(call(&b, F, t));
    CHECK_EQ(stats(&b).open_until, t + SEINE_MS(1) * UINT32_MAX);
    t = stats(&b).open_until;
    CHECK(call(&b, F, t)); /* 10^8 ns * 43 million * 43 million is beyond any clock */
    CHECK_EQ(stats(&b).open_until, SEINE_NEVER);
}

TEST(breaker_growth_rounds_down)
{
    seine_breaker_opts o = opens_after(1, 1); /* 101 % of 1 ns is 1 ns */
    o.open_growth_pct = 101;
    seine_breaker b = make(&o);
    seine_time t = T0;

    fail(&b, 1, t);
    for (int i = 0; i < 1000; i++)
        CHECK(call(&b, F, ++t));
    CHECK_EQ(stats(&b).open_until, t + 1);
    CHECK_EQ(stats(&b).streak, 1000);
}

TEST(breaker_holds_an_open_host_until_its_wish_but_not_beyond_the_ceiling)
{
    static const struct {
        seine_span until, at, want;
    } rows[] = {
        {SEINE_SECS(90), 0, SEINE_SECS(90)},
        {SEINE_SECS(30), 0, SEINE_SECS(60)},                 /* never shortens */
        {SEINE_SECS(3600), 0, SEINE_SECS(300)},              /* the ceiling */
        {SEINE_SECS(3600), SEINE_SECS(10), SEINE_SECS(310)}, /* counted from now */
        {SEINE_NEVER - T0, SEINE_SECS(1), SEINE_SECS(301)},
        {-SEINE_SECS(5), 0, SEINE_SECS(60)}, /* in the past */
    };

    EACH_ROW(i, rows) {
        const seine_breaker_opts o = SEINE_BREAKER_OPTS;
        seine_breaker b = make(&o);
        seine_permit p;

        seine_breaker_hold(&b, T0 + rows[i].until, T0); /* closed: no effect */
        fail(&b, 5, T0);
        CHECK_EQ(stats(&b).open_until, T0 + SEINE_SECS(60));
        seine_breaker_hold(&b, T0 + rows[i].until, T0 + rows[i].at);
        CHECK_EQ(stats(&b).open_until, T0 + rows[i].want);
        CHECK(!take(&b, T0 + rows[i].want - 1, &p));
        CHECK(take(&b, T0 + rows[i].want, &p));
        seine_breaker_hold(&b, T0 + SEINE_SECS(600), T0 + rows[i].want);
        CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0 + rows[i].want),
                 SEINE_OK);
        CHECK_EQ(stats(&b).open_until, T0 + rows[i].want + SEINE_SECS(60));
    }
}

TEST(breaker_stays_shut_longer_when_the_clock_steps_back_or_stands)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.slow = SEINE_MS(1);
    seine_breaker b = make(&o);
    seine_permit p, q;
    seine_time t = T0 + SEINE_MS(100);

    fail(&b, 1, T0);
    CHECK(!take(&b, T0 - SEINE_SECS(500), &p));
    CHECK(!take(&b, INT64_MIN, &p));
    CHECK_EQ(seine_breaker_when(&b, INT64_MIN), t);
    CHECK(take(&b, t, &p));
    for (int i = 0; i < 100; i++) { /* no lease ends, no second probe */
        CHECK(!take(&b, t, &q));
        CHECK(!take(&b, T0 - SEINE_SECS(i), &q));
    }
    CHECK_EQ(seine_breaker_state_get(&b), HALF_OPEN);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, INT64_MIN), SEINE_OK);
    CHECK_EQ(stats(&b).slow, 0); /* a call that took less than no time */
}

TEST(breaker_survives_the_ends_of_time)
{
    seine_breaker_opts o = opens_after(1, SEINE_SECS(60));
    o.window_time = SEINE_SECS(10);
    o.failure_pct = 100;
    o.slow = 1;
    o.half_open_max = 2;
    seine_breaker b = make(&o);
    seine_permit p;

    CHECK(take(&b, INT64_MIN, &p));
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, SEINE_NEVER), SEINE_OK);
    CHECK_EQ(stats(&b).slow, 1);
    CHECK(call(&b, S, INT64_MIN));
    CHECK(call(&b, S, SEINE_NEVER - 1));
    CHECK(call(&b, F, SEINE_NEVER - 1));
    CHECK_EQ(stats(&b).open_until, SEINE_NEVER);
    CHECK(!take(&b, SEINE_NEVER - 1, &p));
    CHECK_EQ(seine_breaker_when(&b, T0), SEINE_NEVER);
    seine_breaker_hold(&b, SEINE_NEVER, SEINE_NEVER - 1);
    seine_breaker_reset(&b);
    CHECK(call(&b, F, INT64_MIN));
    CHECK_EQ(stats(&b).open_until, INT64_MIN + SEINE_SECS(60));
    CHECK(take(&b, SEINE_NEVER - 1, &p));
    CHECK_EQ(seine_breaker_when(&b, SEINE_NEVER - 1), SEINE_NEVER - 1); /* second probe */
    CHECK(take(&b, SEINE_NEVER - 1, &p));
    CHECK_EQ(seine_breaker_when(&b, SEINE_NEVER - 1), SEINE_NEVER);
    seine_breaker_fini(&b);
}

/* Windows. */

static seine_breaker_opts
windowed(uint32_t calls, seine_span time, uint32_t min_calls, uint32_t failure_pct)
{
    seine_breaker_opts o = opens_after(0, SEINE_SECS(60));

    o.window_calls = calls;
    o.window_time = time;
    o.min_calls = min_calls;
    o.failure_pct = failure_pct;
    return o;
}

/* Runs a word like "SSFF" and returns after how many calls the breaker opened. */
static size_t
opens_in(seine_breaker *b, const char *word, seine_time now)
{
    for (size_t i = 0; word[i]; i++) {
        CHECK(call(b, word[i] == 'F' ? F : word[i] == 'I' ? I : S, now));
        if (seine_breaker_state_get(b) == SEINE_BREAKER_OPEN)
            return i + 1;
    }
    return 0;
}

TEST(breaker_opens_by_the_share_of_failures_in_the_last_calls)
{
    static const struct {
        uint32_t calls, min, pct;
        const char *word;
        size_t opens;
    } rows[] = {
        {10, 10, 50, "SSSSSFFFFF", 10}, /* exactly half, exactly min_calls */
        {10, 10, 50, "SSSSSSFFFF", 0},  /* 40 % */
        {10, 10, 50, "FFFFFFFFF", 0},   /* nine calls are too few to judge */
        {10, 10, 50, "FFFFFFFFFF", 10}, /* ten are not */
        {10, 4, 50, "SSFF", 4},         /* judged before the window is full */
        {4, 4, 75, "FFSSSFSFFF", 9},    /* the first two have left: SFFF */
        {4, 4, 75, "FSFSFSFSFSFS", 0},  /* always half */
        {1, 1, 1, "SSSF", 4},           /* a window of one */
        {3, 3, 34, "SSF", 0},           /* 33.3 % */
        {3, 3, 33, "SSF", 3},           /* 33.3 % */
        {10, 4, 100, "FFFSFFFF", 0},    /* one success spoils all of it */
        {4, 4, 100, "FFFSFFFF", 8},     /* until it leaves */
        {10, 4, 50, "FFIIIIII", 0},     /* ignored calls are no calls */
        {10, 4, 50, "FFSSSF", 6},       /* a success never opens it, a failure does */
        {10, 4, 50, "FFSSSS", 0},       /* and then it may be too late */
    };

    EACH_ROW(i, rows) {
        seine_breaker_opts o = windowed(rows[i].calls, 0, rows[i].min, rows[i].pct);
        seine_breaker b = make(&o);

        CHECK_EQ(opens_in(&b, rows[i].word, T0), rows[i].opens);
        seine_breaker_fini(&b);
    }
}

TEST(breaker_window_of_1024_calls_forgets_the_1025th)
{
    seine_breaker_opts o = windowed(1024, 0, 1024, 100);
    seine_breaker b = make(&o);

    CHECK(call(&b, S, T0));
    for (int i = 0; i < 1023; i++)
        CHECK(call(&b, F, T0));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK(stats(&b).failure_rate == 100.0 * 1023 / 1024);
    CHECK(call(&b, F, T0));
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    seine_breaker_fini(&b);
}

TEST(breaker_opens_by_the_share_of_failures_in_the_last_time)
{
    seine_breaker_opts o = windowed(0, SEINE_SECS(10), 4, 50);
    seine_breaker b = make(&o);

    /* T0 stands at the start of a slice of 1 s. */
    CHECK_EQ(opens_in(&b, "FFS", T0), 0);
    CHECK_EQ(opens_in(&b, "F", T0 + SEINE_SECS(10) - 1), 1); /* 3 of 4 are seen */
    seine_breaker_reset(&b);

    CHECK_EQ(opens_in(&b, "FFS", T0), 0);
    CHECK_EQ(opens_in(&b, "F", T0 + SEINE_SECS(10)), 0); /* the first slice has left */
    CHECK(stats(&b).failure_rate == 100.0);
    CHECK_EQ(opens_in(&b, "SSF", T0 + SEINE_SECS(10)), 3); /* F S S F */
    seine_breaker_fini(&b);
}

TEST(breaker_window_by_time_lets_slices_leave_one_by_one)
{
    seine_breaker_opts o = windowed(0, SEINE_SECS(10), 100, 100);
    seine_breaker b = make(&o);

    for (int i = 0; i < 10; i++) /* slice i: one failure and i successes */
        for (int k = 0; k <= i; k++)
            CHECK(call(&b, k == 0 ? F : S, T0 + SEINE_SECS(i)));
    CHECK(stats(&b).failure_rate == 100.0 * 10 / 55);
    for (int gone = 1; gone < 10; gone++) {
        int left = 55 - gone * (gone + 1) / 2;

        CHECK(call(&b, I, T0 + SEINE_SECS(9 + gone))); /* looks, adds nothing */
        CHECK(stats(&b).failure_rate == 100.0 * (10 - gone) / left);
    }
    CHECK(call(&b, I, T0 + SEINE_SECS(19)));
    CHECK(stats(&b).failure_rate == 0.0); /* 0 of 0 */
    seine_breaker_fini(&b);
}

TEST(breaker_window_by_time_has_whole_slices_before_the_epoch_of_the_clock_too)
{
    seine_breaker_opts o = windowed(0, SEINE_SECS(10), 2, 100);
    seine_breaker b = make(&o);

    CHECK_EQ(opens_in(&b, "F", -1), 0);
    CHECK_EQ(opens_in(&b, "F", SEINE_SECS(9)), 0); /* the slice before 0 has left */
    seine_breaker_reset(&b);
    CHECK_EQ(opens_in(&b, "F", 0), 0);
    CHECK_EQ(opens_in(&b, "F", SEINE_SECS(9)), 1);
    seine_breaker_fini(&b);
}

TEST(breaker_window_by_time_loses_nothing_to_a_clock_that_steps_back)
{
    seine_breaker_opts o = windowed(0, SEINE_SECS(10), 4, 100);
    seine_breaker b = make(&o);

    CHECK_EQ(opens_in(&b, "FF", T0), 0);
    CHECK_EQ(opens_in(&b, "F", T0 - SEINE_SECS(5000)), 0);
    CHECK(stats(&b).failure_rate == 100.0);
    CHECK_EQ(opens_in(&b, "F", T0 - SEINE_SECS(20)), 1);

    /* A jump far forwards empties the window in one step, and it works on. */
    seine_breaker_reset(&b);
    CHECK_EQ(opens_in(&b, "FFS", T0), 0);
    CHECK_EQ(opens_in(&b, "FFS", SEINE_NEVER - 1), 0);
    CHECK_EQ(opens_in(&b, "I", T0), 0);
    CHECK(stats(&b).failure_rate == 100.0 * 2 / 3);
    seine_breaker_fini(&b);
}

TEST(breaker_windows_start_empty_after_every_change)
{
    static const struct {
        uint32_t calls;
        seine_span time;
    } rows[] = {{4, 0}, {0, SEINE_SECS(1000)}};

    EACH_ROW(i, rows) {
        seine_breaker_opts o = windowed(rows[i].calls, rows[i].time, 4, 50);
        seine_breaker b = make(&o);

        CHECK_EQ(opens_in(&b, "SSFF", T0), 4);
        CHECK(stats(&b).failure_rate == 0.0);
        CHECK(call(&b, S, T0 + SEINE_SECS(60)));
        CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
        CHECK(stats(&b).failure_rate == 0.0); /* the probe is not in it */
        CHECK_EQ(opens_in(&b, "FFF", T0 + SEINE_SECS(60)), 0);
        seine_breaker_reset(&b);
        CHECK_EQ(opens_in(&b, "FFF", T0 + SEINE_SECS(60)), 0);
        seine_breaker_fini(&b);
    }
}

TEST(breaker_opens_by_the_share_of_slow_calls)
{
    seine_breaker_opts o = windowed(4, 0, 4, 0);
    o.slow_pct = 50;
    o.slow = SEINE_MS(10);
    seine_breaker b = make(&o);
    seine_permit p;

    static const struct {
        seine_span took;
        int how;
    } calls[] = {
        {SEINE_MS(10), S},     /* exactly the bound is not slow */
        {SEINE_MS(10) + 1, S}, /* slow */
        {SEINE_SECS(9), I},    /* ignored */
        {0, S},
        {SEINE_SECS(2), F}, /* slow and failed: 2 of 4 */
    };
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
        CHECK(take(&b, T0, &p));
        CHECK_EQ(
            seine_breaker_settle(&b, &p, (seine_outcome)calls[i].how, T0 + calls[i].took),
            SEINE_OK);
    }
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
    CHECK_EQ(stats(&b).slow, 2);
    CHECK_EQ(stats(&b).succeeded, 3);
    CHECK_EQ(stats(&b).failed, 1);
    seine_breaker_fini(&b);
}

TEST(breaker_takes_a_slow_success_for_a_success)
{
    seine_breaker_opts o = opens_after(2, SEINE_SECS(60));
    o.slow = SEINE_MS(10);
    o.window_calls = 4;
    seine_breaker b = make(&o);
    seine_permit p;

    fail(&b, 1, T0);
    CHECK(take(&b, T0, &p));
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_SUCCESS, T0 + SEINE_SECS(1)), SEINE_OK);
    CHECK_EQ(stats(&b).failures, 0);
    CHECK(stats(&b).slow_rate == 50.0);
    CHECK(stats(&b).failure_rate == 50.0);
    seine_breaker_fini(&b);
}

/* Operators. */

TEST(breaker_forced_open_refuses_and_disabled_admits_until_reset)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p, before;

    CHECK(take(&b, T0, &before));
    seine_breaker_force(&b, SEINE_BREAKER_FORCED_OPEN, T0);
    CHECK(!take(&b, T0, &p));
    CHECK(!take(&b, SEINE_NEVER, &p));
    CHECK_EQ(seine_breaker_can_execute(&b, T0), SEINE_E_BREAKER);
    CHECK_EQ(seine_breaker_settle(&b, &before, SEINE_FAILURE, T0), SEINE_OK);
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_state_get(&b), FORCED_OPEN);
    CHECK_EQ(stats(&b).rejected, 3);
    CHECK_EQ(stats(&b).late, 2);
    seine_breaker_reset(&b);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);

    seine_breaker_force(&b, SEINE_BREAKER_DISABLED, T0);
    for (int i = 0; i < 9; i++)
        CHECK(call(&b, i % 3, T0 + i)); /* S F I ... */
    seine_breaker_record(&b, SEINE_FAILURE, T0 + 9);
    CHECK_EQ(seine_breaker_can_execute(&b, T0 + 9), SEINE_OK);
    seine_breaker_stats s = stats(&b);
    CHECK_EQ(s.state, DISABLED);
    CHECK_EQ(s.succeeded, 3);
    CHECK_EQ(s.failed, 4);
    CHECK_EQ(s.ignored, 3);
    CHECK_EQ(s.failures, 0);
    CHECK_EQ(s.last_failure_at, T0 + 9);
    seine_breaker_reset(&b);
    fail(&b, 1, T0);
    CHECK_EQ(seine_breaker_state_get(&b), OPEN);
}

TEST(breaker_can_be_forced_into_every_state)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p;

    seine_breaker_force(&b, SEINE_BREAKER_OPEN, T0);
    CHECK_EQ(stats(&b).open_until, T0 + SEINE_MS(100));
    seine_breaker_force(&b, SEINE_BREAKER_OPEN, T0 + 5); /* again: open from now */
    CHECK_EQ(stats(&b).open_until, T0 + SEINE_MS(100) + 5);
    CHECK_EQ(stats(&b).opened, 2);
    CHECK_EQ(stats(&b).streak, 0);
    seine_breaker_force(&b, SEINE_BREAKER_HALF_OPEN, T0);
    CHECK(take(&b, T0, &p));
    CHECK(!take(&b, T0, &p));
    seine_breaker_force(&b, SEINE_BREAKER_CLOSED, T0);
    CHECK(take(&b, T0, &p));
    CHECK(take(&b, T0, &p));
    CHECK_EQ(stats(&b).generation, 4);
}

TEST(breaker_reset_makes_permits_late_and_keeps_the_totals)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p;

    CHECK(take(&b, T0, &p));
    fail(&b, 1, T0);
    seine_breaker_reset(&b); /* from CLOSED: the failure is forgotten */
    CHECK_EQ(stats(&b).failures, 0);
    CHECK_EQ(stats(&b).failed, 1);
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(stats(&b).failures, 0);
    CHECK_EQ(stats(&b).late, 1);
    CHECK_EQ(stats(&b).last_failure_at, T0);
}

/* G6: callbacks. */

typedef struct told {
    seine_breaker *b;
    int n;
    struct {
        seine_breaker_state from, to, seen;
        uint64_t seq;
        uint32_t active;
    } at[16];
    bool meddles;
} told;

static void
on_change(seine_view key, seine_breaker_state from, seine_breaker_state to, uint64_t seq,
          void *arg)
{
    told *t = arg;
    seine_breaker_stats s = stats(t->b);

    CHECK_EQ(key.len, 0);
    t->at[t->n].from = from;
    t->at[t->n].to = to;
    t->at[t->n].seen = s.state;
    t->at[t->n].seq = seq;
    t->at[t->n++].active = s.half_open_active;
    if (t->meddles && to == SEINE_BREAKER_OPEN)
        seine_breaker_reset(t->b);
}

TEST(breaker_tells_each_change_when_it_is_complete)
{
    static const int want[][2] = {
        {CLOSED, OPEN},      {OPEN, HALF_OPEN},  {HALF_OPEN, OPEN},
        {OPEN, HALF_OPEN},   {HALF_OPEN, OPEN},  {OPEN, HALF_OPEN},
        {HALF_OPEN, CLOSED}, {CLOSED, DISABLED}, {DISABLED, CLOSED}};
    seine_breaker b;
    told t = {.b = &b};
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.on_change = on_change;
    o.arg = &t;
    b = make(&o);
    seine_permit p;

    fail(&b, 1, T0);
    CHECK(call(&b, F, T0 + SEINE_MS(100)));
    CHECK(take(&b, T0 + SEINE_MS(200), &p));
    CHECK(!take(&b, T0 + SEINE_MS(300), &p)); /* lease over */
    CHECK(call(&b, S, T0 + SEINE_MS(400)));
    seine_breaker_reset(&b); /* closed to closed is no change */
    seine_breaker_force(&b, SEINE_BREAKER_DISABLED, T0);
    seine_breaker_force(&b, SEINE_BREAKER_DISABLED, T0);
    seine_breaker_reset(&b);

    CHECK_EQ(t.n, 9);
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(t.at[i].from, want[i][0]);
        CHECK_EQ(t.at[i].to, want[i][1]);
        CHECK_EQ(t.at[i].seen, want[i][1]);
        CHECK_EQ(t.at[i].active, want[i][1] == HALF_OPEN);
        CHECK(i == 0 || t.at[i].seq > t.at[i - 1].seq);
    }
}

TEST(breaker_callbacks_may_call_back_in)
{
    seine_breaker b;
    told t = {.b = &b, .meddles = true};
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.on_change = on_change;
    o.arg = &t;
    b = make(&o);
    seine_permit p;

    CHECK(take(&b, T0, &p));
    CHECK_EQ(seine_breaker_settle(&b, &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    CHECK_EQ(t.n, 2);
    CHECK(t.at[1].seq > t.at[0].seq);
    CHECK_EQ(p.held, 0);

    seine_breaker_force(&b, SEINE_BREAKER_HALF_OPEN, T0);
    CHECK_EQ(seine_breaker_can_execute(&b, T0), SEINE_OK);
    seine_breaker_record(&b, SEINE_FAILURE, T0);
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
    seine_breaker_force(&b, SEINE_BREAKER_HALF_OPEN, T0);
    CHECK_EQ(seine_breaker_can_execute(&b, T0), SEINE_OK);
    CHECK(seine_breaker_when(&b, T0 + SEINE_MS(100)) > T0 + SEINE_MS(100));
    CHECK_EQ(seine_breaker_state_get(&b), CLOSED);
}

/* G7, G11, G12. */

static bool
equal(const seine_breaker_stats *a, const seine_breaker_stats *b)
{
    return breaker_stats_alike(a, b) && a->generation == b->generation;
}

TEST(breaker_refusal_takes_nothing_and_leaves_the_permit_alone)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breaker b = make(&o);
    seine_permit p = {77, 78, 79, 80, 81};

    fail(&b, 1, T0);
    seine_breaker_stats was = stats(&b);
    CHECK_EQ(seine_breaker_acquire(&b, T0, &p), SEINE_E_BREAKER);
    CHECK(p.generation == 77 && p.start == 78 && p.id == 79 && p.why == 80 &&
          p.held == 81);
    seine_breaker_stats is = stats(&b);
    CHECK_EQ(is.rejected, was.rejected + 1);
    is.rejected = was.rejected;
    CHECK(equal(&is, &was));
}

TEST(breaker_that_is_null_is_off)
{
    seine_permit p = {0};

    CHECK_EQ(seine_breaker_acquire(NULL, T0, &p), SEINE_OK);
    CHECK_EQ(p.held, 1);
    CHECK_EQ(p.start, T0);
    CHECK_EQ(seine_breaker_settle(NULL, &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breaker_settle(NULL, &p, SEINE_FAILURE, T0), SEINE_E_ALREADY);
    CHECK_EQ(seine_breaker_can_execute(NULL, T0), SEINE_OK);
    seine_breaker_record(NULL, SEINE_FAILURE, T0);
    seine_breaker_hold(NULL, T0, T0);
    seine_breaker_reset(NULL);
    seine_breaker_force(NULL, SEINE_BREAKER_OPEN, T0);
    CHECK_EQ(seine_breaker_when(NULL, T0), T0);
    CHECK_EQ(seine_breaker_state_get(NULL), DISABLED);
    CHECK_EQ(stats(NULL).state, DISABLED);
    CHECK_EQ(stats(NULL).failed, 0);
    seine_breaker_fini(NULL);
}

TEST(breaker_is_128_bytes_and_allocates_for_a_window_or_several_probes_only)
{
    static const struct {
        uint32_t probes, calls;
        seine_span time;
        long allocations;
    } rows[] = {{1, 0, 0, 0}, {2, 0, 0, 1}, {1, 1, 0, 1}, {1, 0, 1, 1}, {64, 1024, 0, 1}};

    CHECK_EQ(sizeof(seine_breaker), 128);
    EACH_ROW(i, rows) {
        seine_breaker_opts o = windowed(rows[i].calls, rows[i].time, 1, 0);
        o.failure_threshold = 1;
        o.half_open_max = rows[i].probes;
        count_begin();
        seine_breaker b = make(&o);

        CHECK_EQ(count_calls(), rows[i].allocations);
        CHECK(count_bytes() <= 2048); /* two bits a call, 16 bytes a probe */
        fail(&b, 1, T0);
        CHECK(call(&b, S, T0 + SEINE_SECS(60)));
        CHECK_EQ(count_calls(), rows[i].allocations);
        seine_breaker_fini(&b);
        seine_breaker_fini(&b); /* twice is once */
        count_end();
    }
}

TEST(breaker_out_of_memory_is_nomem_and_leaves_the_struct_alone)
{
    seine_breaker_opts o = windowed(100, 0, 10, 50);

    FAIL_EACH(r)
    {
        seine_breaker b = {0};
        seine_err e = seine_breaker_init(&b, &o);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK((b.opts == &o) == (e == SEINE_OK));
        seine_breaker_fini(&b);
    }
}
