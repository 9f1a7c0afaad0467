/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bloom.h"

#include "base/alloc.h"

enum { PROBES = 4, BITS_EACH = 12 };

static size_t
block_bytes(uint32_t i)
{
    return (size_t)SN_BLOOM_FIRST << i;
}

static uint32_t
block_holds(uint32_t i)
{
    return (uint32_t)(block_bytes(i) * 8 / BITS_EACH);
}

/* Each probe takes other bits of the hash, which need not be a good one. */
static uint64_t
bit_of(uint64_t hash, uint32_t probe, uint32_t block)
{
    uint64_t h = (hash + probe) * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h >> 32 & (block_bytes(block) * 8 - 1);
}

static bool
is_in(const uint64_t *bits, uint32_t block, uint64_t hash)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t bit = bit_of(hash, i, block);
        if (!(bits[bit / 64] >> bit % 64 & 1))
            return false;
    }
    return true;
}

bool
sn_bloom_has(const sn_bloom *b, uint64_t hash)
{
    for (uint32_t i = b->n; i-- > 0;)
        if (is_in(b->block[i], i, hash))
            return true;
    return b->old && is_in(b->old, SN_BLOOM_BLOCKS - 1, hash);
}

void
sn_bloom_fini(sn_bloom *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        sn_free(b->block[i]);
    sn_free(b->old);
    *b = (sn_bloom){.n = 0};
}

/* Keeps the largest block alone. */
static void
begin_again(sn_bloom *b)
{
    sn_free(b->old);
    b->old = b->block[--b->n];
    while (b->n > 0)
        sn_free(b->block[--b->n]);
}

static bool
make_room(sn_bloom *b)
{
    if (b->n > 0 && b->held < block_holds(b->n - 1))
        return true;
    if (b->n == SN_BLOOM_BLOCKS)
        begin_again(b);
    uint64_t *block = sn_zalloc(block_bytes(b->n));
    if (!block)
        return false;
    b->block[b->n++] = block;
    b->held = 0;
    return true;
}

bool
sn_bloom_add(sn_bloom *b, uint64_t hash)
{
    if (sn_bloom_has(b, hash))
        return false;
    if (!make_room(b)) {
        sn_bloom_fini(b);
        return true;
    }
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t bit = bit_of(hash, i, b->n - 1);
        b->block[b->n - 1][bit / 64] |= UINT64_C(1) << bit % 64;
    }
    b->held++;
    return true;
}

size_t
sn_bloom_memory(const sn_bloom *b)
{
    size_t n = b->old ? block_bytes(SN_BLOOM_BLOCKS - 1) : 0;

    for (uint32_t i = 0; i < b->n; i++)
        n += block_bytes(i);
    return n;
}
