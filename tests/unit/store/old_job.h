/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the state of a job one of an older format, as the programs of then wrote it. */
#ifndef OLD_JOB_H
#define OLD_JOB_H

#include "check.h"
#include "store/job_parts.h"

static inline void
old_job_copy(seine_durable_job *j, sn_job_table_id id, const char *sql)
{
    sn_job_table *from = &j->tables[id];
    sn_job_table to = {.id = id, .db = j->db, .n_ints = from->n_ints};
    sn_job_row row = {.ints = {0}};
    bool there = true;

    to.n_texts = from->n_texts;
    CHECK_EQ(sn_sqlite_prepare(j->db, sql, &to.put), SEINE_OK);
    while (sn_job_table_next(from, &row, &there) == SEINE_OK && there)
        CHECK_EQ(sn_job_table_put(&to, &row), SEINE_OK);
    sn_job_table_reset(from);
    sn_sqlite_finalize(to.put);
}

/* Format 1 or 2. Afterwards the job can only be closed or left. The path of a URL is a
 * text here. */
static inline void
old_job_make(seine_durable_job *j, int format)
{
    CHECK_EQ(
        sn_sqlite_exec(
            j->db,
            "CREATE TABLE url(number INTEGER PRIMARY KEY, host INTEGER NOT NULL, print "
            "INTEGER NOT NULL, parent INTEGER NOT NULL, line INTEGER NOT NULL, depth "
            "INTEGER NOT NULL, meta INTEGER NOT NULL, path TEXT NOT NULL, crc INTEGER "
            "NOT "
            "NULL) STRICT; "
            "CREATE TABLE result(seq INTEGER PRIMARY KEY, url INTEGER NOT NULL, kind "
            "INTEGER NOT NULL, status INTEGER NOT NULL, attempts INTEGER NOT NULL, at_ms "
            "INTEGER NOT NULL, bytes_in INTEGER NOT NULL, bytes_body INTEGER NOT NULL, "
            "total_us INTEGER NOT NULL, latency_us INTEGER NOT NULL, print INTEGER NOT "
            "NULL, crc INTEGER NOT NULL) STRICT"),
        SEINE_OK);
    old_job_copy(j, SN_TABLE_URL,
                 "INSERT INTO url VALUES (?,?,?,?,?,?,?,CAST(? AS TEXT),?)");
    old_job_copy(j, SN_TABLE_RESULT,
                 "INSERT INTO result VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    CHECK_EQ(sn_sqlite_exec(j->db, "DROP TABLE urls; DROP TABLE results; "
                                   "PRAGMA user_version = 2"),
             SEINE_OK);
    if (format == 1)
        CHECK_EQ(sn_sqlite_exec(j->db, "DROP TABLE page; DROP TABLE round; "
                                       "PRAGMA user_version = 1"),
                 SEINE_OK);
}

#endif
