/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_pool.h - connections that wait for their next request, by origin and by age.
 *
 * An origin is scheme, host and port, found by one hash. Its idle connections are a
 * stack: the one that was used last is used next, so that those not needed grow old.
 * Over all of them runs a list by age: at the bound the one that is idle longest goes.
 * An origin is there while anybody uses it; one that knows which family of addresses
 * won its last race is remembered ten minutes longer, 4,096 of them at most.
 *
 *     e = sn_conn_pool_origin(&pool, key, &origin);           one more uses it
 *     gone = sn_conn_pool_put(&pool, origin, &conn->idle);    NULL, or one to close
 *     for (i = sn_conn_pool_newest(origin); i; i = sn_conn_pool_below(i))
 *         if (may_use(i))
 *             sn_conn_pool_drop(&pool, i);                    it is taken
 *     sn_conn_pool_leave(&pool, origin);
 *
 * Time    is passed in; when a connection has been idle too long is its owner's to know.
 * Memory  one block per origin; items are part of their owners.
 * Threads one owner.
 */
#ifndef SN_CONN_POOL_H
#define SN_CONN_POOL_H

#include "base/map.h"
#include "seine/time.h"

#define SN_ORIGIN_MEMORY SEINE_SECS(600) /* of the family that won */
#define SN_ORIGINS_KEPT  4096            /* that nobody uses */

typedef struct sn_origin sn_origin;

typedef struct sn_pooled_conn {
    struct sn_pooled_conn *above, *below; /* of one origin: idle for less, longer */
    struct sn_pooled_conn *newer, *older; /* of all */
    sn_origin *origin;                    /* NULL: not idle */
} sn_pooled_conn;

struct sn_origin {
    sn_pooled_conn *newest, *oldest;
    uint32_t n_idle;
    uint32_t uses;
    uint8_t family; /* that won, 4 or 6; 0: not known … */
    seine_time family_until;
    sn_origin *newer, *older; /* of those nobody uses */
    size_t key_len;
    char key[];
};

typedef struct sn_conn_pool {
    sn_map origins;
    sn_pooled_conn *newest, *oldest;
    uint32_t n, max, max_origin;
    sn_origin *kept_newest, *kept_oldest;
    uint32_t n_kept;
} sn_conn_pool;

void sn_conn_pool_init(sn_conn_pool *s, uint32_t max, uint32_t max_origin);
void sn_conn_pool_fini(sn_conn_pool *s); /* nothing is idle, nobody uses an origin */

/* The origin of that key, made if there is none. NOMEM. */
SEINE_MUST_CHECK seine_err sn_conn_pool_origin(sn_conn_pool *s, sn_str key,
                                               sn_origin **out_origin);
void sn_origin_use(sn_origin *o);
void sn_conn_pool_leave(sn_conn_pool *s, sn_origin *o);

/* It is idle from now on. What has to make room is returned, taken out: another one,
 * or itself when none may be idle. */
sn_pooled_conn *sn_conn_pool_put(sn_conn_pool *s, sn_origin *o, sn_pooled_conn *i);
void sn_conn_pool_drop(sn_conn_pool *s, sn_pooled_conn *i);

static inline sn_pooled_conn *
sn_conn_pool_newest(const sn_origin *o)
{
    return o->newest;
}

static inline sn_pooled_conn *
sn_conn_pool_below(const sn_pooled_conn *i)
{
    return i->below;
}

/* Idle longest of all; NULL. */
static inline sn_pooled_conn *
sn_conn_pool_oldest(const sn_conn_pool *s)
{
    return s->oldest;
}

/* The family that won a race of both, and the one to begin with: 4, 6 or 0. */
void sn_origin_won(sn_origin *o, uint8_t family, seine_time now);
uint8_t sn_origin_family(const sn_origin *o, seine_time now);

#endif
