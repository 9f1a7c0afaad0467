/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/link_prints.h"

#include <string.h>

#include "check.h"

static uint64_t
nth(sn_str bytes, size_t i)
{
    uint64_t print;

    memcpy(&print, bytes.ptr + i * sizeof print, sizeof print);
    return print;
}

TEST(link_prints_are_kept_once_in_order_and_never_the_own_one)
{
    static const uint64_t links[] = {7, 3, UINT64_MAX, 7, 3, 5, 3};
    sn_link_prints p;

    sn_link_prints_init(&p);
    for (int again = 0; again < 2; again++) { /* the page before is forgotten */
        sn_link_prints_reset(&p);
        for (size_t i = 0; i < sizeof links / sizeof *links; i++)
            sn_link_prints_add(&p, links[i]);
        sn_str got = sn_link_prints_end(&p, 5, 100);
        CHECK_EQ(got.len, 3 * sizeof(uint64_t));
        CHECK_EQ(nth(got, 0), 3);
        CHECK_EQ(nth(got, 1), 7);
        CHECK_EQ(nth(got, 2), UINT64_MAX);
    }
    sn_link_prints_reset(&p);
    CHECK_EQ(sn_link_prints_end(&p, 5, 100).len, 0);
    sn_link_prints_fini(&p);
}

TEST(link_prints_are_no_more_than_asked_for_and_than_there_is_room)
{
    sn_link_prints p;

    sn_link_prints_init(&p);
    for (uint64_t i = 0; i < SN_LINK_PRINTS_MOST + 10; i++)
        sn_link_prints_add(&p, i + 1);
    CHECK_EQ(sn_link_prints_end(&p, 0, 4096).len, 4096 * sizeof(uint64_t));
    sn_link_prints_reset(&p);
    sn_link_prints_add(&p, 9); /* what did not fit does not count for the next page */
    CHECK_EQ(sn_link_prints_end(&p, 0, 4096).len, sizeof(uint64_t));
    sn_link_prints_fini(&p);
}
