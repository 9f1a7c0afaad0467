/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/eta.h"

#include <stdlib.h>

#define SLOT SEINE_SECS(1)

_Static_assert(sizeof(seine_eta) == 1320, "eta.h says how much memory an eta takes");

void
seine_eta_init(seine_eta *e, seine_time now)
{
    if (!e)
        return;
    *e = (seine_eta){.start = now, .slot_end = now + SLOT};
}

/* Remembers a pair, unless the last one is fewer than 15 results old. */
static void
mark_growth(seine_eta *e, uint64_t done, uint64_t known)
{
    const seine_eta_mark *last =
        &e->marks[(e->n_marks + SEINE_ETA_MARKS - 1) % SEINE_ETA_MARKS];

    if (e->n_marks > 0 && done - last->done < SEINE_ETA_WINDOW / SEINE_ETA_MARKS)
        return;
    e->marks[e->n_marks++ % SEINE_ETA_MARKS] = (seine_eta_mark){done, known};
}

void
seine_eta_add(seine_eta *e, seine_time now, uint64_t done, uint64_t known)
{
    if (!e)
        return;
    e->done = done;
    e->known = known > done ? known : done;
    mark_growth(e, done, e->known);
    while (now >= e->slot_end) {
        /* After a pause longer than the ring only its last minute is filled in. */
        if (now - e->slot_end > SEINE_ETA_SLOTS * SLOT)
            e->slot_end = now - SEINE_ETA_SLOTS * SLOT;
        e->slots[e->next] = (uint32_t)(done - e->slot_done);
        e->next = (e->next + 1) % SEINE_ETA_SLOTS;
        e->filled += e->filled < SEINE_ETA_SLOTS;
        e->slot_done = done;
        e->slot_end += SLOT;
    }
}

double
seine_eta_rate(const seine_eta *e, seine_time now)
{
    if (!e)
        return 0;
    enum { RECENT = 5 };
    uint32_t n = e->filled < RECENT ? e->filled : RECENT;
    uint64_t sum = e->done - e->slot_done;
    seine_span span = now - (e->slot_end - SLOT);

    for (uint32_t i = 1; i <= n; i++)
        sum += e->slots[(e->next + SEINE_ETA_SLOTS - i) % SEINE_ETA_SLOTS];
    span += n * SLOT;
    return span > 0 ? (double)sum * 1e9 / (double)span : 0;
}

double
seine_eta_growth(const seine_eta *e)
{
    if (!e)
        return 0;
    enum { ENOUGH = 20, PART = 4 };
    uint32_t n = e->n_marks < SEINE_ETA_MARKS ? e->n_marks : SEINE_ETA_MARKS;
    uint64_t window =
        e->done / PART < SEINE_ETA_WINDOW ? e->done / PART : SEINE_ETA_WINDOW;
    seine_eta_mark from = {e->done, e->known};

    for (uint32_t i = 1; i <= n; i++) {
        seine_eta_mark m = e->marks[(e->n_marks - i) % SEINE_ETA_MARKS];

        /* A mark beyond the window is used only while the window has too few results. */
        if (e->done - m.done > window && e->done - from.done >= ENOUGH)
            break;
        from = m;
    }
    if (e->done - from.done < ENOUGH || e->known < from.known)
        return 0;
    return (double)(e->known - from.known) / (double)(e->done - from.done);
}

uint64_t
seine_eta_grown(const seine_eta *e, uint64_t left)
{
    if (!e)
        return 0;
    double growth = seine_eta_growth(e);

    return growth < 1 ? (uint64_t)((double)left / (1 - growth)) : UINT64_MAX;
}

static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Adds up neighbouring slots until groups have 8 results on average: one result every
 * two seconds is a steady rate, though half of the slots are empty. Returns the number of
 * groups; each spans *size slots. */
static uint32_t
grouped(const seine_eta *e, uint32_t *size, uint32_t out[SEINE_ETA_SLOTS])
{
    enum { ENOUGH = 8 };
    uint64_t sum = 0;

    for (uint32_t i = 0; i < e->filled; i++)
        sum += e->slots[i];
    while (sum * *size < (uint64_t)ENOUGH * e->filled && *size * 8 <= e->filled)
        *size *= 2;
    uint32_t n = e->filled / *size;
    for (uint32_t g = 0; g < n; g++) {
        out[g] = 0;
        for (uint32_t i = 1; i <= *size; i++)
            out[g] +=
                e->slots[(e->next + SEINE_ETA_SLOTS - g * *size - i) % SEINE_ETA_SLOTS];
    }
    return n;
}

bool
seine_eta_interval(const seine_eta *e, seine_time now, uint64_t left, seine_span *out_low,
                   seine_span *out_high)
{
    if (!e)
        return false;
    enum { ENOUGH = 20, SLOWEST = 99 * 3600 };
    uint32_t sorted[SEINE_ETA_SLOTS];
    uint32_t size = 1, n;

    if (now - e->start < SEINE_SECS(5) || e->done < ENOUGH || e->filled < 4)
        return false;
    n = grouped(e, &size, sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    uint32_t quarter = (n - 1) / 4, three = 3 * n / 4;
    double slow = (double)sorted[quarter] / size, fast = (double)sorted[three] / size;
    double recent = seine_eta_rate(e, now); /* the work may be getting faster */
    fast = fast > recent ? fast : recent;
    if (fast <= 0 || slow <= 0) /* it stands still for a quarter of the time or more */
        return false;
    double low = (double)left / fast, high = (double)left / slow;
    if (high > SLOWEST)
        high = SLOWEST;
    /* The rates are known only to whole seconds. */
    *out_low = SEINE_SECS((int64_t)(low < SLOWEST ? low : SLOWEST));
    *out_high = SEINE_SECS((int64_t)high + 1);
    return true;
}
