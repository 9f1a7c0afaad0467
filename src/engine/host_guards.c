/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

#define MANY           4096 /* from here on idle hosts fold theirs */
#define FEW_BLOCKS     (MANY / SN_GUARDS_BLOCK)
#define BIG_BLOCKS     171 /* in one piece: 6 MiB, which come as huge pages */
#define BLOCK_BYTES    (SN_GUARDS_BLOCK * sizeof(sn_guards))
#define BIG_BYTES      (BIG_BLOCKS * BLOCK_BYTES)
#define CRAWL_FIRST_US 1000000u /* a host no one knows, found by a crawl */

_Static_assert(sizeof(sn_guards) == 576, "nine cache lines");
_Static_assert(BIG_BYTES >= 6 << 20, "sn_pages gives huge pages from 6 MiB on");
_Static_assert(offsetof(sn_guards, breaker) == 192, "its second line is 256");

static sn_guards *
guards_at(const sn_hosts *hs, uint32_t i)
{
    return &hs->guards[i / SN_GUARDS_BLOCK][i % SN_GUARDS_BLOCK];
}

/* What hangs on them; they may be used anew. */
static void
guards_drop(sn_guards *g)
{
    seine_breaker_fini(&g->breaker);
    seine_throttle_fini(&g->throttle);
    seine_retry_budget_free(g->retry_budget);
    memset(g, 0, sizeof *g);
}

/* Up to MANY come a block at a time; those beyond lie in huge pages, since they are hit
 * at random. */
static uint32_t
blocks_at(uint32_t blocks)
{
    return blocks < FEW_BLOCKS ? 1 : BIG_BLOCKS;
}

void
sn_hosts_drop_guards(sn_hosts *hs)
{
    for (uint32_t i = 0; i < hs->n; i++)
        if (hs->all[i].guards != SN_NONE)
            guards_drop(guards_at(hs, hs->all[i].guards));
    uint32_t blocks = hs->n_guards / SN_GUARDS_BLOCK;
    for (uint32_t i = 0; i < blocks; i += blocks_at(i))
        if (blocks_at(i) == 1)
            sn_free_line(hs->guards[i]);
        else
            sn_pages_free(hs->guards[i], BIG_BYTES);
    sn_free(hs->guards);
}

static seine_err
guards_more(sn_hosts *hs)
{
    uint32_t blocks = hs->n_guards / SN_GUARDS_BLOCK, more = blocks_at(blocks);
    sn_guards **list = sn_realloc(hs->guards, (blocks + more) * sizeof *list);

    if (!list)
        return SEINE_E_NOMEM;
    hs->guards = list;
    list[blocks] = more == 1 ? sn_zalloc_line(BLOCK_BYTES) : sn_pages(BIG_BYTES);
    if (!list[blocks])
        return SEINE_E_NOMEM;
    for (uint32_t i = 1; i < more; i++)
        list[blocks + i] = list[blocks] + i * SN_GUARDS_BLOCK;
    hs->fresh_guards = hs->n_guards;
    hs->n_guards += more * SN_GUARDS_BLOCK;
    return SEINE_OK;
}

/* One that nobody has: used before, or never touched. */
static seine_err
take_guards(sn_hosts *hs, uint32_t *out_i)
{
    uint32_t i = hs->free_guards;

    if (i != SN_NONE) {
        hs->free_guards = guards_at(hs, i)->link;
        *out_i = i;
        return SEINE_OK;
    }
    seine_err e = hs->fresh_guards == hs->n_guards ? guards_more(hs) : SEINE_OK;
    if (e == SEINE_OK)
        *out_i = hs->fresh_guards++;
    return e;
}

static void
give_guards(sn_hosts *hs, uint32_t i)
{
    sn_guards *g = guards_at(hs, i);

    guards_drop(g);
    g->link = hs->free_guards;
    hs->free_guards = i;
}

static seine_span
rate_of(const sn_hosts *hs, uint32_t host)
{
    seine_rate rate = sn_hosts_rate_in_force(hs, host);

    return rate.count > 0 ? seine_every(rate.count, rate.per) : 0;
}

