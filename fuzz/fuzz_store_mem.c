/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte says what the others are: the bytes of a chunk, to be read as entries
 * (each xor '@', so that an editor can show them), or turns of a game with a store and
 * the obvious one beside it, in the course of which the file may be damaged: from then on
 * lists may end early, but what is read is still right.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/store_mem_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { LISTS = 4 };

typedef struct item {
    struct item *next;
    sn_waiting_url u;
    char texts[];
} item;

typedef struct game {
    const uint8_t *at, *end;
    sn_store *store;
    sn_url_list chains[LISTS];
    item *first[LISTS], **last[LISTS];
    uint64_t urls;
    int64_t room; /* bytes that may still be put */
    bool damaged;
    char target[SN_STORE_TEXT], parent[SN_STORE_TEXT];
    sn_waiting_url u;
} game;

static uint8_t
draw(game *g)
{
    return g->at < g->end ? *g->at++ : 0;
}

/* Keeps some of the text before and writes a byte of its own behind it. */
static sn_str
text(game *g, char *room)
{
    size_t n = draw(g), keep = draw(g);
    char fill = (char)draw(g);

    if (n >= 250)
        n = (n - 249) * SN_STORE_TEXT / 6;
    if (keep < n)
        memset(room + keep, fill, n - keep);
    return (sn_str){room, n};
}

static void
next_link(game *g, uint8_t what)
{
    sn_waiting_url *u = &g->u;

    u->target = text(g, g->target);
    u->number += (uint64_t)(draw(g) - 100) << (what >> 2 & 63);
    u->line += (uint32_t)draw(g);
    if (what & 32) {
        u->parent = text(g, g->parent);
        u->depth = (uint32_t)draw(g) << (what & 31);
    }
    if (what & 64) {
        u->moved = draw(g);
        u->flags = draw(g);
        u->kind = draw(g) & 7;
        u->ceiling = draw(g) & 3;
        u->tag = draw(g) & 63;
        u->attr = draw(g) & 15;
    }
}

static void
put(game *g, unsigned k)
{
    const sn_waiting_url *u = &g->u;
    item *i = malloc(sizeof *i + u->target.len + u->parent.len);

    REQUIRE(i && sn_store_enqueue(g->store, &g->chains[k], u) == SEINE_OK);
    *i = (item){.u = *u};
    i->u.target.ptr = i->texts;
    i->u.parent.ptr = i->texts + u->target.len;
    memcpy(i->texts, g->target, u->target.len);
    memcpy(i->texts + u->target.len, g->parent, u->parent.len);
    if (!g->first[k])
        g->last[k] = &g->first[k];
    *g->last[k] = i;
    g->last[k] = &i->next;
    g->urls++;
}

static void
forget(game *g, unsigned k)
{
    item *i = g->first[k];

    g->first[k] = i->next;
    g->urls--;
    free(i);
}

static void
drop(game *g, unsigned k)
{
    sn_lost lost;

    if (sn_store_skip(g->store, &g->chains[k], &lost) == SEINE_E_CLOSED)
        return;
    for (uint32_t n = 0; n < lost.urls; n++) {
        REQUIRE(g->first[k]);
        forget(g, k);
    }
}

static void
take(game *g, unsigned k)
{
    sn_waiting_url got;
    seine_err e = sn_store_take(g->store, &g->chains[k], UINT32_MAX, &got);
    const item *i = g->first[k];

    if (e == SEINE_E_STATE_CORRUPT) {
        REQUIRE(g->damaged);
        drop(g, k);
        return;
    }
    REQUIRE((e == SEINE_OK) == (i != NULL) && (i || e == SEINE_E_CLOSED));
    if (!i)
        return;
    REQUIRE(sn_str_eq(got.target, i->u.target) && sn_str_eq(got.parent, i->u.parent));
    REQUIRE(got.number == i->u.number && got.line == i->u.line);
    REQUIRE(got.depth == i->u.depth && got.moved == i->u.moved);
    REQUIRE(got.kind == i->u.kind && got.ceiling == i->u.ceiling);
    REQUIRE(got.tag == i->u.tag && got.attr == i->u.attr && got.flags == i->u.flags);
    forget(g, k);
}

static void
damage(game *g)
{
    off_t at = (off_t)(draw(g) << 8 | draw(g));
    uint8_t byte = draw(g);

    if (((sn_mem_store *)g->store)->spill.fd < 0)
        return;
    g->damaged = true;
    if (byte == 0)
        REQUIRE(ftruncate(((sn_mem_store *)g->store)->spill.fd, at) == 0);
    else
        REQUIRE(pwrite(((sn_mem_store *)g->store)->spill.fd, &byte, 1, at) == 1);
}

static void
turn(game *g)
{
    uint8_t what = draw(g);
    unsigned k = what & 3, times = 1u + 3 * (what >> 2 & 31u);

    if (what < 128) { /* a page with one link, or with very many */
        next_link(g, what);
        do {
            put(g, k);
            g->u.number++;
            g->room -= (int64_t)(g->u.target.len + g->u.parent.len + 50);
        } while ((what & 28) == 28 && --times > 0 && g->room > 0);
    } else if (what == 255) {
        damage(g);
    } else if (what == 254) {
        drop(g, draw(g) % LISTS);
    } else {
        while (times-- > 0)
            take(g, k);
    }
    REQUIRE(g->store->figures.urls == g->urls);
}

static void
play(const uint8_t *bytes, size_t n)
{
    game *g = calloc(1, sizeof *g);

    REQUIRE(g);
    g->at = bytes;
    g->end = bytes + n;
    size_t max = (size_t)draw(g) * 200;
    REQUIRE(sn_store_open(&sn_store_mem, &(sn_store_opts){.max_bytes = max}, &g->store) ==
            SEINE_OK);
    g->room = 300000;
    while (g->at < g->end && g->room > 0)
        turn(g);
    for (unsigned k = 0; k < LISTS; k++)
        while (g->first[k])
            take(g, k);
    REQUIRE(g->store->figures.urls == 0 && g->store->figures.spilled == 0);
    REQUIRE(sn_store_close(g->store, true) == SEINE_OK);
    free(g);
}

/* Whatever stands in a chunk, reading it ends, within its bytes. */
static void
read_chunk(const uint8_t *bytes, size_t n)
{
    sn_store *s = NULL;
    uint8_t *own = malloc(n ? n : 1); /* just as long: a byte too much is noticed */
    sn_chunk_mark at = {0}, next;
    sn_waiting_url u;

    REQUIRE(own && sn_store_open(&sn_store_mem, &(sn_store_opts){0}, &s) == SEINE_OK);
    for (size_t i = 0; i < n; i++)
        own[i] = bytes[i] ^ '@';
    sn_chunk c = {.bytes = own, .end = (uint16_t)n};
    while (sn_entry_read((sn_mem_store *)s, &c, at, &u, &next) == SEINE_OK) {
        REQUIRE(next.at > at.at && next.at <= n);
        REQUIRE(u.target.len <= SN_STORE_TEXT && u.parent.len <= SN_STORE_TEXT);
        at = next;
    }
    free(own);
    REQUIRE(sn_store_close(s, true) == SEINE_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    if (bytes[0] & 1)
        play(bytes + 1, n - 1);
    else if (n <= UINT16_MAX)
        read_chunk(bytes + 1, n - 1);
    return 0;
}
