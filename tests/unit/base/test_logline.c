/* SPDX-License-Identifier: Apache-2.0 */
#include "base/logline.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "check.h"

/* 2026-11-15T19:20:01.123456789Z: day 20772 since 1970, 19 h 20 min 1 s. */
#define WALL (SEINE_SECS(20772 * 86400LL + 69601) + 123456789)

static sn_record
record(const seine_log_field *fields, size_t n)
{
    return (sn_record){.level = SEINE_LOG_WARN,
                       .event = "breaker.open",
                       .message = "breaker opened",
                       .fields = fields,
                       .n = n,
                       .wall = WALL,
                       .service = "seine",
                       .version = "",
                       .thread = "sn-shard-0",
                       .thread_id = 7};
}

static const char *
line_of(seine_log_format f, const sn_record *r, uint64_t repeated)
{
    static sn_line line;

    sn_line_begin(&line, f, r);
    sn_line_end(&line, f, repeated);
    CHECK(line.len < SN_LINE);
    line.bytes[line.len] = '\0';
    return line.bytes;
}

/* The line with one field, as text. */
static const char *
text_of(seine_log_field field)
{
    sn_record r = record(&field, 1);

    return line_of(SEINE_LOG_TEXT, &r, 0) + strlen("19:20:01 warn  breaker opened  ");
}

/* The line with one field, read by jansson; its value, borrowed until the next. */
static json_t *
json_of(seine_log_field field, const char *key)
{
    static json_t *object;
    sn_record r = record(&field, 1);

    json_decref(object);
    object = json_loads(line_of(SEINE_LOG_JSON, &r, 0), JSON_REJECT_DUPLICATES, NULL);
    CHECK(object != NULL);
    CHECK(json_object_get(object, key) != NULL);
    return json_object_get(object, key);
}

TEST(logline_in_text_is_what_people_read)
{
    seine_log_field f[] = {seine_log_str("host", "e.org"),
                           seine_log_err("err", SEINE_E_CONNECT)};
    sn_record r = record(f, 2);

    CHECK_STR(line_of(SEINE_LOG_TEXT, &r, 0),
              "19:20:01 warn  breaker opened  host=e.org err=connect\n");
    CHECK_STR(line_of(SEINE_LOG_TEXT, &r, 3),
              "19:20:01 warn  breaker opened  host=e.org err=connect  repeated=3\n");
    r.n = 0;
    r.level = SEINE_LOG_ERROR;
    CHECK_STR(line_of(SEINE_LOG_TEXT, &r, 0), "19:20:01 error breaker opened\n");
    r.message = NULL;
    CHECK_STR(line_of(SEINE_LOG_TEXT, &r, 0), "19:20:01 error breaker.open\n");
}

TEST(logline_in_json_has_the_names_of_the_conventions)
{
    seine_log_field f[] = {seine_log_str("run", "01JB"), seine_log_str("host", "e.org"),
                           seine_log_err("err", SEINE_E_HEADER_TIMEOUT)};
    sn_record r = record(f, 3);

    CHECK_STR(line_of(SEINE_LOG_JSON, &r, 0),
              "{\"@timestamp\":\"2026-11-15T19:20:01.123456Z\",\"log.level\":\"warn\","
              "\"message\":\"breaker opened\",\"event.name\":\"breaker.open\","
              "\"service.name\":\"seine\",\"thread.id\":7,\"thread.name\":\"sn-shard-0\","
              "\"seine.run\":\"01JB\",\"seine.host\":\"e.org\","
              "\"error.type\":\"header_timeout\"}\n");
    r.n = 0;
    r.message = NULL;
    r.service = "";
    r.version = "1.2";
    CHECK_STR(
        line_of(SEINE_LOG_JSON, &r, 41),
        "{\"@timestamp\":\"2026-11-15T19:20:01.123456Z\",\"log.level\":\"warn\","
        "\"message\":\"breaker.open\",\"event.name\":\"breaker.open\","
        "\"service.version\":\"1.2\",\"thread.id\":7,\"thread.name\":\"sn-shard-0\","
        "\"seine.repeated\":41}\n");
}

