/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - are there enough resources to begin this work?
 *
 * A process has limited memory, descriptors, requests at once, and bytes that it may
 * download. Work reserves what it wants of each before it begins, all or nothing, asks
 * before it grows, and gives back what it holds:
 *
 *     seine_want limits = {{512 << 20, 960, 100, UINT64_MAX}}, want = {{64 << 10, 1, 1}};
 *     seine_held held;
 *     if (seine_budget_try(b, &want, &held) == SEINE_OK) {
 *         if (seine_budget_grow(&held, SEINE_RES_MEMORY, 64 << 10) != SEINE_OK)
 *             stop_reading();
 *         seine_budget_release(&held);
 *     }
 *
 * No work begins while used + wanted is more than the limit. DOWNLOAD is a quota: spent
 * bytes do not come back. It refuses once more than the limit is spent, so the response
 * that crosses the limit is kept. Waiters are served in order: the first gets its whole
 * want before the second gets anything. A NULL budget is off: it admits.
 *
 * Time    plays no part; seine_budget_wait uses the clock of its ctx.
 * Memory  one allocation at new; nothing per reservation.
 * Threads any thread. A seine_held has one owner.
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
    SEINE_RES_REQUESTS, /* in flight */
    SEINE_RES_DOWNLOAD, /* bytes received so far; never shrinks */
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

/* All or nothing. BUDGET: not now, or others wait. RANGE: never possible. */
SEINE_MUST_CHECK seine_err seine_budget_try(seine_budget *b, const seine_want *want,
                                            seine_held *out_held);

/* Waits its turn until the ctx is done. RANGE at once. BUDGET as soon as the download
 * quota is spent, since no release brings it back. */
SEINE_MUST_CHECK seine_err seine_budget_wait(seine_budget *b, seine_ctx *ctx,
                                             const seine_want *want,
                                             seine_held *out_held);

/* Call before the buffer grows. BUDGET: unchanged. Checks this resource alone and does
 * not queue, because work that holds something must be able to finish. INVAL: no such
 * resource. */
SEINE_MUST_CHECK seine_err seine_budget_grow(seine_held *held, seine_res res,
                                             uint64_t more);

/* Counts what is there already, even beyond the limit: nobody else gets anything until it
 * is given back. */
void seine_budget_force(seine_held *held, seine_res res, uint64_t more);

/* Gives back a part, at most what is held; DOWNLOAD gives nothing back. */
void seine_budget_shrink(seine_held *held, seine_res res, uint64_t less);

/* Gives back all but DOWNLOAD. Idempotent; empty is fine. */
void seine_budget_release(seine_held *held);

/* The resource that refused last; SEINE_RES_NONE: none has. */
seine_res seine_budget_short(const seine_budget *b);
void seine_budget_used_get(const seine_budget *b, seine_want *out_used);

/* For callers that only count. can_proceed: is every use at most its limit? start adds a
 * request; end removes one (never below 0) and adds the bytes it downloaded. */
bool seine_budget_can_proceed(const seine_budget *b);
void seine_budget_start(seine_budget *b);
void seine_budget_end(seine_budget *b, uint64_t bytes);

SEINE_END

#endif
