/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "check.h"
#include "seine/plumbing.h"
#include "store/record_hold.h"

#define VIEW(text) ((seine_view){text, sizeof(text "") - 1})

static char buf[65536];

static const char *
json(const seine_record *r, uint64_t seq, const char *fields, seine_body_form body)
{
    seine_members chosen = {0};

    if (fields)
        CHECK_EQ(seine_members_parse(fields, &chosen, NULL), SEINE_OK);
    size_t n = seine_record_json(r, seq, &chosen, body, buf, sizeof buf - 1);
    CHECK(n < sizeof buf);
    buf[n] = '\0';
    return buf;
}

static const char *
csv(const seine_record *r, const char *fields, unsigned how)
{
    seine_members chosen = {0};

    if (fields)
        CHECK_EQ(seine_members_parse(fields, &chosen, NULL), SEINE_OK);
    size_t n = seine_record_csv(r, 7, &chosen, how, buf, sizeof buf - 1);
    CHECK(n < sizeof buf);
    buf[n] = '\0';
    return buf;
}

static const seine_fault none = SEINE_FAULT;

/* 2026-11-15T19:20:06.000100Z by date -u +%s */
#define WALL (INT64_C(1794770406) * 1000000000 + 100000)

static seine_record
plain(void)
{
    return (seine_record){.wall = WALL,
                          .url = VIEW("http://e.example/"),
                          .fault = &none,
                          .content_length = -1};
}

/* The second example of the specification, byte by byte. */
TEST(record_of_a_timeout_is_the_line_of_the_specification)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = plain();

    fault.code = SEINE_E_HEADER_TIMEOUT;
    fault.phase = SEINE_PHASE_HEAD;
    fault.timeout_ms = 5000;
    r.input = r.url = r.key = VIEW("https://slow.example/");
    r.line = 7;
    r.method = VIEW("GET");
    r.host = VIEW("slow.example");
    r.fate = SEINE_FATE_TIMEOUT;
    r.fault = &fault;
    r.message = VIEW("no answer within 5 s");
    r.hint = VIEW("raise --head-timeout or lower --per-host");
    r.retryable = true;
    r.attempts = 1;
    r.queue = SEINE_US(200);
    r.dns = SEINE_US(900);
    r.connect = SEINE_MS(11);
    r.tls = SEINE_US(24800);
    r.ttfb = SEINE_US(5000300);
    r.total = SEINE_MS(5037);
    CHECK_STR(
        json(&r, 43, NULL, SEINE_BODY_NONE),
        "{\"v\":1,\"type\":\"result\",\"seq\":43,\"ts\":\"2026-11-15T19:20:06.000100Z\","
        "\"input\":\"https://slow.example/\",\"line\":7,\"url\":\"https://slow.example/"
        "\","
        "\"key\":\"https://slow.example/\",\"method\":\"GET\",\"host\":\"slow.example\","
        "\"outcome\":\"timeout\",\"ok\":false,\"error\":{\"kind\":\"header_timeout\","
        "\"message\":\"no answer within 5 "
        "s\",\"phase\":\"head\",\"retryable\":true,\"hint\":"
        "\"raise --head-timeout or lower "
        "--per-host\",\"timeout_ms\":5000},\"attempts\":1,"
        "\"time\":{\"queue\":0.2,\"throttle\":0,\"backoff\":0,\"dns\":0.9,\"connect\":11."
        "0,"
        "\"tls\":24.8,\"ttfb\":5000.3,\"body\":0,\"total\":5037.0}}\n");
}

