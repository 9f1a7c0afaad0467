/* SPDX-License-Identifier: Apache-2.0 */
/* When a page is asked for again. What became of it: tests/e2e/test_incremental.py. */
#include "engine/revisit.h"

#include "check.h"

enum { HOUR = 3600, DAY = 86400 };

/* From a day, half as long again while a page is the same, up to 30 days;
 * half as long when it has changed, down to an hour. */
TEST(revisit_interval_grows_while_a_page_is_the_same_and_shrinks_when_it_changes)
{
    static const seine_revisit_opts o = SEINE_REVISIT_OPTS;
    static const struct {
        int64_t before;
        seine_change change;
        int64_t after;
    } rows[] = {
        {-1, SEINE_CHANGE_NEW, DAY},
        {-1, SEINE_CHANGE_SAME, DAY}, /* of a copy that has no interval */
        {DAY, SEINE_CHANGE_SAME, DAY * 3 / 2},
        {20 * DAY, SEINE_CHANGE_SAME, 30 * DAY},
        {20 * DAY - 1, SEINE_CHANGE_SAME, 30 * DAY - 2}, /* 19 d 23:59:59 and a half */
        {20 * DAY + 1, SEINE_CHANGE_SAME, 30 * DAY},
        {30 * DAY, SEINE_CHANGE_SAME, 30 * DAY},
        {DAY, SEINE_CHANGE_CHANGED, DAY / 2},
        {2 * HOUR, SEINE_CHANGE_CHANGED, HOUR},
        {2 * HOUR - 1, SEINE_CHANGE_CHANGED, HOUR},
        {2 * HOUR + 2, SEINE_CHANGE_CHANGED, HOUR + 1},
        {HOUR, SEINE_CHANGE_GONE, 30 * DAY},
        {DAY, SEINE_CHANGE_NEW, DAY},
        {60 * DAY, SEINE_CHANGE_SAME, 30 * DAY}, /* the options were others */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(sn_revisit_every(&o, rows[i].before, rows[i].change), rows[i].after);
}

TEST(revisit_interval_that_is_given_outside_of_the_bounds_is_one_itself)
{
    seine_revisit_opts o = SEINE_REVISIT_OPTS;

    o.start = SEINE_SECS(60);
    CHECK_EQ(sn_revisit_every(&o, -1, SEINE_CHANGE_NEW), 60);
    CHECK_EQ(sn_revisit_every(&o, 60, SEINE_CHANGE_CHANGED), 60);
    o.start = SEINE_SECS(40 * DAY);
    CHECK_EQ(sn_revisit_every(&o, -1, SEINE_CHANGE_NEW), 40 * DAY);
    CHECK_EQ(sn_revisit_every(&o, 40 * DAY, SEINE_CHANGE_SAME), 40 * DAY);
    o.start = 0;
    CHECK_EQ(sn_revisit_every(&o, -1, SEINE_CHANGE_NEW), 0);
    CHECK_EQ(sn_revisit_every(&o, 0, SEINE_CHANGE_SAME), 0);
}

TEST(revisit_is_due_after_its_interval_or_what_the_server_allows)
{
    seine_revisit_opts o = SEINE_REVISIT_OPTS;

    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, -1), 5000 + 1000 * HOUR);
    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, HOUR - 1), 5000 + 1000 * HOUR);
    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, HOUR + 1), 5000 + 1000 * (HOUR + 1));
    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, INT32_MAX),
             5000 + INT64_C(1000) * 30 * DAY); /* no server keeps us away for ever */
    o.start = 0;
    CHECK_EQ(sn_revisit_due(&o, 5000, 0, DAY), 5000);
}
