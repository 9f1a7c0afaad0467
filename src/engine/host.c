/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/time.h"

#define FIRST_ROOM 64
#define MAX_STATS  4096 /* hosts of which statistics are kept */

_Static_assert(sizeof(sn_host) == 64, "a cache line");
_Static_assert(sizeof(sn_host_card) == 32, "as host.h says");

seine_err
sn_hosts_init(sn_hosts *hs, sn_shared_state *shared, sn_timer_wheel *wheel,
              seine_time now)
{
    *hs = (sn_hosts){.shared = shared,
                     .wheel = wheel,
                     .free_guards = SN_NONE,
                     .rate = shared->rate,
                     .said = shared->policies,
                     .host_rate = shared->opts.host_rate,
                     .per_host = shared->opts.per_host};
    sn_arena_init(&hs->names, 16384, SIZE_MAX);
    sn_rng_secret(hs->secret, sizeof hs->secret);
    hs->room = FIRST_ROOM;
    hs->all = sn_pages(FIRST_ROOM * sizeof *hs->all);
    hs->cards = sn_calloc(FIRST_ROOM, sizeof *hs->cards);
    hs->table = sn_calloc(FIRST_ROOM * 2, sizeof *hs->table);
    if (!hs->all || !hs->cards || !hs->table) {
        sn_hosts_fini(hs);
        return SEINE_E_NOMEM;
    }
    hs->table_room = FIRST_ROOM * 2;
    seine_err e = sn_timer_wheel_init(
        wheel, &SN_TIMER_WHEEL_ITEMS(hs->all, link, next, FIRST_ROOM), now);
    if (e != SEINE_OK)
        sn_hosts_fini(hs);
    return e;
}

void
sn_hosts_fini(sn_hosts *hs)
{
    sn_hosts_drop_guards(hs);
    for (uint32_t i = 0; i < hs->n_stats; i += SN_HOST_STATS_BLOCK)
        sn_free(hs->stats[i / SN_HOST_STATS_BLOCK]);
    sn_free(hs->stats);
    if (hs->all)
        sn_pages_free(hs->all, hs->room * sizeof *hs->all);
    sn_free(hs->cards);
    sn_free(hs->table);
    sn_free(hs->tunes);
    sn_free(hs->policies);
    sn_arena_fini(&hs->names);
    *hs = (sn_hosts){0};
}

static void
fill_table(const sn_hosts *hs, uint32_t *table, uint32_t mask)
{
    for (uint32_t i = 0; i < hs->n; i++) {
        uint32_t at = hs->cards[i].hash & mask;
        while (table[at])
            at = (at + 1) & mask;
        table[at] = i + 1;
    }
}

/* Twice the hosts, and twice as many places in the table as there are hosts. */
static seine_err
grow_table(sn_hosts *hs)
{
    uint32_t room = hs->room * 2;
    sn_host_card *cards = sn_realloc(hs->cards, room * sizeof *cards);

    if (!cards)
        return SEINE_E_NOMEM;
    hs->cards = cards;
    uint32_t *table = sn_calloc((size_t)room * 2, sizeof *table);
    sn_host *all = table ? sn_pages(room * sizeof *all) : NULL;
    if (!all) {
        sn_free(table);
        return SEINE_E_NOMEM;
    }
    memcpy(all, hs->all, hs->n * sizeof *all);
    seine_err e = sn_timer_wheel_grow(hs->wheel, all, room);
    sn_host *old = hs->all; /* the wheel knows the new array in either case */
    hs->all = all;
    sn_pages_free(old, hs->room * sizeof *old);
    hs->room = room;
    if (e != SEINE_OK) {
        sn_free(table);
        return e;
    }
    sn_free(hs->table);
    fill_table(hs, table, room * 2 - 1);
    hs->table = table;
    hs->table_room = room * 2;
    return SEINE_OK;
}

/* Returns the place of the name in the table, or the empty place for it. */
static uint32_t
place_of(const sn_hosts *hs, sn_str name, uint32_t hash)
{
    uint32_t mask = hs->table_room - 1, at = hash & mask;

    for (; hs->table[at]; at = (at + 1) & mask) {
        const sn_host_card *card = &hs->cards[hs->table[at] - 1];
        if (card->hash == hash && sn_str_eq(sn_str_of(card->name), name))
            break;
    }
    return at;
}

bool
sn_hosts_known(const sn_hosts *hs, sn_str name, uint32_t *out_host)
{
    uint32_t hash = (uint32_t)sn_siphash(hs->secret, name.ptr, name.len);
    uint32_t at = place_of(hs, name, hash);

    if (!hs->table[at])
        return false;
    *out_host = hs->table[at] - 1;
    return true;
}

