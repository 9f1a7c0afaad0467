/* SPDX-License-Identifier: Apache-2.0 */
#include "store/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"
#include "store/pack.h"

/* An input of these bytes, through a file that has no name. */
static seine_input *
open_bytes(const char *bytes, size_t n, seine_input_format format, const char *base)
{
    char path[64];
    seine_diag diag = SEINE_DIAG;
    seine_input *in = NULL;
    int fd = memfd_create("input", MFD_CLOEXEC);

    CHECK_EQ(write(fd, bytes, n), (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK_EQ(seine_input_open(
                 &(seine_input_opts){sizeof(seine_input_opts), path, format, base, NULL},
                 &in, &diag),
             SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    close(fd);
    return in;
}

static seine_input *
open_text(const char *text)
{
    return open_bytes(text, strlen(text), SEINE_INPUT_AUTO, NULL);
}

static bool
is(seine_view v, const char *want)
{
    bool same = v.ptr && v.len == strlen(want) && memcmp(v.ptr, want, v.len) == 0;

    if (!same)
        printf("  got \"%.*s\", want \"%s\"\n", (int)v.len, v.ptr ? v.ptr : "(absent)",
               want);
    return same;
}

/* The next ask is that URL on that line. */
static void
expect(seine_input *in, const char *url, uint64_t line)
{
    seine_ask ask = SEINE_ASK;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(!ask.is_bad);
    CHECK(is(ask.url, url));
    CHECK_EQ(ask.line, line);
}

static void
expect_bad(seine_input *in, seine_skip reason, const char *rule, uint64_t line)
{
    seine_ask ask = SEINE_ASK;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(ask.is_bad);
    CHECK_EQ(ask.reason, reason);
    CHECK(is(ask.rule, rule));
    CHECK_EQ(ask.line, line);
    CHECK(ask.input.ptr != NULL);
}

static void
expect_end(seine_input *in)
{
    seine_ask ask;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
    seine_input_free(in);
}

TEST(input_text_is_a_url_a_line)
{
    seine_input *in = open_text("\xef\xbb\xbfhttp://a.example/\r\n"
                                "\n"
                                "  # a comment\n"
                                "#another\n"
                                " \t b.example/x \t\r\n"
                                "\r\n"
                                "c.example/a b#frag\n"
                                "http://d.example/ # not a comment");

    expect(in, "http://a.example/", 1);
    expect(in, "b.example/x", 5);
    expect(in, "c.example/a b#frag", 7);
    expect(in, "http://d.example/ # not a comment", 8);

    uint64_t lines, bytes, size;
    seine_input_progress_get(in, &lines, &bytes, &size);
    CHECK_EQ(lines, 8);
    CHECK_EQ(bytes, size);
    expect_end(in);
}

TEST(input_that_is_empty_ends_at_once)
{
    static const char *const texts[] = {
        "", "\n", "\n\n\n", "#", "# x\n", "  \r\n", "\xef\xbb\xbf", "\xef\xbb\xbf\n"};

    EACH_ROW(i, texts)
        expect_end(open_text(texts[i]));
}

TEST(input_line_with_a_zero_byte_is_bad)
{
    static const char text[] = "a\nb\0c\nd\n";
    seine_input *in = open_bytes(text, sizeof text - 1, SEINE_INPUT_AUTO, NULL);

    expect(in, "a", 1);
    expect_bad(in, SEINE_SKIP_BAD_INPUT, "byte 2 is zero", 2);
    expect(in, "d", 3);
    expect_end(in);

    static const char json[] = "{\"url\":\"a\",\"retries\":1\0}\n{\"url\":\"b\"}\n";
    in = open_bytes(json, sizeof json - 1, SEINE_INPUT_AUTO, NULL);
    expect_bad(in, SEINE_SKIP_BAD_INPUT, "byte 23 is zero", 1);
    expect(in, "b", 2);
    expect_end(in);
}

TEST(input_line_of_one_mebibyte_is_the_longest)
{
    size_t longest = SN_LINE_MAX, n = 0;
    char *text = malloc(8 * longest);

    for (size_t k = longest - 1; k <= longest + 1; k++) {
        memset(text + n, 'x', k);
        n += k;
        text[n++] = '\n';
    }
    memset(text + n, 'y', 3 * longest); /* much longer, then blanks alone, then the end */
    n += 3 * longest;
    text[n++] = '\n';
    memset(text + n, ' ', longest + 1);
    n += longest + 1;
    memcpy(text + n, "\nlast", 5);
    n += 5;

    seine_input *in = open_bytes(text, n, SEINE_INPUT_TEXT, NULL);
    seine_ask ask;
    for (size_t k = longest - 1; k <= longest; k++) {
        CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
        CHECK(!ask.is_bad);
        CHECK_EQ(ask.url.len, k);
    }
    for (uint64_t line = 3; line <= 5; line++)
        expect_bad(in, SEINE_SKIP_BAD_INPUT, "the line is longer than 1 MiB", line);
    expect(in, "last", 6);
    expect_end(in);
    free(text);
}

TEST(input_shows_the_beginning_of_a_bad_line)
{
    char text[600] = "{\"url\":";
    seine_ask ask;
    size_t n = strlen(text);

    while (n < 500) {
        memcpy(text + n, "\xe2\x82\xac", 3); /* the 256th byte is inside of one */
        n += 3;
    }
    seine_input *in = open_bytes(text, n, SEINE_INPUT_AUTO, NULL);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(ask.is_bad);
    CHECK(ask.input.len >= 253 && ask.input.len <= 259);
    CHECK(memcmp(ask.input.ptr, text, ask.input.len - 3) == 0);
    CHECK(memcmp(ask.input.ptr + ask.input.len - 3, "\xe2\x80\xa6", 3) == 0);
    CHECK_EQ((ask.input.len - 3 - strlen("{\"url\":")) % 3, 0); /* whole characters */
    expect_end(in);
}

TEST(input_json_line_brings_what_belongs_to_its_url)
{
    seine_input *in = open_text(
        "{\"url\":\"http://a.example/\",\"method\":\"PUT\",\"headers\":{\"X-A\":\"1\","
        "\"accept\":\"\"},\"body\":\"h\\u00e9\",\"timeout\":\"1h30m\",\"retries\":0,"
        "\"depth\":3,\"priority\":-9,\"tags\":{\"b\": [1, 2.50] , \"a\":null},"
        "\"id\":\"i-7\",\"idempotent\":true}\n"
        "\n"
        "# between\n"
        " {\"body_b64\":\"AP8=\",\"timeout\":1.5,\"url\":\"b\"}\r\n"
        "{\"url\":\"c\"}");
    seine_ask ask;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(!ask.is_bad);
    CHECK(is(ask.url, "http://a.example/"));
    CHECK(is(ask.input, "http://a.example/"));
    CHECK(is(ask.method, "PUT"));
    CHECK_EQ(ask.n_fields, 2);
    CHECK(is(ask.fields[0].name, "X-A") && is(ask.fields[0].value, "1"));
    CHECK(is(ask.fields[1].name, "accept") && is(ask.fields[1].value, ""));
    CHECK(is(ask.body, "h\xc3\xa9"));
    CHECK_EQ(ask.timeout, SEINE_SECS(5400));
    CHECK_EQ(ask.retries, 0);
    CHECK_EQ(ask.priority, -9);
    CHECK(is(ask.tags, "{\"b\":[1,2.5],\"a\":null}"));
    CHECK(is(ask.id, "i-7"));
    CHECK(ask.idempotent);
    CHECK_EQ(ask.line, 1);

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(is(ask.url, "b"));
    CHECK_EQ(ask.body.len, 2);
    CHECK(memcmp(ask.body.ptr, "\0\xff", 2) == 0);
    CHECK_EQ(ask.timeout, SEINE_MS(1500));
    CHECK_EQ(ask.retries, -1);
    CHECK(!ask.tags.ptr && !ask.id.ptr && !ask.method.ptr && !ask.fields);
    CHECK_EQ(ask.line, 4);

    expect(in, "c", 5);
    expect_end(in);
}

TEST(input_takes_records_of_ours_and_passes_over_those_without_a_url)
{
    seine_input *in = open_text(
        "{\"v\":1,\"type\":\"result\",\"seq\":1,\"input\":\"a\",\"url\":\"http://"
        "a.example/"
        "\",\"method\":\"HEAD\",\"outcome\":\"timeout\",\"ok\":false,\"id\":\"7\","
        "\"tags\":{"
        "\"t\":1},\"headers\":{\"server\":[\"x\"]},\"body\":\"what came\"}\n"
        "{\"v\":1,\"type\":\"event\",\"event\":\"breaker.open\",\"host\":\"a.example\"}\n"
        "{\"v\":1,\"type\":\"skip\",\"url\":\"http://b.example/"
        "\",\"reason\":\"robots\"}\n"
        "{\"v\":1,\"type\":\"link\",\"source\":\"x.md\",\"line\":3,\"target\":\"http://"
        "c.example"
        "/\",\"verdict\":\"broken\"}\n"
        "{\"v\":1,\"type\":\"summary\",\"total\":3}\n");
    seine_ask ask = SEINE_ASK;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(is(ask.url, "http://a.example/"));
    CHECK(is(ask.method, "HEAD"));
    CHECK(is(ask.id, "7"));
    CHECK(is(ask.tags, "{\"t\":1}"));
    CHECK(!ask.is_bad && !ask.fields && !ask.body.ptr);
    CHECK_EQ(ask.line, 1);
    expect(in, "http://b.example/", 3);
    expect(in, "http://c.example/", 4);
    expect_end(in);
}

TEST(input_json_line_that_is_bad_says_why)
{
    static const struct {
        const char *line, *rule;
    } rows[] = {
        {"{}", "there is no \"url\""},
        {"[1]", "the line is an array, not an object"},
        {"http://a.example/", NULL},
        {"{\"url\":\"a\"", NULL},
        {"{\"url\":\"a\"} x", NULL},
        {"{\"url\":\"a\",\"url\":\"b\"}", NULL},
        {"{\"url\":\"\xff\"}", NULL},
        {"{\"url\":7}", "\"url\" is an integer, not a string"},
        {"{\"url\":\"\"}", "\"url\" is empty"},
        {"{\"url\":\"a\\u0000b\"}", "\"url\" has a zero byte"},
        {"{\"url\":\"a\",\"colour\":1}", "unknown member \"colour\""},
        {"{\"v\":1,\"type\":\"result\"}", "the record names no URL"},
        {"{\"v\":1,\"type\":\"result\",\"url\":\"a\",\"method\":\"POST\"}",
         "the record of a POST has no body to send again"},
        {"{\"url\":\"a\",\"method\":\"G T\"}", "\"method\" is no method"},
        {"{\"url\":\"a\",\"method\":\"\"}", "\"method\" is no method"},
        {"{\"url\":\"a\",\"method\":\"G\\u0000T\"}", "\"method\" is no method"},
        {"{\"url\":\"a\",\"headers\":[]}", "\"headers\" is an array, not an object"},
        {"{\"url\":\"a\",\"headers\":{\"a b\":\"\"}}",
         "\"headers\" has a name that is none"},
        {"{\"url\":\"a\",\"headers\":{\"a\":1}}",
         "\"headers\": the value of \"a\" is an integer, not a string"},
        {"{\"url\":\"a\",\"headers\":{\"a\":\"x\\r\\ny: z\"}}",
         "\"headers\": the value of \"a\" has a line break"},
        {"{\"url\":\"a\",\"body\":1}", "\"body\" is an integer, not a string"},
        {"{\"url\":\"a\",\"body\":\"\",\"body_b64\":\"\"}",
         "\"body\" and \"body_b64\" are one too many"},
        {"{\"url\":\"a\",\"body_b64\":\"\",\"body\":\"\"}",
         "\"body\" and \"body_b64\" are one too many"},
        {"{\"url\":\"a\",\"body_b64\":\"x\"}", "\"body_b64\" is not base64"},
        {"{\"url\":\"a\",\"body_b64\":null}", "\"body_b64\" is null, not a string"},
        {"{\"url\":\"a\",\"timeout\":\"soon\"}",
         "\"timeout\" is no duration between 1ns and 10 years"},
        {"{\"url\":\"a\",\"timeout\":\"0s\"}",
         "\"timeout\" is no duration between 1ns and 10 years"},
        {"{\"url\":\"a\",\"timeout\":-1}",
         "\"timeout\" is no duration between 1ns and 10 years"},
        {"{\"url\":\"a\",\"timeout\":1e30}",
         "\"timeout\" is no duration between 1ns and 10 years"},
        {"{\"url\":\"a\",\"timeout\":true}",
         "\"timeout\" is true or false, not a duration"},
        {"{\"url\":\"a\",\"retries\":-1}", "\"retries\" is not between 0 and 1000000"},
        {"{\"url\":\"a\",\"retries\":1.0}", "\"retries\" is a number, not an integer"},
        {"{\"url\":\"a\",\"depth\":-1}", "\"depth\" is not between 0 and 2147483647"},
        {"{\"url\":\"a\",\"priority\":10}", "\"priority\" is not between -9 and 9"},
        {"{\"url\":\"a\",\"tags\":\"x\"}", "\"tags\" is a string, not an object"},
        {"{\"url\":\"a\",\"id\":7}", "\"id\" is an integer, not a string"},
        {"{\"url\":\"a\",\"idempotent\":\"yes\"}",
         "\"idempotent\" is a string, not true or false"},
    };

    EACH_ROW(i, rows) {
        seine_input *in =
            open_bytes(rows[i].line, strlen(rows[i].line), SEINE_INPUT_JSONL, NULL);
        seine_ask ask;

        CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
        CHECK(ask.is_bad);
        CHECK_EQ(ask.reason, SEINE_SKIP_BAD_INPUT);
        /* headers may be secrets: of a line that has some, what is before them */
        const char *headers = strstr(rows[i].line, "\"headers\"");
        char shown[300];
        snprintf(shown, sizeof shown, "%.*s…",
                 headers ? (int)(headers - rows[i].line) : 0, rows[i].line);
        CHECK(is(ask.input, headers ? shown : rows[i].line));
        CHECK(!ask.fields && !ask.tags.ptr && !ask.body.ptr); /* nothing half read */
        if (rows[i].rule)
            CHECK(is(ask.rule, rows[i].rule));
        else
            CHECK(memcmp(ask.rule.ptr, "not JSON at byte ", 17) == 0);
        expect_end(in);
    }
}

TEST(input_bad_line_is_no_reason_to_stop)
{
    seine_input *in = open_text("{\"url\":\"a\"}\n{\n{\"url\":\"b\"}\n");

    expect(in, "a", 1);
    seine_ask ask;
    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(ask.is_bad);
    CHECK_EQ(ask.line, 2);
    expect(in, "b", 3);
    expect_end(in);
}

TEST(input_lines_of_urls_and_json_may_take_turns)
{
    seine_input *in =
        open_text("{\"url\":\"a\"}\nhttps://e.example/b\n{\"url\":\"c\"}\n");

    expect(in, "a", 1);
    expect(in, "https://e.example/b", 2);
    expect(in, "c", 3);
    expect_end(in);
    in = open_text("http://e.example/a\n{\"url\":\"b\"}\nhttp://e.example/c\n");
    expect(in, "http://e.example/a", 1);
    expect(in, "b", 2);
    expect(in, "http://e.example/c", 3);
    expect_end(in);
}

TEST(input_resolves_against_its_base)
{
    static const char text[] = "x\n../y?z\nhttps://other.example/\n//[\n";
    seine_input *in =
        open_bytes(text, sizeof text - 1, SEINE_INPUT_TEXT, "http://b.example/a/b/");
    seine_ask ask;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(is(ask.url, "http://b.example/a/b/x"));
    CHECK(is(ask.input, "x"));
    expect(in, "http://b.example/a/y?z", 2);
    expect(in, "https://other.example/", 3);
    expect_bad(in, SEINE_SKIP_BAD_URL, "not an IPv6 address", 4);
    expect_end(in);
}

TEST(input_refuses_a_base_that_is_none)
{
    seine_diag diag = SEINE_DIAG;
    seine_input *in = NULL;

    CHECK_EQ(seine_input_open(&(seine_input_opts){sizeof(seine_input_opts), "-",
                                                  SEINE_INPUT_AUTO, "/x", NULL},
                              &in, &diag),
             SEINE_E_INVAL);
    CHECK_STR(diag_line(&diag), "base '/x': relative, and there is no base");
    CHECK(!in);
}

TEST(input_that_cannot_be_read_is_told_in_one_line)
{
    static const struct {
        const char *path, *why;
    } rows[] = {
        {"/no/such/file", "cannot read /no/such/file: no such file or directory"},
        {"/", "cannot read /: is a directory"},
        {"notes.md", "notes.md: links of Markdown are not read yet: try one URL a line"},
    };

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;
        seine_input *in = NULL;

        CHECK_EQ(seine_input_open(&(seine_input_opts){.size = sizeof(seine_input_opts),
                                                      .path = rows[i].path},
                                  &in, &diag),
                 SEINE_E_IO);
        CHECK_STR(diag_line(&diag), rows[i].why);
    }
}

TEST(input_in_a_foreign_encoding_is_told_in_one_line)
{
    static const struct {
        const char *bytes;
        const char *why;
    } rows[] = {
        {"\x1f\x8b\x08\x01", ": the packed bytes are cut off behind line 0"},
        {"\x28\xb5\x2f\xfd", ": the packed bytes are cut off behind line 0"},
        {"\x1f\x8b\xff\xff", ": the packed bytes are damaged behind line 0"},
        {"\xff\xfe"
         "ab",
         "UTF-16 is not read: save it as UTF-8"},
        {"\xfe\xff"
         "ab",
         "UTF-16 is not read: save it as UTF-8"},
    };

    EACH_ROW(i, rows) {
        seine_input *in = open_bytes(rows[i].bytes, 4, SEINE_INPUT_AUTO, NULL);
        seine_ask ask;

        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_IO);
        CHECK(strstr(diag_line(seine_input_diag(in)), rows[i].why) != NULL);
        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_IO);
        seine_input_free(in);
    }
}

