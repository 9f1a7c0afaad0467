/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/memory_brake.h"

#include "check.h"
#include "failing.h"

#define KIB   UINT64_C(1024)
#define MIB   (1024 * KIB)
#define PIECE (64 * KIB)

/* 8 MiB, of which the first has one: the others share 7, and are asked from 6.5 on. */
#define LIMIT   (8 * MIB)
#define RESERVE (1 * MIB)
#define SHARE   (LIMIT - RESERVE)
#define ASKED   (SHARE - 512 * KIB)

typedef struct woken {
    unsigned n;
    uint64_t due;
} woken;

static void
on_wake(void *arg)
{
    ((woken *)arg)->n++;
}

static uint64_t
on_due(void *arg)
{
    return ((woken *)arg)->due;
}

static sn_memory_brake *
make(uint64_t limit, uint64_t most)
{
    sn_memory_brake *b = NULL;

    CHECK_EQ(sn_memory_brake_new(limit, most, &b), SEINE_OK);
    return b;
}

static uint64_t
has(const sn_charge *c)
{
    return c->held.has.n[SEINE_RES_MEMORY];
}

static uint64_t
used(const sn_memory_brake *b)
{
    seine_want is;

    seine_budget_used_get(b->budget, &is);
    return is.n[SEINE_RES_MEMORY];
}

/* Reads as long as there is room; returns the last answer. */
static size_t
read_on(sn_memory_brake *b, sn_charge *c, uint64_t most)
{
    size_t room = 1;

    while (has(c) < most && room > 0 && room != SN_ROOM_NEVER)
        room = sn_memory_brake_room(b, c, has(c), 1);
    return room;
}

TEST(memory_brake_without_a_limit_never_asks)
{
    static const uint64_t none[] = {0, UINT64_MAX};

    EACH_ROW(i, none) {
        sn_memory_brake *b = make(none[i], MIB);
        sn_charge c = {0};

        CHECK(sn_charge_set(&c, b, UINT64_MAX));
        CHECK(sn_memory_brake_expect(b, UINT64_MAX));
        CHECK(!sn_memory_brake_is_on(b) && sn_memory_brake_may_start(b));
        sn_charge_release(&c, b);
        sn_memory_brake_unref(b);
    }
}

TEST(memory_brake_asks_from_half_a_mebibyte_before_the_others_have_all)
{
    static const struct {
        uint64_t limit, most, asked;
    } rows[] = {
        {LIMIT, RESERVE, ASKED},
        {LIMIT, UINT64_MAX, 4 * MIB - 512 * KIB}, /* the reserve is half at most … */
        {MIB, UINT64_MAX, 512 * KIB - 128 * KIB}, /* … and what may come unasked an */
        {2 * MIB, 4 * KIB, 2 * MIB - 260 * KIB},  /* eighth */
    };

    EACH_ROW(i, rows) {
        sn_memory_brake *b = make(rows[i].limit, rows[i].most);
        sn_charge c = {0};

        CHECK(sn_charge_set(&c, b, rows[i].asked));
        CHECK(!sn_memory_brake_is_on(b));
        CHECK(sn_charge_set(&c, b, rows[i].asked + 1));
        CHECK(sn_memory_brake_is_on(b));
        sn_charge_release(&c, b);
        CHECK(!sn_memory_brake_is_on(b));
        CHECK_EQ(used(b), 0);
        sn_memory_brake_unref(b);
    }
}

