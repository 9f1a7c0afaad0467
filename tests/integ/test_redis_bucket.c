/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets in a real redis-server, compared with the limiter of the library. */
#include "store/redis_bucket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "guard/gcra.h"
#include "redis.h"
#include "serve/redis_link.h"

#define SEQUENCES 10000
#define STEPS     6

typedef struct party {
    test_redis *server;
    sn_loop loop;
    sn_redis_url url;
    sn_redis_link *link;
    sn_redis *r;
    sn_redis_keys keys;
    uint64_t waiting;
} party;

static bool
open_party(party *p, const char *functions)
{
    *p = (party){.server = test_redis_start(NULL)};
    if (!p->server)
        return false;
    CHECK_EQ(sn_loop_init(&p->loop, seine_clock_system()), SEINE_OK);
    CHECK_EQ(sn_redis_url_parse(sn_str_of(test_redis_url(p->server)), &p->url, NULL),
             SEINE_OK);
    sn_redis_opts opts = {.url = &p->url,
                          .functions = functions,
                          .connect = CHECK_PATIENCE,
                          .reply = CHECK_PATIENCE};
    CHECK_EQ(sn_redis_link_new(&p->loop, &opts, &p->link, NULL), SEINE_OK);
    p->r = sn_redis_link_client(p->link);
    sn_redis_keys_init(&p->keys, SN_STR("test"));
    seine_time end = seine_now() + CHECK_PATIENCE;
    while (!sn_redis_is_up(p->r) && seine_now() < end)
        sn_loop_turn(&p->loop, end);
    CHECK_STR(sn_redis_why(p->r), "");
    return sn_redis_is_up(p->r);
}

static void
close_party(party *p)
{
    sn_redis_link_free(p->link);
    sn_redis_url_fini(&p->url);
    if (p->server)
        sn_loop_fini(&p->loop);
    test_redis_free(p->server);
}

static void
wait_for_all(party *p)
{
    while (p->waiting > 0 && sn_redis_is_up(p->r))
        sn_loop_turn(&p->loop, SEINE_NEVER);
    CHECK_EQ(p->waiting, 0);
}

/* The functions with a clock that the test sets, behind the arguments of take, and keys
 * that outlive the test. Everything else is the code that is used. */
static bool
with_own_clock(sn_buf *out)
{
    static const struct {
        const char *old, *new;
    } swaps[] = {
        {"\n", "\nlocal CLOCK\n"},
        {"redis.call('TIME')", "CLOCK"},
        {"local function take(K, A)\n",
         "local function take(K, A)\n  CLOCK = {A[5], A[6]}\n"},
        {" + 1000)", " + 3600000)"},
    };
    const char *rest = sn_redis_bucket_functions();

    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        const char *at = strstr(rest, swaps[i].old);

        if (!at)
            return false;
        sn_buf_add(out, rest, (size_t)(at - rest));
        sn_buf_text(out, swaps[i].new);
        rest = at + strlen(swaps[i].old);
    }
    sn_buf_text(out, rest);
    return sn_buf_done(out) == SEINE_OK;
}

/* A bucket here and one there, and a step that both are asked for. */
typedef struct twin {
    party *p;
    seine_limiter lim;
    seine_time now;
    uint32_t n, sequence;
} twin;

static void
compare(seine_err e, const sn_redis_reply *reply, void *arg)
{
    twin *t = arg;
    sn_redis_taken got = {0};

    t->p->waiting--;
    CHECK_EQ(e, SEINE_OK);
    if (e != SEINE_OK || !sn_redis_bucket_read(reply, &got)) {
        check_fail(__FILE__, __LINE__, "not a reply of take");
        return;
    }
    bool want = seine_limiter_allow(&t->lim, got.now, t->n);
    if (got.granted != want || got.full != sn_time_max(t->lim.full, got.now))
        check_fail(__FILE__, __LINE__, "sequence %u: got %d full %lld, want %d full %lld",
                   t->sequence, got.granted, (long long)got.full, want,
                   (long long)t->lim.full);
}

/* A span from 1 ns on, each size as likely as another. */
static seine_span
any_span(sn_rng *dice, unsigned bits)
{
    return (seine_span)(sn_rng_next(dice) >> (64 - 1 - sn_rng_below(dice, bits))) + 1;
}

static seine_time
next_time(sn_rng *dice, const seine_limiter *lim, seine_time now)
{
    switch (sn_rng_below(dice, 5)) {
    case 0:
        return now;
    case 1: /* a clock that was set back */
        return now - any_span(dice, 40);
    case 2: /* the first moment at which something is there again, and just before it */
        return sn_time_max(now, sn_time_sub(lim->full, lim->depth - lim->every)) - 1000 +
               (seine_span)sn_rng_below(dice, 3) * 1000;
    default:
        return now + any_span(dice, 44);
    }
}

