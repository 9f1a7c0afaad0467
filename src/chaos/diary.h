/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diary.h - the last lines written, as many as fit into a ring of bytes.
 *
 *     snc_diary_add(&diary, line);               with its line feed
 *     uint64_t at = 0;
 *     snc_diary_read(&diary, &at, &out, 4096);   whole lines from there on
 *
 * A position counts all bytes ever written. Who reads from a place that has been
 * overwritten goes on at the oldest line there is.
 *
 * Time    plays no part.
 * Memory  16 MiB of pages, touched as they fill, at the first line.
 * Threads one owner.
 */
#ifndef SNC_DIARY_H
#define SNC_DIARY_H

#include "base/buf.h"

#define SNC_DIARY_BYTES ((size_t)16 << 20)
#define SNC_DIARY_LINE  8192 /* the longest line */

typedef struct snc_diary {
    char *ring;
    uint64_t from, end; /* positions of the oldest byte and behind the newest */
    uint64_t dropped;   /* lines that are gone */
} snc_diary;

void snc_diary_fini(snc_diary *d);
void snc_diary_reset(snc_diary *d); /* positions go on */
void snc_diary_add(snc_diary *d, sn_str line);
void snc_diary_read(const snc_diary *d, uint64_t *at, sn_buf *out, size_t want);

#endif