TEST(logline_vocabulary_maps_short_names_to_long_ones)
{
    static const struct {
        const char *name, *json;
    } rows[] = {
        {"method", "http.request.method"},
        {"url", "url.full"},
        {"status", "http.response.status_code"},
        {"resend", "http.request.resend_count"},
        {"size", "http.response.body.size"},
        {"address", "server.address"},
        {"port", "server.port"},
        {"protocol", "network.protocol.version"},
        {"err", "error.type"},
        {"error", "error.message"},
        {"job", "seine.job"},
        {"run", "seine.run"},
        {"recipe", "seine.recipe"},
        {"host", "seine.host"},
        {"breaker", "seine.breaker.state"},
        {"wait", "seine.wait.reason"},
        {"user", "seine.user"},
        {"doc", "seine.doc"},
        {"trace_id", "trace_id"}, /* others stay as they are */
        {"mine.own", "mine.own"},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(
            json_integer_value(json_of(seine_log_int(rows[i].name, 7), rows[i].json)), 7);
    /* A span says its unit. */
    CHECK(json_real_value(json_of(seine_log_span("duration", 1500), "duration_ms")) ==
          0.0015);
    CHECK(json_integer_value(json_of(seine_log_span("delay", SEINE_SECS(2)),
                                     "seine.retry.delay_ms")) == 2000);
    CHECK(json_integer_value(json_of(seine_log_span("after_ms", 0), "after_ms")) == 0);
}

TEST(logline_values_keep_their_type)
{
    static const struct {
        seine_log_field field;
        const char *text, *json;
    } rows[] = {
        {{"f", SEINE_LOG_INT, 0, {.i = INT64_MIN}},
         "f=-9223372036854775808\n",
         "-9223372036854775808"},
        {{"f", SEINE_LOG_UINT, 0, {.u = UINT64_MAX}}, "f=18446744073709551615\n", NULL},
        {{"f", SEINE_LOG_BOOL, 0, {.u = 1}}, "f=true\n", "true"},
        {{"f", SEINE_LOG_BOOL, 0, {.u = 0}}, "f=false\n", "false"},
        {{"f", SEINE_LOG_DOUBLE, 0, {.d = 0.1}}, "f=0.1\n", "0.1"},
        {{"f", SEINE_LOG_DOUBLE, 0, {.d = -1e300}}, "f=-1e+300\n", "-1e300"},
        {{"f", SEINE_LOG_DOUBLE, 0, {.d = 1.0 / 3}}, "f=0.3333333333333333\n", NULL},
        {{"f", SEINE_LOG_DOUBLE, 0, {.d = (double)NAN}}, "f=nan\n", "\"nan\""},
        {{"f", SEINE_LOG_DOUBLE, 0, {.d = (double)INFINITY}}, "f=inf\n", "\"inf\""},
        {{"f", SEINE_LOG_DOUBLE, 0, {.d = -(double)INFINITY}}, "f=-inf\n", "\"-inf\""},
        {{"f", SEINE_LOG_SPAN, 0, {.i = 41600000}}, "f=41.6ms\n", NULL},
        {{"f", SEINE_LOG_SPAN, 0, {.i = -1}}, "f=-0.000001ms\n", NULL},
        {{"f", SEINE_LOG_ERR, 0, {.i = SEINE_E_TIMEOUT}}, "f=timeout\n", "\"timeout\""},
        {{"f", SEINE_LOG_ERR, 0, {.i = 12345}}, "f=unknown\n", "\"unknown\""},
        {{"f", SEINE_LOG_STR, 0, {.text = NULL}}, "f=\"\"\n", "\"\""},
        {{"f", SEINE_LOG_SECRET, 0, {.text = NULL}}, "f=REDACTED\n", "\"REDACTED\""},
        /* a kind from nowhere shows nothing of its value */
        {{"f", (seine_log_kind)99, 4, {.text = "abcd"}}, "f=REDACTED\n", "\"REDACTED\""},
    };

    EACH_ROW(i, rows) {
        CHECK_STR(text_of(rows[i].field), rows[i].text);
        if (rows[i].json) {
            json_t *want = json_loads(rows[i].json, JSON_DECODE_ANY, NULL);

            CHECK(json_equal(json_of(rows[i].field, "f"), want));
            json_decref(want);
        }
    }
}

TEST(logline_urls_lose_their_secrets_in_both_formats)
{
    seine_log_field url = seine_log_url("url", "https://joe:pw@e.org/?token=hunter2&a=b");

    CHECK_STR(text_of(url), "url=\"https://REDACTED@e.org/?token=REDACTED&a=b\"\n");
    CHECK_STR(json_string_value(json_of(url, "url.full")),
              "https://REDACTED@e.org/?token=REDACTED&a=b");
}

TEST(logline_text_shows_what_could_harm)
{
    static const struct {
        const char *value, *text;
    } rows[] = {
        {"plain", "plain"},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""}, /* not another field */
        {"say \"hi\"", "\"say \\\"hi\\\"\""},
        {"back\\slash", "back\\\\slash"},
        {"\x1b[2J", "\"\\x1b[2J\""}, /* terminal escape */
        {"a\nb", "\"a\\x0a"          /* one event is one line */
                 "b\""},
        {"del\x7f", "del\\x7f"},
        {"\xc2\x9b", "\\x9b"}, /* the eight-bit CSI */
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9f", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9f"},
        {"\xe2\x80\xae", "\\u{202e}"},                /* right-to-left override */
        {"\xe2\x80\x8d", "\xe2\x80\x8d"},             /* a joiner is needed */
        {"\xf3\xa0\x80\xa1", "\\u{e0021}"},           /* invisible tag */
        {"\xff\xfe", "\\xff\\xfe"},                   /* not UTF-8 */
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* too long a form of / */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* half of a pair */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond Unicode */
        {"\xe2\x82", "\\xe2\\x82"},                   /* cut off */
        {"\xe2\x28\xa1", "\\xe2(\\xa1"},
    };

    EACH_ROW(i, rows) {
        char want[80];

        snprintf(want, sizeof want, "f=%s\n", rows[i].text);
        CHECK_STR(text_of(seine_log_str("f", rows[i].value)), want);
    }
}

