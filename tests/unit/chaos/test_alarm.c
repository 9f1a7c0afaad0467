/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/alarm.h"

#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

TEST(alarms_come_in_the_order_of_their_moments)
{
    static const seine_time due[] = {50, 10, 30, 20, 40, 10};
    snc_alarm alarms[6] = {{0}};
    snc_alarms heap = {0};
    seine_time last = 0;

    CHECK_EQ(snc_alarms_next(&heap), SEINE_NEVER);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(snc_alarm_set(&heap, &alarms[i], due[i]), SEINE_OK);
    CHECK_EQ(snc_alarms_next(&heap), 10);
    CHECK(!snc_alarms_due(&heap, 9));
    for (int i = 0; i < 6; i++) {
        snc_alarm *a = snc_alarms_due(&heap, 50);

        CHECK(a && a->due >= last && a->place == 0);
        last = a ? a->due : 0;
    }
    CHECK(!snc_alarms_due(&heap, SEINE_NEVER));
    snc_alarms_fini(&heap);
}

/* Compares with a list that is searched from end to end. */
TEST(any_sequence_of_setting_moving_and_stopping_keeps_the_order)
{
    enum { N = 40 };
    snc_alarm alarms[N] = {{0}};
    snc_alarms heap = {0};
    sn_rng rng = sn_rng_seed(check_seed());

    for (int step = 0; step < 20000; step++) {
        snc_alarm *a = &alarms[sn_rng_below(&rng, N)];
        seine_time first = SEINE_NEVER, now = (seine_time)sn_rng_below(&rng, 1000);

        switch (sn_rng_below(&rng, 4)) {
        case 0:
            snc_alarm_stop(&heap, a);
            break;
        case 1:
            if ((a = snc_alarms_due(&heap, now)))
                CHECK(a->due <= now && a->place == 0);
            break;
        default:
            CHECK_EQ(snc_alarm_set(&heap, a, now), SEINE_OK);
        }
        for (int i = 0; i < N; i++)
            if (alarms[i].place && alarms[i].due < first)
                first = alarms[i].due;
        CHECK_EQ(snc_alarms_next(&heap), first);
    }
    snc_alarms_fini(&heap);
}

TEST(without_memory_an_alarm_is_not_set)
{
    FAIL_EACH(r)
    {
        snc_alarm a = {0};
        snc_alarms heap = {0};
        seine_err e = snc_alarm_set(&heap, &a, 5);

        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && a.place == 0));
        snc_alarms_fini(&heap);
    }
}
