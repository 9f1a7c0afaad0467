/* SPDX-License-Identifier: Apache-2.0 */
#include "base/span_ring.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static void
put(sn_span_ring *r, int64_t at)
{
    sn_span s;

    sn_span_begin(&s, "x", SN_SPAN_INTERNAL, at, at + 1);
    sn_span_ring_put(r, &s);
}

TEST(span_ring_gives_spans_in_order_and_overwrites_the_oldest)
{
    sn_span_ring r;
    sn_span out[8];

    CHECK_EQ(sn_span_ring_init(&r, 4), SEINE_OK);
    for (int64_t i = 0; i < 6; i++)
        put(&r, i);
    CHECK_EQ(sn_span_ring_dropped(&r), 2);
    CHECK_EQ(sn_span_ring_take(&r, out, 3), 3);
    CHECK_EQ(out[0].start, 2);
    CHECK_EQ(out[2].start, 4);
    put(&r, 6);
    CHECK_EQ(sn_span_ring_take(&r, out, 8), 2);
    CHECK_EQ(out[0].start, 5);
    CHECK_EQ(out[1].start, 6);
    CHECK_EQ(sn_span_ring_take(&r, out, 8), 0);
    CHECK_EQ(sn_span_ring_dropped(&r), 2);
    sn_span_ring_fini(&r);
}

TEST(span_ring_leaves_out_attributes_that_do_not_fit_whole)
{
    char wide[2000];
    sn_span s;

    memset(wide, '"', sizeof wide); /* each becomes two bytes */
    sn_span_begin(&s, "x", SN_SPAN_CLIENT, 5, 3);
    CHECK_EQ(s.end, 5); /* a clock that stepped back */
    for (int i = 0; i < 10; i++)
        sn_span_text(&s, "k", (sn_str){wide, sizeof wide});
    CHECK(s.text_len <= SN_SPAN_ROOM);
    CHECK(s.text_len > 200);
    CHECK_EQ(s.text[s.text_len - 1], ',');
    CHECK_EQ(s.text[s.text_len - 2], '}');
}

TEST(span_ring_lives_with_an_allocator_that_fails)
{
    FAIL_EACH(n)
    {
        sn_span_ring r;
        seine_err e = sn_span_ring_init(&r, 4);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_span_ring_fini(&r);
    }
}