TEST(memory_brake_a_charge_grows_up_to_the_limit_and_never_shrinks)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge c = {0};

    CHECK(sn_charge_set(&c, b, 3 * MIB));
    CHECK(sn_charge_set(&c, b, MIB));
    CHECK_EQ(has(&c), 3 * MIB);
    CHECK(!sn_charge_set(&c, b, LIMIT + 1));
    CHECK_EQ(has(&c), 3 * MIB);
    CHECK(sn_charge_set(&c, b, LIMIT));
    CHECK_EQ(used(b), LIMIT);
    CHECK_EQ(b->charged, LIMIT);
    sn_charge_release(&c, b);
    CHECK_EQ(used(b), 0);
    CHECK_EQ(b->charged, 0);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_others_share_all_but_the_reserve_in_pieces)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge first = {0}, other = {0}, third = {0};

    CHECK(sn_charge_set(&other, b, SHARE - PIECE));
    CHECK_EQ(sn_memory_brake_room(b, &other, has(&other), 1), PIECE); /* to the byte */
    CHECK(!other.is_first);
    CHECK_EQ(used(b), SHARE);
    CHECK_EQ(sn_memory_brake_room(b, &first, 0, 1), PIECE); /* of the reserve */
    CHECK(first.is_first);
    CHECK_EQ(sn_memory_brake_room(b, &third, 0, 1), 0);
    CHECK(third.waits && !third.is_first && !first.waits);
    CHECK_EQ(used(b), SHARE + PIECE);
    CHECK_EQ(b->waiting, 1);
    sn_charge_release(&other, b);
    CHECK_EQ(sn_memory_brake_room(b, &third, 0, 1), PIECE);
    CHECK(!third.waits);
    CHECK_EQ(b->waiting, 0);
    sn_charge_release(&first, b);
    sn_charge_release(&third, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_what_the_first_has_takes_nothing_from_the_others)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge first = {0}, other = {0};

    CHECK(sn_charge_set(&other, b, SHARE - PIECE + 1));
    CHECK(sn_memory_brake_room(b, &first, 0, 1) == PIECE && first.is_first);
    CHECK_EQ(read_on(b, &first, RESERVE), PIECE);
    CHECK_EQ(sn_memory_brake_room(b, &other, has(&other), 1), 0); /* a byte too much */
    sn_charge_release(&other, b);
    CHECK(sn_charge_set(&other, b, SHARE - PIECE));
    CHECK_EQ(sn_memory_brake_room(b, &other, has(&other), 1), PIECE);
    CHECK_EQ(used(b), LIMIT);
    sn_charge_release(&first, b);
    sn_charge_release(&other, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_a_byte_may_cost_several)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge c = {0};

    CHECK(sn_charge_set(&c, b, SHARE - 3 * PIECE));
    CHECK_EQ(sn_memory_brake_room(b, &c, has(&c), 3), PIECE);
    CHECK_EQ(has(&c), SHARE);
    CHECK_EQ(sn_memory_brake_room(b, &c, SHARE - 3 * 5 * KIB, 3), 5 * KIB); /* the rest */
    CHECK_EQ(has(&c), SHARE);
    CHECK_EQ(sn_memory_brake_room(b, &c, SHARE - 3 * 4 * KIB, 3), 4 * KIB);
    CHECK(!c.is_first);
    CHECK_EQ(sn_memory_brake_room(b, &c, SHARE - 3 * 4 * KIB + 1, 3),
             PIECE); /* too few */
    CHECK(c.is_first);
    CHECK_EQ(has(&c), SHARE + 3 * PIECE);
    sn_charge_release(&c, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_no_request_starts_while_a_response_waits)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge first = {0}, other = {0}, third = {0};
    woken w = {0};

    CHECK(sn_charge_set(&other, b, SHARE));
    CHECK(sn_memory_brake_is_on(b) && sn_memory_brake_may_start(b));
    CHECK_EQ(sn_memory_brake_room(b, &first, 0, 1), PIECE);
    CHECK_EQ(sn_memory_brake_room(b, &third, 0, 1), 0);
    CHECK(!sn_memory_brake_may_start(b));
    b->due = on_due; /* … but that which is written next may be among them */
    b->due_arg = &w;
    CHECK(sn_memory_brake_may_start(b));
    b->due = NULL;
    sn_charge_go(&third, b); /* its exchange has ended */
    CHECK(sn_memory_brake_may_start(b));
    CHECK_EQ(sn_memory_brake_room(b, &third, 0, 1), 0);
    sn_charge_release(&other, b); /* off: nobody asks any more */
    CHECK(!sn_memory_brake_is_on(b) && sn_memory_brake_may_start(b));
    sn_charge_release(&first, b);
    sn_charge_release(&third, b);
    CHECK(b->waiting == 0 && b->idle == 0);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_a_first_that_outgrows_its_reserve_stops_the_others)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge first = {0}, other = {0}, third = {0};

    CHECK(sn_charge_set(&other, b, SHARE));
    CHECK_EQ(read_on(b, &first, RESERVE), PIECE);
    sn_charge_release(&other, b);
    CHECK(sn_charge_set(&other, b, SHARE / 2));
    CHECK_EQ(sn_memory_brake_room(b, &third, 0, 1), PIECE);
    CHECK_EQ(read_on(b, &first, RESERVE + 1), PIECE);
    CHECK_EQ(sn_memory_brake_room(b, &third, has(&third), 1), 0);
    CHECK_EQ(read_on(b, &first, LIMIT - has(&other) - has(&third)), PIECE);
    CHECK_EQ(used(b), LIMIT);
    CHECK_EQ(sn_memory_brake_room(b, &first, has(&first), 1), 0); /* for the others */
    CHECK(first.waits && used(b) == LIMIT);
    sn_charge_release(&first, b);
    CHECK_EQ(sn_memory_brake_room(b, &third, has(&third), 1), PIECE);
    sn_charge_release(&other, b);
    sn_charge_release(&third, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_no_request_starts_beside_a_first_that_outgrew_its_reserve)
{
    sn_memory_brake *b = make(LIMIT, UINT64_MAX);
    sn_charge first = {0}, other = {0};

    CHECK(sn_charge_set(&other, b, LIMIT / 2));
    CHECK_EQ(read_on(b, &first, LIMIT / 2), PIECE);
    CHECK(sn_memory_brake_may_start(b));
    sn_charge_release(&other, b);
    CHECK_EQ(read_on(b, &first, LIMIT / 2 + 1), PIECE);
    CHECK(sn_memory_brake_is_on(b) && !sn_memory_brake_may_start(b));
    sn_charge_release(&first, b);
    CHECK(sn_memory_brake_may_start(b));
    sn_memory_brake_unref(b);
}

