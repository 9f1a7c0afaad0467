/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/health_schedule.h"

#include "check.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

static seine_health_status
never_called(void *arg, seine_ctx *ctx, char out_reason[SEINE_HEALTH_REASON])
{
    (void)arg;
    (void)ctx;
    (void)out_reason;
    return SEINE_HEALTH_HEALTHY;
}

static void
set_up(sn_health_schedule *s)
{
    *s = (sn_health_schedule){.n = 0};
    CHECK_EQ(sn_health_schedule_add(
                 s, &(seine_health_check)SEINE_HEALTH_CHECK("a", never_called, NULL)),
             SEINE_OK);
}

static seine_health_result
seen(const sn_health_schedule *s, seine_time now)
{
    seine_health_result r;

    sn_health_see(s, 0, now, &r);
    return r;
}

/* One call that takes `took` and ends well. */
static bool
run(sn_health_schedule *s, seine_time now, seine_span took)
{
    const seine_health_result fine = {.status = SEINE_HEALTH_HEALTHY};
    size_t i = 9;

    CHECK(sn_health_take(s, now, 0, &i));
    CHECK_EQ(i, 0);
    return sn_health_finish(s, 0, &fine, now + took);
}

TEST(health_schedule_takes_a_check_once)
{
    sn_health_schedule s;
    size_t i;

    set_up(&s);
    CHECK_EQ(sn_health_next_late(&s), SEINE_NEVER);
    CHECK(sn_health_take(&s, T0, 0, &i));
    CHECK_EQ(sn_health_next_due(&s), SEINE_NEVER);
    CHECK(!sn_health_take(&s, T0, 0, &i));
    CHECK_EQ(sn_health_next_late(&s), T0 + SEINE_SECS(5)); /* then it is late */
    CHECK(!sn_health_expire(&s, T0 + SEINE_SECS(5) - 1, &i));
    CHECK(sn_health_expire(&s, T0 + SEINE_SECS(5), &i));
    CHECK(!sn_health_expire(&s, T0 + SEINE_SECS(5), &i));    /* once */
    CHECK(!sn_health_take(&s, T0 + SEINE_SECS(100), 0, &i)); /* it has not returned */
    CHECK_EQ(sn_health_next_late(&s), SEINE_NEVER);
}

TEST(health_schedule_drops_what_comes_at_the_limit_and_keeps_what_comes_before)
{
    sn_health_schedule s;

    set_up(&s);
    CHECK(run(&s, T0, SEINE_SECS(5) - 1));
    CHECK_EQ(seen(&s, T0 + SEINE_SECS(5)).status, SEINE_HEALTH_HEALTHY);
    CHECK_EQ(seen(&s, T0 + SEINE_SECS(5)).took, SEINE_SECS(5) - 1);
    set_up(&s);
    CHECK(!run(&s, T0, SEINE_SECS(5)));
    CHECK_STR(seen(&s, T0 + SEINE_SECS(5)).reason, "timed out after 5 s");
}

TEST(health_schedule_spreads_calls_over_a_tenth_of_the_period)
{
    static const struct {
        uint64_t dice;
        seine_span after;
    } rows[] = {
        {0, SEINE_SECS(27)},
        {SEINE_SECS(6), SEINE_SECS(33)},     /* the largest */
        {SEINE_SECS(6) + 1, SEINE_SECS(27)}, /* and round again */
        {SEINE_SECS(3), SEINE_SECS(30)},
    };

    EACH_ROW(i, rows) {
        sn_health_schedule s;
        size_t which;

        set_up(&s);
        CHECK(sn_health_take(&s, T0, rows[i].dice, &which));
        CHECK_EQ(s.all[0].next, T0 + rows[i].after);
    }
}

TEST(health_schedule_forgets_a_result_after_two_periods_and_the_limit)
{
    sn_health_schedule s;
    seine_span kept = SEINE_SECS(2 * 30 + 5);

    set_up(&s);
    CHECK(run(&s, T0, 0));
    CHECK_EQ(seen(&s, T0 + kept).status, SEINE_HEALTH_HEALTHY);
    CHECK_EQ(seen(&s, T0 + kept + 1).status, SEINE_HEALTH_UNKNOWN);
    CHECK_STR(seen(&s, T0 + kept + 1).reason, "last result is 65 s old");
}

TEST(health_schedule_says_who_has_no_worker)
{
    sn_health_schedule s;
    size_t i;

    set_up(&s);
    CHECK(run(&s, T0, 0));
    s.no_worker = true;
    CHECK_STR(seen(&s, T0 + 1).reason, "no worker");
    CHECK(sn_health_take(&s, T0 + SEINE_SECS(40), 0, &i));
    CHECK_EQ(seen(&s, T0 + SEINE_SECS(41)).status, SEINE_HEALTH_HEALTHY);
}

TEST(health_schedule_tells_what_lasts_every_five_minutes)
{
    const seine_health_result bad = {.status = SEINE_HEALTH_UNHEALTHY};
    sn_health_schedule s;
    seine_health_result r;
    size_t i;

    set_up(&s);
    CHECK(!sn_health_must_tell(&s, 0, T0, &r)); /* nothing is known yet */
    CHECK(run(&s, T0, 0));
    CHECK(sn_health_must_tell(&s, 0, T0, &r));
    CHECK_EQ(r.status, SEINE_HEALTH_HEALTHY);
    CHECK(!sn_health_must_tell(&s, 0, T0 + SEINE_SECS(60), &r));
    for (seine_time now = T0 + SEINE_SECS(30); now <= T0 + SEINE_SECS(330);
         now += SEINE_SECS(30)) {
        CHECK(sn_health_take(&s, now, 0, &i));
        CHECK(sn_health_finish(&s, 0, &bad, now));
        CHECK_EQ(sn_health_must_tell(&s, 0, now, &r),
                 now == T0 + SEINE_SECS(30) || now == T0 + SEINE_SECS(330));
    }
}
