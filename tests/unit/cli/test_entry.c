/* SPDX-License-Identifier: Apache-2.0 */
#include "report/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void
check_view(seine_view got, const char *want)
{
    char text[256];

    memcpy(text, got.ptr ? got.ptr : "", got.len);
    text[got.len] = '\0';
    CHECK_STR(text, want);
}

static entry_kind
read_line(entry_reader *r, const char *line, entry *out)
{
    return entry_read(r, (seine_view){line, strlen(line)}, out);
}

TEST(entry_has_what_a_line_says)
{
    static const char line[] =
        "{\"v\":1,\"type\":\"result\",\"seq\":42,\"ts\":\"1970-01-01T00:01:01.500000Z\","
        "\"url\":\"https://u@e.example:8443/a\",\"key\":\"k\",\"final_url\":\"f\","
        "\"redirects\":[{\"url\":\"x\",\"status\":301},{\"url\":\"y\",\"status\":302}],"
        "\"host\":\"e.example\",\"parent\":\"p\",\"via\":{\"tag\":\"a\",\"line\":40},"
        "\"outcome\":\"http_error\",\"ok\":false,\"status\":503,"
        "\"error\":{\"kind\":\"http\",\"message\":\"HTTP \\u0035\",\"hint\":\"h\"},"
        "\"attempts\":2,\"tries\":[{\"n\":1,\"wait_ms\":1000.5,\"wait_reason\":"
        "\"retry_after\"},{\"n\":2}],\"content_type\":\"text/html\",\"bytes_in\":10,"
        "\"bytes_body\":20,\"time\":{\"queue\":1,\"throttle\":2,\"backoff\":3,\"dns\":4,"
        "\"connect\":5,\"tls\":6,\"ttfb\":7,\"body\":8,\"total\":100},\"title\":\"T\"}";
    entry_reader r = {.room = NULL};
    entry e;

    CHECK_EQ((int)read_line(&r, line, &e), (int)ENTRY_RESULT);
    CHECK_EQ(e.wall, SEINE_MS(61500));
    check_view(e.url, "https://u@e.example:8443/a");
    check_view(e.host, "e.example:8443");
    check_view(e.parent, "p");
    check_view(e.message, "HTTP 5");
    CHECK_EQ(e.line, 40u);
    CHECK_EQ((int)e.fate, (int)SEINE_FATE_HTTP_ERROR);
    CHECK_EQ(e.status, 503u);
    CHECK_EQ(e.n_redirects, 2u);
    CHECK_EQ(e.redirect, 301u);
    CHECK_EQ(e.waits[SEINE_WAIT_RETRY_AFTER], SEINE_US(1000500));
    CHECK_EQ(entry_latency(&e), SEINE_MS(30));
    CHECK_EQ(e.spans[SPAN_TOTAL], SEINE_MS(100));
    CHECK_STR(entry_failure(&e).text, "503");
    entry_reader_free(&r);
}

/* Members of other writers come in any order. */
TEST(entry_takes_members_in_any_order)
{
    entry_reader r = {.room = NULL};
    entry e;

    CHECK_EQ((int)read_line(&r,
                            "{\"attempts\":3,\"url\":\"http://a/\",\"outcome\":\"ok\","
                            "\"type\":\"result\",\"v\":1,\"status\":200}",
                            &e),
             (int)ENTRY_RESULT);
    CHECK_EQ(e.attempts, 3u);
    CHECK(e.is_ok);
    CHECK_EQ(e.status, 200u);
    entry_reader_free(&r);
}

TEST(entry_knows_what_is_no_record)
{
    static const struct {
        const char *line;
        entry_kind kind;
    } rows[] = {
        {"{\"v\":1,\"type\":\"skip\",\"url\":\"http://a/\",\"reason\":\"robots\"}",
         ENTRY_SKIP},
        {"{\"v\":1,\"type\":\"summary\"}", ENTRY_SUMMARY},
        {"{\"v\":1,\"type\":\"event\"}", ENTRY_OTHER},
        {"{\"v\":2,\"type\":\"result\"}", ENTRY_BAD},
        {"{\"type\":\"result\"}", ENTRY_BAD},
        {"{\"name\":\"x\"}", ENTRY_BAD},
        {"{\"v\":1,\"type\":\"result\"", ENTRY_BAD},
        {"name,n", ENTRY_BAD},
        {"", ENTRY_BAD},
    };
    entry_reader r = {.room = NULL};
    entry e;

    EACH_ROW(i, rows)
        CHECK_EQ((int)read_line(&r, rows[i].line, &e), (int)rows[i].kind);
    entry_reader_free(&r);
}

/* The minute of the line before is known; others are computed. */
TEST(entry_reads_stamps_of_any_minute)
{
    static const struct {
        const char *stamp;
        int64_t wall;
    } rows[] = {
        {"1970-01-01T00:00:59.999999Z", 59999999000},
        {"1970-01-01T00:00:01Z", SEINE_SECS(1)},
        {"1970-01-01T00:01:00.000000Z", SEINE_SECS(60)},
        {"1970-01-01T00:00:30.25Z", SEINE_MS(30250)},
        {"1970-01-01T01:00:30.25+01:00", SEINE_MS(30250)},
        {"yesterday, when it was nice", 0},
    };
    entry_reader r = {.room = NULL};
    char line[128];
    entry e;

    EACH_ROW(i, rows) {
        snprintf(line, sizeof line, "{\"v\":1,\"type\":\"result\",\"ts\":\"%s\"}",
                 rows[i].stamp);
        read_line(&r, line, &e);
        CHECK_EQ(e.wall, rows[i].wall);
    }
    entry_reader_free(&r);
}

TEST(entry_of_a_record_is_that_of_its_line)
{
    seine_fault fault = SEINE_FAULT;
    char line[4096];
    entry_reader reader = {.room = NULL};
    entry got, want;

    fault.code = SEINE_E_CONNECT_REFUSED;
    seine_record r = {.wall = SEINE_MS(61500),
                      .url = {"http://e.example/a", 18},
                      .host = {"e.example", 9},
                      .fate = SEINE_FATE_NETWORK_ERROR,
                      .fault = &fault,
                      .message = {"refused", 7},
                      .hint = {"later", 5},
                      .attempts = 1,
                      .content_length = -1,
                      .queue = SEINE_MS(1),
                      .connect = SEINE_MS(4),
                      .total = SEINE_MS(6)};
    size_t n = seine_record_json(&r, 1, NULL, SEINE_BODY_NONE, line, sizeof line);
    CHECK_EQ((int)entry_read(&reader, (seine_view){line, n}, &want), (int)ENTRY_RESULT);
    entry_of_record(&r, &got);
    CHECK_EQ(got.wall, want.wall);
    CHECK_STR(entry_failure(&got).text, "connect_refused");
    CHECK_STR(entry_failure(&got).text, entry_failure(&want).text);
    CHECK_EQ(got.attempts, want.attempts);
    CHECK_EQ(entry_latency(&got), entry_latency(&want));
    CHECK_EQ(got.spans[SPAN_TOTAL], want.spans[SPAN_TOTAL]);
    CHECK_EQ((int)got.fate, (int)want.fate);
    check_view(want.hint, "later");
    check_view(got.host, "e.example");
    entry_reader_free(&reader);
}
