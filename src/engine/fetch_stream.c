/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "engine/fetch_opts.h"
#include "store/record_hold.h"
#include "store/record_lane.h"

/*
 * Shards append copies of their records to one list. `want` is 0 while the owner is
 * awake; otherwise the shard whose record makes the list so long wakes it. The owner
 * naps before it sleeps: at thousands of records a second a nap collects dozens, and one
 * look at the list pays for all of them.
 */
#define NAP SEINE_MS(2)

struct seine_fetch_stream {
    seine_fetch *fetch;
    seine_clock *clock;
    bool has_threads;
    seine_event_fn on_event;
    void *arg;

    pthread_mutex_t lock; /* of the list */
    sn_record_block *first, **end;
    _Atomic size_t n, bytes;
    _Atomic size_t want;
    uint32_t bell; /* changes when the owner must look */
    _Atomic bool is_starved;
    _Atomic bool is_lost; /* a record could not be copied */
    seine_time taken;     /* when there was last a record to take */
};

static void
ring(seine_fetch_stream *s)
{
    __atomic_add_fetch(&s->bell, 1, __ATOMIC_SEQ_CST);
    s->clock->wake(s->clock, &s->bell, 1);
}

static void
ring_done(void *arg)
{
    ring(arg);
}

static void
lose_record(seine_fetch_stream *s)
{
    atomic_store(&s->is_lost, true);
    seine_fetch_stop(s->fetch, SEINE_E_NOMEM);
}

static void
put_record(const seine_record *r, unsigned shard, void *arg)
{
    seine_fetch_stream *s = arg;
    sn_record_block *b = sn_record_block_new(r);

    (void)shard;
    if (!b) {
        lose_record(s);
        return;
    }
    b->next = NULL;
    pthread_mutex_lock(&s->lock);
    *s->end = b;
    s->end = &b->next;
    atomic_fetch_add(&s->bytes, b->size);
    size_t n = atomic_fetch_add(&s->n, 1) + 1;
    pthread_mutex_unlock(&s->lock);
    size_t want = atomic_load(&s->want);
    if (want > 0 && n >= want && atomic_compare_exchange_strong(&s->want, &want, 0))
        ring(s);
}

static bool
is_full(const seine_fetch_stream *s)
{
    return atomic_load(&s->n) >= SEINE_FETCH_STREAM_RECORDS ||
           atomic_load(&s->bytes) >= SEINE_FETCH_STREAM_BYTES;
}

/* Whoever finds it full leaves word first and looks again: the owner may have made room
 * in between. */
static bool
has_room(unsigned shard, void *arg)
{
    seine_fetch_stream *s = arg;

    (void)shard;
    if (!is_full(s))
        return true;
    atomic_store(&s->is_starved, true);
    return !is_full(s);
}

static void
pass_event(const seine_event *e, unsigned shard, void *arg)
{
    const seine_fetch_stream *s = arg;

    s->on_event(e, shard, s->arg);
}

static seine_err
check(const seine_fetch_opts *o, seine_diag *diag)
{
    const char *member = o->on_record ? "on_record"
                         : o->ready   ? "ready"
                         : o->due     ? "due"
                         : o->job     ? "job"
                                      : NULL;

    return member ? sn_diag_option(diag, member, "does not go with a stream") : SEINE_OK;
}

seine_err
sn_fetch_stream_open(const seine_fetch_opts *opts, const sn_net *net,
                     seine_fetch_stream **out_stream, seine_diag *diag)
{
    seine_fetch_opts o = *opts;

    sn_diag_clear(diag);
    seine_err e = check(&o, diag);
    if (e != SEINE_OK)
        return e;
    seine_fetch_stream *s = sn_zalloc(sizeof *s);
    if (!s)
        return SEINE_E_NOMEM;
    s->clock = o.clock ? o.clock : seine_clock_system();
    s->has_threads = o.threads > 0;
    s->on_event = o.on_event;
    s->arg = o.arg;
    s->end = &s->first;
    s->taken = INT64_MIN / 2;
    pthread_mutex_init(&s->lock, NULL);
    o.arg = s;
    o.on_record = put_record;
    o.ready = has_room;
    o.on_event = o.on_event ? pass_event : NULL;
    o.output_memory += SEINE_FETCH_STREAM_BYTES;
    e = sn_fetch_open(&o, net, &s->fetch, diag);
    if (e != SEINE_OK) {
        pthread_mutex_destroy(&s->lock);
        sn_free(s);
        return e;
    }
    sn_fetch_on_done(s->fetch, ring_done, s);
    *out_stream = s;
    return SEINE_OK;
}

seine_err
seine_fetch_stream_new(const seine_fetch_opts *opts, seine_fetch_stream **out_stream,
                       seine_diag *diag)
{
    seine_fetch_opts own;

    if (!opts || !out_stream)
        return SEINE_E_INVAL;
    seine_err e = sn_fetch_opts_read(&own, opts, diag);
    return e == SEINE_OK ? sn_fetch_stream_open(&own, &sn_net_sockets, out_stream, diag)
                         : e;
}