seine_span
sn_hosts_rate(const sn_hosts *hs, uint32_t host)
{
    return sn_hosts_is_mine(hs, &hs->all[host]) ? 0 : rate_of(hs, host);
}

seine_span
sn_hosts_every(const sn_hosts *hs, uint32_t host)
{
    if (sn_hosts_is_mine(hs, &hs->all[host]))
        return 0;
    return sn_time_max(rate_of(hs, host), SEINE_MS((seine_span)hs->cards[host].delay_ms));
}

uint32_t
sn_hosts_floor_us(const sn_hosts *hs, uint32_t host)
{
    return (uint32_t)sn_time_min((sn_hosts_every(hs, host) + 999) / 1000, UINT32_MAX);
}

/* The interval a host that nobody knows begins with. */
static uint32_t
first_us(const sn_hosts *hs, uint32_t host)
{
    uint32_t least = hs->shared->opts.crawl ? CRAWL_FIRST_US : 0;

    return sn_hosts_floor_us(hs, host) > least ? sn_hosts_floor_us(hs, host) : least;
}

/* A stated delay is a wall without a burst. */
static bool
is_delayed(const sn_hosts *hs, uint32_t host)
{
    const sn_host *h = &hs->all[host];

    return h->is_delayed && !sn_hosts_is_mine(hs, h);
}

static seine_err
set_limiter(const sn_hosts *hs, uint32_t host, sn_guards *g, seine_time now)
{
    seine_rate own = sn_hosts_rate_in_force(hs, host);
    seine_span every = sn_hosts_every(hs, host);

    if (every == 0 || is_delayed(hs, host))
        return seine_limiter_init(&g->limiter, every, 1);
    seine_rate rate = sn_shared_state_rate(own);
    seine_err e = seine_limiter_init_rate(&g->limiter, &rate, own.burst, now);
    if (e == SEINE_OK && hs->shared->resumed_at != INT64_MIN) /* nobody has saved up */
        g->limiter.full = sn_time_max(
            g->limiter.full, sn_time_add(hs->shared->resumed_at, g->limiter.depth));
    return e;
}

static seine_err
set_throttle(const sn_hosts *hs, uint32_t host, sn_guards *g)
{
    uint32_t most = sn_hosts_cap_in_force(hs, host);

    if (most == 0 || sn_hosts_is_mine(hs, &hs->all[host]))
        return SEINE_OK;
    if (is_delayed(hs, host))
        most = 1;
    g->set.throttle = &g->throttle;
    if (!sn_hosts_is_adaptive(hs, host))
        return seine_throttle_init_semaphore(&g->throttle, most);
    g->cap = (sn_aimd)SN_AIMD(most < 2 ? most : 2, 1, most);
    seine_throttle_init_custom(&g->throttle, &sn_aimd_ops, &g->cap);
    return SEINE_OK;
}

/* The brakes of a host, by the options; none is missing, some never hold. */
static seine_err
guards_set(const sn_hosts *hs, uint32_t host, sn_guards *g, seine_time now)
{
    sn_shared_state *c = hs->shared;
    const seine_fetch_opts *o = &c->opts;
    seine_err e = set_limiter(hs, host, g, now);

    if (e != SEINE_OK)
        return e;
    const sn_host_policy *p = sn_hosts_policy(hs, host);
    const seine_breaker_opts *b = p ? &p->breaker : &c->breaker;
    bool has_breaker = b->failure_threshold > 0 || b->failure_pct > 0;
    if (has_breaker && (e = seine_breaker_init(&g->breaker, b)) != SEINE_OK)
        return e;
    g->set = (seine_guards){.breaker = has_breaker ? &g->breaker : NULL,
                            .limiter = &g->limiter,
                            .global_limiter = hs->rate,
                            .global_throttle = &c->in_flight};
    e = set_throttle(hs, host, g);
    if (e == SEINE_OK && o->retry_budget.ratio_milli != UINT32_MAX)
        e = seine_retry_budget_new(&o->retry_budget, &g->retry_budget);
    if (e != SEINE_OK)
        return e;
    if (sn_hosts_is_adaptive(hs, host) && !sn_hosts_is_mine(hs, &hs->all[host]))
        sn_pace_init(&g->pace, sn_hosts_floor_us(hs, host), first_us(hs, host), now);
    else
        sn_pace_init_off(&g->pace, 0, now);
    if (hs->all[host].is_given)
        sn_pace_welcome(&g->pace);
    g->held_since = SEINE_NEVER;
    return SEINE_OK;
}

