/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_model.h - a reference store, and random histories to compare a real store with.
 *
 *     store_play(&sn_store_mem, &opts, &(store_game){.lists = 7, .turns = 8000});
 *
 * The model keeps every URL in a block of its own. A history puts and takes URLs as a
 * hostile web has them: runs of one page, all lengths, all members, tides of growth; URLs
 * that were taken are finished in groups, some lists are given up. After every turn lists
 * and figures of the store are those of the model.
 */
#ifndef STORE_MODEL_H
#define STORE_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "store/store.h"

typedef struct store_game {
    uint32_t lists, turns;
    bool gives_up;                   /* now and then a whole list */
    void (*watch)(const sn_store *); /* after every turn; NULL: nobody */
} store_game;

/* The model. */

typedef struct model_url {
    struct model_url *next;
    sn_waiting_url u;
    char texts[];
} model_url;

typedef struct model_list {
    model_url *first, **end;
    uint32_t n;
} model_list;

static inline bool
same_url(const sn_waiting_url *a, const sn_waiting_url *b)
{
    return sn_str_eq(a->target, b->target) && sn_str_eq(a->parent, b->parent) &&
           a->number == b->number && a->line == b->line && a->depth == b->depth &&
           a->moved == b->moved && a->kind == b->kind && a->ceiling == b->ceiling &&
           a->tag == b->tag && a->attr == b->attr && a->flags == b->flags;
}

static inline void
model_enqueue(model_list *m, const sn_waiting_url *u)
{
    model_url *i = malloc(sizeof *i + u->target.len + u->parent.len);

    *i = (model_url){.u = *u};
    i->u.target.ptr = memcpy(i->texts, u->target.ptr, u->target.len);
    i->u.parent.ptr = i->texts + u->target.len;
    if (u->parent.len > 0)
        memcpy(i->texts + u->target.len, u->parent.ptr, u->parent.len);
    if (m->n++ == 0)
        m->end = &m->first;
    *m->end = i;
    m->end = &i->next;
}

static inline void
model_forget(model_list *m)
{
    model_url *i = m->first;

    m->first = i->next;
    m->n--;
    free(i);
}

/* The links of a hostile web. */

typedef struct link_source {
    sn_rng rng;
    char target[SN_STORE_TEXT], parent[SN_STORE_TEXT];
    sn_waiting_url u;
} link_source;

static inline size_t
link_length(sn_rng *r)
{
    switch (sn_rng_below(r, 16)) {
    case 0:
        return sn_rng_below(r, 3);
    case 1:
        return sn_rng_below(r, 2000);
    case 2:
        return sn_rng_below(r, 32) ? 80 : SN_STORE_TEXT - sn_rng_below(r, 3);
    default:
        return 1 + sn_rng_below(r, 90);
    }
}

/* Few different bytes, so that texts begin alike; not from the start each time. */
static inline sn_str
link_text(link_source *s, char *room, size_t was)
{
    size_t n = link_length(&s->rng), keep = sn_rng_below(&s->rng, was + 1);

    for (size_t i = keep < n ? keep : n; i < n; i++)
        room[i] = "ab/"[sn_rng_below(&s->rng, 3)];
    return (sn_str){room, n};
}

