/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <sys/random.h>

#include "base/time.h"

_Static_assert(sizeof(sn_rng) == 32, "rng.h says so");

static uint64_t
rotl(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* splitmix64 spreads any seed, 0 included, over the whole state. */
sn_rng
sn_rng_seed(uint64_t seed)
{
    sn_rng r;

    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        r.s[i] = z ^ z >> 31;
    }
    return r;
}

uint64_t
sn_rng_next(sn_rng *r)
{
    uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

/* Lemire's method: returns the high half of a product and redraws in the rare biased
 * range. */
uint64_t
sn_rng_below(sn_rng *r, uint64_t n)
{
    if (n == 0)
        return 0;
    for (uint64_t strip = -n % n;;) {
        sn_u128 product = (sn_u128)sn_rng_next(r) * n;

        if ((uint64_t)product >= strip)
            return (uint64_t)(product >> 64);
    }
}

void
sn_rng_secret(void *out_bytes, size_t n)
{
    char *p = out_bytes;

    /* getrandom fails only when interrupted before the pool is ready. */
    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);

        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
}
