/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/attempt.h"

#include "base/rng.h"
#include "check.h"
#include "crew.h"
#include "seine/retry.h"

#define T0 SEINE_SECS(1000)

/* All guards of one host and one process. */
typedef struct host {
    seine_guards guards;
    seine_breaker_opts breaker_opts;
    seine_breaker breaker;
    seine_limiter limiter;
    seine_throttle throttle, global_throttle;
    seine_shared *global_limiter;
    seine_budget *budget;
} host;

static void
host_init(host *h)
{
    seine_shared_opts shared = {
        sizeof(seine_shared_opts), {1000, SEINE_SECS(1), 100}, SEINE_FULL, 8};
    seine_want limits = {{1000, 100, 100, 1000000}};

    h->breaker_opts = (seine_breaker_opts)SEINE_BREAKER_OPTS;
    CHECK_EQ(seine_breaker_init(&h->breaker, &h->breaker_opts), SEINE_OK);
    CHECK_EQ(seine_limiter_init(&h->limiter, SEINE_MS(10), 10), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&h->throttle, 5), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&h->global_throttle, 8), SEINE_OK);
    CHECK_EQ(seine_shared_new(&shared, T0, &h->global_limiter), SEINE_OK);
    CHECK_EQ(seine_budget_new(&limits, &h->budget), SEINE_OK);
    h->guards = (seine_guards){&h->breaker,       &h->limiter,         &h->throttle,
                               h->global_limiter, &h->global_throttle, h->budget,
                               {{100, 1, 1, 0}}};
}

static void
host_fini(host *h)
{
    seine_breaker_fini(&h->breaker);
    seine_throttle_fini(&h->throttle);
    seine_throttle_fini(&h->global_throttle);
    seine_shared_free(h->global_limiter);
    seine_budget_free(h->budget);
}

/* A snapshot of the guards, to check that nothing was taken or changed. */
typedef struct books {
    uint32_t in_flight, global_in_flight, left;
    double global_tokens;
    uint64_t memory;
    seine_time full;
} books;

static books
books_of(const host *h, seine_time now)
{
    seine_limiter_stats s;
    seine_want used;

    seine_shared_stats_get(h->global_limiter, now, &s);
    seine_budget_used_get(h->budget, &used);
    return (books){seine_throttle_in_flight(&h->throttle),
                   seine_throttle_in_flight(&h->global_throttle),
                   seine_limiter_left(&h->limiter, now),
                   s.tokens,
                   used.n[SEINE_RES_MEMORY],
                   h->limiter.full};
}

static bool
same(books a, books b)
{
    return a.in_flight == b.in_flight && a.global_in_flight == b.global_in_flight &&
           a.left == b.left && a.global_tokens == b.global_tokens &&
           a.memory == b.memory && a.full == b.full;
}

static seine_fault
fault(seine_err code, uint16_t status)
{
    seine_fault f = SEINE_FAULT;

    f.code = code;
    f.status = status;
    f.sent = true;
    return f;
}

TEST(attempt_takes_all_guards_and_gives_them_back)
{
    host h;
    seine_attempt a;
    seine_fault ok = fault(SEINE_OK, 200);

    host_init(&h);
    seine_attempt_verdict answer = seine_attempt_begin(&a, &h.guards, NULL, T0);
    CHECK_EQ(answer.err, SEINE_OK);
    books b = books_of(&h, T0);
    CHECK_EQ(b.in_flight, 1);
    CHECK_EQ(b.global_in_flight, 1);
    CHECK_EQ(b.left, 9);
    CHECK(b.global_tokens == 99.0);
    CHECK_EQ(b.memory, 100);
    CHECK_EQ(a.start, T0);

    CHECK_EQ(seine_attempt_end(&a, &ok, T0 + 5), SEINE_OK);
    CHECK_EQ(seine_attempt_end(&a, &ok, T0 + 5), SEINE_E_ALREADY);
    b = books_of(&h, T0);
    CHECK_EQ(b.in_flight, 0);
    CHECK_EQ(b.global_in_flight, 0);
    CHECK_EQ(b.memory, 0);
    CHECK_EQ(b.left, 9); /* tokens are spent */
    host_fini(&h);
}

