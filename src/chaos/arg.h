/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg.h - reads the arguments behind the colons of a chaos URL.
 *
 * Sizes are bytes with k, M, G (1024): `64k`. Times have a unit: `500ms`, `1.5s`.
 * Text is percent-decoded; raw bytes come as base64url without padding.
 *
 *     uint64_t n;
 *     if (!snc_arg_size(SN_STR("64k"), &n))
 *         return refuse();
 *
 * Random choices are here, too: every choice of the server is a function of its seed, a
 * key and the number of requests for that key, so the order of clients does not matter.
 *
 * Time    plays no part.
 * Memory  decoded text comes from the caller's arena.
 * Threads any thread.
 */
#ifndef SNC_ARG_H
#define SNC_ARG_H

#include "base/arena.h"
#include "base/str.h"
#include "seine/time.h"

#define SNC_ARG_MOST ((uint64_t)1 << 50) /* for every size or count: a petabyte */

/* False, and nothing written, when the whole text is no such value. */
bool snc_arg_count(sn_str s, uint64_t most, uint64_t *out_n);
bool snc_arg_size(sn_str s, uint64_t *out_bytes);
bool snc_arg_span(sn_str s, seine_span *out_span); /* at most ten years */
bool snc_arg_share(sn_str s, uint64_t *out_ppb);   /* 0.1 is 100,000,000 parts per 10^9 */

/* Decodes `%41` to A; a percent sign without two digits stands for itself. NULL in the
 * result: no memory. Text without a percent sign is not copied. */
sn_str snc_arg_decode(sn_str s, sn_arena *arena);

/* False: no base64url, or no memory. */
bool snc_arg_base64(sn_str s, sn_arena *arena, sn_str *out_bytes);

/* Encodes, with the padding of RFC 4648; `out` has room for len / 3 * 4 + 4 bytes.
 * Returns the length. */
size_t snc_arg_to_base64(sn_str s, char *out);

/* 64 random bits that follow from all four arguments. */
uint64_t snc_dice(uint64_t seed, sn_str key, uint64_t hit, uint64_t what);

/* The same for a number instead of a text; this is a finaliser, not a hash. */
static inline uint64_t
snc_mix(uint64_t seed, uint64_t n, uint64_t what)
{
    uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ what * 0xd6e8feb86659fd93u) + 0x632be59bd9b4e019u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Maps 64 random bits to a number below `n`, which is not 0. */
uint64_t snc_below(uint64_t bits, uint64_t n);

#endif
