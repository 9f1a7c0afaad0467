/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/jsonptr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seine/plumbing.h"

/* The document and the rows of RFC 6901, section 5. */
static const char rfc[] =
    "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
    "\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}";

static seine_json *
parsed(const char *text)
{
    seine_json *json = NULL;

    CHECK_EQ(seine_json_parse(text, strlen(text), &json, NULL), SEINE_OK);
    return json;
}

static void
expect(const seine_json *json, const char *pointer, const char *want)
{
    const seine_json *value = NULL;
    seine_text got = {0};

    CHECK_EQ(seine_jsonptr_get(json, pointer, strlen(pointer), &value), SEINE_OK);
    if (!value)
        return;
    CHECK_EQ(seine_json_print(value, &got), SEINE_OK);
    CHECK_STR(got.bytes, want);
    seine_text_free(&got);
}

TEST(jsonptr_means_what_rfc_6901_says)
{
    static const struct {
        const char *pointer, *want;
    } rows[] = {
        {"", rfc},
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
    };
    seine_json *json = parsed(rfc);

    EACH_ROW(i, rows)
        expect(json, rows[i].pointer, rows[i].want);
    seine_json_free(json);
}

TEST(jsonptr_tells_what_is_not_there_from_what_is_no_pointer)
{
    static const struct {
        const char *pointer;
        seine_err want;
    } rows[] = {
        {"/nope", SEINE_E_UNKNOWN},    {"/foo/2", SEINE_E_UNKNOWN},
        {"/foo/01", SEINE_E_UNKNOWN},  {"/foo/-", SEINE_E_UNKNOWN},
        {"/foo/1e0", SEINE_E_UNKNOWN}, {"/foo/+1", SEINE_E_UNKNOWN},
        {"/foo/0/x", SEINE_E_UNKNOWN}, {"/foo/18446744073709551616", SEINE_E_UNKNOWN},
        {"foo", SEINE_E_INVAL},        {"/a~", SEINE_E_INVAL},
        {"/a~2b", SEINE_E_INVAL},      {"#/foo", SEINE_E_INVAL},
    };
    seine_json *json = parsed(rfc);
    char long_one[SEINE_JSONPTR_BYTES + 1];

    EACH_ROW(i, rows) {
        const seine_json *value = NULL;

        CHECK_EQ(
            seine_jsonptr_get(json, rows[i].pointer, strlen(rows[i].pointer), &value),
            rows[i].want);
        CHECK(!value);
        CHECK_EQ(seine_jsonptr_valid(rows[i].pointer, strlen(rows[i].pointer)),
                 rows[i].want != SEINE_E_INVAL);
    }
    memset(long_one, '/', sizeof long_one);
    CHECK(seine_jsonptr_valid(long_one, SEINE_JSONPTR_BYTES));
    CHECK(!seine_jsonptr_valid(long_one, SEINE_JSONPTR_BYTES + 1));
    CHECK(!seine_jsonptr_valid("/\0", 2));
    seine_json_free(json);
}

typedef struct sum {
    int64_t total;
    int left;
} sum;

static bool
add(const seine_json *value, void *arg)
{
    sum *s = arg;
    int64_t n = 0;

    CHECK(seine_json_int(value, &n));
    s->total = s->total * 10 + n;
    return --s->left > 0;
}

TEST(jsonptr_means_every_element_where_many_are_wanted)
{
    seine_json *json = parsed("{\"a\":[{\"b\":1},{\"c\":9},{\"b\":2},{\"b\":3}],"
                              "\"d\":[[4,5],[6]],\"-\":7}");
    static const struct {
        const char *pointer;
        int most;
        int64_t want;
    } rows[] = {
        {"/a/-/b", 9, 123}, {"/a/-/b", 2, 12}, {"/d/-/-", 9, 456}, {"/d/-/0", 9, 46},
        {"/-", 9, 7},       {"/x/-", 9, 0},    {"/d/0/1", 9, 5},
    };

    EACH_ROW(i, rows) {
        sum s = {.left = rows[i].most};

        CHECK_EQ(
            seine_jsonptr_each(json, rows[i].pointer, strlen(rows[i].pointer), add, &s),
            SEINE_OK);
        CHECK_EQ(s.total, rows[i].want);
    }
    CHECK_EQ(seine_jsonptr_each(json, "x", 1, add, NULL), SEINE_E_INVAL);
    seine_json_free(json);
}
