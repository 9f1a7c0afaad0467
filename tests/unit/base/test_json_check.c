/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

TEST(json_check_names_the_byte_and_what_was_expected)
{
    static const struct {
        const char *in;
        size_t len; /* 0: of the text */
        seine_err err;
        size_t offset;
        const char *text;
    } rows[] = {
        {"", 0, SEINE_E_BAD_JSON, 0, "expected a value, found the end"},
        {" \n", 0, SEINE_E_BAD_JSON, 2, "expected a value, found the end"},
        {"{", 0, SEINE_E_BAD_JSON, 1, "expected a name in quotes or '}', found the end"},
        {"{\"a\":1,}", 0, SEINE_E_BAD_JSON, 7, "expected a name in quotes, found '}'"},
        {"{\"a\" 1}", 0, SEINE_E_BAD_JSON, 5, "expected ':', found '1'"},
        {"{\"a\":1]", 0, SEINE_E_BAD_JSON, 6, "expected ',' or '}', found ']'"},
        {"[1 2]", 0, SEINE_E_BAD_JSON, 3, "expected ',' or ']', found '2'"},
        {"[1,]", 0, SEINE_E_BAD_JSON, 3, "expected a value, found ']'"},
        {"[1]]", 0, SEINE_E_BAD_JSON, 3, "expected the end of the text, found ']'"},
        {"1\0", 2, SEINE_E_BAD_JSON, 1, "expected the end of the text, found byte 0x00"},
        {"[-]", 0, SEINE_E_BAD_JSON, 2, "expected a digit, found ']'"},
        {"01", 0, SEINE_E_BAD_JSON, 0, "a number with a zero in front"},
        {"1.", 0, SEINE_E_BAD_JSON, 2, "expected a digit, found the end"},
        {"1e+", 0, SEINE_E_BAD_JSON, 3, "expected a digit, found the end"},
        {"tru", 0, SEINE_E_BAD_JSON, 3, "expected true, found the end"},
        {"nul1", 0, SEINE_E_BAD_JSON, 3, "expected null, found '1'"},
        {"falsy", 0, SEINE_E_BAD_JSON, 4, "expected false, found 'y'"},
        {"\"a", 0, SEINE_E_BAD_JSON, 2,
         "expected a \" that ends the string, found the end"},
        {"\"a\n\"", 0, SEINE_E_BAD_JSON, 2, "a control character in a string"},
        {"\"\xff\"", 0, SEINE_E_BAD_JSON, 1, "bytes that are not UTF-8"},
        {"\"\\x\"", 0, SEINE_E_BAD_JSON, 2,
         "expected one of \" \\ / b f n r t u, found 'x'"},
        {"\"\\u12g4\"", 0, SEINE_E_BAD_JSON, 5,
         "expected a hexadecimal digit, found 'g'"},
        {"\"\\ud800\"", 0, SEINE_E_BAD_JSON, 1, "half of a surrogate pair"},
        {"\"\\udc00\\ud800\"", 0, SEINE_E_BAD_JSON, 1, "half of a surrogate pair"},
        {"\"\\ud800\\u0041\"", 0, SEINE_E_BAD_JSON, 1, "half of a surrogate pair"},
        {"\xef\xbb\xbf{}", 0, SEINE_E_BAD_JSON, 0, "a byte order mark before the value"},
        {"'a'", 0, SEINE_E_BAD_JSON, 0, "expected a value, found '''"},
        {"{\"a\":\"b\" \"c\"", 0, SEINE_E_BAD_JSON, 9,
         "expected ',' or '}', found a quote"},
    };

    EACH_ROW(i, rows) {
        seine_json_fault fault = {99, "?"}, note = {98, "?"};
        size_t len = rows[i].len ? rows[i].len : strlen(rows[i].in);

        CHECK_EQ(seine_json_check(rows[i].in, len, &fault, &note), rows[i].err);
        CHECK_EQ(fault.offset, rows[i].offset);
        CHECK_STR(fault.text, rows[i].text);
        CHECK_EQ(note.offset, 98);
        CHECK_EQ(seine_json_check(rows[i].in, len, NULL, NULL), rows[i].err);
    }
}

