/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn_pool.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

void
sn_conn_pool_init(sn_conn_pool *s, uint32_t max, uint32_t max_origin)
{
    *s = (sn_conn_pool){.max = max, .max_origin = max_origin};
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
    sn_map_take(&s->origins, key_of(o));
    sn_free(o);
}

/* Removes an origin from the list of unused ones. */
static void
unkeep(sn_conn_pool *s, sn_origin *o)
{
    *(o->newer ? &o->newer->older : &s->kept_newest) = o->older;
    *(o->older ? &o->older->newer : &s->kept_oldest) = o->newer;
    o->newer = o->older = NULL;
    s->n_kept--;
}

static void
keep_origin(sn_conn_pool *s, sn_origin *o)
{
    o->newer = NULL;
    o->older = s->kept_newest;
    *(o->older ? &o->older->newer : &s->kept_oldest) = o;
    s->kept_newest = o;
    if (++s->n_kept <= SN_ORIGINS_KEPT)
        return;
    sn_origin *oldest = s->kept_oldest;
    unkeep(s, oldest);
    forget(s, oldest);
}

void
sn_conn_pool_fini(sn_conn_pool *s)
{
    assert(s->n == 0);
    while (s->kept_oldest) {
        sn_origin *o = s->kept_oldest;

        unkeep(s, o);
        forget(s, o);
    }
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
    sn_origin *o = sn_map_get(&s->origins, key);

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
        unkeep(s, o);
    }
    o->uses++;
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
    if (o->family)
        keep_origin(s, o);
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