/* Packs the text behind what is there; returns the new length. */
static size_t
pack(seine_sink_pack kind, const char *text, size_t len, char *to, size_t n)
{
    sn_pack p;
    sn_str member;

    sn_pack_init(&p, kind);
    CHECK_EQ(sn_pack_text(&p, (sn_str){text, len}, &member), SEINE_OK);
    memcpy(to + n, member.ptr, member.len);
    n += member.len;
    sn_pack_fini(&p);
    return n;
}

static const seine_sink_pack kinds[] = {SEINE_PACK_GZIP, SEINE_PACK_ZSTD};

TEST(input_that_is_packed_is_unpacked_on_the_way)
{
    static char bytes[1000];

    EACH_ROW(i, kinds) {
        size_t n = pack(kinds[i], "a\n# no\nb", 8, bytes, 0);

        n = pack(kinds[i], "c\r\nd", 4, bytes, n);
        memset(bytes + n, 0, 100); /* a tape is filled up with zeros */
        seine_input *in = open_bytes(bytes, n + 100, SEINE_INPUT_AUTO, NULL);
        expect(in, "a", 1);
        expect(in, "bc", 3);
        expect(in, "d", 4);
        uint64_t lines, read, size;
        seine_input_progress_get(in, &lines, &read, &size);
        CHECK_EQ(read, size);
        CHECK_EQ(lines, 4);
        expect_end(in);

        n = pack(kinds[i], "\xef\xbb\xbf{\"url\":\"x\"}\n", 15, bytes, 0);
        in = open_bytes(bytes, n, SEINE_INPUT_AUTO, NULL);
        expect(in, "x", 1);
        expect_end(in);
    }
}

