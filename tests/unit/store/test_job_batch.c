/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that one statement puts are those that a statement each would have put. */
#include "store/job_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

typedef struct file {
    char path[64];
    sn_sqlite *db;
    sn_job_table tables[SN_TABLES];
    sn_job_batch batch;
} file;

static void
start(file *f)
{
    *f = (file){.path = "/tmp/seine-batch-XXXXXX"};
    int fd = mkstemp(f->path);
    CHECK(fd >= 0);
    (void)close(fd);
    CHECK_EQ(sn_sqlite_open(f->path, SN_SQLITE_WRITE, &f->db), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(f->db, "PRAGMA synchronous = OFF"), SEINE_OK);
    CHECK_EQ(sn_job_tables_make(f->db), SEINE_OK);
    CHECK_EQ(sn_job_tables_open(f->db, f->tables), SEINE_OK);
}

static void
done(file *f)
{
    sn_sqlite_close(f->db);
    sn_job_batch_fini(&f->batch);
    (void)unlink(f->path);
}

static seine_err
add(file *f, sn_job_table_id id, const sn_job_row *row)
{
    return sn_job_batch_add(&f->batch, f->db, &f->tables[id], row);
}

/* All rows of a table, with their CRC checked, in one number. */
static uint64_t
sum_of(file *f, sn_job_table_id id, unsigned *out_n)
{
    sn_job_table *t = &f->tables[id];
    uint64_t sum = 0;
    sn_job_row row;
    bool there;

    *out_n = 0;
    while (sn_job_table_next(t, &row, &there) == SEINE_OK && there) {
        for (unsigned i = 0; i < t->n_ints; i++)
            sum = sum * 31 + (uint64_t)row.ints[i];
        for (unsigned i = 0; i < t->n_texts; i++)
            for (size_t k = 0; k < row.texts[i].len; k++)
                sum = sum * 31 + (unsigned char)row.texts[i].ptr[k];
        ++*out_n;
    }
    sn_job_table_reset(t);
    return sum;
}

static sn_job_row
url_row(int64_t n, char path[32])
{
    int len = snprintf(path, 32, "/page-%lld", (long long)n);
    sn_job_row row = {{n, 1, n * 7 - 1, -1, INT64_MAX - n, 3, INT64_MIN + n},
                      {{n % 5 ? path : NULL, n % 5 ? (size_t)len : 0}}};

    return row;
}

TEST(job_batch_puts_the_rows_that_a_statement_each_puts)
{
    static const int counts[] = {1, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025, 3000};

    EACH_ROW(i, counts) {
        static char paths[3000][32];
        unsigned n_one, n_many;
        file one, many;

        start(&one);
        start(&many);
        for (int k = 0; k < counts[i]; k++) {
            sn_job_row row = url_row(k, paths[k]);

            CHECK_EQ(sn_job_table_put(&one.tables[SN_TABLE_URL], &row), SEINE_OK);
            CHECK_EQ(add(&many, SN_TABLE_URL, &row), SEINE_OK);
        }
        CHECK_EQ(sn_job_batch_flush(&many.batch), SEINE_OK);
        uint64_t sum = sum_of(&one, SN_TABLE_URL, &n_one);
        CHECK_EQ(sum_of(&many, SN_TABLE_URL, &n_many), sum);
        CHECK_EQ(n_one, counts[i]);
        CHECK_EQ(n_many, counts[i]);
        done(&one);
        done(&many);
    }
}

TEST(job_batch_replaces_a_row_of_the_same_key)
{
    sn_job_row first = {{7, 1, 2, 3, 4, 5, 6}, {SN_STR("/a")}},
               second = {{7, 1, 2, 3, 4, 5, 6}, {SN_STR("/b")}}, found;
    bool there;
    file f;

    start(&f);
    CHECK_EQ(add(&f, SN_TABLE_URL, &first), SEINE_OK);
    CHECK_EQ(sn_job_batch_flush(&f.batch), SEINE_OK);
    CHECK_EQ(add(&f, SN_TABLE_URL, &second), SEINE_OK);
    CHECK_EQ(sn_job_batch_flush(&f.batch), SEINE_OK);
    CHECK_EQ(sn_job_table_get(&f.tables[SN_TABLE_URL], 7, &found, &there), SEINE_OK);
    CHECK(there && sn_str_eq(found.texts[0], SN_STR("/b")));
    sn_job_table_reset(&f.tables[SN_TABLE_URL]);
    done(&f);
}

TEST(job_batch_keeps_blobs_apart_from_texts)
{
    sn_job_row row = {{1, 2}, {SN_STR("key"), {"\0\xff", 2}}};
    sn_sqlite_stmt *stmt;
    bool there = false;
    file f;

    start(&f);
    CHECK_EQ(add(&f, SN_TABLE_NOTE, &row), SEINE_OK);
    CHECK_EQ(sn_job_batch_flush(&f.batch), SEINE_OK);
    CHECK_EQ(sn_sqlite_prepare(f.db,
                               "SELECT 1 FROM note WHERE typeof(key) = 'text' AND "
                               "typeof(value) = 'blob' AND length(value) = 2",
                               &stmt),
             SEINE_OK);
    CHECK_EQ(sn_sqlite_next(stmt, &there), SEINE_OK);
    CHECK(there);
    done(&f);
}

