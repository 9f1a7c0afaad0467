/* SPDX-License-Identifier: Apache-2.0 */
#include "store/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"

static char folder[64], in_path[96], out_path[96];

static void
set_up(const char *in_name, const char *out_name)
{
    memcpy(folder, "/tmp/convert-XXXXXX", 20);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(in_path, sizeof in_path, "%s/%s", folder, in_name);
    snprintf(out_path, sizeof out_path, "%s/%s", folder, out_name);
}

static void
tear_down(void)
{
    (void)unlink(in_path);
    (void)unlink(out_path);
    CHECK_EQ(rmdir(folder), 0);
}

static void
save(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    CHECK(f && fwrite(bytes, 1, n, f) == n);
    if (f)
        fclose(f);
}

static const char *
load(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    return f ? text : "(none)";
}

/* What was noted, a line each. */
static char notes[4096];

static void
note(const char *line, const char *member, void *arg)
{
    size_t n = strlen(notes);

    (void)arg;
    snprintf(notes + n, sizeof notes - n, "%s%s%s\n", line, member ? " @" : "",
             member ? member : "");
}

static seine_err
convert(seine_convert_opts o, seine_converted *out_done, seine_diag *diag)
{
    notes[0] = '\0';
    *diag = (seine_diag)SEINE_DIAG;
    o.in = in_path;
    o.out = out_path;
    o.note = note;
    return seine_convert(&o, out_done, diag);
}

#define RECORD                                                                       \
    "{\"v\":1,\"type\":\"result\",\"seq\":7,\"ts\":\"2026-11-15T19:20:01.000000Z\"," \
    "\"input\":\"e\",\"url\":\"http://e/\",\"outcome\":\"ok\",\"ok\":true,"          \
    "\"status\":200,\"attempts\":1,\"bytes_body\":5,\"time\":{\"total\":1.5},"       \
    "\"title\":\"=1\"}\n"
#define HEAD                                                           \
    "seq,ts,input,url,final_url,outcome,status,attempts,content_type," \
    "content_length,bytes_body,time_ms,title,error_kind,error_message"
#define ROW "7,2026-11-15T19:20:01.000000Z,e,http://e/,,ok,200,1,,,5,1.5,'=1,,\n"

TEST(convert_changes_the_format)
{
    static const struct {
        const char *in, *out, *from, *to, *notes;
    } rows[] = {
        {"a.jsonl", "a.csv", RECORD, HEAD "\n" ROW, ""},
        {"a.csv", "a.jsonl", HEAD "\r\n" ROW, RECORD, ""},
        {"a.jsonl", "b.jsonl", RECORD, RECORD, ""},
        {"a.csv", "b.csv", HEAD "\n" ROW, HEAD "\n" ROW, ""},
        /* members that CSV cannot hold are named once */
        {"a.jsonl", "a.csv",
         "{\"v\":1,\"type\":\"skip\",\"seq\":1,\"key\":\"k\","
         "\"reason\":\"port\"}\n{\"v\":1,\"type\":\"event\"}\n",
         HEAD "\n1,1970-01-01T00:00:00.000000Z,,,,skip,,,,,,,,port,\n",
         "no place in CSV for key (1), the record event (1)\n"},
        /* anybody's objects and rows */
        {"a.jsonl", "a.csv", "{\"b\":1,\"a\":\"x,y\",\"n\":[1]}\n\n{\"a\":true,\"c\":{}}",
         "b,a\n1,\"x,y\"\n,true\n", "no place in CSV for n (1), c (1)\n"},
        {"a.csv", "a.jsonl", "a,b\n1,'=2\n\n,\"\"\"\"\n",
         "{\"a\":\"1\",\"b\":\"'=2\"}\n{\"a\":\"\",\"b\":\"\\\"\"}\n", ""},
        {"a.csv", "a.jsonl",
         "\xef\xbb\xbf"
         "a\n\nx\n",
         "{\"a\":\"\"}\n{\"a\":\"x\"}\n", ""},
        {"a.jsonl", "a.csv", "{\"a\":null}\n", "a\n\"\"\n", ""},
        {"a.jsonl", "b.jsonl", " { \"a\" : \"\xe2\x80\xa8\" } \r\n",
         "{\"a\":\"\\u2028\"}\n", ""},
        {"a.jsonl", "a.csv", "", "", ""},
        {"a.csv", "a.jsonl", "", "", ""},
        {"a.csv", "a.jsonl", "a,b\n", "", ""},
        /* no known ending: the first bytes decide */
        {"a.txt", "a.csv", "{\"a\":1}\n", "a\n1\n", ""},
        {"a.txt", "a.jsonl", "S,W\n1,2\n", "{\"S\":\"1\",\"W\":\"2\"}\n", ""},
    };

    EACH_ROW(i, rows) {
        seine_convert_opts o = SEINE_CONVERT_OPTS;
        seine_converted done;
        seine_diag diag = SEINE_DIAG;

        set_up(rows[i].in, rows[i].out);
        save(in_path, rows[i].from, strlen(rows[i].from));
        CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
        CHECK_STR(diag_line(&diag), "");
        CHECK_STR(load(out_path), rows[i].to);
        CHECK_STR(notes, rows[i].notes);
        CHECK_EQ(done.bad, 0);
        tear_down();
    }
}