/* Finds the host, or adds it. */
static seine_err
find_host(sn_hosts *hs, const seine_url *url, seine_time now, uint32_t *out_host)
{
    char text[SN_HOST_NAME];
    size_t len = seine_url_authority(url, text, sizeof text);

    if (len == 0)
        return SEINE_E_INVAL;
    if (len >= sizeof text) /* the longest name of DNS has 253 bytes */
        return SEINE_E_DNS_BAD_NAME;
    sn_str name = {text, len};
    uint32_t hash = (uint32_t)sn_siphash(hs->secret, text, len);
    uint32_t at = place_of(hs, name, hash);
    if (hs->table[at]) {
        *out_host = hs->table[at] - 1;
        return SEINE_OK;
    }
    if (hs->n == hs->room) {
        seine_err e = grow_table(hs);
        if (e != SEINE_OK)
            return e;
        at = place_of(hs, name, hash);
    }
    char *copy = sn_arena_text(&hs->names, name);
    if (!copy)
        return SEINE_E_NOMEM;
    hs->all[hs->n] = (sn_host){.next = sn_time_max(now, hs->shared->earliest),
                               .guards = SN_NONE,
                               .stats = SN_NONE,
                               .pin = SN_ADDRESS_NO_PIN};
    hs->cards[hs->n] = (sn_host_card){.name = copy, .hash = hash, .parked_next = SN_NONE};
    if (hs->said) {
        seine_err e = sn_hosts_look_up(hs, hs->n);

        if (e != SEINE_OK)
            return e;
    }
    hs->table[at] = ++hs->n;
    *out_host = hs->n - 1;
    hs->all[hs->n - 1].is_tuned = hs->n_tunes > 0 && sn_hosts_tuned(hs, hs->n - 1);
    sn_hosts_pair(hs, hs->n - 1);
    return SEINE_OK;
}

/* URLs of one host mostly come in a row: scheme, user, name and port, as they stand in
 * the URL, say which host it is. */
seine_err
sn_hosts_find(sn_hosts *hs, const seine_url *url, seine_time now, uint32_t *out_host)
{
    uint32_t len = url->path_at, host;

    if (len > 0 && len == hs->front_len && memcmp(url->href, hs->front, len) == 0) {
        *out_host = hs->front_host;
        return SEINE_OK;
    }
    seine_err e = find_host(hs, url, now, &host);
    if (e != SEINE_OK)
        return e;
    *out_host = host;
    if (len <= sizeof hs->front) {
        memcpy(hs->front, url->href, len);
        hs->front_len = len;
        hs->front_host = host;
    }
    return SEINE_OK;
}

void
sn_hosts_set_given(sn_hosts *hs, uint32_t host, seine_time now)
{
    sn_host *h = &hs->all[host];

    if (h->is_given)
        return;
    h->is_given = true;
    if (!sn_hosts_is_mine(hs, h))
        return;
    /* No distance has to be kept to it. The wheel would not notice a time that is
     * lowered: who waits there already waits on. */
    if (h->next == hs->shared->earliest && h->place != SN_HOST_ON_WHEEL)
        h->next = now;
    sn_hosts_retune(hs, host, now);
}

sn_host_stats *
sn_hosts_make_stats(sn_hosts *hs, uint32_t host)
{
    if (hs->n_stats == MAX_STATS)
        return NULL;
    if (hs->n_stats % SN_HOST_STATS_BLOCK == 0) {
        uint32_t blocks = hs->n_stats / SN_HOST_STATS_BLOCK;
        sn_host_stats **list = sn_realloc(hs->stats, (blocks + 1) * sizeof *list);
        if (!list)
            return NULL; /* statistics are a comfort, not a promise */
        hs->stats = list;
        list[blocks] = sn_calloc(SN_HOST_STATS_BLOCK, sizeof **list);
        if (!list[blocks])
            return NULL;
    }
    uint32_t i = hs->n_stats++;
    sn_host_stats *f = &hs->stats[i / SN_HOST_STATS_BLOCK][i % SN_HOST_STATS_BLOCK];
    sn_host_stats_init(f);
    hs->all[host].stats = i;
    return f;
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

void
sn_host_push_unpaid(sn_host *h, sn_guards *g, sn_visit *v)
{
    h->n_unpaid++;
    v->next = g->unpaid ? g->unpaid->next : v;
    if (g->unpaid)
        g->unpaid->next = v;
    g->unpaid = v;
}

sn_visit *
sn_host_pop_unpaid(sn_host *h, sn_guards *g)
{
    if (h->n_unpaid == 0)
        return NULL;
    sn_visit *v = g->unpaid->next;
    if (v == g->unpaid)
        g->unpaid = NULL;
    else
        g->unpaid->next = v->next;
    v->next = NULL;
    v->is_unpaid = false;
    h->n_unpaid--;
    return v;
}

unsigned
sn_host_lane(const sn_host *h)
{
    if (h->last[SN_HIGH])
        return SN_HIGH;
    return h->last[SN_NORMAL] || h->n_offered > 0 ? SN_NORMAL : SN_LOW;
}

bool
sn_host_has_visit(const sn_host *h)
{
    return h->n_waiting > 0;
}
