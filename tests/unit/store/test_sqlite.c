/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"

/* Counts to the number that is bound: some ten steps of SQLite's machine for each. */
static const char count_up[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
    "SELECT count(*) FROM n";

static sn_sqlite *
open_empty(char path[])
{
    sn_sqlite *db = NULL;
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    (void)close(fd);
    CHECK_EQ(sn_sqlite_open(path, SN_SQLITE_WRITE, &db), SEINE_OK);
    return db;
}

static seine_err
count_to(sn_sqlite_stmt *stmt, int64_t n)
{
    sn_sqlite_row row = sn_sqlite_bind(stmt);

    sn_sqlite_put_int(&row, n);
    return sn_sqlite_done(&row);
}

/* A run writes millions of rows with one statement. */
TEST(sqlite_steps_are_counted_for_each_row_and_not_for_all_rows_of_a_statement)
{
    char path[] = "/tmp/seine-sqlite-XXXXXX";
    sn_sqlite *db = open_empty(path);
    sn_sqlite_stmt *stmt;

    CHECK_EQ(sn_sqlite_prepare(db, count_up, &stmt), SEINE_OK);
    for (int i = 0; i < 8; i++) /* 16 million steps and more in all */
        CHECK_EQ(count_to(stmt, 200 * 1000), SEINE_OK);
    sn_sqlite_close(db);
    (void)unlink(path);
}

TEST(sqlite_ends_a_statement_that_takes_too_many_steps)
{
    char path[] = "/tmp/seine-sqlite-XXXXXX";
    sn_sqlite *db = open_empty(path);
    sn_sqlite_stmt *stmt;

    CHECK_EQ(sn_sqlite_prepare(db, count_up, &stmt), SEINE_OK);
    CHECK(count_to(stmt, 2000 * 1000) != SEINE_OK);
    sn_sqlite_close(db);
    (void)unlink(path);
}
