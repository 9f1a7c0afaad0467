/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bloom.h - was this hash seen before? A Bloom filter that grows and then forgets.
 *
 * The filter starts with 8 KiB and doubles in blocks up to 504 KiB, which hold 340,000
 * hashes. It never says new of a hash that it holds; of a new hash it says seen in about
 * 1 of 30 cases at most. When all blocks are full the largest one stays, the others are
 * emptied, and the filter forgets what stood in them: the memory is bounded.
 *
 *     if (sn_bloom_add(&b, hash))
 *         …                                    it was not there
 *
 * Time    plays no part.
 * Memory  760 KiB at most.
 * Threads one owner.
 */
#ifndef SN_BLOOM_H
#define SN_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SN_BLOOM_BLOCKS = 6, SN_BLOOM_FIRST = 8192 };

typedef struct sn_bloom { /* zeroed: empty */
    uint64_t *block[SN_BLOOM_BLOCKS];
    uint64_t *old; /* the largest block of the last round; NULL */
    uint32_t n;    /* blocks */
    uint32_t held; /* hashes of the last block */
} sn_bloom;

void sn_bloom_fini(sn_bloom *b);

bool sn_bloom_has(const sn_bloom *b, uint64_t hash);

/* True: the hash is new, and in the filter from now on. Without memory for a block it is
 * new as well, and the filter has forgotten everything. */
bool sn_bloom_add(sn_bloom *b, uint64_t hash);

size_t sn_bloom_memory(const sn_bloom *b);

#endif
