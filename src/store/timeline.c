/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline.h"

#include <string.h>

#include "base/alloc.h"

#define SECOND SEINE_SECS(1)
#define MINUTE SEINE_SECS(60)
#define LEAST  SEINE_US(64)

enum { MOST = 8192, OCTAVES = SEINE_SLICE_BINS / SEINE_SLICE_STEPS };

typedef struct line {
    seine_slice *all; /* by their beginning */
    size_t n, room;
} line;

struct seine_timeline {
    line seconds, minutes;
};

seine_err
seine_timeline_new(seine_timeline **out_timeline)
{
    seine_timeline *t = out_timeline ? sn_zalloc(sizeof *t) : NULL;

    if (!out_timeline)
        return SEINE_E_INVAL;
    if (!t)
        return SEINE_E_NOMEM;
    *out_timeline = t;
    return SEINE_OK;
}

void
seine_timeline_free(seine_timeline *t)
{
    if (!t)
        return;
    sn_free(t->seconds.all);
    sn_free(t->minutes.all);
    sn_free(t);
}

/* The place of the first slice that does not begin before `wall`. Slices mostly come in
 * order, so the last one is looked at first. */
static size_t
place_of(const line *l, int64_t wall)
{
    size_t low = 0, high = l->n;

    if (l->n > 0 && l->all[l->n - 1].wall < wall)
        return l->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->all[middle].wall < wall)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static seine_err
insert(line *l, size_t at, const seine_slice *s)
{
    if (l->n == MOST)
        return SEINE_E_FULL;
    if (l->n == l->room) {
        size_t more = l->room ? l->room * 2 : 64;
        seine_slice *all = sn_realloc(l->all, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        l->all = all;
        l->room = more;
    }
    memmove(l->all + at + 1, l->all + at, (l->n - at) * sizeof *l->all);
    l->all[at] = *s;
    l->n++;
    return SEINE_OK;
}

seine_err
seine_timeline_add(seine_timeline *t, const seine_slice *s)
{
    if (!t || !s || (s->width != SECOND && s->width != MINUTE) || s->wall % s->width != 0)
        return SEINE_E_INVAL;
    line *l = s->width == SECOND ? &t->seconds : &t->minutes;
    size_t at = place_of(l, s->wall);
    if (at == l->n || l->all[at].wall != s->wall)
        return insert(l, at, s);
    seine_slice_join(&l->all[at], s);
    return SEINE_OK;
}

/* Seconds older than ten minutes may have been overwritten one by one. */
const seine_slice *
seine_timeline_slices(const seine_timeline *t, size_t *out_n)
{
    if (!t || !out_n)
        return NULL;
    const line *m = &t->minutes, *s = &t->seconds;
    bool is_short = m->n == 0 || (s->n > 0 && s->all[s->n - 1].wall - m->all[0].wall <
                                                  SEINE_LINE_SECONDS * SECOND);
    const line *l = is_short ? s : m;
    *out_n = l->n;
    return l->all;
}

static void
put_lines(const line *l, sn_buf *out)
{
    char text[SN_SLICE_TEXT];

    for (size_t i = 0; i < l->n; i++) {
        sn_buf_add(out, text, sn_slice_write(&l->all[i], text));
        sn_buf_char(out, '\n');
    }
}

void
sn_timeline_lines(const seine_timeline *t, sn_buf *out)
{
    put_lines(&t->minutes, out);
    put_lines(&t->seconds, out);
}

/* Slices. */

/* The edge below which bin `bin` ends. */
static seine_span
edge_of(unsigned bin)
{
    seine_span base = LEAST << bin / SEINE_SLICE_STEPS;

    return base + base / SEINE_SLICE_STEPS * (seine_span)(bin % SEINE_SLICE_STEPS);
}

static unsigned
bin_of(seine_span took)
{
    if (took < LEAST)
        return 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)(took / LEAST));
    if (octave >= OCTAVES)
        return SEINE_SLICE_BINS - 1;
    seine_span base = LEAST << octave;
    return octave * SEINE_SLICE_STEPS +
           (unsigned)((took - base) / (base / SEINE_SLICE_STEPS));
}