/* The first example, without the members that are of crawls and jobs. */
TEST(record_of_a_page_is_the_line_of_the_specification)
{
    seine_record_try tries[] = {{.wall = WALL - INT64_C(6100100) * 1000,
                                 .n = 1,
                                 .status = 503,
                                 .err = SEINE_E_HTTP_BUSY,
                                 .took = SEINE_US(21300),
                                 .wait = SEINE_SECS(1),
                                 .wait_reason = SEINE_WAIT_RETRY_AFTER},
                                {.wall = WALL - INT64_C(4919244) * 1000,
                                 .n = 2,
                                 .status = 200,
                                 .took = SEINE_US(42600),
                                 .wait = -1}};
    seine_record r = plain();

    r.wall = WALL - INT64_C(4876644) * 1000;
    r.input = VIEW("/a");
    r.url = r.key = r.final_url = VIEW("https://e.example/a");
    r.method = VIEW("GET");
    r.host = VIEW("e.example");
    r.ip = VIEW("203.0.113.5");
    r.http = 11;
    r.status = 200;
    r.attempts = 2;
    r.tries = tries;
    r.n_tries = 2;
    r.content_type = VIEW("text/html");
    r.charset = VIEW("utf-8");
    r.bytes_in = 4120;
    r.bytes_body = 15988;
    r.queue = SEINE_US(3100);
    r.throttle = SEINE_MS(812);
    r.backoff = SEINE_SECS(1);
    r.ttfb = SEINE_US(38200);
    r.body_time = SEINE_US(4400);
    r.total = SEINE_US(1879000); /* all of it: the waits and both attempts */
    CHECK_EQ(seine_record_latency(&r), SEINE_US(42600));
    r.title = VIEW("A");
    r.secure = (seine_tls_facts){13, true, 1801440000};
    CHECK_STR(
        json(&r, 42, NULL, SEINE_BODY_NONE),
        "{\"v\":1,\"type\":\"result\",\"seq\":42,\"ts\":\"2026-11-15T19:20:01.123456Z\","
        "\"input\":\"/a\",\"url\":\"https://e.example/a\",\"key\":\"https://e.example/"
        "a\","
        "\"final_url\":\"https://e.example/"
        "a\",\"method\":\"GET\",\"host\":\"e.example\",\"ip\":"
        "\"203.0.113.5\",\"http\":\"1.1\",\"outcome\":\"ok\",\"ok\":true,\"status\":200,"
        "\"attempts\":2,\"tries\":[{\"n\":1,\"ts\":\"2026-11-15T19:19:59.900000Z\","
        "\"status\":503,\"ms\":21.3,\"wait_ms\":1000.0,\"wait_reason\":"
        "\"retry_after\"},{\"n\":2,\"ts\":\"2026-11-15T19:20:01.080856Z\","
        "\"status\":200,\"ms\":42.6}],"
        "\"content_type\":\"text/"
        "html\",\"charset\":\"utf-8\",\"bytes_in\":4120,\"bytes_body\":15988,"
        "\"time\":{\"queue\":3.1,\"throttle\":812.0,\"backoff\":1000.0,\"dns\":0,"
        "\"connect\":0,\"tls\":0,\"ttfb\":38.2,\"body\":4.4,\"total\":1879.0},\"tls\":{"
        "\"version\":\"1.3\",\"verified\":true,\"not_after\":\"2027-02-01T00:00:00Z\"},"
        "\"title\":"
        "\"A\"}"
        "\n");
}

TEST(record_of_a_skip_is_the_line_of_the_specification)
{
    seine_record r = {.type = SEINE_RECORD_SKIP,
                      .wall = WALL - INT64_C(4000100) * 1000,
                      .url = VIEW("https://e.example/cgi/x"),
                      .key = VIEW("https://e.example/cgi/x"),
                      .reason = SEINE_SKIP_ROBOTS,
                      .rule = VIEW("robots.txt:14 Disallow: /cgi")};

    CHECK_STR(
        json(&r, 311, "status", SEINE_BODY_NONE), /* a skip is whole whatever is chosen */
        "{\"v\":1,\"type\":\"skip\",\"seq\":311,\"ts\":\"2026-11-15T19:20:02.000000Z\","
        "\"url\":\"https://e.example/cgi/x\",\"key\":\"https://e.example/cgi/x\","
        "\"reason\":\"robots\",\"rule\":\"robots.txt:14 Disallow: /cgi\"}\n");
    r = (seine_record){.type = SEINE_RECORD_SKIP,
                       .wall = 0,
                       .url = VIEW("{x"),
                       .input = VIEW("{x"),
                       .line = 3,
                       .id = VIEW("i"),
                       .tags = VIEW("{\"t\":1}"),
                       .reason = SEINE_SKIP_BAD_INPUT};
    CHECK_STR(
        json(&r, 1, NULL, SEINE_BODY_NONE),
        "{\"v\":1,\"type\":\"skip\",\"seq\":1,\"ts\":\"1970-01-01T00:00:00.000000Z\","
        "\"url\":\"{x\",\"input\":\"{x\",\"line\":3,\"id\":\"i\",\"tags\":{\"t\":1},"
        "\"reason\":\"bad_input\"}\n");
}

/* Both examples whole, but for the job. */
TEST(record_of_a_crawl_says_where_it_was_found)
{
    seine_record r = plain();

    r.is_crawled = r.has_links = true;
    r.depth = 1;
    r.parent = VIEW("https://e.example/");
    r.via = (seine_found){VIEW("a"), VIEW("href"), VIEW("A page"), 40};
    r.charset = VIEW("utf-8");
    r.charset_from = "header";
    r.title = VIEW("A");
    r.n_links = 45;
    CHECK_STR(json(&r, 42, "-v,-type,-seq,-ts,-url,-time,-ok,-attempts", SEINE_BODY_NONE),
              "{\"depth\":1,\"parent\":\"https://e.example/\",\"via\":{\"tag\":\"a\","
              "\"attr\":\"href\",\"text\":\"A page\",\"line\":40},\"outcome\":\"ok\","
              "\"charset\":\"utf-8\",\"charset_from\":\"header\",\"title\":\"A\","
              "\"links\":45}\n");
    r = plain();
    r.charset_errors = 3;
    r.extract = SEINE_E_BAD_CHARSET;
    r.via = (seine_found){.tag = VIEW("loc")};
    CHECK_STR(json(&r, 42, "depth,parent,via,charset_errors,extract", SEINE_BODY_NONE),
              "{\"via\":{\"tag\":\"loc\"},\"charset_errors\":3,"
              "\"extract\":{\"error\":{\"kind\":\"bad_charset\"}}}\n");
    r = (seine_record){.type = SEINE_RECORD_SKIP,
                       .wall = WALL - INT64_C(4000100) * 1000,
                       .url = VIEW("https://e.example/cgi/x"),
                       .key = VIEW("https://e.example/cgi/x"),
                       .is_crawled = true,
                       .parent = VIEW("https://e.example/"),
                       .depth = 1,
                       .reason = SEINE_SKIP_ROBOTS,
                       .rule = VIEW("robots.txt:14 Disallow: /cgi")};
    CHECK_STR(
        json(&r, 311, NULL, SEINE_BODY_NONE),
        "{\"v\":1,\"type\":\"skip\",\"seq\":311,\"ts\":\"2026-11-15T19:20:02.000000Z\","
        "\"url\":\"https://e.example/cgi/x\",\"key\":\"https://e.example/cgi/x\","
        "\"parent\":\"https://e.example/\",\"depth\":1,"
        "\"reason\":\"robots\",\"rule\":\"robots.txt:14 Disallow: /cgi\"}\n");
}