void
sn_hosts_retune(sn_hosts *hs, uint32_t host, seine_time now)
{
    sn_host *h = &hs->all[host];

    if (h->guards == SN_NONE)
        return;
    sn_guards *g = guards_at(hs, h->guards);
    bool mine = sn_hosts_is_mine(hs, h), delayed = is_delayed(hs, host);
    seine_rate rate = sn_shared_state_rate(sn_hosts_rate_in_force(hs, host));
    g->set.global_limiter = hs->rate;
    seine_limiter_set_rate(&g->limiter, now, sn_hosts_every(hs, host),
                           mine || delayed ? 1 : rate.burst);
    if (mine) {
        seine_time last = g->pace.last, pause = g->pace.pause;
        sn_pace_init_off(&g->pace, 0, now);
        g->pace.last = last;
        g->pace.pause = pause;
        g->set.throttle = NULL; /* slots that are out know where they belong */
        return;
    }
    if (g->pace.ivl_us > 0)
        sn_pace_set_floor(&g->pace, sn_hosts_floor_us(hs, host));
    uint32_t most = delayed ? 1 : sn_hosts_cap_in_force(hs, host);
    if (g->set.throttle && g->throttle.ops == &sn_aimd_ops)
        sn_aimd_ceiling(&g->cap, most);
    else if (g->set.throttle)
        (void)!seine_throttle_set(&g->throttle, most);
    if (delayed) /* a whole interval from the last one, and no token is left over */
        h->next =
            sn_time_max(h->next, sn_time_add(g->pace.last, sn_hosts_every(hs, host)));
}

seine_err
sn_hosts_make_guards(sn_hosts *hs, uint32_t host, seine_time now, sn_guards **out_guards)
{
    uint32_t i;
    seine_err e = take_guards(hs, &i);

    if (e != SEINE_OK)
        return e;
    e = guards_set(hs, host, guards_at(hs, i), now);
    if (e != SEINE_OK) {
        give_guards(hs, i);
        return e;
    }
    hs->guards_used++;
    hs->all[host].guards = i;
    *out_guards = guards_at(hs, i);
    sn_hosts_inherit(hs, host, *out_guards, now);
    return SEINE_OK;
}

/* Would a new host behave the same, from `next` on? Or more carefully. */
static bool
is_plain(const sn_hosts *hs, uint32_t host, const sn_guards *g)
{
    seine_breaker_stats b = {.state = SEINE_BREAKER_CLOSED};

    if (g->set.breaker)
        seine_breaker_stats_get(&g->breaker, &b);
    return b.state == SEINE_BREAKER_CLOSED && b.failures == 0 && g->pace.knee_us == 0 &&
           (g->pace.ivl_us == 0 || g->pace.ivl_us <= first_us(hs, host));
}

void
sn_hosts_fold(sn_hosts *hs, uint32_t host, seine_time now)
{
    sn_host *h = &hs->all[host];

    if (h->guards == SN_NONE || hs->guards_used <= MANY || h->in_flight > 0 ||
        h->n_waiting > 0 || h->n_unpaid > 0 || hs->cards[host].n_again > 0 ||
        h->place != SN_HOST_IDLE)
        return;
    sn_guards *g = guards_at(hs, h->guards);
    if (!is_plain(hs, host, g) || g->pace.quota_until > now)
        return;
    h->next = sn_time_max(h->next, sn_time_max(g->limiter.full, g->limiter.shut));
    h->next = sn_time_max(h->next, g->pace.pause);
    give_guards(hs, h->guards);
    hs->guards_used--;
    h->guards = SN_NONE;
}