/* The time as TIME gives it: whole microseconds. */
static seine_err
ask_at(twin *t, seine_time now)
{
    char text[7][32];
    int64_t ns, s = sn_time_seconds(now, &ns), cost_ns, depth_ns;
    int64_t cost = sn_time_seconds(t->lim.every * t->n, &cost_ns);
    int64_t depth = sn_time_seconds(t->lim.depth, &depth_ns);
    int64_t numbers[] = {t->sequence, cost, cost_ns, depth, depth_ns, s, ns / 1000};
    sn_str words[13] = {SN_STR("FCALL"), SN_STR("seine_bucket1_take"), SN_STR("4")};

    for (size_t i = 0; i < 7; i++) {
        int n = snprintf(text[i], sizeof text[i], "%lld", (long long)numbers[i]);

        words[i == 0 ? 3 : i + 6] = (sn_str){text[i], (size_t)n};
    }
    words[4] = words[5] = words[6] = SN_STR("none");
    t->p->waiting++;
    return sn_redis_ask(t->p->r, t->p->loop.now, words, 13, compare, t);
}

TEST(redis_bucket_grants_to_the_nanosecond_what_a_limiter_grants)
{
    static const seine_span grains[] = {1, SEINE_MS(1), SEINE_MS(250)};
    sn_rng dice = sn_rng_seed(check_seed());
    twin *twins = calloc((size_t)SEQUENCES * STEPS, sizeof *twins);
    sn_buf code;
    party p = {0};

    sn_buf_init(&code, 1 << 16);
    CHECK(with_own_clock(&code) && twins);
    if (!twins || !open_party(&p, sn_buf_view(&code).ptr))
        goto out;
    for (uint32_t i = 0; i < SEQUENCES; i++) {
        seine_limiter model;
        uint32_t burst = 1 + (uint32_t)sn_rng_below(&dice, 20);
        seine_time now = SEINE_SECS(1700000000) + any_span(&dice, 50);

        seine_span grain = grains[sn_rng_below(&dice, 3)];
        seine_span every = (any_span(&dice, 42) + grain - 1) / grain * grain;

        CHECK_EQ(seine_limiter_init(&model, every, burst), SEINE_OK);
        for (int j = 0; j < STEPS; j++) {
            twin *t = &twins[i * STEPS + (uint32_t)j];

            now = next_time(&dice, &model, now);
            now -= now % sn_time_max(grain, 1000);
            *t = (twin){&p, model, now, 1 + (uint32_t)sn_rng_below(&dice, burst), i};
            CHECK_EQ(ask_at(t, now), SEINE_OK);
            (void)!seine_limiter_allow(&model, now, t->n);
        }
        if (p.waiting > 2000)
            wait_for_all(&p);
    }
    wait_for_all(&p);
out:
    close_party(&p);
    sn_buf_fini(&code);
    free(twins);
}

TEST(redis_bucket_lives_on_the_clock_of_the_server)
{
    party p;
    twin t = {.p = &p};
    seine_limiter shape;

    if (open_party(&p, sn_redis_bucket_functions())) {
        CHECK_EQ(seine_limiter_init(&shape, SEINE_US(300), 5), SEINE_OK);
        t.lim = shape;
        t.n = 1;
        for (int i = 0; i < 500; i++) { /* the limiter is given the server's times */
            p.waiting++;
            CHECK_EQ(sn_redis_bucket_take(p.r, p.loop.now, &p.keys, SN_STR("a"), &shape,
                                          1, compare, &t),
                     SEINE_OK);
            if (i % 7 == 0)
                wait_for_all(&p);
        }
        wait_for_all(&p);
    }
    close_party(&p);
}

typedef struct answer {
    party *p;
    seine_err e;
    int64_t first; /* of an array, or the integer */
} answer;

static void
keep_answer(seine_err e, const sn_redis_reply *reply, void *arg)
{
    answer *a = arg;

    a->e = e;
    a->first = -99;
    if (reply && reply->kind == SN_REDIS_INTEGER)
        a->first = reply->integer;
    else if (reply)
        (void)!sn_redis_reply_int(reply, 0, &a->first);
    a->p->waiting--;
}

static int64_t
take(party *p, const char *name, const seine_limiter *shape, uint32_t n)
{
    answer a = {.p = p};

    p->waiting++;
    CHECK_EQ(sn_redis_bucket_take(p->r, p->loop.now, &p->keys, sn_str_of(name), shape, n,
                                  keep_answer, &a),
             SEINE_OK);
    wait_for_all(p);
    CHECK_EQ(a.e, SEINE_OK);
    return a.first;
}