TEST(record_members_that_are_rare_stand_in_their_place)
{
    seine_hop hops[] = {{VIEW("http://a.example/"), 301},
                        {VIEW("http://b.example/"), 302}};
    seine_record_try tries[] = {
        {0, 1, 200, SEINE_E_BODY_TRUNCATED, SEINE_MS(3), 0, SEINE_WAIT_BACKOFF},
        {0, 2, 0, SEINE_E_CONN_RESET, 0, SEINE_MS(5), SEINE_WAIT_BREAKER},
        {0, 3, 404, SEINE_E_HTTP, SEINE_MS(4), SEINE_MS(5), SEINE_WAIT_RATE_LIMIT},
    };
    const char *notes[] = {"lf", "extra_bytes"};
    seine_fault fault = SEINE_FAULT;
    seine_record r = plain();

    fault.code = SEINE_E_BREAKER;
    r.fate = SEINE_FATE_GAVE_UP;
    r.fault = &fault;
    r.id = VIEW("");
    r.tags = VIEW("{ \"a\" : [1, \"\xe2\x80\xa8\"] }");
    r.hops = hops;
    r.n_hops = 2;
    r.http = 20;
    r.attempts = 4;
    r.tries = tries;
    r.n_tries = 3;
    r.content_length = 0;
    r.partial = true;
    r.notes = notes;
    r.n_notes = 2;
    CHECK_STR(
        json(&r, 0,
             "id,tags,redirects,http,error,tries,content_length,bytes_in,partial,notes",
             SEINE_BODY_NONE),
        "{\"id\":\"\",\"tags\":{\"a\":[1,\"\\u2028\"]},\"redirects\":[{\"url\":"
        "\"http://a.example/\",\"status\":301},{\"url\":\"http://b.example/\",\"status\":"
        "302}],\"http\":\"2\",\"error\":{\"kind\":\"breaker\",\"message\":"
        "\"circuit breaker is open\",\"phase\":\"queue\",\"retryable\":false},"
        "\"tries\":[{\"n\":1,\"ts\":\"1970-01-01T00:00:00.000000Z\",\"status\":200,"
        "\"error\":{\"kind\":\"body_truncated\"},\"ms\":3.0,\"wait_ms\":0,\"wait_"
        "reason\":"
        "\"backoff\"},"
        "{\"n\":2,\"ts\":\"1970-01-01T00:00:00.000000Z\",\"error\":{\"kind\":"
        "\"conn_reset\"},\"ms\":0,\"wait_ms\":5.0,\"wait_reason\":\"breaker\"},{\"n\":3,"
        "\"ts\":"
        "\"1970-01-01T00:00:00.000000Z\",\"status\":404,\"ms\":4.0,\"wait_ms\":5.0,"
        "\"wait_reason\":"
        "\"rate_limit\"}],\"content_length\":0,\"bytes_in\":0,\"partial\":true,\"notes\":"
        "[\"lf\",\"extra_bytes\"]}\n");
    r.http = 10;
    CHECK_STR(json(&r, 0, "http", SEINE_BODY_NONE), "{\"http\":\"1.0\"}\n");
    r.tags = VIEW("{\"not\":");
    CHECK_STR(json(&r, 0, "tags,url", SEINE_BODY_NONE),
              "{\"url\":\"http://e.example/\"}\n");
}

TEST(record_headers_are_lower_case_and_gathered_by_name)
{
    seine_field fields[] = {
        {VIEW("Set-Cookie"), VIEW("a=1")},
        {VIEW("X-\"Odd\xff"), VIEW("\x01")},
        {VIEW("set-cookie"), VIEW("b=2")},
        {VIEW("SET-COOKIE"), VIEW("")},
    };
    seine_record r = plain();

    r.fields = fields;
    CHECK_STR(json(&r, 0, "headers", SEINE_BODY_NONE), "{\"headers\":{}}\n");
    r.n_fields = 4;
    CHECK_STR(
        json(&r, 0, "headers", SEINE_BODY_NONE),
        "{\"headers\":{\"set-cookie\":[\"a=1\",\"b=2\",\"\"],\"x-\\\"odd\xef\xbf\xbd\":"
        "[\"\\u0001\"]}}\n");
    r.fields = NULL;
    r.n_fields = 0;
    CHECK_STR(json(&r, 0, "headers", SEINE_BODY_NONE), "{}\n");
    CHECK(!strstr(json(&r, 0, NULL, SEINE_BODY_NONE), "headers"));
}