TEST(attempt_without_guards_is_admitted)
{
    seine_guards none = {0};
    seine_attempt a;
    seine_fault ok = fault(SEINE_OK, 200);

    CHECK_EQ(seine_attempt_begin(&a, &none, NULL, T0).err, SEINE_OK);
    CHECK_EQ(seine_attempt_end(&a, &ok, T0), SEINE_OK);
    CHECK_EQ(seine_attempt_end(&a, &ok, T0), SEINE_E_ALREADY);
}

TEST(s0_27_s0_28_attempt_that_is_refused_has_taken_nothing_and_says_when)
{
    enum { CANCELED, BREAKER, LIMITED, BUDGET, RANGE, GLOBAL_BUSY, BUSY, GLOBAL_LIMITED };
    static const struct {
        int why;
        seine_err err;
        seine_time when;
    } rows[] = {
        {CANCELED, SEINE_E_CANCELED, SEINE_NEVER},
        {BREAKER, SEINE_E_BREAKER, T0 + SEINE_SECS(60)},
        {LIMITED, SEINE_E_LIMITED, T0 + SEINE_MS(10)},
        {BUDGET, SEINE_E_BUDGET, SEINE_NEVER},
        {RANGE, SEINE_E_RANGE, SEINE_NEVER},
        {GLOBAL_BUSY, SEINE_E_BUSY, SEINE_NEVER},
        {BUSY, SEINE_E_BUSY, SEINE_NEVER},
        {GLOBAL_LIMITED, SEINE_E_LIMITED, T0 + SEINE_MS(1)},
    };

    EACH_ROW(i, rows) {
        crew c = crew_new(T0);
        host h;
        seine_attempt a;
        seine_held held = {0};
        seine_slot slots[8] = {0};
        seine_want most = {{950, 0, 0, 0}};

        host_init(&h);
        switch (rows[i].why) {
        case CANCELED:
            seine_ctx_cancel(c.ctx, SEINE_OK);
            break;
        case BREAKER:
            for (int j = 0; j < 5; j++)
                seine_breaker_record(&h.breaker, SEINE_FAILURE, T0);
            break;
        case LIMITED:
            CHECK(seine_limiter_allow(&h.limiter, T0, 10));
            break;
        case BUDGET:
            CHECK_EQ(seine_budget_try(h.budget, &most, &held), SEINE_OK);
            break;
        case RANGE:
            h.guards.want.n[SEINE_RES_MEMORY] = 1001;
            break;
        case GLOBAL_BUSY:
            for (int j = 0; j < 8; j++)
                CHECK(seine_throttle_try(&h.global_throttle, T0, &slots[j]));
            break;
        case BUSY:
            for (int j = 0; j < 5; j++)
                CHECK(seine_throttle_try(&h.throttle, T0, &slots[j]));
            break;
        default:
            CHECK(seine_shared_allow(h.global_limiter, T0, 100));
        }
        books before = books_of(&h, T0);
        seine_attempt_verdict answer = seine_attempt_begin(&a, &h.guards, c.ctx, T0);
        CHECK_EQ(answer.err, rows[i].err);
        CHECK_EQ(answer.when, rows[i].when);
        CHECK(same(before, books_of(&h, T0)));
        seine_fault f = fault(SEINE_OK, 200);
        CHECK_EQ(seine_attempt_end(&a, &f, T0), SEINE_E_ALREADY);

        for (int j = 0; j < 8; j++)
            if (slots[j].of)
                CHECK_EQ(seine_throttle_release(&slots[j], SEINE_IGNORED, T0), SEINE_OK);
        seine_budget_release(&held);
        host_fini(&h);
        crew_end(&c);
    }
}

TEST(attempt_asks_again_successfully_at_the_moment_it_was_told)
{
    host h;
    seine_attempt a;
    seine_attempt_verdict answer = {SEINE_OK, T0};
    int granted = 0;

    host_init(&h);
    for (int i = 0; i < 50; i++) {
        seine_fault ok = fault(SEINE_OK, 200);
        seine_time now = answer.when;

        answer = seine_attempt_begin(&a, &h.guards, NULL, now);
        if (answer.err != SEINE_OK) {
            CHECK_EQ(seine_attempt_begin(&a, &h.guards, NULL, answer.when - 1).err,
                     answer.err);
            continue;
        }
        granted++;
        CHECK_EQ(seine_attempt_end(&a, &ok, now), SEINE_OK);
    }
    CHECK(granted >= 25);
    host_fini(&h);
}