TEST(memory_brake_a_first_that_is_alone_has_all_and_then_never_fits)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge c = {0}, other = {0};

    CHECK(sn_charge_set(&other, b, SHARE));
    CHECK_EQ(sn_memory_brake_room(b, &c, 0, 1), PIECE);
    sn_charge_release(&other, b);
    CHECK_EQ(read_on(b, &c, LIMIT - PIECE), PIECE);
    CHECK_EQ(has(&c), LIMIT - PIECE);
    CHECK(sn_charge_set(&c, b, LIMIT - 5 * KIB));
    CHECK_EQ(sn_memory_brake_room(b, &c, has(&c), 1), 5 * KIB); /* a smaller piece */
    CHECK_EQ(used(b), LIMIT);
    CHECK_EQ(sn_memory_brake_room(b, &c, has(&c), 1), SN_ROOM_NEVER);
    CHECK(!c.waits && used(b) == LIMIT);
    sn_charge_release(&c, b);
    CHECK_EQ(used(b), 0);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_those_that_wait_are_dropped_when_the_first_waits_for_them_alone)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge first = {0}, others[2] = {{.number = 1}, {.number = 2}};
    woken w = {0};

    sn_memory_brake_on_wake(b, on_wake, &w);
    CHECK(sn_charge_set(&others[0], b, SHARE / 2));
    CHECK(sn_charge_set(&others[1], b, SHARE / 2));
    CHECK_EQ(read_on(b, &first, RESERVE), PIECE);
    CHECK_EQ(sn_memory_brake_room(b, &first, has(&first), 1), 0);
    CHECK(b->first_waits && b->evictions == 0 && w.n == 0); /* both may still end */
    CHECK_EQ(sn_memory_brake_room(b, &others[0], has(&others[0]), 1), 0);
    CHECK_EQ(w.n, 1); /* the first is to look again */
    CHECK_EQ(b->releases, 1);
    CHECK_EQ(sn_memory_brake_room(b, &first, has(&first), 1), 0);
    CHECK_EQ(b->evictions, 0); /* the second does not wait */
    CHECK_EQ(sn_memory_brake_room(b, &others[1], has(&others[1]), 1), 0);
    CHECK_EQ(b->idle, SHARE + has(&first));
    CHECK_EQ(sn_memory_brake_room(b, &first, has(&first), 1), 0);
    CHECK_EQ(b->evictions, 1);
    CHECK_EQ(w.n, 3);
    sn_charge_release(&others[0], b);
    sn_charge_release(&others[1], b);
    CHECK_EQ(b->releases, 3); /* the second came when memory was not short */
    CHECK_EQ(sn_memory_brake_room(b, &first, has(&first), 1), PIECE);
    CHECK(!b->first_waits);
    sn_charge_release(&first, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_the_next_reserve_is_as_large_as_the_first_was_and_shrinks)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge first = {0}, other = {0};

    CHECK(sn_charge_set(&other, b, SHARE));
    CHECK_EQ(sn_memory_brake_room(b, &first, 0, 1), PIECE);
    sn_charge_release(&other, b);
    CHECK_EQ(read_on(b, &first, 5 * MIB), PIECE);
    sn_charge_release(&first, b);
    CHECK_EQ(b->reserve, 5 * MIB);
    for (uint64_t want = 5 * MIB; want > RESERVE;) { /* small ones follow */
        CHECK(sn_charge_set(&other, b, LIMIT - want - PIECE + 1));
        CHECK_EQ(sn_memory_brake_room(b, &first, 0, 1), PIECE);
        CHECK(first.is_first);
        sn_charge_release(&other, b);
        sn_charge_release(&first, b);
        want -= (want - RESERVE + 7) / 8;
        CHECK_EQ(b->reserve, want);
    }
    CHECK_EQ(b->reserve, RESERVE);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_an_announced_length_is_reserved_if_there_is_so_much)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge c = {0};

    CHECK(sn_memory_brake_expect(b, RESERVE - 4 * PIECE));
    CHECK_EQ(b->reserve, RESERVE);
    CHECK(sn_charge_set(&c, b, 2 * MIB - 4 * PIECE));
    CHECK(!sn_memory_brake_is_on(b));
    CHECK(sn_memory_brake_expect(b, 6 * MIB)); /* and its last piece */
    CHECK_EQ(b->reserve, 6 * MIB + 4 * PIECE);
    CHECK(sn_memory_brake_is_on(b));
    CHECK(sn_memory_brake_expect(b, LIMIT));
    CHECK_EQ(b->reserve, LIMIT);
    CHECK(!sn_memory_brake_expect(b, LIMIT + 1));
    sn_charge_release(&c, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_in_order_only_the_one_that_is_due_becomes_the_first)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge early = {.number = 7}, due = {.number = 3}, other = {0};
    woken w = {.due = 3};

    b->due = on_due;
    b->due_arg = &w;
    CHECK(sn_charge_set(&other, b, SHARE));
    CHECK_EQ(sn_memory_brake_room(b, &early, 0, 1), 0);
    CHECK(!early.is_first && !b->has_first);
    CHECK_EQ(sn_memory_brake_room(b, &due, 0, 1), PIECE);
    CHECK(due.is_first);
    w.due = 7;
    CHECK_EQ(sn_memory_brake_room(b, &early, 0, 1), 0); /* there is one already */
    sn_charge_release(&due, b);
    CHECK_EQ(sn_memory_brake_room(b, &early, 0, 1), PIECE);
    CHECK(early.is_first);
    sn_charge_release(&early, b);
    sn_charge_release(&other, b);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_wakes_when_memory_comes_back_and_was_short)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge c = {0};
    woken w = {0};

    sn_memory_brake_on_wake(b, on_wake, &w);
    CHECK(sn_charge_set(&c, b, ASKED));
    sn_charge_release(&c, b);
    CHECK(w.n == 0 && b->releases == 0);
    CHECK(sn_charge_set(&c, b, ASKED + 1));
    sn_charge_release(&c, b);
    CHECK(w.n == 1 && b->releases == 1);
    sn_charge_release(&c, b); /* nothing is held */
    CHECK_EQ(w.n, 1);
    sn_memory_brake_on_wake(b, NULL, NULL);
    CHECK(sn_charge_set(&c, b, LIMIT));
    sn_charge_release(&c, b);
    CHECK(w.n == 1 && b->releases == 2);
    sn_memory_brake_unref(b);
}