TEST(logline_message_and_event_cannot_break_the_line)
{
    sn_record r = record(NULL, 0);

    r.message = "a\nb \x1b \"c\"";
    r.event = "e\"\n";
    r.thread = "\xff\"";
    CHECK_STR(line_of(SEINE_LOG_TEXT, &r, 0), "19:20:01 warn  a\\x0a"
                                              "b \\x1b \"c\"\n");
    json_t *o = json_loads(line_of(SEINE_LOG_JSON, &r, 0), 0, NULL);
    CHECK_STR(json_string_value(json_object_get(o, "message")), r.message);
    CHECK_STR(json_string_value(json_object_get(o, "event.name")), r.event);
    CHECK_STR(json_string_value(json_object_get(o, "thread.name")), "\xef\xbf\xbd\"");
    json_decref(o);
}

TEST(logline_json_escapes_all_control_characters)
{
    for (unsigned c = 0; c < 0xa0; c++) {
        char value[2] = {(char)c, 0}, want[12];
        size_t n = 1;
        bool is_short = c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t';

        if (c >= 0x80) {
            value[0] = (char)0xc2;
            value[1] = (char)c;
            n = 2;
        }
        seine_log_field field = seine_log_bytes("f", value, n);
        sn_record r = record(&field, 1);
        const char *line = line_of(SEINE_LOG_JSON, &r, 0);

        snprintf(want, sizeof want, "\\u%04x\"", c);
        if ((c < 0x20 && !is_short) || c >= 0x7f)
            CHECK(strstr(line, want) != NULL);
        else if (!is_short)
            CHECK(strstr(line, "\\") == NULL);
        json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
        json_t *f = json_object_get(o, "f");
        CHECK_EQ(json_string_length(f), n);
        CHECK(json_string_value(f) && memcmp(json_string_value(f), value, n) == 0);
        json_decref(o);
    }
    CHECK(strstr(line_of(SEINE_LOG_JSON,
                         &(sn_record){.event = "\xe2\x80\xa8",
                                      .service = "",
                                      .version = "",
                                      .thread = ""},
                         0),
                 "\\u2028") != NULL);
}