TEST(record_body_is_text_or_base64_as_asked)
{
    uint8_t digest[32] = {0xab, 1};
    seine_record r = plain();

    r.body = VIEW("h\xc3\xa9\xff\0\n");
    r.sha256 = digest;
    CHECK_STR(json(&r, 0, "url,body,body_b64", SEINE_BODY_NONE),
              "{\"url\":\"http://e.example/\"}\n");
    CHECK_STR(json(&r, 0, "body,body_b64", SEINE_BODY_TEXT),
              "{\"body\":\"h\xc3\xa9\xef\xbf\xbd\\u0000\\n\"}\n");
    CHECK_STR(json(&r, 0, "body,body_b64", SEINE_BODY_B64),
              "{\"body_b64\":\"aMOp/wAK\"}\n"); /* base64 of 68 c3 a9 ff 00 0a */
    r.body = (seine_view){"", 0};
    CHECK_STR(json(&r, 0, "+body", SEINE_BODY_B64) + strlen(buf) - 16,
              ",\"body_b64\":\"\"}\n");
    r.body = (seine_view){NULL, 0};
    CHECK(!strstr(json(&r, 0, NULL, SEINE_BODY_TEXT), "\"body\":\""));
    CHECK_STR(
        json(&r, 0, "sha256", SEINE_BODY_NONE),
        "{\"sha256\":\"ab010000000000000000000000000000000000000000000000000000000000"
        "00\"}\n");
}

TEST(record_tells_how_it_was_secured_and_where_its_bytes_are)
{
    seine_record r = plain();

    r.secure = (seine_tls_facts){12, false, INT64_MIN};
    r.warc = (seine_warc_place){VIEW("x.warc.gz"), 412, 99, VIEW("<urn:uuid:1>")};
    r.body_file = VIEW("ab/cd.html");
    r.body = VIEW("B");
    CHECK_STR(json(&r, 1, "tls", SEINE_BODY_NONE),
              "{\"tls\":{\"version\":\"1.2\",\"verified\":false}}\n");
    CHECK_STR(json(&r, 1, "warc", SEINE_BODY_NONE),
              "{\"warc\":{\"file\":\"x.warc.gz\",\"offset\":412,\"length\":99,"
              "\"id\":\"<urn:uuid:1>\"}}\n");
    CHECK_STR(json(&r, 1, "body_file", SEINE_BODY_FILE),
              "{\"body_file\":\"ab/cd.html\"}\n");
    CHECK_STR(json(&r, 1, "body_file,body", SEINE_BODY_TEXT), "{\"body\":\"B\"}\n");
    CHECK_STR(json(&r, 1, "-warc,-body_file,-tls,-time", SEINE_BODY_NONE),
              "{\"v\":1,\"type\":\"result\",\"seq\":1,\"ts\":"
              "\"2026-11-15T19:20:06.000100Z\",\"url\":\"http://e.example/\","
              "\"outcome\":\"ok\",\"ok\":true,\"attempts\":0}\n");
    r.secure.not_after = INT64_C(253402300799); /* never, as certificates say it */
    CHECK_STR(json(&r, 1, "tls", SEINE_BODY_NONE),
              "{\"tls\":{\"version\":\"1.2\",\"verified\":false,"
              "\"not_after\":\"9999-12-31T23:59:59Z\"}}\n");
    r.secure.not_after = INT64_MAX;
    CHECK(strstr(json(&r, 1, "tls", SEINE_BODY_NONE), "\"9999-12-31T23:59:59Z\""));
    r.secure.not_after = -1;
    CHECK(strstr(json(&r, 1, "tls", SEINE_BODY_NONE), "\"1969-12-31T23:59:59Z\""));
    r.secure.not_after = INT64_MIN + 1;
    CHECK(strstr(json(&r, 1, "tls", SEINE_BODY_NONE), "\"0001-01-01T00:00:00Z\""));
}

TEST(record_fields_are_chosen_or_changed)
{
    static const struct {
        const char *list;
        const char *bad; /* NULL: it is fine */
    } rows[] = {
        {"url,status", NULL},
        {" url , status ", NULL},
        {"+headers,-key", NULL},
        {" +headers , +sha256", NULL},
        {"url,url", NULL},
        {"", ""},
        {"url,", ""},
        {",url", ""},
        {"url,,status", ""},
        {"url,colour", "colour"},
        {"URL", "URL"},
        {"+", "+"},
        {"+headers,key", "key"},
        {"url,+headers", "+headers"},
        {"+headers,-colour,x", "-colour"},
        {"time.total", "time.total"},
    };

    EACH_ROW(i, rows) {
        seine_members f = {42};
        seine_view bad = {NULL, 0};
        seine_err e = seine_members_parse(rows[i].list, &f, &bad);

        CHECK_EQ(e, rows[i].bad ? SEINE_E_INVAL : SEINE_OK);
        if (!rows[i].bad)
            continue;
        CHECK_EQ(f.bits, 42);
        CHECK_EQ(bad.len, strlen(rows[i].bad));
        CHECK(bad.len == 0 || memcmp(bad.ptr, rows[i].bad, bad.len) == 0);
    }

    seine_record r = plain();
    CHECK_STR(json(&r, 3, "seq,v,type", SEINE_BODY_NONE), /* in the order of the schema */
              "{\"v\":1,\"type\":\"result\",\"seq\":3}\n");
    CHECK_STR(json(&r, 3, "title", SEINE_BODY_NONE), "{}\n"); /* there is none */
    r.title = VIEW("T");
    CHECK_STR(json(&r, 3, "-v,-type,-seq,-ts,-url,-outcome,-ok,-attempts,-time,-title",
                   SEINE_BODY_NONE),
              "{}\n");
}

