/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pace.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/rng.h"
#include "base/time.h"
#include "check.h"

#define T0    SEINE_SECS(1000)
#define FLOOR 200000u  /* --host-rate 5/s */
#define CRAWL 1000000u /* what crawl, check and run begin with */
#define MOST  60000000u

/*
 * A host as the scheduler treats it, and a server in front of it. Starts are at
 * `next` or later, at most `cap` in flight; an answer may raise `next` only.
 */
typedef struct world world;

typedef struct answer {
    sn_pace_kind kind;
    seine_span after;
} answer;

struct world {
    sn_pace p;
    answer (*serve)(world *w);
    seine_time now, next;
    sn_heap flying; /* item = kind */
    seine_time began[64];
    uint32_t cap, in_flight;
    sn_rng rng;
    bool jitter;
    /* the server */
    double rate, tokens;
    seine_time seen, free_at, bad_until;
    seine_span base;
    /* what happened */
    uint32_t starts, pushed, latencies;
    seine_time first;
    uint32_t latency_ms[100000];
    uint32_t knees[64], n_knees;
};

static world *
world_new(uint32_t floor_us, uint32_t first_us, answer (*serve)(world *w))
{
    world *w = calloc(1, sizeof *w);

    sn_pace_init(&w->p, floor_us, first_us, T0);
    sn_heap_init(&w->flying, 64);
    w->rng = sn_rng_seed(check_seed());
    w->serve = serve;
    w->now = w->next = w->first = w->seen = T0;
    w->cap = 4;
    w->base = SEINE_MS(40);
    return w;
}

static void
world_free(world *w)
{
    sn_heap_fini(&w->flying);
    free(w);
}

static uint64_t
dice(world *w)
{
    return w->jitter ? sn_rng_next(&w->rng) : 0;
}

static void
leave(world *w)
{
    answer a = w->serve(w);
    uint32_t slot = 0;

    while (w->began[slot] != 0)
        slot++;
    w->began[slot] = w->now;
    w->starts++;
    w->in_flight++;
    CHECK_EQ(sn_heap_put(&w->flying, w->now + a.after, slot << 8 | a.kind), SEINE_OK);
    w->next = sn_pace_start(&w->p, w->now, dice(w));
}

static void
arrive(world *w)
{
    uint64_t item = sn_heap_take(&w->flying).item;
    sn_pace_kind kind = (sn_pace_kind)(item & 255);
    seine_span took = w->now - w->began[item >> 8];
    uint32_t knee = w->p.knee_us;

    w->began[item >> 8] = 0;
    if (w->in_flight-- == w->cap && w->next <= w->now)
        sn_pace_starve(&w->p); /* held by its cap */
    sn_pace_settle(&w->p, kind, took, w->now);
    w->next = sn_time_max(w->next, sn_pace_next(&w->p, w->now, 0));
    w->pushed += kind == SN_PACE_PUSH;
    if (kind == SN_PACE_OK && w->latencies < 100000)
        w->latency_ms[w->latencies++] = (uint32_t)(took / SEINE_MS(1));
    if (w->p.knee_us != knee && w->p.knee_us != 0 && w->n_knees < 64)
        w->knees[w->n_knees++] = w->p.knee_us;
}

/* Until the given moment; a start and an arrival at the same one: arrival first. */
static void
run(world *w, seine_time until)
{
    for (;;) {
        seine_time start =
            w->in_flight < w->cap ? sn_time_max(w->next, w->now) : SEINE_NEVER;
        seine_time end = sn_heap_when(&w->flying);

        if (sn_time_min(start, end) > until)
            break;
        w->now = sn_time_min(start, end);
        if (end <= start)
            arrive(w);
        else
            leave(w);
    }
    w->now = until;
}

/* One start after the other, until the interval is another one. */
static uint32_t
run_to_change(world *w)
{
    uint32_t before = w->p.ivl_us;
    seine_time limit = w->now + SEINE_SECS(1000);

    while (w->p.ivl_us == before && w->now < limit)
        run(w, w->now + SEINE_MS(1));
    return w->p.ivl_us;
}

static answer
well(world *w)
{
    return (answer){SN_PACE_OK, w->base};
}

TEST(pv1_a_new_host_is_approached_in_steps_of_a_third)
{
    static const uint32_t want[] = {666666, 444444, 296296, 200000};
    world *w = world_new(FLOOR, CRAWL, well);
    seine_time before = 0;
    uint32_t starts = 0;

    CHECK_EQ(w->p.ivl_us, 1000000);
    EACH_ROW(i, want)
        CHECK_EQ(run_to_change(w), want[i]);
    world_free(w);

    /* Eight starts each: 8 * 2.407406 s, and from there on every 200 ms. */
    w = world_new(FLOOR, CRAWL, well);
    run(w, T0 + SEINE_US(19259248) - 1);
    CHECK_EQ(w->starts, 32);
    run(w, T0 + SEINE_US(19259248));
    CHECK_EQ(w->starts, 33);
    while (w->starts < 40) {
        before = w->p.last;
        starts = w->starts;
        while (w->starts == starts)
            run(w, w->now + SEINE_MS(1));
        CHECK_EQ(w->p.last - before, SEINE_MS(200));
    }
    world_free(w);
}

TEST(pv10_a_typed_host_that_answers_quickly_four_times_is_at_its_ceiling)
{
    world *w = world_new(FLOOR, CRAWL, well);

    sn_pace_welcome(&w->p);
    CHECK_EQ(run_to_change(w), FLOOR);
    CHECK_EQ(w->starts, 4);
    run(w, T0 + SEINE_SECS(30));
    CHECK_EQ(w->p.ivl_us, FLOOR); /* and never above it */
    world_free(w);
}

