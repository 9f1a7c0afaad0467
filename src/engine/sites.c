/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sites.h"

#include <string.h>

#include "base/alloc.h"
#include "base/wheel.h"

#define FIRST_ROOM 64
#define BLOCK      64
#define MANY       16384 /* extras; above, idle hosts lose theirs */
#define LOOKS      64    /* extras looked at in one search for an idle host */

void
sn_sites_init(sn_sites *s)
{
    *s = (sn_sites){.free_extra = SN_NONE};
    sn_map_init(&s->domains, UINT32_MAX);
    sn_arena_init(&s->names, 4096, SIZE_MAX);
}

static sn_extra *
extra_at(const sn_sites *s, uint32_t i)
{
    return &s->extras[i / BLOCK][i % BLOCK];
}

static void
drop(sn_extra *x)
{
    sn_robots_cache_fini(&x->robots);
    sn_trap_tree_free(x->trap);
    *x = (sn_extra){.host = SN_NONE};
}

void
sn_sites_fini(sn_sites *s)
{
    for (uint32_t i = 0; i < s->n_extras; i++)
        drop(extra_at(s, i));
    for (uint32_t i = 0; i < s->n_extras; i += BLOCK)
        sn_free(s->extras[i / BLOCK]);
    sn_free(s->extras);
    sn_free(s->all);
    sn_map_fini(&s->domains);
    sn_arena_fini(&s->names);
    *s = (sn_sites){.free_extra = SN_NONE};
}

static seine_err
grow(sn_sites *s, uint32_t host)
{
    uint64_t room = s->room > 0 ? s->room : FIRST_ROOM;

    while (room <= host)
        room *= 2;
    if (room > UINT32_MAX)
        return SEINE_E_NOMEM;
    sn_site *all = sn_realloc(s->all, room * sizeof *all);
    if (!all)
        return SEINE_E_NOMEM;
    s->all = all;
    s->room = (uint32_t)room;
    return SEINE_OK;
}

seine_err
sn_sites_at(sn_sites *s, uint32_t host, sn_site **out_site)
{
    if (host >= s->room) {
        seine_err e = grow(s, host);
        if (e != SEINE_OK)
            return e;
    }
    while (s->n <= host)
        s->all[s->n++] = (sn_site){.chain = SN_CHAIN, .extra = SN_NONE};
    *out_site = &s->all[host];
    return SEINE_OK;
}

sn_extra *
sn_sites_has_extra(const sn_sites *s, uint32_t host)
{
    if (host >= s->n || s->all[host].extra == SN_NONE)
        return NULL;
    return extra_at(s, s->all[host].extra);
}

static seine_err
more_extras(sn_sites *s)
{
    uint32_t blocks = s->n_extras / BLOCK;
    sn_extra **list = sn_realloc(s->extras, (blocks + 1) * sizeof *list);

    if (!list)
        return SEINE_E_NOMEM;
    s->extras = list;
    list[blocks] = sn_calloc(BLOCK, sizeof **list);
    if (!list[blocks])
        return SEINE_E_NOMEM;
    for (uint32_t i = BLOCK; i-- > 0;) {
        list[blocks][i].host = SN_NONE;
        list[blocks][i].link = s->free_extra;
        s->free_extra = s->n_extras + i;
    }
    s->n_extras += BLOCK;
    return SEINE_OK;
}

seine_err
sn_sites_extra(sn_sites *s, uint32_t host, sn_extra **out_extra)
{
    sn_site *site;
    seine_err e = sn_sites_at(s, host, &site);

    if (e == SEINE_OK && site->extra == SN_NONE) {
        if (s->free_extra == SN_NONE)
            e = more_extras(s);
        if (e != SEINE_OK)
            return e;
        sn_extra *x = extra_at(s, s->free_extra);
        site->extra = s->free_extra;
        s->free_extra = x->link;
        *x = (sn_extra){.host = host, .first = SN_CHAIN};
        s->used++;
    }
    if (e == SEINE_OK)
        *out_extra = extra_at(s, site->extra);
    return e;
}

void
sn_sites_evict(sn_sites *s, bool (*is_idle)(uint32_t host, void *arg), void *arg)
{
    for (uint32_t looks = 0; looks < LOOKS && s->used > MANY; looks++) {
        uint32_t i = s->sweep++ % s->n_extras;
        sn_extra *x = extra_at(s, i);

        if (x->host == SN_NONE || !is_idle(x->host, arg))
            continue;
        s->all[x->host].extra = SN_NONE;
        drop(x);
        x->link = s->free_extra;
        s->free_extra = i;
        s->used--;
    }
}

seine_err
sn_sites_domain(sn_sites *s, sn_str domain, uint32_t *out_hosts)
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
