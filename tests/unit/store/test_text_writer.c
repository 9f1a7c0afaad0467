/* SPDX-License-Identifier: Apache-2.0 */
#include "store/text_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "base/rng.h"
#include "check.h"
#include "seine/plumbing.h"

static char buf[4096];

/* What a text writer wrote, terminated. */
static const char *
text(const sn_text_writer *p)
{
    CHECK_EQ(p->lost, 0);
    *p->at = '\0';
    return buf;
}

static sn_text_writer
fresh(void)
{
    return sn_text_writer_on(buf, sizeof buf - 1);
}

TEST(text_writer_counts_what_has_no_room_and_writes_what_has)
{
    for (size_t cap = 0; cap <= 80; cap++) {
        char small[81];
        sn_text_writer p = sn_text_writer_on(small, cap), all = fresh();

        memset(small, '#', sizeof small);
        for (int i = 0; i < 2; i++) {
            sn_text_writer *to = i ? &all : &p;

            SN_WRITE(to, "abc");
            sn_text_writer_u64(to, 18446744073709551615u);
            sn_text_writer_ms(to, SEINE_US(12345));
            sn_text_writer_stamp(to, 0);
            sn_text_writer_quoted(to, SN_STR("q\"\x01"));
            sn_text_writer_text(to, "end");
        }
        CHECK_EQ(sn_text_writer_len(&p), sn_text_writer_len(&all));
        size_t n = sn_text_writer_len(&all) < cap ? sn_text_writer_len(&all) : cap;
        CHECK(memcmp(small, text(&all), n) == 0);
        CHECK_EQ(small[cap], '#');
    }
}

TEST(text_writer_writes_numbers_like_printf)
{
    sn_rng rng = sn_rng_seed(check_seed());
    static const uint64_t edges[] = {
        0,    1,    9,     10,    11,     99,       100,        101,           999,
        1000, 9999, 10000, 99999, 100000, 1u << 31, UINT64_MAX, UINT64_MAX - 1};

    for (int i = 0; i < 5000; i++) {
        size_t n_edges = sizeof edges / sizeof *edges;
        uint64_t n =
            (size_t)i < n_edges ? edges[i] : sn_rng_next(&rng) >> sn_rng_below(&rng, 64);
        char want[64];
        sn_text_writer p = fresh();

        sn_text_writer_u64(&p, n);
        SN_WRITE(&p, " ");
        sn_text_writer_i64(&p, (int64_t)n);
        snprintf(want, sizeof want, "%" PRIu64 " %" PRId64, n, (int64_t)n);
        CHECK_STR(text(&p), want);
    }
}

TEST(text_writer_writes_milliseconds_with_three_decimals_at_most)
{
    static const struct {
        seine_span ns;
        const char *want;
    } rows[] = {
        {0, "0"},
        {-1, "0"},
        {INT64_MIN, "0"},
        {499, "0"}, /* to the nearest microsecond */
        {500, "0.001"},
        {1499, "0.001"},
        {1500, "0.002"},
        {SEINE_US(3100), "3.1"},
        {SEINE_MS(812), "812.0"},
        {SEINE_US(38250), "38.25"},
        {SEINE_US(42651), "42.651"},
        {SEINE_US(999999) + 499, "999.999"},
        {SEINE_US(999999) + 500, "1000.0"},
        {SEINE_MS(5037), "5037.0"},
        {SEINE_US(1010), "1.01"},
        {SEINE_US(1001), "1.001"},
        {INT64_MAX, "9223372036854.776"},
    };

    EACH_ROW(i, rows) {
        sn_text_writer p = fresh();

        sn_text_writer_ms(&p, rows[i].ns);
        CHECK_STR(text(&p), rows[i].want);
    }
}

