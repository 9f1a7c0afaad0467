/* SPDX-License-Identifier: Apache-2.0 */
#include "store/queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"

enum { MOST = SN_QUEUED_MOST };

static sn_queue *
queue_of(size_t max_bytes)
{
    sn_queue *q = NULL;

    CHECK_EQ(sn_queue_new(&(sn_queue_opts){.max_bytes = max_bytes}, &q), SEINE_OK);
    return q;
}

static sn_queue_figures
figures(const sn_queue *q)
{
    sn_queue_figures f;

    sn_queue_stats(q, &f);
    return f;
}

static bool
same(const sn_queued *a, const sn_queued *b)
{
    return sn_str_eq(a->target, b->target) && sn_str_eq(a->parent, b->parent) &&
           a->number == b->number && a->line == b->line && a->depth == b->depth &&
           a->moved == b->moved && a->kind == b->kind && a->ceiling == b->ceiling &&
           a->tag == b->tag && a->attr == b->attr && a->flags == b->flags;
}

/* The obvious queue: every URL a block of its own. */
typedef struct item {
    struct item *next;
    sn_queued u;
    char texts[];
} item;

typedef struct model {
    item *first, **end;
    uint32_t n;
} model;

static void
model_put(model *m, const sn_queued *u)
{
    item *i = malloc(sizeof *i + u->target.len + u->parent.len);

    *i = (item){.u = *u};
    i->u.target.ptr = memcpy(i->texts, u->target.ptr, u->target.len);
    i->u.parent.ptr = i->texts + u->target.len;
    if (u->parent.len > 0)
        memcpy(i->texts + u->target.len, u->parent.ptr, u->parent.len);
    if (m->n++ == 0)
        m->end = &m->first;
    *m->end = i;
    m->end = &i->next;
}

static void
model_pop(model *m)
{
    item *i = m->first;

    m->first = i->next;
    m->n--;
    free(i);
}

static void
put_both(sn_queue *q, sn_chain *c, model *m, const sn_queued *u)
{
    CHECK_EQ(sn_queue_put(q, c, u), SEINE_OK);
    model_put(m, u);
    CHECK_EQ(c->n, m->n);
}

static void
take_both(sn_queue *q, sn_chain *c, model *m)
{
    sn_queued got = {0};

    if (m->n == 0) {
        CHECK_EQ(sn_queue_head(q, c, &got), SEINE_E_CLOSED);
        return;
    }
    CHECK_EQ(sn_queue_head(q, c, &got), SEINE_OK);
    CHECK(same(&got, &m->first->u));
    sn_queue_pop(q, c);
    model_pop(m);
    CHECK_EQ(c->n, m->n);
}

/* Links as a hostile web has them: runs of one page, all lengths, all members. */
typedef struct source {
    sn_rng rng;
    char target[MOST], parent[MOST];
    sn_queued u;
} source;

static size_t
length(sn_rng *r)
{
    switch (sn_rng_below(r, 16)) {
    case 0:
        return sn_rng_below(r, 3);
    case 1:
        return sn_rng_below(r, 2000);
    case 2:
        return sn_rng_below(r, 32) ? 80 : MOST - sn_rng_below(r, 3);
    default:
        return 1 + sn_rng_below(r, 90);
    }
}

/* Few different bytes, so that texts begin alike; not from the start each time. */
static sn_str
text(source *s, char *room, size_t was)
{
    size_t n = length(&s->rng), keep = sn_rng_below(&s->rng, was + 1);

    for (size_t i = keep < n ? keep : n; i < n; i++)
        room[i] = "ab/"[sn_rng_below(&s->rng, 3)];
    return (sn_str){room, n};
}

static const sn_queued *
next_link(source *s)
{
    sn_queued *u = &s->u;
    uint64_t turn = sn_rng_below(&s->rng, 12);

    u->target = text(s, s->target, u->target.len);
    u->number += turn == 0 ? sn_rng_next(&s->rng) : turn;
    u->line = turn == 1 ? (uint32_t)sn_rng_next(&s->rng) : u->line + (uint32_t)turn;
    if (turn == 2) {
        u->parent = text(s, s->parent, u->parent.len);
        u->depth = (uint32_t)(sn_rng_next(&s->rng) >> sn_rng_below(&s->rng, 64));
    }
    if (turn == 3)
        u->parent.len = 0;
    if (turn < 6) {
        uint64_t meta = sn_rng_next(&s->rng);

        u->moved = (uint8_t)meta;
        u->flags = (uint8_t)(meta >> 8);
        u->kind = meta >> 16 & 7;
        u->ceiling = meta >> 24 & 3;
        u->tag = meta >> 32 & 63;
        u->attr = meta >> 40 & 15;
    }
    return u;
}

