/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint_set_bucket.h - one bucket of a set of fingerprints: 64 bytes, as
 * fingerprint_set.h lays them out.
 *
 * Hot functions take k and the slots as constants: they are always inlined and called
 * once for each k.
 *
 *     sn_fp_answer a = sn_fpbucket_settle(home, fp, 7, 8);
 *     bool is_here = sn_fpbucket_find(home, fp, 7, 8);
 *
 * Time    plays no part.
 * Memory  the caller's table; SN_FPTABLE_SPARE buckets follow the last home.
 * Threads one owner.
 */
#ifndef SN_FINGERPRINT_SET_BUCKET_H
#define SN_FINGERPRINT_SET_BUCKET_H

#include <string.h>

#include "base/fingerprint_set.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "low bytes come first");

#define SN_FPBUCKET        64 /* bytes */
#define SN_FPBUCKET_PLACES 16
#define SN_FPBUCKET_SIDE   62  /* byte: bit 0 */
#define SN_FPBUCKET_TALLY  63  /* byte: count, reach */
#define SN_FPBUCKET_MOST   176 /* entries of one home: 16 places of 11 slots */
#define SN_FPTABLE_SPARE   212 /* buckets behind the last home; sn_fp_off[15] + 1 */

#define SN_FP_HOT static inline __attribute__((always_inline))

static const uint8_t sn_fp_off[SN_FPBUCKET_PLACES] = {
    0, 1, 3, 7, 13, 21, 31, 43, 57, 73, 91, 111, 133, 157, 183, 211};

/* NOWHERE: fp is not in the table, and all its places are full. */
typedef enum sn_fp_answer { SN_FP_SEEN, SN_FP_NEW, SN_FP_NOWHERE } sn_fp_answer;

static inline uint64_t
sn_fp_load(const uint8_t *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint64_t
sn_fp_low(unsigned k)
{
    return UINT64_MAX >> (64 - 8 * k);
}

SN_FP_HOT unsigned
sn_fpbucket_count(const uint8_t *b)
{
    return b[SN_FPBUCKET_TALLY] & 15;
}

SN_FP_HOT unsigned
sn_fpbucket_nibble(const uint8_t *b, unsigned i, unsigned k, unsigned slots)
{
    return b[k * slots + i / 2] >> 4 * (i % 2) & 15;
}

/* Does the bucket hold `low` for the home that is sn_fp_off[d] before it? */
SN_FP_HOT bool
sn_fpbucket_match(const uint8_t *b, uint64_t low, unsigned d, unsigned k, unsigned slots)
{
    unsigned hits = 0;

#pragma GCC unroll 11
    for (unsigned i = 0; i < slots; i++)
        hits |= (unsigned)(((sn_fp_load(b + i * k) ^ low) & sn_fp_low(k)) == 0) << i;
    for (hits &= (1u << sn_fpbucket_count(b)) - 1; hits; hits &= hits - 1)
        if (sn_fpbucket_nibble(b, (unsigned)__builtin_ctz(hits), k, slots) == d)
            return true;
    return false;
}

/* Writes into the next free slot, whose nibble is 0. */
SN_FP_HOT void
sn_fpbucket_write(uint8_t *b, uint64_t fp, unsigned d, unsigned k, unsigned slots)
{
    unsigned i = sn_fpbucket_count(b);

    memcpy(b + i * k, &fp, k); /* the low bytes */
    if (d > 0)
        b[k * slots + i / 2] |= (uint8_t)(d << 4 * (i % 2));
    b[SN_FPBUCKET_TALLY]++;
}

SN_FP_HOT void
sn_fpbucket_set_reach(uint8_t *home, unsigned d)
{
    home[SN_FPBUCKET_TALLY] = (uint8_t)(d << 4 | sn_fpbucket_count(home));
}

/* Finds fp, or writes it to the first place with room. SN_FP_NOWHERE: not in the table,
 * and all places are full. */
SN_FP_HOT sn_fp_answer
sn_fpbucket_settle(uint8_t *home, uint64_t fp, unsigned k, unsigned slots)
{
    unsigned reach = home[SN_FPBUCKET_TALLY] >> 4;
    uint64_t low = fp & sn_fp_low(k);

    for (unsigned d = 0; d < SN_FPBUCKET_PLACES; d++) {
        uint8_t *b = home + sn_fp_off[d] * SN_FPBUCKET;

        if (d <= reach && sn_fpbucket_match(b, low, d, k, slots))
            return SN_FP_SEEN;
        if (sn_fpbucket_count(b) < slots) {
            sn_fpbucket_write(b, fp, d, k, slots);
            if (d > reach)
                sn_fpbucket_set_reach(home, d);
            return SN_FP_NEW;
        }
    }
    return SN_FP_NOWHERE;
}

SN_FP_HOT bool
sn_fpbucket_find(const uint8_t *home, uint64_t fp, unsigned k, unsigned slots)
{
    unsigned reach = home[SN_FPBUCKET_TALLY] >> 4;

    for (unsigned d = 0; d <= reach; d++)
        if (sn_fpbucket_match(home + sn_fp_off[d] * SN_FPBUCKET, fp & sn_fp_low(k), d, k,
                              slots))
            return true;
    return false;
}

/* A bit in every nibble whose slot belongs to the home that is sn_fp_off[d] back. */
SN_FP_HOT uint64_t
sn_fpbucket_owned(const uint8_t *b, unsigned d, unsigned k, unsigned slots)
{
    const uint64_t ones = 0x1111111111111111u; /* in every nibble */
    uint64_t x = sn_fp_load(b + k * slots) ^ d * ones;
    uint64_t zero = ~(((x & 7 * ones) + 7 * ones) | x | 7 * ones);

    return zero & (((uint64_t)1 << 4 * sn_fpbucket_count(b)) - 1);
}

SN_FP_HOT unsigned
sn_fpbucket_gather(const uint8_t *home, uint64_t first, uint64_t *out_fps, unsigned k,
                   unsigned slots)
{
    unsigned n = 0, reach = home[SN_FPBUCKET_TALLY] >> 4;

    for (unsigned d = 0; d <= reach; d++) {
        const uint8_t *b = home + sn_fp_off[d] * SN_FPBUCKET;

        for (uint64_t mine = sn_fpbucket_owned(b, d, k, slots); mine; mine &= mine - 1) {
            unsigned i = (unsigned)__builtin_ctzll(mine) / 4;

            out_fps[n++] = first + ((sn_fp_load(b + i * k) - first) & sn_fp_low(k));
        }
    }
    return n;
}

/* Writes a fingerprint that is known to be absent; false: no place had room. */
SN_FP_HOT bool
sn_fpbucket_drop_in(uint8_t *home, uint64_t fp, unsigned k, unsigned slots)
{
    for (unsigned d = 0; d < SN_FPBUCKET_PLACES; d++) {
        uint8_t *b = home + sn_fp_off[d] * SN_FPBUCKET;

        if (sn_fpbucket_count(b) == slots)
            continue;
        sn_fpbucket_write(b, fp, d, k, slots);
        if (d > home[SN_FPBUCKET_TALLY] >> 4)
            sn_fpbucket_set_reach(home, d);
        return true;
    }
    return false;
}

#endif