TEST(attempt_tells_breaker_throttle_and_limiter_how_it_went)
{
    host h;
    seine_attempt a;
    seine_breaker_stats s;
    seine_fault busy = fault(SEINE_E_HTTP_BUSY, 503);

    host_init(&h);
    busy.retry_after = SEINE_SECS(7);
    CHECK_EQ(seine_attempt_begin(&a, &h.guards, NULL, T0).err, SEINE_OK);
    CHECK_EQ(seine_attempt_end(&a, &busy, T0 + 1), SEINE_OK);
    seine_breaker_stats_get(&h.breaker, &s);
    CHECK_EQ(s.failed, 1);
    CHECK_EQ(s.why, SEINE_E_HTTP_BUSY);
    seine_attempt_verdict answer = seine_attempt_begin(&a, &h.guards, NULL, T0 + 2);
    CHECK_EQ(answer.err, SEINE_E_LIMITED);
    CHECK_EQ(answer.when, T0 + 1 + SEINE_SECS(7));
    host_fini(&h);
}

TEST(attempt_holds_a_breaker_it_opened_until_the_server_may_be_asked)
{
    host h;
    seine_attempt a;
    seine_breaker_stats s;
    seine_fault busy = fault(SEINE_E_HTTP_BUSY, 503);

    host_init(&h);
    busy.retry_after = SEINE_SECS(120);
    h.guards.limiter = NULL; /* its pause would come first */
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(seine_attempt_begin(&a, &h.guards, NULL, T0).err, SEINE_OK);
        CHECK_EQ(seine_attempt_end(&a, &busy, T0), SEINE_OK);
    }
    seine_breaker_stats_get(&h.breaker, &s);
    CHECK_EQ(s.state, SEINE_BREAKER_OPEN);
    seine_attempt_verdict answer =
        seine_attempt_begin(&a, &h.guards, NULL, T0 + SEINE_SECS(60));
    CHECK_EQ(answer.err, SEINE_E_BREAKER);
    CHECK_EQ(answer.when, T0 + SEINE_SECS(120));
    host_fini(&h);
}

TEST(x_43_attempt_cancelled_before_it_was_sent_costs_nothing)
{
    host h;
    seine_attempt a;
    seine_breaker_stats s;
    seine_fault canceled = fault(SEINE_E_CANCELED, 0);

    host_init(&h);
    books before = books_of(&h, T0);
    canceled.sent = false;
    CHECK_EQ(seine_attempt_begin(&a, &h.guards, NULL, T0).err, SEINE_OK);
    CHECK_EQ(seine_attempt_end(&a, &canceled, T0), SEINE_OK);
    books after = books_of(&h, T0);
    CHECK_EQ(after.left, before.left);
    CHECK(after.global_tokens == before.global_tokens);
    CHECK_EQ(after.in_flight, 0);
    seine_breaker_stats_get(&h.breaker, &s);
    CHECK_EQ(s.failed, 0); /* the caller's cancel is not the host's fault */
    CHECK_EQ(s.ignored, 1);
    host_fini(&h);
}

TEST(attempt_gives_back_its_own_token_and_no_other)
{
    host h;
    seine_attempt sent, unsent;
    seine_fault canceled = fault(SEINE_E_CANCELED, 0), ok = fault(SEINE_OK, 200);

    host_init(&h);
    books before = books_of(&h, T0);
    CHECK_EQ(seine_attempt_begin(&sent, &h.guards, NULL, T0).err, SEINE_OK);
    CHECK_EQ(seine_attempt_begin(&unsent, &h.guards, NULL, T0).err, SEINE_OK);
    canceled.sent = false;
    CHECK_EQ(seine_attempt_end(&unsent, &canceled, T0), SEINE_OK);
    books after = books_of(&h, T0);
    CHECK_EQ(after.left, before.left - 1);
    CHECK(after.global_tokens == before.global_tokens - 1);
    CHECK_EQ(seine_attempt_end(&sent, &ok, T0), SEINE_OK);
    host_fini(&h);
}

