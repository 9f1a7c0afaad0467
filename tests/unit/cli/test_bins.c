/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/bins.h"

#include "check.h"

/* Requests at 0.3 s and at `last`. */
static trace
two_requests(event events[2], seine_time last)
{
    events[0] = (event){.at = SEINE_MS(300)};
    events[1] = (event){.at = last};
    return (trace){.events = events, .count = 2};
}

TEST(bins_have_the_smallest_round_width_that_fits)
{
    static const struct {
        seine_time end;
        seine_span width;
    } rows[] = {
        {SEINE_MS(9900), SEINE_MS(500)}, /* 20 bins of 0.5 s */
        {SEINE_SECS(10), SEINE_SECS(1)}, /* 21 of them would be too many */
        {SEINE_SECS(19), SEINE_SECS(1)},
        {SEINE_SECS(39), SEINE_SECS(2)},
    };
    event events[2];

    EACH_ROW(i, rows) {
        trace t = two_requests(events, rows[i].end);
        bins b = bins_make(&t, rows[i].end, 0, 20);

        CHECK_EQ(b.width, rows[i].width);
        CHECK(b.count <= 20);
        CHECK(bins_edge(&b, 0) <= events[0].at);
        CHECK(bins_edge(&b, b.count) > events[1].at ||
              bins_edge(&b, b.count) == rows[i].end);
    }
}

TEST(bins_of_a_given_width_begin_at_a_round_edge)
{
    event events[2];
    trace t = two_requests(events, SEINE_SECS(5));
    bins b = bins_make(&t, SEINE_SECS(5), SEINE_SECS(1), 20);

    CHECK_EQ(bins_edge(&b, 0), 0);
    CHECK_EQ(bins_edge(&b, 3), SEINE_SECS(3));
    CHECK_EQ(bins_place(&b, SEINE_SECS(3)), 3);
    CHECK_EQ(bins_place(&b, SEINE_SECS(3) - 1), 2);
    CHECK_EQ(bins_place(&b, events[0].at), 0);
}
