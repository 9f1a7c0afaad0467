/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - what somebody did to a text, so that others can do it to theirs.
 *
 * A change set walks over a whole text, from its beginning to its end: it keeps units, or
 * replaces some (none: it inserts) by a text (none: it deletes). Two people change one
 * text at once; seine_changes_map rewrites what one of them did so that it fits behind
 * what the other did, and both arrive at the same text, in whatever order they hear of
 * each other: the text with `a` and then `b` mapped over `a` is the text with `b` and
 * then `a` mapped over `b`. Where both insert at one place, what is mapped with `before`
 * stands first. What was accepted earlier is mapped before what came later, one update at
 * a time: mapping over two updates put together leads elsewhere.
 *
 *     seine_changes *c;
 *     seine_err e = seine_changes_new(&c);
 *     if (e == SEINE_OK)
 *         e = seine_changes_keep(c, 6);                      Hello stays
 *     if (e == SEINE_OK)
 *         e = seine_changes_replace(c, 5, "sea", 3);         world is sea now
 *     if (e == SEINE_OK)
 *         e = seine_changes_apply(c, "Hello world", 11, &text);
 *
 * Units are those of UTF-16, which editors in browsers count: two for a character beyond
 * U+FFFF, one for any other. Texts are UTF-8 without NUL and carriage returns.
 *
 * Time    plays no part. Everything is linear in sections and text.
 * Memory  32 B a section, and the inserted texts.
 * Threads one owner.
 */
#ifndef SEINE_CHANGES_H
#define SEINE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_CHANGES_UNITS    (1u << 30) /* of a text, at most */
#define SEINE_CHANGES_SECTIONS (1u << 20) /* of a set, at most */

typedef struct seine_changes seine_changes;

/* A part of a change set. It walks over `units` of the old text. */
typedef struct seine_section {
    uint64_t units;
    bool is_kept;
    seine_view text;     /* that stands there instead, when they are not kept */
    uint64_t text_units; /* its length */
} seine_section;

SEINE_BEGIN

/* An empty set, that of an empty text. NOMEM. */
SEINE_MUST_CHECK seine_err seine_changes_new(seine_changes **out_c);
void seine_changes_free(seine_changes *c); /* NULL is fine */
void seine_changes_clear(seine_changes *c);

/* These add a section. INVAL: it does nothing, or its text is not UTF-8 or has a NUL or
 * a carriage return; FULL: more units or sections than there may be; NOMEM. The set stays
 * as it was. */
SEINE_MUST_CHECK seine_err seine_changes_keep(seine_changes *c, uint64_t units);
SEINE_MUST_CHECK seine_err seine_changes_replace(seine_changes *c, uint64_t units,
                                                 const char *text, size_t len);

/* Units of the text it is for, and of the text it makes. */
uint64_t seine_changes_from(const seine_changes *c);
uint64_t seine_changes_to(const seine_changes *c);

/* The sections in order, as they were added. False: there is no such. */
bool seine_changes_at(const seine_changes *c, size_t i, seine_section *out_section);

/* The text after the changes. RANGE: the set is for a text of another length; INVAL: a
 * section ends inside of a character, or the text is not UTF-8; NOMEM. */
SEINE_MUST_CHECK seine_err seine_changes_apply(const seine_changes *c, const char *text,
                                               size_t len, seine_text *out_text);

/* `a`, to be applied after `b`; both are for the same text. Neighbours of one kind are
 * one section. RANGE: they are for texts of different lengths; FULL, NOMEM: *out is
 * empty. `out` is neither of them. */
SEINE_MUST_CHECK seine_err seine_changes_map(const seine_changes *a,
                                             const seine_changes *b, bool before,
                                             seine_changes *out);

/* Where a place of the old text is in the new one. Beside an insertion, `side` < 0 stays
 * in front of it, and any other goes behind. A place beyond the end is at the end. */
uint64_t seine_changes_move(const seine_changes *c, uint64_t place, int side);

/* As JSON, in the form of CodeMirror: [3,[2],[0,"line 1","line 2"],4] keeps 3, deletes 2,
 * inserts two lines, keeps 4. INVAL: not that; FULL, NOMEM. The set is what was read, or
 * empty. */
SEINE_MUST_CHECK seine_err seine_changes_parse(seine_changes *c, const char *json,
                                               size_t len);
/* Neighbours of one kind are written as one. NOMEM. */
SEINE_MUST_CHECK seine_err seine_changes_print(const seine_changes *c,
                                               seine_text *out_json);

/* Units of a text. INVAL: not UTF-8. */
SEINE_MUST_CHECK seine_err seine_changes_units(const char *text, size_t len,
                                               uint64_t *out_units);

SEINE_END

#endif
