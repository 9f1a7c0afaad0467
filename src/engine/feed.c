/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/feed.h"

#include <string.h>

#include "base/alloc.h"

#define SECOND SEINE_SECS(1)
#define MINUTE SEINE_SECS(60)

enum { IN_FLIGHT = SEINE_WAIT_ROOM }; /* its place in `sums` */

/* Wall time before 1970 does not count. */
static int64_t
floor_of(int64_t wall, seine_span width)
{
    return wall > 0 ? wall - wall % width : 0;
}

static void
begin_minute(sn_feed *f, int64_t wall)
{
    f->minute = (seine_slice){.wall = floor_of(wall, MINUTE), .width = MINUTE};
}

static void
begin_second(sn_feed *f, seine_time now)
{
    int64_t wall = floor_of(now + f->offset, SECOND);

    f->second = (seine_slice){.wall = wall, .width = SECOND, .shards = 1};
    f->ends = wall + SECOND - f->offset;
    if (f->minute.wall != floor_of(wall, MINUTE))
        begin_minute(f, wall);
}

seine_err
sn_feed_init(sn_feed *f, seine_time now, int64_t wall)
{
    *f = (sn_feed){.offset = (wall > 0 ? wall : 0) - now, .at = now};
    f->seconds = sn_zalloc(SEINE_LINE_SECONDS * sizeof *f->seconds);
    f->minutes = sn_zalloc(SEINE_LINE_MINUTES * sizeof *f->minutes);
    if (!f->seconds || !f->minutes) {
        sn_feed_fini(f);
        return SEINE_E_NOMEM;
    }
    begin_minute(f, now + f->offset);
    begin_second(f, now);
    f->saved = f->second.wall;
    return SEINE_OK;
}

void
sn_feed_fini(sn_feed *f)
{
    sn_free(f->seconds);
    sn_free(f->minutes);
    f->seconds = f->minutes = NULL;
}

/* Places. */

static sn_feed_slot *
slot_of(const sn_feed *f, int64_t wall, seine_span width)
{
    return width == SECOND ? &f->seconds[wall / SECOND % SEINE_LINE_SECONDS]
                           : &f->minutes[wall / MINUTE % SEINE_LINE_MINUTES];
}

