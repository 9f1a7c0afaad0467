/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"

#define NEAR   SEINE_US(100) /* shorter waits poll instead of sleeping */
#define REST   SEINE_MS(2)
#define SPINS  4096
#define EVENTS 512
#define SLOTS  1024 /* at first */
#define MS     SEINE_MS(1)
#define BOTH   (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

/*
 * A slot is free, or in use for its timer (on the wheel or held back), or dead: on the
 * wheel without a timer. Between two calls these hold: a timer has at most one slot, and
 * slot.at <= timer.at. So `reserved` timers use at most `reserved` slots, which is at
 * most half of all, and when no slot is free at least half of them are dead.
 */
typedef struct sn_timer_slot {
    seine_time at;   /* used by the wheel */
    sn_timer *timer; /* NULL: free or dead */
    uint32_t link;   /* used by the wheel; next free or held back */
} slot;

_Static_assert(sizeof(slot) == 24, "docs/internals/loop.md says so");

static seine_err
error_of(int why)
{
    if (why == ENOMEM)
        return SEINE_E_NOMEM;
    if (why == EMFILE || why == ENFILE || why == ENOSPC)
        return SEINE_E_NO_FILES;
    return SEINE_E_INVAL;
}

static void
push_slot(sn_loop *l, uint32_t *list, uint32_t i)
{
    l->slots[i].link = *list;
    *list = i;
}

static void
release(sn_loop *l, uint32_t i)
{
    l->slots[i].timer = NULL;
    push_slot(l, &l->free_slot, i);
}

static void
shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The loop's own descriptors are told from watches by their address. They are never read:
 * edge-triggered, every write and every expiry is an event. */
static seine_err
own(sn_loop *l, int *fd)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = fd};

    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, *fd, &e) == 0 ? SEINE_OK : error_of(errno);
}

static seine_err
open_all(sn_loop *l)
{
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll < 0)
        return error_of(errno);
    l->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return l->event < 0 ? error_of(errno) : own(l, &l->event);
}

seine_err
sn_loop_init(sn_loop *l, seine_clock *clock)
{
    *l = (sn_loop){.epoll = -1,
                   .event = -1,
                   .timerfd = -1,
                   .clock = clock,
                   .now = clock->now(clock),
                   .free_slot = SN_NONE,
                   .held_back = SN_NONE,
                   .armed = SEINE_NEVER};
    l->events = sn_calloc(EVENTS, sizeof *l->events);
    l->slots = sn_calloc(SLOTS, sizeof *l->slots);

    seine_err e = SEINE_E_NOMEM;
    if (l->events && l->slots)
        e = sn_timer_wheel_init(&l->wheel,
                                &SN_TIMER_WHEEL_ITEMS(l->slots, link, at, SLOTS), l->now);
    if (e == SEINE_OK)
        e = open_all(l);
    if (e != SEINE_OK) {
        sn_loop_fini(l);
        return e;
    }
    for (l->n_slots = 0; l->n_slots < SLOTS; l->n_slots++)
        release(l, l->n_slots);
    return SEINE_OK;
}

void
sn_loop_fini(sn_loop *l)
{
    shut(&l->timerfd);
    shut(&l->event);
    shut(&l->epoll);
    sn_timer_wheel_fini(&l->wheel);
    sn_free(l->slots);
    sn_free(l->events);
    l->slots = NULL;
    l->events = NULL;
}

static seine_err
control(sn_loop *l, int how, int fd, sn_watch *w, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = w};

    return epoll_ctl(l->epoll, how, fd, &e) == 0 ? SEINE_OK : error_of(errno);
}

seine_err
sn_loop_add(sn_loop *l, int fd, sn_watch *w)
{
    return control(l, EPOLL_CTL_ADD, fd, w, BOTH);
}

seine_err
sn_loop_add_level(sn_loop *l, int fd, sn_watch *w, uint32_t events)
{
    return control(l, EPOLL_CTL_ADD, fd, w, events);
}

seine_err
sn_loop_set_level(sn_loop *l, int fd, sn_watch *w, uint32_t events)
{
    return control(l, EPOLL_CTL_MOD, fd, w, events);
}

void
sn_loop_del(sn_loop *l, int fd, sn_watch *w)
{
    struct epoll_event unused = {0};

    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, &unused);
    for (int i = l->at_event; i < l->n_events; i++)
        if (l->events[i].data.ptr == w)
            l->events[i].data.ptr = NULL;
}