/* Compares with the C library's calendar. */
TEST(text_writer_stamps_every_moment_of_64_bits)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int i = 0; i < 3000; i++) {
        int64_t wall = i == 0   ? INT64_MIN
                       : i == 1 ? INT64_MAX
                       : i < 5  ? i - 4
                                : (int64_t)sn_rng_next(&rng);
        int64_t second = wall / 1000000000 - (wall % 1000000000 < 0);
        int64_t us = (wall % 1000000000 + (wall % 1000000000 < 0) * 1000000000) / 1000;
        time_t when = (time_t)second;
        struct tm tm;
        char day[32], want[64];
        sn_text_writer p = fresh();

        gmtime_r(&when, &tm);
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(want, sizeof want, "%s.%06dZ", day, (int)us);
        sn_text_writer_stamp(&p, wall);
        CHECK_STR(text(&p), want);
    }
}

/* Compares with base/json, which quotes character by character. */
TEST(text_writer_quotes_like_the_slow_writer)
{
    static const char *const pieces[] = {
        "plain",
        "\"",
        "\\",
        "\n",
        "\x01",
        "\x1f",
        "\x7f",
        "\xc2\x80",
        "\xc2\x9f",
        "\xc2\xa0",
        "\xc3\xa9",
        "\xe2\x80\xa8",
        "\xe2\x80\xa9",
        "\xe2\x82\xac",
        "\xf0\x9f\x8e\xa3",
        "\xff",
        "\xc0\xaf",
        "\xed\xa0\x80",
        "\xe2\x82",
        " ",
        "\b\f\r\t",
        "0123456789abcdef",
        "https://example.org/a?b=c&d=e",
    };
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 3000; round++) {
        char in[512], want[4096];
        size_t n = 0;
        sn_text_writer p = fresh();

        for (size_t k = sn_rng_below(&rng, 12); k > 0; k--) {
            size_t which = sn_rng_below(&rng, sizeof pieces / sizeof *pieces + 1);

            if (which == sizeof pieces / sizeof *pieces) {
                in[n++] = (char)sn_rng_next(&rng); /* zeros, too */
            } else {
                memcpy(in + n, pieces[which], strlen(pieces[which]));
                n += strlen(pieces[which]);
            }
        }
        size_t len = sn_json_quote(in, n, want, sizeof want);
        sn_text_writer_quoted(&p, (sn_str){in, n});
        CHECK_EQ(sn_text_writer_len(&p), len);
        CHECK_STR(text(&p), want);
    }
}

TEST(text_writer_finds_the_first_byte_that_is_not_plain)
{
    char bytes[40];

    for (size_t n = 0; n <= sizeof bytes; n++)
        for (size_t at = 0; at <= n; at++)
            for (unsigned c = 0; c < 256; c++) {
                bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';

                memset(bytes, 'x', sizeof bytes);
                if (at < n)
                    bytes[at] = (char)c;
                CHECK_EQ(sn_text_writer_plain(bytes, n), plain ? n : at);
            }
}

TEST(text_writer_object_is_copied_without_blanks_and_inert)
{
    static const struct {
        const char *json, *want;
    } rows[] = {
        {"{}", "{}"},
        {" { } ", "{}"},
        {"{\"a\":1}", "{\"a\":1}"},
        {"\t{ \"a\" : [ 1 , -2.5e+3 , true,false, null , \"x\" ] "
         ",\n\"b\":{\"c\":[]}}\r\n",
         "{\"a\":[1,-2.5e+3,true,false,null,\"x\"],\"b\":{\"c\":[]}}"},
        {"{\"k\":\"\x7f\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xc3\xa9\"}",
         "{\"k\":\"\\u007f\\u0085\\u2028\\u2029\xc3\xa9\"}"},
        {"{\"k\":\"\\ud83c\\udfa3\\/\\n\\\"\"}", "{\"k\":\"\\ud83c\\udfa3\\/\\n\\\"\"}"},
        {"{\"a\":0,\"b\":0.0,\"c\":-0,\"d\":1E9,\"e\":10}",
         "{\"a\":0,\"b\":0.0,\"c\":-0,\"d\":1E9,\"e\":10}"},
        {"{\"a\":[[],[{}],{\"b\":[]}]}", "{\"a\":[[],[{}],{\"b\":[]}]}"},
    };

    EACH_ROW(i, rows) {
        sn_text_writer p = fresh();

        CHECK(sn_text_writer_object(&p, sn_str_of(rows[i].json)));
        CHECK_STR(text(&p), rows[i].want);
    }
}