TEST(input_that_is_cut_off_gives_its_whole_lines_and_says_so)
{
    static char bytes[1000];

    EACH_ROW(i, kinds) {
        size_t first = pack(kinds[i], "a\nb\n", 4, bytes, 0);
        size_t n = pack(kinds[i], "c\nd", 3, bytes, first);

        for (size_t cut = 4; cut < n; cut++) {
            seine_input *in = open_bytes(bytes, cut, SEINE_INPUT_AUTO, NULL);
            seine_ask ask;
            seine_err e;
            size_t lines = 0;

            for (; (e = seine_input_next(in, &ask)) == SEINE_OK; lines++)
                CHECK(is(ask.url, lines == 0 ? "a" : lines == 1 ? "b" : "c"));
            CHECK(lines <= 3 && (cut < first || lines >= 2));
            CHECK_EQ(e, cut == first ? SEINE_E_CLOSED : SEINE_E_IO);
            if (e == SEINE_E_IO)
                CHECK(strstr(diag_line(seine_input_diag(in)),
                             "the packed bytes are cut off behind"));
            seine_input_free(in);
        }
    }
}

/* A compression ratio of 1,000: memory stays that of a line, time that of the text. */
TEST(input_that_explodes_is_one_bad_line)
{
    static char packed[1 << 20], text[8 << 20];

    memset(text, 'x', sizeof text);
    EACH_ROW(i, kinds) {
        size_t n = pack(kinds[i], text, sizeof text, packed, 0);
        n = pack(kinds[i], "\nb\n", 3, packed, n);
        seine_input *in = open_bytes(packed, n, SEINE_INPUT_AUTO, NULL);

        expect_bad(in, SEINE_SKIP_BAD_INPUT, "the line is longer than 1 MiB", 1);
        expect(in, "b", 2);
        expect_end(in);
    }
}