TEST(attempt_cancelled_as_a_probe_frees_the_probe)
{
    host h;
    seine_attempt a;
    seine_fault canceled = fault(SEINE_E_CANCELED, 0), ok = fault(SEINE_OK, 200);
    seine_time later = T0 + SEINE_SECS(60);

    host_init(&h);
    for (int i = 0; i < 5; i++)
        seine_breaker_record(&h.breaker, SEINE_FAILURE, T0);
    CHECK_EQ(seine_attempt_begin(&a, &h.guards, NULL, later).err, SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&h.breaker), SEINE_BREAKER_HALF_OPEN);
    CHECK_EQ(seine_attempt_end(&a, &canceled, later), SEINE_OK);
    CHECK_EQ(seine_attempt_begin(&a, &h.guards, NULL, later).err, SEINE_OK);
    CHECK_EQ(seine_attempt_end(&a, &ok, later), SEINE_OK);
    CHECK_EQ(seine_breaker_state_get(&h.breaker), SEINE_BREAKER_CLOSED);
    host_fini(&h);
}

/* A dead host behind everything: attempts end with CONNECT after 10 ms. */
TEST(t19_x_34_dead_host_is_touched_threshold_plus_concurrency_minus_one_times)
{
    host h;
    seine_attempt flying[5];
    seine_retry_opts retry_opts = SEINE_RETRY_OPTS;
    seine_retry retries[5] = {0};
    seine_fault dead = fault(SEINE_E_CONNECT, 0);
    int connections = 0, in_flight = 0, urls = 1000, refused_after = 0;
    seine_time now = T0;

    host_init(&h);
    CHECK_EQ(seine_limiter_init(&h.limiter, SEINE_US(1), 10000), SEINE_OK);
    /* Rounds of 10 ms: start what may start, then everything in flight fails. */
    for (int round = 0; round < 100; round++) {
        while (in_flight < 5 && urls > 0) {
            seine_attempt_verdict a =
                seine_attempt_begin(&flying[in_flight], &h.guards, NULL, now);

            if (a.err != SEINE_OK) {
                refused_after += a.err == SEINE_E_BREAKER;
                break;
            }
            retries[in_flight] = (seine_retry){
                .opts = &retry_opts, .deadline = SEINE_NEVER, .idempotent = true};
            seine_retry_begin(&retries[in_flight], now);
            connections++;
            in_flight++;
            urls--;
        }
        now += SEINE_MS(10);
        for (int i = 0; i < in_flight; i++)
            CHECK_EQ(seine_attempt_end(&flying[i], &dead, now), SEINE_OK);
        in_flight = 0;
    }
    CHECK(connections <= 9);
    CHECK(connections >= 5);
    CHECK(refused_after > 90);
    CHECK_EQ(seine_breaker_state_get(&h.breaker), SEINE_BREAKER_OPEN);
    uint32_t left = seine_limiter_left(&h.limiter, now);
    CHECK_EQ(left, 10000); /* no token after it opened: the bucket is full again */
    host_fini(&h);
}

enum { SLOTS = 256 };

/* What flies in a small event loop. */
typedef struct sky {
    seine_attempt flying[SLOTS];
    seine_time ends[SLOTS]; /* NEVER: the slot is free */
    int in_flight, peak, started;
    seine_time last; /* when the newest began */
} sky;

static void
end_due(sky *s, seine_time now)
{
    seine_fault ok = fault(SEINE_OK, 200);

    for (int i = 0; i < SLOTS; i++)
        if (s->ends[i] <= now) {
            CHECK_EQ(seine_attempt_end(&s->flying[i], &ok, now), SEINE_OK);
            s->ends[i] = SEINE_NEVER;
            s->in_flight--;
        }
}

