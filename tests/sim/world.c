/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/time.h"
#include "disk.h"
#include "net.h"
#include "site.h"

static sim_world *
of(seine_clock *c)
{
    return (sim_world *)(void *)((char *)c - offsetof(sim_world, clock));
}

static seine_time
clock_now(seine_clock *c)
{
    return of(c)->now;
}

static int64_t
clock_wall(seine_clock *c)
{
    return INT64_C(1794000000) * SEINE_SECS(1) + of(c)->now + of(c)->wall_step;
}

static uint64_t
clock_dice(seine_clock *c)
{
    return sn_rng_next(&of(c)->dice);
}

/* One thread: whoever would wait here would wait for ever. */
static bool
clock_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    (void)word;
    (void)seen;
    (void)until;
    sim_broken(of(c), "S13", "somebody waits inside the simulation");
    return false;
}

static void
clock_wake(seine_clock *c, const uint32_t *word, int n)
{
    (void)c;
    (void)word;
    (void)n;
}

static uint64_t
below(sim_world *w, uint64_t n)
{
    return sn_rng_below(&w->model, n);
}

static bool
chance(sim_world *w, uint64_t percent)
{
    return below(w, 100) < percent;
}

static seine_span
between(sim_world *w, seine_span from, seine_span to)
{
    return from + (seine_span)below(w, (uint64_t)(to - from) + 1);
}

static void
draw_host(sim_world *w, sim_host *h, uint32_t i)
{
    /* a few addresses for many hosts, of three zones */
    uint32_t a = chance(w, 50) ? i : (uint32_t)below(w, 4);

    h->zone = chance(w, 80) ? SN_ADDRESS_PUBLIC
                            : (chance(w, 50) ? SN_ADDRESS_PRIVATE : SN_ADDRESS_LOCAL);
    h->ip = (sn_ip){
        4, {(uint8_t)(h->zone + 1), (uint8_t)(a >> 16), (uint8_t)(a >> 8), (uint8_t)a}};
    h->dns = between(w, 0, SEINE_MS(50));
    h->connect = between(w, 0, SEINE_MS(100));
    h->ttfb = between(w, 0, SEINE_MS(300));
    h->body = between(w, 0, SEINE_MS(50));
    h->jitter = chance(w, 50) ? between(w, 1, SEINE_MS(200)) : 0;
    h->retry_after = -1;
    if (chance(w, 60)) { /* not a good one */
        h->reset = (uint32_t)below(w, 200);
        h->cut = (uint32_t)below(w, 100);
        h->refuse = (uint32_t)below(w, 200);
        h->s500 = (uint32_t)below(w, 300);
        h->stale = (uint32_t)below(w, 300);
    }
    h->s404 = (uint32_t)below(w, 100);
    h->redirect = chance(w, 50) ? (uint32_t)below(w, 200) : 0;
    h->dead = chance(w, 8);
    h->nx = chance(w, 4);
    h->flap = chance(w, 10) ? between(w, SEINE_SECS(1), SEINE_SECS(120)) : 0;
    if (chance(w, 10)) /* slower than any patience */
        h->ttfb = between(w, SEINE_SECS(1), SEINE_SECS(100));
    if (chance(w, 15)) {
        h->limit = 1 + (uint32_t)below(w, 10);
        if (chance(w, 60))
            h->retry_after = SEINE_SECS(between(w, 0, chance(w, 10) ? 4000 : 30));
    }
}

