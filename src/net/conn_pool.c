/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn_pool.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "seine/secret.h"

void
sn_conn_pool_init(sn_conn_pool *s, uint32_t max, uint32_t max_origin)
{
    *s = (sn_conn_pool){.max = max,
                        .max_origin = max_origin,
                        .kept.max = SN_ORIGINS_KEPT,
                        .bad.max = SN_ORIGINS_BAD};
    sn_map_init(&s->origins, UINT32_MAX);
}

static sn_str
key_of(const sn_origin *o)
{
    return (sn_str){o->key, o->key_len};
}

static void
forget(sn_conn_pool *s, sn_origin *o)
{
    if (s->last == o)
        s->last = NULL;
    sn_map_take(&s->origins, key_of(o));
    seine_wipe(o->key, o->key_len); /* with the login of a proxy */
    sn_free(o);
}

/* The list in which an unused origin stays; NULL: it is forgotten. */
static sn_origin_list *
list_of(sn_conn_pool *s, const sn_origin *o)
{
    return o->no_reuse ? &s->bad : o->family ? &s->kept : NULL;
}

static void
unkeep(sn_origin_list *l, sn_origin *o)
{
    *(o->newer ? &o->newer->older : &l->newest) = o->older;
    *(o->older ? &o->older->newer : &l->oldest) = o->newer;
    o->newer = o->older = NULL;
    l->n--;
}

static void
keep_origin(sn_conn_pool *s, sn_origin_list *l, sn_origin *o)
{
    o->newer = NULL;
    o->older = l->newest;
    *(o->older ? &o->older->newer : &l->oldest) = o;
    l->newest = o;
    if (++l->n <= l->max)
        return;
    sn_origin *oldest = l->oldest;
    unkeep(l, oldest);
    forget(s, oldest);
}

static void
forget_all(sn_conn_pool *s, sn_origin_list *l)
{
    for (sn_origin *o; (o = l->oldest);) {
        unkeep(l, o);
        forget(s, o);
    }
}

void
sn_conn_pool_fini(sn_conn_pool *s)
{
    assert(s->n == 0);
    forget_all(s, &s->kept);
    forget_all(s, &s->bad);
    assert(s->origins.count == 0);
    sn_map_fini(&s->origins);
}

void
sn_origin_use(sn_origin *o)
{
    o->uses++;
}

seine_err
sn_conn_pool_origin(sn_conn_pool *s, sn_str key, sn_origin **out_origin)
{
    sn_origin *o = s->last && sn_str_eq(key_of(s->last), key)
                       ? s->last
                       : sn_map_get(&s->origins, key);

    if (!o) {
        o = sn_zalloc(sizeof *o + key.len);
        if (!o)
            return SEINE_E_NOMEM;
        o->key_len = key.len;
        memcpy(o->key, key.ptr, key.len);
        seine_err e = sn_map_add(&s->origins, key_of(o), o);
        if (e != SEINE_OK) {
            sn_free(o);
            return e;
        }
    } else if (o->uses == 0) {
        unkeep(list_of(s, o), o);
    }
    o->uses++;
    s->last = o;
    *out_origin = o;
    return SEINE_OK;
}

void
sn_conn_pool_leave(sn_conn_pool *s, sn_origin *o)
{
    assert(o->uses > 0);
    if (--o->uses > 0)
        return;
    assert(o->n_idle == 0);
    sn_origin_list *l = list_of(s, o);
    if (l)
        keep_origin(s, l, o);
    else
        forget(s, o);
}

void
sn_conn_pool_drop(sn_conn_pool *s, sn_pooled_conn *i)
{
    sn_origin *o = i->origin;

    *(i->above ? &i->above->below : &o->newest) = i->below;
    *(i->below ? &i->below->above : &o->oldest) = i->above;
    *(i->newer ? &i->newer->older : &s->newest) = i->older;
    *(i->older ? &i->older->newer : &s->oldest) = i->newer;
    *i = (sn_pooled_conn){0};
    o->n_idle--;
    s->n--;
}

sn_pooled_conn *
sn_conn_pool_put(sn_conn_pool *s, sn_origin *o, sn_pooled_conn *i)
{
    *i = (sn_pooled_conn){.below = o->newest, .older = s->newest, .origin = o};
    *(i->below ? &i->below->above : &o->oldest) = i;
    *(i->older ? &i->older->newer : &s->oldest) = i;
    o->newest = s->newest = i;
    o->n_idle++;
    s->n++;

    sn_pooled_conn *gone = o->n_idle > s->max_origin ? o->oldest
                           : s->n > s->max           ? s->oldest
                                                     : NULL;
    if (gone)
        sn_conn_pool_drop(s, gone);
    return gone;
}

void
sn_origin_won(sn_origin *o, uint8_t family, seine_time now)
{
    o->family = family;
    o->family_until = sn_time_add(now, SN_ORIGIN_MEMORY);
}

uint8_t
sn_origin_family(const sn_origin *o, seine_time now)
{
    return now < o->family_until ? o->family : 0;
}
