/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_min.h - how often was this hash seen? A count-min sketch: never too few.
 *
 * Four rows of counters stand for all hashes there may be. A count is never too small;
 * it is too large by chance, the more so the more hashes were counted, which is why the
 * caller halves all counters from time to time.
 *
 *     uint32_t n = sn_count_min_add(c, hash);      n includes this one
 *     sn_count_min_halve(c);
 *
 * Time    plays no part.
 * Memory  the struct, 64 KiB.
 * Threads one owner.
 */
#ifndef SN_COUNT_MIN_H
#define SN_COUNT_MIN_H

#include <stdint.h>

enum { SN_COUNT_MIN_ROWS = 4, SN_COUNT_MIN_WIDTH = 8192 };

typedef struct sn_count_min { /* zeroed: empty */
    uint16_t n[SN_COUNT_MIN_ROWS][SN_COUNT_MIN_WIDTH];
} sn_count_min;

uint32_t sn_count_min_add(sn_count_min *c, uint64_t hash);
void sn_count_min_halve(sn_count_min *c);

#endif