TEST(pace_welcomes_no_host_that_is_slow_fails_or_pushes_back)
{
    static const struct {
        sn_pace_kind kind;
        seine_span ttfb;
        bool is_welcome;
    } rows[] = {
        {SN_PACE_OK, SEINE_MS(500) - 1, true},
        {SN_PACE_OK, SEINE_MS(500), false}, /* one slow answer is enough */
        {SN_PACE_FAIL, 0, false},
        {SN_PACE_PUSH, 0, false},
        {SN_PACE_NONE, 0, true}, /* says nothing about the host */
    };

    EACH_ROW(i, rows) {
        sn_pace p;

        sn_pace_init(&p, FLOOR, CRAWL, T0);
        sn_pace_welcome(&p);
        sn_pace_settle(&p, rows[i].kind, rows[i].ttfb, T0);
        for (int k = 0; k < 4; k++)
            sn_pace_settle(&p, SN_PACE_OK, SEINE_MS(40), T0 + SEINE_MS(k + 1));
        CHECK_EQ(p.ivl_us == FLOOR, rows[i].is_welcome);
    }
}

TEST(pace_welcome_is_for_the_first_answers_and_after_a_restart_for_none)
{
    sn_pace p;

    sn_pace_init(&p, FLOOR, CRAWL, T0);
    for (int k = 0; k < 7; k++)
        sn_pace_settle(&p, SN_PACE_OK, SEINE_MS(40), T0 + SEINE_MS(k));
    CHECK_EQ(p.ivl_us, CRAWL); /* nobody has typed it */
    sn_pace_row row = sn_pace_save(&p, T0);
    sn_pace_welcome(&p);
    sn_pace_restore(&p, FLOOR, &row, T0);
    for (int k = 0; k < 7; k++)
        sn_pace_settle(&p, SN_PACE_OK, SEINE_MS(40), T0 + SEINE_MS(k));
    CHECK_EQ(p.ivl_us, CRAWL);
}

/* A world at its ceiling, after the first vector. */
static world *
settled_world(void)
{
    world *w = world_new(FLOOR, CRAWL, well);

    run(w, T0 + SEINE_SECS(60));
    CHECK_EQ(w->p.ivl_us, FLOOR);
    return w;
}

TEST(pv2_one_429_doubles_and_holds_for_thirty_seconds)
{
    world *w = settled_world();
    seine_time at = w->now;

    CHECK_EQ(sn_pace_settle(&w->p, SN_PACE_PUSH, 0, at), SN_PACE_PUSHBACK);
    CHECK_EQ(w->p.ivl_us, 400000);
    CHECK_EQ(w->p.knee_us, 200000);
    CHECK_EQ(w->p.hold, at + SEINE_SECS(30));
    run(w, at + SEINE_SECS(30) - 1);
    CHECK_EQ(w->p.ivl_us, 400000);
    world_free(w);
}

TEST(pv3_after_the_hold_it_stays_an_eighth_above_the_knee)
{
    static const uint32_t want[] = {266666, 246153, 228570, 225000};
    world *w = settled_world();
    seine_time at = w->now;

    sn_pace_settle(&w->p, SN_PACE_PUSH, 0, at);
    EACH_ROW(i, want)
        CHECK_EQ(run_to_change(w), want[i]);
    CHECK(w->now > at + SEINE_SECS(30));
    CHECK_EQ(w->p.knee_until, at + SEINE_SECS(330));
    run(w, at + SEINE_SECS(330) - 1);
    CHECK_EQ(w->p.ivl_us, 225000);
    CHECK_EQ(run_to_change(w), 200000);
    CHECK(w->now < at + SEINE_SECS(330 + 3));
    CHECK_EQ(w->p.knee_us, 0);
    world_free(w);
}

TEST(pv4_a_quota_is_made_to_last)
{
    world *w = settled_world();
    seine_time at = w->now;

    sn_pace_quota(&w->p, 100, SEINE_SECS(60), at);
    CHECK_EQ(sn_pace_every(&w->p, at), SEINE_US(666667));
    CHECK_EQ(sn_pace_every(&w->p, at + SEINE_SECS(60) - 1), SEINE_US(666667));
    CHECK_EQ(sn_pace_every(&w->p, at + SEINE_SECS(60)), SEINE_MS(200));
    CHECK_EQ(w->p.ivl_us, FLOOR);
    world_free(w);
}

TEST(pv5_a_host_that_says_429_for_ever_is_asked_once_a_minute)
{
    world *w = settled_world();
    uint32_t want = FLOOR;

    for (int i = 0; i < 12; i++) {
        seine_time at = w->now;

        want = 2 * want < MOST ? 2 * want : MOST;
        sn_pace_settle(&w->p, SN_PACE_PUSH, 1, at);
        CHECK_EQ(w->p.ivl_us, want);
        for (int fast = 1; fast < 100; fast++) /* however fast */
            sn_pace_settle(&w->p, SN_PACE_PUSH, 1, at + fast * SEINE_MS(10));
        CHECK_EQ(w->p.ivl_us, want);
        w->now = at + SEINE_SECS(1);
    }
    CHECK_EQ(w->p.ivl_us, MOST);
    for (int i = 0; i < 1000; i++) {
        w->now += SEINE_SECS(60);
        CHECK_EQ(sn_pace_settle(&w->p, SN_PACE_PUSH, 1, w->now), SN_PACE_SAME);
        CHECK_EQ(w->p.ivl_us, MOST);
    }
    world_free(w);
}

