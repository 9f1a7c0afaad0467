/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_waits.h"

#include <string.h>

#include "base/alloc.h"

void
sn_host_waits_init(sn_host_waits *w)
{
    *w = (sn_host_waits){.at = 0};
    pthread_mutex_init(&w->lock, NULL);
}

void
sn_host_waits_fini(sn_host_waits *w)
{
    pthread_mutex_destroy(&w->lock);
    sn_free(w->best);
    sn_free(w->shown);
}

void
sn_host_waits_ask(sn_host_waits *w, uint64_t ticket)
{
    atomic_store_explicit(&w->wanted, ticket, memory_order_release);
}

/* Memory comes with the first question; without it there is an empty answer. */
static bool
reserve(sn_host_waits *w)
{
    if (!w->best)
        w->best = sn_calloc(SN_HOST_WAITS, sizeof *w->best);
    if (!w->best || w->shown)
        return w->best && w->shown;
    seine_fetch_wait *shown = sn_calloc(SN_HOST_WAITS, sizeof *shown);
    pthread_mutex_lock(&w->lock);
    w->shown = shown;
    pthread_mutex_unlock(&w->lock);
    return shown != NULL;
}

/* Where the next one goes: the end, or the place of the one with fewest URLs. */
static seine_fetch_wait *
place_for(sn_host_waits *w, uint64_t waiting)
{
    size_t least = 0;

    if (w->n < SN_HOST_WAITS)
        return &w->best[w->n++];
    for (size_t i = 1; i < w->n; i++)
        if (w->best[i].waiting < w->best[least].waiting)
            least = i;
    return w->best[least].waiting < waiting ? &w->best[least] : NULL;
}

/* URLs that wait for robots.txt are known to the frontier alone. */
static void
add_shut(const sn_frontier *f, uint32_t host, seine_fetch_wait *one)
{
    seine_time until = 0;
    uint32_t shut = f ? sn_frontier_shut(f, host, &until) : 0;

    if (shut == 0)
        return;
    one->waiting += shut;
    one->is_robots = true;
    if (until > 0) {
        one->is_held = true;
        one->until = until;
    }
}

static void
look(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f, seine_time now)
{
    seine_fetch_wait one;

    for (uint32_t i = 0;
         i < SN_HOST_WAITS_LOOK && sn_scheduler_wait_at(s, w->at, now, &one);
         i++, w->at++) {
        add_shut(f, w->at, &one);
        if (one.waiting == 0 && one.in_flight == 0)
            continue;
        seine_fetch_wait *to = place_for(w, one.waiting);

        if (to)
            *to = one;
    }
}

static void
answer(sn_host_waits *w)
{
    pthread_mutex_lock(&w->lock);
    if (w->n > 0)
        memcpy(w->shown, w->best, w->n * sizeof *w->shown);
    w->n_shown = w->n;
    w->answered = w->looking;
    pthread_mutex_unlock(&w->lock);
    w->looking = 0;
}

bool
sn_host_waits_turn(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f,
                   seine_time now)
{
    uint64_t wanted = atomic_load_explicit(&w->wanted, memory_order_acquire);

    if (w->looking == 0) {
        if (wanted == w->answered) /* nobody else writes it */
            return false;
        w->looking = wanted;
        w->at = 0;
        w->n = 0;
        if (!reserve(w)) {
            answer(w);
            return false;
        }
    }
    look(w, s, f, now);
    if (sn_scheduler_wait_at(s, w->at, now, &(seine_fetch_wait){.waiting = 0}))
        return true;
    answer(w);
    return false;
}

bool
sn_host_waits_get(sn_host_waits *w, uint64_t ticket, seine_fetch_wait *out, size_t *out_n)
{
    pthread_mutex_lock(&w->lock);
    bool is_answered = w->answered >= ticket;
    *out_n = is_answered ? w->n_shown : 0;
    if (*out_n > 0)
        memcpy(out, w->shown, *out_n * sizeof *out);
    pthread_mutex_unlock(&w->lock);
    return is_answered;
}
