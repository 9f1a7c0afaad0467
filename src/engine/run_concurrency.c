/* SPDX-License-Identifier: Apache-2.0 */
/* How many requests may be in flight: fewer while this machine lacks descriptors or
 * ports, none while memory is short or the outputs or the mail between shards are full.
 */
#include "base/log.h"
#include "base/time.h"
#include "engine/run_parts.h"
#include "store/fleet_worker.h"

#define NARROW      SEINE_SECS(10) /* fewer requests start for this long */
#define NARROW_STEP SEINE_SECS(1)  /* the next quarter goes after this at the earliest */
#define MAIL_MOST   (8u << 20)     /* bytes between shards; above, nothing starts */

void
sn_run_narrow(sn_run *r, seine_err why)
{
    sn_shared_state *c = r->shared;

    if (r->narrow_until == SEINE_NEVER || r->now - r->narrowed_at >= NARROW_STEP) {
        uint32_t percent = atomic_load_explicit(&c->narrowed, memory_order_relaxed);

        atomic_store_explicit(&c->narrowed, percent > 4 ? percent * 3 / 4 : 3,
                              memory_order_relaxed);
        r->narrowed_at = r->now;
        SN_SAY(c->opts.log, WARN, "concurrency.narrowed",
               "this machine has no more: fewer requests at once for 10 s",
               SN_E("err", why));
    }
    r->narrow_until = sn_time_add(r->now, NARROW);
}

void
sn_run_widen(sn_run *r)
{
    if (r->narrow_until > r->now)
        return;
    r->narrow_until = SEINE_NEVER;
    atomic_store(&r->shared->narrowed, 100);
    sn_run_wake_held(r);
}

static bool
may_start(const sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;
    uint32_t percent = atomic_load_explicit(&r->shared->narrowed, memory_order_relaxed);

    if (o->ready && !o->ready(r->index, o->arg))
        return false;
    if (atomic_load_explicit(&r->shared->paused, memory_order_relaxed))
        return false;
    if (r->shared->fleet && !sn_fleet_may_start(r->shared->fleet))
        return false;
    if (!sn_memory_brake_may_start(r->shared->brake))
        return false;
    if (r->frontier && sn_frontier_is_behind(r->frontier))
        return false;
    if (atomic_load_explicit(&r->shared->mail_bytes, memory_order_relaxed) > MAIL_MOST)
        return false;
    return percent >= 100 ||
           (uint64_t)seine_throttle_in_flight(&r->shared->in_flight) * 100 <
               (uint64_t)seine_throttle_limit(&r->shared->in_flight) * percent;
}

sn_feed_hold
sn_run_hold_reason(const sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;

    if (!r->held)
        return SN_HOLD_NONE;
    if (atomic_load_explicit(&r->shared->paused, memory_order_relaxed))
        return SN_HOLD_PAUSED;
    if (o->ready && !o->ready(r->index, o->arg))
        return SN_HOLD_OUTPUT;
    return sn_memory_brake_may_start(r->shared->brake) ? SN_HOLD_NONE : SN_HOLD_MEMORY;
}

void
sn_run_obey_tunes(sn_run *r)
{
    sn_tune tune;

    while (sn_tunes_next(&r->shared->tunes, &r->tuned, &tune)) {
        seine_err e = sn_scheduler_tune(r->scheduler, &tune, r->now);

        if (e != SEINE_OK)
            SN_SAY(r->shared->opts.log, WARN, "limits.kept",
                   "no memory to change limits: the old ones hold", SN_E("err", e));
    }
}

/* A shard says that it is held, and then looks once more: whoever made room in between
 * did not wake it. */
bool
sn_run_hold(sn_run *r)
{
    bool may = may_start(r);

    if (!may && !r->held) {
        r->held = true;
        atomic_fetch_add(&r->shared->held, 1);
        may = may_start(r);
    }
    if (may && r->held) {
        r->held = false;
        atomic_fetch_sub(&r->shared->held, 1);
    }
    return r->held;
}

void
sn_run_wake_others(sn_run *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (i != r->index)
            sn_run_wake(r->all[i]);
}

void
sn_run_wake_held(sn_run *r)
{
    if (r->n > 1 && atomic_load(&r->shared->held) > 0)
        sn_run_wake_others(r);
}

void
sn_run_wake_starved(sn_run *r)
{
    if (r->freed_slots && r->n > 1) {
        if (atomic_load(&r->shared->starving) > 0)
            sn_run_wake_others(r);
        else if (atomic_load(&r->shared->narrowed) < 100)
            sn_run_wake_held(r);
    }
    r->freed_slots = false;
}
