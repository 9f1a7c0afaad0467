/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_trie.h - where in a text does one of many patterns stand? In one pass.
 *
 * The automaton of Aho and Corasick over the patterns read backwards, and texts are
 * read backwards, too. That way round an escape (%41) that begins inside of nothing is
 * no riddle: whether a pattern begins with one of its digits is looked up on the side
 * (`near`) and forgotten, so there is one state, always.
 *
 *     e = sn_trie_add(&t, pattern, flags);                     no NOMEM half way
 *     s = sn_trie_step(&t, s, byte);  hit = sn_trie_hit(&t, s);
 *
 * Time    a step is amortised constant: each fails back over what was stepped before.
 * Memory  28 bytes per byte of a pattern; wiped whenever it is given back.
 * Threads any thread may step; one owner adds, before.
 */
#ifndef SN_SECRET_TRIE_H
#define SN_SECRET_TRIE_H

#include "base/str.h"

/* The character before, or behind, the pattern holds bits of the secret, too; … */
enum {
    SN_TRIE_LEFT = 1,
    SN_TRIE_RIGHT = 2,
    SN_TRIE_WHOLE = 4, /* it is a value itself, not a spelling of one */
};

typedef struct sn_trie_node {
    uint32_t child, next; /* first child; next child of its parent; 0: none */
    uint32_t fail;        /* the longest end of this that begins a pattern */
    uint32_t hit;         /* the longest end of this that is a pattern; 0: none */
    uint32_t near;        /* the longest end of this that lacks 1 or 2 bytes of one */
    uint32_t len;         /* of the pattern that this is; 0: it is none */
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

/* From state to state; 0 is where one begins. *steps counts what was looked at. */
uint32_t sn_trie_step(const sn_trie *t, uint32_t state, uint8_t byte, uint64_t *steps);

/* The node behind this one; 0: there is none. */
uint32_t sn_trie_child(const sn_trie *t, uint32_t at, uint8_t byte, uint64_t *steps);

/* The longest pattern that ends here, NULL: none. */
const sn_trie_node *sn_trie_hit(const sn_trie *t, uint32_t state);

#endif