TEST(convert_ends_at_a_bad_line_or_leaves_it_out)
{
    static const struct {
        const char *in, *from, *why;
        const char *out;  /* of what is good before it; "(none)": nothing is made */
        const char *rest; /* with skip_bad; NULL: it cannot be left out */
    } rows[] = {
        {"a.jsonl", "{\"a\":1}\n{\"a\":}\n{\"a\":2}\n",
         "a.jsonl:2: not JSON at byte 5: expected a value, found '}'", "{\"a\":1}\n",
         "{\"a\":1}\n{\"a\":2}\n"},
        {"a.jsonl", "[]\n", "a.jsonl:1: an array where an object is wanted", "(none)",
         ""},
        {"a.jsonl", RECORD "{\"v\":1,\"type\":\"result\",\"url\":5}\n",
         "a.jsonl:2: \"url\" is an integer, not a string", RECORD, RECORD},
        {"a.csv", "a,b\n1\n2,3\n", "a.csv:2: 1 cells under 2 columns: 'b' is missing",
         "(none)", "{\"a\":\"2\",\"b\":\"3\"}\n"},
        {"a.csv", "a,b\n1,2\n1,2,3\n", "a.csv:3: 3 cells under 2 columns",
         "{\"a\":\"1\",\"b\":\"2\"}\n", "{\"a\":\"1\",\"b\":\"2\"}\n"},
        {"a.csv", "a,b\n1,\"2\"x\n3,4\n", "a.csv:2:6: text behind a closing quote",
         "(none)", "{\"a\":\"3\",\"b\":\"4\"}\n"},
        {"a.csv", "a,b\n1,\"2\n", "a.csv:2:3: a quote that nobody closes", "(none)", ""},
        {"a.csv", "a,a\n", "a.csv:1: column 'a': its name stands there twice", "(none)",
         NULL},
        {"a.csv", "a,\xff\n", "a.csv:1: column '?': its name is no text", "(none)", NULL},
        {"a.csv", "\"a\"b\n", "a.csv:1:4: text behind a closing quote", "(none)", NULL},
        {"a.csv",
         "\xff\xfe"
         "a",
         "a.csv: UTF-16 is not read: save it as UTF-8", "(none)", NULL},
        {"a.csv", HEAD "\nx" ROW, "a.csv:2: \"seq\" is a string, not an integer",
         "(none)", ""},
    };

    EACH_ROW(i, rows) {
        seine_convert_opts o = SEINE_CONVERT_OPTS;
        seine_converted done;
        char want[400];
        seine_diag diag = SEINE_DIAG;

        set_up(rows[i].in, "out.jsonl");
        save(in_path, rows[i].from, strlen(rows[i].from));
        CHECK_EQ(convert(o, &done, &diag), SEINE_E_PARSE);
        snprintf(want, sizeof want, "%s/%s", folder, rows[i].why);
        CHECK_STR(diag_line(&diag), want);
        CHECK_STR(load(out_path), rows[i].out);

        o.skip_bad = o.overwrite = true;
        seine_err e = convert(o, &done, &diag);
        CHECK_EQ(e, rows[i].rest ? SEINE_OK : SEINE_E_PARSE);
        if (rows[i].rest) {
            snprintf(want, sizeof want, "%s/%s\n", folder, rows[i].why);
            CHECK_STR(notes, want);
            CHECK_STR(load(out_path), rows[i].rest);
            CHECK_EQ(done.bad, 1);
        }
        tear_down();
    }
}