TEST(logline_times_are_those_of_the_calendar)
{
    static const struct {
        int64_t wall;
        const char *want;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {SEINE_SECS(951782400LL), "2000-02-29T00:00:00.000000Z"}, /* date -d @951782400 */
        {SEINE_SECS(1709251199LL) + 999999999, "2024-02-29T23:59:59.999999Z"},
        {SEINE_SECS(4107542400LL), "2100-03-01T00:00:00.000000Z"}, /* 2100 has no 29th */
        {INT64_MAX, "2262-04-11T23:47:16.854775Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224Z"},
    };

    EACH_ROW(i, rows) {
        sn_record r = record(NULL, 0);
        char got[28];

        r.wall = rows[i].wall;
        snprintf(got, sizeof got, "%.27s", line_of(SEINE_LOG_JSON, &r, 0) + 15);
        CHECK_STR(got, rows[i].want);
    }
}

TEST(logline_long_values_end_in_an_ellipsis_at_a_whole_character)
{
    static char value[20000];
    seine_log_field field;

    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (char)(i % 2 ? 0xa4 : 0xc3);
    for (size_t len = 2044; len <= 2052; len++) {
        field = seine_log_bytes("f", value, len & ~(size_t)1);
        const char *got = json_string_value(json_of(field, "f"));
        size_t n = strlen(got);

        CHECK(n <= 2048);
        if (len / 2 * 2 <= 2048)
            CHECK_EQ(n, len / 2 * 2);
        else
            CHECK_STR(got + n - 3, "\xe2\x80\xa6");
    }
    field = seine_log_bytes("url", value, sizeof value);
    field.kind = SEINE_LOG_URL;
    const char *got = json_string_value(json_of(field, "url.full"));
    CHECK_STR(got + strlen(got) - 3, "\xe2\x80\xa6");
}

TEST(logline_leaves_out_fields_without_room_and_says_so)
{
    static char value[1800];
    seine_log_field f[10];

    memset(value, 'x', sizeof value - 1);
    for (size_t i = 0; i < 10; i++)
        f[i] = seine_log_str("f", value);
    sn_record r = record(f, 10);
    const char *text = line_of(SEINE_LOG_TEXT, &r, UINT64_MAX);
    CHECK(strlen(text) > 5000 && strlen(text) < SN_LINE);
    CHECK(strstr(text, "  truncated=true  repeated=18446744073709551615\n") != NULL);
    json_t *o = json_loads(line_of(SEINE_LOG_JSON, &r, 1), 0, NULL);
    CHECK(json_is_true(json_object_get(o, "seine.truncated")));
    CHECK_EQ(json_integer_value(json_object_get(o, "seine.repeated")), 1);
    json_decref(o);
}

TEST(logline_hash_ignores_time_and_thread_and_nothing_else)
{
    static const uint64_t secret[2] = {1, 2};
    seine_log_field a = seine_log_int("n", 1), b = seine_log_int("n", 2);
    sn_record base = record(&a, 1);
    struct {
        sn_record r;
        bool same;
    } rows[8];

    for (int i = 0; i < 8; i++)
        rows[i].r = base;
    rows[0].same = rows[1].same = rows[2].same = true;
    rows[1].r.wall = 0;
    rows[2].r.thread = "other";
    rows[3].same = rows[4].same = rows[5].same = rows[6].same = rows[7].same = false;
    rows[3].r.level = SEINE_LOG_ERROR;
    rows[4].r.message = "breaker closed";
    rows[5].r.event = "breaker.closed";
    rows[6].r.fields = &b;
    rows[7].r.n = 0;
    EACH_ROW(i, rows) {
        static sn_line one, two;

        sn_line_begin(&one, SEINE_LOG_JSON, &base);
        sn_line_begin(&two, SEINE_LOG_JSON, &rows[i].r);
        CHECK_EQ(sn_line_hash(&one, SEINE_LOG_JSON, secret) ==
                     sn_line_hash(&two, SEINE_LOG_JSON, secret),
                 rows[i].same);
        if (i == 5)
            continue; /* text does not show the event beside a message */
        sn_line_begin(&one, SEINE_LOG_TEXT, &base);
        sn_line_begin(&two, SEINE_LOG_TEXT, &rows[i].r);
        CHECK_EQ(sn_line_hash(&one, SEINE_LOG_TEXT, secret) ==
                     sn_line_hash(&two, SEINE_LOG_TEXT, secret),
                 rows[i].same);
    }
}