static answer
sick_for_a_while(world *w)
{
    return (answer){w->now < w->bad_until ? SN_PACE_PUSH : SN_PACE_OK, w->base};
}

TEST(pv6_ten_bad_seconds_are_forgiven_in_minutes)
{
    world *w = settled_world();
    seine_time at = w->now;

    w->jitter = true;
    w->serve = sick_for_a_while;
    w->bad_until = at + SEINE_SECS(10);
    run(w, at + SEINE_SECS(180));
    CHECK_EQ(w->p.ivl_us, 225000);
    uint32_t before = w->starts;
    run(w, at + SEINE_SECS(280));
    uint32_t per_100_s = w->starts - before;
    CHECK(per_100_s >= 405 && per_100_s <= 430); /* 225 ms and 1/16 of it */
    run(w, w->p.knee_until + SEINE_SECS(3));
    CHECK_EQ(w->p.ivl_us, FLOOR);
    world_free(w);
}

static int
by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* One request at a time, `base` each: above 1 / base they queue. */
static answer
queue(world *w)
{
    w->free_at = sn_time_max(w->free_at, w->now) + w->base;
    return (answer){SN_PACE_OK, w->free_at - w->now};
}

TEST(pv7_a_server_that_queues_is_found_out_by_its_latency)
{
    for (int jitter = 0; jitter < 2; jitter++) {
        world *w = world_new(20000, CRAWL, queue);

        w->base = SEINE_MS(250);
        w->jitter = jitter;
        run(w, T0 + SEINE_SECS(900));
        qsort(w->latency_ms, w->latencies, sizeof *w->latency_ms, by_value);
        CHECK(w->starts >= 3 * 900);
        if (!jitter) /* with it, two seeds of a hundred drift a little above */
            CHECK(w->latency_ms[w->latencies / 2] <= 2 * 250);
        CHECK(w->latency_ms[w->latencies * 99 / 100] <= 4 * 250);
        world_free(w);
    }
}

/* A bucket of one second's worth; who finds it empty is told 429. */
static answer
bucket(world *w)
{
    double filled = w->tokens + (double)(w->now - w->seen) / 1e9 * w->rate;

    w->tokens = filled < w->rate ? filled : w->rate;
    w->seen = w->now;
    if (w->tokens < 1)
        return (answer){SN_PACE_PUSH, SEINE_MS(5)};
    w->tokens -= 1;
    return (answer){SN_PACE_OK, w->base};
}

TEST(pv8_a_server_with_a_limit_sees_few_requests_above_it)
{
    for (int jitter = 0; jitter < 2; jitter++) {
        world *w = world_new(100000, CRAWL, bucket);

        w->rate = w->tokens = 3;
        w->jitter = jitter;
        run(w, T0 + SEINE_SECS(1800));
        CHECK(w->pushed * 200 <= w->starts);
        CHECK(w->starts >= 2 * 1800);
        world_free(w);
    }
}

TEST(pv9_a_series_of_knees_grows_by_half)
{
    static const uint32_t want[] = {10000, 15000, 22500, 33750, 50625};
    world *w = world_new(10000, 10000, bucket); /* fetch begins at the ceiling */

    w->rate = w->tokens = 20;
    run(w, T0 + SEINE_SECS(1800));
    CHECK(w->n_knees >= 5);
    EACH_ROW(i, want)
        CHECK_EQ(w->knees[i], want[i]);
    world_free(w);
}

/* One random step of a trace; answers, pushes, quotas, pauses and floors. */
typedef struct step {
    sn_pace_kind kind;
    seine_span ttfb, wait;
    bool starved;
} step;

static step
some_step(sn_rng *r, int mood)
{
    static const sn_pace_kind moods[][6] = {
        {SN_PACE_OK, SN_PACE_OK, SN_PACE_OK, SN_PACE_OK, SN_PACE_OK, SN_PACE_OK},
        {SN_PACE_OK, SN_PACE_OK, SN_PACE_OK, SN_PACE_OK, SN_PACE_OK, SN_PACE_FAIL},
        {SN_PACE_OK, SN_PACE_FAIL, SN_PACE_FAIL, SN_PACE_OK, SN_PACE_PUSH, SN_PACE_NONE},
        {SN_PACE_PUSH, SN_PACE_PUSH, SN_PACE_PUSH, SN_PACE_OK, SN_PACE_OK, SN_PACE_NONE},
    };
    static const seine_span waits[] = {
        1, SEINE_US(50), SEINE_MS(5), SEINE_MS(300), SEINE_SECS(2), SEINE_SECS(40)};
    static const seine_span times[] = {SEINE_US(1), SEINE_MS(50), SEINE_MS(400),
                                       SEINE_SECS(9)};

    return (step){
        moods[mood][sn_rng_below(r, 6)],
        1 + (seine_span)sn_rng_below(r, (uint64_t)times[sn_rng_below(r, 4)]),
        1 + (seine_span)sn_rng_below(r, (uint64_t)waits[sn_rng_below(r, 6)]),
        sn_rng_below(r, 20) == 0,
    };
}

static uint32_t
some_floor(sn_rng *r)
{
    static const uint32_t floors[] = {0,     1,      99,      100,     101,
                                      20000, 200000, 5000000, 90000000};

    return floors[sn_rng_below(r, sizeof floors / sizeof *floors)];
}

