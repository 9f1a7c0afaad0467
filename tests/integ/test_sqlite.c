/* SPDX-License-Identifier: Apache-2.0 */
/* Records in a database, looked at through the wrapper that also writes it; other
 * programs look at it in tests/e2e/test_outputs.py. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/sink.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"

#define VIEW(text) ((seine_view){text, sizeof(text "") - 1})

static char dir[] = "/tmp/seine-sqlite-XXXXXX";

__attribute__((constructor)) static void
enter(void)
{
    if (!mkdtemp(dir) || chdir(dir) != 0)
        exit(2);
}

__attribute__((destructor)) static void
leave(void)
{
    if (chdir("/") == 0)
        rmdir(dir);
}

static sn_sqlite *
look(const char *path)
{
    sn_sqlite *db = NULL;

    CHECK_EQ(sn_sqlite_open(path, SN_SQLITE_WRITE, &db), SEINE_OK);
    return db;
}

static int64_t
count(const char *path, const char *sql)
{
    sn_sqlite *db = look(path);
    sn_sqlite_stmt *stmt = NULL;
    bool there = false;

    CHECK_EQ(sn_sqlite_prepare(db, sql, &stmt), SEINE_OK);
    CHECK_EQ(sn_sqlite_next(stmt, &there), SEINE_OK);
    int64_t n = there ? sn_sqlite_int(stmt, 0) : -1;
    sn_sqlite_close(db);
    return n;
}

static seine_sinks *
begin(seine_sink_opts opts)
{
    seine_sinks *s = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s, &opts, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    return s;
}

static seine_err
try_open(const char *path, bool append, seine_diag *diag)
{
    seine_sinks *s = NULL;

    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    seine_err e = seine_sinks_open(s,
                                   &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                      .path = path,
                                                      .append = append},
                                   diag);
    seine_sinks_free(s);
    return e;
}

TEST(sqlite_texts_are_utf_8_whatever_came)
{
    const struct {
        seine_view title;
        const char *want;
    } rows[] = {
        {VIEW("plain"), "plain"},
        {VIEW("\xc3\xa4\xe2\x82\xac"), "\xc3\xa4\xe2\x82\xac"},
        {VIEW("a\xff\xfe"
              "b"),
         "a\xef\xbf\xbd\xef\xbf\xbd"
         "b"},
        {VIEW("\xff"), "\xef\xbf\xbd"},
        {VIEW("a\0b"), "a\xef\xbf\xbd"
                       "b"},
        {VIEW("cut \xe2\x82"), "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {VIEW("\"quoted\" \\ and \x01 controls\n"), "\"quoted\" \\ and \x01 controls\n"},
        {VIEW(""), ""},
    };
    seine_sinks *s =
        begin((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "t.sqlite"});
    sn_sqlite_stmt *stmt = NULL;

    EACH_ROW(i, rows) {
        char key[8];
        seine_record r = {.url = rows[i].title, .content_length = -1};

        r.key = (seine_view){key, (size_t)snprintf(key, sizeof key, "k%zu", i)};
        r.title = r.input = r.host = rows[i].title;
        CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    }
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);

    sn_sqlite *db = look("t.sqlite");
    CHECK_EQ(
        sn_sqlite_prepare(db, "SELECT title, url, host FROM result ORDER BY seq", &stmt),
        SEINE_OK);
    EACH_ROW(i, rows) {
        bool there = false;

        CHECK_EQ(sn_sqlite_next(stmt, &there), SEINE_OK);
        for (int c = 0; there && c < 3; c++) {
            sn_str got = sn_sqlite_text(stmt, c);

            CHECK_EQ(got.len, strlen(rows[i].want));
            CHECK_STR(got.ptr, rows[i].want);
        }
    }
    sn_sqlite_close(db);
    unlink("t.sqlite");
}

TEST(sqlite_columns_of_what_is_not_known_are_null)
{
    static const uint8_t digest[32] = {0xab, 0xcd};
    static const seine_fault fault = {.code = SEINE_E_CONNECT_REFUSED};
    seine_sinks *s = begin((seine_sink_opts){
        .size = sizeof(seine_sink_opts), .path = "n.sqlite", .body = SEINE_BODY_B64});
    seine_record r = {.url = VIEW("u"), .content_length = -1, .wall = 1};

    CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    r.key = VIEW("k2");
    r.fate = SEINE_FATE_NETWORK_ERROR;
    r.fault = &fault;
    r.http = 11;
    r.status = 200;
    r.sha256 = digest;
    r.body = VIEW("\0\xff");
    r.total = 1500500;
    r.queue = r.throttle = r.backoff = SEINE_MS(1);
    CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    r = (seine_record){.type = SEINE_RECORD_SKIP, .input = VIEW("no url")};
    CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    CHECK_EQ(seine_sinks_line(s, "event", "\"event\":\"x\"", 11), SEINE_OK);
    CHECK_EQ(seine_sinks_line(s, "summary", "\"total\":3", 9), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);

    CHECK_EQ(
        count("n.sqlite",
              "SELECT count(*) FROM result WHERE seq = 1 AND key = 'u' AND status IS "
              "NULL AND error_kind IS NULL AND bytes_in IS NULL AND sha256 IS NULL "
              "AND body IS NULL AND depth IS NULL AND outcome = 'ok' AND ts = "
              "'1970-01-01T00:00:00.000000Z'"),
        1);
    CHECK_EQ(count("n.sqlite",
                   "SELECT count(*) FROM result WHERE seq = 2 AND error_kind = "
                   "'connect_refused' AND error_message = 'connection refused' AND "
                   "substr(sha256, 1, 6) = 'abcd00' AND body = x'00ff' AND time_total = "
                   "1.501 AND time_wait = 3.0 AND bytes_in = 0 AND json NOT LIKE "
                   "'%body_b64%'"),
             1);
    CHECK_EQ(count("n.sqlite", "SELECT count(*) FROM skip WHERE seq = 3 AND url = 'no "
                               "url' AND reason = 'offsite'"),
             1);
    CHECK_EQ(count("n.sqlite", "SELECT count(*) FROM summary WHERE run = 1 AND "
                               "json_extract(json, '$.total') = 3"),
             1);
    unlink("n.sqlite");
}

TEST(sqlite_has_one_writer)
{
    seine_diag diag = SEINE_DIAG;
    seine_sinks *s =
        begin((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "w.sqlite"});

    CHECK_EQ(try_open("w.sqlite", true, &diag), SEINE_E_STATE_LOCKED);
    CHECK_STR(diag_line(&diag), "w.sqlite is being written by another process");
    CHECK_EQ(try_open("w.sqlite", false, &diag), SEINE_E_ALREADY);
    for (unsigned i = 0; i < 2500; i++) { /* two batches and a half */
        char key[16];
        seine_view v = {key, (size_t)snprintf(key, sizeof key, "%u", i)};

        CHECK_EQ(seine_sinks_put(
                     s, 0, &(seine_record){.url = v, .key = v, .content_length = -1}),
                 SEINE_OK);
    }
    CHECK_EQ(seine_sinks_drain(s), SEINE_OK); /* and everybody sees it */
    CHECK_EQ(count("w.sqlite", "SELECT count(*) FROM result"), 2500);
    CHECK_EQ(count("w.sqlite", "SELECT count(*) FROM seine_meta WHERE key = 'finished'"),
             0);
    seine_sinks_free(s);
    CHECK_EQ(count("w.sqlite", "SELECT count(*) FROM seine_meta WHERE key = 'finished'"),
             1);
    CHECK_EQ(try_open("w.sqlite", true, &diag), SEINE_OK);
    unlink("w.sqlite");
}

