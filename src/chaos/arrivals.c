/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/arrivals.h"

#include "base/alloc.h"

#define SMALLEST 16
#define LARGEST  ((size_t)1 << 20)

void
snc_arrivals_init(snc_arrivals *w)
{
    *w = (snc_arrivals){.min_gap = SEINE_NEVER};
}

void
snc_arrivals_fini(snc_arrivals *w, size_t *budget)
{
    *budget += w->room * sizeof *w->ring;
    sn_free(w->ring);
    snc_arrivals_init(w);
}

/* Doubles the ring, if there is memory; numbers keep their meaning. */
static bool
grow(snc_arrivals *w, size_t *budget)
{
    size_t room = w->room > 0 ? w->room * 2 : SMALLEST;
    size_t more = (room - w->room) * sizeof *w->ring;
    seine_time *ring;

    if (room > LARGEST || more > *budget || !(ring = sn_alloc(room * sizeof *ring)))
        return false;
    for (uint64_t i = w->from_10s; i < w->next; i++)
        ring[i & (room - 1)] = w->ring[i & (w->room - 1)];
    sn_free(w->ring);
    w->ring = ring;
    w->room = room;
    *budget -= more;
    return true;
}

static void
push_moment(snc_arrivals *w, seine_time now, size_t *budget)
{
    if (w->next - w->from_10s == w->room && !grow(w, budget)) {
        w->capped = true;
        w->from_10s++;
        if (w->from_1s < w->from_10s)
            w->from_1s = w->from_10s;
    }
    if (w->room > 0)
        w->ring[w->next & (w->room - 1)] = now;
    w->next++;
}

static seine_time
arrival_at(const snc_arrivals *w, uint64_t number)
{
    return w->ring[number & (w->room - 1)];
}

/* The first number from `from` on whose moment is within `span` before that of `end`. */
static uint64_t
first_inside(const snc_arrivals *w, uint64_t from, uint64_t end, seine_span span)
{
    while (from < end && arrival_at(w, end) - arrival_at(w, from) >= span)
        from++;
    return from;
}

/* The same for any `end`, by binary search. */
static uint64_t
search_window(const snc_arrivals *w, uint64_t end, seine_span span)
{
    uint64_t low = w->from_10s, high = end;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (arrival_at(w, end) - arrival_at(w, middle) >= span)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
note_gap(snc_arrivals *w, seine_span gap)
{
    if (gap < w->min_gap)
        w->min_gap = gap;
}

static void
note_counts(snc_arrivals *w, uint64_t in_1s, uint64_t in_10s)
{
    if (in_1s > w->max_1s)
        w->max_1s = in_1s;
    if (in_10s > w->max_10s)
        w->max_10s = in_10s;
}

/* Moves a late moment to its place; recounts the windows that end there or later. */
static void
add_late(snc_arrivals *w, seine_time now, size_t *budget)
{
    push_moment(w, now, budget);

    uint64_t place = w->next - 1;
    for (; place > w->from_10s && arrival_at(w, place - 1) > now; place--)
        w->ring[place & (w->room - 1)] = arrival_at(w, place - 1);
    w->ring[place & (w->room - 1)] = now;
    if (place > w->from_10s)
        note_gap(w, now - arrival_at(w, place - 1));
    if (place + 1 < w->next)
        note_gap(w, arrival_at(w, place + 1) - now);
    for (uint64_t i = place; i < w->next; i++)
        note_counts(w, i + 1 - search_window(w, i, SEINE_SECS(1)),
                    i + 1 - search_window(w, i, SEINE_SECS(10)));
    w->from_1s = search_window(w, w->next - 1, SEINE_SECS(1));
}

void
snc_arrivals_add(snc_arrivals *w, seine_time now, size_t *budget)
{
    if (w->next > w->from_10s && now < w->last) {
        add_late(w, now, budget);
        return;
    }
    if (w->next > 0)
        note_gap(w, now > w->last ? now - w->last : 0);
    w->last = now > w->last || w->next == 0 ? now : w->last;
    push_moment(w, w->last, budget);
    if (w->room == 0) { /* no memory at all */
        w->from_1s = w->from_10s = w->next - 1;
    } else {
        w->from_10s = first_inside(w, w->from_10s, w->next - 1, SEINE_SECS(10));
        w->from_1s = w->from_1s > w->from_10s ? w->from_1s : w->from_10s;
        w->from_1s = first_inside(w, w->from_1s, w->next - 1, SEINE_SECS(1));
    }
    note_counts(w, w->next - w->from_1s, w->next - w->from_10s);
    if (w->room == 0)
        w->from_1s = w->from_10s = w->next;
}
