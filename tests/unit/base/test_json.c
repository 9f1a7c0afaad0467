/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

static seine_json *
parsed(const char *text)
{
    seine_json *json = NULL;
    seine_json_fault fault = {0, ""};

    if (seine_json_parse(text, strlen(text), &json, &fault) != SEINE_OK)
        check_fail(__FILE__, __LINE__, "%s: %s at %zu", text, fault.text, fault.offset);
    return json;
}

static void
check_print(const char *file, int line, const seine_json *json, const char *want)
{
    seine_text text = {NULL, 0};

    if (seine_json_print(json, &text) != SEINE_OK)
        check_fail(file, line, "cannot print");
    check_str(file, line, "printed", text.bytes, want);
    check_eq(file, line, "length", (long long)text.len, (long long)strlen(want));
    seine_text_free(&text);
}

#define CHECK_PRINT(json, want) check_print(__FILE__, __LINE__, json, want)

TEST(json_reads_back_what_it_prints)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {" { \"b\" : 1 , \"a\" : [ true , false , null ] } ",
         "{\"b\":1,\"a\":[true,false,null]}"},           /* order kept, blanks gone */
        {"\"caf\\u00e9 \\ud83d\\ude00\"", "\"café 😀\""}, /* escapes become characters */
        {"[]", "[]"},
        {"{}", "{}"},
        {"0.1", "0.1"}, /* shortest, not 0.1000000000000000055 */
        {"3.0", "3.0"}, /* a real stays a real */
        {"1e21", "1e+21"},
        {"-0.0", "-0.0"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"\"\\u0000\"", "\"\\u0000\""}, /* a zero byte inside a string */
        {"7", "7"},
    };

    EACH_ROW(i, rows) {
        seine_json *json = parsed(rows[i].in);

        CHECK_PRINT(json, rows[i].out);
        seine_json_free(json);
    }
}

TEST(json_refuses_with_a_name_and_an_offset)
{
    static const struct {
        const char *in;
        seine_err err;
        long long offset; /* -1: any offset */
    } rows[] = {
        {"", SEINE_E_BAD_JSON, 0},
        {"{\"a\":1,}", SEINE_E_BAD_JSON, 7},
        {"{\"a\":1} x", SEINE_E_BAD_JSON, -1},       /* something follows */
        {"{\"a\":1,\"a\":2}", SEINE_E_BAD_JSON, 10}, /* the same key twice */
        {"9223372036854775808", SEINE_E_BAD_JSON, -1},
        {"1e999", SEINE_E_BAD_JSON, -1},
        {"NaN", SEINE_E_BAD_JSON, -1},
        {"\"\\ud800\"", SEINE_E_BAD_JSON, -1}, /* half a surrogate pair */
        {"\"\xff\"", SEINE_E_BAD_JSON, -1},
        {"{\"a\\u0000b\":1}", SEINE_E_BAD_JSON, -1},
        {"'a'", SEINE_E_BAD_JSON, -1},
    };

    EACH_ROW(i, rows) {
        seine_json *json = (seine_json *)(uintptr_t)1;
        seine_json_fault fault = {77, ""};

        CHECK_EQ(seine_json_parse(rows[i].in, strlen(rows[i].in), &json, &fault),
                 rows[i].err);
        CHECK(json == (seine_json *)(uintptr_t)1); /* untouched */
        CHECK(fault.text[0] != '\0');
        CHECK(fault.offset <= strlen(rows[i].in));
        if (rows[i].offset >= 0)
            CHECK_EQ(fault.offset, rows[i].offset);
        CHECK_EQ(seine_json_parse(rows[i].in, strlen(rows[i].in), &json, NULL),
                 rows[i].err);
    }
}

TEST(json_depth_is_capped_at_its_bound)
{
    char text[2 * SEINE_JSON_DEPTH + 3];
    seine_json *json = NULL;
    seine_json_fault fault;

    memset(text, '[', SEINE_JSON_DEPTH);
    memset(text + SEINE_JSON_DEPTH, ']', SEINE_JSON_DEPTH);
    CHECK_EQ(seine_json_parse(text, 2 * SEINE_JSON_DEPTH, &json, &fault), SEINE_OK);
    seine_json_free(json);

    memset(text, '[', SEINE_JSON_DEPTH + 1);
    memset(text + SEINE_JSON_DEPTH + 1, ']', SEINE_JSON_DEPTH + 1);
    CHECK_EQ(seine_json_parse(text, 2 * SEINE_JSON_DEPTH + 2, &json, &fault),
             SEINE_E_JSON_TOO_DEEP);
    CHECK_EQ(fault.offset, SEINE_JSON_DEPTH);
}

