/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include "base/rng.h"
#include "check.h"

__extension__ typedef __int128 wide;

#define NEVER SEINE_NEVER
#define FIRST INT64_MIN

TEST(time_units_are_nanoseconds)
{
    CHECK_EQ(SEINE_US(1), 1000);
    CHECK_EQ(SEINE_MS(1), 1000000);
    CHECK_EQ(SEINE_SECS(1), 1000000000);
    CHECK_EQ(SEINE_SECS(-3), -3000000000);
    CHECK_EQ(SEINE_SECS(9223372036LL), 9223372036000000000);
}

TEST(time_sums_saturate_and_never_stays_never)
{
    static const struct {
        int64_t a, b, sum;
    } rows[] = {
        {1, 2, 3},
        {-5, 2, -3},
        {NEVER - 1, 0, NEVER - 1},
        {NEVER - 1, 1, NEVER},
        {NEVER - 1, 2, NEVER}, /* one beyond */
        {NEVER, 1, NEVER},
        {NEVER, -1, NEVER}, /* not a moment before never */
        {-1, NEVER, NEVER},
        {NEVER, NEVER, NEVER},
        {NEVER, FIRST, NEVER},
        {FIRST, 0, FIRST},
        {FIRST, -1, FIRST},
        {FIRST + 1, -1, FIRST},
        {FIRST, FIRST, FIRST},
        {FIRST, 1, FIRST + 1},
    };

    EACH_ROW(i, rows) {
        CHECK_EQ(sn_time_add(rows[i].a, rows[i].b), rows[i].sum);
        CHECK_EQ(sn_time_add(rows[i].b, rows[i].a), rows[i].sum);
    }
}

TEST(time_differences_saturate)
{
    static const struct {
        int64_t a, b, difference;
    } rows[] = {
        {3, 2, 1},
        {2, 3, -1},
        {NEVER, 1, NEVER},
        {NEVER, NEVER, NEVER}, /* never is never, whatever is taken away */
        {NEVER - 1, -1, NEVER},
        {NEVER - 1, -2, NEVER},
        {0, FIRST, NEVER}, /* has no positive twin */
        {-1, FIRST, NEVER},
        {FIRST, 1, FIRST},
        {FIRST, 0, FIRST},
        {-2, NEVER, FIRST},
        {-1, NEVER, FIRST},
        {0, NEVER, FIRST + 1},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_time_sub(rows[i].a, rows[i].b), rows[i].difference);
}

TEST(time_products_saturate)
{
    static const struct {
        int64_t each;
        uint64_t n;
        int64_t product;
    } rows[] = {
        {0, UINT64_MAX, 0},
        {UINT32_MAX, 0, 0},
        {1000, 1000, 1000000},
        {1, INT64_MAX, NEVER},
        {1, (uint64_t)INT64_MAX + 1, NEVER},
        {3037000499, 3037000499, 9223372030926249001}, /* the largest square below */
        {3037000500, 3037000500, NEVER},               /* and the first beyond */
        {NEVER, UINT64_MAX, NEVER},
        {(int64_t)1 << 32, (uint64_t)1 << 32, NEVER}, /* 64 bits would say 0 */
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_time_mul(rows[i].each, rows[i].n), rows[i].product);
}

TEST(time_min_and_max)
{
    CHECK_EQ(sn_time_min(FIRST, NEVER), FIRST);
    CHECK_EQ(sn_time_max(FIRST, NEVER), NEVER);
    CHECK_EQ(sn_time_min(1, 2), 1);
    CHECK_EQ(sn_time_max(1, 2), 2);
    CHECK_EQ(sn_time_max(-1, -1), -1);
}

static int64_t
clamp(wide x)
{
    return x > NEVER ? NEVER : x < FIRST ? FIRST : (int64_t)x;
}

/* In 128 bits nothing has to saturate before the end. */
TEST(time_agrees_with_wide_arithmetic)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 20000; i++) {
        int64_t a = (int64_t)sn_rng_next(&r) >> sn_rng_below(&r, 64);
        int64_t b = (int64_t)sn_rng_next(&r) >> sn_rng_below(&r, 64);

        if (a != NEVER && b != NEVER) {
            CHECK_EQ(sn_time_add(a, b), clamp((wide)a + b));
            CHECK_EQ(sn_time_sub(a, b), clamp((wide)a - b));
        }
        if (a >= 0 && b >= 0)
            CHECK_EQ(sn_time_mul(a, (uint64_t)b), clamp((wide)a * b));
    }
}
