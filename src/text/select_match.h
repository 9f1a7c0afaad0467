/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_match.h - a selector at work on a tree, for its files among themselves.
 *
 * Threads one owner.
 */
#ifndef SN_SELECT_MATCH_H
#define SN_SELECT_MATCH_H

#include "text/select.h"
#include "text/tree.h"

/* What the tree says to a simple selector. */
typedef struct sn_known_simple {
    uint32_t name, exact; /* numbers of its name, UINT32_MAX where the tree has none */
    uint32_t *places;     /* of :nth-child(… of …): by node, 0: it is not counted; of
                             :has: 1 where it is true. NULL: not looked at yet */
} sn_known_simple;

/* What is known of a selector on this tree. */
typedef struct sn_known {
    struct sn_known *next;
    const seine_select *select; /* of the call; it may be gone afterwards */
    uint64_t hash;
    uint16_t simples, compounds;
    sn_known_simple *of; /* by simple */
    uint8_t *memo;       /* by compound and node */
    uint64_t steps;
    seine_node scope;
    bool used;
} sn_known;

struct seine_finder {
    const seine_tree *tree;
    uint32_t nodes;
    uint32_t attr_id, attr_class, tag_template;
    uint32_t *places[4]; /* by node: from the start, from the end, both of its type */
    uint64_t steps;
    sn_known *known; /* the one used last first */
};

typedef struct sn_match {
    seine_finder *f;
    sn_known *known;
    seine_err err; /* then every answer is false, and means nothing */
} sn_match;

/* Counts; false: too many. */
bool sn_match_step(sn_match *m, uint64_t n);

/* 0: none. `before` is the element before it among its siblings. */
seine_node sn_match_parent(const sn_match *m, seine_node n);
seine_node sn_match_before(const sn_match *m, seine_node n);

bool sn_match_list(sn_match *m, seine_node n, uint16_t first);
bool sn_match_compound(sn_match *m, seine_node n, uint16_t c);
bool sn_match_simples(sn_match *m, seine_node n, const sn_compound *c);
bool sn_match_simple(sn_match *m, seine_node n, uint16_t simple);

/* select_sets.c: what is found out for all nodes at once. */
bool sn_match_nth(sn_match *m, seine_node n, uint16_t simple);
bool sn_match_has(sn_match *m, seine_node n, uint16_t simple);

#endif