TEST(pace_laws_l1_l2_l3_hold_on_random_traces)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int trace = 0; trace < 200; trace++) {
        uint32_t floor_us = some_floor(&r), first = some_floor(&r);
        seine_time now = T0;
        int mood = 0;
        sn_pace p;

        sn_pace_init(&p, floor_us, first, now);
        for (int i = 0; i < 500; i++) {
            if (sn_rng_below(&r, 40) == 0)
                mood = (int)sn_rng_below(&r, 4);
            step s = some_step(&r, mood);
            uint64_t throw = sn_rng_next(&r);

            now += s.wait;
            if (sn_rng_below(&r, 2))
                sn_pace_start(&p, now, throw);
            if (s.starved)
                sn_pace_starve(&p);
            if (sn_rng_below(&r, 50) == 0)
                sn_pace_quota(&p, sn_rng_below(&r, 100), s.wait, now);

            uint32_t before = p.ivl_us;
            seine_time next = sn_pace_next(&p, now, throw);
            sn_pace_why why = sn_pace_settle(&p, s.kind, s.ttfb, now);

            CHECK(sn_pace_every(&p, now) >= SEINE_US((seine_span)floor_us)); /* L1 */
            if (s.kind != SN_PACE_OK)                                        /* L2 */
                CHECK(sn_pace_next(&p, now, throw) >= next);
            CHECK(p.ivl_us <= 2 * (uint64_t)before); /* L3 */
            CHECK(p.ivl_us >= 2 * (uint64_t)before / 3);
            CHECK(p.ivl_us <= (floor_us > MOST ? floor_us : MOST));
            CHECK((why == SN_PACE_SAME) == (p.ivl_us == before));
        }
    }
}

/* L4: an event moves the knee or the hold length; its first cut is counted here. */
TEST(pace_law_l4_events_are_apart_and_a_series_doubles_its_holds)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int trace = 0; trace < 100; trace++) {
        seine_time now = T0, event = INT64_MIN;
        uint32_t hold_s = 0;
        sn_pace p;

        sn_pace_init(&p, some_floor(&r), 1000, now);
        for (int i = 0; i < 400; i++) {
            step s = some_step(&r, (int)sn_rng_below(&r, 4));
            seine_time cut = p.cut, hold = p.hold, knee_until = p.knee_until;
            bool knee = p.knee_us > 0;

            now += 4 * s.wait;
            sn_pace_settle(&p, s.kind, s.ttfb, now);
            if (p.cut == cut || now < hold)
                continue;
            /* A new event. */
            CHECK(event == INT64_MIN || now - event >= SEINE_SECS(30));
            if (knee && now < knee_until && event != INT64_MIN) {
                CHECK_EQ(p.hold_s, hold_s * 2 < 600 ? hold_s * 2 : 600);
                CHECK(now - event >= SEINE_SECS(hold_s));
            } else if (!knee || now >= knee_until) {
                CHECK_EQ(p.hold_s, 30);
            }
            CHECK_EQ(p.hold, now + SEINE_SECS(p.hold_s));
            event = now;
            hold_s = p.hold_s;
        }
    }
}

TEST(pace_law_l5_restored_is_never_faster_than_saved)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int trace = 0; trace < 300; trace++) {
        uint32_t floor_us = some_floor(&r);
        seine_time now = T0;
        sn_pace live, again;

        sn_pace_init(&live, floor_us, some_floor(&r), now);
        for (uint64_t i = 0, n = sn_rng_below(&r, 200); i < n; i++) {
            step s = some_step(&r, (int)sn_rng_below(&r, 4));

            now += s.wait;
            sn_pace_start(&live, now, 0);
            sn_pace_settle(&live, s.kind, s.ttfb, now);
            if (sn_rng_below(&r, 50) == 0)
                sn_pace_quota(&live, 1 + sn_rng_below(&r, 100), SEINE_SECS(5000), now);
        }
        while (live.n_ok > 0 || live.is_troubled) /* half an epoch is not kept */
            sn_pace_settle(&live, SN_PACE_OK, SEINE_MS(1), now);
        sn_pace_row row = sn_pace_save(&live, now);
        uint64_t throw = sn_rng_next(&r);

        sn_pace_restore(&again, floor_us, &row, now);
        CHECK(sn_pace_next(&again, now, throw) >= sn_pace_next(&live, now, throw));
        CHECK(sn_pace_next(&again, now, 0) >= now + SEINE_US((seine_span)floor_us));
        /* And while all goes well it stays behind. */
        for (int i = 0; i < 200; i++) {
            seine_span ttfb = (seine_span)sn_rng_below(&r, SEINE_MS(30));

            now += SEINE_MS(100);
            sn_pace_settle(&live, SN_PACE_OK, ttfb, now);
            sn_pace_settle(&again, SN_PACE_OK, ttfb, now);
            CHECK(again.ivl_us >= live.ivl_us);
        }
    }
}

TEST(pace_begins_where_it_is_told_within_its_bounds)
{
    static const struct {
        uint32_t floor_us, first_us, ivl_us;
    } rows[] = {
        {FLOOR, CRAWL, CRAWL},     /* crawl */
        {FLOOR, FLOOR, FLOOR},     /* fetch */
        {5000000, CRAWL, 5000000}, /* a crawl-delay of 5 s */
        {0, 0, 100},               /* no rate given */
        {99, 0, 100},
        {FLOOR, 70000000, MOST},
        {70000000, CRAWL, 70000000}, /* slower than the most */
        {UINT32_MAX, 0, UINT32_MAX},
    };

    EACH_ROW(i, rows) {
        sn_pace p;

        sn_pace_init(&p, rows[i].floor_us, rows[i].first_us, T0);
        CHECK_EQ(p.ivl_us, rows[i].ivl_us);
        CHECK(sn_pace_next(&p, T0, UINT64_MAX) < T0); /* the first one at once */
        CHECK_EQ(sn_pace_start(&p, T0, 0), T0 + SEINE_US((seine_span)rows[i].ivl_us));
    }
}

