/* SPDX-License-Identifier: Apache-2.0 */
#include "net/read_rate.h"

#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(100)

/* Reads whatever may be read at `now`; returns how much, and moves `*at`. */
static uint64_t
drain(sn_read_rate *r, uint64_t *paid, uint64_t *in, seine_time now, seine_time *at)
{
    uint64_t before = *in;

    for (size_t room; (room = sn_read_rate_room(r, paid, *in, now, at)) > 0;)
        *in += room;
    return *in - before;
}

TEST(read_rate_gives_a_burst_and_then_a_piece_at_a_time)
{
    sn_read_rate *r;
    uint64_t paid = 0, in = 0;
    seine_time at = 0;

    CHECK_EQ(sn_read_rate_new(200000, T0, &r), SEINE_OK);
    CHECK_EQ(sn_read_rate_room(r, &paid, 0, T0, &at), 2000);
    CHECK_EQ(sn_read_rate_room(r, &paid, 500, T0, &at), 1500); /* it is paid for */
    CHECK_EQ(drain(r, &paid, &in, T0, &at), 20000);
    CHECK_EQ(at, T0 + SEINE_MS(10));
    CHECK_EQ(sn_read_rate_room(r, &paid, in, at - 1, &at), 0);
    CHECK_EQ(at, T0 + SEINE_MS(10));
    CHECK_EQ(sn_read_rate_room(r, &paid, in, at, &at), 2000);
    sn_read_rate_free(r);
}

TEST(read_rate_holds_over_any_time_and_is_used_up)
{
    static const uint64_t rates[] = {1,      100,     2560,      204800,
                                     409601, 1000003, 300000000, UINT64_C(12345678901)};

    EACH_ROW(i, rates) {
        uint64_t rate = rates[i], paid = 0, in = 0, burst = rate / 10;
        sn_read_rate *r;
        seine_time at = T0;

        burst = burst > 256 ? burst : 256;
        CHECK_EQ(sn_read_rate_new(rate, T0, &r), SEINE_OK);
        while (at < T0 + SEINE_SECS(2000)) {
            seine_time now = at, from = now - T0;

            drain(r, &paid, &in, now, &at);
            CHECK(at > now);
            double most = (double)rate * ((double)from / 1e9) + (double)burst;
            CHECK((double)in <= most + 1);
            if (rate > 100000 && from > SEINE_SECS(2))
                break;
        }
        /* read as soon as it may be, all but a piece and a thousandth is used */
        double span = (double)(at - T0) / 1e9, all = (double)rate * span + (double)burst;
        double piece = (double)rate / 100 > 256 ? (double)rate / 100 : 256;
        CHECK((double)in >= all * 0.999 - piece - 1);
        sn_read_rate_free(r);
    }
}

TEST(read_rate_is_shared_and_what_was_read_unpaid_is_paid_later)
{
    sn_read_rate *r;
    uint64_t paid[2] = {0}, in[2] = {0};
    seine_time at;

    CHECK_EQ(sn_read_rate_new(200000, T0, &r), SEINE_OK);
    in[0] = 30000; /* handshakes, and a record of TLS */
    CHECK_EQ(sn_read_rate_room(r, &paid[0], in[0], T0, &at), 0);
    CHECK_EQ(sn_read_rate_room(r, &paid[1], in[1], T0, &at), 0); /* the burst is gone */
    CHECK_EQ(sn_read_rate_room(r, &paid[0], in[0], T0 + SEINE_MS(40), &at), 0);
    CHECK_EQ(sn_read_rate_room(r, &paid[0], in[0], T0 + SEINE_MS(60), &at), 2000);
    CHECK_EQ(sn_read_rate_room(r, &paid[1], in[1], T0 + SEINE_MS(69), &at), 0);
    CHECK_EQ(sn_read_rate_room(r, &paid[1], in[1], T0 + SEINE_MS(70), &at), 2000);
    sn_read_rate_free(r);
}

TEST(read_rate_remembers_the_transport_that_waited_most)
{
    sn_read_rate *r;

    CHECK_EQ(sn_read_rate_new(1, T0, &r), SEINE_OK);
    CHECK_EQ(sn_read_rate_waited(r), 0);
    sn_read_rate_tell(r, 7);
    sn_read_rate_tell(r, 5);
    CHECK_EQ(sn_read_rate_waited(r), 7);
    sn_read_rate_free(r);
}

TEST(read_rate_of_nothing_is_refused_and_any_other_is_fine)
{
    sn_read_rate *r = NULL;

    CHECK_EQ(sn_read_rate_new(0, T0, &r), SEINE_E_INVAL);
    CHECK_EQ(sn_read_rate_new(UINT64_MAX, T0, &r), SEINE_OK);
    sn_read_rate_free(r);
    sn_read_rate_free(NULL);
    FAIL_EACH(n)
    {
        r = NULL;
        seine_err e = sn_read_rate_new(1000, T0, &r);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_read_rate_free(r);
    }
}
