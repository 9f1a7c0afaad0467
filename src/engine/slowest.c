/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slowest.h"

#define PAUSE SEINE_MS(100) /* between two looks */

void
sn_slowest_init(sn_slowest *s)
{
    *s = (sn_slowest){.next = 0};
    pthread_mutex_init(&s->lock, NULL);
}

void
sn_slowest_fini(sn_slowest *s)
{
    pthread_mutex_destroy(&s->lock);
}

void
sn_slowest_turn(sn_slowest *s, const sn_scheduler *scheduler, seine_time now)
{
    if (!atomic_load_explicit(&s->is_wanted, memory_order_relaxed) || now < s->next)
        return;
    s->next = now + PAUSE;
    if (sn_scheduler_slowest(scheduler, now, &s->at, SN_SLOWEST_LOOK, &s->best))
        return;
    pthread_mutex_lock(&s->lock);
    s->shown = s->best;
    pthread_mutex_unlock(&s->lock);
    atomic_store_explicit(&s->is_wanted, false, memory_order_relaxed);
    s->best = (seine_fetch_slowest){.left = 0};
    s->at = 0;
}

void
sn_slowest_get(sn_slowest *s, seine_fetch_slowest *io_slowest)
{
    pthread_mutex_lock(&s->lock);
    if (s->shown.left > io_slowest->left)
        *io_slowest = s->shown;
    pthread_mutex_unlock(&s->lock);
    atomic_store_explicit(&s->is_wanted, true, memory_order_relaxed);
}
