/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

#define CHECK_VIEW(got, want) CHECK(sn_str_eq(got, sn_str_of(want)))

TEST(str_of_null_is_empty)
{
    CHECK_EQ(sn_str_of(NULL).len, 0);
    CHECK_EQ(sn_str_of("abc").len, 3);
    CHECK_EQ(SN_STR("a\0b").len, 3);
}

TEST(str_equality_looks_at_bytes_and_length)
{
    static const struct {
        sn_str a, b;
        bool same, nocase;
    } rows[] = {
        {{"", 0}, {NULL, 0}, true, true}, /* two ways to be empty */
        {{"abc", 3}, {"abc", 3}, true, true},
        {{"abc", 3}, {"aBc", 3}, false, true},
        {{"abc", 3}, {"abcd", 4}, false, false},
        {{"a\0b", 3}, {"a\0c", 3}, false, false},         /* a zero is a byte */
        {{"\xc3\x84", 2}, {"\xc3\xa4", 2}, false, false}, /* only ASCII has case */
        {{"[", 1}, {"{", 1}, false, false},               /* the neighbours of letters */
        {{"@", 1}, {"`", 1}, false, false},
    };

    EACH_ROW(i, rows) {
        CHECK_EQ(sn_str_eq(rows[i].a, rows[i].b), rows[i].same);
        CHECK_EQ(sn_str_eq_nocase(rows[i].a, rows[i].b), rows[i].nocase);
        CHECK_EQ(sn_str_cmp(rows[i].a, rows[i].b) == 0, rows[i].same);
    }
}

TEST(str_order_is_by_bytes_and_the_shorter_first)
{
    CHECK(sn_str_cmp(SN_STR("a"), SN_STR("b")) < 0);
    CHECK(sn_str_cmp(SN_STR("b"), SN_STR("ab")) > 0);
    CHECK(sn_str_cmp(SN_STR("a"), SN_STR("ab")) < 0);
    CHECK(sn_str_cmp(SN_STR("ab"), SN_STR("a")) > 0);
    CHECK(sn_str_cmp(SN_STR("\x7f"), SN_STR("\x80")) < 0); /* bytes have no sign */
}

TEST(str_starts_and_ends)
{
    CHECK(sn_str_starts(SN_STR("https://e.org"), SN_STR("https:")));
    CHECK(!sn_str_starts(SN_STR("https://e.org"), SN_STR("HTTPS:")));
    CHECK(sn_str_starts_nocase(SN_STR("https://e.org"), SN_STR("HTTPS:")));
    CHECK(!sn_str_starts_nocase(SN_STR("http"), SN_STR("https")));
    CHECK(!sn_str_starts(SN_STR("http"), SN_STR("https")));
    CHECK(sn_str_ends(SN_STR("a.json"), SN_STR(".json")));
    CHECK(!sn_str_ends(SN_STR("json"), SN_STR(".json")));
    CHECK(sn_str_starts((sn_str){0}, (sn_str){0}) &&
          sn_str_ends((sn_str){0}, SN_STR("")));
}

TEST(str_find_gives_the_length_when_there_is_nothing)
{
    CHECK_EQ(sn_str_find(SN_STR("a:b:c"), ':'), 1);
    CHECK_EQ(sn_str_find(SN_STR("abc"), ':'), 3);
    CHECK_EQ(sn_str_find((sn_str){0}, ':'), 0);
}

TEST(str_trim_takes_white_space_from_both_ends)
{
    CHECK_VIEW(sn_str_trim(SN_STR(" \t\r\n\fa b\f\n\r\t ")), "a b");
    CHECK_VIEW(sn_str_trim(SN_STR(" \t ")), "");
    CHECK_VIEW(sn_str_trim(SN_STR("\va\v")), "\va\v"); /* not white space here */
    CHECK_VIEW(sn_str_trim((sn_str){0}), "");
}

TEST(str_slice_stays_inside_the_view)
{
    static const struct {
        size_t from, to;
        const char *want;
    } rows[] = {
        {0, 5, "hello"}, {1, 3, "el"}, {4, 99, "o"}, {5, 9, ""}, {3, 2, ""}, {9, 99, ""},
    };

    EACH_ROW(i, rows)
        CHECK_VIEW(sn_str_slice(SN_STR("hello"), rows[i].from, rows[i].to), rows[i].want);
}

