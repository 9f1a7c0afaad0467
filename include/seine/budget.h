/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - is there enough of everything to begin this?
 *
 * A process has so much memory, so many descriptors, so many requests at once and
 * so many bytes it may download. Work reserves what it wants of each before it
 * begins, all or nothing, grows by asking first, and gives back what it holds:
 *
 *     seine_want limits = {{512 << 20, 960, 100, UINT64_MAX}}, want = {{64 << 10, 1, 1}};
 *     seine_held held;
 *     if (seine_budget_try(b, &want, &held) == SEINE_OK) {
 *         if (seine_budget_grow(&held, SEINE_RES_MEMORY, 64 << 10) != SEINE_OK)
 *             stop_reading();
 *         seine_budget_release(&held);
 *     }
 *
 * Nothing new begins while used + wanted is more than the limit. DOWNLOAD is a
 * quota: what is spent does not come back, and it refuses once more than the limit
 * is spent, so the response that crosses the line is kept. Who waits is served in
 * order, the first with its whole want before the second with any. A NULL budget
 * is off: it admits.
 *
 * Time    plays no part; seine_budget_wait uses the clock of its ctx.
 * Memory  one allocation at new; nothing per reservation.
 * Threads any thread. What is held has one owner.
 */
#ifndef SEINE_BUDGET_H
#define SEINE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"

typedef enum seine_res {
    SEINE_RES_MEMORY,   /* bytes in use */
    SEINE_RES_FDS,      /* descriptors open; usual limit: RLIMIT_NOFILE - 64 */
    SEINE_RES_REQUESTS, /* under way */
    SEINE_RES_DOWNLOAD, /* bytes received so far: only ever grows */
} seine_res;

/* Elements of a want. It is part of the contract and does not grow. */
#define SEINE_RES_ROOM 4
#define SEINE_RES_NONE ((seine_res)SEINE_RES_ROOM)

typedef struct seine_want {
    uint64_t n[SEINE_RES_ROOM];
} seine_want;

typedef struct seine_budget seine_budget;

typedef struct seine_held {
    seine_budget *of; /* NULL: nothing is held, or the budget is off */
    seine_want has;
} seine_held;

SEINE_BEGIN

/* UINT64_MAX = unlimited. */
SEINE_MUST_CHECK seine_err seine_budget_new(const seine_want *limits,
                                            seine_budget **out_budget);
void seine_budget_free(seine_budget *b); /* nobody waits and nothing is held */

/* All or nothing. BUDGET: not now, or somebody waits. RANGE: never possible. */
SEINE_MUST_CHECK seine_err seine_budget_try(seine_budget *b, const seine_want *want,
                                            seine_held *out_held);

/* Waits its turn until the ctx is done. RANGE at once; BUDGET as soon as the
 * download quota is spent, since no release brings that back. */
SEINE_MUST_CHECK seine_err seine_budget_wait(seine_budget *b, seine_ctx *ctx,
                                             const seine_want *want,
                                             seine_held *out_held);

/* Before the buffer grows. BUDGET: unchanged. Looks at this resource alone and
 * does not queue: who holds something must be able to finish. INVAL: no such
 * resource. */
SEINE_MUST_CHECK seine_err seine_budget_grow(seine_held *held, seine_res res,
                                             uint64_t more);

/* Gives back part, at most what is held; of DOWNLOAD nothing. */
void seine_budget_shrink(seine_held *held, seine_res res, uint64_t less);

/* Gives back all but DOWNLOAD. Idempotent; empty is fine. */
void seine_budget_release(seine_held *held);

/* The resource that refused last; SEINE_RES_NONE: none has. */
seine_res seine_budget_short(const seine_budget *b);
void seine_budget_used_get(const seine_budget *b, seine_want *out_used);

/* For callers that only count: is everything used at most its limit? One request
 * more; one less (never below none), and so many bytes downloaded. */
bool seine_budget_can_proceed(const seine_budget *b);
void seine_budget_start(seine_budget *b);
void seine_budget_end(seine_budget *b, uint64_t bytes);

SEINE_END

#endif
