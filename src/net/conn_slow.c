/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading at a limited rate (net/read_rate.h). A connection that has bytes to read, and
 * may not, is held like one without room, so that no limit of time counts. Held
 * connections read in turn, a piece each; whoever has more to read goes to the end of the
 * line.
 */
#include "net/conn_parts.h"
#include "net/read_rate.h"

static void
count_wait(sn_socket_transport *w)
{
    w->slowed.waited += w->loop.now - w->slowed.since;
    w->slowed.since = w->loop.now;
    sn_read_rate_tell(w->opts.read_rate, w->slowed.waited);
}

/* The bytes that may be read now; 0: the timer is set. */
static size_t
room_now(sn_socket_transport *w)
{
    seine_time at;
    size_t room = sn_read_rate_room(w->opts.read_rate, &w->slowed.paid, w->stats.bytes_in,
                                    w->loop.now, &at);

    if (room == 0)
        sn_timer_set(&w->loop, &w->slowed.timer, at);
    return room;
}

static void
on_due(sn_timer *t, seine_time now)
{
    sn_socket_transport *w =
        (void *)((char *)t - offsetof(sn_socket_transport, slowed.timer));

    (void)now;
    if (!w->slowed.first)
        return;
    count_wait(w);
    while (w->slowed.first && room_now(w) > 0) {
        w->slowed.is_due = true;
        sn_conn_resume(w->slowed.first);
        w->slowed.is_due = false;
    }
}

static void
add_last(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    if (!w->slowed.first)
        w->slowed.since = w->loop.now;
    sn_conn_unready(c);
    c->ready_next = NULL;
    c->ready_prev = w->slowed.end;
    *w->slowed.end = c;
    w->slowed.end = &c->ready_next;
}

size_t
sn_conn_slow(sn_conn *c, size_t room)
{
    sn_socket_transport *w = c->of;
    bool is_turn = !w->slowed.first || w->slowed.is_due;
    size_t most = is_turn ? room_now(w) : 0;

    w->slowed.is_due = false;
    if (most == 0)
        add_last(c);
    return most < room ? most : room;
}

seine_err
sn_conn_slow_init(sn_socket_transport *w)
{
    w->slowed.end = &w->slowed.first;
    if (!w->opts.read_rate)
        return SEINE_OK;
    seine_err e = sn_timer_reserve(&w->loop);
    if (e == SEINE_OK)
        w->slowed.timer = (sn_timer){.fire = on_due, .at = SEINE_NEVER};
    return e;
}

void
sn_conn_slow_fini(sn_socket_transport *w)
{
    if (w->slowed.timer.fire)
        sn_timer_forget(&w->loop, &w->slowed.timer);
}