/* Many wakes before the loop looks are one write. What a thread did before a wake that
 * wrote nothing is visible after the exchange in `speak`. */
void
sn_loop_wake(sn_loop *l)
{
    uint64_t one = 1;
    int before = errno;

    if (!__atomic_exchange_n(&l->woken, 1, __ATOMIC_ACQ_REL) &&
        write(l->event, &one, sizeof one) < 0)
        __atomic_store_n(&l->woken, 0, __ATOMIC_RELEASE); /* cannot happen */
    errno = before;
}

seine_time
sn_loop_when(const sn_loop *l)
{
    return sn_timer_wheel_when(&l->wheel);
}

/* Waits once; returns the number of events, 0 if interrupted. */
static int
await(sn_loop *l, seine_span span)
{
    if (!l->coarse) {
        struct timespec t = {span / SEINE_SECS(1), span % SEINE_SECS(1)};
        int n = epoll_pwait2(l->epoll, l->events, EVENTS, span < SEINE_NEVER ? &t : NULL,
                             NULL);

        if (n >= 0 || errno != ENOSYS)
            return n > 0 ? n : 0;
        l->coarse = true;
    }
    int64_t ms = span / MS + (span % MS > 0);
    int n = epoll_wait(l->epoll, l->events, EVENTS,
                       span == SEINE_NEVER ? -1
                       : ms > INT_MAX      ? INT_MAX
                                           : (int)ms);
    return n > 0 ? n : 0;
}

static void
speak(sn_loop *l)
{
    while (l->at_event < l->n_events) {
        struct epoll_event e = l->events[l->at_event++];

        if (e.data.ptr == &l->event) {
            __atomic_exchange_n(&l->woken, 0, __ATOMIC_ACQ_REL);
        } else if (e.data.ptr == &l->timerfd) {
            l->armed = SEINE_NEVER; /* it fired */
        } else if (e.data.ptr) {
            sn_watch *w = e.data.ptr;

            w->ready(w, e.events);
        }
    }
    l->n_events = l->at_event = 0;
}

static void
fire(sn_loop *l, uint32_t i)
{
    slot *s = &l->slots[i];
    sn_timer *t = s->timer;

    if (t && t->at != SEINE_NEVER && t->at > s->at) {
        sn_timer_wheel_put(&l->wheel, i, t->at); /* it was set to a later time */
        return;
    }
    release(l, i);
    if (!t)
        return;
    t->slot = 0;
    if (t->at != SEINE_NEVER) {
        t->at = SEINE_NEVER;
        t->fire(t, l->now);
    }
}

static void
fire_due(sn_loop *l)
{
    uint32_t i;

    l->firing = true;
    while ((i = sn_timer_wheel_take(&l->wheel, l->now)) != SN_NONE)
        fire(l, i);
    l->firing = false;
    while ((i = l->held_back) != SN_NONE) {
        l->held_back = l->slots[i].link;
        sn_timer_wheel_put(&l->wheel, i, l->slots[i].at);
    }
}

static void
worked(sn_loop *l, seine_time until)
{
    l->longest = sn_time_max(l->longest, sn_time_sub(until, l->now));
}

/* Arms the timerfd for the next due time. The time is relative, because the clock of the
 * loop may differ from the kernel's. */
static void
arm(sn_loop *l, seine_time now)
{
    seine_time when = sn_loop_when(l);

    if (when == l->armed)
        return;
    seine_span span = when == SEINE_NEVER ? 0 : sn_time_max(sn_time_sub(when, now), 1);
    struct itimerspec t = {
        .it_value = {span / SEINE_SECS(1), span % SEINE_SECS(1)},
    };
    timerfd_settime(l->timerfd, 0, &t, NULL);
    l->armed = when;
}

/* The kernel needs about 100 us to wake a thread: too late for pacing requests. A shorter
 * wait polls instead, and so does the end of a longer one, unless the loop polled in the
 * last 2 ms: polling takes at most a twentieth of the time. A clock that stands still
 * does not poll for ever. */
static int
ask_until(sn_loop *l, seine_time until)
{
    int n = await(l, 0);

    for (int i = 0; i < SPINS && n == 0 && l->clock->now(l->clock) < until; i++)
        n = await(l, 0);
    return n;
}