TEST(json_brackets_inside_strings_are_not_depth)
{
    char text[512];
    size_t n = 0;

    text[n++] = '"';
    memcpy(text + n, "\\\"", 2);
    n += 2;
    memset(text + n, '[', 200);
    n += 200;
    text[n++] = '"';

    seine_json *json = NULL;
    CHECK_EQ(seine_json_parse(text, n, &json, NULL), SEINE_OK);
    seine_json_free(json);
}

TEST(json_text_over_the_cap_is_refused_unread)
{
    seine_json *json = NULL;
    seine_json_fault fault;

    /* The length alone is refused: no byte of the text is read. */
    CHECK_EQ(seine_json_parse("1", SEINE_JSON_BYTES + 1, &json, &fault), SEINE_E_RANGE);
    CHECK_EQ(fault.offset, SEINE_JSON_BYTES);
}

TEST(json_readers_answer_for_their_type_alone)
{
    seine_json *json =
        parsed("{\"b\":true,\"i\":5,\"r\":0.5,\"s\":\"a\\u0000b\",\"a\":[1],\"n\":null}");
    bool b = false;
    int64_t i = 0;
    double r = 0;
    const char *s = NULL;
    size_t len = 0;

    CHECK(seine_json_bool(seine_json_get(json, "b"), &b) && b);
    CHECK(seine_json_int(seine_json_get(json, "i"), &i));
    CHECK_EQ(i, 5);
    CHECK(seine_json_number(seine_json_get(json, "i"), &r) && r == 5.0);
    CHECK(seine_json_number(seine_json_get(json, "r"), &r) && r == 0.5);
    CHECK(seine_json_string(seine_json_get(json, "s"), &s, &len));
    CHECK_EQ(len, 3);
    CHECK(memcmp(s, "a\0b", 4) == 0);

    CHECK(!seine_json_bool(seine_json_get(json, "i"), &b));
    CHECK(!seine_json_int(seine_json_get(json, "r"), &i));
    CHECK(!seine_json_number(seine_json_get(json, "s"), &r));
    CHECK(!seine_json_string(seine_json_get(json, "n"), &s, &len));
    CHECK(!seine_json_int(seine_json_get(json, "absent"), &i));
    CHECK(seine_json_get(seine_json_get(json, "i"), "x") == NULL);
    CHECK(seine_json_at(seine_json_get(json, "i"), 0) == NULL);
    CHECK(seine_json_at(seine_json_get(json, "a"), 1) == NULL);

    CHECK_EQ(seine_json_size(json), 6);
    CHECK_EQ(seine_json_size(seine_json_get(json, "a")), 1);
    CHECK_EQ(seine_json_size(seine_json_get(json, "s")), 0);
    CHECK_EQ(seine_json_size(NULL), 0);
    seine_json_free(json);
}

TEST(json_types_have_names_for_messages)
{
    static const struct {
        const char *in, *name;
        seine_json_type type;
    } rows[] = {
        {"null", "null", SEINE_JSON_NULL},
        {"false", "true or false", SEINE_JSON_BOOL},
        {"1", "an integer", SEINE_JSON_INT},
        {"1.5", "a number", SEINE_JSON_REAL},
        {"\"\"", "a string", SEINE_JSON_STRING},
        {"[]", "an array", SEINE_JSON_ARRAY},
        {"{}", "an object", SEINE_JSON_OBJECT},
    };

    EACH_ROW(i, rows) {
        seine_json *json = parsed(rows[i].in);

        CHECK_EQ(seine_json_type_of(json), rows[i].type);
        CHECK_STR(seine_json_type_name(rows[i].type), rows[i].name);
        seine_json_free(json);
    }
    CHECK_EQ(seine_json_type_of(NULL), SEINE_JSON_NULL);
    CHECK_STR(seine_json_type_name((seine_json_type)99), "null");
}

