/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a job as records, with as much as its state keeps of them: for a report
 * of a job whose records went elsewhere. */
#include <string.h>

#include "base/alloc.h"
#include "seine/job_view.h"
#include "seine/url.h"
#include "store/job_parts.h"

typedef struct reading {
    seine_durable_job *job;
    seine_job_record_fn fn;
    void *arg;
    bool has_told; /* the waits of all */
    char url[SEINE_URL_ROOM], parent[SEINE_URL_ROOM];
} reading;

static seine_err
load_hosts(seine_durable_job *j)
{
    sn_job_table *t = &j->tables[SN_TABLE_HOST];
    sn_job_row row = {.ints = {0}};
    sn_job_name *name;
    bool there = true;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there)
        e = sn_job_host_add(j, row.ints[0], row.texts[0], &name);
    sn_job_table_reset(t);
    return e;
}

/* Writes the URL with that number; of one that was given, what was written then. Empty:
 * the job has no row of it. *out_from: the number of the page it was found on; -1. */
static seine_err
find_url(const reading *r, int64_t number, char out[SEINE_URL_ROOM], sn_str *out_url,
         int64_t *out_from, uint32_t *out_line)
{
    seine_durable_job *j = r->job;
    sn_job_row row;
    bool there = false;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_URL], number, &row, &there);

    *out_url = (sn_str){0};
    *out_from = -1;
    if (e != SEINE_OK || !there)
        return e;
    size_t id = (size_t)row.ints[1];
    const sn_job_name *host = row.ints[1] > 0 && id < j->by_id_room ? j->by_id[id] : NULL;
    sn_str name = host ? sn_job_host_shown(host->name) : SN_STR("");
    if (name.len + row.texts[0].len >= SEINE_URL_ROOM)
        return SEINE_OK;
    memcpy(out, name.ptr, name.len);
    memcpy(out + name.len, row.texts[0].ptr, row.texts[0].len);
    *out_url = (sn_str){out, name.len + row.texts[0].len};
    *out_from = row.ints[3];
    *out_line = (uint32_t)row.ints[4];
    return SEINE_OK;
}

/* What all URLs have waited stands in the first. */
static void
add_waits(reading *r, seine_record *to)
{
    sn_job_sums sums = {0};

    if (r->has_told || to->type != SEINE_RECORD_RESULT)
        return;
    r->has_told = true;
    sn_job_sums_get(r->job, &sums);
    to->queue = SEINE_US(sums.queue_us);
    to->throttle = SEINE_US(sums.throttle_us);
    to->backoff = SEINE_US(sums.backoff_us);
    to->retry_budget = SEINE_US(sums.retry_budget_us);
}

/* Only of what failed somebody wants to know where it was found. */
static seine_err
find_place(reading *r, int64_t number, seine_record *to)
{
    int64_t from, ignored;
    uint32_t line = 0, none;
    seine_err e = find_url(r, number, r->url, &to->url, &from, &line);

    if (e != SEINE_OK || from < 0 ||
        (to->type == SEINE_RECORD_RESULT && to->fate == SEINE_FATE_OK))
        return e;
    to->via.line = line;
    return find_url(r, from, r->parent, &to->parent, &ignored, &none);
}

static seine_err
take_row(reading *r, const int64_t *v)
{
    bool is_skip = v[2] >= SN_JOB_SKIP;
    seine_fault fault = SEINE_FAULT;
    seine_record out = {.type = is_skip ? SEINE_RECORD_SKIP : SEINE_RECORD_RESULT,
                        .number = (uint64_t)v[1],
                        .status = (uint16_t)v[3],
                        .attempts = (uint32_t)v[4],
                        .wall = v[5] * SEINE_MS(1),
                        .bytes_in = (uint64_t)v[6],
                        .bytes_body = (uint64_t)v[7],
                        .total = SEINE_US(v[8]),
                        .ttfb = SEINE_US(v[9]),
                        .content_length = -1,
                        .fault = &fault};

    if (is_skip) {
        out.reason = (seine_skip)(v[2] - SN_JOB_SKIP);
    } else {
        fault.code = (seine_err)v[2];
        fault.status = out.status;
        out.fate = seine_fate_of(fault.code);
    }
    seine_err e = find_place(r, v[1], &out);
    add_waits(r, &out);
    if (e == SEINE_OK)
        r->fn(&out, r->arg);
    return e;
}

seine_err
seine_job_view_records(seine_job_view *v, seine_job_record_fn fn, void *arg)
{
    sn_job_row row = {.ints = {0}};
    bool there = true;

    if (!v || !fn)
        return SEINE_E_INVAL;
    seine_durable_job *j = sn_job_of_view(v);
    if (!j->db)
        return SEINE_E_STATE_CORRUPT;
    if (j->is_scanned)
        return SEINE_E_INVAL;
    reading *r SN_AUTOFREE = sn_zalloc(sizeof *r);
    if (!r)
        return SEINE_E_NOMEM;
    j->is_scanned = true;
    r->job = j;
    r->fn = fn;
    r->arg = arg;
    sn_job_table *t = &j->tables[SN_TABLE_RESULT];
    seine_err e = load_hosts(j);
    while (e == SEINE_OK && (e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there)
        e = take_row(r, row.ints);
    for (unsigned i = 0; i < SN_TABLES; i++)
        sn_job_table_reset(&j->tables[i]);
    return e;
}
