/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - threads on a fake clock, for tests of what blocks.
 *
 *     crew c = crew_new(T0);
 *     crew_add(&c, wait_for_a_token, &job);
 *     crew_advance(&c, SEINE_MS(100));      returns when all are parked or done
 *     crew_end(&c);                         joins them and frees the clock
 *
 * A thread has entered the clock before crew_add returns, so that nothing that
 * happens depends on how fast threads start. crew_add waits until the thread is
 * parked or done: threads act in the order in which they are added.
 */
#ifndef CREW_H
#define CREW_H

#include <pthread.h>

#include <seine/clock.h>
#include <seine/ctx.h>

typedef struct crew {
    seine_clock *clock;
    seine_ctx *ctx; /* a root on that clock */
    pthread_t threads[64];
    int n;
} crew;

crew crew_new(seine_time now);
void crew_add(crew *c, void (*fn)(void *arg), void *arg);
void crew_advance(crew *c, seine_span d);
seine_time crew_now(const crew *c);
void crew_join(crew *c); /* the threads end by themselves; may be used again */
void crew_end(crew *c);

#endif
