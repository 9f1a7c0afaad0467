/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/summary.h"

#include "base/time.h"

void
seine_summary_add(seine_summary *s, bool ok, seine_span took)
{
    if (!s)
        return;
    s->total++;
    ok ? s->success++ : s->failed++;
    s->rest = sn_time_add(s->rest, took > 0 ? took : 0);
    s->total_duration_ms += (uint64_t)(s->rest / SEINE_MS(1));
    s->rest %= SEINE_MS(1);
}

uint64_t
seine_summary_avg_ms(const seine_summary *s)
{
    if (!s)
        return 0;
    return s->total ? s->total_duration_ms / s->total : 0;
}

double
seine_summary_rate(const seine_summary *s)
{
    if (!s)
        return 0;
    return s->total ? (double)s->success / (double)s->total * 100.0 : 0.0;
}