TEST(sqlite_that_never_started_changed_nothing)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(try_open("s.sqlite", false, &diag), SEINE_OK);
    CHECK_EQ(access("s.sqlite", F_OK), -1);
    CHECK_EQ(try_open("-", false, &diag), SEINE_E_INVAL);
    seine_sinks *s = NULL;
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .path = "-",
                                                 .format = SEINE_SINK_SQLITE},
                              &diag),
             SEINE_E_INVAL);
    CHECK_STR(diag_line(&diag), "standard output cannot be a database");
    seine_sinks_free(s);
    CHECK_EQ(try_open("no/such/s.sqlite", false, &diag), SEINE_E_IO);

    int fd = open("s.sqlite", O_WRONLY | O_CREAT | O_CLOEXEC, 0666); /* claimed, empty */
    close(fd);
    fd = open("s.sqlite.part", O_WRONLY | O_CREAT | O_CLOEXEC, 0666); /* of one killed */
    close(fd);
    CHECK_EQ(try_open("s.sqlite", true, &diag), SEINE_OK);
    s = begin((seine_sink_opts){
        .size = sizeof(seine_sink_opts), .path = "s.sqlite", .append = true});
    seine_sinks_free(s);
    CHECK_EQ(count("s.sqlite", "SELECT count(*) FROM result"), 0);
    CHECK_EQ(access("s.sqlite.part", F_OK), -1);
    unlink("s.sqlite");
}

TEST(sqlite_is_not_reached_through_a_link_but_its_directory_may_be)
{
    sn_sqlite *db = NULL;
    seine_sinks *s =
        begin((seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "r.sqlite"});

    seine_sinks_free(s);
    CHECK_EQ(symlink("r.sqlite", "l.sqlite"), 0);
    CHECK_EQ(symlink(".", "here"), 0);
    CHECK(sn_sqlite_open("l.sqlite", SN_SQLITE_READ, &db) != SEINE_OK);
    CHECK_EQ(sn_sqlite_open("here/r.sqlite", SN_SQLITE_WRITE, &db), SEINE_OK);
    CHECK(sn_sqlite_exec(db, "no SQL at all") != SEINE_OK);
    sn_sqlite_close(db);
    CHECK_EQ(sn_sqlite_open("no/such/dir", SN_SQLITE_READ, &db), SEINE_E_IO);
    sn_sqlite_close(NULL);
    unlink("l.sqlite");
    unlink("here");
    unlink("r.sqlite");
}

TEST(sqlite_without_memory_says_so)
{
    static const char title[] = "\xff bad";

    FAIL_EACH(n)
    {
        seine_sinks *s = NULL;
        seine_sinks_opts o = SEINE_SINKS_OPTS;

        o.ring_size = 4096;
        seine_err e = seine_sinks_new(&o, &s);
        if (e == SEINE_OK)
            e = seine_sinks_open(s,
                                 &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                    .path = "m.sqlite",
                                                    .append = true},
                                 NULL);
        if (e == SEINE_OK)
            e = seine_sinks_start(s, 1);
        if (e == SEINE_OK)
            e = seine_sinks_put(s, 0,
                                &(seine_record){.url = VIEW("u"),
                                                .title = {title, sizeof title - 1},
                                                .content_length = -1});
        if (e == SEINE_OK)
            e = seine_sinks_line(s, "summary", "\"a\":1", 5);
        if (e == SEINE_OK)
            e = seine_sinks_close(s);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_sinks_free(s);
    }
    CHECK_EQ(count("m.sqlite", "SELECT count(*) FROM result"), 1);
    unlink("m.sqlite");
}