/* All words are members of the schema, and the standard set is what is not on request. */
TEST(record_standard_set_is_everything_but_what_is_on_request)
{
    seine_members all, standard;

    CHECK_EQ(
        seine_members_parse(
            "+headers,+sha256,+lang,+canonical,+meta_robots,+links,+change", &all, NULL),
        SEINE_OK);
    CHECK_EQ(seine_members_parse("-headers", &standard, NULL), SEINE_OK);
    CHECK_EQ(standard.bits & ~SN_MEMBER_CHOSEN, sn_members_of(NULL));
    CHECK_EQ(all.bits & ~SN_MEMBER_CHOSEN, (UINT64_C(1) << SN_MEMBER_COUNT) - 1);
    CHECK_EQ(all.bits ^ standard.bits, SN_MEMBERS_CRAWL | SN_MEMBER(HEADERS) |
                                           SN_MEMBER(SHA256) | SN_MEMBER(CHANGE));
}

/* Members that a crawl writes by default can be requested elsewhere, and removed. */
TEST(record_of_a_crawl_tells_more_unless_it_is_put_away)
{
    static const struct {
        bool crawled;
        const char *fields, *want;
    } rows[] = {
        {true, NULL,
         "\"lang\":\"de\",\"canonical\":\"http://c/"
         "\",\"meta_robots\":\"none\",\"links\":0"},
        {true, "+headers",
         "\"lang\":\"de\",\"canonical\":\"http://c/"
         "\",\"meta_robots\":\"none\",\"links\":0"},
        {true, "-lang,-links", "\"canonical\":\"http://c/\",\"meta_robots\":\"none\""},
        {true, "-canonical,-meta_robots,-lang,+lang", "\"lang\":\"de\",\"links\":0"},
        {true, "links", "\"links\":0"}, /* exactly these */
        {true, "url", ""},
        {false, NULL, ""},
        {false, "+links", "\"links\":0"},
        {false, "-title", ""},
        {false, "lang,canonical", "\"lang\":\"de\",\"canonical\":\"http://c/\""},
    };

    EACH_ROW(i, rows) {
        seine_record r = plain();
        char want[256];

        r.is_crawled = rows[i].crawled;
        r.has_links = true;
        r.lang = VIEW("de");
        r.canonical = VIEW("http://c/");
        r.meta_robots = VIEW("none");
        const char *line = json(&r, 1, rows[i].fields, SEINE_BODY_NONE);
        const char *from = strstr(line, "\"lang");
        if (!from)
            from = strstr(line, "\"canon");
        if (!from)
            from = strstr(line, "\"links");
        snprintf(want, sizeof want, "%s%s", rows[i].want, from ? "}\n" : "");
        CHECK_STR(from ? from : "", want);
    }
}

TEST(record_row_of_csv_has_the_columns_of_the_specification)
{
    seine_fault fault = SEINE_FAULT;
    uint8_t digest[32] = {1};
    seine_record r = plain();

    CHECK_STR(
        csv(NULL, NULL, 0),
        "seq,ts,input,url,final_url,outcome,status,attempts,content_type,content_length,"
        "bytes_body,time_ms,title,error_kind,error_message\n");
    r.input = VIEW("in,put");
    r.final_url = VIEW("http://f.example/");
    r.status = 200;
    r.http = 11;
    r.attempts = 1;
    r.content_type = VIEW("text/html");
    r.content_length = 12;
    r.bytes_body = 34;
    r.total = SEINE_US(42600);
    r.title = VIEW("=T");
    CHECK_STR(
        csv(&r, NULL, 0),
        "7,2026-11-15T19:20:06.000100Z,\"in,put\",http://e.example/,http://f.example/,"
        "ok,200,1,text/html,12,34,42.6,'=T,,\n");
    CHECK_STR(
        csv(&r, NULL, SEINE_CSV_RAW | SEINE_CSV_CRLF),
        "7,2026-11-15T19:20:06.000100Z,\"in,put\",http://e.example/,http://f.example/,"
        "ok,200,1,text/html,12,34,42.6,=T,,\r\n");

    r = plain();
    fault.code = SEINE_E_CONNECT_REFUSED;
    r.fate = SEINE_FATE_NETWORK_ERROR;
    r.fault = &fault;
    r.message = VIEW("no, \"thanks\"");
    CHECK_STR(csv(&r, NULL, 0), "7,2026-11-15T19:20:06.000100Z,,http://e.example/,,"
                                "network_error,,0,,,,0,,connect_refused,"
                                "\"no, \"\"thanks\"\"\"\n");
    r.message = (seine_view){NULL, 0};
    r.sha256 = digest;
    CHECK_STR(csv(&r, "+sha256,+headers", 0),
              "7,2026-11-15T19:20:06.000100Z,,http://e.example/,,network_error,,0,,,,0,,"
              "connect_refused,connection refused,"
              "0100000000000000000000000000000000000000000000000000000000000000\n");
    CHECK(strstr(csv(NULL, "+sha256,+headers", SEINE_CSV_CRLF),
                 ",error_message,sha256\r\n"));

    r = (seine_record){.type = SEINE_RECORD_SKIP,
                       .url = VIEW("x:y"),
                       .input = VIEW("x:y"),
                       .reason = SEINE_SKIP_SCHEME,
                       .rule = VIEW("x, not http")};
    CHECK_STR(csv(&r, "+sha256", 0), "7,1970-01-01T00:00:00.000000Z,x:y,x:y,,skip,,,,,,,,"
                                     "scheme,\"x, not http\",\n");
}

