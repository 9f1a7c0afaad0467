/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - which nodes of this tree does a CSS selector mean?
 *
 * A selector is compiled once and never changes; a finder holds one tree and remembers
 * what it found out about it, so that many selectors and many rows of one page share
 * the work.
 *
 *     seine_select *s;
 *     seine_finder *f;
 *     e = seine_select_new("table.items tr:nth-child(odd) > td", 34, &s, &fault);
 *     e = seine_finder_new(tree, &f);
 *     for (seine_node n = 0; (e = seine_finder_next(f, s, 0, &n)) == SEINE_OK && n;)
 *         use(n);
 *     seine_finder_free(f);
 *     seine_select_free(s);
 *
 * Selectors level 3, and of level 4 :is, :where, :not and :nth-child(… of …) with
 * lists, :has, :scope, :any-link, the flags i and s. What no server knows (:hover,
 * ::before) is understood and matches nothing. At most 1 KiB, 32 compounds, and 8
 * combinators of one of them.
 *
 * Each compound is tried on a node at most once, however the combinators stand: the
 * work is counted, and is at most 50 steps for each node and selector, and 1,000,000
 * for the page; then SELECTOR_TIMEOUT.
 *
 * Time    plays no part.
 * Memory  a selector: below 64 KiB. A finder: a byte for each node and compound, 16
 *         for each node when positions are asked for.
 * Threads a selector: any thread. A finder: one owner, and its tree may not change.
 */
#ifndef SEINE_SELECT_H
#define SEINE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/tree.h"
#include "seine/view.h"

#define SEINE_SELECT_BYTES 1024

typedef struct seine_select seine_select;
typedef struct seine_finder seine_finder;

SEINE_BEGIN

/* CONFIG: not a selector, or over a limit; the diag says why ("expected a class name
 * after '.'") and in `column` at which byte, from 1, that shows. NOMEM. */
SEINE_MUST_CHECK seine_err seine_select_new(const char *text, size_t len,
                                            seine_select **out_select, seine_diag *diag);
void seine_select_free(seine_select *s); /* NULL is fine */

/* The tree is borrowed; selectors are known by their text, and may come and go. NOMEM. */
SEINE_MUST_CHECK seine_err seine_finder_new(const seine_tree *tree,
                                            seine_finder **out_finder);
void seine_finder_free(seine_finder *f); /* NULL is fine */

/* The next node behind *node that the selector means, inside of `scope` (0: the whole
 * tree); 0: there is none. Begin with the scope itself. SELECTOR_TIMEOUT, NOMEM: *node
 * is unchanged. */
SEINE_MUST_CHECK seine_err seine_finder_next(seine_finder *f, const seine_select *s,
                                             seine_node scope, seine_node *node);

/* Whether it means this node. */
SEINE_MUST_CHECK seine_err seine_finder_matches(seine_finder *f, const seine_select *s,
                                                seine_node node, bool *out_matches);

/* Steps taken so far, of 1,000,000. */
uint64_t seine_finder_steps(const seine_finder *f);

SEINE_END

#endif