TEST(text_writer_object_that_is_none_writes_nothing)
{
    static const char *const bad[] = {
        "",
        " ",
        "[]",
        "1",
        "\"x\"",
        "null",
        "{",
        "}",
        "{]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":+1}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":tru}",
        "{\"a\":[1,]}",
        "{\"a\":[1}",
        "{\"a\":[}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\udc00x\"}",
        "{\"a\":\"\\ud800\\u0041\"}",
        "{} {}",
        "{}x",
        "{\"a\":1}}",
        "{\"a",
        "{\"a\\",
        "{[1]}",
        "{\"a\":1,\"b\"}",
        "{}\0",
    };

    EACH_ROW(i, bad) {
        sn_text_writer p = fresh();
        sn_str json = sn_str_of(bad[i]);

        json.len += i + 1 == sizeof bad / sizeof *bad; /* with its zero */
        SN_WRITE(&p, "kept");
        CHECK(!sn_text_writer_object(&p, json));
        CHECK_STR(text(&p), "kept");
    }
}

TEST(text_writer_object_has_127_levels_at_most)
{
    for (size_t depth = 60; depth <= 128; depth++) {
        char json[300];
        size_t n = 0;
        sn_text_writer p = fresh();

        memcpy(json, "{\"a\":", 5);
        n = 5;
        memset(json + n, '[', depth - 1);
        n += depth - 1;
        memset(json + n, ']', depth - 1);
        n += depth - 1;
        json[n++] = '}';
        CHECK_EQ(sn_text_writer_object(&p, (sn_str){json, n}), depth <= 127);
    }
}

/* Compares with the JSON parser: copied objects have the same value, and the parser
 * refuses the same texts, except for numbers beyond 64 bits and duplicate names. */
TEST(text_writer_object_agrees_with_the_parser)
{
    static const char alphabet[] = "{}[]\",:\\0123456789.eE+-truefalsn \xc3\xa9u";
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 20000; round++) {
        char json[64] = "{\"a\":[1,{\"b\":\"c\"}],\"d\":-1.5}";
        size_t n = strlen(json);
        sn_text_writer p = fresh();
        seine_json *value = NULL, *again = NULL;

        for (size_t k = 1 + sn_rng_below(&rng, 3); k > 0; k--)
            json[sn_rng_below(&rng, n)] =
                alphabet[sn_rng_below(&rng, sizeof alphabet - 1)];
        bool parsed = seine_json_parse(json, n, &value, NULL) == SEINE_OK &&
                      seine_json_type_of(value) == SEINE_JSON_OBJECT;
        bool copied = sn_text_writer_object(&p, (sn_str){json, n});

        if (parsed)
            CHECK(copied);
        if (copied && parsed) {
            seine_text a = {0}, b = {0};

            CHECK_EQ(seine_json_parse(buf, sn_text_writer_len(&p), &again, NULL),
                     SEINE_OK);
            CHECK_EQ(seine_json_print(value, &a), SEINE_OK);
            CHECK_EQ(seine_json_print(again, &b), SEINE_OK);
            CHECK_STR(b.bytes, a.bytes);
            seine_text_free(&a);
            seine_text_free(&b);
        }
        seine_json_free(value);
        seine_json_free(again);
    }
}

TEST(text_writer_writes_hex_and_base64)
{
    sn_text_writer p = fresh();
    static char bytes[1600], want[1000 * 4];

    sn_text_writer_hex(&p, (const uint8_t[]){0, 0x1f, 0xa0, 0xff}, 4);
    CHECK_STR(text(&p), "001fa0ff");
    p = fresh();
    sn_text_writer_base64(&p, SN_STR("foobar"));
    CHECK_STR(text(&p), "Zm9vYmFy");
    p = fresh(); /* longer than it does at once: 1600 zeros are 2133 A, A and == */
    sn_text_writer_base64(&p, (sn_str){bytes, sizeof bytes});
    memset(want, 'A', 2134);
    memcpy(want + 2134, "==", 3);
    CHECK_STR(text(&p), want);
}
