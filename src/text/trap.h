/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap.h - is this URL one of the endless URLs of a crawler trap?
 *
 * Calendars, session numbers and circular relative links give a site an endless number of
 * URLs. Two checks look at the text of a URL. Its shape: does the path repeat itself, is
 * it too deep, does it have too many parameters? Its pattern: the path with everything
 * that varies replaced.
 *
 *     /cal/2026/11/15?view=day&tz=1    is    /cal/#/#/#?tz&view
 *     /p/9f86d081884c7d65/edit         is    /p/%x/edit
 *
 * The crawler counts the admitted URLs of a host by pattern, in a tree of at most 512
 * nodes, and refuses further URLs of a pattern that reached its limit. A node with more
 * than 64 children merges them into `*`.
 *
 *     rule = sn_trap_shape(path, query);             NULL, or what is odd about it
 *     sn_str pattern = {text, sn_trap_pattern(path, query, text, &kind)};
 *     e = sn_trap_count(tree, pattern, &count);      how many there are with this one
 *
 * Time    plays no part.
 * Memory  a tree takes at most 512 nodes; the rest is the caller's.
 * Threads one owner.
 */
#ifndef SN_TRAP_H
#define SN_TRAP_H

#include "base/str.h"
#include "seine/err.h"

enum {
    SN_TRAP_SEGMENTS = 32, /* segments of a path */
    SN_TRAP_SAME = 4,      /* repetitions of one segment */
    SN_TRAP_ROUNDS = 3,    /* repetitions in a row of one to four segments */
    SN_TRAP_PARAMS = 32,
    SN_TRAP_NAME = 8,   /* repetitions of one parameter */
    SN_TRAP_SHOWN = 16, /* segments of a pattern */
    SN_TRAP_ROOM = 1024 /* bytes of a pattern; a longer one ends in "**" */
};

/* Returns what is odd about the URL, as the rule of a record, or NULL. The path begins
 * with a slash, the query has no question mark. Looks at 8 KiB of each at most. */
const char *sn_trap_shape(sn_str path, sn_str query);

typedef struct sn_trap_kind {
    bool varies;     /* a part stands for many, or there is a query */
    uint32_t params; /* different names */
} sn_trap_kind;

/* Writes the pattern, not terminated; returns its length, at most SN_TRAP_ROOM. */
size_t sn_trap_pattern(sn_str path, sn_str query, char out[SN_TRAP_ROOM],
                       sn_trap_kind *out_kind);

typedef struct sn_trap_tree sn_trap_tree;

sn_trap_tree *sn_trap_tree_new(void); /* NULL: no memory */
void sn_trap_tree_free(sn_trap_tree *t);

/* Returns how many URLs of the pattern were counted. */
uint32_t sn_trap_counted(const sn_trap_tree *t, sn_str pattern);

/* Counts a URL; *out_count includes it. NOMEM: not counted. */
SEINE_MUST_CHECK seine_err sn_trap_count(sn_trap_tree *t, sn_str pattern,
                                         uint32_t *out_count);

#endif