/* JSON lines to SQLite and back: the same lines, but for what rows of skips have not. */
TEST(convert_goes_through_sqlite_and_back)
{
    static const char lines[] = RECORD
        "{\"v\":1,\"type\":\"result\",\"seq\":7,\"url\":\"u\",\"outcome\":\"ok\","
        "\"jsonld\":[1.50]}\n"
        "{\"v\":1,\"type\":\"skip\",\"seq\":9,\"ts\":\"2026-11-15T19:20:01.000000Z\","
        "\"url\":\"http://e/x\",\"parent\":\"http://e/\",\"reason\":\"port\","
        "\"rule\":\"r\"}\n"
        "{\"v\":1,\"type\":\"result\",\"seq\":10,\"url\":\"u\",\"outcome\":\"ok\","
        "\"body_b64\":\"aGkA\"}\n"
        "{\"v\":1,\"type\":\"summary\",\"seq\":11,\"ok\":2}\n";
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    char again[128];
    seine_diag diag = SEINE_DIAG;

    set_up("a.jsonl", "a.sqlite");
    save(in_path, lines, strlen(lines));
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK_EQ(done.records, 5);
    CHECK_STR(notes, "");
    snprintf(again, sizeof again, "%s/b.jsonl", folder);
    o.in = out_path;
    o.out = again;
    o.note = note;
    CHECK_EQ(seine_convert(&o, &done, &diag), SEINE_OK);
    CHECK_STR(notes, "1 bodies were left out @body\n");
    o.body = SEINE_BODY_B64;
    o.overwrite = true;
    CHECK_EQ(seine_convert(&o, &done, &diag), SEINE_OK);
    CHECK_STR(load(again), lines);
    o.body = SEINE_BODY_TEXT;
    CHECK_EQ(seine_convert(&o, &done, &diag), SEINE_OK);
    CHECK(strstr(load(again), "\"body\":\"hi\\u0000\"") != NULL);
    (void)unlink(again);
    tear_down();
}

TEST(convert_tells_what_a_database_is_not)
{
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    set_up("a.sqlite", "a.jsonl");
    save(in_path, "not at all", 10);
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_PARSE);
    CHECK(strstr(diag_line(&diag), "a.sqlite is no SQLite database") != NULL);
    CHECK_STR(load(out_path), "(none)");
    save(in_path, "", 0);
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_INVAL);
    CHECK(strstr(diag_line(&diag), "a.sqlite holds no records of seine") != NULL);
    tear_down();

    set_up("a.jsonl", "a.sqlite");
    save(in_path, "{\"a\":1}\n", 8);
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_INVAL);
    CHECK(strstr(diag_line(&diag), "a.jsonl: no records of seine, and SQLite holds ") !=
          NULL);
    CHECK_STR(diag.member, "in");
    CHECK_STR(load(out_path), "(none)");
    tear_down();
}