TEST(input_that_is_packed_needs_memory_for_it)
{
    static char bytes[1000];
    char path[64];
    size_t n = pack(SEINE_PACK_GZIP, "a\n", 2, bytes, 0);
    int fd = memfd_create("input", MFD_CLOEXEC);

    n = pack(SEINE_PACK_GZIP, "b\n", 2, bytes, n);
    CHECK_EQ(write(fd, bytes, n), (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FAIL_EACH(k)
    {
        seine_input *in = NULL;
        seine_ask ask;
        seine_err e = seine_input_open(
            &(seine_input_opts){.size = sizeof(seine_input_opts), .path = path}, &in,
            NULL);

        for (int i = 0; i < 2 && e == SEINE_OK; i++)
            e = seine_input_next(in, &ask);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_input_free(in);
    }
    close(fd);
}

TEST(input_stopped_is_at_its_end)
{
    seine_input *in = open_text("a\nb\nc\n");

    expect(in, "a", 1);
    seine_input_stop(in);
    seine_input_stop(in);
    expect_end(in);
    seine_input_free(NULL);
}

TEST(input_without_memory_says_so)
{
    char path[64];
    int fd = memfd_create("input", MFD_CLOEXEC);
    static const char text[] =
        "{\"url\":\"a\",\"tags\":{\"b\":1},\"headers\":{\"c\":\"d\"},"
        "\"body_b64\":\"AAAA\"}\n";

    CHECK_EQ(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    for (int i = 0; i < 70000; i += 10) /* a line that makes the buffer grow */
        CHECK_EQ(write(fd, "{         ", 10), 10);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FAIL_EACH(n)
    {
        seine_diag diag = SEINE_DIAG;
        seine_input *in = NULL;
        seine_ask ask;
        seine_err e = seine_input_open(
            &(seine_input_opts){.size = sizeof(seine_input_opts), .path = path}, &in,
            &diag);

        if (e == SEINE_OK)
            e = seine_input_next(in, &ask);
        if (e == SEINE_OK)
            e = seine_input_next(in, &ask);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_input_free(in);
    }
    close(fd);
}

/* Detected by its first bytes, by its name, or by the option. */
TEST(input_of_a_sitemap_is_every_loc)
{
    static const char *const rows[] = {
        "<?xml version='1.0'?><urlset><url><loc>http://a/?x&amp;y</loc></url>"
        "<url><loc>http://b/</loc></url></urlset>",
        "\xef\xbb\xbf<sitemapindex><sitemap><loc>http://a/?x&amp;y</loc></sitemap>"
        "<sitemap><loc> http://b/ </loc></sitemap></sitemapindex>",
        "<rss><channel><item><link>http://a/?x&amp;y</link></item>"
        "<item><link>http://b/</link></item></channel></rss>",
        "<feed><entry><link href='http://a/?x&amp;y'/></entry>"
        "<entry><link href='http://b/'/></entry></feed>",
    };

    EACH_ROW(i, rows) {
        seine_input *in = open_text(rows[i]);
        seine_ask ask;

        expect(in, "http://a/?x&y", 1);
        expect(in, "http://b/", 2);
        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
        seine_input_free(in);
    }
}

TEST(input_of_a_sitemap_has_more_urls_than_a_crawl_would_read)
{
    enum { MANY = 50010 };
    seine_ask ask;
    sn_buf all;
    int n = 0;

    sn_buf_init(&all, 4 << 20);
    sn_buf_text(&all, "<urlset>");
    for (int i = 0; i < MANY; i++)
        sn_buf_text(&all, "<url><loc>http://e/</loc></url>\n");
    sn_buf_text(&all, "</urlset>");
    CHECK_EQ(sn_buf_done(&all), SEINE_OK);
    seine_input *in = open_bytes(all.ptr, all.len, SEINE_INPUT_SITEMAP, NULL);
    while (seine_input_next(in, &ask) == SEINE_OK)
        n++;
    CHECK_EQ(n, MANY);
    seine_input_free(in);
    sn_buf_fini(&all);
}

TEST(input_of_a_sitemap_that_breaks_gives_what_stands_before_and_says_where)
{
    seine_input *in = open_text("<urlset>\n<url><loc>http://a/</loc></url>\n<url>");
    seine_ask ask;

    expect(in, "http://a/", 1);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_IO);
    CHECK(strstr(diag_line(seine_input_diag(in)), ":3: bad_xml: it ends too early") !=
          NULL);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_IO);
    seine_input_free(in);
}

TEST(input_of_a_sitemap_resolves_against_the_base)
{
    static const char text[] = "<urlset><url><loc>b</loc></url></urlset>";
    seine_input *in =
        open_bytes(text, sizeof text - 1, SEINE_INPUT_AUTO, "http://e.example/a/");

    expect(in, "http://e.example/a/b", 1);
    seine_input_free(in);
}

TEST(input_of_a_page_is_where_its_links_lead)
{
    static const char text[] =
        "<!DOCTYPE html><link href=x><a href='a?1&amp;2'>A</a><img src=i><a href=''>"
        "<area href=//f.example/><a>";
    static const char based[] = "<html><base href=/d/><a href=a>";
    seine_ask ask;
    seine_input *in =
        open_bytes(text, sizeof text - 1, SEINE_INPUT_AUTO, "http://e.example/p/q");

    expect(in, "http://e.example/p/a?1&2", 1);
    expect(in, "http://f.example/", 2);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
    seine_input_free(in);
    in = open_bytes(based, sizeof based - 1, SEINE_INPUT_AUTO, "http://e.example/p/q");
    expect(in, "http://e.example/d/a", 1);
    seine_input_free(in);
    in = open_bytes(based, sizeof based - 1, SEINE_INPUT_HTML, NULL);
    expect(in, "a", 1); /* nobody says where it was */
    seine_input_free(in);
}

TEST(input_of_markup_lives_with_any_lack_of_memory)
{
    static const char text[] = "<urlset><url><loc>http://a/</loc></url></urlset>";

    FAIL_EACH(n)
    {
        for (int i = 0; i < 2; i++) {
            char path[64];
            seine_diag diag = SEINE_DIAG;
            seine_input *in = NULL;
            seine_ask ask;
            int fd = memfd_create("input", MFD_CLOEXEC);

            CHECK_EQ(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
            snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
            seine_input_opts o = {.size = sizeof(seine_input_opts),
                                  .path = path,
                                  .format = i ? SEINE_INPUT_HTML : SEINE_INPUT_SITEMAP};
            seine_err e = seine_input_open(&o, &in, &diag);
            while (e == SEINE_OK)
                e = seine_input_next(in, &ask);
            CHECK(e == SEINE_E_CLOSED || e == SEINE_E_NOMEM);
            seine_input_free(in);
            close(fd);
        }
    }
}
