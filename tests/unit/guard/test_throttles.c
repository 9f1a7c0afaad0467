/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/throttles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "crew.h"
#include "failing.h"

#define T0 SEINE_SECS(1000)

static seine_throttles *
table(uint32_t permits, uint32_t max_keys)
{
    seine_throttles_opts opts = SEINE_THROTTLES_OPTS;
    seine_throttles *r = NULL;

    opts.permits = permits;
    opts.max_keys = max_keys;
    CHECK_EQ(seine_throttles_new(&opts, &r), SEINE_OK);
    return r;
}

static bool
take(seine_throttles *r, const char *key, seine_slot *out)
{
    return seine_throttles_try(r, seine_key_str(key), T0, out);
}

static void
put(seine_slot *slot)
{
    CHECK_EQ(seine_throttle_release(slot, SEINE_SUCCESS, T0), SEINE_OK);
    CHECK_EQ(seine_throttle_release(slot, SEINE_SUCCESS, T0), SEINE_E_ALREADY);
}

TEST(throttles_limit_each_key_by_itself)
{
    seine_throttles *r = table(2, 100);
    seine_slot a, b, c, other;

    CHECK(take(r, "busy", &a));
    CHECK(take(r, "busy", &b));
    CHECK(!take(r, "busy", &c));
    CHECK(take(r, "idle", &other));
    CHECK_EQ(seine_throttles_in_flight(r, seine_key_str("busy")), 2);
    CHECK_EQ(seine_throttles_in_flight(r, seine_key_str("idle")), 1);
    CHECK_EQ(seine_throttles_in_flight(r, seine_key_str("unknown")), 0);
    CHECK_EQ(seine_throttles_keys(r), 2);
    put(&a);
    CHECK(take(r, "busy", &c));
    put(&b);
    put(&c);
    put(&other);
    seine_throttles_free(r);
}

TEST(throttles_forget_idle_keys_and_never_hold_more_than_max_keys)
{
    seine_throttles *r = table(1, 8);
    char name[48];
    seine_slot slot;

    for (int i = 0; i < 5000; i++) { /* every other key is too long for its entry */
        snprintf(name, sizeof name, i % 2 ? "k%d" : "a-rather-long-name-of-a-host-%d", i);
        CHECK(take(r, name, &slot));
        CHECK(seine_throttles_keys(r) <= 8);
        put(&slot);
    }
    CHECK_EQ(seine_throttles_overflowed(r), 0);
    seine_throttles_free(r);
}

/* All keys but one are busy: the place of the idle one is found wherever it is. */
TEST(throttles_forget_the_one_idle_key_among_busy_ones)
{
    seine_throttles *r = table(1, 8);
    seine_slot held[7], slot;
    char name[48];

    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "held%d", i);
        CHECK(take(r, name, &held[i]));
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, i % 2 ? "k%d" : "a-rather-long-name-of-a-host-%d", i);
        CHECK(take(r, name, &slot));
        CHECK_EQ(seine_throttles_in_flight(r, seine_key_str(name)), 1);
        CHECK(seine_throttles_keys(r) <= 8);
        put(&slot);
        snprintf(name, sizeof name, "held%d", i % 7);
        CHECK(!take(r, name, &slot));
    }
    CHECK_EQ(seine_throttles_overflowed(r), 0);
    for (int i = 0; i < 7; i++)
        put(&held[i]);
    seine_throttles_free(r);
}

TEST(throttles_without_room_share_one_overflow_and_count_it)
{
    seine_throttles *r = table(1, 2);
    seine_slot a, b, c, d;

    CHECK(take(r, "a", &a));
    CHECK(take(r, "b", &b));
    CHECK(take(r, "c", &c));
    CHECK(!take(r, "d", &d));
    CHECK_EQ(seine_throttles_overflowed(r), 2);
    put(&c);
    CHECK(take(r, "d", &d));
    put(&a);
    CHECK(take(r, "c", &c)); /* a place of its own now */
    CHECK_EQ(seine_throttles_in_flight(r, seine_key_str("c")), 1);
    put(&b);
    put(&c);
    put(&d);
    seine_throttles_free(r);
}

typedef struct caller {
    seine_throttles *r;
    seine_ctx *ctx;
    const char *key;
    seine_span takes;
    seine_time from;
    seine_err result;
} caller;

static void
call(void *arg)
{
    caller *c = arg;
    seine_clock *clock = seine_ctx_clock(c->ctx);
    seine_slot slot;

    c->result = seine_throttles_wait(c->r, c->ctx, seine_key_str(c->key), &slot);
    c->from = clock->now(clock) - T0;
    if (c->result != SEINE_OK)
        return;
    CHECK_EQ(seine_ctx_sleep(c->ctx, clock->now(clock) + c->takes), SEINE_OK);
    put(&slot);
}

TEST_THREADS(throttles_serve_the_waiters_of_a_key_in_order_and_not_behind_other_keys)
{
    crew c = crew_new(T0);
    seine_throttles *r = table(2, 100);
    caller callers[7];

    for (int i = 0; i < 7; i++) {
        callers[i] =
            (caller){r, c.ctx, i < 6 ? "busy" : "idle", SEINE_MS(100), 0, SEINE_OK};
        crew_add(&c, call, &callers[i]);
    }
    crew_advance(&c, SEINE_SECS(10));
    crew_join(&c);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(callers[i].from, SEINE_MS(100) * (i / 2));
    CHECK_EQ(callers[6].from, 0);
    CHECK_EQ(seine_throttles_in_flight(r, seine_key_str("busy")), 0);
    seine_throttles_free(r);
    crew_end(&c);
}