TEST(convert_tells_a_stranger_among_records)
{
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    set_up("a.jsonl", "a.csv");
    save(in_path, RECORD "{\"a\":1}\n", strlen(RECORD) + 8);
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_PARSE);
    CHECK(strstr(diag_line(&diag), "a.jsonl:2: no record, among records") != NULL);
    CHECK_STR(load(out_path), HEAD "\n" ROW);
    tear_down();
}

TEST(convert_refuses_before_anything_is_written)
{
    static const struct {
        const char *in, *out;
        seine_sink_format to;
        seine_err err;
        const char *member, *line; /* its end */
    } rows[] = {
        {"a.jsonl", "a.txt", SEINE_SINK_AUTO, SEINE_E_INVAL, "out",
         "a.txt: no format has that ending"},
        {"a.jsonl", "a.warc", SEINE_SINK_AUTO, SEINE_E_INVAL, "to",
         "a.warc: a WARC is made of what was on the wire, which no other format keeps"},
        {"a.jsonl", "a.jsonl", SEINE_SINK_CSV, SEINE_E_ALREADY, "",
         "a.jsonl exists (8 B)"},
    };

    EACH_ROW(i, rows) {
        seine_convert_opts o = SEINE_CONVERT_OPTS;
        seine_converted done;
        seine_diag diag = SEINE_DIAG;

        set_up(rows[i].in, rows[i].out);
        save(in_path, "{\"a\":1}\n", 8);
        o.to = rows[i].to;
        CHECK_EQ(convert(o, &done, &diag), rows[i].err);
        const char *line = diag_line(&diag);
        size_t n = strlen(line), m = strlen(rows[i].line);
        CHECK_STR(n >= m ? line + n - m : line, rows[i].line);
        CHECK_STR(diag.member, rows[i].member);
        CHECK_STR(load(in_path), "{\"a\":1}\n");
        tear_down();
    }
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    set_up("none.jsonl", "a.csv");
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_INVAL);
    CHECK(strstr(diag_line(&diag), "none.jsonl: no such file or directory") != NULL);
    CHECK_STR(load(out_path), "(none)");
    tear_down();
}

TEST(convert_never_writes_over_its_input)
{
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    set_up("a.jsonl", "a.jsonl");
    save(in_path, "{\"a\":1}\n", 8);
    o.overwrite = true;
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_INVAL);
    CHECK(strstr(diag_line(&diag), "is the input itself") != NULL);
    CHECK_STR(load(in_path), "{\"a\":1}\n");
    tear_down();
}

TEST(convert_appends_records_and_refuses_other_columns)
{
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    set_up("a.jsonl", "a.csv");
    save(in_path, RECORD, strlen(RECORD));
    o.append = true;
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK_STR(load(out_path), HEAD "\n" ROW ROW);
    save(in_path, "{\"a\":1}\n", 8);
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_INVAL);
    CHECK(strstr(diag_line(&diag), "only records are appended to CSV") != NULL);
    save(out_path, "x\n", 2);
    CHECK_EQ(convert(o, &done, &diag), SEINE_E_OUTPUT_CHANGED);
    tear_down();
}

TEST(convert_gives_a_digest_a_column)
{
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;
    static const char line[] =
        "{\"v\":1,\"type\":\"result\",\"url\":\"u\",\"outcome\":\"ok\","
        "\"sha256\":\"" DIGEST "\"}\n";

    set_up("a.jsonl", "a.csv");
    save(in_path, line, strlen(line));
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK_STR(load(out_path),
              HEAD ",sha256\n0,1970-01-01T00:00:00.000000Z,,u,,ok,,0,,,,0,"
                   ",,," DIGEST "\n");
    CHECK_STR(notes, "");
    tear_down();
}

