/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_match.h - the state of matching a selector, shared by the select*.c files.
 *
 * Threads one owner.
 */
#ifndef SN_SELECT_MATCH_H
#define SN_SELECT_MATCH_H

#include "text/select.h"
#include "text/tree.h"

/* The values of a simple selector that depend on the tree. */
typedef struct sn_known_simple {
    uint32_t name, exact; /* numbers of its name; UINT32_MAX: not in the tree */
    uint32_t *places;     /* by node: the position in :nth-child(… of …), or 1 where
                             :has is true. NULL: not computed */
} sn_known_simple;

/* The memo of one selector on this tree. */
typedef struct sn_known {
    struct sn_known *next;
    const seine_select *select; /* valid during the call only */
    uint64_t hash;
    uint16_t simples, compounds;
    sn_known_simple *of; /* indexed by simple */
    uint8_t *memo;       /* indexed by compound and node */
    uint64_t steps;
    seine_node scope;
    bool used;
} sn_known;

struct seine_finder {
    const seine_tree *tree;
    uint32_t nodes;
    uint32_t attr_id, attr_class, tag_template;
    uint32_t *places[4]; /* by node: from the start, from the end, both of its type */
    seine_node select, chosen; /* the last select asked for its option */
    uint64_t steps;
    sn_known *known; /* most recently used first */
};

typedef struct sn_match {
    seine_finder *f;
    sn_known *known;
    seine_err err; /* once set, all results are false and void */
} sn_match;

/* Adds n steps; false if over the limit. */
bool sn_match_step(sn_match *m, uint64_t n);

/* Returns 0 for none. `before` is the preceding sibling that is an element. */
seine_node sn_match_parent(const sn_match *m, seine_node n);
seine_node sn_match_before(const sn_match *m, seine_node n);

bool sn_match_list(sn_match *m, seine_node n, uint16_t first);
bool sn_match_compound(sn_match *m, seine_node n, uint16_t c);
bool sn_match_simples(sn_match *m, seine_node n, const sn_compound *c);
bool sn_match_simple(sn_match *m, seine_node n, uint16_t simple);

/* select_sets.c: computed for all nodes at once. */
bool sn_match_nth(sn_match *m, seine_node n, uint16_t simple);
bool sn_match_has(sn_match *m, seine_node n, uint16_t simple);

#endif