TEST(pace_jitter_is_at_most_an_eighth)
{
    sn_pace p;

    sn_pace_init(&p, FLOOR, FLOOR, T0);
    CHECK_EQ(sn_pace_start(&p, T0, 0), T0 + SEINE_MS(200));
    CHECK_EQ(sn_pace_next(&p, T0, UINT64_MAX), T0 + SEINE_MS(225));
    CHECK_EQ(sn_pace_next(&p, T0, UINT64_MAX / 2), T0 + SEINE_US(212500));
}

TEST(pace_that_is_off_keeps_the_floor_and_pauses)
{
    sn_pace p;

    sn_pace_init_off(&p, 50, T0);
    CHECK_EQ(sn_pace_start(&p, T0, UINT64_MAX), T0 + SEINE_US(50));
    for (int i = 0; i < 20; i++)
        CHECK_EQ(sn_pace_settle(&p, SN_PACE_PUSH, 0, T0 + SEINE_SECS(i)), SN_PACE_SAME);
    sn_pace_quota(&p, 1, SEINE_SECS(60), T0);
    sn_pace_slow(&p, CRAWL);
    CHECK_EQ(sn_pace_every(&p, T0), SEINE_US(50));
    sn_pace_quota(&p, 0, SEINE_SECS(60), T0);
    CHECK_EQ(p.pause, T0 + SEINE_SECS(60));
    sn_pace_set_floor(&p, 0);
    CHECK_EQ(sn_pace_next(&p, T0, UINT64_MAX), T0);
}

TEST(pace_quota_edges)
{
    static const struct {
        uint64_t left;
        seine_span reset;
        seine_span every; /* 0: as before, 200 ms */
        seine_time pause; /* 0: none */
    } rows[] = {
        {100, SEINE_SECS(60), SEINE_US(666667), 0},
        {1, SEINE_SECS(9), SEINE_SECS(10), 0},
        {1, SEINE_SECS(24 * 3600), SEINE_US((seine_span)UINT32_MAX),
         0},                                  /* as slow as can be */
        {1, SEINE_SECS(24 * 3600) + 1, 0, 0}, /* nonsense */
        {0, SEINE_SECS(24 * 3600) + 1, 0, 0},
        {0, -1, 0, 0},
        {0, SEINE_SECS(7), 0, T0 + SEINE_SECS(7)},
        {0, 0, 0, T0},
        {5, 0, 0, 0},                       /* over already */
        {UINT64_MAX, SEINE_SECS(60), 0, 0}, /* plenty: the floor holds */
        {1, 1, 0, 0},
    };

    EACH_ROW(i, rows) {
        sn_pace p;

        sn_pace_init(&p, FLOOR, FLOOR, T0);
        sn_pace_quota(&p, rows[i].left, rows[i].reset, T0);
        CHECK_EQ(sn_pace_every(&p, T0), rows[i].every ? rows[i].every : SEINE_MS(200));
        CHECK_EQ(p.pause, rows[i].pause ? rows[i].pause : INT64_MIN);
    }
    sn_pace p;
    sn_pace_init(&p, FLOOR, FLOOR, T0);
    sn_pace_pause(&p, T0 + 10);
    sn_pace_quota(&p, 0, 5, T0); /* never shortens */
    CHECK_EQ(p.pause, T0 + 10);
}

TEST(pace_one_event_is_one_cut)
{
    sn_pace p;

    sn_pace_init(&p, FLOOR, FLOOR, T0);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0 + SEINE_SECS(1) - 1);
    CHECK_EQ(p.ivl_us, 2 * FLOOR);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0 + SEINE_SECS(1));
    CHECK_EQ(p.ivl_us, 4 * FLOOR);
    CHECK_EQ(p.knee_us, FLOOR); /* still the same event */
    CHECK_EQ(p.hold, T0 + SEINE_SECS(31));

    /* A slow host gets the time of two answers. */
    sn_pace_init(&p, FLOOR, FLOOR, T0);
    sn_pace_settle(&p, SN_PACE_OK, SEINE_SECS(3), T0);
    CHECK_EQ(p.srtt_us, 3000000);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0 + SEINE_SECS(6) - 1);
    CHECK_EQ(p.ivl_us, 2 * FLOOR);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0 + SEINE_SECS(6));
    CHECK_EQ(p.ivl_us, 4 * FLOOR);
}

/* n answers of the kind, a millisecond apart. */
static sn_pace_why
settle_n(sn_pace *p, int n, sn_pace_kind kind, seine_span ttfb, seine_time *now)
{
    sn_pace_why why = SN_PACE_SAME;

    for (int i = 0; i < n; i++, *now += SEINE_MS(1))
        why = sn_pace_settle(p, kind, ttfb, *now);
    return why;
}

/* n responses of the kind, each an event of its own. */
static void
settle_apart(sn_pace *p, int n, sn_pace_kind kind, seine_time *now)
{
    for (int i = 0; i < n; i++, *now += SEINE_SECS(2))
        sn_pace_settle(p, kind, SEINE_MS(40), *now);
}

TEST(pace_doubles_at_each_level_of_failures)
{
    static const struct {
        int failures;
        uint32_t times;
    } rows[] = {{1, 2}, {9, 2}, {10, 4}, {14, 4}, {15, 8}, {100, 8}};

    EACH_ROW(i, rows) {
        seine_time now = T0;
        sn_pace p;

        sn_pace_init(&p, FLOOR, FLOOR, now);
        settle_apart(&p, 20, SN_PACE_OK, &now);
        settle_apart(&p, rows[i].failures, SN_PACE_FAIL, &now);
        CHECK_EQ(p.ivl_us, rows[i].times * FLOOR);
        CHECK_EQ(p.knee_us, 0); /* no knee: at any pace the host may fail */
    }
}