/* A charge that holds nothing gives nothing back, so nobody need look. */
TEST(memory_brake_wakes_nobody_for_a_charge_that_holds_nothing)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge large = {0}, none = {0};
    woken w = {0};

    sn_memory_brake_on_wake(b, on_wake, &w);
    CHECK(sn_charge_set(&large, b, LIMIT));
    CHECK(sn_memory_brake_is_on(b));
    CHECK(sn_charge_set(&none, b, 0));
    sn_charge_release(&none, b);
    CHECK(w.n == 0 && b->releases == 0);
    sn_charge_release(&large, b);
    CHECK_EQ(w.n, 1);
    sn_memory_brake_unref(b);
}

/* A visit that is asked for again, or the next one in its memory. */
TEST(memory_brake_a_charge_that_was_released_is_as_new)
{
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_charge c = {0}, other = {0};

    CHECK(sn_charge_set(&other, b, SHARE));
    CHECK_EQ(sn_memory_brake_room(b, &c, 0, 1), PIECE);
    CHECK(c.is_first && b->has_first);
    sn_charge_release(&c, b);
    CHECK(!c.is_first && !c.waits && has(&c) == 0);
    CHECK(!b->has_first && !b->first_outgrew && b->first_has == 0);
    sn_charge_release(&c, b); /* nothing more is to be had */
    CHECK_EQ(used(b), SHARE);
    sn_charge_release(&other, b);
    CHECK_EQ(sn_memory_brake_room(b, &c, 0, 1), PIECE);
    CHECK(!c.is_first); /* there is room for all now */
    sn_charge_release(&c, b);
    CHECK(used(b) == 0 && b->charged == 0);
    sn_memory_brake_unref(b);
}

TEST(memory_brake_lives_as_long_as_somebody_refers_to_it)
{
    count_begin();
    sn_memory_brake *b = make(LIMIT, RESERVE);
    sn_memory_brake_ref(b);
    sn_memory_brake_unref(b);
    CHECK(count_out() > 0);
    sn_memory_brake_unref(b);
    sn_memory_brake_unref(NULL);
    CHECK_EQ(count_out(), 0);
    count_end();
    FAIL_EACH(r)
    {
        sn_memory_brake *none = NULL;

        seine_err e = sn_memory_brake_new(LIMIT, RESERVE, &none);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_memory_brake_unref(none);
    }
}
