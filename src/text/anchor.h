/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anchor.h - under which fragment is a heading found?
 *
 * Nobody writes an id for a heading; whoever renders the document makes one from its
 * text. Two ways are common:
 *
 *     GitHub     "What's *new* in 2.0?"   whats-new-in-20      letters in lower case,
 * blanks as hyphens, no punctuation docutils   "What's new in 2.0?"     what-s-new-in-2-0
 * runs of other characters as one hyphen, ASCII alone
 *
 * A second heading of the same text gets "-1" behind it, a third "-2"; sn_anchors counts
 * them. A name that is taken is passed over, so a heading "new 1" after two headings
 * "new" becomes new-1-1.
 *
 *     sn_anchors a;
 *     sn_anchors_init(&a);
 *     sn_anchor_github(text, &slug);
 *     e = sn_anchors_number(&a, &slug);      "new" or "new-1"
 *
 * Time    plays no part; linear in the text.
 * Memory  sn_anchors: the names, up to 32 MiB; then NOMEM.
 * Threads one owner.
 */
#ifndef SN_ANCHOR_H
#define SN_ANCHOR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

typedef struct sn_anchors { /* private */
    sn_map counts;
    sn_arena names;
} sn_anchors;

/* Both append to `out` what becomes of a heading's text, which is UTF-8 without markup.
 */
void sn_anchor_github(sn_str text, sn_buf *out);
void sn_anchor_docutils(sn_str text, sn_buf *out);

void sn_anchors_init(sn_anchors *a);
void sn_anchors_fini(sn_anchors *a);
void sn_anchors_reset(sn_anchors *a);

/* Adds the number to a name that is taken, and takes the name. NOMEM. */
SEINE_MUST_CHECK seine_err sn_anchors_number(sn_anchors *a, sn_buf *name);

#endif
