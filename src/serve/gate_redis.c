/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/gate_redis.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "serve/redis_link.h"

#define RETRY_MAX SEINE_SECS(1) /* between two connects: clients are waiting */

struct sn_gate_redis {
    sn_loop *loop;
    sn_redis_url url;
    sn_redis_link *link;
    sn_shared_budget *budget; /* NULL: it is being made, or freed */
    sn_timer timer;
    bool has_timer;
    bool is_settled; /* the first connect has ended in one way or the other */
};

static void
set_timer(sn_gate_redis *g)
{
    sn_timer_set(g->loop, &g->timer, sn_shared_budget_when(g->budget));
}

static void
on_time(sn_timer *t, seine_time now)
{
    sn_gate_redis *g =
        (sn_gate_redis *)(void *)((char *)t - offsetof(sn_gate_redis, timer));

    sn_shared_budget_tick(g->budget, now);
    set_timer(g);
}

static void
on_up(void *arg)
{
    sn_gate_redis *g = arg;

    g->is_settled = true;
    sn_shared_budget_up(g->budget, g->loop->now);
    set_timer(g);
}

static void
on_down(void *arg)
{
    sn_gate_redis *g = arg;

    g->is_settled = true;
    sn_shared_budget_down(g->budget, g->loop->now);
    set_timer(g);
}

static seine_err
open_link(sn_gate_redis *g, const sn_gate_redis_opts *opts, seine_diag *diag)
{
    uint64_t seed;
    char shown[SN_REDIS_SHOWN];

    sn_rng_secret(&seed, sizeof seed);
    sn_redis_opts redis = {.url = &g->url,
                           .functions = sn_redis_bucket_functions(),
                           .reply = opts->timeout,
                           .retry_max = RETRY_MAX,
                           .seed = seed,
                           .hooks = {.up = on_up, .down = on_down, .arg = g}};
    seine_err e = sn_redis_link_new(g->loop, &redis, &g->link, diag);
    if (e != SEINE_OK)
        return e;
    sn_redis_url_shown(&g->url, shown);
    return sn_shared_budget_new(sn_redis_link_client(g->link), shown, opts->log,
                                g->loop->now, &g->budget);
}

seine_err
sn_gate_redis_new(sn_loop *loop, const sn_gate_redis_opts *opts,
                  sn_gate_redis **out_redis, seine_diag *diag)
{
    sn_gate_redis *g = sn_zalloc(sizeof *g);

    if (!g)
        return SEINE_E_NOMEM;
    g->loop = loop;
    g->timer.fire = on_time;
    seine_err e = sn_redis_url_parse(sn_str_of(opts->url), &g->url, diag);
    if (e == SEINE_OK) {
        e = sn_timer_reserve(loop);
        g->has_timer = e == SEINE_OK;
    }
    if (e == SEINE_OK)
        e = open_link(g, opts, diag);
    if (e != SEINE_OK) {
        sn_gate_redis_free(g);
        return e;
    }
    *out_redis = g;
    return SEINE_OK;
}

void
sn_gate_redis_free(sn_gate_redis *g)
{
    if (!g)
        return;
    if (g->budget)
        sn_shared_budget_leave(g->budget, g->loop->now);
    sn_redis_link_free(g->link);
    if (g->has_timer)
        sn_timer_forget(g->loop, &g->timer);
    sn_shared_budget_free(g->budget);
    sn_redis_url_fini(&g->url);
    sn_free(g);
}

void
sn_gate_redis_wait(sn_gate_redis *g, seine_span patience)
{
    seine_time end = sn_time_add(g->loop->now, patience);

    while (!g->is_settled && g->loop->now < end)
        sn_loop_turn(g->loop, end);
}

void
sn_gate_redis_try(sn_gate_redis *g, sn_budget_call *call)
{
    sn_shared_budget_try(g->budget, g->loop->now, call);
}

void
sn_gate_redis_stats(const sn_gate_redis *g, sn_shared_budget_stats *out_stats)
{
    sn_shared_budget_stats_get(g->budget, out_stats);
}
