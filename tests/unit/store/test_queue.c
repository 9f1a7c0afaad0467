/* SPDX-License-Identifier: Apache-2.0 */
#include "store/queue.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

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
    block *was = p ? (block *)(void *)((char *)p - offsetof(block, bytes)) : NULL;
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
    block *b = (block *)(void *)((char *)p - offsetof(block, bytes));

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

static sn_queued
link_to(const char *target)
{
    return (sn_queued){.target = sn_str_of(target),
                       .parent = SN_STR("http://e.example/")};
}

/* Fills a list with n links that differ in their number alone. */
static void
fill(sn_queue *q, sn_chain *c, uint32_t n)
{
    sn_queued u = link_to("/a/path/of/some/length");

    for (; u.number < n; u.number++)
        CHECK_EQ(sn_queue_put(q, c, &u), SEINE_OK);
}

TEST(queue_keeps_members_at_their_bounds)
{
    static char longest[MOST + 1];
    sn_str whole = {longest, MOST}, beyond = {longest, MOST + 1};
    const struct {
        sn_queued u;
        seine_err want;
    } rows[] = {
        {{.target = whole, .parent = whole}, SEINE_OK},
        {{.number = UINT64_MAX, .line = UINT32_MAX, .depth = UINT32_MAX}, SEINE_OK},
        {{.number = 0}, SEINE_OK}, /* a step of more than half of all numbers */
        {{.number = UINT64_C(1) << 63}, SEINE_OK},
        {{.number = 0, .line = UINT32_MAX}, SEINE_OK},
        {{.kind = 7, .ceiling = 3, .tag = 63, .attr = 15}, SEINE_OK},
        {{.moved = 255, .flags = 255}, SEINE_OK},
        {{.target = beyond}, SEINE_E_RANGE},
        {{.parent = beyond}, SEINE_E_RANGE},
        {{.kind = 8}, SEINE_E_INVAL},
        {{.ceiling = 4}, SEINE_E_INVAL},
        {{.tag = 64}, SEINE_E_INVAL},
        {{.attr = 16}, SEINE_E_INVAL},
    };
    sn_queue *q = queue_of(0);
    sn_chain c = SN_CHAIN;
    sn_queued u;

    memset(longest, 'x', sizeof longest);
    EACH_ROW(i, rows)
        CHECK_EQ(sn_queue_put(q, &c, &rows[i].u), rows[i].want);
    EACH_ROW(i, rows) {
        if (rows[i].want != SEINE_OK)
            continue;
        CHECK_EQ(sn_queue_head(q, &c, &u), SEINE_OK);
        CHECK(same(&u, &rows[i].u));
        sn_queue_pop(q, &c);
    }
    CHECK_EQ(c.n, 0);
    sn_queue_free(q);
}

TEST(queue_head_stays_until_it_is_popped)
{
    sn_queue *q = queue_of(0);
    sn_chain a = SN_CHAIN, b = SN_CHAIN;
    sn_queued u;

    fill(q, &a, 3);
    fill(q, &b, 2);
    CHECK_EQ(sn_queue_head(q, &a, &u), SEINE_OK);
    CHECK_EQ(sn_queue_head(q, &a, &u), SEINE_OK);
    CHECK_EQ(u.number, 0);
    sn_queue_pop(q, &a);
    CHECK_EQ(sn_queue_head(q, &a, &u), SEINE_OK);
    CHECK_EQ(sn_queue_head(q, &b, &u), SEINE_OK); /* of another list, in between */
    sn_queue_pop(q, &a);
    CHECK_EQ(sn_queue_head(q, &a, &u), SEINE_OK);
    CHECK_EQ(u.number, 2);
    CHECK_EQ(sn_queue_head(q, &b, &u), SEINE_OK);
    CHECK_EQ(u.number, 0);
    CHECK_EQ(a.n, 1);
    CHECK_EQ(b.n, 2);
    sn_queue_free(q);
}

/* A chunk that is freed and made again is not taken for the one whose head was shown. */
TEST(queue_forgets_the_head_of_a_list_that_is_dropped)
{
    sn_queue *q = queue_of(0);
    sn_chain a = SN_CHAIN, b = SN_CHAIN;
    sn_queued u,
        longer = link_to("/another/path/that/is/quite/a/bit/longer/than/the/first");

    fill(q, &a, 2);
    CHECK_EQ(sn_queue_head(q, &a, &u), SEINE_OK);
    sn_queue_drop(q, &a);
    CHECK_EQ(sn_queue_put(q, &b, &longer), SEINE_OK);
    fill(q, &b, 1);
    sn_queue_pop(q, &b);
    CHECK_EQ(sn_queue_head(q, &b, &u), SEINE_OK);
    CHECK(sn_str_eq(u.target, SN_STR("/a/path/of/some/length")));
    sn_queue_free(q);
}

TEST(queue_drop_gives_everything_back_and_leaves_other_lists)
{
    const size_t maxima[] = {0, 30000}; /* in memory; most of it in the file */

    EACH_ROW(i, maxima) {
        sn_queue *q = queue_of(maxima[i]);
        sn_chain other = SN_CHAIN, c = SN_CHAIN;
        sn_queued u;

        fill(q, &other, 4000);
        uint64_t spilled = figures(q).spilled, before = figures(q).bytes + spilled;
        fill(q, &c, 20000);
        CHECK_EQ(figures(q).spilled > spilled, maxima[i] > 0);
        CHECK_EQ(figures(q).urls, 24000);
        sn_queue_drop(q, &c);
        CHECK_EQ(c.n, 0);
        CHECK_EQ(c.first, 0);
        CHECK_EQ(figures(q).urls, 4000);
        /* but for the table of chunks, the map of the file and its buffer */
        CHECK(figures(q).bytes + figures(q).spilled < before + 140000);
        for (uint64_t k = 0; k < 4000; k++) {
            CHECK_EQ(sn_queue_head(q, &other, &u), SEINE_OK);
            CHECK_EQ(u.number, k);
            sn_queue_pop(q, &other);
        }
        CHECK_EQ(figures(q).spilled, 0);
        sn_queue_free(q);
    }
}