TEST_THREADS(throttles_waiter_leaves_at_its_deadline_and_at_a_cancellation)
{
    crew c = crew_new(T0);
    seine_throttles *r = table(1, 1);
    seine_slot slot;
    caller late = {.r = r, .key = "k"}, gone = late, done = late;

    CHECK(take(r, "k", &slot));
    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_SECS(1), &late.ctx), SEINE_OK);
    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &gone.ctx), SEINE_OK);
    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &done.ctx), SEINE_OK);
    seine_ctx_cancel(done.ctx, SEINE_E_CLOSED);
    crew_add(&c, call, &late);
    crew_add(&c, call, &gone);
    crew_add(&c, call, &done);
    crew_advance(&c, SEINE_MS(500));
    seine_ctx_cancel(gone.ctx, SEINE_OK);
    crew_advance(&c, SEINE_SECS(5));
    crew_join(&c);
    CHECK_EQ(late.result, SEINE_E_DEADLINE);
    CHECK_EQ(late.from, SEINE_SECS(1));
    CHECK_EQ(gone.result, SEINE_E_CANCELED);
    CHECK_EQ(gone.from, SEINE_MS(500));
    CHECK_EQ(done.result, SEINE_E_CLOSED);
    put(&slot);
    CHECK(take(r, "other", &slot)); /* nothing keeps the key */
    CHECK_EQ(seine_throttles_overflowed(r), 0);
    put(&slot);
    seine_ctx_unref(late.ctx);
    seine_ctx_unref(gone.ctx);
    seine_ctx_unref(done.ctx);
    seine_throttles_free(r);
    crew_end(&c);
}

TEST(throttles_refuse_settings_that_make_no_sense)
{
    const seine_throttles_opts good = SEINE_THROTTLES_OPTS;
    seine_throttles_opts bad = good;
    seine_throttles *r = NULL;

    bad.permits = 0;
    CHECK_EQ(seine_throttles_new(&bad, &r), SEINE_E_INVAL);
    bad = good;
    bad.max_keys = 0;
    CHECK_EQ(seine_throttles_new(&bad, &r), SEINE_E_INVAL);
    bad.max_keys = (1u << 26) + 1;
    CHECK_EQ(seine_throttles_new(&bad, &r), SEINE_E_INVAL);
    bad = good;
    bad.size = 0;
    CHECK_EQ(seine_throttles_new(&bad, &r), SEINE_E_INVAL);
    CHECK(!r);
}

TEST(throttles_that_are_null_are_off)
{
    crew c = crew_new(T0);
    seine_slot slot;

    CHECK(take(NULL, "k", &slot));
    put(&slot);
    CHECK_EQ(seine_throttles_wait(NULL, c.ctx, seine_key_str("k"), &slot), SEINE_OK);
    put(&slot);
    CHECK_EQ(seine_throttles_in_flight(NULL, seine_key_str("k")), 0);
    seine_throttles_free(NULL);
    crew_end(&c);
}

TEST(throttles_survive_failing_memory)
{
    FAIL_EACH(r)
    {
        seine_throttles_opts opts = SEINE_THROTTLES_OPTS;
        seine_throttles *t = NULL;
        seine_slot slot;

        if (seine_throttles_new(&opts, &t) == SEINE_OK) {
            CHECK(take(t, "a-rather-long-name-of-a-host.example", &slot));
            put(&slot);
        }
        seine_throttles_free(t);
    }
}

typedef struct hammer {
    seine_throttles *r;
    seine_ctx *ctx;
    int id;
    uint32_t *inside; /* per key */
    atomic_int *ready;
} hammer;

static void *
hammer_on(void *arg)
{
    hammer *h = arg;
    char name[8];

    ++*h->ready;
    while (*h->ready < 4) {
    }
    for (int i = 0; i < 500; i++) {
        int k = (i * 7 + h->id) % 5;
        seine_slot slot;

        snprintf(name, sizeof name, "k%d", k);
        CHECK_EQ(seine_throttles_wait(h->r, h->ctx, seine_key_str(name), &slot),
                 SEINE_OK);
        CHECK_EQ(__atomic_add_fetch(&h->inside[k], 1, __ATOMIC_SEQ_CST), 1);
        __atomic_sub_fetch(&h->inside[k], 1, __ATOMIC_SEQ_CST);
        CHECK_EQ(seine_throttle_release(&slot, SEINE_SUCCESS, T0), SEINE_OK);
    }
    return NULL;
}

/* Every insertion drops idle keys: entries change hands while threads queue. */
TEST_THREADS(throttles_by_threads_never_exceed_a_key_while_keys_come_and_go)
{
    seine_throttles *r = table(1, 8);
    uint32_t inside[5] = {0};
    atomic_int ready = 0;
    seine_ctx *ctx;
    pthread_t threads[4];
    hammer h[4];

    CHECK_EQ(seine_ctx_root(seine_clock_system(), &ctx), SEINE_OK);
    for (int i = 0; i < 4; i++) {
        h[i] = (hammer){r, ctx, i, inside, &ready};
        CHECK_EQ(pthread_create(&threads[i], NULL, hammer_on, &h[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(seine_throttles_overflowed(r), 0); /* there is room for all five */
    seine_throttles_free(r);
    seine_ctx_unref(ctx);
}
