/* SPDX-License-Identifier: Apache-2.0 */
/* Tables read from their pages are those that SQLite reads, and damage is refused. */
#include "store/sqlite_pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"

enum { TABLES = 2 };

typedef struct file {
    char path[64];
    sn_sqlite *db;
    sn_sqlite_pages pages;
    uint32_t roots[TABLES];
} file;

static void
run(file *f, const char *sql)
{
    CHECK_EQ(sn_sqlite_exec(f->db, sql), SEINE_OK);
}

static int64_t
ask(file *f, const char *sql)
{
    sn_sqlite_stmt *stmt;
    bool there = false;

    CHECK_EQ(sn_sqlite_prepare(f->db, sql, &stmt), SEINE_OK);
    CHECK_EQ(sn_sqlite_next(stmt, &there), SEINE_OK);
    int64_t n = there ? sn_sqlite_int(stmt, 0) : -1;
    sn_sqlite_finalize(stmt);
    return n;
}

static void
make_file(file *f, unsigned page_size, bool has_wal)
{
    char sql[128];

    *f = (file){.path = "/tmp/seine-pages-XXXXXX"};
    int fd = mkstemp(f->path);
    CHECK(fd >= 0);
    (void)close(fd);
    CHECK_EQ(sn_sqlite_open(f->path, SN_SQLITE_WRITE, &f->db), SEINE_OK);
    sn_sqlite_trust(f->db);
    snprintf(sql, sizeof sql, "PRAGMA page_size = %u; PRAGMA journal_mode = %s",
             page_size, has_wal ? "WAL" : "DELETE");
    run(f, sql);
    run(f, "CREATE TABLE a(k INTEGER PRIMARY KEY, n INTEGER NOT NULL, t TEXT NOT NULL, "
           "b BLOB NOT NULL, crc INTEGER NOT NULL) STRICT;"
           "CREATE TABLE b(k INTEGER PRIMARY KEY, crc INTEGER NOT NULL) STRICT");
}

static void
open_pages(file *f)
{
    CHECK_EQ(sn_sqlite_pages_open(f->db, &f->pages), SEINE_OK);
    f->roots[0] = (uint32_t)ask(f, "SELECT rootpage FROM sqlite_schema WHERE name = 'a'");
    f->roots[1] = (uint32_t)ask(f, "SELECT rootpage FROM sqlite_schema WHERE name = 'b'");
}

static void
remove_file(file *f)
{
    char beside[80];

    sn_sqlite_close(f->db);
    CHECK_EQ(unlink(f->path), 0);
    snprintf(beside, sizeof beside, "%s-wal", f->path);
    (void)unlink(beside);
    snprintf(beside, sizeof beside, "%s-shm", f->path);
    (void)unlink(beside);
}

/* Integers of all widths, texts of all lengths, some of several pages. */
static void
put_rows(file *f, unsigned n, uint64_t seed)
{
    static const int64_t edges[] = {
        0,         1,        -1,       127,       -128,      128,       32767,
        -32769,    8388607,  -8388609, INT32_MAX, INT32_MIN, 1ll << 47, -(1ll << 47),
        INT64_MAX, INT64_MIN};
    sn_sqlite_stmt *put;
    char *text = sn_alloc(40000);
    sn_rng rng;

    CHECK(text != NULL);
    rng = sn_rng_seed(seed);
    memset(text, 'x', 40000);
    CHECK_EQ(sn_sqlite_prepare(f->db, "INSERT INTO a VALUES (?, ?, ?, ?, ?)", &put),
             SEINE_OK);
    run(f, "BEGIN");
    for (unsigned i = 0; i < n; i++) {
        uint64_t dice = sn_rng_next(&rng);
        sn_sqlite_row row = sn_sqlite_bind(put);

        sn_sqlite_put_int(&row, (int64_t)i * 3 + (int64_t)(dice % 3));
        sn_sqlite_put_int(&row, edges[dice >> 8 & 15] +
                                    (int64_t)(dice >> 16 & 1) *
                                        (edges[dice >> 8 & 15] < 0 ? 1 : -1));
        sn_sqlite_put_text(&row, (sn_str){text, (size_t)(dice >> 20 & 127)});
        sn_sqlite_put_blob(&row,
                           (sn_str){text, dice % 50 == 0 ? (size_t)(dice >> 32) % 40000
                                                         : (size_t)(dice >> 32) % 60});
        sn_sqlite_put_int(&row, (int64_t)(int32_t)dice);
        CHECK_EQ(sn_sqlite_done(&row), SEINE_OK);
    }
    run(f, "COMMIT");
    sn_sqlite_finalize(put);
    sn_free(text);
}

