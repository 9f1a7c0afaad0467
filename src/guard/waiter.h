/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiter.h - a blocked thread in a FIFO queue, and how it is woken.
 *
 * Every blocking call in guard/ uses this: a waiter on the thread's own stack, a place in
 * a queue that the owner's lock protects, and a futex word to park on.
 *
 *     sn_waiter_arm(&w, ctx);              a cancellation pokes it from here on
 *     sn_waitq_push(&q, &w);               under the lock
 *     while (!is_decided())                looks under the lock
 *         sn_waiter_park(&w, until);
 *     sn_waiter_disarm(&w, ctx);
 *
 * A thread that changes what a waiter waits for marks the waiter under the lock, keeps
 * the sn_wake, and wakes with it after unlocking. The waiter cannot leave before it has
 * taken the lock once more, and waking an address that nobody waits on does no harm.
 *
 * Time    parks on the clock of the ctx it was armed with.
 * Memory  the waiter's stack.
 * Threads the queue belongs to a lock; marking needs that lock.
 */
#ifndef SN_WAITER_H
#define SN_WAITER_H

#include "seine/clock.h"
#include "seine/ctx.h"

typedef struct sn_waiter {
    uint32_t word; /* 1: look again */
    bool granted;  /* for the owner, under its lock */
    uint64_t want;
    const void *data;
    seine_clock *clock;
    seine_ctx_hook hook;
    struct sn_waiter *next, *prev;
} sn_waiter;

/* The thread to wake once the lock is free. */
typedef struct sn_wake {
    seine_clock *clock;
    const uint32_t *word;
} sn_wake;

typedef struct sn_waitq {
    sn_waiter *head, *tail;
    uint32_t n;
} sn_waitq;

/* Clears the word; from now on a cancellation of ctx pokes the waiter. */
void sn_waiter_arm(sn_waiter *w, seine_ctx *ctx);

/* After this returns no cancellation pokes the waiter. */
void sn_waiter_disarm(sn_waiter *w, seine_ctx *ctx);

/* Parks until marked or poked (true), or until `until` (false). */
bool sn_waiter_park(sn_waiter *w, seine_time until);

/* Under the owner's lock: makes the waiter look again. NULL marks nothing. */
sn_wake sn_waiter_mark(sn_waiter *w);

/* Without the lock: wakes the marked waiter. An empty sn_wake is fine. */
void sn_wake_up(sn_wake wake);

/* Marks and wakes in one step, for callers that hold no lock. */
void sn_waiter_poke(sn_waiter *w);

void sn_waitq_push(sn_waitq *q, sn_waiter *w);
void sn_waitq_remove(sn_waitq *q, sn_waiter *w);

#endif
