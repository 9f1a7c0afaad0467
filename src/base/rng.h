/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - random bits that can be repeated, and secrets that cannot.
 *
 *     sn_rng r = sn_rng_seed(42);
 *     uint64_t face = sn_rng_below(&r, 6);
 *
 * The generator is xoshiro256**: fast, with a period of 2^256 - 1, fine for jitter and
 * tests, never for secrets. Secrets come from sn_rng_secret.
 *
 * Time    plays no part.
 * Memory  32 bytes, the caller's.
 * Threads one owner; sn_rng_secret any thread.
 */
#ifndef SN_RNG_H
#define SN_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct sn_rng {
    uint64_t s[4];
} sn_rng;

sn_rng sn_rng_seed(uint64_t seed);
uint64_t sn_rng_next(sn_rng *r);

/* Uniform in [0, n); 0 for n = 0. */
uint64_t sn_rng_below(sn_rng *r, uint64_t n);

/* Bytes that nobody can guess, from the kernel. */
void sn_rng_secret(void *out_bytes, size_t n);

#endif