TEST(record_rows_have_as_many_cells_as_columns)
{
    seine_record r = plain();
    size_t commas[3] = {0};

    for (int i = 0; i < 3; i++) {
        r.type = i == 2 ? SEINE_RECORD_SKIP : SEINE_RECORD_RESULT;
        for (const char *p = csv(i == 0 ? NULL : &r, "+sha256", 0); *p; p++)
            commas[i] += *p == ',';
    }
    CHECK_EQ(commas[0], 15);
    CHECK_EQ(commas[1], commas[0]);
    CHECK_EQ(commas[2], commas[0]);
}

/* The table of outcomes and kinds of the specification. */
TEST(record_row_of_csv_has_what_pages_say_when_it_is_asked_for)
{
    seine_record r = plain();

    r.is_crawled = r.has_links = true;
    r.n_links = 3;
    r.lang = VIEW("de");
    r.canonical = VIEW("=c");
    CHECK(strstr(csv(NULL, "+links,+lang,+canonical,+meta_robots,+sha256", 0),
                 "error_message,lang,canonical,meta_robots,links,sha256\n"));
    CHECK(strstr(csv(&r, "+links,+lang,+canonical,+meta_robots,+sha256", 0),
                 ",,de,'=c,,3,\n"));
    CHECK(strstr(csv(NULL, NULL, 0), "error_message\n"));
    r.type = SEINE_RECORD_SKIP;
    r.has_links = false;
    r.lang = r.canonical = (seine_view){0};
    CHECK(strstr(csv(&r, "+links,+lang", 0), "offsite,,,\n"));
}

TEST(record_fate_follows_from_the_kind)
{
    static const struct {
        const char *fate, *kinds;
    } rows[] = {
        {"ok", "ok"},
        {"http_error", "http http_busy"},
        {"network_error",
         "dns_nxdomain dns_servfail dns_error dns_bad_name connect_refused "
         "connect_unreachable conn_reset conn_stale tls_error tls_cert_expired "
         "tls_host_mismatch tls_untrusted proxy_error proxy_refused proxy_auth h2_error "
         "h2_stream"},
        {"timeout", "dns_timeout connect_timeout tls_timeout send_timeout header_timeout "
                    "stalled timeout"},
        {"bad_response",
         "header_truncated body_truncated bad_status_line bad_header bad_framing "
         "header_too_large too_many_interim body_too_large bad_encoding unexpected_304 "
         "unexpected_206 too_many_redirects bad_redirect"},
        {"blocked", "blocked_address blocked_scheme blocked_port out_of_scope "
                    "redirect_refused robots robots_unreachable"},
        {"gave_up",
         "breaker budget nomem limited busy full retry_after_too_long no_files "
         "no_ports"},
        {"canceled", "canceled deadline"},
    };

    EACH_ROW(i, rows) {
        sn_str rest = sn_str_of(rows[i].kinds), word;

        while (sn_str_next(&rest, ' ', &word)) {
            bool found = false;

            for (int e = 0; e < SN_ERR_COUNT; e++)
                if (sn_str_eq(word, sn_str_of(seine_err_name((seine_err)e)))) {
                    CHECK_STR(seine_fate_name(seine_fate_of((seine_err)e)), rows[i].fate);
                    found = true;
                }
            CHECK(found || i == 0);
        }
    }
    CHECK_EQ(seine_fate_of(SEINE_OK), SEINE_FATE_OK);
}

TEST(record_names_beyond_the_lists_are_unknown)
{
    CHECK_STR(seine_fate_name((seine_fate)SN_FATE_COUNT), "unknown");
    CHECK_STR(seine_wait_name((seine_wait)SN_WAIT_COUNT), "unknown");
    CHECK_STR(seine_skip_name((seine_skip)-1), "unknown");
    CHECK_STR(seine_wait_name((seine_wait)99), "unknown");
    CHECK_STR(seine_fate_name(SEINE_FATE_EXEC_FAILED), "exec_failed");
    CHECK_STR(seine_skip_name(SEINE_SKIP_ROBOTS_UNREACHABLE), "robots_unreachable");
    CHECK_STR(seine_wait_name(SEINE_WAIT_HOST_RATE), "host_rate");
}

