/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/eta.h"

#include <stdlib.h>
#include <string.h>

#define SLOT SEINE_SECS(1)

void
eta_init(eta *e, seine_time now)
{
    *e = (eta){.start = now, .slot_end = now + SLOT};
}

static void
mark(eta *e, uint64_t done, uint64_t known)
{
    const eta_mark *last = &e->marks[(e->n_marks + ETA_MARKS - 1) % ETA_MARKS];

    if (e->n_marks > 0 && done - last->done < ETA_WINDOW / ETA_MARKS)
        return;
    e->marks[e->n_marks++ % ETA_MARKS] = (eta_mark){done, known};
}

void
eta_add(eta *e, seine_time now, uint64_t done, uint64_t known)
{
    e->done = done;
    e->known = known > done ? known : done;
    mark(e, done, e->known);
    while (now >= e->slot_end) {
        /* After a pause of the whole program only the newest minute matters. */
        if (now - e->slot_end > ETA_SLOTS * SLOT)
            e->slot_end = now - ETA_SLOTS * SLOT;
        e->slots[e->next] = (uint32_t)(done - e->slot_done);
        e->next = (e->next + 1) % ETA_SLOTS;
        e->filled += e->filled < ETA_SLOTS;
        e->slot_done = done;
        e->slot_end += SLOT;
    }
}

double
eta_rate(const eta *e, seine_time now)
{
    enum { RECENT = 5 };
    uint32_t n = e->filled < RECENT ? e->filled : RECENT;
    uint64_t sum = e->done - e->slot_done;
    seine_span span = now - (e->slot_end - SLOT);

    for (uint32_t i = 1; i <= n; i++)
        sum += e->slots[(e->next + ETA_SLOTS - i) % ETA_SLOTS];
    span += n * SLOT;
    return span > 0 ? (double)sum * 1e9 / (double)span : 0;
}

double
eta_growth(const eta *e)
{
    enum { ENOUGH = 20, PART = 4 };
    uint32_t n = e->n_marks < ETA_MARKS ? e->n_marks : ETA_MARKS;
    uint64_t window = e->done / PART < ETA_WINDOW ? e->done / PART : ETA_WINDOW;
    eta_mark from = {e->done, e->known};

    for (uint32_t i = 1; i <= n; i++) {
        eta_mark m = e->marks[(e->n_marks - i) % ETA_MARKS];

        /* Beyond the window only to have anything at all. */
        if (e->done - m.done > window && e->done - from.done >= ENOUGH)
            break;
        from = m;
    }
    if (e->done - from.done < ENOUGH || e->known < from.known)
        return 0;
    return (double)(e->known - from.known) / (double)(e->done - from.done);
}

static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Slots added up until there is something in them: one result every two seconds is a
 * steady rate and not "sometimes none". Answers how many groups of *size there are. */
static uint32_t
grouped(const eta *e, uint32_t *size, uint32_t out[ETA_SLOTS])
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
            out[g] += e->slots[(e->next + ETA_SLOTS - g * *size - i) % ETA_SLOTS];
    }
    return n;
}

bool
eta_interval(const eta *e, seine_time now, uint64_t left, seine_span *out_low,
             seine_span *out_high)
{
    enum { ENOUGH = 20, SLOWEST = 99 * 3600 };
    uint32_t sorted[ETA_SLOTS];
    uint32_t size = 1, n;

    if (now - e->start < SEINE_SECS(5) || e->done < ENOUGH || e->filled < 4)
        return false;
    n = grouped(e, &size, sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    uint32_t quarter = (n - 1) / 4, three = 3 * n / 4;
    double slow = (double)sorted[quarter] / size, fast = (double)sorted[three] / size;
    double recent = eta_rate(e, now); /* it may be getting faster */
    fast = fast > recent ? fast : recent;
    if (fast <= 0)
        return false;
    double low = (double)left / fast, high = slow > 0 ? (double)left / slow : SLOWEST;
    if (high > SLOWEST)
        high = SLOWEST;
    /* Whole seconds, rounded outwards: no more is known. */
    *out_low = SEINE_SECS((int64_t)(low < SLOWEST ? low : SLOWEST));
    *out_high = SEINE_SECS((int64_t)high + 1);
    return true;
}
