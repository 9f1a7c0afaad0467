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
                               .lane = SN_NORMAL,
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

/* The brakes of a host, by the options; none is missing, some never hold. */
static seine_err
guards_set(sn_guards *g, sn_commons *c, seine_time now)
{
    const seine_fetch_opts *o = &c->opts;
    seine_span every = 0;
    seine_err e;

    if (!o->mine && o->host_rate.count > 0) {
        every = seine_every(o->host_rate.count, o->host_rate.per);
        seine_rate rate = sn_commons_rate(o->host_rate);
        e = seine_limiter_init_rate(&g->limiter, &rate, o->host_rate.burst, now);
    } else {
        e = seine_limiter_init(&g->limiter, 0, 1);
    }
    if (e != SEINE_OK)
        return e;
    bool has_breaker = o->breaker.failure_threshold > 0 || o->breaker.failure_pct > 0;
    if (has_breaker && (e = seine_breaker_init(&g->breaker, &o->breaker)) != SEINE_OK)
        return e;
    uint32_t per_host = o->mine ? 0 : o->per_host;
    if (per_host > 0 && o->adaptive)
        e = seine_throttle_init_adaptive(
            &g->throttle, &(seine_adapt_opts){per_host < 2 ? per_host : 2, 1, per_host,
                                              false, SEINE_NEVER});
    else if (per_host > 0)
        e = seine_throttle_init_semaphore(&g->throttle, per_host);
    if (e != SEINE_OK)
        return e;
    if (o->retry_budget.ratio_milli != UINT32_MAX &&
        (e = seine_retry_budget_new(&o->retry_budget, &g->retry_budget)) != SEINE_OK)
        return e;
    uint32_t floor_us = (uint32_t)sn_time_min((every + 999) / 1000, UINT32_MAX);
    if (o->adaptive && !o->mine)
        sn_pace_init(&g->pace, floor_us, floor_us, now);
    else
        sn_pace_init_off(&g->pace, 0, now);
    g->held_since = SEINE_NEVER;
    g->set = (seine_guards){.breaker = has_breaker ? &g->breaker : NULL,
                            .limiter = &g->limiter,
                            .throttle = per_host > 0 ? &g->throttle : NULL,
                            .global_limiter = c->rate,
                            .global_throttle = &c->in_flight};
    return SEINE_OK;
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
    e = guards_set(g, hs->commons, now);
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

/* Would a new host behave the same, from `next` on? */
static bool
is_plain(const sn_guards *g)
{
    seine_breaker_stats b = {.state = SEINE_BREAKER_CLOSED};

    if (g->set.breaker)
        seine_breaker_stats_get(&g->breaker, &b);
    return b.state == SEINE_BREAKER_CLOSED && b.failures == 0 && g->pace.knee_us == 0 &&
           g->pace.ivl_us <= g->pace.floor_us;
}

void
sn_hosts_fold(sn_hosts *hs, uint32_t host, seine_time now)
{
    sn_host *h = &hs->all[host];

    if (h->guards == SN_NONE || hs->guards_used <= MANY_GUARDS || h->in_flight > 0 ||
        h->n_waiting > 0 || h->n_again > 0 || h->place != SN_IDLE)
        return;
    sn_guards *g = guards_at(hs, h->guards);
    if (!is_plain(g) || g->pace.quota_until > now)
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
    uint64_t kept = f->requests < SN_FIGURE_STARTS ? f->requests : SN_FIGURE_STARTS;
    while (n < kept &&
           now - f->starts[(f->requests - 1 - n) % SN_FIGURE_STARTS] < SEINE_SECS(1))
        n++;
    return n < SN_FIGURE_STARTS ? n + 1 : (f->in_slices > n ? f->in_slices : n);
}

void
sn_figures_start(sn_figures *f, seine_time now)
{
    if (f->last != SEINE_NEVER && now - f->last < f->min_gap)
        f->min_gap = now - f->last;
    uint32_t n = in_last_second(f, now);
    if (n > f->max_in_1s)
        f->max_in_1s = n;
    f->starts[f->requests % SN_FIGURE_STARTS] = now;
    f->requests++;
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

void
sn_host_push(sn_host *h, sn_visit *v, unsigned lane, bool first)
{
    sn_visit *last = h->last[lane];

    if (last) {
        v->next = last->next;
        last->next = v;
    } else {
        v->next = v;
    }
    if (!last || !first)
        h->last[lane] = v;
    h->n_waiting++;
}

sn_visit *
sn_host_pop(sn_host *h)
{
    unsigned lane = sn_host_lane(h);
    sn_visit *last = h->last[lane];

    if (!last)
        return NULL;
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
    return h->last[SN_HIGH] ? SN_HIGH : h->last[SN_NORMAL] ? SN_NORMAL : SN_LOW;
}