TEST(convert_gives_what_pages_say_columns_and_takes_it_back)
{
#define SAID ",lang,canonical,meta_robots,links,sha256"
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;
    static const char head[] =
        "{\"v\":1,\"type\":\"result\",\"seq\":3,\"ts\":\"1970-01-01T00:00:00.000000Z\","
        "\"url\":\"u\",\"outcome\":\"ok\",\"ok\":true,\"attempts\":1,"
        "\"time\":{\"total\":0},\"lang\":\"de\",\"canonical\":\"http://c/\","
        "\"meta_robots\":\"none\",\"links\":7,\"sha256\":\"" DIGEST "\"}\n";

    set_up("a.jsonl", "a.csv");
    save(in_path, head, strlen(head));
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK_STR(load(out_path), HEAD SAID "\n3,1970-01-01T00:00:00.000000Z,,u,,ok,,1,,,,0,"
                                        ",,,de,http://c/,none,7," DIGEST "\n");
    CHECK_STR(notes, "");
    tear_down();
    set_up("a.csv", "a.jsonl");
    save(in_path,
         HEAD SAID "\n3,1970-01-01T00:00:00.000000Z,,u,,ok,,1,,,,0,"
                   ",,,de,http://c/,none,7," DIGEST "\n",
         strlen(HEAD SAID "\n3,1970-01-01T00:00:00.000000Z,,u,,ok,,1,,,,0,"
                          ",,,de,http://c/,none,7," DIGEST "\n"));
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK_STR(load(out_path), head);
    CHECK_STR(notes, "");
    tear_down();
}

/* A block of the source may end where a row does. */
TEST(convert_reads_on_wherever_a_block_ends)
{
    static char text[200000];
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    for (size_t width = 1; width < 9; width++) {
        size_t n = 0, k = 0;

        memcpy(text, "a\n", 2);
        for (n = 2; n + width + 1 < sizeof text; k++) {
            memset(text + n, 'x', width);
            text[n + width] = '\n';
            n += width + 1;
        }
        set_up("a.csv", "a.jsonl");
        save(in_path, text, n);
        CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
        CHECK_EQ(done.records, k);
        tear_down();
    }
}

TEST(convert_names_so_many_losses_and_counts_the_rest)
{
    static char line[1 << 13];
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;
    size_t n = (size_t)snprintf(line, sizeof line, "{\"a\":1");

    for (int i = 0; i < SN_LOST_NAMES + 5; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, ",\"member%d\":{}", i);
    n += (size_t)snprintf(line + n, sizeof line - n, "}\n");
    set_up("a.jsonl", "a.csv");
    save(in_path, line, n);
    CHECK_EQ(convert(o, &done, &diag), SEINE_OK);
    CHECK(strstr(notes, "member47 (1), and others (5)") != NULL);
    tear_down();
}

TEST(convert_says_when_memory_runs_out)
{
    static const char *const inputs[] = {RECORD, "{\"a\":1,\"b\":\"x\"}\n"};

    for (size_t i = 0; i < 2; i++) {
        set_up("a.jsonl", "a.csv");
        save(in_path, inputs[i], strlen(inputs[i]));
        FAIL_EACH(f)
        {
            seine_convert_opts o = SEINE_CONVERT_OPTS;
            seine_converted done;
            seine_diag diag = SEINE_DIAG;

            o.in = in_path;
            o.out = out_path;
            o.overwrite = true;
            seine_err e = seine_convert(&o, &done, &diag);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            CHECK((e == SEINE_OK) == (diag.text[0] == '\0'));
        }
        tear_down();
    }
    set_up("a.csv", "a.jsonl");
    save(in_path, "a,b\n1,2\n", 8);
    FAIL_EACH(f)
    {
        seine_convert_opts o = SEINE_CONVERT_OPTS;
        seine_converted done;
        seine_diag diag = SEINE_DIAG;

        o.in = in_path;
        o.out = out_path;
        o.overwrite = true;
        seine_err e = seine_convert(&o, &done, &diag);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
    }
    tear_down();
}

/* Reading alone */

typedef struct readings {
    char text[1024];
    size_t most; /* lines that are wanted */
    size_t n;
} readings;