TEST(str_cut_splits_at_the_first_separator)
{
    static const struct {
        const char *text, *head, *tail;
        bool has;
    } rows[] = {
        {"a=b", "a", "b", true}, {"a=b=c", "a", "b=c", true}, {"=b", "", "b", true},
        {"a=", "a", "", true},   {"a", "a", "", false},       {"", "", "", false},
    };

    EACH_ROW(i, rows) {
        sn_str head, tail;

        CHECK_EQ(sn_str_cut(sn_str_of(rows[i].text), '=', &head, &tail), rows[i].has);
        CHECK_VIEW(head, rows[i].head);
        CHECK_VIEW(tail, rows[i].tail);
    }
}

TEST(str_glob_is_the_whole_text)
{
    static const struct {
        const char *pattern, *text;
        bool is;
    } rows[] = {
        {"", "", true},           {"", "a", false},         {"*", "", true},
        {"*", "abc", true},       {"a*", "abc", true},      {"a*", "ba", false},
        {"*c", "abc", true},      {"*c", "acb", false},     {"a*c", "ac", true},
        {"a*c*e", "abcde", true}, {"a*c*e", "abcd", false}, {"a?c", "abc", true},
        {"a?c", "ac", false},     {"?", "", false},         {"**b", "aab", true},
        {"*ab", "aaab", true},  /* the star is extended after a false start */
        {"a\\*", "a\\x", true}, /* nothing is quoted */
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_str_glob(sn_str_of(rows[i].pattern), sn_str_of(rows[i].text)),
                 rows[i].is);
}

TEST(str_is_among_looks_for_whole_words_in_any_case)
{
    CHECK(sn_str_is_among(SN_STR("a"), "a bc d"));
    CHECK(sn_str_is_among(SN_STR("BC"), "a bc d"));
    CHECK(sn_str_is_among(SN_STR("d"), "a bc d"));
    CHECK(!sn_str_is_among(SN_STR("b"), "a bc d"));
    CHECK(!sn_str_is_among(SN_STR("bc d"), "a bc d"));
    CHECK(!sn_str_is_among(SN_STR(""), "a bc d"));
    CHECK(!sn_str_is_among(SN_STR("a"), ""));
}

TEST(str_next_walks_the_parts)
{
    static const struct {
        const char *text, *parts; /* each part in brackets */
    } rows[] = {
        {"a,b", "[a][b]"}, {"a,,b", "[a][][b]"}, {"a,", "[a]"}, {",a", "[][a]"},
        {"", ""},          {",", "[]"},
    };

    EACH_ROW(i, rows) {
        sn_str rest = sn_str_of(rows[i].text), part;
        char got[32] = "";

        for (size_t n = 0; sn_str_next(&rest, ',', &part);)
            n += (size_t)snprintf(got + n, sizeof got - n, "[%.*s]", SN_FMT(part));
        CHECK_STR(got, rows[i].parts);
    }
}