static int
await_exactly(sn_loop *l, seine_time before, seine_time until)
{
    if (until - before > NEAR && before - l->asked < REST)
        return await(l, until - before);
    int n = until - before > NEAR ? await(l, until - before - NEAR) : 0;
    if (n != 0)
        return n;
    l->asked = before;
    return ask_until(l, until);
}

seine_time
sn_loop_turn(sn_loop *l, seine_time until)
{
    seine_time before = l->clock->now(l->clock);
    bool exact =
        until > before && until < sn_loop_when(l); /* the caller's time, not a timer's */

    if (l->turns++ > 0 && l->timerfd < 0)
        worked(l, before);
    until = sn_time_min(until, sn_loop_when(l));
    l->n_events = exact ? await_exactly(l, before, until)
                        : await(l, sn_time_max(sn_time_sub(until, before), 0));
    l->now = l->clock->now(l->clock);
    l->turning = true;
    speak(l);
    fire_due(l);
    l->turning = false;
    if (l->timerfd >= 0) {
        seine_time after = l->clock->now(l->clock);

        worked(l, after);
        arm(l, after);
    }
    return l->now;
}

int
sn_loop_fd(sn_loop *l)
{
    if (l->timerfd < 0) {
        l->timerfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (l->timerfd < 0 || own(l, &l->timerfd) != SEINE_OK) {
            shut(&l->timerfd);
            return -1;
        }
        l->armed = SEINE_NEVER;
    }
    arm(l, l->clock->now(l->clock));
    return l->epoll;
}

seine_err
sn_timer_reserve(sn_loop *l)
{
    if (l->reserved < l->n_slots / 2) {
        l->reserved++;
        return SEINE_OK;
    }
    if (l->n_slots > UINT32_MAX / 4)
        return SEINE_E_NOMEM;
    uint32_t n = l->n_slots * 2;
    slot *slots = sn_realloc(l->slots, n * sizeof *slots);
    if (!slots)
        return SEINE_E_NOMEM;
    l->slots = slots;
    seine_err e = sn_timer_wheel_grow(&l->wheel, slots, n);
    if (e != SEINE_OK)
        return e;
    while (l->n_slots < n)
        release(l, l->n_slots++);
    l->reserved++;
    return SEINE_OK;
}

void
sn_timer_forget(sn_loop *l, sn_timer *t)
{
    assert(l->reserved > 0);
    l->reserved--;
    if (t->slot)
        l->slots[t->slot - 1].timer = NULL;
    t->slot = 0;
    t->at = SEINE_NEVER;
}

/* A callback that keeps setting its timer to the past must not block the turn. */
static void
place_timer(sn_loop *l, uint32_t i, seine_time at)
{
    l->slots[i].at = at;
    if (l->firing && at <= l->now)
        push_slot(l, &l->held_back, i);
    else
        sn_timer_wheel_put(&l->wheel, i, at);
}

/* Frees all dead slots in one pass, paid for by the many sets that made them. */
static void
bury(sn_loop *l)
{
    sn_timer_wheel_reset(&l->wheel, l->now);
    l->free_slot = l->held_back = SN_NONE;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        sn_timer *t = l->slots[i].timer;

        if (t && t->at != SEINE_NEVER) {
            place_timer(l, i, t->at);
            continue;
        }
        release(l, i);
        if (t)
            t->slot = 0;
    }
}

void
sn_timer_set(sn_loop *l, sn_timer *t, seine_time at)
{
    seine_time before = t->at;

    t->at = at;
    if (at == SEINE_NEVER)
        return;
    if (t->slot) {
        slot *s = &l->slots[t->slot - 1];

        if ((before != SEINE_NEVER && before <= at) || s->at <= at)
            return;
        s->timer = NULL;
        t->slot = 0;
    }
    if (l->free_slot == SN_NONE)
        bury(l);
    uint32_t i = l->free_slot;
    assert(i != SN_NONE); /* sn_timer_reserve made room */
    l->free_slot = l->slots[i].link;
    l->slots[i].timer = t;
    t->slot = i + 1;
    place_timer(l, i, at);
    if (l->timerfd >= 0 && !l->turning && at < l->armed)
        arm(l, l->clock->now(l->clock));
}

void
sn_timer_clear(sn_timer *t)
{
    t->at = SEINE_NEVER;
}