/* Starts as many as the guards allow; returns when they may allow the next. */
static seine_time
start_due(sky *s, const seine_guards *g, int total, seine_span takes, seine_time now)
{
    while (s->started < total) {
        int slot = 0;

        while (s->ends[slot] != SEINE_NEVER)
            slot++;
        seine_attempt_verdict a = seine_attempt_begin(&s->flying[slot], g, NULL, now);
        if (a.err != SEINE_OK)
            return a.when;
        s->ends[slot] = now + takes;
        s->last = now;
        s->started++;
        s->peak = ++s->in_flight > s->peak ? s->in_flight : s->peak;
    }
    return SEINE_NEVER;
}

static void
fly(sky *s, const seine_guards *g, int total, seine_span takes)
{
    seine_time now = T0;

    *s = (sky){.in_flight = 0};
    for (int i = 0; i < SLOTS; i++)
        s->ends[i] = SEINE_NEVER;
    while (s->started < total || s->in_flight > 0) {
        end_due(s, now);
        seine_time wake = start_due(s, g, total, takes, now);
        for (int i = 0; i < SLOTS; i++)
            wake = s->ends[i] < wake ? s->ends[i] : wake;
        now = wake;
    }
}

/* 10,000 requests, 100 a second, 100 at once. Each limit is the one that decides in a
 * row of its own, so that neither can be missing. */
TEST(s0_30_concurrency_and_rate_hold_together)
{
    static const struct {
        seine_span takes, last;
        int peak;
    } rows[] = {
        {SEINE_MS(500), SEINE_MS(99990), 50}, /* the rate: 100 s with the last interval */
        {SEINE_SECS(1), SEINE_MS(99990), 100}, /* both, just so */
        {SEINE_SECS(2), SEINE_MS(198990),
         100}, /* the number at once: a hundred each 2 s */
    };

    EACH_ROW(i, rows) {
        static sky s;
        seine_throttle throttle;
        seine_limiter limiter;
        seine_guards g = {.limiter = &limiter, .throttle = &throttle};

        CHECK_EQ(seine_throttle_init_semaphore(&throttle, 100), SEINE_OK);
        CHECK_EQ(seine_limiter_init(&limiter, SEINE_MS(10), 1), SEINE_OK);
        fly(&s, &g, 10000, rows[i].takes);
        CHECK_EQ(s.last - T0, rows[i].last);
        CHECK_EQ(s.peak, rows[i].peak);
        seine_throttle_fini(&throttle);
    }
}

/* Random guards and random ends: the guards always hold what is in flight. */
TEST(attempt_balances_permits_on_random_traces)
{
    sn_rng r = sn_rng_seed(check_seed());
    static const seine_err codes[] = {SEINE_OK,        SEINE_E_HTTP_BUSY, SEINE_E_CONNECT,
                                      SEINE_E_TIMEOUT, SEINE_E_CANCELED,  SEINE_E_TLS};

    for (int round = 0; round < 30; round++) {
        host h;
        seine_attempt flying[8];
        bool used[8] = {false};
        seine_time now = T0;

        host_init(&h);
        for (int i = 0; i < 400; i++) {
            size_t at = sn_rng_below(&r, 8);

            now += (seine_span)sn_rng_below(&r, SEINE_MS(100));
            if (used[at]) {
                seine_fault f =
                    fault(codes[sn_rng_below(&r, 6)], sn_rng_below(&r, 2) ? 503 : 200);

                f.sent = sn_rng_below(&r, 2);
                f.retry_after = sn_rng_below(&r, 4) ? -1 : SEINE_MS(50);
                CHECK_EQ(seine_attempt_end(&flying[at], &f, now), SEINE_OK);
                used[at] = false;
            } else {
                used[at] = seine_attempt_begin(&flying[at], &h.guards, NULL, now).err ==
                           SEINE_OK;
            }
            uint32_t out = 0;
            for (int j = 0; j < 8; j++)
                out += used[j];
            books b = books_of(&h, now);
            CHECK_EQ(b.in_flight, out);
            CHECK_EQ(b.global_in_flight, out);
            CHECK_EQ(b.memory, out * 100);
            CHECK(out <= 5);
        }
        for (int j = 0; j < 8; j++)
            if (used[j]) {
                seine_fault f = fault(SEINE_OK, 200);

                CHECK_EQ(seine_attempt_end(&flying[j], &f, now), SEINE_OK);
            }
        CHECK_EQ(books_of(&h, now).in_flight, 0);
        host_fini(&h);
    }
}
