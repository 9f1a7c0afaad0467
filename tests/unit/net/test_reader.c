/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "check.h"
#include "net/conn.h"

#define T0 SEINE_SECS(100)

static sn_reader
reader(uint64_t bytes, seine_span span)
{
    sn_reader r = {0};
    sn_timeouts limits = SN_TIMEOUTS;

    limits.speed_bytes = bytes;
    limits.speed_span = span;
    sn_reader_pace(&r, &limits, T0);
    return r;
}

static void
more(sn_reader *r, uint64_t bytes, seine_time now)
{
    r->wire += bytes;
    sn_reader_more(r, now);
}

TEST(reader_without_a_byte_stalls_after_the_span)
{
    sn_reader r = reader(100, SEINE_SECS(20));

    CHECK_EQ(sn_reader_stalls(&r, SEINE_SECS(20)), T0 + SEINE_SECS(20));
    more(&r, 1, T0 + SEINE_SECS(1)); /* next to nothing changes nothing */
    CHECK_EQ(sn_reader_stalls(&r, SEINE_SECS(20)), T0 + SEINE_SECS(20));
}

TEST(reader_that_has_enough_stalls_a_span_later)
{
    sn_reader r = reader(100, SEINE_SECS(20)); /* 2,000 bytes */

    more(&r, 2000, T0 + SEINE_SECS(3));
    CHECK_EQ(sn_reader_stalls(&r, SEINE_SECS(20)), T0 + SEINE_SECS(23));
    more(&r, 1 << 20, T0 + SEINE_SECS(19));
    CHECK_EQ(sn_reader_stalls(&r, SEINE_SECS(20)), T0 + SEINE_SECS(39));
}

TEST(reader_of_a_body_that_may_be_slow_never_stalls)
{
    sn_reader off = reader(0, SEINE_SECS(20)), endless = reader(100, SEINE_NEVER);

    more(&off, 5, T0 + SEINE_SECS(1));
    more(&endless, 5, T0 + SEINE_SECS(1));
    CHECK_EQ(sn_reader_stalls(&off, SEINE_SECS(20)), SEINE_NEVER);
    CHECK_EQ(sn_reader_stalls(&endless, SEINE_NEVER), SEINE_NEVER);
}

TEST(reader_with_a_limit_below_a_byte_wants_one)
{
    sn_reader r = reader(1, SEINE_MS(1));

    CHECK_EQ(sn_reader_stalls(&r, SEINE_MS(1)), T0 + SEINE_MS(1));
    more(&r, 1, T0 + SEINE_US(900));
    CHECK_EQ(sn_reader_stalls(&r, SEINE_MS(1)), T0 + SEINE_US(1900));
}

/* Compared with a reader that stores every piece: no body above the limit counts as too
 * slow, and every body below 7/8 of it does. */
TEST(reader_never_blames_a_body_that_is_fast_enough)
{
    enum { PIECES = 400 };
    sn_rng dice = sn_rng_seed(check_seed());

    for (int round = 0; round < 200; round++) {
        seine_time at[PIECES + 1] = {T0}, now = T0;
        uint64_t sum[PIECES + 1] = {0};
        uint64_t quota = 1 + sn_rng_below(&dice, 3000), n = quota < 8 ? quota : 8;
        uint64_t most = n > 1 ? quota / n * (n - 1) : 0; /* 7/8 of whole bytes */
        sn_reader r = reader(quota, SEINE_SECS(1));

        for (int i = 1; i <= PIECES; i++) {
            seine_time stalls = sn_reader_stalls(&r, SEINE_SECS(1));
            /* The first moment t at which fewer than q bytes came in (t - 1 s, t], if
             * nothing comes any more, for the whole quota and for 7/8 of it, rounded as
             * there are only whole bytes. */
            seine_time exact = 0, lenient = 0;
            for (int k = i; k-- > 0;) {
                if (sum[i - 1] - sum[k] < quota)
                    exact = at[k] + SEINE_SECS(1);
                if (sum[i - 1] - sum[k] < most || sum[i - 1] == sum[k])
                    lenient = at[k] + SEINE_SECS(1);
            }
            CHECK(stalls >= exact);
            CHECK(stalls <= lenient);
            now += (seine_time)sn_rng_below(&dice, SEINE_MS(30));
            if (stalls <= now)
                break;
            at[i] = now;
            r.wire += 1 + sn_rng_below(&dice, 100);
            sum[i] = r.wire;
            sn_reader_more(&r, now);
        }
    }
}