/* Both readers, row by row. */
static void
compare(file *f)
{
    sn_sqlite_stmt *all;
    sn_sqlite_cursor c, finder;
    bool there = true, here = true, found;
    int64_t key, n, last;
    sn_str record, texts[2], again;

    CHECK_EQ(sn_sqlite_prepare(f->db, "SELECT * FROM a ORDER BY k", &all), SEINE_OK);
    CHECK_EQ(sn_sqlite_cursor_init(&c, &f->pages, f->roots[0]), SEINE_OK);
    CHECK_EQ(sn_sqlite_cursor_init(&finder, &f->pages, f->roots[0]), SEINE_OK);
    for (unsigned rows = 0; there; rows++) {
        CHECK_EQ(sn_sqlite_next(all, &there), SEINE_OK);
        CHECK_EQ(sn_sqlite_cursor_next(&c, &key, &record, &here), SEINE_OK);
        CHECK_EQ(here, there);
        if (!there)
            break;
        CHECK_EQ(key, sn_sqlite_int(all, 0));
        CHECK_EQ(sn_sqlite_record_read(record, &n, 1, texts, 2, &last), SEINE_OK);
        CHECK_EQ(n, sn_sqlite_int(all, 1));
        CHECK(sn_str_eq(texts[0], sn_sqlite_text(all, 2)));
        CHECK(sn_str_eq(texts[1], sn_sqlite_blob(all, 3)));
        CHECK_EQ(last, sn_sqlite_int(all, 4));
        CHECK_EQ(sn_sqlite_cursor_find(&finder, key, &again, &found), SEINE_OK);
        CHECK(found && sn_str_eq(again, record));
        CHECK_EQ(
            sn_sqlite_cursor_find(&finder, key % 7 * 999983 + 1000000, &again, &found),
            SEINE_OK);
        CHECK(!found);
    }
    sn_sqlite_finalize(all);
    sn_sqlite_cursor_fini(&c);
    sn_sqlite_cursor_fini(&finder);
}

TEST(sqlite_pages_has_the_rows_that_statements_have)
{
    static const struct {
        unsigned page_size, rows;
        const char *then;
    } rows[] = {
        {8192, 0, ""},
        {8192, 1, ""},
        {8192, 3000, ""},
        {512, 2000, ""}, /* many levels */
        {65536, 2000, ""},
        {8192, 2000, "DELETE FROM a WHERE k % 5 > 0"},
        {1024, 3000, "DELETE FROM a WHERE k BETWEEN 2000 AND 8000"}, /* free pages */
        {1024, 1500,
         "DELETE FROM a; DROP TABLE b; CREATE TABLE b(k INTEGER PRIMARY KEY, "
         "crc INTEGER NOT NULL) STRICT"},
    };

    EACH_ROW(i, rows) {
        file f;

        make_file(&f, rows[i].page_size, false);
        put_rows(&f, rows[i].rows, i);
        run(&f, rows[i].then);
        open_pages(&f);
        CHECK_EQ(f.pages.size, rows[i].page_size);
        CHECK_EQ(sn_sqlite_pages_check(&f.pages, f.roots, TABLES), SEINE_OK);
        compare(&f);
        remove_file(&f);
    }
}

TEST(sqlite_pages_are_read_when_the_wal_is_in_the_file)
{
    file f;
    bool is_settled = false;

    make_file(&f, 8192, true);
    run(&f, "PRAGMA wal_autocheckpoint = 0");
    put_rows(&f, 500, 7);
    CHECK_EQ(sn_sqlite_settle(f.db, &is_settled), SEINE_OK);
    CHECK(is_settled);
    open_pages(&f);
    CHECK_EQ(sn_sqlite_pages_check(&f.pages, f.roots, TABLES), SEINE_OK);
    compare(&f);
    remove_file(&f);
}