TEST(pace_is_what_it_was_after_20_good_responses)
{
    for (int failures = 1; failures <= 25; failures++) {
        seine_time now = T0;
        sn_pace p;

        sn_pace_init(&p, CRAWL, CRAWL, now);
        settle_apart(&p, failures, SN_PACE_FAIL, &now);
        for (int good = 1; good <= 20; good++) {
            uint32_t before = p.ivl_us;

            CHECK(before >= CRAWL);
            settle_apart(&p, 1, SN_PACE_OK, &now);
            CHECK(p.ivl_us <= before && p.ivl_us >= 2 * (uint64_t)before / 3);
        }
        CHECK_EQ(p.ivl_us, CRAWL);
    }
}

/* Three of ten fail for an hour: the interval is twice what it was. */
TEST(pace_holds_while_the_share_of_failures_stays)
{
    seine_time now = T0;
    sn_pace p;

    sn_pace_init(&p, FLOOR, FLOOR, now);
    for (int i = 0; i < 2000; i++) {
        bool fails = i % 10 == 2 || i % 10 == 5 || i % 10 == 6;

        settle_apart(&p, 1, fails ? SN_PACE_FAIL : SN_PACE_OK, &now);
        CHECK(p.ivl_us <= 2 * FLOOR);
        CHECK(i < 20 || p.ivl_us == 2 * FLOOR);
    }
}

/* A host that fails from the first request on, always as much, is not left at the careful
 * pace of the start. */
TEST(pace_leaves_the_careful_start_also_where_requests_fail)
{
    static const struct {
        int fails_of_ten;
        uint32_t times;
    } rows[] = {{1, 2}, {3, 2}, {5, 4}, {8, 8}};

    EACH_ROW(i, rows) {
        seine_time now = T0;
        sn_pace p;

        sn_pace_init(&p, FLOOR, 5 * FLOOR, now);
        for (int n = 0; n < 200; n++) {
            uint32_t before = p.ivl_us;
            bool fails = n * rows[i].fails_of_ten % 10 < rows[i].fails_of_ten;

            sn_pace_settle(&p, fails ? SN_PACE_FAIL : SN_PACE_OK, SEINE_MS(40), now);
            CHECK(!fails || p.ivl_us >= before); /* errors never raise the rate */
            now += SEINE_US((seine_span)p.ivl_us);
        }
        CHECK_EQ(p.ivl_us, rows[i].times * FLOOR);
    }
}

TEST(pace_counts_failures_of_one_event_once)
{
    seine_time now = T0;
    sn_pace p;

    sn_pace_init(&p, FLOOR, FLOOR, now);
    settle_n(&p, 200, SN_PACE_FAIL, 0, &now);
    CHECK_EQ(p.ivl_us, 2 * FLOOR);
    sn_pace_settle(&p, SN_PACE_FAIL, 0, T0 + SEINE_SECS(1) - 1);
    CHECK_EQ(p.ivl_us, 2 * FLOOR);
    CHECK_EQ(sn_pace_settle(&p, SN_PACE_FAIL, 0, T0 + SEINE_SECS(1)), SN_PACE_ERRORS);
    CHECK_EQ(p.ivl_us, 4 * FLOOR);
}

/* A 429 keeps its knee and its hold, whatever has failed just before. */
TEST(pace_a_push_back_among_failures_has_its_knee)
{
    seine_time now = T0;
    sn_pace p;

    sn_pace_init(&p, FLOOR, FLOOR, now);
    settle_n(&p, 3, SN_PACE_FAIL, 0, &now);
    CHECK_EQ(sn_pace_settle(&p, SN_PACE_PUSH, 0, now), SN_PACE_PUSHBACK);
    CHECK_EQ(p.ivl_us, 4 * FLOOR);
    CHECK_EQ(p.knee_us, 2 * FLOOR);
    CHECK_EQ(p.hold, now + SEINE_SECS(30));
    settle_n(&p, 40, SN_PACE_OK, SEINE_MS(40), &now);
    CHECK_EQ(p.ivl_us, 4 * FLOOR);
}

TEST(pace_slows_down_when_answers_get_slow)
{
    seine_time now = T0;
    sn_pace p;

    sn_pace_init(&p, FLOOR, CRAWL, now);
    settle_n(&p, 8, SN_PACE_OK, SEINE_MS(100), &now);
    CHECK_EQ(p.ivl_us, 666666);
    /* The limit is 2 * 100 + 50 ms; at it nothing is wrong. */
    settle_n(&p, 8, SN_PACE_OK, SEINE_MS(250), &now);
    CHECK_EQ(p.ivl_us, 444444);
    /* 300 of 250: six fifths. The knee is where it was too fast. */
    CHECK_EQ(settle_n(&p, 8, SN_PACE_OK, SEINE_MS(300), &now), SN_PACE_LATENCY);
    CHECK_EQ(p.ivl_us, 533332);
    CHECK_EQ(p.knee_us, 444444);
    CHECK_EQ(p.hold, now - SEINE_MS(1) + SEINE_SECS(10));
    CHECK_EQ(p.knee_until, now - SEINE_MS(1) + SEINE_SECS(300));
    /* At most the double; and within the hold the knee stays. */
    settle_n(&p, 8, SN_PACE_OK, SEINE_SECS(9), &now);
    CHECK_EQ(p.ivl_us, 1066664);
    CHECK_EQ(p.knee_us, 444444);
    /* The upper median: four fast and four slow answers are slow. */
    settle_n(&p, 4, SN_PACE_OK, SEINE_MS(100), &now);
    settle_n(&p, 4, SN_PACE_OK, SEINE_SECS(9), &now);
    CHECK_EQ(p.ivl_us, 2133328);
    settle_n(&p, 5, SN_PACE_OK, SEINE_MS(100), &now);
    settle_n(&p, 3, SN_PACE_OK, SEINE_SECS(9), &now);
    CHECK_EQ(p.ivl_us, 2133328);
    /* Sixteen epochs later the old base is forgotten. */
    for (int i = 0; i < 40; i++) {
        settle_n(&p, 8, SN_PACE_OK, SEINE_SECS(2), &now);
        now += SEINE_SECS(20);
    }
    CHECK_EQ(p.med_ms[3], 2000);
    CHECK(p.ivl_us < MOST);
    uint32_t ivl = p.ivl_us;
    settle_n(&p, 8, SN_PACE_OK, SEINE_SECS(2), &now);
    CHECK(p.ivl_us <= ivl);
}