TEST(str_numbers_are_read_strictly)
{
    static const struct {
        const char *text;
        seine_err u64, i64;
        uint64_t u;
        int64_t i;
    } rows[] = {
        {"0", SEINE_OK, SEINE_OK, 0, 0},
        {"007", SEINE_OK, SEINE_OK, 7, 7},
        {"9223372036854775807", SEINE_OK, SEINE_OK, INT64_MAX, INT64_MAX},
        {"9223372036854775808", SEINE_OK, SEINE_E_RANGE, (uint64_t)INT64_MAX + 1, 0},
        {"18446744073709551615", SEINE_OK, SEINE_E_RANGE, UINT64_MAX, 0},
        {"18446744073709551616", SEINE_E_RANGE, SEINE_E_RANGE, 0, 0},
        {"99999999999999999999999", SEINE_E_RANGE, SEINE_E_RANGE, 0, 0},
        {"99999999999999999999999x", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"-1", SEINE_E_INVAL, SEINE_OK, 0, -1},
        {"-0", SEINE_E_INVAL, SEINE_OK, 0, 0},
        {"-9223372036854775808", SEINE_E_INVAL, SEINE_OK, 0, INT64_MIN},
        {"-9223372036854775809", SEINE_E_INVAL, SEINE_E_RANGE, 0, 0},
        {"", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"-", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"+1", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {" 1", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"1 ", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"0x10", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"1e3", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
        {"--1", SEINE_E_INVAL, SEINE_E_INVAL, 0, 0},
    };

    EACH_ROW(i, rows) {
        uint64_t u = 42;
        int64_t n = 42;
        bool has_u = rows[i].u64 == SEINE_OK, has_i = rows[i].i64 == SEINE_OK;

        CHECK_EQ(sn_str_u64(sn_str_of(rows[i].text), &u), rows[i].u64);
        CHECK_EQ(sn_str_i64(sn_str_of(rows[i].text), &n), rows[i].i64);
        CHECK(u == (has_u ? rows[i].u : 42)); /* untouched on failure */
        CHECK_EQ(n, has_i ? rows[i].i : 42);
    }
}

TEST(str_decimals_are_exact)
{
    static const struct {
        const char *text;
        unsigned places;
        seine_err err;
        int64_t n;
    } rows[] = {
        {"1.5", 9, SEINE_OK, 1500000000},
        {"-1.25", 3, SEINE_OK, -1250},
        {"0.1", 1, SEINE_OK, 1},
        {"-0.5", 1, SEINE_OK, -5}, /* the sign survives a zero before the point */
        {"3", 0, SEINE_OK, 3},
        {"3.000", 0, SEINE_OK, 3}, /* zeros lose nothing */
        {"3.10", 1, SEINE_OK, 31},
        {"3.01", 1, SEINE_E_RANGE, 42}, /* a digit would be lost */
        {"0.00000000000000000000000000", 2, SEINE_OK, 0},
        {"9223372036.854775807", 9, SEINE_OK, INT64_MAX},
        {"9223372036.854775808", 9, SEINE_E_RANGE, 42},
        {"-9223372036.854775808", 9, SEINE_OK, INT64_MIN},
        {"99999999999999999999.5", 1, SEINE_E_RANGE, 42},
        {"1", 30, SEINE_E_RANGE, 42},
        {"0", 30, SEINE_OK, 0},
        {".5", 1, SEINE_E_INVAL, 42},
        {"5.", 1, SEINE_E_INVAL, 42},
        {"1.2.3", 3, SEINE_E_INVAL, 42},
        {"1.-2", 3, SEINE_E_INVAL, 42},
        {"99999999999999999999.x", 3, SEINE_E_INVAL, 42},
        {"1,5", 3, SEINE_E_INVAL, 42},
        {"", 3, SEINE_E_INVAL, 42},
        {"-", 3, SEINE_E_INVAL, 42},
        {"nan", 3, SEINE_E_INVAL, 42},
    };

    EACH_ROW(i, rows) {
        int64_t n = 42;

        CHECK_EQ(sn_str_decimal(sn_str_of(rows[i].text), rows[i].places, &n),
                 rows[i].err);
        CHECK_EQ(n, rows[i].n);
    }
}

TEST(str_decimal_text_is_the_shortest_form)
{
    static const struct {
        int64_t n;
        unsigned places;
        const char *text;
    } rows[] = {
        {0, 0, "0"},
        {0, 9, "0"},
        {-1250, 3, "-1.25"},
        {5000000, 9, "0.005"},
        {1000000000, 9, "1"},
        {-5, 1, "-0.5"},
        {120, 0, "120"},
        {INT64_MAX, 9, "9223372036.854775807"},
        {INT64_MIN, 18, "-9.223372036854775808"},
        {INT64_MIN, 0, "-9223372036854775808"},
    };

    EACH_ROW(i, rows) {
        char text[24];

        CHECK_EQ(sn_decimal_text(rows[i].n, rows[i].places, text), strlen(rows[i].text));
        CHECK_STR(text, rows[i].text);
    }
}

TEST(str_decimal_text_reads_back)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 5000; i++) {
        int64_t n = (int64_t)(sn_rng_next(&r) >> sn_rng_below(&r, 64)), back = 0;
        unsigned places = (unsigned)sn_rng_below(&r, 19);
        char text[24];
        size_t len = sn_decimal_text(n, places, text);

        CHECK_EQ(sn_str_decimal((sn_str){text, len}, places, &back), SEINE_OK);
        CHECK_EQ(back, n);
    }
}

