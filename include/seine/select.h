/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - which nodes of a tree does a CSS selector match?
 *
 * A selector is compiled once and never changes. A finder belongs to one tree and caches
 * results, so that many selectors and many rows of one page share the work.
 *
 *     seine_select *s;
 *     seine_finder *f;
 *     e = seine_select_new("table.items tr:nth-child(odd) > td", 34, &s, &diag);
 *     e = seine_finder_new(tree, &f);
 *     for (seine_node n = 0; (e = seine_finder_next(f, s, 0, &n)) == SEINE_OK && n;)
 *         use(n);
 *     seine_finder_free(f);
 *     seine_select_free(s);
 *
 * Selectors level 3, and of level 4 :is, :where, :not and :nth-child(… of …) with lists,
 * :has, :scope, :any-link, the flags i and s. Selectors that need a user (:hover) are
 * valid and match nothing; pseudo-elements (::before) are never nodes and are refused. A
 * selector has at most 4 KiB and 256 compounds, as many as a tree has levels, so that the
 * paths that developer tools copy are selectors.
 *
 * Each compound is tested on a node at most once, whatever the combinators are. The work
 * is limited to 50 steps per node and selector, and to 1,000,000 steps per page; beyond
 * that the call returns SELECTOR_TIMEOUT.
 *
 * Time    plays no part.
 * Memory  a selector: below 256 KiB. A finder: a byte per node and compound, and 16 bytes
 *         per node once a selector asks for positions.
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

#define SEINE_SELECT_BYTES 4096

typedef struct seine_select seine_select;
typedef struct seine_finder seine_finder;

SEINE_BEGIN

/* CONFIG: not a selector, or over a limit; the diag says why ("expected a class name
 * after '.'") and in `column` at which byte, from 1, that shows. NOMEM. */
SEINE_MUST_CHECK seine_err seine_select_new(const char *text, size_t len,
                                            seine_select **out_select, seine_diag *diag);
void seine_select_free(seine_select *s); /* NULL is fine */

/* Borrows the tree; caches selectors by their text, so they may be freed. NOMEM. */
SEINE_MUST_CHECK seine_err seine_finder_new(const seine_tree *tree,
                                            seine_finder **out_finder);
void seine_finder_free(seine_finder *f); /* NULL is fine */

/* Moves *node to the next match after it, inside `scope` (0: the whole tree); 0 if there
 * is none. Start with *node = scope. SELECTOR_TIMEOUT, NOMEM: *node is unchanged. */
SEINE_MUST_CHECK seine_err seine_finder_next(seine_finder *f, const seine_select *s,
                                             seine_node scope, seine_node *node);

/* Writes whether the selector matches this node. */
SEINE_MUST_CHECK seine_err seine_finder_matches(seine_finder *f, const seine_select *s,
                                                seine_node node, bool *out_matches);

/* Returns the steps so far, of 1,000,000. */
uint64_t seine_finder_steps(const seine_finder *f);

SEINE_END

#endif