static bool
take_line(const char *line, size_t n, void *arg)
{
    readings *r = arg;
    size_t at = strlen(r->text);

    snprintf(r->text + at, sizeof r->text - at, "%.*s\n", (int)n, line);
    return ++r->n < r->most;
}

static bool
take_record(const seine_record *record, uint64_t seq, void *arg)
{
    readings *r = arg;
    size_t at = strlen(r->text);

    snprintf(r->text + at, sizeof r->text - at, "%d %.*s %u %.*s\n", (int)seq,
             (int)record->url.len, record->url.ptr, record->status, (int)record->body.len,
             record->body.ptr ? record->body.ptr : "");
    return ++r->n < r->most;
}

#define KEPT                                                             \
    "{\"v\":1,\"type\":\"result\",\"seq\":7,\"url\":\"http://e.example/" \
    "a\",\"outcome\":\"ok\",\"status\":200,"                             \
    "\"body_b64\":\"aGk=\"}\n"
#define MORE                                                             \
    "{\"v\":1,\"type\":\"result\",\"seq\":8,\"url\":\"http://e.example/" \
    "b\",\"outcome\":\"http_error\",\"status\":404}\n"

TEST(convert_reads_records_back_and_passes_over_what_is_torn)
{
    readings r = {.most = 10};
    seine_diag diag = SEINE_DIAG;
    const char text[] = KEPT "\n{\"v\":1,\"type\":\"resu\n" MORE
                             "{\"v\":1,\"type\":\"summary\",\"seq\":9}\n{\"v\":1,\"ty";

    set_up("a.jsonl", "b");
    save(in_path, text, sizeof text - 1);
    CHECK_EQ(seine_records_each(in_path, take_record, &r, &diag), SEINE_OK);
    CHECK_STR(r.text, "7 http://e.example/a 200 hi\n8 http://e.example/b 404 \n");
    r = (readings){.most = 1};
    CHECK_EQ(seine_records_each(in_path, take_record, &r, &diag), SEINE_OK);
    CHECK_EQ(r.n, 1); /* the caller had enough */
    CHECK_EQ(seine_records_each(out_path, take_record, &r, &diag), SEINE_E_INVAL);
    CHECK(strstr(diag.text, "cannot read") != NULL);
    CHECK_EQ(seine_records_each(NULL, take_record, &r, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_records_each(in_path, NULL, NULL, NULL), SEINE_E_INVAL);
    tear_down();
}

TEST(convert_reads_lines_back_from_every_format)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"a.jsonl", KEPT MORE, KEPT MORE},
        {"a.csv", "x,y\n1,2\n", "{\"x\":\"1\",\"y\":\"2\"}\n"},
    };

    EACH_ROW(i, rows) {
        readings r = {.most = 10};

        set_up(rows[i].name, "b");
        save(in_path, rows[i].text, strlen(rows[i].text));
        CHECK_EQ(seine_lines_each(in_path, take_line, &r, NULL), SEINE_OK);
        CHECK_STR(r.text, rows[i].want);
        tear_down();
    }
    CHECK_EQ(seine_lines_each(NULL, take_line, NULL, NULL), SEINE_E_INVAL);
}

TEST(pack_makes_one_member_of_a_text)
{
    seine_text gzip = {NULL, 0}, zstd = {NULL, 0};

    CHECK_EQ(seine_text_pack("hello", 5, false, &gzip), SEINE_OK);
    CHECK_EQ(seine_text_pack("", 0, true, &zstd), SEINE_OK);
    CHECK(gzip.len > 5 && memcmp(gzip.bytes, "\x1f\x8b", 2) == 0);
    CHECK(zstd.len > 4 && memcmp(zstd.bytes, "\x28\xb5\x2f\xfd", 4) == 0);
    CHECK_EQ(seine_text_pack(NULL, 1, true, &zstd), SEINE_E_INVAL);
    CHECK_EQ(seine_text_pack("", 0, true, NULL), SEINE_E_INVAL);
    seine_text_free(&gzip);
    seine_text_free(&zstd);
}
