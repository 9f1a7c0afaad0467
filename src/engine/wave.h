/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.h - do these failures say that the host is down?
 *
 * With fifty requests in flight, five failures that come at once say little: the other
 * forty-five may be answered well, and failures are often quicker than successes. So a
 * row that has reached the threshold is judged when the requests that are in flight then,
 * the wave, have ended. Nothing new starts at the host meanwhile, and one success ends
 * the row: a dead host costs the threshold and the wave, and a flaky one costs nothing.
 *
 * Where failures are usual a row must be longer: when half of the requests fail, five in
 * a row are nothing special. A row counts only if its chance, at the share of failures
 * before it, is below one in a million.
 *
 *     uint32_t ticket = sn_wave_start(&wave);
 *     if (sn_wave_is_pending(&wave, 5))
 *         wait();
 *     sn_wave_end(&wave, ticket, outcome, in_flight, 5);
 *     if (sn_wave_is_over(&wave, 5))
 *         seine_breaker_force(&breaker, SEINE_BREAKER_OPEN, now);
 *
 * Time    plays no part: it is about order.
 * Memory  32 bytes, the caller's.
 * Threads one owner.
 */
#ifndef SN_WAVE_H
#define SN_WAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/outcome.h"

typedef struct sn_wave {
    uint64_t recent;   /* how the last requests ended, the newest lowest; 1: it failed */
    uint32_t starts;   /* so far */
    uint32_t since;    /* requests that started before it say nothing any more */
    uint32_t mark;     /* those before it are of the wave */
    uint32_t left;     /* of the wave, still in flight */
    uint32_t row;      /* failures since the last success */
    uint8_t n_recent;  /* up to 64 */
    bool has_answered; /* well, once */
} sn_wave;

/* A request starts; its number goes to sn_wave_end. */
static inline uint32_t
sn_wave_start(sn_wave *w)
{
    return w->starts++;
}

/* That request has ended; `in_flight` are those of the host that have not. `threshold`
 * failures in a row are worth a judgement, here and below; 0: rows do not count. */
void sn_wave_end(sn_wave *w, uint32_t ticket, seine_outcome how, uint32_t in_flight,
                 uint32_t threshold);

/* Is there a row that cannot be judged yet? */
static inline bool
sn_wave_is_pending(const sn_wave *w, uint32_t threshold)
{
    return threshold > 0 && w->row >= threshold && w->left > 0;
}

/* Has a row ended that says that the host is down? */
bool sn_wave_is_over(const sn_wave *w, uint32_t threshold);

/* The breaker has changed: what is in flight says nothing any more, and the row is not
 * what the host is usually like. */
void sn_wave_clear(sn_wave *w);

#endif