static void
publish(sn_feed *f, const seine_slice *s)
{
    sn_feed_slot *slot = slot_of(f, s->wall, s->width);
    uint64_t words[SN_FEED_WORDS];
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

    memcpy(words, s, sizeof words);
    atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
    for (size_t i = 0; i < SN_FEED_WORDS; i++) /* none is seen before the odd version */
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

/* False: nothing was ever written there. */
static bool
copy_slot(const sn_feed_slot *slot, seine_slice *out)
{
    uint64_t words[SN_FEED_WORDS], before, after;

    do {
        before = atomic_load_explicit(&slot->version, memory_order_acquire);
        if (before == 0)
            return false;
        for (size_t i = 0; i < SN_FEED_WORDS; i++)
            words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
        after = atomic_load_explicit(&slot->version, memory_order_relaxed);
    } while (before != after || before % 2 == 1);
    memcpy(out, words, sizeof *out);
    return true;
}

seine_err
sn_feed_copy(const sn_feed *f, seine_timeline *into)
{
    seine_err e = SEINE_OK;
    seine_slice s;

    if (!sn_feed_is_on(f))
        return SEINE_OK;
    for (size_t i = 0; i < SEINE_LINE_SECONDS && e == SEINE_OK; i++)
        if (copy_slot(&f->seconds[i], &s))
            e = seine_timeline_add(into, &s);
    for (size_t i = 0; i < SEINE_LINE_MINUTES && e == SEINE_OK; i++)
        if (copy_slot(&f->minutes[i], &s))
            e = seine_timeline_add(into, &s);
    return e;
}

/* Counting. */

void
sn_feed_request(sn_feed *f, const sn_end *end)
{
    unsigned status = end->fault.status;
    seine_span took = 0;

    if (!sn_feed_is_on(f))
        return;
    for (unsigned p = SEINE_PHASE_DNS; p <= SEINE_PHASE_BODY; p++)
        took += end->spent[p];
    f->second.requests[status >= 100 && status < 600 ? status / 100 : 0]++;
    f->second.bytes_in += end->wire_bytes;
    f->second.bytes_body += end->body_bytes;
    sn_slice_time(&f->second, took);
    if (end->fault.code != SEINE_OK)
        sn_slice_fail(&f->second, (uint32_t)end->fault.code, 1);
}

void
sn_feed_record(sn_feed *f, const seine_record *r)
{
    seine_slice *s = &f->second;

    if (!sn_feed_is_on(f))
        return;
    if (r->type == SEINE_RECORD_SKIP)
        s->skipped++;
    else if (r->fate == SEINE_FATE_OK)
        s->ok++;
    else if (r->fate == SEINE_FATE_BLOCKED)
        s->blocked++;
    else
        s->failed++;
}

static void
add_hold(seine_slice *s, sn_feed_hold hold, seine_span span)
{
    uint64_t us = (uint64_t)(span / 1000);

    if (hold == SN_HOLD_OUTPUT)
        s->output_us += us;
    else if (hold == SN_HOLD_MEMORY)
        s->memory_us += us;
    else if (hold == SN_HOLD_PAUSED)
        s->paused_us += us;
}

/* Counts the time up to `until`, in which the shard stood as its last turn has said. */
static void
spend(sn_feed *f, seine_time until)
{
    seine_span span = until - f->at;
    const sn_feed_gauges *g = &f->gauges;

    if (span <= 0)
        return;
    f->at = until;
    f->second.lived += span;
    f->sums[IN_FLIGHT] += g->in_flight * (uint64_t)span;
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        f->sums[i] += g->waiting[i] * (uint64_t)span;
    if (g->hold != SN_HOLD_NONE)
        add_hold(&f->second, g->hold, span);
}

/* Moves the sums of the second, whole microseconds of them, into its slice. */
static void
settle(sn_feed *f)
{
    seine_slice *s = &f->second;

    s->in_flight += f->sums[IN_FLIGHT] / 1000;
    f->sums[IN_FLIGHT] %= 1000;
    for (int i = 0; i < SEINE_WAIT_ROOM; i++) {
        s->waiting[i] += f->sums[i] / 1000;
        f->sums[i] %= 1000;
    }
    if (f->gauges.slots > s->slots)
        s->slots = f->gauges.slots;
}

/* The minute is the sum of its seconds. One without width follows, and is of the same
 * shard. */
static void
join_minute(sn_feed *f)
{
    seine_slice part = f->second;

    part.width = 0;
    seine_slice_join(&f->minute, &part);
}

/* The second, with what the run before has done in it. */
static void
publish_second(sn_feed *f)
{
    seine_slice whole = f->second, before = f->before;

    if (before.width == SECOND && before.wall == whole.wall) {
        before.width = 0;
        seine_slice_join(&whole, &before);
    }
    publish(f, &whole);
}

/* A second that is overwritten before the turn ends need not be seen. */
static void
end_second(sn_feed *f, seine_time now)
{
    settle(f);
    join_minute(f);
    if (now - f->ends < SEINE_LINE_SECONDS * SECOND)
        publish_second(f);
    publish(f, &f->minute);
    begin_second(f, f->ends);
}

/* A shard that has slept for longer than all that is kept begins anew. */
static void
skip_sleep(sn_feed *f, seine_time now)
{
    if (now - f->at <= SEINE_LINE_MINUTES * MINUTE)
        return;
    spend(f, f->ends);
    end_second(f, f->ends);
    f->at = now - SEINE_LINE_MINUTES * MINUTE;
    f->saved = floor_of(f->at + f->offset, SECOND);
    begin_second(f, f->at);
}

bool
sn_feed_turn(sn_feed *f, seine_time now, const sn_feed_gauges *g)
{
    bool any = false;

    if (!sn_feed_is_on(f))
        return false;
    skip_sleep(f, now);
    if (now >= f->ends && g->cpu > f->gauges.cpu && f->gauges.cpu > 0)
        f->second.cpu_us += (uint64_t)((g->cpu - f->gauges.cpu) / 1000);
    while (now >= f->ends) {
        spend(f, f->ends);
        end_second(f, now);
        any = true;
    }
    spend(f, now);
    seine_span cpu = any || f->gauges.cpu == 0 ? g->cpu : f->gauges.cpu;
    f->gauges = *g;
    f->gauges.cpu = cpu;
    return any;
}

void
sn_feed_end(sn_feed *f, seine_time now)
{
    if (!sn_feed_is_on(f))
        return;
    sn_feed_gauges g = f->gauges;
    (void)sn_feed_turn(f, now, &g);
    settle(f);
    seine_slice minute = f->minute;
    join_minute(f);
    publish_second(f);
    publish(f, &f->minute);
    f->minute = minute; /* the second may be under way for a while yet */
}

/* Saving. */

static bool
is_empty(const seine_slice *s)
{
    uint64_t any = s->ok | s->failed | s->blocked | s->skipped | s->in_flight |
                   s->paused_us | s->output_us | s->memory_us;

    for (int i = 0; i < 6; i++)
        any |= s->requests[i];
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        any |= s->waiting[i];
    return any == 0;
}

/* The slice of that moment, if it is one of this run and there is something in it. */
static seine_err
save_slot(const sn_feed *f, int64_t wall, seine_span width, sn_feed_fn fn, void *arg)
{
    seine_slice s;

    if (!copy_slot(slot_of(f, wall, width), &s) || s.wall != wall || is_empty(&s))
        return SEINE_OK;
    return fn(&s, arg);
}

seine_err
sn_feed_save(sn_feed *f, sn_feed_fn fn, void *arg)
{
    seine_err e = SEINE_OK;

    if (!sn_feed_is_on(f))
        return SEINE_OK;
    int64_t to = f->second.wall; /* it may have been published by sn_feed_end */
    int64_t from = f->saved, oldest = to - (SEINE_LINE_SECONDS - 1) * SECOND;
    for (int64_t at = floor_of(from, MINUTE); at <= to && e == SEINE_OK; at += MINUTE)
        e = save_slot(f, at, MINUTE, fn, arg);
    for (int64_t at = from > oldest ? from : oldest; at <= to && e == SEINE_OK;
         at += SECOND)
        e = save_slot(f, at, SECOND, fn, arg);
    if (e == SEINE_OK)
        f->saved = to;
    return e;
}

/* Slices that are under way go on: the run before was killed, or stopped, just now. */
void
sn_feed_restore(sn_feed *f, const seine_slice *s, bool is_own)
{
    seine_slice there;

    if (!sn_feed_is_on(f) || s->wall < 0)
        return;
    const seine_slice *now = s->width == SECOND ? &f->second : &f->minute;
    bool is_now = s->wall == now->wall;
    bool is_there = copy_slot(slot_of(f, s->wall, s->width), &there);
    if ((is_now && !is_own) || (is_there && there.wall > s->wall))
        return;
    if (is_there && there.wall == s->wall) {
        seine_slice_join(&there, s);
        publish(f, &there);
        return;
    }
    publish(f, s);
    if (is_now && s->width == SECOND)
        f->before = *s;
    else if (is_now)
        f->minute = *s;
}