TEST(pace_an_idle_host_proves_nothing)
{
    seine_time now = T0;
    sn_pace p;

    sn_pace_init(&p, FLOOR, CRAWL, now);
    sn_pace_starve(&p);
    settle_n(&p, 8, SN_PACE_OK, SEINE_MS(40), &now);
    CHECK_EQ(p.ivl_us, CRAWL);
    settle_n(&p, 8, SN_PACE_OK, SEINE_MS(40), &now); /* the next epoch is a new one */
    CHECK_EQ(p.ivl_us, 666666);
}

TEST(pace_an_epoch_ends_after_ten_seconds)
{
    sn_pace p;

    sn_pace_init(&p, FLOOR, CRAWL, T0);
    sn_pace_settle(&p, SN_PACE_OK, SEINE_MS(40), T0 + SEINE_SECS(10) - 1);
    CHECK_EQ(p.ivl_us, CRAWL);
    CHECK_EQ(sn_pace_settle(&p, SN_PACE_NONE, 0, T0 + SEINE_SECS(10)), SN_PACE_SAME);
    CHECK_EQ(p.n_ok, 1); /* what says nothing is not counted */
    sn_pace_settle(&p, SN_PACE_OK, SEINE_MS(40), T0 + SEINE_SECS(10));
    CHECK_EQ(p.ivl_us, 666666);
    CHECK_EQ(p.epoch, T0 + SEINE_SECS(10));
}

TEST(pace_floor_moves_the_interval_with_it)
{
    sn_pace p;

    sn_pace_init(&p, FLOOR, FLOOR, T0);
    sn_pace_set_floor(&p, 5000000); /* Crawl-delay: 5 */
    CHECK_EQ(p.ivl_us, 5000000);
    sn_pace_set_floor(&p, 120000000);
    CHECK_EQ(p.ivl_us, 120000000);
    sn_pace_settle(&p, SN_PACE_PUSH, 0, T0);
    CHECK_EQ(p.ivl_us, 120000000); /* as slow as it gets */
    sn_pace_set_floor(&p, FLOOR);
    CHECK_EQ(p.ivl_us, MOST);
    sn_pace_slow(&p, UINT32_MAX);
    CHECK_EQ(p.ivl_us, MOST);

    sn_pace_init(&p, FLOOR, FLOOR, T0); /* a breaker has closed */
    sn_pace_slow(&p, CRAWL);
    CHECK_EQ(p.ivl_us, CRAWL);
    sn_pace_slow(&p, FLOOR);
    CHECK_EQ(p.ivl_us, CRAWL);
}

TEST(pace_restored_remembers_knee_and_latency)
{
    sn_pace_row row = {.ivl_us = 400000, .knee_us = 200000, .base_us = 40000};
    seine_time now = T0;
    sn_pace p;

    sn_pace_restore(&p, FLOOR, &row, now);
    CHECK_EQ(p.ivl_us, 400000);
    CHECK_EQ(sn_pace_next(&p, now, 0), T0 + SEINE_MS(400)); /* no burst after a restart */
    CHECK_EQ(p.hold, T0 + SEINE_SECS(600));
    settle_n(&p, 8, SN_PACE_OK, SEINE_MS(130), &now); /* at the limit of 2 * 40 + 50 */
    CHECK_EQ(p.ivl_us, 400000);
    settle_n(&p, 8, SN_PACE_OK, SEINE_MS(131), &now);
    CHECK(p.ivl_us > 400000);

    sn_pace_restore(&p, FLOOR, &(sn_pace_row){.ivl_us = 100000}, T0);
    CHECK_EQ(p.ivl_us, FLOOR); /* the floor is this run's */
    CHECK_EQ(p.hold, INT64_MIN);
    CHECK_EQ(p.knee_us, 0);
    sn_pace_row kept = sn_pace_save(&p, T0);
    CHECK(kept.ivl_us == FLOOR && kept.knee_us == 0 && kept.base_us == 0);
}