TEST(json_check_notes_what_is_json_and_yet_not_read)
{
    static const struct {
        const char *in;
        size_t offset;
        const char *text; /* "": nothing to note */
    } rows[] = {
        {"{\"a\":1,\"b\":{\"a\":1},\"c\":[{\"a\":1},{\"a\":2}]}", 0, ""},
        {"{\"a\":1,\"a\":2}", 7, "a name that the object has already"},
        {"{\"a\":{\"x\":1},\"\\u0061\":2}", 13, "a name that the object has already"},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 18,
         "a name that the object has already"},
        {"{\"\\u00e9\\n\":1,\"\xc3\xa9\\u000a\":2}", 14,
         "a name that the object has already"},
        {"{\"\\u20ac\":1,\"\xe2\x82\xac\":2}", 12, "a name that the object has already"},
        {"{\"a\\u0000b\":1,\"a\":2}", 1, "a name with U+0000 in it"},
        {"{\"a\":\"\\u0000\"}", 0, ""},
        {"9223372036854775807", 0, ""},
        {"-9223372036854775808", 0, ""},
        {"[9223372036854775808]", 1, "an integer beyond 64 bits"},
        {"1.7976931348623157e308", 0, ""},
        {"-1.8E+308", 0, "a number beyond a double"},
        {"1e999999999999999999", 0, "a number beyond a double"},
        {"1e-999999999999999999", 0, ""}, /* that is zero */
        {"0.0000000000000000000000000000000000000000000000000000000000001e400", 0,
         "a number of more than 64 characters"},
        {"0.0000000000000000000000000000000000000000000000000000000001e366", 0, ""},
        {"0.0000000000000000000000000000000000000000000000000000000001e367", 0,
         "a number beyond a double"},
    };

    EACH_ROW(i, rows) {
        seine_json_fault note = {98, "?"};
        seine_json *json = NULL;

        CHECK_EQ(seine_json_check(rows[i].in, strlen(rows[i].in), NULL, &note), SEINE_OK);
        CHECK_STR(note.text, rows[i].text);
        CHECK_EQ(note.offset, rows[i].offset);
        if (rows[i].text[0]) /* and the reader keeps the word */
            CHECK_EQ(seine_json_parse(rows[i].in, strlen(rows[i].in), &json, NULL),
                     SEINE_E_BAD_JSON);
    }
}

TEST(json_check_bounds_depth_values_and_size)
{
    size_t n = 2 * SEINE_JSON_DEPTH;
    char deep[2 * SEINE_JSON_DEPTH + 3];
    seine_json_fault fault;
    char *many = malloc(2 * SN_JSON_VALUES + 2);

    for (size_t i = 0; i < SEINE_JSON_DEPTH; i++) {
        deep[i] = '[';
        deep[n - 1 - i] = ']';
    }
    CHECK_EQ(seine_json_check(deep, n, &fault, NULL), SEINE_OK);
    memset(deep, '[', SEINE_JSON_DEPTH + 1);
    CHECK_EQ(seine_json_check(deep, SEINE_JSON_DEPTH + 1, &fault, NULL),
             SEINE_E_JSON_TOO_DEEP);
    CHECK_EQ(fault.offset, SEINE_JSON_DEPTH);

    for (size_t i = 0; i < SN_JSON_VALUES; i++) {
        many[2 * i] = '1';
        many[2 * i + 1] = ',';
    }
    many[0] = '['; /* in the place of the first 1 and its comma */
    many[1] = ' ';
    many[2 * SN_JSON_VALUES - 1] = ']';
    CHECK_EQ(seine_json_check(many, 2 * SN_JSON_VALUES, &fault, NULL), SEINE_OK);
    many[0] = '['; /* one more */
    memcpy(many + 2 * SN_JSON_VALUES - 1, ",1]", 3);
    CHECK_EQ(seine_json_check(many, 2 * SN_JSON_VALUES + 2, &fault, NULL),
             SEINE_E_BAD_JSON);
    CHECK_STR(fault.text, "more than 1,000,000 values");
    CHECK_EQ(fault.offset, 2 * SN_JSON_VALUES);
    free(many);
    CHECK_EQ(seine_json_check("1", SEINE_JSON_BYTES + 1, &fault, NULL), SEINE_E_RANGE);
}

/* A second parser of RFC 8259, by recursion: where the value ends, or NULL. */
static const char *value(const char *p, const char *end, unsigned depth);

static const char *
blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

static const char *
string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7f)
            return NULL; /* the texts of the test are ASCII */
        if (*p != '\\')
            continue;
        if (++p == end)
            return NULL;
        if (*p == 'u') {
            for (int i = 1; i <= 4; i++)
                if (p + i >= end || sn_hex_digit(p[i]) < 0)
                    return NULL;
            if (sn_lower(p[1]) == 'd' && sn_hex_digit(p[2]) >= 8)
                return NULL; /* pairs have tests of their own */
            p += 4;
        } else if (!memchr("\"\\/bfnrt", *p, 8)) {
            return NULL;
        }
    }
    return p < end ? p + 1 : NULL;
}

static const char *
digits(const char *p, const char *end)
{
    const char *from = p;

    while (p < end && sn_is_digit(*p))
        p++;
    return p > from ? p : NULL;
}

static const char *
number(const char *p, const char *end)
{
    if (p < end && *p == '-')
        p++;
    if (p < end && *p == '0')
        p++;
    else if (!(p = digits(p, end)))
        return NULL;
    if (p < end && *p == '.' && !(p = digits(p + 1, end)))
        return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = digits(p, end);
    }
    return p;
}