static bool
collect(const char *name, const seine_json *value, void *arg)
{
    char *names = arg;
    int64_t stop = 0;

    names[strlen(names)] = name[0];
    return !seine_json_int(value, &stop) || stop == 0;
}

TEST(json_each_member_comes_in_order_until_told_to_stop)
{
    char all[8] = "", some[8] = "";
    seine_json *json = parsed("{\"z\":0,\"a\":0,\"m\":0}");
    seine_json *stops = parsed("{\"z\":0,\"a\":1,\"m\":0}");

    CHECK(seine_json_each(json, collect, all));
    CHECK_STR(all, "zam");
    CHECK(!seine_json_each(stops, collect, some));
    CHECK_STR(some, "za");
    CHECK(seine_json_each(NULL, collect, some));
    seine_json_free(json);
    seine_json_free(stops);
}

TEST(json_is_built_member_by_member)
{
    seine_json *object = seine_json_new_object(), *array = seine_json_new_array();

    CHECK_EQ(seine_json_append(array, seine_json_new_int(-1)), SEINE_OK);
    CHECK_EQ(seine_json_append(array, seine_json_new_real(0.25)), SEINE_OK);
    CHECK_EQ(seine_json_append(array, seine_json_new_null()), SEINE_OK);
    CHECK_EQ(seine_json_set(object, "s", seine_json_new_string("a\0b", 3)), SEINE_OK);
    CHECK_EQ(seine_json_set(object, "b", seine_json_new_bool(false)), SEINE_OK);
    CHECK_EQ(seine_json_set(object, "list", array), SEINE_OK);
    CHECK_EQ(seine_json_set(object, "b", seine_json_new_bool(true)), SEINE_OK);
    CHECK_PRINT(object, "{\"s\":\"a\\u0000b\",\"b\":true,\"list\":[-1,0.25,null]}");

    seine_json *copy = seine_json_new_copy(object);
    seine_json_free(object);
    CHECK_PRINT(copy, "{\"s\":\"a\\u0000b\",\"b\":true,\"list\":[-1,0.25,null]}");
    seine_json_free(copy);
}

TEST(json_never_holds_what_cannot_be_printed)
{
    CHECK(seine_json_new_real(NAN) == NULL);
    CHECK(seine_json_new_real(INFINITY) == NULL);
    CHECK(seine_json_new_string("\xc0\xaf", 2) == NULL);

    char text[32] = "x";
    CHECK_EQ(sn_json_decimal(-INFINITY, text), 0);
    CHECK_STR(text, "");
}

TEST(json_setters_tell_a_wrong_type_from_no_memory)
{
    seine_json *object = seine_json_new_object(), *array = seine_json_new_array();

    CHECK_EQ(seine_json_set(array, "a", seine_json_new_int(1)), SEINE_E_INVAL);
    CHECK_EQ(seine_json_append(object, seine_json_new_int(1)), SEINE_E_INVAL);
    CHECK_EQ(seine_json_set(object, "a", NULL), SEINE_E_NOMEM);
    CHECK_EQ(seine_json_append(array, NULL), SEINE_E_NOMEM);
    CHECK_EQ(seine_json_set(NULL, "a", seine_json_new_int(1)), SEINE_E_NOMEM);
    CHECK_EQ(seine_json_append(NULL, seine_json_new_int(1)), SEINE_E_NOMEM);
    CHECK_PRINT(object, "{}");
    CHECK_PRINT(array, "[]");
    seine_json_free(object);
    seine_json_free(array);
    seine_json_free(NULL);
}

TEST(json_deeper_than_the_cap_is_not_printed)
{
    seine_json *in = seine_json_new_array();
    seine_text text = {NULL, 0};

    for (int i = 1; i < SEINE_JSON_DEPTH; i++) {
        seine_json *out = seine_json_new_array();

        CHECK_EQ(seine_json_append(out, in), SEINE_OK);
        in = out;
    }
    CHECK_EQ(seine_json_print(in, &text), SEINE_OK);
    CHECK_EQ(text.len, 2 * SEINE_JSON_DEPTH);
    seine_text_free(&text);

    seine_json *out = seine_json_new_object();
    CHECK_EQ(seine_json_set(out, "a", in), SEINE_OK);
    CHECK_EQ(seine_json_print(out, &text), SEINE_E_JSON_TOO_DEEP);
    CHECK(text.bytes == NULL);
    seine_json_free(out);
}

