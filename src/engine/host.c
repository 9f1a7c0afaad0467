/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/time.h"

#define FIRST_ROOM   64
#define BLOCK        64   /* guards */
#define FIGURE_BLOCK 16   /* figures */
#define MAX_FIGURES  4096 /* hosts of which figures are kept */
#define MANY_GUARDS  4096 /* from here on idle hosts fold theirs */

#define CRAWL_FIRST_US 1000000u /* a host no one knows, found by a crawl */

seine_err
sn_hosts_init(sn_hosts *hs, sn_commons *commons, sn_wheel *wheel, seine_time now)
{
    *hs = (sn_hosts){.commons = commons, .wheel = wheel, .free_guards = SN_NONE};
    sn_arena_init(&hs->names, 16384, SIZE_MAX);
    sn_rng_secret(hs->secret, sizeof hs->secret);
    hs->all = sn_calloc(FIRST_ROOM, sizeof *hs->all);
    hs->table = sn_calloc(FIRST_ROOM * 2, sizeof *hs->table);
    if (!hs->all || !hs->table) {
        sn_hosts_fini(hs);
        return SEINE_E_NOMEM;
    }
    hs->room = FIRST_ROOM;
    hs->table_room = FIRST_ROOM * 2;
    seine_err e =
        sn_wheel_init(wheel, &SN_WHEEL_ITEMS(hs->all, link, next, FIRST_ROOM), now);
    if (e != SEINE_OK)
        sn_hosts_fini(hs);
    return e;
}

