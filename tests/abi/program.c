/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a program of the first day: built against the frozen header, run with the
 * library of today. It makes one of everything whose options may have grown, and looks at
 * every struct that the library fills.
 */
#include "seine-0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void
check(bool ok, const char *what)
{
    if (!ok) {
        failed++;
        printf("not ok: %s\n", what);
    }
}

#define CHECK(c) check((c), #c)

static seine_fault
try_it(seine_ctx *attempt, uint32_t number, void *arg)
{
    seine_fault f = SEINE_FAULT;

    ++*(int *)arg;
    f.code = number < 3 ? SEINE_E_CONNECT : SEINE_OK;
    f.status = number < 3 ? 0 : 200;
    CHECK(seine_ctx_err(attempt, 0) == SEINE_OK);
    return f;
}

static void
call(seine_ctx *ctx)
{
    seine_breaker_opts breaker = SEINE_BREAKER_OPTS;
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_shared_opts shared = SEINE_SHARED_OPTS;
    seine_throttles_opts throttles = SEINE_THROTTLES_OPTS;
    seine_retry_opts retry = SEINE_RETRY_OPTS;
    seine_retry_budget_opts retry_budget = SEINE_RETRY_BUDGET_OPTS;
    seine_call_opts o = SEINE_CALL_OPTS;
    struct {
        seine_call_result res;
        char canary[16];
    } room;
    seine_view key = seine_key_str("https://a.example:443");
    int ran = 0;

    retry.base = 1;
    memset(&room, 7, sizeof room);
    CHECK(seine_breakers_new(&breaker, 10, &o.breakers) == SEINE_OK);
    CHECK(seine_keyed_new(&keyed, &o.rates) == SEINE_OK);
    CHECK(seine_shared_new(&shared, 0, &o.rate) == SEINE_OK);
    CHECK(seine_throttles_new(&throttles, &o.throttles) == SEINE_OK);
    CHECK(seine_retry_budget_new(&retry_budget, &o.retry_budget) == SEINE_OK);
    o.retry = &retry;
    o.idempotent = true;
    CHECK(seine_call(&o, ctx, key, try_it, &ran, &room.res) == SEINE_OK);
    CHECK(ran == 3 && room.res.attempts == 3 && room.res.stop == SEINE_STOP_OK);
    CHECK(room.canary[0] == 7 && room.canary[15] == 7); /* it did not grow */

    struct {
        seine_limiter_stats rate;
        seine_breaker_stats breaker;
        seine_keyed_totals totals;
        char canary[16];
    } stats;
    memset(&stats, 7, sizeof stats);
    CHECK(seine_keyed_stats_get(o.rates, key, 0, &stats.rate) == SEINE_OK);
    CHECK(seine_breakers_stats_get(o.breakers, key, &stats.breaker) == SEINE_OK);
    seine_keyed_totals_get(o.rates, &stats.totals);
    CHECK(stats.rate.allowed == 3 && stats.breaker.failed == 2 && stats.totals.keys == 1);
    CHECK(stats.canary[0] == 7 && stats.canary[15] == 7);

    seine_breakers_free(o.breakers);
    seine_keyed_free(o.rates);
    seine_shared_free(o.rate);
    seine_throttles_free(o.throttles);
    seine_retry_budget_free(o.retry_budget);
}

static void
guards(seine_ctx *ctx)
{
    seine_limiter lim;
    seine_throttle throttle;
    seine_adapt_opts adapt = SEINE_ADAPT_OPTS;
    seine_pool_opts pool_opts = SEINE_POOL_OPTS;
    seine_seen_opts seen_opts = SEINE_SEEN_OPTS;
    seine_pool *pool;
    seine_seen *seen;
    bool is_new = false;

    CHECK(seine_limiter_init(&lim, seine_every(10, SEINE_SECS(1)), 5) == SEINE_OK);
    CHECK(lim.every == SEINE_MS(100) && seine_limiter_left(&lim, 0) == 5);
    CHECK(seine_throttle_init_adaptive(&throttle, &adapt) == SEINE_OK);
    CHECK(seine_throttle_limit(&throttle) == 2);
    seine_throttle_fini(&throttle);
    CHECK(seine_pool_new(&pool_opts, ctx, &pool) == SEINE_OK);
    CHECK(seine_pool_close(pool, SEINE_CLOSE_DRAIN, ctx) == SEINE_OK);
    seine_pool_free(pool);
    CHECK(seine_seen_new(&seen_opts, &seen) == SEINE_OK);
    CHECK(seine_seen_add(seen, "a", 1, &is_new) == SEINE_OK && is_new);
    seine_seen_free(seen);
}

static void
texts(void)
{
    static const char rules[] = "User-agent: *\nDisallow: /no\n";
    char bytes[512];
    seine_url u;
    seine_robots *robots;
    seine_robots_verdict verdict;

    seine_url_init(&u, bytes, sizeof bytes);
    CHECK(seine_url_parse(&u, "HTTP://A.Example:80/b", 21, NULL) == SEINE_OK);
    CHECK(seine_url_port(&u) == 80 && seine_url_host(&u).len == 9);
    CHECK(seine_robots_new(rules, sizeof rules - 1, &robots) == SEINE_OK);
    CHECK(seine_robots_check(robots, "x", "http://a/no", 11, &verdict) == SEINE_OK);
    CHECK(!verdict.allowed);
    seine_robots_free(robots);
}

static void
fetch(void)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    seine_sinks_opts sinks_opts = SEINE_SINKS_OPTS;
    seine_sinks *sinks;
    seine_fetch *f;
    seine_diag diag;
    struct {
        seine_fetch_stats of;
        char canary[64];
    } stats;

    CHECK(o.size == sizeof o);
    CHECK(seine_fetch_new(&o, &f, &diag) == SEINE_OK);
    memset(&stats, 7, sizeof stats);
    seine_fetch_stats_get(f, &stats.of);
    CHECK(stats.of.given == 0 && stats.canary[0] == 7 && stats.canary[63] == 7);
    seine_fetch_free(f);
    o.crawl = &crawl;
    CHECK(seine_fetch_new(&o, &f, &diag) == SEINE_OK);
    seine_fetch_free(f);
    CHECK(seine_sinks_new(&sinks_opts, &sinks) == SEINE_OK);
    seine_sinks_free(sinks);
}

/* A number belongs to its error for ever. */
static void
errors(void)
{
#define X(number, id, name, class_, group, text) \
    CHECK(strcmp(seine_err_name((seine_err)(number)), name) == 0);
    SEINE_ERRORS(X)
#undef X
}

int
main(void)
{
    seine_ctx *ctx;

    if (seine_ctx_background(&ctx) != SEINE_OK)
        return 1;
    call(ctx);
    guards(ctx);
    texts();
    fetch();
    errors();
    seine_ctx_unref(ctx);
    printf("%d failed\n", failed);
    return failed > 0;
}
