/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lastmod_table.h - what do sitemaps say of pages that are known: when did they change?
 *
 *     e = sn_lastmod_table_put(&t, print, wall_ms);    the latest of several counts
 *     if (sn_lastmod_table_get(&t, print) > seen_ms)
 *         …
 *
 * Time    wall time in ms; 0: nothing is known.
 * Memory  some 24 bytes for a URL that a sitemap names with a date.
 * Threads any thread.
 */
#ifndef SN_LASTMOD_TABLE_H
#define SN_LASTMOD_TABLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/err.h"

typedef struct sn_lastmod_row {
    uint64_t print;
    int64_t wall_ms; /* 0: the row is free */
} sn_lastmod_row;

typedef struct sn_lastmod_table {
    pthread_mutex_t lock;
    sn_lastmod_row *rows;
    size_t n, room; /* a power of two; 0: nothing was put */
} sn_lastmod_table;

void sn_lastmod_table_init(sn_lastmod_table *t);
void sn_lastmod_table_fini(sn_lastmod_table *t);

/* NOMEM: as before. A moment that is not behind 1970 is none. */
SEINE_MUST_CHECK seine_err sn_lastmod_table_put(sn_lastmod_table *t, uint64_t print,
                                                int64_t wall_ms);
int64_t sn_lastmod_table_get(sn_lastmod_table *t, uint64_t print);

#endif