TEST(record_that_does_not_fit_is_cut_and_its_length_told)
{
    seine_record r = plain();
    char whole[1024], part[1024];
    size_t n = seine_record_json(&r, 1, NULL, SEINE_BODY_NONE, whole, sizeof whole);
    size_t rows = seine_record_csv(&r, 1, NULL, 0, part, sizeof part);

    CHECK_EQ(seine_record_json(&r, 1, NULL, SEINE_BODY_NONE, NULL, 0), n);
    CHECK_EQ(seine_record_csv(&r, 1, NULL, 0, NULL, 0), rows);
    for (size_t cap = 0; cap <= n; cap++) {
        memset(part, '#', sizeof part);
        CHECK_EQ(seine_record_json(&r, 1, NULL, SEINE_BODY_NONE, part, cap), n);
        CHECK(memcmp(part, whole, cap) == 0);
        CHECK_EQ(part[cap], '#');
    }
}

static seine_view
some(sn_rng *rng, char *mem, size_t cap)
{
    size_t n = sn_rng_below(rng, cap);

    for (size_t i = 0; i < n; i++)
        mem[i] = (char)(sn_rng_below(rng, 4) ? 'a' + i % 26 : sn_rng_next(rng) & 255);
    return sn_rng_below(rng, 4) ? (seine_view){mem, n} : (seine_view){NULL, 0};
}

/* Copies everything, then writes over the originals: the copy still says the same. */
TEST(record_copy_stands_alone)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 300; round++) {
        static char mem[36][64], wire[64];
        static char before[65536], after[65536];
        seine_fault fault = SEINE_FAULT;
        char *note_texts[] = {mem[20], mem[21]};
        seine_hop hops[2] = {{some(&rng, mem[0], 64), 301},
                             {some(&rng, mem[1], 64), 302}};
        seine_record_try tries[2] = {
            {1, 1, 500, SEINE_E_HTTP_BUSY, 3, 5, SEINE_WAIT_BACKOFF},
            {2, 2, 0, SEINE_E_CONN_RESET, 4, 6, SEINE_WAIT_BREAKER}};
        seine_field fields[2] = {{some(&rng, mem[2], 64), some(&rng, mem[3], 64)},
                                 {some(&rng, mem[4], 64), some(&rng, mem[5], 64)}};
        uint8_t digest[32];
        seine_capture captures[2] = {{.url = some(&rng, mem[22], 64),
                                      .wall = 1,
                                      .ip = VIEW("::1"),
                                      .request = some(&rng, mem[23], 64),
                                      .response = some(&rng, mem[24], 64),
                                      .head_len = 7,
                                      .cut = SEINE_CUT_TIME},
                                     {.url = some(&rng, mem[25], 64)}};
        seine_view said;
        seine_record r = plain();

        memcpy(mem[20], "lf", 3);
        memcpy(mem[21], "cr", 3);
        memset(digest, (int)round, sizeof digest);
        fault.code = SEINE_E_STALLED;
        r.input = some(&rng, mem[6], 64);
        r.id = some(&rng, mem[7], 64);
        r.tags = VIEW("{\"x\":1}");
        r.url = some(&rng, mem[8], 64);
        r.key = some(&rng, mem[9], 64);
        r.final_url = some(&rng, mem[10], 64);
        r.method = some(&rng, mem[11], 64);
        r.host = some(&rng, mem[12], 64);
        r.ip = some(&rng, mem[13], 64);
        r.message = some(&rng, mem[14], 64);
        r.hint = some(&rng, mem[15], 64);
        r.content_type = some(&rng, mem[16], 64);
        r.charset = some(&rng, mem[17], 64);
        r.title = some(&rng, mem[18], 64);
        r.body = some(&rng, mem[19], 64);
        r.hops = hops;
        r.n_hops = sn_rng_below(&rng, 3);
        r.tries = tries;
        r.n_tries = sn_rng_below(&rng, 3);
        r.fields = sn_rng_below(&rng, 2) ? fields : NULL;
        r.n_fields = r.fields ? sn_rng_below(&rng, 3) : 0;
        r.notes = (const char *const *)note_texts;
        r.n_notes = sn_rng_below(&rng, 3);
        r.sha256 = sn_rng_below(&rng, 2) ? digest : NULL;
        r.captures = sn_rng_below(&rng, 2) ? captures : NULL;
        r.n_captures = 2;
        r.secure = (seine_tls_facts){12, false, INT64_MIN};
        r.warc =
            (seine_warc_place){some(&rng, mem[26], 64), 7, 8, some(&rng, mem[27], 64)};
        r.body_file = some(&rng, mem[28], 64);
        r.parent = some(&rng, mem[29], 64);
        r.via = (seine_found){some(&rng, mem[30], 64), some(&rng, mem[31], 64),
                              some(&rng, mem[32], 64), 9};
        r.lang = some(&rng, mem[33], 64);
        r.canonical = some(&rng, mem[34], 64);
        r.meta_robots = some(&rng, mem[35], 64);
        said = captures[0].response;
        memcpy(wire, said.ptr ? said.ptr : "", said.len);
        if (sn_rng_below(&rng, 2)) {
            r.fate = SEINE_FATE_TIMEOUT;
            r.fault = &fault;
        } else if (sn_rng_below(&rng, 2)) {
            r.fault = NULL;
        }

        if (sn_rng_below(&rng, 2))
            r.url = r.input;
        if (sn_rng_below(&rng, 2))
            r.key = r.url;
        if (sn_rng_below(&rng, 2))
            r.final_url = r.url;

        size_t room = sn_record_room(&r);
        char *block = malloc(room);
        seine_record *c = sn_record_copy(&r, block);
        seine_members all = {UINT64_MAX};
        size_t n = seine_record_json(&r, 1, &all, SEINE_BODY_B64, before, sizeof before);

        memset(mem, '!', sizeof mem);
        memset(captures, 0, sizeof captures);
        memset(hops, 0, sizeof hops);
        memset(tries, 0, sizeof tries);
        memset(fields, 0, sizeof fields);
        memset(digest, 0, sizeof digest);
        memset(note_texts, 0, sizeof note_texts);
        fault = none;
        CHECK_EQ(seine_record_json(c, 1, &all, SEINE_BODY_B64, after, sizeof after), n);
        CHECK(memcmp(before, after, n) == 0);
        CHECK(c->fault != NULL);
        CHECK_EQ(c->captures != NULL, r.captures != NULL);
        if (c->captures) {
            CHECK_EQ(c->captures[0].response.len, said.len);
            CHECK(said.len == 0 ||
                  memcmp(c->captures[0].response.ptr, wire, said.len) == 0);
            CHECK_EQ(c->captures[0].cut, SEINE_CUT_TIME);
            CHECK_EQ(c->captures[0].head_len, 7);
            CHECK(memcmp(c->captures[0].ip.ptr, "::1", 3) == 0);
            CHECK(c->captures[1].response.ptr == NULL);
        }
        free(block);
    }
}