/* For any bytes, the text is one line without control characters, the JSON parses, and
 * valid values read back equal. */
TEST(logline_stands_any_bytes)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 300; i++) {
        char bytes[6][400] = {{0}};
        seine_log_field f[6];
        size_t ascii = sn_rng_below(&r, 2);

        for (size_t k = 0; k < 6; k++) {
            size_t n = sn_rng_below(&r, sizeof bytes[k]);

            for (size_t j = 0; j < n; j++)
                bytes[k][j] = (char)(1 + sn_rng_below(&r, ascii ? 127 : 255));
            bytes[k][n] = '\0';
            f[k] = seine_log_str(bytes[k], bytes[5]);
            f[k].kind = sn_rng_below(&r, 3) ? SEINE_LOG_STR : SEINE_LOG_URL;
        }
        for (char *c = bytes[1]; *c; c++) /* holds nothing that looks like a secret */
            *c = *c == '@' || *c == '=' ? '+' : *c;
        f[0] = seine_log_str("sure", bytes[1]);
        sn_record rec = record(f, sn_rng_below(&r, 7));
        rec.message = bytes[2];
        rec.event = bytes[3];
        rec.thread = bytes[4];

        const char *text = line_of(SEINE_LOG_TEXT, &rec, 0);
        size_t len = strlen(text);
        CHECK_EQ(text[len - 1], '\n');
        for (size_t j = 0; j + 1 < len; j++)
            CHECK((unsigned char)text[j] >= 0x20 && text[j] != 0x7f);

        const char *json = line_of(SEINE_LOG_JSON, &rec, 0);
        CHECK(strchr(json, '\n') == json + strlen(json) - 1);
        json_t *o = json_loads(json, 0, NULL);
        CHECK(o != NULL);
        json_t *sure = json_object_get(o, "sure");
        if (sure && ascii)
            CHECK_STR(json_string_value(sure), bytes[1]);
        json_decref(o);
    }
}

TEST(logline_shows_no_secret_in_any_text)
{
    char long_text[3000];
    seine_secrets *s = NULL;
    seine_log_field fields[] = {
        seine_log_str("host", "hunter2.example"),
        seine_log_url("url", "https://e.org/?q=%68unter2&token=abc"),
        seine_log_bytes("long", long_text, sizeof long_text),
    };
    sn_record r = record(fields, 3);

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    CHECK_EQ(seine_secrets_add(s, "hunter2", 7), SEINE_OK);
    memset(long_text, 'x', sizeof long_text);
    /* cut in the middle, half of the secret would stay */
    memcpy(long_text + 2042, "hunter2", 7);
    r.message = "Basic am9lOmh1bnRlcjI= of http://a:b@c/";
    r.secrets = s;
    for (int f = SEINE_LOG_TEXT; f <= SEINE_LOG_JSON; f++) {
        const char *line = line_of((seine_log_format)f, &r, 0);

        CHECK(strstr(line, "Basic am9lOREDACTED of http://REDACTED@c/") != NULL);
        CHECK(strstr(line, "REDACTED.example") != NULL);
        CHECK(strstr(line, "https://e.org/?q=REDACTED&token=REDACTED") != NULL);
        CHECK(strstr(line, "hunte") == NULL);
    }
    seine_secrets_free(s);
}
