/* SPDX-License-Identifier: Apache-2.0 */
/* How deep is a page, and where is it found, when a round begins? The links that pages
 * keep (job_page.h) are a graph: its shortest ways from the given URLs say so. A URL that
 * no way leads to stays as it was found. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/job_page.h"
#include "store/job_parts.h"

enum { MOST = 1 << 21 }; /* URLs; the depths of a larger job stay as they are */

typedef struct node {
    int64_t parent, by; /* in its row; on the shortest way; -1: none */
    uint32_t was, depth;
    uint8_t kind;
    bool is_there, is_reached, is_listed;
} node;

typedef struct place {
    uint64_t print;
    uint32_t number;
} place;

typedef struct graph {
    seine_durable_job *job;
    node *nodes;
    place *places; /* by print */
    size_t n, n_places;
    uint32_t *level, *next; /* numbers that are to be expanded */
    size_t n_level, n_next;
} graph;

static int
by_print(const void *a, const void *b)
{
    const place *x = a, *y = b;

    return (x->print > y->print) - (x->print < y->print);
}

static bool
has_room(graph *g)
{
    g->nodes = sn_calloc(g->n, sizeof *g->nodes);
    g->places = sn_calloc(g->n, sizeof *g->places);
    g->level = sn_calloc(g->n, sizeof *g->level);
    g->next = sn_calloc(g->n, sizeof *g->next);
    return g->nodes && g->places && g->level && g->next;
}

static seine_err
read_urls(graph *g)
{
    sn_job_table *t = &g->job->tables[SN_TABLE_URL];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    seine_err e;

    while ((e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there) {
        const int64_t *v = row.ints;

        if (v[0] < 0 || (uint64_t)v[0] >= g->n || g->n_places == g->n)
            continue; /* the scan will say so */
        g->nodes[v[0]] = (node){.parent = v[3],
                                .by = -1,
                                .was = (uint32_t)v[5],
                                .kind = (uint64_t)v[6] & 7,
                                .is_there = true};
        g->places[g->n_places++] = (place){(uint64_t)v[2], (uint32_t)v[0]};
    }
    sn_job_table_reset(t);
    qsort(g->places, g->n_places, sizeof *g->places, by_print);
    return e;
}

/* The given URLs are the first level; what a sitemap named is as deep as it was. */
static void
begin(graph *g)
{
    for (size_t i = 0; i < g->n; i++) {
        node *x = &g->nodes[i];
        const node *parent =
            x->parent >= 0 && (uint64_t)x->parent < g->n ? &g->nodes[x->parent] : NULL;

        x->is_listed = parent && parent->kind == SN_JOB_SITEMAP;
        if (!x->is_there || (x->kind != SN_JOB_BY_USER && !x->is_listed))
            continue;
        x->is_reached = true;
        x->depth = x->was;
        if (x->kind == SN_JOB_BY_USER)
            g->level[g->n_level++] = (uint32_t)i;
        else
            g->next[g->n_next++] = (uint32_t)i;
    }
}

/* How much deeper than the page is what it names? Parts of a page are as deep as the
 * page, which the row of their finder shows, and so is the target of a redirect. */
static uint32_t
step_to(const node *from, int64_t number, const node *to, const sn_job_page *page)
{
    if (to->parent == number && to->was - from->was <= 1)
        return to->was - from->was;
    return page->status >= 300 && page->status <= 399 ? 0 : 1;
}

static void
reach(graph *g, uint32_t number, const sn_job_page *page, uint32_t to)
{
    const node *from = &g->nodes[number];
    node *x = &g->nodes[to];
    uint32_t depth = from->depth + step_to(from, number, x, page);

    if (x->kind == SN_JOB_BY_USER || x->is_listed || to == number)
        return;
    if (x->is_reached && depth == x->depth && x->parent == number)
        x->by = number; /* as before */
    if (x->is_reached)
        return;
    x->is_reached = true;
    x->depth = depth;
    x->by = number;
    if (depth == from->depth)
        g->level[g->n_level++] = to;
    else
        g->next[g->n_next++] = to;
}

static seine_err
expand(graph *g, uint32_t number)
{
    sn_job_table *t = &g->job->tables[SN_TABLE_PAGE];
    sn_job_row row;
    sn_job_page page;
    bool there = false;
    seine_err e = sn_job_table_get(t, number, &row, &there);

    if (e == SEINE_OK && there) {
        sn_job_page_of(&row, &page);
        for (size_t i = 0; i + sizeof(uint64_t) <= page.links.len;
             i += sizeof(uint64_t)) {
            place key;

            memcpy(&key.print, page.links.ptr + i, sizeof key.print);
            const place *found =
                bsearch(&key, g->places, g->n_places, sizeof key, by_print);
            if (found)
                reach(g, number, &page, found->number);
        }
    }
    sn_job_table_reset(t);
    return e;
}

/* Every URL joins a list once, so that the lists have room for all. */
static seine_err
walk(graph *g)
{
    seine_err e = SEINE_OK;

    while (g->n_level > 0 || g->n_next > 0) {
        for (size_t i = 0; i < g->n_level && e == SEINE_OK; i++)
            e = expand(g, g->level[i]);
        if (e != SEINE_OK)
            return e;
        uint32_t *done = g->level;
        g->level = g->next;
        g->n_level = g->n_next;
        g->next = done;
        g->n_next = 0;
    }
    return e;
}

static bool
has_moved(const node *x)
{
    return x->is_there && x->by >= 0 &&
           (x->depth != x->was || (x->parent >= 0 && x->by != x->parent));
}

/* Where on its new page the link stands is not known. */
static seine_err
move(graph *g, int64_t number)
{
    const node *x = &g->nodes[number];
    sn_job_table *t = &g->job->tables[SN_TABLE_URL];
    char text[SN_STORE_TEXT];
    sn_job_row row;
    bool there = false;
    seine_err e = sn_job_table_get(t, number, &row, &there);

    if (e == SEINE_OK && there && row.texts[0].len <= sizeof text) {
        if (row.texts[0].len > 0)
            memcpy(text, row.texts[0].ptr, row.texts[0].len);
        row.texts[0].ptr = text;
        sn_job_table_reset(t);
        if (row.ints[3] != x->by) {
            row.ints[4] = 0;
            row.ints[6] &= ~(INT64_C(63) << 5 | INT64_C(15) << 11);
        }
        row.ints[3] = x->by;
        row.ints[5] = x->depth;
        e = sn_job_table_put(t, &row);
    }
    sn_job_table_reset(t);
    return e;
}

seine_err
sn_job_find_depths(seine_durable_job *j, int64_t n_numbers)
{
    graph g = {.job = j, .n = (size_t)n_numbers};
    seine_err e = SEINE_OK;

    if (n_numbers <= 0 || n_numbers > MOST)
        return SEINE_OK;
    if (!has_room(&g))
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = read_urls(&g);
    if (e == SEINE_OK) {
        begin(&g);
        e = walk(&g);
    }
    for (size_t i = 0; i < g.n && e == SEINE_OK; i++)
        if (has_moved(&g.nodes[i]))
            e = move(&g, (int64_t)i);
    sn_free(g.nodes);
    sn_free(g.places);
    sn_free(g.level);
    sn_free(g.next);
    return e;
}