TEST(pace_judges_by_what_an_end_says_about_the_host)
{
    static const struct {
        seine_err code;
        seine_phase phase;
        uint16_t status;
        sn_pace_kind kind;
    } rows[] = {
        {SEINE_OK, SEINE_PHASE_BODY, 200, SN_PACE_OK},
        {SEINE_OK, SEINE_PHASE_BODY, 304, SN_PACE_OK},
        {SEINE_E_HTTP, SEINE_PHASE_BODY, 404, SN_PACE_OK},
        {SEINE_E_HTTP, SEINE_PHASE_BODY, 501, SN_PACE_OK}, /* not of the retry set */
        {SEINE_E_HTTP_BUSY, SEINE_PHASE_BODY, 408, SN_PACE_OK},
        {SEINE_E_HTTP_BUSY, SEINE_PHASE_BODY, 500, SN_PACE_FAIL},
        {SEINE_E_HTTP_BUSY, SEINE_PHASE_BODY, 502, SN_PACE_FAIL},
        {SEINE_E_HTTP_BUSY, SEINE_PHASE_BODY, 503, SN_PACE_FAIL},
        {SEINE_E_HTTP_BUSY, SEINE_PHASE_BODY, 429, SN_PACE_PUSH},
        {SEINE_E_CONNECT_REFUSED, SEINE_PHASE_CONNECT, 0, SN_PACE_FAIL},
        {SEINE_E_CONNECT_TIMEOUT, SEINE_PHASE_CONNECT, 0, SN_PACE_FAIL},
        {SEINE_E_TLS_ERROR, SEINE_PHASE_TLS, 0, SN_PACE_FAIL},
        {SEINE_E_CONN_RESET, SEINE_PHASE_HEAD, 0, SN_PACE_FAIL},
        {SEINE_E_HEADER_TRUNCATED, SEINE_PHASE_HEAD, 0, SN_PACE_FAIL},
        {SEINE_E_BODY_TRUNCATED, SEINE_PHASE_BODY, 200, SN_PACE_FAIL},
        {SEINE_E_STALLED, SEINE_PHASE_BODY, 200, SN_PACE_FAIL},
        {SEINE_E_TIMEOUT, SEINE_PHASE_HEAD, 0, SN_PACE_FAIL},
        {SEINE_E_TIMEOUT, SEINE_PHASE_DNS, 0, SN_PACE_NONE},
        {SEINE_E_TIMEOUT, SEINE_PHASE_PROXY, 0,
         SN_PACE_NONE}, /* it has its own breaker */
        {SEINE_E_DNS_TIMEOUT, SEINE_PHASE_DNS, 0, SN_PACE_NONE},
        {SEINE_E_DNS_NXDOMAIN, SEINE_PHASE_DNS, 0, SN_PACE_NONE},
        {SEINE_E_DNS_SERVFAIL, SEINE_PHASE_DNS, 0, SN_PACE_NONE},
        {SEINE_E_TLS_UNTRUSTED, SEINE_PHASE_TLS, 0, SN_PACE_NONE},
        {SEINE_E_PROXY_ERROR, SEINE_PHASE_CONNECT, 0, SN_PACE_NONE},
        {SEINE_E_PROXY_AUTH, SEINE_PHASE_CONNECT, 407, SN_PACE_NONE},
        {SEINE_E_CONN_STALE, SEINE_PHASE_HEAD, 0, SN_PACE_NONE},
        {SEINE_E_BAD_FRAMING, SEINE_PHASE_HEAD, 200, SN_PACE_NONE}, /* not whole */
        {SEINE_E_BODY_TOO_LARGE, SEINE_PHASE_BODY, 200, SN_PACE_NONE},
        {SEINE_E_BAD_ENCODING, SEINE_PHASE_BODY, 200, SN_PACE_OK}, /* whole, not usable */
        {SEINE_E_CANCELED, SEINE_PHASE_BODY, 200, SN_PACE_NONE},
        {SEINE_E_NO_PORTS, SEINE_PHASE_CONNECT, 0, SN_PACE_NONE},
        {SEINE_E_LIMITED, SEINE_PHASE_NONE, 0, SN_PACE_NONE},
    };

    EACH_ROW(i, rows) {
        seine_fault f = SEINE_FAULT;

        f.code = rows[i].code;
        f.phase = rows[i].phase;
        f.status = rows[i].status;
        CHECK_EQ(sn_pace_judge(&f), rows[i].kind);
    }
}

TEST(pace_tells_news_from_noise)
{
    CHECK(sn_pace_is_news(200000, 400000));
    CHECK(sn_pace_is_news(400000, 299999));
    CHECK(!sn_pace_is_news(400000, 300000)); /* a quarter is not more than a quarter */
    CHECK(!sn_pace_is_news(400000, 500000));
    CHECK(sn_pace_is_news(UINT32_MAX, 1));
    CHECK_STR(sn_pace_why_name(SN_PACE_SAME), "same");
    CHECK_STR(sn_pace_why_name(SN_PACE_LATENCY), "latency");
    CHECK_STR(sn_pace_why_name(SN_PACE_ERRORS), "errors");
    CHECK_STR(sn_pace_why_name(SN_PACE_PUSHBACK), "pushback");
    CHECK_STR(sn_pace_why_name(SN_PACE_RECOVERED), "recovered");
}

TEST(the_base_of_a_host_is_its_lowest_median)
{
    static const struct {
        uint8_t n;
        uint16_t ms[4];
        uint32_t base_us;
    } rows[] = {
        {0, {9, 9, 9, 9}, 0},         /* none yet */
        {1, {30, 9, 9, 9}, 30000},    /* the rest is of nobody */
        {2, {30, 20, 9, 9}, 20000},   /* the last is lower */
        {3, {20, 30, 40, 9}, 20000},  /* the first is */
        {4, {40, 30, 35, 20}, 20000}, /* any is */
    };

    EACH_ROW(i, rows) {
        sn_pace p = {.n_med = rows[i].n};

        memcpy(p.med_ms, rows[i].ms, sizeof rows[i].ms);
        CHECK_EQ(sn_pace_save(&p, T0).base_us, rows[i].base_us);
    }
}
