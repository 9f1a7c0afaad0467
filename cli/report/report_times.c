/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_times.h"

#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

/* 64 to the second, so that wider bins are whole seconds. */
#define FINEST SEINE_US(15625)

static void
merge_moment(report_moment *to, const report_moment *from)
{
    for (int i = 0; i < CLASSES; i++)
        to->classes[i] += from->classes[i];
    for (int i = 0; i < PARTS; i++)
        to->parts[i] = entry_sum(to->parts[i], from->parts[i]);
    to->skipped += from->skipped;
    to->bytes += from->bytes;
    latency_merge(&to->latency, &from->latency);
}

static int64_t
floor_to(int64_t wall, seine_span width)
{
    return wall - wall % width;
}

/* Moves the bins so that the first one begins at `from`, which is earlier. */
static void
shift(report_times *t, int64_t from)
{
    size_t by = (size_t)((t->from - from) / t->width);

    memmove(t->all + by, t->all, t->n * sizeof *t->all);
    memset(t->all, 0, by * sizeof *t->all);
    t->n += by;
    t->from = from;
}

/* Makes each bin twice as wide. */
static void
widen(report_times *t)
{
    int64_t from = floor_to(t->from, 2 * t->width);
    size_t odd = from != t->from, n = 0;

    for (size_t i = 0; i < t->n; i++) {
        size_t to = (i + odd) / 2;

        if (to == i)
            n = to + 1;
        else if (to < n)
            merge_moment(&t->all[to], &t->all[i]);
        else
            t->all[to] = t->all[i], n = to + 1;
    }
    memset(t->all + n, 0, (t->n > n ? t->n - n : 0) * sizeof *t->all);
    t->n = n;
    t->from = from;
    t->width *= 2;
}

static bool
fits(const report_times *t, int64_t wall)
{
    int64_t last = t->from + (int64_t)t->n * t->width - 1;
    int64_t from = wall < t->from ? floor_to(wall, t->width) : t->from;
    int64_t to = wall > last ? wall : last;

    return (to - from) / t->width < REPORT_MOMENTS;
}

report_moment *
report_times_at(report_times *t, int64_t wall)
{
    if (wall <= 0)
        return NULL;
    if (!t->all) {
        t->all = xalloc_zeroed(REPORT_MOMENTS, sizeof *t->all);
        t->width = FINEST;
        t->from = floor_to(wall, FINEST);
        t->n = 1;
        t->first = t->last = wall;
    }
    t->first = wall < t->first ? wall : t->first;
    t->last = wall > t->last ? wall : t->last;
    while (!fits(t, wall))
        widen(t);
    if (wall < t->from)
        shift(t, floor_to(wall, t->width));
    size_t at = (size_t)((wall - t->from) / t->width);
    t->n = at >= t->n ? at + 1 : t->n;
    return &t->all[at];
}

void
report_times_free(report_times *t)
{
    free(t->all);
    t->all = NULL;
    t->n = 0;
}
