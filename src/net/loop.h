/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - one thread waiting for many sockets and moments.
 *
 * A descriptor is registered once, edge-triggered for both directions, and never
 * touched by epoll_ctl again; timers sit on a wheel and are exact to the nanosecond
 * (epoll_pwait2); the clock is read once per turn. A turn waits, reads the clock, lets
 * every ready descriptor and every due timer speak once, and returns. It may return for
 * no reason.
 *
 *     e = sn_loop_init(&loop, clock);
 *     e = sn_loop_add(&loop, fd, &conn->watch);     conn->watch.ready is called
 *     sn_timer_set(&loop, &conn->timer, loop.now + SEINE_SECS(5));
 *     now = sn_loop_turn(&loop, SEINE_NEVER);
 *
 * Setting a timer to a later moment than it had costs one store: it stays where it is
 * on the wheel and moves on when its first moment comes. So a connection that serves a
 * thousand requests, each with its own deadline, touches the wheel once in a while.
 *
 * A timer that is set to an earlier moment, or forgotten, leaves a dead slot behind. The
 * dead are buried when they come due, or all at once when the slots are used up: there
 * are twice as many as timers reserved, so that set always finds one.
 *
 * Time    `now` is read once per turn, after the wait; a second look before the wait
 *         only says how long it may be and how long the turn was.
 * Memory  room for one turn's events, and two slots per timer, which grow.
 * Threads one owner; sn_loop_wake from any thread and from a signal handler.
 */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "base/timer_wheel.h"
#include "seine/clock.h"

struct epoll_event;

/* Part of whatever owns the descriptor. */
typedef struct sn_watch {
    void (*ready)(struct sn_watch *w,
                  uint32_t events); /* EPOLLIN, OUT, RDHUP, HUP, ERR */
} sn_watch;

/* Part of whatever has a deadline; zeroed means not set. */
typedef struct sn_timer {
    void (*fire)(struct sn_timer *t, seine_time now); /* the timer is not set any more */
    seine_time at;                                    /* SEINE_NEVER or slot 0: not set */
    uint32_t slot;                                    /* on the wheel + 1; 0: none */
} sn_timer;

typedef struct sn_loop {
    int epoll, event, timerfd; /* timerfd: only when somebody watches sn_loop_fd */
    seine_clock *clock;
    seine_time now;
    sn_timer_wheel wheel;
    struct sn_timer_slot *slots;
    uint32_t n_slots, free_slot;
    uint32_t reserved;  /* timers; never more than half of the slots */
    uint32_t held_back; /* slots set to a past moment while timers fire: next turn's */
    struct epoll_event *events;
    int n_events, at_event; /* of this turn */
    uint32_t woken;         /* atomic: the event is on its way */
    bool turning, firing;
    bool coarse;      /* the kernel has no epoll_pwait2 */
    seine_time armed; /* what the timerfd waits for */
    uint64_t turns;
    seine_time asked;   /* when a wait was last spent asking */
    seine_span longest; /* turn so far, waiting not counted */
} sn_loop;

/* NOMEM; NO_FILES. */
SEINE_MUST_CHECK seine_err sn_loop_init(sn_loop *l, seine_clock *clock);
void sn_loop_fini(sn_loop *l); /* descriptors that are registered stay their owners' */

/* Edge-triggered, in and out. NO_FILES, NOMEM; INVAL: not open, or here already. */
SEINE_MUST_CHECK seine_err sn_loop_add(sn_loop *l, int fd, sn_watch *w);
/* Level-triggered with these events, which may be changed: for libraries that have
 * sockets of their own. */
SEINE_MUST_CHECK seine_err sn_loop_add_level(sn_loop *l, int fd, sn_watch *w,
                                             uint32_t events);
SEINE_MUST_CHECK seine_err sn_loop_set_level(sn_loop *l, int fd, sn_watch *w,
                                             uint32_t events);
/* Unregisters; events of this turn that are still to come for `w` are forgotten, so that
 * its owner may be freed. The descriptor is still open. */
void sn_loop_del(sn_loop *l, int fd, sn_watch *w);

/* Waits until something happens or `until`; not at all if that is past. */
seine_time sn_loop_turn(sn_loop *l, seine_time until);
void sn_loop_wake(sn_loop *l);

/* Readable when a turn has something to do; the next timer included from the first
 * call on. -1: there is no descriptor left. */
int sn_loop_fd(sn_loop *l);

/* When to look again: not after the next timer is due; SEINE_NEVER without any. */
seine_time sn_loop_when(const sn_loop *l);

/* Makes room for one more timer, so that set cannot fail for it; call it once when the
 * owner of a timer is made, sn_timer_forget once when it goes. NOMEM. */
SEINE_MUST_CHECK seine_err sn_timer_reserve(sn_loop *l);
void sn_timer_forget(sn_loop *l, sn_timer *t);

/* Fires in the first turn whose `now` is not before `at`, with the others that are due
 * ordered by their moments. Set while timers fire, to a moment that is past: in the next
 * turn. NEVER clears it. */
void sn_timer_set(sn_loop *l, sn_timer *t, seine_time at);
void sn_timer_clear(sn_timer *t);

#endif
