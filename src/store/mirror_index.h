/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_index.h - what a copy of a site holds: the file `index` of its `.seine-mirror`.
 *
 * The sink appends a line for each result, settling writes the index anew. A line is a
 * word and its values, with tabs between them; the last line about a URL counts, and a
 * line that was cut by a kill counts nothing.
 *
 *     map  HASH                       of all names and redirects when it was settled
 *     new  KEY TYPE CHARSET           the original waits in `new`, by the hash of the key
 *     in   KEY TYPE CHARSET NAME      the file is in its place
 *     to   KEY TARGET                 it redirects there
 *     gone KEY                        404 or 410
 *
 *     e = sn_mirror_index_load(&x, fd);
 *     entry = sn_mirror_index_find(&x, key);
 *     sn_mirror_index_fini(&x);
 *
 * Time    plays no part.
 * Memory  the URLs and names of the copy.
 * Threads one owner.
 */
#ifndef SN_MIRROR_INDEX_H
#define SN_MIRROR_INDEX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#define SN_MIRROR_STATE ".seine-mirror" /* no name of a copy begins with a dot */
#define SN_MIRROR_INDEX "index"
#define SN_MIRROR_LOCK  "lock"
#define SN_MIRROR_NEW   "new"

enum { SN_MIRROR_HEX = 40 }; /* digits of the hash of a key */

typedef struct sn_mirror_entry {
    sn_str key;
    sn_str type, charset; /* of the header */
    sn_str name;          /* of the file in its place; empty: none */
    sn_str target;        /* key of what it redirects to; empty: it does not */
    sn_str given;         /* the name it shall have */
    bool is_new;          /* an original waits */
    bool is_gone;
    bool is_lost; /* the file is not where it was */
} sn_mirror_entry;

typedef struct sn_mirror_index {
    sn_arena arena;
    sn_map by_key;
    sn_buf entries; /* of pointers, in the order in which they came */
    sn_str map;     /* hash when it was settled; empty: never */
} sn_mirror_index;

void sn_mirror_index_init(sn_mirror_index *x);
void sn_mirror_index_fini(sn_mirror_index *x);

/* Reads the lines. PARSE is no error: such lines are passed over. NOMEM, IO. */
SEINE_MUST_CHECK seine_err sn_mirror_index_load(sn_mirror_index *x, int fd);

size_t sn_mirror_index_count(const sn_mirror_index *x);
sn_mirror_entry *sn_mirror_index_at(const sn_mirror_index *x, size_t i);
sn_mirror_entry *sn_mirror_index_find(const sn_mirror_index *x, sn_str key);

/* Lines, to be appended. */
void sn_mirror_line_new(sn_buf *out, sn_str key, sn_str type, sn_str charset);
void sn_mirror_line_to(sn_buf *out, sn_str key, sn_str target);
void sn_mirror_line_gone(sn_buf *out, sn_str key);

/* All lines of an entry as it is now. */
void sn_mirror_line_entry(sn_buf *out, const sn_mirror_entry *e);

/* Under which name an original waits. */
SEINE_MUST_CHECK seine_err sn_mirror_hex(sn_str key, char out[SN_MIRROR_HEX + 1]);

#endif
