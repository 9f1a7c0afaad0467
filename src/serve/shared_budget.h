/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_budget.h - several gates have one budget, in Redis, or a share of it each.
 *
 *     sn_budget_call call = {.policy = {…}, .key = key, .done = on_decided};
 *     sn_shared_budget_try(b, now, &call);           done is called once, now or later
 *
 * Together: each token is asked for (store/redis_bucket.h). Apart, when Redis cannot be
 * asked: this member has a share of its own, the budget divided by the members that it
 * last heard of. The share is empty when it begins, and the way back together empties the
 * shared buckets: so the members never admit more than one budget, as
 * docs/internals/redis.md says with the limits of it.
 *
 * Whoever owns the client calls up and down from its hooks, and tick at sn_…_when.
 *
 * Time    is passed in; a reply has the client's deadline.
 * Memory  a table of clients per policy while it is apart.
 * Threads one owner.
 */
#ifndef SN_SHARED_BUDGET_H
#define SN_SHARED_BUDGET_H

#include "seine/keyed.h"
#include "seine/log.h"
#include "store/redis_bucket.h"

#define SN_BUDGET_BEAT SEINE_SECS(1) /* between two signs of life */
#define SN_BUDGET_POLL SEINE_MS(100) /* the same, on the way back */
#define SN_BUDGET_BACK \
    SEINE_SECS(2) /* in which all that live are back: each tries once a second */
#define SN_BUDGET_WAIT SN_REDIS_LIVE /* for members that do not come back */

typedef struct sn_shared_budget sn_shared_budget;

typedef struct sn_budget_policy {
    const char *name; /* valid until the call is done */
    seine_rate rate;
    uint32_t max_keys;
    seine_overflow overflow;
} sn_budget_policy;

/* Part of whoever waits for a decision. */
typedef struct sn_budget_call {
    sn_budget_policy policy;
    seine_view key; /* valid until the call is done, up to 64 bytes */
    /* As the result of seine_keyed_try. */
    void (*done)(struct sn_budget_call *c, seine_err e, const seine_grant *grant);
    sn_shared_budget *of;
    seine_limiter shape;
} sn_budget_call;

typedef struct sn_shared_budget_stats {
    bool is_together;
    uint32_t members;                   /* last known, this one included */
    uint64_t asked, shared_out, failed; /* decisions by Redis, by the share; losses */
} sn_shared_budget_stats;

/* Apart until the client is up, with everything for itself. NOMEM. */
SEINE_MUST_CHECK seine_err sn_shared_budget_new(sn_redis *redis, const char *shown_url,
                                                seine_log *log, seine_time now,
                                                sn_shared_budget **out_budget);
void sn_shared_budget_free(sn_shared_budget *b);

/* The client is up, or down. */
void sn_shared_budget_up(sn_shared_budget *b, seine_time now);
void sn_shared_budget_down(sn_shared_budget *b, seine_time now);

void sn_shared_budget_tick(sn_shared_budget *b, seine_time now);
seine_time sn_shared_budget_when(const sn_shared_budget *b);

void sn_shared_budget_try(sn_shared_budget *b, seine_time now, sn_budget_call *call);

/* Says good-bye, so that the others need not wait for this member. */
void sn_shared_budget_leave(sn_shared_budget *b, seine_time now);

void sn_shared_budget_stats_get(const sn_shared_budget *b,
                                sn_shared_budget_stats *out_stats);

#endif
