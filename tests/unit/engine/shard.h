/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h - a scheduler without a net, for tests.
 *
 *     shard t;
 *     seine_fetch_opts o = polite();
 *     open_shard(&t, &o);
 *     add(&t, "http://a.example/", 0);
 *     end(&t, next(&t, 0), SEINE_OK, 200, 0);
 *     close_shard(&t);
 */
#ifndef SHARD_H
#define SHARD_H

#include <string.h>

#include "check.h"
#include "engine/scheduler_parts.h"

/* A shard without a net: visits are made, started and ended by hand. */
typedef struct shard {
    sn_shared_state shared;
    sn_scheduler *s;
    seine_clock *clock;
    sn_offer (*offer)(uint32_t host,
                      void *arg); /* for the frontier; NULL: there is none */
    void *arg;
} shard;

static inline seine_fetch_opts
polite(void)
{
    seine_fetch_opts o = {.size = sizeof(seine_fetch_opts),
                          .concurrency = 64,
                          .per_host = 4,
                          .per_ip = 0,
                          .threads = 1,
                          .queue = 1000,
                          .host_rate = {5, SEINE_SECS(1), 1},
                          .max_memory = 1 << 20,
                          .timeout = SEINE_SECS(30),
                          .connect_timeout = SEINE_SECS(10),
                          .dns_timeout = SEINE_SECS(5),
                          .tcp_timeout = SEINE_SECS(5),
                          .tls_timeout = SEINE_SECS(5),
                          .head_timeout = SEINE_SECS(20),
                          .retry = SEINE_RETRY_OPTS,
                          .retry_budget = SEINE_RETRY_BUDGET_OPTS,
                          .breaker = SEINE_BREAKER_OPTS,
                          .park = 1,
                          .max_retry_after = SEINE_SECS(300),
                          .method = "GET",
                          .user_agent = "seine"};
    return o;
}

static inline void
open_shard(shard *t, const seine_fetch_opts *given)
{
    seine_fetch_opts o = *given;
    seine_diag diag = SEINE_DIAG;

    t->offer = NULL;
    CHECK_EQ(seine_clock_fake_new(0, 0, 1, &t->clock), SEINE_OK);
    o.clock = t->clock;
    CHECK_EQ(sn_shared_state_init(&t->shared, &o, &diag), SEINE_OK);
    CHECK_EQ(sn_scheduler_new(&t->shared, 0, &t->s), SEINE_OK);
}

static inline void
close_shard(shard *t)
{
    for (sn_visit *v; (v = sn_scheduler_drain(t->s));)
        sn_visits_give(t->shared.visits, v);
    uint32_t by[SEINE_WAIT_ROOM];
    CHECK_EQ(sn_scheduler_waiting(t->s, by), 0);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        CHECK_EQ(by[i], 0);
    for (uint32_t i = 0; i < t->s->hosts.n; i++)
        CHECK_EQ(sn_host_work(&t->s->hosts.all[i]) + t->s->hosts.cards[i].n_again, 0);
    CHECK_EQ(sn_visits_out(t->shared.visits), 0);
    CHECK_EQ(seine_throttle_in_flight(&t->shared.in_flight), 0);
    sn_scheduler_free(t->s);
    sn_shared_state_fini(&t->shared);
    seine_clock_fake_free(t->clock);
}

static inline sn_visit *
visit(shard *t, const char *url)
{
    seine_err e;
    sn_visit *v = sn_visits_take(t->shared.visits, &e);
    size_t len = strlen(url);

    seine_url_init(&v->url, sn_arena_text(&v->arena, (sn_str){url, len}), len + 1);
    char *mem = sn_arena_get(&v->arena, len + 8, 1, 1);
    seine_url_init(&v->url, mem, len + 8);
    CHECK_EQ(seine_url_parse(&v->url, url, len, NULL), SEINE_OK);
    v->state = SN_ADMITTED;
    v->retry.opts = &t->shared.opts.retry;
    return v;
}

static inline sn_visit *
add(shard *t, const char *url, seine_time now)
{
    sn_visit *v = visit(t, url);

    CHECK_EQ(sn_scheduler_add(t->s, v, now), SEINE_OK);
    return v;
}

/* The next visit that may start, as engine/run.c finds it. */
static inline sn_visit *
next(shard *t, seine_time now)
{
    uint32_t host;
    sn_visit *v = sn_scheduler_next(t->s, now, &host);

    while (!v && host != SN_NO_HOST) {
        sn_offer offer = t->offer(host, t->arg);
        v = sn_scheduler_answer(t->s, &offer, now);
        if (!v)
            v = sn_scheduler_next(t->s, now, &host);
    }
    return v;
}

/* The attempt ends so; the visit goes home. */
static inline void
end(shard *t, sn_visit *v, seine_err code, uint16_t status, seine_time now)
{
    v->state = SN_IN_FLIGHT;
    v->end.fault.code = code;
    v->end.fault.status = status;
    v->end.fault.sent = v->is_asked = true;
    sn_scheduler_end(t->s, v, now);
    sn_visits_give(t->shared.visits, v);
}

#endif
