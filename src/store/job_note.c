/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: small things that are kept by kind and key. Two kinds are the job's own. Counts
 * are summed up here, since every shard appends what it has done since it did so last;
 * attempts are replaced. */
#include <string.h>

#include "base/hash.h"
#include "store/job_parts.h"

/* The number of a note is a hash of its kind and key. */
static int64_t
id_of(const seine_durable_job *j, int64_t kind, sn_str key)
{
    uint64_t secret[2] = {j->facts.secret[0] ^ (uint64_t)kind, j->facts.secret[1]};

    return (int64_t)(sn_siphash(secret, key.ptr, key.len) >> 1);
}

static seine_err
put(seine_durable_job *j, int64_t kind, sn_str key, sn_str value, sn_job_head *h)
{
    sn_job_table *t = &j->tables[SN_TABLE_NOTE];
    sn_job_row row = {.ints = {0}};
    int64_t id = id_of(j, kind, key);
    bool there = false;
    seine_err e = sn_job_table_get(t, id, &row, &there);

    sn_job_table_reset(t);
    if (e != SEINE_OK)
        return e;
    h->notes += !there;
    row = (sn_job_row){{id, kind}, {key, value}};
    return sn_job_table_put(t, &row);
}

seine_err
sn_job_apply_note(seine_durable_job *j, const sn_job_op *op, sn_job_head *h)
{
    return put(j, op->ints[0], sn_job_op_text(op, 0), sn_job_op_text(op, 1), h);
}

void
sn_job_apply_counted(seine_durable_job *j, const sn_job_op *op)
{
    unsigned i = 0;

#define X(column) j->counted.column += (uint64_t)op->ints[i++];
    SN_JOB_COUNTS(X)
#undef X
    j->counted.sitemap_bytes += (uint64_t)op->ints[i];
}

seine_err
sn_job_put_counts(seine_durable_job *j, sn_job_head *h)
{
    const sn_job_counts *c = &j->counted;

    if (memcmp(c, &j->counts, sizeof *c) == 0)
        return SEINE_OK;
    return put(j, SN_JOB_NOTE_COUNTS, SN_STR("all"), (sn_str){(const char *)c, sizeof *c},
               h);
}

static seine_err
take_tried(const seine_durable_job *j, sn_str value, const sn_job_scan *into)
{
    int64_t v[3];

    if (value.len != sizeof v)
        return SEINE_E_STATE_CORRUPT;
    memcpy(v, value.ptr, sizeof v);
    if (sn_job_bit_get(&j->done, (uint64_t)v[0]) || !into->tried)
        return SEINE_OK;
    return into->tried((uint64_t)v[0], (uint32_t)v[1], v[2], into->arg);
}

seine_err
sn_job_take_note(seine_durable_job *j, const sn_job_row *row, const sn_job_scan *into)
{
    sn_str value = row->texts[1];

    if (row->ints[1] == SN_JOB_NOTE_TRIED)
        return take_tried(j, value, into);
    if (row->ints[1] == SN_JOB_NOTE_COUNTS) { /* a later version may keep more */
        memcpy(&j->counts, value.ptr,
               value.len < sizeof j->counts ? value.len : sizeof j->counts);
        return SEINE_OK;
    }
    return into->note
               ? into->note((uint32_t)row->ints[1], row->texts[0], value, into->arg)
               : SEINE_OK;
}

void
sn_job_counts_get(const seine_durable_job *j, sn_job_counts *out)
{
    *out = j->counts;
}

_Static_assert(SN_JOB_NOTE_COUNTS == 100 && SN_JOB_NOTE_TRIED == 101, "as in the text");

seine_err
sn_job_forget_notes(seine_durable_job *j, sn_job_head *h)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = sn_sqlite_exec(j->db, "DELETE FROM note WHERE kind IN (100, 101)");

    if (e == SEINE_OK)
        e = sn_sqlite_prepare(j->db, "SELECT count(*) FROM note", &stmt);
    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    if (e == SEINE_OK && there)
        h->notes = sn_sqlite_int(stmt, 0);
    sn_sqlite_finalize(stmt);
    return e;
}