TEST(str_numbers_read_back_what_printf_wrote)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 10000; i++) {
        uint64_t want = sn_rng_next(&r) >> sn_rng_below(&r, 64), u = 0;
        int64_t n = 0, d = 0;
        char text[32];
        int len = snprintf(text, sizeof text, "%" PRIu64, want);

        CHECK_EQ(sn_str_u64((sn_str){text, (size_t)len}, &u), SEINE_OK);
        CHECK(u == want);
        len = snprintf(text, sizeof text, "%" PRId64, (int64_t)want);
        CHECK_EQ(sn_str_i64((sn_str){text, (size_t)len}, &n), SEINE_OK);
        CHECK_EQ(n, (int64_t)want);
        len = snprintf(text, sizeof text, "%" PRIu64 ".%03u", want / 10000,
                       (unsigned)(want % 1000));
        CHECK_EQ(sn_str_decimal((sn_str){text, (size_t)len}, 3, &d), SEINE_OK);
        CHECK_EQ(d, (int64_t)(want / 10000 * 1000 + want % 1000));
    }
}

TEST(str_character_classes_are_ascii)
{
    int digits = 0, letters = 0, spaces = 0, hex = 0;

    for (int c = -128; c < 256; c++) { /* signed and unsigned agree */
        digits += sn_is_digit((char)c);
        letters += sn_is_alpha((char)c);
        spaces += sn_is_space((char)c);
        hex += sn_hex_digit((char)c) >= 0;
    }
    CHECK_EQ(digits, 10);
    CHECK_EQ(letters, 52);
    CHECK_EQ(spaces, 5);
    CHECK_EQ(hex, 22);
    CHECK_EQ(sn_hex_digit('0'), 0);
    CHECK_EQ(sn_hex_digit('a'), 10);
    CHECK_EQ(sn_hex_digit('F'), 15);
    CHECK_EQ(sn_lower('Z'), 'z');
    CHECK_EQ(sn_lower('['), '[');
}

/* Every code point, encoded by the table of RFC 3629 and by nothing shorter. */
TEST(str_utf8_decodes_all_of_unicode_and_nothing_else)
{
    for (uint32_t c = 0; c < 0x120000; c += c < 0x3000 ? 1 : 37) {
        unsigned char b[4];
        size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        bool is_valid = c < 0xd800 || (c >= 0xe000 && c <= 0x10ffff);
        uint32_t got = 0xffffffff;

        for (size_t i = n; i-- > 1;)
            b[i] = (unsigned char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
        b[0] = (unsigned char)(n == 1 ? c : (0xf00u >> n & 0xff) | c >> (6 * (n - 1)));
        CHECK_EQ(sn_utf8_decode((sn_str){(char *)b, n}, &got), is_valid ? n : 0);
        CHECK(got == (is_valid ? c : 0xffffffff));
        for (size_t cut = 0; cut < n; cut++)
            CHECK_EQ(sn_utf8_decode((sn_str){(char *)b, cut}, &got), 0);
    }
}

TEST(str_utf8_refuses_what_is_not_utf8)
{
    static const struct {
        const char *text;
        bool is_valid;
    } rows[] = {
        {"", true},
        {"plain", true},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9f", true},
        {"a\x80", false},            /* a continuation byte alone */
        {"\xc0\xaf", false},         /* two bytes for one */
        {"\xe0\x80\xaf", false},     /* three */
        {"\xf0\x80\x80\xaf", false}, /* four */
        {"\xed\xa0\x80", false},     /* half of a pair */
        {"\xf4\x90\x80\x80", false}, /* beyond Unicode */
        {"\xf8\x88\x80\x80\x80", false},
        {"\xff", false},
        {"\xe2\x28\xa1", false},
        {"ok \xe2\x82", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_utf8_valid(sn_str_of(rows[i].text)), rows[i].is_valid);
}
