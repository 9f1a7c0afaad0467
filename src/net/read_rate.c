/* SPDX-License-Identifier: Apache-2.0 */
#include "net/read_rate.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/time.h"
#include "seine/shared.h"

enum {
    LEAST = 256,         /* bytes of a piece, and of the burst */
    MOST = 256 << 10,    /* bytes of a piece */
    PIECES = 100,        /* a second */
    BURSTS = 10,         /* a second */
    TOKENS = 500000,     /* a second at most: one is worth 2 µs, to 0.05 % */
    BURST_MOST = 1 << 30 /* tokens */
};

#define RATE_MOST (UINT64_C(1) << 50) /* bytes a second: nothing reads faster */

struct sn_read_rate {
    seine_shared *bucket;
    uint64_t unit;  /* bytes of a token */
    uint32_t piece; /* tokens */
    _Atomic seine_span waited;
};

static uint64_t
at_least(uint64_t n, uint64_t least)
{
    return n > least ? n : least;
}

static uint32_t
at_most(uint64_t n, uint32_t most)
{
    return n < most ? (uint32_t)n : most;
}

seine_err
sn_read_rate_new(uint64_t bytes_per_second, seine_time now, sn_read_rate **out_rate)
{
    seine_shared_opts o = SEINE_SHARED_OPTS;

    if (bytes_per_second == 0)
        return SEINE_E_INVAL;
    if (bytes_per_second > RATE_MOST)
        bytes_per_second = RATE_MOST;
    sn_read_rate *r = sn_zalloc(sizeof *r);
    if (!r)
        return SEINE_E_NOMEM;
    uint64_t burst = at_least(bytes_per_second / BURSTS, LEAST);
    uint64_t piece = at_most(at_least(bytes_per_second / PIECES, LEAST), MOST);
    r->unit = bytes_per_second / TOKENS + 1;
    r->piece = at_most(at_least(piece / r->unit, 1), BURST_MOST);
    /* of `unit` seconds, so that nothing is rounded away */
    o.rate = (seine_rate){bytes_per_second, (seine_span)r->unit * SEINE_SECS(1),
                          at_most(at_least(burst / r->unit, r->piece), BURST_MOST)};
    seine_err e = seine_shared_new(&o, now, &r->bucket);
    if (e != SEINE_OK) {
        sn_free(r);
        return e;
    }
    *out_rate = r;
    return SEINE_OK;
}

void
sn_read_rate_free(sn_read_rate *r)
{
    if (!r)
        return;
    seine_shared_free(r->bucket);
    sn_free(r);
}

size_t
sn_read_rate_room(sn_read_rate *r, uint64_t *paid, uint64_t in, seine_time now,
                  seine_time *out_at)
{
    seine_grant grant = {0};

    while (*paid <= in) {
        if (seine_shared_try(r->bucket, now, r->piece, &grant) != SEINE_OK) {
            *out_at = sn_time_add(now, grant.retry_after);
            return 0;
        }
        *paid += r->piece * r->unit;
    }
    return *paid - in < SIZE_MAX ? (size_t)(*paid - in) : SIZE_MAX;
}

void
sn_read_rate_tell(sn_read_rate *r, seine_span waited)
{
    seine_span most = atomic_load_explicit(&r->waited, memory_order_relaxed);

    while (most < waited &&
           !atomic_compare_exchange_weak_explicit(
               &r->waited, &most, waited, memory_order_relaxed, memory_order_relaxed))
        continue;
}

seine_span
sn_read_rate_waited(const sn_read_rate *r)
{
    return atomic_load_explicit(&r->waited, memory_order_relaxed);
}
