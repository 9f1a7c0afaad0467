/* SPDX-License-Identifier: Apache-2.0 */
/* What a job has kept comes back to the stages of a shard. */
#include <stdio.h>

#include "base/time.h"
#include "engine/run_parts.h"

#define OFTEN SEINE_MS(20) /* as long as a group of the job lasts */

/* What is known of a page cannot be read, or not be kept: the run ends in order, as when
 * found URLs cannot be kept. */
static void
fail(sn_run *r, seine_err e)
{
    seine_diag why = SEINE_DIAG;

    if (sn_shared_state_fail(r->shared, e, &why))
        sn_run_wake_others(r);
}

void
sn_run_recall(sn_run *r, sn_visit *v)
{
    if (!r->pages)
        return;
    seine_err e = sn_revisit_recall(r->shared, r->pages, v);
    if (e == SEINE_OK)
        return;
    v->is_recalled = false; /* so that nothing is said of it */
    fail(r, e);
}

void
sn_run_note_change(sn_run *r, sn_visit *v)
{
    if (r->pages && !sn_emit_change(v, r->shared, &r->emit.record))
        fail(r, SEINE_E_NOMEM);
}

void
sn_run_keep_try(sn_run *r, const sn_visit *v)
{
    seine_span elapsed = sn_time_sub(r->now, v->retry.first_at);

    if (!r->lane || v->kind == SN_KIND_ROBOTS || v->retry.attempts == 0)
        return;
    seine_err e =
        sn_job_tried(r->lane, v->number, v->retry.attempts, elapsed / SEINE_MS(1));
    if (e != SEINE_OK)
        fail(r, e);
}

void
sn_run_keep_counts(sn_run *r, bool is_end)
{
    sn_job_counts now, more;
    bool any = false;

    if (!r->lane || (!is_end && r->now < sn_time_add(r->told_at, OFTEN)))
        return;
#define X(column)                              \
    now.column = r->stats.column;              \
    more.column = now.column - r->told.column; \
    any |= more.column > 0;
    SN_JOB_COUNTS(X)
#undef X
    now.sitemap_bytes = r->frontier ? sn_frontier_sitemap_bytes(r->frontier) : 0;
    more.sitemap_bytes = now.sitemap_bytes - r->told.sitemap_bytes;
    if (!any)
        return;
    r->told = now;
    r->told_at = r->now;
    seine_err e = sn_job_counted(r->lane, &more);
    if (e != SEINE_OK)
        fail(r, e);
}

/* "12 s 37": the place of a second or a minute, by the shard. */
static seine_err
keep_slice(const seine_slice *s, void *arg)
{
    sn_run *r = arg;
    char key[48], text[SN_SLICE_TEXT];
    bool is_second = s->width == SEINE_SECS(1);
    int64_t place =
        s->wall / s->width % (is_second ? SEINE_LINE_SECONDS : SEINE_LINE_MINUTES);
    int n = snprintf(key, sizeof key, "%u %c %lld", r->index, is_second ? 's' : 'm',
                     (long long)place);

    return sn_job_note_put(r->lane, SN_JOB_NOTE_SLICE, (sn_str){key, (size_t)n},
                           (sn_str){text, sn_slice_write(s, text)});
}

void
sn_run_keep_feed(sn_run *r, bool is_end)
{
    if (is_end)
        sn_feed_end(&r->feed, r->now);
    if (!r->lane)
        return;
    seine_err e = sn_feed_save(&r->feed, keep_slice, r);
    if (e != SEINE_OK)
        fail(r, e);
}

void
sn_run_restore_slice(sn_run *r, const seine_slice *s, bool is_own)
{
    sn_feed_restore(&r->feed, s, is_own);
}

seine_err
sn_run_open_pages(sn_run *r)
{
    return sn_revisit_is_on(r->shared) ? sn_job_reader_new(r->shared->job, &r->pages)
                                       : SEINE_OK;
}

seine_err
sn_run_restore_not_due(sn_run *r, const sn_job_url *u)
{
    return r->frontier ? sn_frontier_restore_not_due(r->frontier, u) : SEINE_OK;
}

seine_err
sn_run_restore_host(sn_run *r, const sn_job_host *row, seine_time now)
{
    seine_err e = sn_scheduler_restore(r->scheduler, row, now);

    if (e != SEINE_OK || !r->frontier)
        return e;
    return sn_frontier_restore_host(r->frontier, row->name,
                                    sn_scheduler_row_is_given(row), now);
}

seine_err
sn_run_restore_robots(sn_run *r, const sn_job_robots *row, int64_t wall_ms,
                      seine_time now)
{
    return r->frontier ? sn_frontier_restore_robots(r->frontier, row, wall_ms, now)
                       : SEINE_OK;
}

seine_err
sn_run_restore_url(sn_run *r, const sn_job_url *u, seine_time now)
{
    return r->frontier ? sn_frontier_restore_url(r->frontier, u, now)
                       : SEINE_E_STATE_CORRUPT;
}

seine_err
sn_run_restore_pages(sn_run *r, sn_str host, const sn_job_standing *n, seine_time now)
{
    return r->frontier ? sn_frontier_restore_pages(r->frontier, host, n, now) : SEINE_OK;
}

seine_err
sn_run_restore_trap(sn_run *r, sn_str host, uint64_t key, seine_time now)
{
    return r->frontier ? sn_frontier_restore_trap(r->frontier, host, key, now) : SEINE_OK;
}

void
sn_run_restored(sn_run *r, sn_job_lane *lane, seine_time now)
{
    r->lane = lane;
    sn_scheduler_set_lane(r->scheduler, lane);
    if (!r->frontier)
        return;
    sn_frontier_set_lane(r->frontier, lane);
    sn_frontier_set_pages(r->frontier, r->pages);
    sn_frontier_restored(r->frontier, now);
}