static sn_guards *
guards_at(const sn_hosts *hs, uint32_t i)
{
    return &hs->guards[i / BLOCK][i % BLOCK];
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

void
sn_hosts_fini(sn_hosts *hs)
{
    for (uint32_t i = 0; i < hs->n; i++)
        if (hs->all[i].guards != SN_NONE)
            guards_drop(guards_at(hs, hs->all[i].guards));
    for (uint32_t i = 0; i < hs->n_guards; i += BLOCK)
        sn_free(hs->guards[i / BLOCK]);
    for (uint32_t i = 0; i < hs->n_figures; i += FIGURE_BLOCK)
        sn_free(hs->figures[i / FIGURE_BLOCK]);
    sn_free(hs->guards);
    sn_free(hs->figures);
    sn_free(hs->all);
    sn_free(hs->table);
    sn_arena_fini(&hs->names);
    *hs = (sn_hosts){0};
}

/* Twice the hosts, four times as many places in the table. */
static seine_err
grow(sn_hosts *hs)
{
    uint32_t room = hs->room * 2;
    uint32_t *table = sn_calloc((size_t)room * 2, sizeof *table);
    sn_host *all = table ? sn_calloc(room, sizeof *all) : NULL;

    if (!all) {
        sn_free(table);
        return SEINE_E_NOMEM;
    }
    memcpy(all, hs->all, hs->n * sizeof *all);
    seine_err e = sn_wheel_grow(hs->wheel, all, room);
    sn_free(hs->all); /* the wheel knows the new array in either case */
    hs->all = all;
    if (e != SEINE_OK) {
        sn_free(table);
        return e;
    }
    sn_free(hs->table);
    for (uint32_t i = 0; i < hs->n; i++) {
        uint32_t at = all[i].hash & (room * 2 - 1);
        while (table[at])
            at = (at + 1) & (room * 2 - 1);
        table[at] = i + 1;
    }
    hs->room = room;
    hs->table = table;
    hs->table_room = room * 2;
    return SEINE_OK;
}

/* Where the name stands in the table, or the empty place where it would. */
static uint32_t
place_of(const sn_hosts *hs, sn_str name, uint32_t hash)
{
    uint32_t mask = hs->table_room - 1, at = hash & mask;

    for (; hs->table[at]; at = (at + 1) & mask) {
        const sn_host *h = &hs->all[hs->table[at] - 1];
        if (h->hash == hash && sn_str_eq(sn_str_of(h->name), name))
            break;
    }
    return at;
}

seine_err
sn_hosts_find(sn_hosts *hs, const seine_url *url, seine_time now, uint32_t *out_host)
{
    char text[SN_HOST_NAME];
    size_t len = seine_url_authority(url, text, sizeof text);

    if (len == 0 || len >= sizeof text)
        return SEINE_E_INVAL;
    sn_str name = {text, len};
    uint32_t hash = (uint32_t)sn_siphash(hs->secret, text, len);
    uint32_t at = place_of(hs, name, hash);
    if (hs->table[at]) {
        *out_host = hs->table[at] - 1;
        return SEINE_OK;
    }
    if (hs->n == hs->room) {
        seine_err e = grow(hs);
        if (e != SEINE_OK)
            return e;
        at = place_of(hs, name, hash);
    }
    char *copy = sn_arena_text(&hs->names, name);
    if (!copy)
        return SEINE_E_NOMEM;
    hs->all[hs->n] = (sn_host){.next = now,
                               .name = copy,
                               .hash = hash,
                               .guards = SN_NONE,
                               .figures = SN_NONE,
                               .parked_next = SN_NONE,
                               .pin = SN_ZONE_NO_PIN};
    hs->table[at] = ++hs->n;
    *out_host = hs->n - 1;
    return SEINE_OK;
}

static seine_err
guards_more(sn_hosts *hs)
{
    uint32_t blocks = hs->n_guards / BLOCK;
    sn_guards **list = sn_realloc(hs->guards, (blocks + 1) * sizeof *list);

    if (!list)
        return SEINE_E_NOMEM;
    hs->guards = list;
    list[blocks] = sn_calloc(BLOCK, sizeof **list);
    if (!list[blocks])
        return SEINE_E_NOMEM;
    for (uint32_t i = BLOCK; i-- > 0;) {
        list[blocks][i].link = hs->free_guards;
        hs->free_guards = hs->n_guards + i;
    }
    hs->n_guards += BLOCK;
    return SEINE_OK;
}

bool
sn_hosts_is_mine(const sn_hosts *hs, const sn_host *h)
{
    const seine_fetch_opts *o = &hs->commons->opts;

    return o->mine && (!o->crawl || h->is_given);
}

static seine_span
rate_of(const sn_hosts *hs)
{
    const seine_rate *rate = &hs->commons->opts.host_rate;

    return rate->count > 0 ? seine_every(rate->count, rate->per) : 0;
}

seine_span
sn_hosts_every(const sn_hosts *hs, const sn_host *h)
{
    if (sn_hosts_is_mine(hs, h))
        return 0;
    return sn_time_max(rate_of(hs), SEINE_MS((seine_span)h->delay_ms));
}

static uint32_t
floor_us(const sn_hosts *hs, const sn_host *h)
{
    return (uint32_t)sn_time_min((sn_hosts_every(hs, h) + 999) / 1000, UINT32_MAX);
}

/* The interval a host that nobody knows begins with. */
static uint32_t
first_us(const sn_hosts *hs, const sn_host *h)
{
    uint32_t least = hs->commons->opts.crawl ? CRAWL_FIRST_US : 0;

    return floor_us(hs, h) > least ? floor_us(hs, h) : least;
}

/* A stated delay is a wall without a burst. */
static bool
is_delayed(const sn_hosts *hs, const sn_host *h)
{
    return h->delay_ms > 0 && !sn_hosts_is_mine(hs, h);
}

static seine_err
set_limiter(const sn_hosts *hs, const sn_host *h, sn_guards *g, seine_time now)
{
    const seine_fetch_opts *o = &hs->commons->opts;
    seine_span every = sn_hosts_every(hs, h);

    if (every == 0 || is_delayed(hs, h))
        return seine_limiter_init(&g->limiter, every, 1);
    seine_rate rate = sn_commons_rate(o->host_rate);
    return seine_limiter_init_rate(&g->limiter, &rate, o->host_rate.burst, now);
}

static seine_err
set_throttle(const sn_hosts *hs, const sn_host *h, sn_guards *g)
{
    const seine_fetch_opts *o = &hs->commons->opts;
    uint32_t most = o->per_host;

    if (most == 0 || sn_hosts_is_mine(hs, h))
        return SEINE_OK;
    if (is_delayed(hs, h))
        most = 1;
    g->set.throttle = &g->throttle;
    if (o->adaptive)
        return seine_throttle_init_adaptive(
            &g->throttle,
            &(seine_adapt_opts){most < 2 ? most : 2, 1, most, false, SEINE_NEVER});
    return seine_throttle_init_semaphore(&g->throttle, most);
}

/* The brakes of a host, by the options; none is missing, some never hold. */
static seine_err
guards_set(const sn_hosts *hs, const sn_host *h, sn_guards *g, seine_time now)
{
    sn_commons *c = hs->commons;
    const seine_fetch_opts *o = &c->opts;
    seine_err e = set_limiter(hs, h, g, now);

    if (e != SEINE_OK)
        return e;
    bool has_breaker = o->breaker.failure_threshold > 0 || o->breaker.failure_pct > 0;
    if (has_breaker && (e = seine_breaker_init(&g->breaker, &o->breaker)) != SEINE_OK)
        return e;
    g->set = (seine_guards){.breaker = has_breaker ? &g->breaker : NULL,
                            .limiter = &g->limiter,
                            .global_limiter = c->rate,
                            .global_throttle = &c->in_flight};
    if ((e = set_throttle(hs, h, g)) != SEINE_OK)
        return e;
    if (o->retry_budget.ratio_milli != UINT32_MAX &&
        (e = seine_retry_budget_new(&o->retry_budget, &g->retry_budget)) != SEINE_OK)
        return e;
    if (o->adaptive && !sn_hosts_is_mine(hs, h))
        sn_pace_init(&g->pace, floor_us(hs, h), first_us(hs, h), now);
    else
        sn_pace_init_off(&g->pace, 0, now);
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
    bool mine = sn_hosts_is_mine(hs, h), delayed = is_delayed(hs, h);
    seine_rate rate = sn_commons_rate(hs->commons->opts.host_rate);
    seine_limiter_set_rate(&g->limiter, now, sn_hosts_every(hs, h),
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
        sn_pace_set_floor(&g->pace, floor_us(hs, h));
    if (g->set.throttle)
        (void)!seine_throttle_set(&g->throttle, delayed ? 1 : hs->commons->opts.per_host);
    if (delayed) /* a whole interval from the last one, and no token is left over */
        h->next = sn_time_max(h->next, sn_time_add(g->pace.last, sn_hosts_every(hs, h)));
}

seine_err
sn_hosts_guard(sn_hosts *hs, uint32_t host, seine_time now, sn_guards **out_guards)
{
    sn_host *h = &hs->all[host];

    if (h->guards != SN_NONE) {
        *out_guards = guards_at(hs, h->guards);
        return SEINE_OK;
    }
    seine_err e = hs->free_guards == SN_NONE ? guards_more(hs) : SEINE_OK;
    if (e != SEINE_OK)
        return e;
    uint32_t i = hs->free_guards;
    sn_guards *g = guards_at(hs, i);
    uint32_t next = g->link;
    e = guards_set(hs, h, g, now);
    if (e != SEINE_OK) {
        guards_drop(g);
        g->link = next;
        return e;
    }
    hs->free_guards = next;
    hs->guards_used++;
    h->guards = i;
    *out_guards = g;
    return SEINE_OK;
}

sn_guards *
sn_hosts_guards(const sn_hosts *hs, uint32_t host)
{
    return guards_at(hs, hs->all[host].guards);
}

/* Would a new host behave the same, from `next` on? Or more carefully. */
static bool
is_plain(const sn_hosts *hs, const sn_host *h, const sn_guards *g)
{
    seine_breaker_stats b = {.state = SEINE_BREAKER_CLOSED};

    if (g->set.breaker)
        seine_breaker_stats_get(&g->breaker, &b);
    return b.state == SEINE_BREAKER_CLOSED && b.failures == 0 && g->pace.knee_us == 0 &&
           (g->pace.ivl_us == 0 || g->pace.ivl_us <= first_us(hs, h));
}

void
sn_hosts_fold(sn_hosts *hs, uint32_t host, seine_time now)
{
    sn_host *h = &hs->all[host];

    if (h->guards == SN_NONE || hs->guards_used <= MANY_GUARDS || h->in_flight > 0 ||
        h->n_waiting > 0 || h->n_again > 0 || h->place != SN_IDLE)
        return;
    sn_guards *g = guards_at(hs, h->guards);
    if (!is_plain(hs, h, g) || g->pace.quota_until > now)
        return;
    h->next = sn_time_max(h->next, sn_time_max(g->limiter.full, g->limiter.shut));
    h->next = sn_time_max(h->next, g->pace.pause);
    uint32_t i = h->guards;
    guards_drop(g);
    g->link = hs->free_guards;
    hs->free_guards = i;
    hs->guards_used--;
    h->guards = SN_NONE;
}

sn_figures *
sn_hosts_figures(sn_hosts *hs, uint32_t host)
{
    sn_host *h = &hs->all[host];

    if (h->figures == SN_NONE) {
        if (hs->n_figures == MAX_FIGURES)
            return NULL;
        if (hs->n_figures % FIGURE_BLOCK == 0) {
            uint32_t blocks = hs->n_figures / FIGURE_BLOCK;
            sn_figures **list = sn_realloc(hs->figures, (blocks + 1) * sizeof *list);
            if (!list)
                return NULL; /* figures are a comfort, not a promise */
            hs->figures = list;
            list[blocks] = sn_calloc(FIGURE_BLOCK, sizeof **list);
            if (!list[blocks])
                return NULL;
        }
        h->figures = hs->n_figures++;
        sn_figures *f =
            &hs->figures[h->figures / FIGURE_BLOCK][h->figures % FIGURE_BLOCK];
        f->last = f->min_gap = SEINE_NEVER;
    }
    return &hs->figures[h->figures / FIGURE_BLOCK][h->figures % FIGURE_BLOCK];
}

/* Starts in the last second, this one included. */
static uint32_t
in_last_second(sn_figures *f, seine_time now)
{
    seine_time slice = now / SEINE_MS(50);

    for (seine_time s = sn_time_max(f->slice + 1, slice - 19); s <= slice; s++) {
        f->in_slices -= f->slices[s % 20];
        f->slices[s % 20] = 0;
    }
    if (slice - f->slice >= 20)
        f->in_slices = 0;
    f->slice = slice;
    f->slices[slice % 20]++;
    f->in_slices++;
    uint32_t n = 0;
    uint64_t kept = f->sent < SN_FIGURE_STARTS ? f->sent : SN_FIGURE_STARTS;
    while (n < kept &&
           now - f->starts[(f->sent - 1 - n) % SN_FIGURE_STARTS] < SEINE_SECS(1))
        n++;
    return n < SN_FIGURE_STARTS ? n + 1 : (f->in_slices > n ? f->in_slices : n);
}

void
sn_figures_start(sn_figures *f)
{
    f->requests++;
}

void
sn_figures_sent(sn_figures *f, seine_time now)
{
    if (f->last != SEINE_NEVER && now - f->last < f->min_gap)
        f->min_gap = now - f->last;
    uint32_t n = in_last_second(f, now);
    if (n > f->max_in_1s)
        f->max_in_1s = n;
    f->starts[f->sent % SN_FIGURE_STARTS] = now;
    f->sent++;
    f->last = now;
}

static unsigned
bin_of(seine_span took)
{
    uint64_t us = took > 0 ? (uint64_t)took / 1000 : 0;

    if (us < 4)
        return (unsigned)us;
    unsigned octave = 63 - (unsigned)__builtin_clzll(us);
    unsigned bin = (octave - 1) * 4 + (unsigned)(us >> (octave - 2) & 3);
    return bin < SN_FIGURE_BINS ? bin : SN_FIGURE_BINS - 1;
}

/* The upper edge, in us. */
static seine_span
edge_of(unsigned bin)
{
    if (bin < 4)
        return SEINE_US(bin + 1);
    unsigned octave = bin / 4 + 1;
    return SEINE_US((int64_t)(bin % 4 + 5) << (octave - 2));
}

void
sn_figures_end(sn_figures *f, bool ok, seine_span took)
{
    if (ok)
        f->ok++;
    else
        f->failed++;
    f->bins[bin_of(took)]++;
}

seine_span
sn_figures_quantile(const sn_figures *f, unsigned percent)
{
    uint64_t all = 0, seen = 0;

    for (unsigned i = 0; i < SN_FIGURE_BINS; i++)
        all += f->bins[i];
    for (unsigned i = 0; i < SN_FIGURE_BINS; i++) {
        seen += f->bins[i];
        if (seen > 0 && seen * 100 >= all * percent)
            return edge_of(i);
    }
    return 0;
}

/* The last of those that ask for robots.txt, which stand first in their ring; the ring's
 * last one when there are none. */
static sn_visit *
before_first(sn_visit *last)
{
    sn_visit *at = last;

    while (at->next->kind == SN_KIND_ROBOTS) {
        at = at->next;
        if (at == last)
            break;
    }
    return at;
}

void
sn_host_push(sn_host *h, sn_visit *v, unsigned lane, bool first)
{
    bool robots = v->kind == SN_KIND_ROBOTS;
    sn_visit **ring = &h->last[robots ? SN_HIGH : lane], *last = *ring;

    h->n_waiting++;
    if (!last) {
        v->next = v;
        *ring = v;
        return;
    }
    bool ahead = robots || first;
    bool all_ask = last->kind == SN_KIND_ROBOTS; /* the last one: so all do */
    sn_visit *at = ahead ? before_first(last) : last;
    v->next = at->next;
    at->next = v;
    if (!ahead || (all_ask && at == last))
        *ring = v;
}

sn_visit *
sn_host_pop(sn_host *h)
{
    unsigned lane = 0;

    while (lane < SN_LANES && !h->last[lane])
        lane++;
    if (lane == SN_LANES)
        return NULL;
    sn_visit *last = h->last[lane];
    sn_visit *v = last->next;
    if (v == last)
        h->last[lane] = NULL;
    else
        last->next = v->next;
    v->next = NULL;
    h->n_waiting--;
    return v;
}

unsigned
sn_host_lane(const sn_host *h)
{
    if (h->last[SN_HIGH])
        return SN_HIGH;
    return h->last[SN_NORMAL] || h->n_source > 0 ? SN_NORMAL : SN_LOW;
}

bool
sn_host_has_visit(const sn_host *h)
{
    if (!h->shut)
        return h->n_waiting > 0;
    return h->last[SN_HIGH] && h->last[SN_HIGH]->next->kind == SN_KIND_ROBOTS;
}
