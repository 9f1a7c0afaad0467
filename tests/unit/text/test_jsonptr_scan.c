/* SPDX-License-Identifier: Apache-2.0 */
#include "text/jsonptr_scan.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "failing.h"
#include "seine/jsonptr.h"
#include "seine/plumbing.h"

static seine_err
add_value(size_t pointer, sn_str value, void *arg)
{
    sn_buf_printf(arg, "%zu=%.*s ", pointer, (int)value.len, value.ptr);
    return SEINE_OK;
}

static const char *
scan(const char *const *pointers, const char *text, sn_buf *out)
{
    sn_jsonptr_set set = {NULL, 0};

    sn_buf_reset(out);
    for (size_t i = 0; pointers[i]; i++)
        CHECK_EQ(sn_jsonptr_set_add(&set, sn_str_of(pointers[i])), SEINE_OK);
    CHECK_EQ(sn_jsonptr_scan(&set, sn_str_of(text), add_value, out), SEINE_OK);
    sn_jsonptr_set_fini(&set);
    return out->ptr ? out->ptr : "";
}

TEST(jsonptr_scan_finds_the_values_of_all_pointers_in_one_pass)
{
    static const struct {
        const char *pointers[5], *text, *want;
    } rows[] = {
        {{""}, "7", "0=7 "},
        {{"", "/0", "/-"}, "[1,[2]]", "1=1 2=1 2=[2] 0=[1,[2]] "},
        {{"/a/-/b", "/a"},
         "{\"a\":[{\"b\":1},{\"c\":2},{\"b\":3}]}",
         "0=1 0=3 1=[{\"b\":1},{\"c\":2},{\"b\":3}] "},
        {{"/a", "/a"}, "{\"b\":{\"a\":0},\"a\":\"x\"}", "0=\"x\" 1=\"x\" "},
        {{"/-", "/0"}, "{\"-\":1,\"0\":2}", "0=1 1=2 "},
        {{"/00", "/01", "/1"}, "[5,6]", "2=6 "},
        {{"/-/-", "/1/0"}, "[[1,2],[3]]", "0=1 0=2 0=3 1=3 "},
        {{"/a~1b", "/c~0d", "/\""}, "{\"a/b\":1,\"c~d\":2,\"\\\"\":3}", "0=1 1=2 2=3 "},
        {{"/"}, "{\"\":{\"\":1}}", "0={\"\":1} "},
        {{"/a/b"}, "{\"a\":\"b\"}", ""},
        {{"/a/b"}, "{\"a\":[],\"x\":{},\"y\":[[],{}]}", ""},
        {{"/y/1", "/z"},
         "{\"x\":\"]}\\\"\",\"y\":[\"}\",{\"k\":[1]}],\"z\":null}",
         "0={\"k\":[1]} 1=null "},
    };
    sn_buf out;

    sn_buf_init(&out, 1 << 16);
    EACH_ROW(i, rows)
        CHECK_STR(scan(rows[i].pointers, rows[i].text, &out), rows[i].want);
    sn_buf_fini(&out);
}

static seine_err
stop(size_t pointer, sn_str value, void *arg)
{
    (void)value;
    ++*(int *)arg;
    return pointer == 1 ? SEINE_E_FULL : SEINE_OK;
}

TEST(jsonptr_scan_ends_with_the_error_of_its_caller)
{
    sn_jsonptr_set set = {NULL, 0};
    int calls = 0;

    CHECK_EQ(sn_jsonptr_set_add(&set, SN_STR("/-")), SEINE_OK);
    CHECK_EQ(sn_jsonptr_set_add(&set, SN_STR("/2")), SEINE_OK);
    CHECK_EQ(sn_jsonptr_scan(&set, SN_STR("[1,2,3,4,5]"), stop, &calls), SEINE_E_FULL);
    CHECK_EQ(calls, 4);
    CHECK_EQ(sn_jsonptr_set_add(&set, SN_STR("x")), SEINE_E_INVAL);
    while (set.n < SN_JSONPTR_POINTERS)
        CHECK_EQ(sn_jsonptr_set_add(&set, SN_STR("/a")), SEINE_OK);
    CHECK_EQ(sn_jsonptr_set_add(&set, SN_STR("/a")), SEINE_E_FULL);
    sn_jsonptr_set_fini(&set);
}

TEST(jsonptr_scan_goes_as_deep_as_json_may)
{
    char text[2 * SEINE_JSON_DEPTH + 2], pointer[2 * SEINE_JSON_DEPTH + 1];
    const char *pointers[] = {pointer, NULL};
    sn_buf out;

    sn_buf_init(&out, 1 << 16);
    memset(text, '[', SEINE_JSON_DEPTH);
    text[SEINE_JSON_DEPTH] = '1';
    memset(text + SEINE_JSON_DEPTH + 1, ']', SEINE_JSON_DEPTH);
    text[2 * SEINE_JSON_DEPTH + 1] = '\0';
    for (size_t i = 0; i < SEINE_JSON_DEPTH; i++)
        memcpy(pointer + 2 * i, i % 2 ? "/0" : "/-", 2);
    pointer[2 * SEINE_JSON_DEPTH] = '\0';
    CHECK_STR(scan(pointers, text, &out), "0=1 ");
    sn_buf_fini(&out);
}

TEST(jsonptr_scan_survives_every_failing_allocation)
{
    FAIL_EACH(n)
    {
        sn_jsonptr_set set = {NULL, 0};
        seine_err e = sn_jsonptr_set_add(&set, SN_STR("/a/b"));

        if (e == SEINE_OK)
            e = sn_jsonptr_set_add(&set, SN_STR("/c"));
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_jsonptr_set_fini(&set);
    }
}
