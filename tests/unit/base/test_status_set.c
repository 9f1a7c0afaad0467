/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/status_set.h"

#include <limits.h>

#include "check.h"

/* Each status but those of the range is what it was before. */
static void
check_only(const seine_status_set *set, unsigned first, unsigned last)
{
    for (unsigned s = 0; s < 1100; s++)
        CHECK_EQ(seine_status_set_has(set, s), s >= first && s <= last);
}

TEST(status_set_holds_what_was_added_and_no_more)
{
    static const unsigned rows[][2] = {
        {200, 299}, {404, 404}, {100, 599}, {0, 0}, {639, 639}, {63, 64}, {127, 192},
    };

    EACH_ROW(i, rows) {
        seine_status_set set = {{0}};

        seine_status_set_add(&set, rows[i][0], rows[i][1]);
        check_only(&set, rows[i][0], rows[i][1]);
        seine_status_set_remove(&set, rows[i][0], rows[i][1]);
        check_only(&set, 1, 0);
    }
}

TEST(status_set_2xx_is_200_to_299)
{
    seine_status_set set = SEINE_STATUS_2XX;

    check_only(&set, 200, 299);
}

TEST(status_set_loses_only_what_is_removed)
{
    seine_status_set set = SEINE_STATUS_2XX;

    seine_status_set_remove(&set, 201, 299);
    check_only(&set, 200, 200);
}

TEST(status_set_never_holds_640_or_more)
{
    struct {
        seine_status_set set;
        uint64_t behind;
    } s = {{{0}}, UINT64_C(0x5555555555555555)};

    seine_status_set_add(&s.set, 638, UINT_MAX);
    check_only(&s.set, 638, 639);
    CHECK(!seine_status_set_has(&s.set, UINT_MAX));
    seine_status_set_remove(&s.set, 639, UINT_MAX);
    check_only(&s.set, 638, 638);
    CHECK(s.behind == UINT64_C(0x5555555555555555));
}
