/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "store/job_parts.h"

/* Bits of `meta` in a row of `url`, from the lowest. */
static int64_t
meta_of(const sn_waiting_url *u)
{
    return (int64_t)(u->kind & 7u) | (int64_t)(u->ceiling & 3u) << 3 |
           (int64_t)(u->tag & 63u) << 5 | (int64_t)(u->attr & 15u) << 11 |
           (int64_t)u->flags << 15 | (int64_t)u->moved << 23;
}

seine_err
sn_job_found(sn_job_lane *l, const sn_job_url *u)
{
    bool has_parent = u->parent_number != SN_JOB_NONE;
    int64_t ints[] = {(int64_t)u->url.number,
                      (int64_t)u->print,
                      has_parent ? (int64_t)u->parent_number : -1,
                      u->url.line,
                      u->url.depth,
                      meta_of(&u->url)};
    sn_str texts[] = {u->url.host, u->url.target,
                      has_parent ? (sn_str){0} : u->url.parent, u->ask};

    if (u->url.number > INT64_MAX / 2 || u->url.target.len > 4 * SN_STORE_TEXT)
        return SEINE_E_INVAL;
    return sn_job_lane_put(l, SN_JOB_FOUND, ints, 6, texts, 4);
}

/* What a host asks for counts from now on, also if no record comes for a while. */
static seine_err
wake(sn_job_lane *l, seine_err e)
{
    if (e == SEINE_OK && l->job->wake)
        l->job->wake(l->job->wake_arg);
    return e;
}

/* In a fleet the others wait for it: a sitemap may be the last thing to end. */
seine_err
sn_job_ended(sn_job_lane *l, uint64_t number)
{
    int64_t n = (int64_t)number;
    seine_err e = sn_job_lane_put(l, SN_JOB_ENDED, &n, 1, NULL, 0);

    return l->job->remote ? wake(l, e) : e;
}

seine_err
sn_job_refused(sn_job_lane *l, uint64_t number, uint64_t print)
{
    int64_t ints[] = {(int64_t)number, (int64_t)print};

    return sn_job_lane_put(l, SN_JOB_REFUSED, ints, 2, NULL, 0);
}

seine_err
sn_job_host_put(sn_job_lane *l, const sn_job_host *h)
{
    int64_t ints[] = {
#define X(column) h->column,
        SN_JOB_HOST(X)
#undef X
    };

    return wake(l, sn_job_lane_put(l, SN_JOB_HOST_ROW, ints, sizeof ints / sizeof *ints,
                                   &h->name, 1));
}

seine_err
sn_job_robots_put(sn_job_lane *l, const sn_job_robots *r)
{
    int64_t ints[] = {r->wall_ms, r->state};
    sn_str texts[] = {r->host, r->text};

    return sn_job_lane_put(l, SN_JOB_ROBOTS_ROW, ints, 2, texts, 2);
}

seine_err
sn_job_note_put(sn_job_lane *l, uint32_t kind, sn_str key, sn_str value)
{
    int64_t n = kind;
    sn_str texts[] = {key, value};

    return sn_job_lane_put(l, SN_JOB_NOTE_ROW, &n, 1, texts, 2);
}

seine_err
sn_job_counted(sn_job_lane *l, const sn_job_counts *more)
{
    int64_t ints[] = {
#define X(column) (int64_t) more->column,
        SN_JOB_COUNTS(X)
#undef X
            (int64_t) more->sitemap_bytes};

    return sn_job_lane_put(l, SN_JOB_COUNTED, ints, sizeof ints / sizeof *ints, NULL, 0);
}

seine_err
sn_job_tried(sn_job_lane *l, uint64_t number, uint32_t attempts, int64_t elapsed_ms)
{
    int64_t value[] = {(int64_t)number, attempts, elapsed_ms};
    char key[24];
    int n = snprintf(key, sizeof key, "%llu", (unsigned long long)number);

    return wake(l, sn_job_note_put(l, SN_JOB_NOTE_TRIED, (sn_str){key, (size_t)n},
                                   (sn_str){(const char *)value, sizeof value}));
}
