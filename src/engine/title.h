/* SPDX-License-Identifier: Apache-2.0 */
/*
 * title.h - the title of a page, read while its body comes in.
 *
 *     sn_title_begin(t);                       an answer that is HTML
 *     sn_title_feed(t, piece);                 until it has enough
 *     title = sn_title_end(t, &arena);         the body is whole
 *
 * Time    plays no part.
 * Memory  of the reader, used again; the title is copied to the arena.
 * Threads one owner.
 */
#ifndef SN_TITLE_H
#define SN_TITLE_H

#include "base/arena.h"
#include "base/str.h"

typedef struct sn_title sn_title;

/* NULL: no memory, the record has no title. */
sn_title *sn_title_new(void);
void sn_title_free(sn_title *t);

void sn_title_begin(sn_title *t);
void sn_title_feed(sn_title *t, sn_str piece);

/* ptr NULL: there is none. */
sn_str sn_title_end(sn_title *t, sn_arena *arena);

/* "text/html", "application/xhtml+xml". */
bool sn_title_is_wanted(sn_str content_type);

#endif
