/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_trie.h - finds many patterns in one pass over a text.
 *
 * This is the automaton of Aho and Corasick over reversed patterns; texts are read
 * backwards, too. Backwards, an escape (%41) can be decoded as soon as it is complete.
 * A pattern may also begin with one of the digits of the escape: `near` finds that case
 * on the side, so the search needs a single state.
 *
 *     e = sn_trie_add(&t, pattern, flags);
 *     state = sn_trie_step(&t, state, byte, &steps);
 *     hit = sn_trie_hit(&t, state);                NULL: no pattern ends here
 *
 * Time    a step is amortised constant: each fail step undoes an earlier step.
 * Memory  28 bytes per byte of a pattern; wiped before it is freed.
 * Threads any thread may step; one owner adds, before.
 */
#ifndef SN_SECRET_TRIE_H
#define SN_SECRET_TRIE_H

#include "base/str.h"

/* The character before or behind the pattern also holds bits of the secret. */
enum {
    SN_TRIE_LEFT = 1,
    SN_TRIE_RIGHT = 2,
    SN_TRIE_WHOLE = 4, /* the pattern is a value itself, not a spelling of one */
};

typedef struct sn_trie_node {
    uint32_t child, next; /* first child; next child of the same parent; 0: none */
    uint32_t fail;        /* the longest suffix of this node that begins a pattern */
    uint32_t hit;         /* the longest suffix that is a pattern; 0: none */
    uint32_t near;        /* the longest suffix that lacks 1 or 2 bytes of a pattern */
    uint32_t len;         /* of the pattern that ends here; 0: none does */
    uint8_t byte, flags;
    bool is_near;
} sn_trie_node;

typedef struct sn_trie {
    sn_trie_node *nodes; /* nodes[0] is the root; NULL: no patterns */
    uint32_t n, cap;
    uint32_t first[256]; /* children of the root */
} sn_trie;

void sn_trie_init(sn_trie *t);
void sn_trie_fini(sn_trie *t);

/* NOMEM: nothing was added. */
SEINE_MUST_CHECK seine_err sn_trie_add(sn_trie *t, sn_str pattern, unsigned flags);

/* The next state; a search begins in state 0. *steps counts the visited nodes. */
uint32_t sn_trie_step(const sn_trie *t, uint32_t state, uint8_t byte, uint64_t *steps);

/* The child of `at` for this byte; 0: none. */
uint32_t sn_trie_child(const sn_trie *t, uint32_t at, uint8_t byte, uint64_t *steps);

/* The longest pattern that ends in this state; NULL: none. */
const sn_trie_node *sn_trie_hit(const sn_trie *t, uint32_t state);

#endif
