/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_load.h"

#include <stdlib.h>

#include "screen/xalloc.h"

enum { BINS = 120 };

load_group
load_group_of(seine_limit l)
{
    switch (l) {
    case SEINE_LIMIT_RATE:
    case SEINE_LIMIT_POLITENESS:
        return LOAD_POLITE;
    case SEINE_LIMIT_CONCURRENCY:
    case SEINE_LIMIT_PER_HOST:
        return LOAD_SLOTS;
    case SEINE_LIMIT_BREAKER:
    case SEINE_LIMIT_BACKOFF:
        return LOAD_FAILING;
    case SEINE_LIMIT_PAUSED:
    case SEINE_LIMIT_OUTPUT:
    case SEINE_LIMIT_MEMORY:
    case SEINE_LIMIT_CPU:
        return LOAD_MACHINE;
    case SEINE_LIMIT_SERVER:
        return LOAD_SERVER;
    default:
        return LOAD_MIXED;
    }
}

load_group
load_wait_group(seine_wait w)
{
    switch (w) {
    case SEINE_WAIT_QUEUE:
    case SEINE_WAIT_CONCURRENCY:
    case SEINE_WAIT_ADDRESS:
        return LOAD_SLOTS;
    case SEINE_WAIT_BREAKER:
    case SEINE_WAIT_BACKOFF:
    case SEINE_WAIT_RETRY_BUDGET:
        return LOAD_FAILING;
    case SEINE_WAIT_OUTPUT:
        return LOAD_MACHINE;
    default:
        return LOAD_POLITE;
    }
}

const char *
load_group_name(load_group g)
{
    static const char *const names[LOAD_GROUPS] = {
        [LOAD_POLITE] = "politeness",     [LOAD_SLOTS] = "connections",
        [LOAD_FAILING] = "failing hosts", [LOAD_MACHINE] = "this machine",
        [LOAD_SERVER] = "servers",        [LOAD_MIXED] = "several",
    };

    return g < LOAD_GROUPS ? names[g] : "";
}

/* So wide that all slices fit: a multiple of theirs. */
static seine_span
width_of(const seine_slice *all, size_t n)
{
    seine_span span = all[n - 1].wall + all[n - 1].width - all[0].wall;
    seine_span step = all[0].width;

    return (span / step + BINS - 1) / BINS * step;
}

static void
add_slice(report_load *l, const seine_slice *s)
{
    size_t at = (size_t)((s->wall - l->from) / l->width);
    seine_limit limit = seine_slice_limit(s);

    if (at >= BINS)
        return;
    l->n = at + 1 > l->n ? at + 1 : l->n;
    seine_slice_join(&l->all[at].sum, s);
    seine_slice_join(&l->sum, s);
    if (limit == SEINE_LIMIT_NOTHING)
        return;
    l->busy += s->lived;
    l->limits[limit] += s->lived;
    l->all[at].limits[load_group_of(limit)] += s->lived;
}

void
report_load_make(const seine_timeline *t, report_load *out)
{
    size_t n = 0;
    const seine_slice *all = t ? seine_timeline_slices(t, &n) : NULL;

    *out = (report_load){.n = 0, .sum = {.wall = -1}};
    if (n == 0)
        return;
    out->all = xalloc_zeroed(BINS, sizeof *out->all);
    out->from = all[0].wall;
    out->width = width_of(all, n);
    for (size_t i = 0; i < BINS; i++)
        out->all[i].sum.wall = -1; /* no slice begins there: each follows another */
    for (size_t i = 0; i < n; i++)
        add_slice(out, &all[i]);
    for (size_t i = 0; i < out->n; i++) {
        const seine_slice *s = &out->all[i].sum;
        uint64_t waiting = 0;

        for (int w = 0; w < SEINE_WAIT_ROOM; w++)
            waiting += s->waiting[w];
        double flying = seine_slice_mean(s, s->in_flight);
        double held = seine_slice_mean(s, waiting);
        out->most_in_flight = flying > out->most_in_flight ? flying : out->most_in_flight;
        out->most_waiting = held > out->most_waiting ? held : out->most_waiting;
    }
}

void
report_load_free(report_load *l)
{
    free(l->all);
    *l = (report_load){.n = 0};
}

double
report_load_limit(const report_load *l, seine_limit limit)
{
    return l->busy > 0 ? (double)l->limits[limit] / (double)l->busy : 0;
}

double
report_load_share(const report_load *l, load_group g)
{
    double sum = 0;

    for (int i = 1; i < SEINE_LIMIT_ROOM; i++)
        if (load_group_of((seine_limit)i) == g)
            sum += report_load_limit(l, (seine_limit)i);
    return sum;
}

void
report_load_text(const report_load *l, textbuf *out)
{
    bool is_told[LOAD_GROUPS] = {false}, any = false;

    for (int k = 0; k < LOAD_GROUPS; k++) {
        int best = -1;

        for (int g = 0; g < LOAD_GROUPS; g++)
            if (!is_told[g] && (best < 0 || report_load_share(l, (load_group)g) >
                                                report_load_share(l, (load_group)best)))
                best = g;
        double share = 100 * report_load_share(l, (load_group)best);
        is_told[best] = true;
        if (share < 0.5)
            break;
        textbuf_put(out, "%s%s %.0f %%", any ? ", " : "",
                    load_group_name((load_group)best), share);
        any = true;
    }
}
