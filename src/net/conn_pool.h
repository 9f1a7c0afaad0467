/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_pool.h - idle connections (keep-alive), by origin and by age.
 *
 * An origin is scheme, host and port, found by hash. Its idle connections are a stack:
 * the most recently used one is used next, so that surplus ones grow old. A list of all
 * connections by age finds the one that is idle longest, which is closed at the limit. An
 * origin exists while it is in use. If it knows which address family won its last
 * connect, it stays for ten more minutes; at most 4,096 such origins stay. An origin that
 * sent bytes which belong to no request (net/conn_desync.c) gets no reuse and stays; at
 * most 65,536 such origins stay.
 *
 *     e = sn_conn_pool_origin(&pool, key, &origin);           one more uses it
 *     gone = sn_conn_pool_put(&pool, origin, idle);           NULL, or one to close
 *     for (i = sn_conn_pool_newest(origin); i; i = sn_conn_pool_below(i))
 *         if (may_use(i))
 *             sn_conn_pool_drop(&pool, i);                    it is taken
 *     sn_conn_pool_leave(&pool, origin);
 *
 * Time    is passed in; the owner of a connection limits its idle time.
 * Memory  one block per origin; a sn_pooled_conn is part of its connection.
 * Threads one owner.
 */
#ifndef SN_CONN_POOL_H
#define SN_CONN_POOL_H

#include "base/map.h"
#include "seine/time.h"

#define SN_ORIGIN_MEMORY SEINE_SECS(600) /* how long the family that won is kept */
#define SN_ORIGINS_KEPT  4096            /* unused origins that know their family … */
#define SN_ORIGINS_BAD   65536           /* … and those that get no reuse */

typedef struct sn_origin sn_origin;

typedef struct sn_pooled_conn {
    struct sn_pooled_conn *above, *below; /* of one origin: idle for less, for longer */
    struct sn_pooled_conn *newer, *older; /* of all origins */
    sn_origin *origin;                    /* NULL: not idle */
} sn_pooled_conn;

struct sn_origin {
    sn_pooled_conn *newest, *oldest;
    uint32_t n_idle;
    uint32_t uses;
    uint32_t on_used;       /* requests under way on connections that were used before */
    uint32_t clean;         /* connections used again, and again in step since then */
    uint32_t first_byte_us; /* the longest that one of its responses let wait … */
    uint32_t used_byte_us;  /* … on a connection that was used before */
    bool no_reuse;          /* none of its connections serves a second request */
    bool is_named;          /* its host was looked at: a name of DNS, or an address */
    uint8_t family;         /* that won, 4 or 6; 0: not known … */
    seine_time family_until;
    sn_origin *newer, *older; /* sn_origin_list */
    size_t key_len;
    char key[];
};

/* Origins that nobody uses, by age. */
typedef struct sn_origin_list {
    sn_origin *newest, *oldest;
    uint32_t n, max;
} sn_origin_list;

typedef struct sn_conn_pool {
    sn_map origins;
    sn_origin *last; /* that was asked for; NULL: it was forgotten */
    sn_pooled_conn *newest, *oldest;
    uint32_t n, max, max_origin;
    sn_origin_list kept; /* know their family */
    sn_origin_list bad;  /* get no reuse */
} sn_conn_pool;

void sn_conn_pool_init(sn_conn_pool *s, uint32_t max, uint32_t max_origin);
void sn_conn_pool_fini(sn_conn_pool *s); /* requires: none idle, no origin in use */

/* Finds or makes the origin of that key. NOMEM. */
SEINE_MUST_CHECK seine_err sn_conn_pool_origin(sn_conn_pool *s, sn_str key,
                                               sn_origin **out_origin);
void sn_origin_use(sn_origin *o);
void sn_conn_pool_leave(sn_conn_pool *s, sn_origin *o);

/* Makes the connection idle. Returns the one to close instead, already removed: an older
 * one, or this one if none may be idle. NULL: none. */
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

/* Returns the one that is idle longest, or NULL. */
static inline sn_pooled_conn *
sn_conn_pool_oldest(const sn_conn_pool *s)
{
    return s->oldest;
}

/* Remember the family that won, and return the one to start with: 4, 6 or 0. */
void sn_origin_won(sn_origin *o, uint8_t family, seine_time now);
uint8_t sn_origin_family(const sn_origin *o, seine_time now);

#endif