static int64_t
meet(party *p, sn_redis_member m)
{
    answer a = {.p = p};

    p->waiting++;
    CHECK_EQ(sn_redis_bucket_meet(p->r, p->loop.now, &p->keys, &m, keep_answer, &a),
             SEINE_OK);
    wait_for_all(p);
    CHECK_EQ(a.e, SEINE_OK);
    return a.first;
}

static int64_t
ask_number(party *p, const char *word, const char *key)
{
    answer a = {.p = p};
    sn_str words[] = {sn_str_of(word), sn_str_of(key)};

    p->waiting++;
    CHECK_EQ(sn_redis_ask(p->r, p->loop.now, words, 2, keep_answer, &a), SEINE_OK);
    wait_for_all(p);
    return a.first;
}

TEST(redis_bucket_expires_a_second_after_it_is_full)
{
    party p;
    seine_limiter shape;

    if (open_party(&p, sn_redis_bucket_functions())) {
        CHECK_EQ(seine_limiter_init(&shape, SEINE_SECS(100), 3), SEINE_OK);
        CHECK_EQ(take(&p, "a", &shape, 2), 1);
        int64_t ms = ask_number(&p, "PTTL", "sn:{test}:b:a");
        CHECK(ms <= 201000 && ms > 201000 - CHECK_PATIENCE / 1000000);
        CHECK_EQ(take(&p, "b", &shape, 1), 1);
        CHECK_EQ(take(&p, "a", &shape, 2), 0); /* a refusal changes nothing */
        CHECK(ask_number(&p, "PTTL", "sn:{test}:b:a") <= ms);
    }
    close_party(&p);
}

TEST(redis_bucket_grants_nothing_while_a_member_is_apart)
{
    party p;
    seine_limiter shape;
    sn_redis_member a = {.id = "a", .way = SN_REDIS_JOIN, .deepest = SEINE_SECS(3000)};
    sn_redis_member b = {.id = "b", .way = SN_REDIS_APART, .deepest = SEINE_SECS(3000)};

    if (open_party(&p, sn_redis_bucket_functions())) {
        CHECK_EQ(seine_limiter_init(&shape, SEINE_SECS(1000), 3), SEINE_OK);
        CHECK_EQ(meet(&p, a), 1);
        CHECK_EQ(take(&p, "x", &shape, 1),
                 1); /* who has never been apart empties nothing */
        a.way = SN_REDIS_STAY;
        CHECK_EQ(meet(&p, b), 2);
        CHECK_EQ(take(&p, "y", &shape, 1), 0);
        CHECK_EQ(meet(&p, a), 2);
        CHECK_EQ(take(&p, "y", &shape, 1), 0);
        b.way = SN_REDIS_JOIN;
        CHECK_EQ(meet(&p, b), 2);
        CHECK_EQ(take(&p, "y", &shape, 1), 1); /* b had spent nothing of its own */
        b.way = SN_REDIS_LEAVE;
        CHECK_EQ(meet(&p, b), 1);
    }
    close_party(&p);
}

TEST(redis_bucket_of_every_name_is_empty_when_one_joins_who_has_spent)
{
    party p;
    seine_limiter shape;
    sn_redis_member a = {
        .id = "a", .way = SN_REDIS_JOIN, .has_spent = true, .deepest = SEINE_SECS(3000)};

    if (open_party(&p, sn_redis_bucket_functions())) {
        CHECK_EQ(seine_limiter_init(&shape, SEINE_SECS(1000), 3), SEINE_OK);
        CHECK_EQ(take(&p, "x", &shape, 1), 1);
        CHECK_EQ(meet(&p, a), 1);
        CHECK_EQ(take(&p, "x", &shape, 1), 0);
        CHECK_EQ(take(&p, "new", &shape, 1), 0);
        CHECK(ask_number(&p, "PTTL", "sn:{test}:since") > 2000000);
    }
    close_party(&p);
}

TEST(redis_bucket_is_kept_by_a_server_that_is_killed)
{
    party p;
    seine_limiter shape;

    if (open_party(&p, sn_redis_bucket_functions())) {
        CHECK_EQ(seine_limiter_init(&shape, SEINE_SECS(1000), 1), SEINE_OK);
        CHECK_EQ(take(&p, "x", &shape, 1), 1);
        test_redis_kill9(p.server);
        while (sn_redis_is_up(p.r))
            sn_loop_turn(&p.loop, SEINE_NEVER);
        CHECK(test_redis_again(p.server));
        while (!sn_redis_is_up(p.r))
            sn_loop_turn(&p.loop, SEINE_NEVER);
        CHECK_EQ(take(&p, "x", &shape, 1), 0);
    }
    close_party(&p);
}
