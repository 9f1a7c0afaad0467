/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds: how a finished job begins anew with everything it knows. */
#include "base/alloc.h"
#include "base/crashpoint.h"
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
    e = sn_job_tables_upgrade(j->db, version);
    return end(j->db, e == SEINE_OK && version < 2 ? put_first(j) : e);
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

/* Numbers of URLs that rise. */
typedef struct numbers {
    int64_t *all;
    size_t n, room;
} numbers;

static seine_err
add_number(numbers *to, int64_t number)
{
    if (to->n == to->room) {
        size_t more = to->room ? to->room * 2 : 64;
        int64_t *all = sn_realloc(to->all, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        to->all = all;
        to->room = more;
    }
    to->all[to->n++] = number;
    return SEINE_OK;
}

static seine_err
note_refused(const seine_durable_job *j, int64_t number, sn_job_bits *out)
{
    return number < 0 || number >= j->head.next_number
               ? SEINE_E_STATE_CORRUPT
               : sn_job_bit_set(out, (uint64_t)number);
}

/* Numbers that have ended otherwise than by being fetched. */
static seine_err
find_refused(seine_durable_job *j, sn_job_bits *out)
{
    sn_job_table *results = &j->tables[SN_TABLE_RESULT];
    sn_job_table *ended = &j->tables[SN_TABLE_ENDED];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (e = sn_job_table_next(results, &row, &there)) == SEINE_OK &&
           there)
        if (row.ints[2] >= SN_JOB_SKIP)
            e = note_refused(j, row.ints[1], out);
    sn_job_table_reset(results);
    there = true;
    while (e == SEINE_OK && (e = sn_job_table_next(ended, &row, &there)) == SEINE_OK &&
           there)
        e = note_refused(j, row.ints[0], out);
    sn_job_table_reset(ended);
    return e;
}

static seine_err
find_put_off(seine_durable_job *j, const sn_job_bits *refused, numbers *out)
{
    sn_job_table *urls = &j->tables[SN_TABLE_URL];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (e = sn_job_table_next(urls, &row, &there)) == SEINE_OK &&
           there)
        if ((row.ints[6] & 7) == SN_JOB_PUT_OFF &&
            sn_job_bit_get(refused, (uint64_t)row.ints[0]))
            e = add_number(out, row.ints[0]);
    sn_job_table_reset(urls);
    return e;
}

static seine_err
drop_request(sn_sqlite *db, const numbers *of)
{
    sn_sqlite_stmt *stmt;
    seine_err e = sn_sqlite_prepare(db, "DELETE FROM request WHERE url = ?", &stmt);

    if (e != SEINE_OK)
        return e;
    for (size_t i = 0; i < of->n && e == SEINE_OK; i++) {
        sn_sqlite_row at = sn_sqlite_bind(stmt);

        sn_sqlite_put_int(&at, of->all[i]);
        e = sn_sqlite_done(&at);
    }
    sn_sqlite_finalize(stmt);
    return e;
}

/* A link that was put off and refused in the end is judged anew when it is found again.
 * One that was fetched after all stays known, as all URLs do. */
static seine_err
forget_put_off(seine_durable_job *j, sn_job_head *h)
{
    sn_job_bits refused = {.words = NULL};
    numbers gone = {.all = NULL};
    seine_err e = find_refused(j, &refused);

    if (e == SEINE_OK)
        e = find_put_off(j, &refused, &gone);
    if (e == SEINE_OK && gone.n > 0)
        e = sn_job_table_drop(&j->tables[SN_TABLE_URL], gone.all, gone.n);
    if (e == SEINE_OK && gone.n > 0)
        e = drop_request(j->db, &gone);
    h->urls -= (int64_t)gone.n;
    sn_free(refused.words);
    sn_free(gone.all);
    return e;
}

static const char forget[] = "DELETE FROM results; DELETE FROM ended; DELETE FROM output;"
                             "DELETE FROM note WHERE kind = 105";

/* Nothing that was found before is known. */
static const char forget_all[] =
    "DELETE FROM urls; DELETE FROM request; DELETE FROM results; DELETE FROM ended;"
    "DELETE FROM output; DELETE FROM note WHERE kind = 105";

_Static_assert(SN_JOB_NOTE_LINKS == 105, "as in the texts above");

static seine_err
write_round(seine_durable_job *j, sn_job_head *h, const sn_job_round *next)
{
    seine_err e = j->forgets ? SEINE_OK : forget_put_off(j, h);

    if (j->forgets)
        h->urls = 0;
    if (e == SEINE_OK)
        e = sn_sqlite_exec(j->db, j->forgets ? forget_all : forget);
    SN_CRASHPOINT("round.forgotten");
    if (e == SEINE_OK && !j->forgets && next->pages > 0)
        e = sn_job_find_depths(j, h->next_number);
    SN_CRASHPOINT("round.depths");
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
    e = write_round(j, &h, &next);
    SN_CRASHPOINT("round.written");
    e = end(j->db, e);
    if (e != SEINE_OK)
        return e;
    j->head = h;
    j->round = next;
    sn_job_outputs_free(j); /* all is in them: they are appended to, or replaced */
    return SEINE_OK;
}