TEST(sqlite_pages_a_page_that_nobody_has_or_that_two_have_is_refused)
{
    file f;

    make_file(&f, 1024, false);
    put_rows(&f, 1500, 3);
    run(&f, "DELETE FROM a WHERE k BETWEEN 1000 AND 3000");
    open_pages(&f);
    CHECK(f.pages.free > 10);
    CHECK_EQ(sn_sqlite_pages_check(&f.pages, f.roots, TABLES), SEINE_OK);
    CHECK_EQ(sn_sqlite_pages_check(&f.pages, f.roots, 1), SEINE_E_STATE_CORRUPT);
    uint32_t twice[] = {f.roots[0], f.roots[1], f.roots[1]};
    CHECK_EQ(sn_sqlite_pages_check(&f.pages, twice, 3), SEINE_E_STATE_CORRUPT);
    sn_sqlite_pages fewer = f.pages;
    fewer.free--;
    CHECK_EQ(sn_sqlite_pages_check(&fewer, f.roots, TABLES), SEINE_E_STATE_CORRUPT);
    fewer = f.pages;
    fewer.n--;
    CHECK_EQ(sn_sqlite_pages_check(&fewer, f.roots, TABLES), SEINE_E_STATE_CORRUPT);
    fewer = f.pages;
    fewer.first_free = f.roots[1];
    CHECK_EQ(sn_sqlite_pages_check(&fewer, f.roots, TABLES), SEINE_E_STATE_CORRUPT);
    remove_file(&f);
}

/* Where a list of free bytes or pages, or a tree, is damaged, the check says so wherever
 * SQLite's own does. */
TEST(sqlite_pages_check_refuses_what_quick_check_refuses)
{
    file f;
    sn_rng rng;
    unsigned refused = 0;

    make_file(&f, 1024, false);
    put_rows(&f, 400, 5);
    run(&f, "DELETE FROM a WHERE k % 3 = 0; DELETE FROM a WHERE k > 1000");
    open_pages(&f);
    rng = sn_rng_seed(11);
    int fd = open(f.path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    for (unsigned i = 0; i < 3000; i++) {
        off_t page = 1 + (off_t)sn_rng_below(&rng, f.pages.n - 1); /* not the first */
        off_t at = page * 1024 + (off_t)sn_rng_below(&rng, i % 2 ? 40 : 1000);
        unsigned char byte, bad;
        sn_sqlite *other;
        sn_sqlite_stmt *stmt;
        sn_sqlite_pages pages;
        bool there = false;

        CHECK_EQ(pread(fd, &byte, 1, at), 1);
        bad = byte ^ (unsigned char)(1u << (sn_rng_next(&rng) & 7));
        CHECK_EQ(pwrite(fd, &bad, 1, at), 1);
        CHECK_EQ(sn_sqlite_open(f.path, SN_SQLITE_STILL, &other), SEINE_OK);
        bool is_sound =
            sn_sqlite_prepare(other, "PRAGMA quick_check(1)", &stmt) == SEINE_OK &&
            sn_sqlite_next(stmt, &there) == SEINE_OK && there &&
            sn_str_eq(sn_sqlite_text(stmt, 0), SN_STR("ok"));
        seine_err e = sn_sqlite_pages_open(other, &pages);
        if (e == SEINE_OK)
            e = sn_sqlite_pages_check(&pages, f.roots, TABLES);
        CHECK(e == SEINE_OK || e == SEINE_E_STATE_CORRUPT);
        if (e == SEINE_OK && !is_sound) { /* what is in a record: the CRC of its row */
            sn_sqlite_cursor c;
            sn_str record, texts[2];
            int64_t key, n, last;

            CHECK_EQ(sn_sqlite_cursor_init(&c, &pages, f.roots[0]), SEINE_OK);
            while (e == SEINE_OK &&
                   sn_sqlite_cursor_next(&c, &key, &record, &there) == SEINE_OK && there)
                e = sn_sqlite_record_read(record, &n, 1, texts, 2, &last);
            CHECK_EQ(e, SEINE_E_STATE_CORRUPT);
            sn_sqlite_cursor_fini(&c);
        }
        refused += e != SEINE_OK;
        sn_sqlite_close(other);
        CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
    }
    CHECK(refused > 150);
    (void)close(fd);
    remove_file(&f);
}
