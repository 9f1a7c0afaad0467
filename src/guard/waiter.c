/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/waiter.h"

static void
poke(void *arg)
{
    sn_waiter_poke(arg);
}

void
sn_waiter_arm(sn_waiter *w, seine_ctx *ctx)
{
    *w = (sn_waiter){.clock = seine_ctx_clock(ctx), .hook = {.fn = poke, .arg = w}};
    seine_ctx_on_done(ctx, &w->hook);
}

void
sn_waiter_disarm(sn_waiter *w, seine_ctx *ctx)
{
    seine_ctx_off_done(ctx, &w->hook);
}

bool
sn_waiter_park(sn_waiter *w, seine_time until)
{
    while (!__atomic_exchange_n(&w->word, 0, __ATOMIC_SEQ_CST))
        if (!w->clock->wait(w->clock, &w->word, 0, until))
            return __atomic_exchange_n(&w->word, 0, __ATOMIC_SEQ_CST);
    return true;
}

sn_wake
sn_waiter_mark(sn_waiter *w)
{
    if (!w)
        return (sn_wake){0};

    /* Reads the clock first: after the store the waiter may be gone. */
    sn_wake wake = {w->clock, &w->word};
    __atomic_store_n(&w->word, 1, __ATOMIC_SEQ_CST);
    return wake;
}

void
sn_wake_up(sn_wake wake)
{
    if (wake.clock)
        wake.clock->wake(wake.clock, wake.word, 1);
}

void
sn_waiter_poke(sn_waiter *w)
{
    sn_wake_up(sn_waiter_mark(w));
}

void
sn_waitq_push(sn_waitq *q, sn_waiter *w)
{
    w->next = NULL;
    w->prev = q->tail;
    if (q->tail)
        q->tail->next = w;
    else
        q->head = w;
    q->tail = w;
    q->n++;
}

void
sn_waitq_remove(sn_waitq *q, sn_waiter *w)
{
    if (w->prev)
        w->prev->next = w->next;
    else
        q->head = w->next;
    if (w->next)
        w->next->prev = w->prev;
    else
        q->tail = w->prev;
    w->next = w->prev = NULL;
    q->n--;
}