static inline const sn_waiting_url *
next_link(link_source *s)
{
    sn_waiting_url *u = &s->u;
    uint64_t turn = sn_rng_below(&s->rng, 12);

    u->target = link_text(s, s->target, u->target.len);
    u->number += turn == 0 ? sn_rng_next(&s->rng) : turn;
    u->line = turn == 1 ? (uint32_t)sn_rng_next(&s->rng) : u->line + (uint32_t)turn;
    if (turn == 2) {
        u->parent = link_text(s, s->parent, u->parent.len);
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

/* A history. */

typedef struct store_players {
    sn_store *store;
    sn_url_list *lists;
    model_list *models;
    link_source *source;
    uint64_t done[64], urls, n_done, groups;
    uint32_t n_open; /* taken, and not in a group yet */
} store_players;

static inline void
enqueue_both(store_players *p, uint32_t k)
{
    const sn_waiting_url *u = next_link(p->source);

    CHECK_EQ(sn_store_enqueue(p->store, &p->lists[k], u), SEINE_OK);
    model_enqueue(&p->models[k], u);
    p->urls++;
}

static inline void
commit_both(store_players *p)
{
    sn_group group = {.done = p->done, .n_done = p->n_open};

    CHECK_EQ(sn_store_commit(p->store, &group), SEINE_OK);
    p->n_done += p->n_open;
    p->groups++;
    p->n_open = 0;
}

static inline void
take_both(store_players *p, uint32_t k, uint32_t deepest)
{
    sn_waiting_url got = {0};
    const model_url *first = p->models[k].first;
    seine_err e = sn_store_take(p->store, &p->lists[k], deepest, &got);

    if (p->models[k].n == 0) {
        CHECK_EQ(e, SEINE_E_CLOSED);
        return;
    }
    if (first->u.depth > deepest) {
        CHECK_EQ(e, SEINE_E_BUSY);
        return;
    }
    CHECK_EQ(e, SEINE_OK);
    CHECK(same_url(&got, &first->u));
    p->done[p->n_open++] = first->u.number;
    model_forget(&p->models[k]);
    p->urls--;
    if (p->n_open == 64)
        commit_both(p);
}

/* Drops as much of the list's head as the store says it did. */
static inline void
skip_both(store_players *p, uint32_t k)
{
    sn_lost lost = {0};
    uint32_t pages = 0;
    seine_err e = sn_store_skip(p->store, &p->lists[k], &lost);

    if (p->models[k].n == 0) {
        CHECK_EQ(e, SEINE_E_CLOSED);
        return;
    }
    CHECK_EQ(e, SEINE_OK);
    CHECK(lost.urls > 0 && lost.urls <= p->models[k].n);
    p->urls -= lost.urls;
    for (uint32_t i = 0; i < lost.urls && p->models[k].n > 0; i++) {
        pages += p->models[k].first->u.kind == 0;
        model_forget(&p->models[k]);
    }
    CHECK_EQ(lost.pages, pages);
}

static inline void
store_turn(store_players *p, const store_game *g, uint32_t i)
{
    sn_rng *r = &p->source->rng;
    uint32_t k = (uint32_t)sn_rng_below(r, g->lists);
    bool grows = i % 4000 < 2400; /* tides */

    if (g->gives_up && sn_rng_below(r, 1000) == 0)
        skip_both(p, k);
    else if (sn_rng_below(r, 8) < (grows ? 7 : 1))
        enqueue_both(p, k);
    else
        take_both(p, k, sn_rng_below(r, 4) ? UINT32_MAX : (uint32_t)sn_rng_next(r));
    CHECK_EQ(p->lists[k].n, p->models[k].n);
    CHECK_EQ(p->store->figures.urls, p->urls);
    CHECK_EQ(p->store->figures.done, p->n_done);
    CHECK_EQ(p->store->figures.groups, p->groups);
    if (g->watch)
        g->watch(p->store);
}

/* Plays a history from the test's seed; returns the most bytes that were in a file. */
static inline uint64_t
store_play(const sn_store_ops *back_end, const sn_store_opts *o, const store_game *g)
{
    store_players p = {.lists = calloc(g->lists, sizeof *p.lists),
                       .models = calloc(g->lists, sizeof *p.models),
                       .source = calloc(1, sizeof *p.source)};
    uint64_t spilled = 0;

    p.source->rng = sn_rng_seed(check_seed());
    CHECK_EQ(sn_store_open(back_end, o, &p.store), SEINE_OK);
    for (uint32_t i = 0; i < g->turns; i++) {
        store_turn(&p, g, i);
        if (p.store->figures.spilled > spilled)
            spilled = p.store->figures.spilled;
    }
    for (uint32_t k = 0; k < g->lists; k++)
        while (p.models[k].n > 0)
            take_both(&p, k, UINT32_MAX);
    commit_both(&p);
    CHECK_EQ(p.store->figures.urls, 0);
    CHECK_EQ(p.store->figures.spilled, 0);
    if (g->watch)
        g->watch(p.store);
    CHECK_EQ(sn_store_close(p.store, true), SEINE_OK);
    free(p.source);
    free(p.models);
    free(p.lists);
    return spilled;
}

#endif
