/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_watch.h"

#include "base/alloc.h"
#include "engine/fetch.h"
#include "engine/run.h"

/* The first to watch a shard makes its watch; two at once keep one of them. */
static seine_err
begin(sn_shard_watch_place *place)
{
    sn_shard_watch *w = atomic_load_explicit(place, memory_order_acquire), *none = NULL;

    if (!w) {
        w = sn_zalloc(sizeof *w);
        if (!w)
            return SEINE_E_NOMEM;
        w->due = INT64_MIN;
        if (!atomic_compare_exchange_strong(place, &none, w)) {
            sn_free(w);
            w = none;
        }
    }
    atomic_store(&w->is_on, true);
    return SEINE_OK;
}

seine_err
sn_fetch_watch(seine_fetch *f)
{
    uint32_t n = 0;
    sn_run *const *runs = sn_fetch_runs(f, &n);
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
        e = begin(sn_run_watch(runs[i]));
    if (e == SEINE_OK)
        seine_fetch_wake(f);
    return e;
}

void
sn_fetch_unwatch(seine_fetch *f)
{
    uint32_t n = 0;
    sn_run *const *runs = sn_fetch_runs(f, &n);

    for (uint32_t i = 0; i < n; i++) {
        sn_shard_watch *w =
            atomic_load_explicit(sn_run_watch(runs[i]), memory_order_acquire);

        if (w)
            atomic_store(&w->is_on, false);
    }
}

uint32_t
sn_fetch_shards(const seine_fetch *f)
{
    uint32_t n = 0;

    (void)sn_fetch_runs(f, &n);
    return n;
}

static const sn_shard_watch *
watch_at(const seine_fetch *f, uint32_t shard)
{
    uint32_t n = 0;
    sn_run *const *runs = sn_fetch_runs(f, &n);

    return shard < n
               ? atomic_load_explicit(sn_run_watch(runs[shard]), memory_order_acquire)
               : NULL;
}

bool
sn_fetch_snapshot(const seine_fetch *f, uint32_t shard, uint64_t seq, sn_snapshot *out)
{
    const sn_shard_watch *w = watch_at(f, shard);

    return w && sn_snapshot_read(&w->slot, seq, out);
}

bool
sn_fetch_event(const seine_fetch *f, uint32_t shard, uint64_t *at, sn_watched *out_event,
               uint64_t *io_lost)
{
    const sn_shard_watch *w = watch_at(f, shard);

    return w && sn_event_ring_next(&w->ring, at, out_event, io_lost);
}