static uint32_t
sum32(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void
sn_slice_time(seine_slice *s, seine_span took)
{
    uint32_t *n = &s->latency[bin_of(took)];

    *n = sum32(*n, 1);
    if (took > s->slowest)
        s->slowest = took;
}

/* The last place is for whatever finds none. */
void
sn_slice_fail(seine_slice *s, uint32_t err, uint64_t n)
{
    size_t i = 0;

    while (i + 1 < SEINE_SLICE_KINDS && s->errors[i].n > 0 && s->errors[i].err != err)
        i++;
    seine_slice_error *e = &s->errors[i];
    if (e->n == 0 || e->err != err)
        e->err = e->n == 0 && i + 1 < SEINE_SLICE_KINDS ? err : 0;
    e->n = sum32(e->n, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
}

/* A sum that does not wrap around: files may be hostile. */
static void
add(uint64_t *to, uint64_t n)
{
    *to = *to > UINT64_MAX - n ? UINT64_MAX : *to + n;
}

static void
raise_to(uint64_t *to, uint64_t n)
{
    if (n > *to)
        *to = n;
}

static void
join_counts(seine_slice *to, const seine_slice *from)
{
    add(&to->ok, from->ok);
    add(&to->failed, from->failed);
    add(&to->blocked, from->blocked);
    add(&to->skipped, from->skipped);
    for (int i = 0; i < 6; i++)
        add(&to->requests[i], from->requests[i]);
    add(&to->retries, from->retries);
    add(&to->bytes_in, from->bytes_in);
    add(&to->bytes_body, from->bytes_body);
    add(&to->in_flight, from->in_flight);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        add(&to->waiting[i], from->waiting[i]);
    add(&to->cpu_us, from->cpu_us);
    add(&to->output_us, from->output_us);
    add(&to->memory_us, from->memory_us);
    add(&to->paused_us, from->paused_us);
}

void
seine_slice_join(seine_slice *to, const seine_slice *from)
{
    if (!to || !from)
        return;
    if (to->wall == from->wall && to->width == from->width) {
        if (from->lived > to->lived)
            to->lived = from->lived;
        add(&to->shards, from->shards);
    } else {
        to->lived += from->lived;
        raise_to(&to->shards, from->shards);
    }
    join_counts(to, from);
    raise_to(&to->slots, from->slots);
    if (from->slowest > to->slowest)
        to->slowest = from->slowest;
    for (int i = 0; i < SEINE_SLICE_KINDS; i++)
        if (from->errors[i].n > 0)
            sn_slice_fail(to, from->errors[i].err, from->errors[i].n);
    for (int i = 0; i < SEINE_SLICE_BINS; i++)
        to->latency[i] = sum32(to->latency[i], from->latency[i]);
}

double
seine_slice_mean(const seine_slice *s, uint64_t sum)
{
    return s && s->lived > 0 ? (double)sum * 1000 / (double)s->lived : 0;
}

seine_span
seine_slice_latency(const seine_slice *s, unsigned percent)
{
    uint64_t n = 0, seen = 0;

    for (int i = 0; s && i < SEINE_SLICE_BINS; i++)
        n += s->latency[i];
    if (n == 0)
        return 0;
    uint64_t rank = (n * (percent > 100 ? 100 : percent) + 99) / 100;
    for (unsigned i = 0; i < SEINE_SLICE_BINS; i++) {
        seen += s->latency[i];
        if (seen < (rank > 0 ? rank : 1))
            continue;
        seine_span middle = (edge_of(i) + edge_of(i + 1)) / 2;
        return middle < s->slowest ? middle : s->slowest;
    }
    return s->slowest;
}