/* A heap that knows to the byte what is out: sizes as they were asked for, and what the
 * libc's heap adds to them. */
typedef struct block {
    size_t n;
    max_align_t bytes[];
} block;

static uint64_t bytes_out;

static uint64_t
cost(size_t n)
{
    return n <= 24 ? 32 : (n + 8 + 15) / 16 * 16;
}

static void *
resize(void *p, size_t n, void *arg)
{
    block *was = p ? (block *)((char *)p - offsetof(block, bytes)) : NULL;
    uint64_t before = was ? cost(was->n) : 0;
    block *b = realloc(was, sizeof *b + n);

    (void)arg;
    b->n = n;
    bytes_out += cost(n) - before;
    return b->bytes;
}

static void *
get(size_t n, void *arg)
{
    return resize(NULL, n, arg);
}

static void
release(void *p, void *arg)
{
    block *b = (block *)((char *)p - offsetof(block, bytes));

    (void)arg;
    bytes_out -= cost(b->n);
    free(b);
}

static const seine_alloc exact = {.get = get, .resize = resize, .put = release};

static void
play(size_t max_bytes, uint32_t lists, uint32_t turns)
{
    source *s = calloc(1, sizeof *s);
    sn_chain *chains = calloc(lists, sizeof *chains);
    model *models = calloc(lists, sizeof *models);
    uint64_t urls = 0, spilled = 0;

    s->rng = sn_rng_seed(check_seed());
    bytes_out = 0;
    CHECK_EQ(seine_set_alloc(&exact), SEINE_OK);
    sn_queue *q = queue_of(max_bytes);
    for (uint32_t i = 0; i < turns; i++) {
        uint32_t k = (uint32_t)sn_rng_below(&s->rng, lists);
        bool grows = i % 4000 < 2400; /* tides */

        if (sn_rng_below(&s->rng, 8) < (grows ? 7 : 1)) {
            put_both(q, &chains[k], &models[k], next_link(s));
            urls++;
        } else {
            urls -= models[k].n > 0;
            take_both(q, &chains[k], &models[k]);
        }
        CHECK_EQ(figures(q).bytes, bytes_out);
        CHECK_EQ(figures(q).urls, urls);
        if (figures(q).spilled > spilled)
            spilled = figures(q).spilled;
    }
    CHECK_EQ(spilled > 0, max_bytes > 0);
    for (uint32_t k = 0; k < lists; k++)
        while (models[k].n > 0)
            take_both(q, &chains[k], &models[k]);
    CHECK_EQ(figures(q).urls, 0);
    CHECK_EQ(figures(q).spilled, 0);
    CHECK_EQ(figures(q).bytes, bytes_out);
    sn_queue_free(q);
    CHECK_EQ(bytes_out, 0);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    free(models);
    free(chains);
    free(s);
}

TEST(queue_gives_back_every_url_in_order)
{
    play(0, 1, 8000);
    play(0, 7, 8000);
    play(0, 900, 8000);
}

TEST(queue_spilled_gives_back_every_url_in_order)
{
    play(1, 1, 8000);
    play(20000, 1, 8000);
    play(20000, 7, 8000);
    play(200000, 90, 16000);
}

TEST(queue_has_nothing_for_an_empty_list)
{
    sn_queue *q = queue_of(0);
    sn_chain c = SN_CHAIN;
    sn_queued u;

    CHECK_EQ(sn_queue_head(q, &c, &u), SEINE_E_CLOSED);
    sn_queue_pop(q, &c);
    sn_queue_drop(q, &c);
    CHECK_EQ(c.n, 0);
    CHECK_EQ(figures(q).urls, 0);
    sn_queue_free(q);
    sn_queue_free(NULL);
}
