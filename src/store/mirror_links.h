/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_links.h - the links of one file of a copy, made relative or absolute.
 *
 * The source is an original, whose links are resolved against its URL, or a file that was
 * rewritten before, whose relative links name files by their old names. Both become the
 * same text, so a file can be rewritten again when other files come, go or move.
 *
 *     sn_mirror_links l = {.index = &x, .by_name = &names, .entry = page};
 *     e = sn_mirror_links_rewrite(&l, bytes, is_original, &out);
 *
 * Time    plays no part.
 * Memory  the copy of the page.
 * Threads one owner.
 */
#ifndef SN_MIRROR_LINKS_H
#define SN_MIRROR_LINKS_H

#include "store/mirror_index.h"

typedef struct sn_mirror_links {
    const sn_mirror_index *index;
    const sn_map *by_name; /* entries by the names that they had */
    const char *strip;     /* parameters that keys leave out; NULL */
    const sn_mirror_entry *entry;
    uint64_t local, remote; /* counted */
} sn_mirror_links;

SEINE_MUST_CHECK seine_err sn_mirror_links_rewrite(sn_mirror_links *l, sn_str bytes,
                                                   bool is_original, sn_buf *out);

/* The way from one file to another: "../b/c%20d.html". */
void sn_mirror_links_relative(sn_str from, sn_str to, sn_buf *out);

#endif
