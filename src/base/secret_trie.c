/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret_trie.h"

#include <string.h>

#include "base/alloc.h"

_Static_assert(sizeof(sn_trie_node) == 28, "secret_trie.h says so");

void
sn_trie_init(sn_trie *t)
{
    memset(t, 0, sizeof *t);
}

static void
give_back(sn_trie_node *nodes, size_t n)
{
    if (nodes)
        explicit_bzero(nodes, n * sizeof *nodes);
    sn_free(nodes);
}

void
sn_trie_fini(sn_trie *t)
{
    give_back(t->nodes, t->n);
    explicit_bzero(t, sizeof *t);
}

/* Never uses realloc, which would leave bytes of patterns in freed memory. */
static bool
reserve(sn_trie *t, size_t more)
{
    size_t want = (t->n ? t->n : 1) + more, cap = t->cap ? t->cap : 64;

    if (want <= t->cap)
        return true;
    while (cap < want)
        cap *= 2;
    if (cap > UINT32_MAX)
        return false;
    sn_trie_node *nodes = sn_calloc(cap, sizeof *nodes);
    if (!nodes)
        return false;
    if (t->n)
        memcpy(nodes, t->nodes, t->n * sizeof *nodes);
    give_back(t->nodes, t->n);
    t->nodes = nodes;
    t->cap = (uint32_t)cap;
    t->n = t->n ? t->n : 1;
    return true;
}

uint32_t
sn_trie_child(const sn_trie *t, uint32_t at, uint8_t byte, uint64_t *steps)
{
    if (at == 0)
        return t->first[byte];
    uint32_t c = t->nodes[at].child;
    while (c && t->nodes[c].byte != byte) {
        c = t->nodes[c].next;
        ++*steps;
    }
    return c;
}

static uint32_t
insert(sn_trie *t, sn_str pattern)
{
    uint32_t at = 0;
    uint64_t steps = 0;

    for (size_t i = pattern.len; i-- > 0;) {
        uint8_t byte = (uint8_t)pattern.ptr[i];
        uint32_t c = sn_trie_child(t, at, byte, &steps);

        if (c == 0) {
            c = t->n++;
            t->nodes[c] = (sn_trie_node){.next = t->nodes[at].child, .byte = byte};
            t->nodes[at].child = c;
            if (at == 0)
                t->first[byte] = c;
        }
        at = c;
        if (i == 1 || i == 2)
            t->nodes[at].is_near = true;
    }
    return at;
}

/* Parents come before children: the `fail` link of a node follows from its parent's. */
static void
link_up(sn_trie *t, uint32_t *queue)
{
    sn_trie_node *nodes = t->nodes;
    uint64_t steps = 0;
    uint32_t n = 0;

    for (uint32_t c = nodes[0].child; c; c = nodes[c].next) {
        nodes[c].fail = 0;
        queue[n++] = c;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = queue[i];

        nodes[at].hit = nodes[at].len ? at : nodes[nodes[at].fail].hit;
        nodes[at].near = nodes[at].is_near ? at : nodes[nodes[at].fail].near;
        for (uint32_t c = nodes[at].child; c; c = nodes[c].next) {
            nodes[c].fail = sn_trie_step(t, nodes[at].fail, nodes[c].byte, &steps);
            queue[n++] = c;
        }
    }
}

seine_err
sn_trie_add(sn_trie *t, sn_str pattern, unsigned flags)
{
    if (pattern.len == 0)
        return SEINE_OK;
    if (!reserve(t, pattern.len))
        return SEINE_E_NOMEM;
    uint32_t *queue SN_AUTOFREE = sn_calloc(t->n + pattern.len, sizeof *queue);
    if (!queue)
        return SEINE_E_NOMEM;
    sn_trie_node *end = &t->nodes[insert(t, pattern)];
    end->len = (uint32_t)pattern.len;
    end->flags |= (uint8_t)flags;
    link_up(t, queue);
    return SEINE_OK;
}

uint32_t
sn_trie_step(const sn_trie *t, uint32_t state, uint8_t byte, uint64_t *steps)
{
    for (;;) {
        uint32_t c = sn_trie_child(t, state, byte, steps);

        ++*steps;
        if (c || state == 0)
            return c;
        state = t->nodes[state].fail;
    }
}

const sn_trie_node *
sn_trie_hit(const sn_trie *t, uint32_t state)
{
    uint32_t hit = t->nodes[state].hit;

    return hit ? &t->nodes[hit] : NULL;
}