void
seine_fetch_stream_free(seine_fetch_stream *s)
{
    if (!s)
        return;
    seine_fetch_free(s->fetch);
    while (s->first) {
        sn_record_block *next = s->first->next;

        sn_record_block_free(s->first);
        s->first = next;
    }
    pthread_mutex_destroy(&s->lock);
    sn_free(s);
}

seine_fetch *
seine_fetch_stream_fetch(seine_fetch_stream *s)
{
    return s ? s->fetch : NULL;
}

seine_err
seine_fetch_stream_add(seine_fetch_stream *s, const char *urls, size_t len,
                       size_t *out_used)
{
    if (!s || !out_used || (len > 0 && (!urls || urls[len - 1] != '\0')))
        return SEINE_E_INVAL;
    *out_used = 0;
    while (*out_used < len) {
        seine_ask ask = SEINE_ASK;
        const char *url = urls + *out_used;

        ask.url = (seine_view){url, strlen(url)};
        seine_err e = seine_fetch_add(s->fetch, &ask, NULL);
        if (e != SEINE_OK)
            return e;
        *out_used += ask.url.len + 1;
    }
    return SEINE_OK;
}

/* Unlinks up to `room` records; their blocks are linked from *out_blocks on. */
static size_t
unlink_records(seine_fetch_stream *s, size_t room, sn_record_block **out_blocks)
{
    sn_record_block **at = &s->first;
    size_t n = 0, bytes = 0;

    pthread_mutex_lock(&s->lock);
    *out_blocks = s->first;
    for (; *at && n < room; at = &(*at)->next, n++)
        bytes += (*at)->size;
    sn_record_block *rest = *at;
    *at = NULL;
    s->first = rest;
    if (!rest)
        s->end = &s->first;
    atomic_fetch_sub(&s->n, n);
    atomic_fetch_sub(&s->bytes, bytes);
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* The copy owns its body, which the hold would charge to the fetch for as long as the
 * caller keeps the record. Without memory for a copy the charge stays. */
static sn_record_block *
detach_body(sn_record_block *give)
{
    seine_record r = *give->record;

    if (!sn_record_hold_keeps(r.hold))
        return give;
    r.hold = NULL;
    sn_record_block *own = sn_record_block_new(&r);
    if (!own)
        return give;
    sn_record_block_free(give);
    return own;
}

static size_t
take_records(seine_fetch_stream *s, seine_record **out_records, size_t room)
{
    sn_record_block *b;
    size_t n = unlink_records(s, room, &b);

    for (size_t i = 0; i < n; i++) {
        sn_record_block *next = b->next;

        out_records[i] = detach_body(b)->record;
        b = next;
    }
    if (n > 0 && atomic_load(&s->is_starved) &&
        atomic_load(&s->n) < SEINE_FETCH_STREAM_RECORDS / 2 && !is_full(s)) {
        atomic_store(&s->is_starved, false);
        seine_fetch_wake(s->fetch);
    }
    return n;
}

/* Waits until `want` records are there, until the end of all, or `until`. */
static void
wait_for_records(seine_fetch_stream *s, size_t want, seine_time until)
{
    uint32_t seen = __atomic_load_n(&s->bell, __ATOMIC_SEQ_CST);

    atomic_store(&s->want, want);
    if (atomic_load(&s->n) < want && !seine_fetch_is_done(s->fetch))
        s->clock->wait(s->clock, &s->bell, seen, until);
    atomic_store(&s->want, 0);
}

/* One wait, or one turn of a fetch that has no threads. */
static void
pass_time(seine_fetch_stream *s, size_t room, seine_time now, seine_time until)
{
    if (!s->has_threads)
        sn_fetch_turn(s->fetch, until);
    else if (now < sn_time_add(s->taken, NAP) && room > 1)
        wait_for_records(s, room, sn_time_min(until, sn_time_add(s->taken, NAP)));
    else
        wait_for_records(s, 1, until);
}

static seine_err
how_it_ended(const seine_fetch_stream *s)
{
    return atomic_load(&s->is_lost) ? SEINE_E_NOMEM : SEINE_E_CLOSED;
}

seine_err
seine_fetch_stream_take(seine_fetch_stream *s, seine_span patience,
                        seine_record **out_records, size_t room, size_t *out_n)
{
    if (!s || !out_records || room == 0 || !out_n)
        return SEINE_E_INVAL;
    seine_time now = s->clock->now(s->clock);
    seine_time until = sn_time_add(now, patience > 0 ? patience : 0);

    for (;;) {
        bool is_done =
            seine_fetch_is_done(s->fetch); /* first: the last record is there */
        size_t n = take_records(s, out_records, room);

        now = s->clock->now(s->clock);
        if (n > 0)
            s->taken = now;
        if (n == 0 && is_done)
            return how_it_ended(s);
        if (n > 0 || now >= until) {
            *out_n = n;
            return SEINE_OK;
        }
        pass_time(s, room, now, until);
    }
}

void
seine_fetch_stream_record_free(seine_record *r)
{
    if (r)
        sn_record_block_free(sn_record_block_of(r));
}