TEST(job_batch_forgets_the_rows_of_a_transaction_that_failed)
{
    sn_job_row row = {{1}, {{0}}};
    unsigned n;
    file f;

    start(&f);
    CHECK_EQ(sn_sqlite_exec(f.db, "BEGIN IMMEDIATE"), SEINE_OK);
    CHECK_EQ(add(&f, SN_TABLE_ENDED, &row), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(f.db, "ROLLBACK"), SEINE_OK);
    sn_job_batch_reset(&f.batch);
    row.ints[0] = 2;
    CHECK_EQ(add(&f, SN_TABLE_ENDED, &row), SEINE_OK);
    CHECK_EQ(sn_job_batch_flush(&f.batch), SEINE_OK);
    CHECK_EQ(sum_of(&f, SN_TABLE_ENDED, &n), 2);
    CHECK_EQ(n, 1);
    done(&f);
}

/* Keys in an order of their own, and in groups that meet in the middle of a pack. */
TEST(job_batch_puts_packs_whatever_the_order_of_their_keys)
{
    enum { ROWS = 2000 };
    static char paths[ROWS][32];
    uint64_t random = check_seed();

    for (int round = 0; round < 5; round++) {
        unsigned n_one, n_many;
        int order[ROWS];
        file one, many;

        start(&one);
        start(&many);
        for (int i = 0; i < ROWS; i++)
            order[i] = i;
        for (int i = 0; i < ROWS; i++) { /* neighbours change places, some far away */
            random = random * 6364136223846793005u + 1442695040888963407u;
            int far = random >> 33 & 1 ? 40 : 4;
            int k = i + (int)((random >> 40) % (unsigned)far);
            int was = order[i];

            k = k < ROWS ? k : i;
            order[i] = order[k];
            order[k] = was;
        }
        for (int i = 0; i < ROWS; i++) {
            sn_job_row row = url_row(order[i], paths[order[i]]);

            CHECK_EQ(sn_job_table_put(&one.tables[SN_TABLE_URL], &row), SEINE_OK);
            CHECK_EQ(add(&many, SN_TABLE_URL, &row), SEINE_OK);
            if ((random >> (i % 60) & 15) == 0)
                CHECK_EQ(sn_job_batch_flush(&many.batch), SEINE_OK);
        }
        CHECK_EQ(sn_job_batch_flush(&many.batch), SEINE_OK);
        uint64_t sum = sum_of(&one, SN_TABLE_URL, &n_one);
        CHECK_EQ(sum_of(&many, SN_TABLE_URL, &n_many), sum);
        CHECK_EQ(n_one, ROWS);
        CHECK_EQ(n_many, ROWS);
        for (int i = 0; i < ROWS; i++) {
            sn_job_row row = url_row(i, paths[i]), got;
            bool there = false;

            CHECK_EQ(sn_job_table_get(&many.tables[SN_TABLE_URL], i, &got, &there),
                     SEINE_OK);
            CHECK(there && got.ints[6] == row.ints[6]);
        }
        sn_job_table_reset(&many.tables[SN_TABLE_URL]);
        done(&one);
        done(&many);
    }
}

TEST(job_table_drops_rows_of_packs_and_packs_without_rows)
{
    static const int64_t gone[] = {0,  15, 16, 31, 32, 33, 34, 35, 36, 37, 38,
                                   39, 40, 41, 42, 43, 44, 45, 46, 47, 99, 500};
    char path[32];
    bool there = false, is_left[100];
    sn_sqlite_stmt *stmt;
    file f;

    start(&f);
    for (int i = 0; i < 100; i++) {
        sn_job_row row = url_row(i, path);

        CHECK_EQ(add(&f, SN_TABLE_URL, &row), SEINE_OK);
        is_left[i] = true;
    }
    CHECK_EQ(sn_job_batch_flush(&f.batch), SEINE_OK);
    sn_job_table *t = &f.tables[SN_TABLE_URL];
    CHECK_EQ(sn_job_table_drop(t, gone, sizeof gone / sizeof *gone), SEINE_OK);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (gone[i] < 100)
            is_left[gone[i]] = false;
    for (int i = 0; i < 100; i++) {
        sn_job_row row;

        CHECK_EQ(sn_job_table_get(t, i, &row, &there), SEINE_OK);
        CHECK_EQ(there, is_left[i]);
    }
    sn_job_table_reset(t);
    CHECK_EQ(sn_sqlite_prepare(f.db, "SELECT 1 FROM urls WHERE pack = 2", &stmt),
             SEINE_OK);
    CHECK_EQ(sn_sqlite_next(stmt, &there), SEINE_OK);
    CHECK(!there);
    done(&f);
}