TEST(json_quote_makes_any_bytes_one_inert_line)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } rows[] = {
        {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\x1b[31m\x07", 6, "\"\\u001b[31m\\u0007\""},
        {"\x7f\xc2\x80\xc2\x9f\xc2\xa0", 7, "\"\\u007f\\u0080\\u009f\xc2\xa0\""},
        {"\xe2\x80\xa8\xe2\x80\xa9", 6, "\"\\u2028\\u2029\""},
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xff"
         "a",
         2,
         "\"\xef\xbf\xbd"
         "a\""},                                         /* not a first byte */
        {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* too long a form */
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
        {"\xf4\x90\x80\x80", 4,
         "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* over U+10FFFF */
        {"\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},          /* cut off */
        {"\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\""},
    };
    char out[128];

    EACH_ROW(i, rows) {
        CHECK_EQ(sn_json_quote(rows[i].in, rows[i].len, out, sizeof out),
                 strlen(rows[i].out));
        CHECK_STR(out, rows[i].out);
    }
}

TEST(json_quote_stays_in_its_buffer_and_tells_the_whole_length)
{
    char out[4] = "zzz";

    CHECK_EQ(sn_json_quote("abcdef", 6, out, sizeof out), 8);
    CHECK_STR(out, "\"ab");
    CHECK_EQ(sn_json_quote("abcdef", 6, NULL, 0), 8);
}

TEST(json_decimals_read_back_as_the_same_double)
{
    sn_rng rng = sn_rng_seed(check_seed());
    char text[32];

    for (int i = 0; i < 20000; i++) {
        uint64_t bits = sn_rng_next(&rng);
        double value;

        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        size_t n = sn_json_decimal(value, text);
        CHECK_EQ(n, strlen(text));
        CHECK(n < sizeof text);
        CHECK(strtod(text, NULL) == value);
    }
}

/* jansson has an allocator of its own, so the test makes that one fail. */
static long calls, fails_at, out;

static void *
get(size_t n)
{
    if (++calls == fails_at)
        return NULL;
    out++;
    return malloc(n);
}

static void
put_back(void *p)
{
    out -= p != NULL;
    free(p);
}

TEST(json_out_of_memory_is_named_and_leaks_nothing)
{
    static const char text[] = "[1,2.5,[true,{}],[[3]]]";
    seine_err e;

    json_set_alloc_funcs(get, put_back);
    fails_at = 0;
    do {
        seine_json *json = NULL, *object = NULL;

        fails_at++;
        calls = out = 0;
        e = seine_json_parse(text, strlen(text), &json, NULL);
        if (e == SEINE_OK) {
            object = seine_json_new_object();
            e = seine_json_set(object, "id", seine_json_new_copy(json));
        }
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_json_free(json);
        seine_json_free(object);
        CHECK_EQ(out, 0);
    } while (e != SEINE_OK && fails_at < 1000);
    CHECK(fails_at > 10 && fails_at < 1000);
    json_set_alloc_funcs(malloc, free);
}

TEST(json_print_without_memory_leaves_the_text_alone)
{
    seine_json *json = parsed("[1]");

    FAIL_EACH(r)
    {
        seine_text text = {NULL, 7};
        seine_err e = seine_json_print(json, &text);

        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && text.len == 7));
        if (e == SEINE_OK)
            seine_text_free(&text);
    }
    seine_json_free(json);
}

/* jansson alone would read the zero as the end of the text. */
TEST(json_text_goes_on_behind_a_zero)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {{"1\0", 2},   {"1\0002", 3}, {"-1.5e3\0", 7}, {"true\0", 5},
                {"[1]\0", 4}, {"{}\0}", 4},  {"\"a\"\0", 4}};

    EACH_ROW(i, rows) {
        seine_json *json = NULL;
        seine_json_fault fault;

        CHECK_EQ(seine_json_parse(rows[i].text, rows[i].len, &json, &fault),
                 SEINE_E_BAD_JSON);
        seine_json_free(json);
    }
}