/* 53 links of a host, from pages with nine of them each, in paths of 40 bytes. */
TEST(queue_keeps_a_url_with_its_page_in_64_bytes)
{
    enum { HOSTS = 500, EACH = 53 };
    sn_queue *q = queue_of(0);
    sn_rng rng = sn_rng_seed(check_seed());
    uint64_t empty = figures(q).bytes;
    char path[41], page[64];

    for (unsigned host = 0; host < HOSTS; host++) {
        sn_chain c = SN_CHAIN;

        for (unsigned i = 0; i < EACH; i++) {
            if (i % 9 == 0)
                snprintf(page, sizeof page,
                         "https://www.host-%04u.example/dir/page-%05u.html", host,
                         (unsigned)sn_rng_below(&rng, 100000));
            snprintf(path, sizeof path, "/dir/%016llx-%08x.article",
                     (unsigned long long)sn_rng_next(&rng),
                     (unsigned)sn_rng_below(&rng, UINT32_MAX));
            sn_queued u = {.target = sn_str_of(path), .parent = sn_str_of(page)};
            u.number = host * EACH + i;
            u.line = 10 * i;
            CHECK_EQ(u.target.len, 38);
            CHECK_EQ(sn_queue_put(q, &c, &u), SEINE_OK);
        }
    }
    CHECK((figures(q).bytes - empty) / (HOSTS * EACH) <= 64);
    sn_queue_free(q);
}

/* Of 600 bytes there is one to a chunk: what it was given to grow goes back. */
TEST(queue_gives_back_what_a_full_chunk_does_not_use)
{
    enum { MANY = 1000, LEN = 600 };
    static char path[LEN];
    sn_queue *q = queue_of(0);
    sn_chain c = SN_CHAIN;
    uint64_t before = figures(q).bytes;

    for (unsigned i = 0; i < MANY; i++) {
        memset(path, 'a' + (int)(i % 26), sizeof path);
        CHECK_EQ(sn_queue_put(q, &c, &(sn_queued){.target = {path, LEN}}), SEINE_OK);
    }
    CHECK((figures(q).bytes - before) / MANY <= LEN + 32 + 48);
    sn_queue_free(q);
}

/* "/" and no page: the least the heap gives, and 32 bytes in the table. */
TEST(queue_takes_64_bytes_for_a_list_of_one_short_url)
{
    enum { LISTS = 5120 };
    sn_queue *q = queue_of(0);
    sn_queued u = {.target = SN_STR("/"), .number = 1000};
    uint64_t before = figures(q).bytes;

    for (unsigned i = 0; i < LISTS - 1; i++) { /* number 0 of the table is nobody's */
        sn_chain c = SN_CHAIN;

        CHECK_EQ(sn_queue_put(q, &c, &u), SEINE_OK);
    }
    uint64_t table = LISTS * 32 + LISTS / 512 * 16;
    CHECK(figures(q).bytes - before <= (LISTS - 1) * 32 + table + 256);
    sn_queue_free(q);
}

TEST(queue_stays_below_its_bound_while_lists_have_a_middle)
{
    enum { MAX = 1 << 19 };
    sn_queue *q = queue_of(MAX);
    sn_chain c[20] = {0};
    uint64_t most = 0;

    for (uint64_t i = 0; i < 100000; i++) {
        sn_queued u = link_to("/a/path/of/some/length");

        u.number = i;
        CHECK_EQ(sn_queue_put(q, &c[i % 20], &u), SEINE_OK);
        if (figures(q).bytes > most)
            most = figures(q).bytes;
    }
    CHECK(most <= MAX);
    CHECK(figures(q).spilled > 0);
    sn_queue_free(q);
}

/* Whatever fails leaves list and queue as before: what was put is there, in order. */
TEST(queue_survives_failing_allocations)
{
    FAIL_EACH(r)
    {
        sn_queue *q = NULL;
        sn_chain c = SN_CHAIN;
        seine_err e = sn_queue_new(&(sn_queue_opts){.max_bytes = 20000}, &q);
        uint32_t put = 0;

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e != SEINE_OK)
            continue;
        for (sn_queued u = link_to("/a/path"); u.number < 3000; u.number++) {
            e = sn_queue_put(q, &c, &u);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            if (e == SEINE_OK)
                put++;
            CHECK_EQ(c.n, put);
        }
        CHECK_EQ(figures(q).urls, put);
        uint64_t last = 0;
        for (sn_queued u; c.n > 0; sn_queue_pop(q, &c)) {
            e = sn_queue_head(q, &c, &u);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            if (e != SEINE_OK)
                break;
            CHECK(u.number >= last);
            last = u.number + 1;
        }
        sn_queue_drop(q, &c);
        CHECK_EQ(figures(q).urls, 0);
        CHECK_EQ(figures(q).spilled, 0);
        sn_queue_free(q);
    }
}
