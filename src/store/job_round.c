/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds: how a finished job begins anew with everything it knows. */
#include "store/job_parts.h"

seine_err
sn_job_format(sn_sqlite *db, int64_t *out_version)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = sn_sqlite_prepare(db, "PRAGMA user_version", &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    *out_version = e == SEINE_OK && there ? sn_sqlite_int(stmt, 0) : 0;
    sn_sqlite_finalize(stmt);
    return e;
}

/* Ends a transaction: all of it, or nothing. */
static seine_err
end(sn_sqlite *db, seine_err e)
{
    if (e == SEINE_OK)
        e = sn_sqlite_exec(db, "COMMIT");
    if (e != SEINE_OK) {
        seine_err ignored = sn_sqlite_exec(db, "ROLLBACK");
        (void)ignored;
    }
    return e;
}

/* The first round of a job that was made without rounds. */
static seine_err
put_first(seine_durable_job *j)
{
    sn_job_round first = {.number = 1};
    sn_job_table tables[SN_TABLES];
    seine_err e = sn_job_tables_open(j->db, tables);

    if (e != SEINE_OK)
        return e;
    for (unsigned i = 0; i < SN_TABLES; i++)
        j->tables[i] = tables[i];
    return sn_job_put_round(j, &first);
}

seine_err
sn_job_upgrade(seine_durable_job *j)
{
    int64_t version;
    seine_err e = sn_job_format(j->db, &version);

    if (e != SEINE_OK || version >= SN_JOB_FORMAT)
        return e;
    e = sn_sqlite_exec(j->db, "BEGIN IMMEDIATE");
    if (e != SEINE_OK)
        return e;
    e = sn_job_tables_upgrade(j->db);
    return end(j->db, e == SEINE_OK ? put_first(j) : e);
}

seine_err
sn_job_read_round(seine_durable_job *j)
{
    sn_job_row row;
    bool there = false;
    unsigned i = 1;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_ROUND], 1, &row, &there);

    if (e != SEINE_OK || !there)
        return e == SEINE_OK ? SEINE_E_STATE_CORRUPT : e;
#define X(column) j->round.column = row.ints[i++];
    SN_JOB_ROUND(X)
#undef X
    sn_job_table_reset(&j->tables[SN_TABLE_ROUND]);
    return j->round.number >= 1 ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

/* How many rows a table has. */
static seine_err
count(sn_sqlite *db, const char *sql, int64_t *out_n)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = sn_sqlite_prepare(db, sql, &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    if (e == SEINE_OK && there)
        *out_n = sn_sqlite_int(stmt, 0);
    sn_sqlite_finalize(stmt);
    return e;
}

/* A link that was put off and refused in the end is judged anew when it is found again.
 * One that was fetched after all stays known, as all URLs do. */
static const char forget[] =
    "DELETE FROM url WHERE (meta & 7) = 3 AND "
    "(number IN (SELECT url FROM result WHERE kind >= 4096) OR "
    "number IN (SELECT url FROM ended));"
    "DELETE FROM request WHERE url NOT IN (SELECT number FROM url);"
    "DELETE FROM result; DELETE FROM ended; DELETE FROM output";

_Static_assert(SN_JOB_PUT_OFF == 3 && SN_JOB_SKIP == 4096, "as in the text above");

static seine_err
write_round(seine_durable_job *j, sn_job_head *h, const sn_job_round *next)
{
    seine_err e = sn_sqlite_exec(j->db, forget);

    if (e == SEINE_OK)
        e = count(j->db, "SELECT count(*) FROM url", &h->urls);
    if (e == SEINE_OK)
        e = count(j->db, "SELECT count(*) FROM request", &h->requests);
    if (e == SEINE_OK)
        e = sn_job_forget_notes(j, h);
    if (e == SEINE_OK)
        e = sn_job_put_head(j, h);
    if (e == SEINE_OK)
        e = sn_job_put_round(j, next);
    return e == SEINE_OK ? sn_job_put_facts(j) : e;
}

seine_err
sn_job_next_round(seine_durable_job *j)
{
    sn_job_round next = j->round;
    sn_job_head h = j->head;
    seine_err e = sn_sqlite_exec(j->db, "BEGIN IMMEDIATE");

    if (e != SEINE_OK)
        return e;
    next.number++;
    next.begun_ms = sn_job_wall_ms();
    next.first_number = h.next_number;
    h.results = h.ended = h.outputs = 0;
#define X(column) h.column = 0;
    SN_JOB_SUMS(X)
#undef X
    e = end(j->db, write_round(j, &h, &next));
    if (e != SEINE_OK)
        return e;
    j->head = h;
    j->round = next;
    sn_job_outputs_free(j); /* all is in them: they are appended to, or replaced */
    return SEINE_OK;
}
