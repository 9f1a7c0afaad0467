/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_table.h - how many pages of each pattern has a host had?
 *
 * A row is a pattern or a family (text/trap.h), found by its 64-bit hash: rows are never
 * merged, so a count is that of one pattern. A table has at most 4,096 rows. When it is
 * full it forgets the smaller half: of rows whose pages nobody looks at those with the
 * lowest counts, of equal ones the oldest. A forgotten pattern starts again at zero.
 *
 *     row = sn_pattern_table_get(&t, key);         NULL: no memory
 *     row->count++;
 *
 * Time    plays no part.
 * Memory  32 bytes a row, at most half of the room used; 256 KiB at most, and what the
 *         novelties of the rows take.
 * Threads one owner.
 */
#ifndef SN_PATTERN_TABLE_H
#define SN_PATTERN_TABLE_H

#include "engine/novelty.h"

enum { SN_PATTERN_ROWS = 4096 };

typedef struct sn_pattern {
    uint64_t key;          /* never 0 */
    uint32_t count;        /* pages asked for */
    uint32_t led;          /* times a URL of it was something new */
    uint32_t used;         /* when, in the table's own time */
    bool told;             /* its first refusal was told */
    uint8_t news, repeats; /* of its pages, as plain words */
    bool is_left;          /* its pages repeated, and are not looked at any more */
    sn_novelty *novelty;   /* NULL: within its budget, or there was no room */
} sn_pattern;

typedef struct sn_pattern_table { /* zeroed: empty */
    sn_pattern *rows;
    uint32_t n, room, now;
    uint32_t n_looked; /* rows with a novelty */
    uint32_t n_left;   /* rows that are left */
} sn_pattern_table;

void sn_pattern_table_fini(sn_pattern_table *t);

/* The row of a pattern; valid until the next one is made. NULL: there is none. */
sn_pattern *sn_pattern_table_find(const sn_pattern_table *t, uint64_t key);

/* The same, made if there is none. NULL: no memory. */
sn_pattern *sn_pattern_table_get(sn_pattern_table *t, uint64_t key);

/* Bytes of the table and its novelties. */
size_t sn_pattern_table_memory(const sn_pattern_table *t);

#endif
