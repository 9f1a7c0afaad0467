/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/retry_budget.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "guard/gcra.h"

#define UNIT 1000 /* milli-units that a retry costs */

/*
 * Savings are a count of milli-units, so every ratio is exact. The reserve is the
 * limiter's one moment (gcra.h) in an atomic word. One CAS changes each word, and neither
 * word says anything about the other, so relaxed order is enough.
 */
struct seine_retry_budget {
    _Atomic uint64_t saved;
    _Atomic int64_t full; /* when the reserve is full again */
    uint64_t ratio, most;
    seine_limiter reserve; /* rate of the reserve; its moment is `full` above */
};

seine_err
seine_retry_budget_new(const seine_retry_budget_opts *opts,
                       seine_retry_budget **out_budget)
{
    if (!out_budget)
        return SEINE_E_INVAL;
    seine_limiter reserve;

    if (!sn_opts_fit(opts, sizeof *opts) || opts->cap == 0)
        return SEINE_E_INVAL;
    seine_err e = seine_limiter_init_rate(&reserve, &opts->reserve, SEINE_FULL, 0);
    if (e != SEINE_OK)
        return e;

    seine_retry_budget *b = sn_zalloc_line(sizeof *b);
    if (!b)
        return SEINE_E_NOMEM;
    b->ratio = opts->ratio_milli;
    b->most = (uint64_t)opts->cap * UNIT;
    b->reserve = reserve;
    atomic_init(&b->saved, 0);
    atomic_init(&b->full, reserve.full);
    *out_budget = b;
    return SEINE_OK;
}

void
seine_retry_budget_free(seine_retry_budget *b)
{
    sn_free_line(b);
}

static void
save(seine_retry_budget *b, uint64_t amount)
{
    uint64_t old = atomic_load_explicit(&b->saved, memory_order_relaxed), next;

    do
        next = amount < b->most - old ? old + amount : b->most;
    while (!atomic_compare_exchange_weak_explicit(
        &b->saved, &old, next, memory_order_relaxed, memory_order_relaxed));
}

static bool
spend(seine_retry_budget *b)
{
    uint64_t old = atomic_load_explicit(&b->saved, memory_order_relaxed);

    do
        if (old < UNIT)
            return false;
    while (!atomic_compare_exchange_weak_explicit(
        &b->saved, &old, old - UNIT, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static bool
draw_reserve(seine_retry_budget *b, seine_time now, seine_time *out_mark)
{
    int64_t old = atomic_load_explicit(&b->full, memory_order_relaxed);
    seine_limiter next = b->reserve;

    do {
        next.full = old;
        if (!sn_gcra_allow(&next, now, 1))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &b->full, &old, next.full, memory_order_relaxed, memory_order_relaxed));
    *out_mark = next.full;
    return true;
}

void
seine_retry_budget_deposit(seine_retry_budget *b)
{
    if (b)
        save(b, b->ratio);
}

bool
sn_retry_budget_take(seine_retry_budget *b, seine_time now, sn_retry_unit *out_unit)
{
    *out_unit = (sn_retry_unit){0};
    if (!b || spend(b))
        return true;
    out_unit->reserve = true;
    return draw_reserve(b, now, &out_unit->mark);
}

void
sn_retry_budget_give(seine_retry_budget *b, sn_retry_unit unit)
{
    int64_t mark = unit.mark;

    if (!b)
        return;
    if (!unit.reserve || !atomic_compare_exchange_strong_explicit(
                             &b->full, &mark, mark - b->reserve.every,
                             memory_order_relaxed, memory_order_relaxed))
        save(b, UNIT);
}

bool
seine_retry_budget_withdraw(seine_retry_budget *b, seine_time now)
{
    sn_retry_unit unit;

    return sn_retry_budget_take(b, now, &unit);
}
