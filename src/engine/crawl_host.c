/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/crawl_host.h"

#include <string.h>

#include "base/alloc.h"
#include "base/timer_wheel.h"

_Static_assert(sizeof(sn_crawl_host) == 24, "as crawl_host.h says");

#define FIRST_ROOM 64
#define BLOCK      64
#define MANY       16384 /* states; above, idle hosts lose theirs */
#define LOOKS      64    /* states looked at in one search for an idle host */

void
sn_crawl_hosts_init(sn_crawl_hosts *s)
{
    *s = (sn_crawl_hosts){.free_state = SN_NONE};
    sn_map_init(&s->domains, UINT32_MAX);
    sn_arena_init(&s->names, 4096, SIZE_MAX);
}

static sn_crawl_state *
state_at(const sn_crawl_hosts *s, uint32_t i)
{
    return &s->states[i / BLOCK][i % BLOCK];
}

void
sn_crawl_hosts_drop_robots(sn_crawl_hosts *s, sn_crawl_state *x)
{
    s->robots_bytes -= sn_robots_cache_bytes(&x->robots);
    sn_robots_cache_fini(&x->robots);
}

static void
drop_state(sn_crawl_hosts *s, sn_crawl_state *x)
{
    sn_crawl_hosts_drop_robots(s, x);
    sn_pattern_table_fini(&x->patterns);
    sn_bloom_fini(&x->directories);
    sn_segment_counts_fini(&x->segments);
    *x = (sn_crawl_state){.host = SN_NONE};
}

void
sn_crawl_hosts_fini(sn_crawl_hosts *s)
{
    for (uint32_t i = 0; i < s->n_states; i++)
        drop_state(s, state_at(s, i));
    for (uint32_t i = 0; i < s->n_states; i += BLOCK)
        sn_free(s->states[i / BLOCK]);
    sn_free(s->states);
    sn_free(s->all);
    sn_map_fini(&s->domains);
    sn_arena_fini(&s->names);
    *s = (sn_crawl_hosts){.free_state = SN_NONE};
}

static seine_err
grow_hosts(sn_crawl_hosts *s, uint32_t host)
{
    uint64_t room = s->room > 0 ? s->room : FIRST_ROOM;

    while (room <= host)
        room *= 2;
    if (room > UINT32_MAX)
        return SEINE_E_NOMEM;
    sn_crawl_host *all = sn_realloc(s->all, room * sizeof *all);
    if (!all)
        return SEINE_E_NOMEM;
    s->all = all;
    s->room = (uint32_t)room;
    return SEINE_OK;
}

seine_err
sn_crawl_hosts_at(sn_crawl_hosts *s, uint32_t host, sn_crawl_host **out_ch)
{
    if (host >= s->room) {
        seine_err e = grow_hosts(s, host);
        if (e != SEINE_OK)
            return e;
    }
    while (s->n <= host)
        s->all[s->n++] = (sn_crawl_host){.chain = SN_URL_LIST, .state = SN_NONE};
    *out_ch = &s->all[host];
    return SEINE_OK;
}

sn_crawl_state *
sn_crawl_hosts_state(const sn_crawl_hosts *s, uint32_t host)
{
    if (host >= s->n || s->all[host].state == SN_NONE)
        return NULL;
    return state_at(s, s->all[host].state);
}

static seine_err
more_states(sn_crawl_hosts *s)
{
    uint32_t blocks = s->n_states / BLOCK;
    sn_crawl_state **list = sn_realloc(s->states, (blocks + 1) * sizeof *list);

    if (!list)
        return SEINE_E_NOMEM;
    s->states = list;
    list[blocks] = sn_calloc(BLOCK, sizeof **list);
    if (!list[blocks])
        return SEINE_E_NOMEM;
    for (uint32_t i = BLOCK; i-- > 0;) {
        list[blocks][i].host = SN_NONE;
        list[blocks][i].link = s->free_state;
        s->free_state = s->n_states + i;
    }
    s->n_states += BLOCK;
    return SEINE_OK;
}

seine_err
sn_crawl_hosts_make_state(sn_crawl_hosts *s, uint32_t host, sn_crawl_state **out_state)
{
    sn_crawl_host *ch;
    seine_err e = sn_crawl_hosts_at(s, host, &ch);

    if (e == SEINE_OK && ch->state == SN_NONE) {
        if (s->free_state == SN_NONE)
            e = more_states(s);
        if (e != SEINE_OK)
            return e;
        sn_crawl_state *x = state_at(s, s->free_state);
        ch->state = s->free_state;
        s->free_state = x->link;
        *x = (sn_crawl_state){.host = host, .first = SN_URL_LIST};
        s->used++;
        s->made++;
    }
    if (e == SEINE_OK)
        *out_state = state_at(s, ch->state);
    return e;
}

void
sn_crawl_hosts_evict(sn_crawl_hosts *s, bool (*is_idle)(uint32_t host, void *arg),
                     void *arg)
{
    uint32_t looks = LOOKS + s->made;

    s->made = 0;
    for (; looks > 0 && s->used > MANY; looks--) {
        uint32_t i = s->sweep++ % s->n_states;
        sn_crawl_state *x = state_at(s, i);

        if (x->host == SN_NONE || !is_idle(x->host, arg))
            continue;
        s->all[x->host].state = SN_NONE;
        drop_state(s, x);
        x->link = s->free_state;
        s->free_state = i;
        s->used--;
    }
}

void
sn_crawl_hosts_count_robots(sn_crawl_hosts *s, const sn_crawl_state *x, size_t before)
{
    s->robots_bytes += sn_robots_cache_bytes(&x->robots) - before;
}

uint32_t
sn_crawl_hosts_largest_robots(const sn_crawl_hosts *s, size_t than)
{
    uint32_t largest = SN_NONE;

    for (uint32_t i = 0; i < s->n_states; i++) {
        const sn_crawl_state *x = state_at(s, i);
        size_t bytes = x->robots.state == SN_ROBOTS_PARSED && x->host != SN_NONE
                           ? sn_robots_cache_bytes(&x->robots)
                           : 0;

        if (bytes > than) {
            largest = x->host;
            than = bytes;
        }
    }
    return largest;
}

bool
sn_crawl_hosts_shrink_robots(sn_crawl_hosts *s, size_t most,
                             bool (*is_quiet)(uint32_t host, void *arg), void *arg)
{
    for (uint32_t n = s->n_states; n > 0 && s->robots_bytes > most; n--) {
        sn_crawl_state *x = state_at(s, s->sweep++ % s->n_states);

        if (x->host != SN_NONE && x->robots.robots && is_quiet(x->host, arg))
            sn_crawl_hosts_drop_robots(s, x);
    }
    return s->robots_bytes <= most;
}

seine_err
sn_crawl_hosts_domain(sn_crawl_hosts *s, sn_str domain, uint32_t *out_hosts)
{
    uint32_t *n = sn_map_get(&s->domains, domain);

    if (!n) {
        char *copy = sn_arena_text(&s->names, domain);
        n = copy ? SN_ARENA_NEW(&s->names, uint32_t) : NULL;
        if (!n)
            return SEINE_E_NOMEM;
        seine_err e = sn_map_add(&s->domains, (sn_str){copy, domain.len}, n);
        if (e != SEINE_OK)
            return e;
    }
    *out_hosts = ++*n;
    return SEINE_OK;
}