static void
draw_opts(sim_world *w)
{
    seine_fetch_opts *o = &w->opts;

    *o = seine_fetch_defaults();
    o->clock = &w->clock;
    o->threads = w->n_shards;
    o->concurrency = 1 + (uint32_t)below(w, chance(w, 50) ? 8 : 64);
    o->per_host = 1 + (uint32_t)below(w, 6);
    o->per_ip = chance(w, 50) ? 1 + (uint32_t)below(w, 8) : 0;
    o->queue = 1 + (uint32_t)below(w, 300);
    o->adaptive = chance(w, 50);
    o->mine = chance(w, 15);
    o->host_rate = (seine_rate){1 + below(w, 50), SEINE_SECS(1),
                                1 + (uint32_t)below(w, chance(w, 20) ? 10 : 1)};
    if (chance(w, 15))
        o->host_rate.count = 0;
    if (chance(w, 25))
        o->rate =
            (seine_rate){1 + below(w, 200), SEINE_SECS(1), 1 + (uint32_t)below(w, 5)};
    o->timeout = between(w, SEINE_MS(50), SEINE_SECS(30));
    o->retry.max_attempts = 1 + (uint32_t)below(w, 6);
    o->retry.base = between(w, SEINE_MS(1), SEINE_SECS(2));
    o->retry.max = o->retry.base + between(w, 0, SEINE_SECS(30));
    if (chance(w, 20))
        o->retry.max_elapsed = between(w, SEINE_SECS(1), SEINE_SECS(60));
    if (chance(w, 30))
        o->retry_budget.ratio_milli = UINT32_MAX;
    o->breaker.failure_threshold = 1 + (uint32_t)below(w, 10);
    o->breaker.open_for = between(w, SEINE_MS(100), SEINE_SECS(60));
    o->breaker.half_open_max = 1 + (uint32_t)below(w, 3);
    if (chance(w, 15)) {
        o->breaker.failure_threshold = 0;
        o->breaker.failure_pct = 0;
    }
    o->park = (uint32_t)below(w, 4);
    o->max_retry_after = between(w, SEINE_SECS(1), SEINE_SECS(300));
    o->max_redirects = (uint32_t)below(w, 12);
    o->grace = between(w, 0, SEINE_SECS(10));
    o->max_memory = chance(w, 20) ? 1 << 16 : 1 << 24;
    o->keep = (uint32_t)below(w, 16);
    o->dedup = chance(w, 70);
    static const seine_field secret = {{SIM_SECRET, sizeof SIM_SECRET - 1}, {"hush", 4}};
    o->fields = &secret;
    o->n_fields = 1;
}

/* A crawl is the same net with links. */
static void
draw_crawl(sim_world *w)
{
    seine_fetch_opts *o = &w->opts;
    site *s = w->site;

    o->crawl = &s->crawl;
    o->include = s->include[0] ? s->include : NULL;
    o->exclude = s->exclude[0] ? s->exclude : NULL;
    o->robots = chance(w, 80)   ? SEINE_OBEY_ON
                : chance(w, 50) ? SEINE_OBEY_OFF
                                : SEINE_OBEY_AUDIT;
    if (chance(w, 70))
        o->accept_type = "text/html,application/xhtml+xml";
    if (chance(w, 20))
        o->max_pages = 1 + below(w, s->n_pages + 10);
    if (chance(w, 5))
        o->max_bytes = 1 + below(w, 1 << 20);
    if (chance(w, 30))
        o->max_crawl_delay = between(w, 0, SEINE_SECS(10));
    o->dedup = true;
    if (o->queue < s->n_seeds) /* the scope is around all of them from the beginning */
        o->queue = s->n_seeds;
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        sim_host *h = &w->hosts[i];
        h->redirect = h->s404 = 0;
        if (chance(w, 60)) /* a good one */
            h->reset = h->cut = h->refuse = h->s500 = h->stale = 0;
    }
}

sim_world *
sim_world_new(uint64_t seed, uint32_t max_hosts, uint32_t max_pages)
{
    sim_world *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->seed = seed;
    w->model = sn_rng_seed(seed);
    w->dice = sn_rng_seed(seed ^ UINT64_C(0x5eed));
    w->clock = (seine_clock){clock_now,  clock_wall, clock_dice, clock_wait,
                             clock_wake, NULL,       NULL};
    w->now = SEINE_SECS(1);
    w->n_hosts = 1 + (uint32_t)below(w, chance(w, 10) ? 500 : 20);
    w->n_pages = 1 + (uint32_t)below(w, chance(w, 5) ? 5000 : chance(w, 40) ? 400 : 60);
    w->n_hosts = w->n_hosts < max_hosts ? w->n_hosts : max_hosts;
    w->n_pages = w->n_pages < max_pages ? w->n_pages : max_pages;
    if (sn_rng_below(&w->model, 2) == 0) {
        w->site = site_new(seed, max_hosts, max_pages);
        w->n_hosts = w->site->n_hosts;
        w->n_pages = w->site->n_seeds;
    }
    w->n_shards = 1 + (uint32_t)below(w, chance(w, 50) ? 1 : 4);
    w->hosts = calloc(w->n_hosts, sizeof *w->hosts);
    w->pages = calloc(w->n_pages, sizeof *w->pages);
    if (!w->hosts || !w->pages) {
        sim_world_free(w);
        return NULL;
    }
    for (uint32_t i = 0; i < w->n_hosts; i++)
        draw_host(w, &w->hosts[i], i);
    draw_opts(w);
    if (w->site)
        draw_crawl(w);
    sim_disk_draw(w);
    if (!w->disk) {
        sim_world_free(w);
        return NULL;
    }
    return w;
}

void
sim_world_free(sim_world *w)
{
    if (!w)
        return;
    sim_disk_free(w);
    site_free(w->site);
    free(w->hosts);
    free(w->pages);
    free(w);
}
