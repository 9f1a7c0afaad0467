/* SPDX-License-Identifier: Apache-2.0 */
#include "console/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "store/sqlite.h"

/* Records of a run, a result each. */
static void
make_records(const char *path, int n)
{
    sn_sqlite *db = NULL;
    char sql[400];

    FILE *empty = fopen(path, "w");
    CHECK(empty && fclose(empty) == 0);
    CHECK_EQ(sn_sqlite_open(path, SN_SQLITE_WRITE, &db), SEINE_OK);
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE result(seq INTEGER PRIMARY KEY, json TEXT);"
        "CREATE TABLE skip(seq INTEGER, url, reason, rule, ts, parent);"
        "CREATE TABLE item_error(seq INTEGER, data, url, kind, errors, n);"
        "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < %d)"
        "INSERT INTO result SELECT n, '{\"seq\":' || n || '}' FROM k",
        n);
    CHECK_EQ(sn_sqlite_exec(db, sql), SEINE_OK);
    sn_sqlite_close(db);
}

static bool
count(uint64_t seq, sn_str line, void *arg)
{
    (void)seq, (void)line;
    ++*(int *)arg;
    return true;
}

TEST(records_that_a_slow_condition_chooses_come_in_more_pages)
{
    char folder[] = "/tmp/records.XXXXXX", path[64];
    sn_records_end end;
    int n = 0, pages = 0;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/r.sqlite", folder);
    make_records(path, 50);
    /* No time at all: each record is a page, and none is lost. */
    sn_records_query q = {.path = path, .where = "seq > 10", .cpu = 1};
    do {
        CHECK_EQ(sn_records_read(&q, count, &n, &end, NULL), SEINE_OK);
        q.after = end.next;
    } while (!end.is_all && pages++ < 100);
    CHECK_EQ(pages, 50);
    CHECK_EQ(n, 40);
    /* Who asks for all of them has no condition that could be slow. */
    q = (sn_records_query){.path = path, .cpu = 1};
    n = 0;
    CHECK_EQ(sn_records_read(&q, count, &n, &end, NULL), SEINE_OK);
    CHECK(n == 50 && end.is_all);
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
}

/* Somebody looks at a run whose database is just being made. */
TEST(records_of_a_file_without_tables_are_not_there_yet)
{
    char folder[] = "/tmp/records.XXXXXX", path[64];
    sn_records_end end;
    seine_diag diag;
    sn_buf out;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/r.sqlite", folder);
    FILE *empty = fopen(path, "w");
    CHECK(empty != NULL);
    fclose(empty);

    sn_records_query q = {.path = path};
    CHECK_EQ(sn_records_read(&q, NULL, NULL, &end, &diag), SEINE_E_UNKNOWN);
    sn_buf_init(&out, 1 << 20);
    CHECK_EQ(sn_records_one(path, 1, &out), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_records_errors(path, &out), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_records_skips(path, &out), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_records_hosts(path, (sn_str){NULL, 0}, &out), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_records_columns(path, &out), SEINE_E_UNKNOWN);
    sn_buf_fini(&out);
    unlink(path);
    rmdir(folder);
}

/* As the record of a page has it: the host alone, and where it was found. */
#define PAGE(seq, host, final, url)                                         \
    "INSERT INTO result VALUES(" seq ", '{}', '" host "', " final ", '" url \
    "', 'ok', NULL, '');"

TEST(records_hosts_have_the_port_that_is_not_the_usual_one)
{
    static const char sql[] =
        "CREATE TABLE result(seq INTEGER PRIMARY KEY, json, host, final_url, url, "
        "outcome, error_kind, ts);"
        /* clang-format off */
        PAGE("1", "a.example", "NULL", "http://a.example/:81")
        PAGE("2", "a.example", "NULL", "http://a.example:8080/x")
        PAGE("3", "a.example", "'http://a.example:8080/'", "http://b.example/")
        PAGE("4", "[::1]", "NULL", "http://[::1]/")
        PAGE("5", "[::1]", "NULL", "http://[::1]:82/?q=:9")
        /* A page that redirects elsewhere and was not followed. */
        PAGE("6", "c.example", "'http://d.example:83/'", "http://c.example/");
    /* clang-format on */
    char folder[] = "/tmp/records.XXXXXX", path[64];
    sn_sqlite *db = NULL;
    sn_buf out;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/r.sqlite", folder);
    FILE *empty = fopen(path, "w");
    CHECK(empty && fclose(empty) == 0);
    CHECK_EQ(sn_sqlite_open(path, SN_SQLITE_WRITE, &db), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(db, sql), SEINE_OK);
    sn_sqlite_close(db);
    sn_buf_init(&out, 1 << 20);
    CHECK_EQ(sn_records_hosts(path, SN_STR(""), &out), SEINE_OK);
    CHECK_EQ(sn_buf_done(&out), SEINE_OK);
    sn_buf_char(&out, '\0');
    CHECK(strstr(out.ptr, "\"host\":\"a.example:8080\",\"done\":2") != NULL);
    CHECK(strstr(out.ptr, "\"host\":\"a.example\",\"done\":1") != NULL);
    CHECK(strstr(out.ptr, "\"host\":\"[::1]\",\"done\":1") != NULL);
    CHECK(strstr(out.ptr, "\"host\":\"[::1]:82\",\"done\":1") != NULL);
    CHECK(strstr(out.ptr, "\"host\":\"c.example\",\"done\":1") != NULL);
    sn_buf_reset(&out);
    CHECK_EQ(sn_records_host(path, SN_STR("[::1]:82"), &out), SEINE_OK);
    CHECK_EQ(sn_records_host(path, SN_STR("[::1]:83"), &out), SEINE_E_UNKNOWN);
    sn_buf_fini(&out);
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
}

static bool
keep_last(uint64_t seq, sn_str line, void *arg)
{
    (void)seq;
    snprintf(arg, 16384, "%.*s", SN_FMT(line));
    return true;
}

/* A recipe may have 200 fields, and money takes two columns. */
TEST(rows_of_many_columns_are_read)
{
    char folder[] = "/tmp/records.XXXXXX", path[64], name[32];
    static char line[16384], sql[32768];
    sn_sqlite *db = NULL;
    sn_records_end end;
    size_t n = 0;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/r.sqlite", folder);
    make_records(path, 1);
    n += (size_t)snprintf(sql, sizeof sql, "CREATE TABLE item_x(_seq, _url, _n");
    for (int i = 0; i < 400; i++)
        n += (size_t)snprintf(sql + n, sizeof sql - n, ", f%d", i);
    snprintf(sql + n, sizeof sql - n,
             ");INSERT INTO item_x(_seq,_url,_n,f0,f59,f60,f399) "
             "VALUES(7,'http://e.example/',1,'{}','}',1.5,'{a}')");
    CHECK_EQ(sn_sqlite_open(path, SN_SQLITE_WRITE, &db), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(db, sql), SEINE_OK);
    sn_sqlite_close(db);
    sn_records_query q = {.path = path};
    CHECK_EQ(sn_records_read(&q, keep_last, line, &end, NULL), SEINE_OK);
    CHECK_EQ(end.found, 2); /* the page and its row */
    CHECK(strstr(line, "\"item\":{\"f0\":\"{}\",\"f1\":null,") != NULL);
    CHECK(strstr(line, "\"f59\":\"}\",\"f60\":1.5,\"f61\":null,") != NULL);
    CHECK(strstr(line, "\"f398\":null,\"f399\":\"{a}\"}}") != NULL);
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "\"f%d\":", i);
        CHECK(strstr(line, name) != NULL);
    }
    unlink(path);
    rmdir(folder);
}
