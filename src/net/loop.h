/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - an event loop: one thread waits for many sockets and timers.
 *
 * A descriptor is registered once, edge-triggered for both directions, without further
 * epoll_ctl calls. Timers sit on a timer wheel and are exact to the nanosecond
 * (epoll_pwait2). A turn waits, reads the clock once, calls back every ready descriptor
 * and every due timer once, and returns. It may return without any event.
 *
 *     sn_watch watch = {.ready = on_event};
 *     sn_timer timer = {.fire = on_time};
 *     e = sn_loop_init(&loop, clock);
 *     e = sn_loop_add(&loop, fd, &watch);
 *     sn_timer_set(&loop, &timer, loop.now + SEINE_SECS(5));
 *     now = sn_loop_turn(&loop, SEINE_NEVER);
 *
 * Setting a timer to a later time costs one store: it stays where it is on the wheel and
 * moves on when its first time comes. So a connection that serves a thousand requests,
 * each with its own deadline, rarely touches the wheel.
 *
 * A timer that is set to an earlier time, or forgotten, leaves a dead slot behind. Dead
 * slots are freed when they come due, or all at once when the slots are used up. There
 * are twice as many slots as reserved timers, so that set always finds one.
 *
 * Time    `now` is read once per turn, after the wait; a second reading before the wait
 *         only measures the turn and the length of the wait.
 * Memory  the events of one turn, and two slots per timer, which grow.
 * Threads one owner; sn_loop_wake from any thread and from a signal handler.
 */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "base/timer_wheel.h"
#include "seine/clock.h"

struct epoll_event;

/* Part of the owner of a descriptor. */
typedef struct sn_watch {
    void (*ready)(struct sn_watch *w,
                  uint32_t events); /* EPOLLIN, OUT, RDHUP, HUP, ERR */
} sn_watch;

/* Part of an owner that has a deadline; zeroed means not set. */
typedef struct sn_timer {
    void (*fire)(struct sn_timer *t, seine_time now); /* the timer is no longer set */
    seine_time at;                                    /* SEINE_NEVER or slot 0: not set */
    uint32_t slot;                                    /* its slot + 1; 0: none */
} sn_timer;

typedef struct sn_loop {
    int epoll, event, timerfd; /* timerfd: only after sn_loop_fd */
    seine_clock *clock;
    seine_time now;
    sn_timer_wheel wheel;
    struct sn_timer_slot *slots;
    uint32_t n_slots, free_slot;
    uint32_t reserved;  /* timers; never more than half of the slots */
    uint32_t held_back; /* slots set to the past while timers fire: next turn */
    struct epoll_event *events;
    int n_events, at_event; /* of this turn */
    uint32_t woken;         /* atomic: a wake is pending */
    bool turning, firing;
    bool coarse;      /* the kernel has no epoll_pwait2 */
    seine_time armed; /* when the timerfd fires */
    uint64_t turns;
    seine_time asked;   /* when the loop last polled */
    seine_span longest; /* turn so far, without waiting */
} sn_loop;

/* NOMEM; NO_FILES. */
SEINE_MUST_CHECK seine_err sn_loop_init(sn_loop *l, seine_clock *clock);
void sn_loop_fini(sn_loop *l); /* registered descriptors stay open */

/* Registers edge-triggered, in and out. NO_FILES, NOMEM; INVAL: not open, or already
 * registered. */
SEINE_MUST_CHECK seine_err sn_loop_add(sn_loop *l, int fd, sn_watch *w);
/* Level-triggered with these events, which may be changed: for libraries with sockets of
 * their own. */
SEINE_MUST_CHECK seine_err sn_loop_add_level(sn_loop *l, int fd, sn_watch *w,
                                             uint32_t events);
SEINE_MUST_CHECK seine_err sn_loop_set_level(sn_loop *l, int fd, sn_watch *w,
                                             uint32_t events);
/* Unregisters; drops pending events of this turn for `w`, so that its owner may be freed.
 * The descriptor stays open. */
void sn_loop_del(sn_loop *l, int fd, sn_watch *w);

/* Waits for events until `until`; does not wait if that is past. */
seine_time sn_loop_turn(sn_loop *l, seine_time until);
void sn_loop_wake(sn_loop *l);

/* Returns a descriptor that is readable when a turn has something to do; from the first
 * call on this includes timers. -1: no descriptor is left. */
int sn_loop_fd(sn_loop *l);

/* Returns when to call turn again, not after the next timer; SEINE_NEVER without
 * timers. */
seine_time sn_loop_when(const sn_loop *l);

/* Reserves a slot for one more timer, so that set cannot fail. Call it once when the
 * owner of a timer is made, and sn_timer_forget once when it is freed. NOMEM. */
SEINE_MUST_CHECK seine_err sn_timer_reserve(sn_loop *l);
void sn_timer_forget(sn_loop *l, sn_timer *t);

/* Fires in the first turn whose `now` is not before `at`; due timers fire in order of
 * time. A timer set to the past while timers fire waits for the next turn. NEVER clears
 * it. */
void sn_timer_set(sn_loop *l, sn_timer *t, seine_time at);
void sn_timer_clear(sn_timer *t);

#endif