static const char *
members(const char *p, const char *end, unsigned depth)
{
    char close = *p == '[' ? ']' : '}';

    p = blank(p + 1, end);
    if (p < end && *p == close)
        return p + 1;
    for (;;) {
        if (close == '}') {
            p = blank(p, end);
            if (p == end || *p != '"' || !(p = string(p, end)))
                return NULL;
            p = blank(p, end);
            if (p == end || *p++ != ':')
                return NULL;
        }
        if (!(p = value(p, end, depth)))
            return NULL;
        p = blank(p, end);
        if (p < end && *p == close)
            return p + 1;
        if (p == end || *p++ != ',')
            return NULL;
    }
}

static const char *
value(const char *p, const char *end, unsigned depth)
{
    static const char *const words[] = {"true", "false", "null"};

    p = blank(p, end);
    if (p == end)
        return NULL;
    if (*p == '[' || *p == '{')
        return depth == SEINE_JSON_DEPTH ? NULL : members(p, end, depth + 1);
    if (*p == '"')
        return string(p, end);
    for (int i = 0; i < 3; i++)
        if ((size_t)(end - p) >= strlen(words[i]) &&
            memcmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    return number(p, end);
}

TEST(json_check_agrees_with_a_second_reading_of_the_grammar)
{
    static const char *const seeds[] = {
        "{\"a\":[1,-2.5e3,true,null],\"b\":{\"c\":\"x\\n\\u00e9\"}}",
        "[[],{},[{}],\"\",0,false]", " [ 1 , 2 ] ", "-0.0E-1"};
    static const char letters[] = "[]{},:\"\\ 01e.-+tfnau/\n";
    sn_rng rng = sn_rng_seed(check_seed());
    int good = 0;

    for (int round = 0; round < 40000; round++) {
        char text[64];
        size_t n = strlen(seeds[round % 4]), changes = sn_rng_below(&rng, 4);

        memcpy(text, seeds[round % 4], n);
        while (changes-- > 0) {
            size_t at = sn_rng_below(&rng, n);

            if (sn_rng_below(&rng, 3) == 0 && n > 1) {
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
            } else {
                text[at] = letters[sn_rng_below(&rng, sizeof letters)];
            }
        }
        const char *end = value(text, text + n, 0);
        bool want = end && blank(end, text + n) == text + n;

        CHECK_EQ(seine_json_check(text, n, NULL, NULL) == SEINE_OK, want);
        good += want;
    }
    CHECK(good > 4000 && good < 36000);
}

TEST(json_check_finds_a_name_given_twice_among_many)
{
    enum { N = 3000 };
    static char text[N * 24];
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 20; round++) {
        size_t n = 1, twice = sn_rng_below(&rng, N - 1), at = 0;
        seine_json_fault note;

        text[0] = '{';
        for (size_t i = 0; i < N; i++) {
            if (i == N - 1)
                at = n;
            n += (size_t)snprintf(text + n, sizeof text - n, "\"n%zu\":{\"n%zu\":1}%s",
                                  i == N - 1 && round % 2 ? twice : i, i,
                                  i == N - 1 ? "}" : ",");
        }
        CHECK_EQ(seine_json_check(text, n, NULL, &note), SEINE_OK);
        CHECK_EQ(note.offset, round % 2 ? at : 0);
        CHECK_EQ(note.text[0] != '\0', round % 2);
    }
}

TEST(json_check_says_when_memory_runs_out)
{
    char text[4096];
    size_t n = 1;

    text[0] = '{';
    for (int i = 0; i < 150; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\"\\u00%02x%d\":1,", i, i);
    memcpy(text + n - 1, "}", 1);
    FAIL_EACH(r)
    {
        seine_json_fault fault = {0, ""};
        seine_err e = seine_json_check(text, n, &fault, NULL);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
    }
}

static char *
load(const char *folder, const char *name, size_t *out_n)
{
    char path[1024];
    static char bytes[1 << 20];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    *out_n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f)
        fclose(f);
    return bytes;
}

/* y_ is JSON, n_ is not; i_ is refused, except numbers (docs/internals/json.md). */
TEST(json_check_passes_the_vectors_of_the_json_test_suite)
{
    const char *root = check_vectors();
    char folder[512];
    int seen = 0;

    if (!root)
        return;
    snprintf(folder, sizeof folder, "%s/json-testsuite/test_parsing", root);
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        size_t n;
        bool is_number = strncmp(d->d_name, "i_number", 8) == 0;

        if (d->d_name[0] == '.')
            continue;
        char *bytes = load(folder, d->d_name, &n);
        bool good = seine_json_check(bytes, n, NULL, NULL) == SEINE_OK;
        if (good != (d->d_name[0] == 'y' || is_number))
            check_fail(__FILE__, __LINE__, "%s: %s", d->d_name,
                       good ? "taken" : "refused");
        seen++;
    }
    if (dir)
        closedir(dir);
    CHECK(seen > 100);
}