TEST(record_writes_a_text_that_members_share_like_texts_of_their_own)
{
    static const char text[] = "http://h/\"\\\n\xc3\xa9";
    char own[4][sizeof text], want[1024], got[1024];
    seine_view whole = {text, sizeof text - 1};
    seine_record one = {.input = whole, .url = whole, .key = whole, .final_url = whole};
    seine_record four = one;

    for (size_t i = 0; i < 4; i++)
        memcpy(own[i], text, sizeof text);
    four.input.ptr = own[0];
    four.url.ptr = own[1];
    four.key.ptr = own[2];
    four.final_url.ptr = own[3];
    size_t n = seine_record_json(&four, 1, NULL, SEINE_BODY_NONE, want, sizeof want);
    for (size_t cap = 0; cap <= n + 1; cap++) {
        CHECK_EQ(seine_record_json(&one, 1, NULL, SEINE_BODY_NONE, got, cap), n);
        seine_record_json(&four, 1, NULL, SEINE_BODY_NONE, want, cap);
        CHECK(memcmp(got, want, cap < n ? cap : n) == 0);
    }
}

/* What became of a page is written on request, as JSON and as a column of CSV. */
TEST(record_says_what_became_of_a_page_on_request)
{
    static const struct {
        seine_change change;
        const char *json, *csv;
    } rows[] = {{SEINE_CHANGE_NONE, "\"ok\":true,\"attempts\"", ",,,,\n"},
                {SEINE_CHANGE_NEW, "\"change\":\"new\"", ",new\n"},
                {SEINE_CHANGE_CHANGED, "\"change\":\"changed\"", ",changed\n"},
                {SEINE_CHANGE_SAME, "\"change\":\"same\"", ",same\n"},
                {SEINE_CHANGE_GONE, "\"change\":\"gone\"", ",gone\n"}};
    seine_members asked;
    char text[2048];

    CHECK_EQ(seine_members_parse("+change", &asked, NULL), SEINE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sn_record_hold hold = {.refs = 1, .change = rows[i].change};
        seine_fault fault = SEINE_FAULT;
        seine_record r = {
            .fault = &fault, .url = SN_STR("http://e.example/"), .hold = &hold};

        CHECK_EQ(seine_record_change(&r), rows[i].change);
        size_t n =
            seine_record_json(&r, 1, &asked, SEINE_BODY_NONE, text, sizeof text - 1);
        text[n] = '\0';
        CHECK(strstr(text, rows[i].json) != NULL);
        n = seine_record_csv(&r, 1, &asked, 0, text, sizeof text - 1);
        text[n] = '\0';
        CHECK(strstr(text, rows[i].csv) != NULL);
        n = seine_record_json(&r, 1, NULL, SEINE_BODY_NONE, text, sizeof text - 1);
        text[n] = '\0';
        CHECK(strstr(text, "change") == NULL);
    }
}
