/* SPDX-License-Identifier: Apache-2.0 */
/* What a job knows of one URL, for who wants it explained. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "seine/job_view.h"
#include "seine/seen.h"
#include "store/job_parts.h"
#include "text/html.h"

/* The first integer of the first row, with a text bound. False: no row. */
static bool
first_int(sn_sqlite *db, const char *sql, sn_str text, int64_t *out)
{
    sn_sqlite_stmt *stmt;
    bool there = false;

    if (sn_sqlite_prepare(db, sql, &stmt) != SEINE_OK)
        return false;
    sn_sqlite_row row = sn_sqlite_bind(stmt);
    sn_sqlite_put_text(&row, text);
    if (sn_sqlite_next(stmt, &there) != SEINE_OK)
        there = false;
    if (there)
        *out = sn_sqlite_int(stmt, 0);
    sn_sqlite_finalize(stmt);
    return there;
}

/* The first row of a table whose integer at that place is this. */
static seine_err
find_by(sn_job_table *t, unsigned place, int64_t value, sn_job_row *row, bool *out_there)
{
    seine_err e;

    do
        e = sn_job_table_next(t, row, out_there);
    while (e == SEINE_OK && *out_there && row->ints[place] != value);
    return e;
}

/* The print of a key, as the runs of this job make it. */
static seine_err
print_of(const seine_durable_job *j, const char *key, uint64_t *out_print)
{
    seine_seen_opts o = SEINE_SEEN_OPTS;
    seine_seen *seen = NULL;

    memcpy(o.seed, j->facts.secret, sizeof o.seed);
    seine_err e = seine_seen_new(&o, &seen);
    if (e == SEINE_OK)
        *out_print = seine_seen_print(seen, key, strlen(key));
    seine_seen_free(seen);
    return e;
}

static void
fill_result(const int64_t *v, seine_job_url *out)
{
    out->is_known = out->has_ended = out->has_record = true;
    out->seq = (uint64_t)v[0];
    out->is_skip = v[2] >= SN_JOB_SKIP;
    out->kind = out->is_skip ? SEINE_OK : (seine_err)v[2];
    out->reason = out->is_skip ? (seine_skip)(v[2] - SN_JOB_SKIP) : 0;
    out->status = (uint16_t)v[3];
    out->attempts = (uint32_t)v[4];
    out->at = v[5] * 1000000;
    out->bytes_body = (uint64_t)v[7];
    out->total = v[8] * 1000;
    out->latency = v[9] * 1000;
}

/* Its result, or the end without one. */
static seine_err
find_end(seine_durable_job *j, int64_t number, seine_job_url *out)
{
    sn_job_row row;
    bool there = false;
    sn_job_table *results = &j->tables[SN_TABLE_RESULT];
    seine_err e = find_by(results, 1, number, &row, &there);

    sn_job_table_reset(results);
    if (e == SEINE_OK && there) {
        fill_result(row.ints, out);
    } else if (e == SEINE_OK) {
        e = sn_job_table_get(&j->tables[SN_TABLE_ENDED], number, &row, &there);
        out->has_ended = there;
    }
    return e;
}

seine_err
sn_job_url_text(seine_durable_job *j, int64_t number, char *out, size_t cap)
{
    sn_job_row url, host = {.ints = {0}};
    bool there = false, has_host = false;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_URL], number, &url, &there);

    if (e != SEINE_OK || !there)
        return e;
    if (url.ints[1] > 0)
        e = sn_job_table_get(&j->tables[SN_TABLE_HOST], url.ints[1], &host, &has_host);
    sn_str name = has_host ? host.texts[0] : SN_STR("");
    sn_str own = sn_str_starts(name, SN_STR("https:")) ? SN_STR(":443") : SN_STR(":80");
    if (name.len > 0 && sn_str_ends(name, own))
        name.len -= own.len;
    snprintf(out, cap, "%.*s%.*s", SN_FMT(name), SN_FMT(url.texts[0]));
    return e;
}

static seine_err
find_row(seine_durable_job *j, int64_t number, seine_job_url *out)
{
    sn_job_row row;
    bool there = false;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_URL], number, &row, &there);

    if (e != SEINE_OK || !there)
        return e;
    uint64_t meta = (uint64_t)row.ints[6];
    out->is_known = out->has_place = true;
    out->is_given = (meta & 7) == SN_JOB_BY_USER;
    out->line = (uint32_t)row.ints[4];
    out->depth = (uint32_t)row.ints[5];
    if (!out->is_given) {
        out->tag = sn_html_tag_name((sn_html_tag)(meta >> 5 & 63));
        out->attr = sn_html_attr_name((sn_html_attr)(meta >> 11 & 15));
    }
    int64_t parent = row.ints[3];
    if (parent >= 0) {
        e = sn_job_url_text(j, parent, out->parent, sizeof out->parent);
    } else if (!out->is_given) { /* a page that the job has no row of */
        e = sn_job_table_get(&j->tables[SN_TABLE_REQUEST], number, &row, &there);
        if (e == SEINE_OK && there)
            snprintf(out->parent, sizeof out->parent, "%.*s", SN_FMT(row.texts[0]));
    }
    return e == SEINE_OK ? find_end(j, number, out) : e;
}

seine_err
seine_job_view_url(seine_job_view *v, const char *key, seine_job_url *out)
{
    uint64_t print = 0;
    sn_job_row row;
    bool there = false;

    if (!v || !key || !out)
        return SEINE_E_INVAL;
    seine_durable_job *j = sn_job_of_view(v);
    *out = (seine_job_url){.tag = "", .attr = ""};
    if (!j->db)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = print_of(j, key, &print);
    if (e != SEINE_OK)
        return e;
    e = find_by(&j->tables[SN_TABLE_URL], 2, (int64_t)print, &row, &there);
    if (e == SEINE_OK && there) {
        e = find_row(j, row.ints[0], out);
    } else if (e == SEINE_OK) {
        e = find_by(&j->tables[SN_TABLE_RESULT], 10, (int64_t)print, &row, &there);
        if (e == SEINE_OK && there)
            fill_result(row.ints, out);
    }
    for (unsigned i = 0; i < SN_TABLES; i++)
        sn_job_table_reset(&j->tables[i]);
    return e;
}

bool
seine_job_view_robots(seine_job_view *v, const char *host, seine_view *out_text,
                      int64_t *out_wall)
{
    int64_t id = 0;
    sn_job_row row;
    bool there = false;

    if (!v || !host || !out_text || !out_wall)
        return false;
    seine_durable_job *j = sn_job_of_view(v);
    if (!j->db ||
        !first_int(j->db, "SELECT id FROM host WHERE name = ?", sn_str_of(host), &id))
        return false;
    sn_job_table *t = &j->tables[SN_TABLE_ROBOTS];
    if (sn_job_table_get(t, id, &row, &there) != SEINE_OK || !there)
        return false;
    *out_text = row.texts[0]; /* until the next reading of this table */
    *out_wall = row.ints[1] * 1000000;
    return true;
}
