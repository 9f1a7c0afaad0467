/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "screen/textbuf.h"

static seine_view
view_of(const char *text)
{
    return (seine_view){text, strlen(text)};
}

/* The members as "name=text;", and "!" where the scan gave up. */
static void
members_of(const char *text, textbuf *out)
{
    json_scan s = json_scan_object(view_of(text));
    seine_view name;
    json_value v;

    out->len = 0;
    textbuf_put(out, "%s", "");
    while (json_scan_next(&s, &name, &v))
        textbuf_put(out, "%.*s=%.*s;", (int)name.len, name.ptr, (int)v.text.len,
                    v.text.ptr);
    if (!json_scan_is_whole(&s))
        textbuf_put(out, "!");
}

TEST(json_scan_gives_members_and_knows_what_is_no_object)
{
    static const struct {
        const char *text, *members;
    } rows[] = {
        {"{}", ""},
        {" { \"a\" : 1 , \"b\" : \"x\" } ", "a=1;b=x;"},
        {"{\"a\":{\"b\":[1,{\"c\":\"}\"}]},\"d\":[]}",
         "a={\"b\":[1,{\"c\":\"}\"}]};d=[];"},
        {"{\"a\":\"q\\\"uote\",\"b\":true}", "a=q\\\"uote;b=true;"},
        {"{\"a\":\"\\\\\",\"b\":null}", "a=\\\\;b=null;"},
        {"", "!"},
        {"[1]", "!"},
        {"{\"a\":1", "!"},
        {"{\"a\":\"x", "!"},
        {"{\"a\":\"x\\", "!"},
        {"{\"a\"}", "!"},
        {"{\"a\":}", "!"},
        {"{\"a\":[1}", "!"},
        {"{\"a\":1}x", "a=1;!"},
        {"{\"a\":1,", "a=1;!"},
    };
    textbuf out = {NULL, 0, 0};

    EACH_ROW(i, rows) {
        members_of(rows[i].text, &out);
        CHECK_STR(out.text, rows[i].members);
    }
    textbuf_free(&out);
}

TEST(json_scan_gives_items)
{
    json_scan s = json_scan_array(view_of("[1, \"x\", {\"a\":2}]"));
    json_value v;
    size_t n = 0;

    while (json_scan_item(&s, &v))
        n++;
    CHECK_EQ(n, 3u);
    CHECK_EQ((int)v.kind, (int)JSON_OBJECT);
    CHECK(json_scan_is_whole(&s));
}

TEST(json_string_takes_escapes_away)
{
    static const struct {
        const char *raw, *want;
    } rows[] = {
        {"plain", "plain"},
        {"a\\n\\t\\\"\\\\\\/b", "a\n\t\"\\/b"},
        {"\\u0041\\u00e4\\u20ac", "Aä€"},
        {"\\ud83d\\ude00", "😀"},
        {"\\ud83d", "\xef\xbf\xbd"}, /* half of a pair */
        {"\\ude00x", "\xef\xbf\xbdx"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd"
                           "A"},
        {"x\\u00", "x?"}, /* cut off: no more bytes than there were */
    };

    EACH_ROW(i, rows) {
        char room[64], *at = room;
        json_value v = {JSON_STRING, strchr(rows[i].raw, '\\') != NULL,
                        view_of(rows[i].raw)};
        seine_view got = json_text(&v, &at);

        CHECK_EQ(got.len, strlen(rows[i].want));
        CHECK(memcmp(got.ptr, rows[i].want, got.len) == 0);
        CHECK((size_t)(at - room) <= strlen(rows[i].raw));
    }
}

TEST(json_numbers_saturate_and_keep_three_decimals)
{
    static const struct {
        const char *text;
        uint64_t count;
        seine_span ms;
    } rows[] = {
        {"0", 0, 0},
        {"42", 42, SEINE_MS(42)},
        {"38.125", 38, SEINE_US(38125)},
        {"0.0015", 0, 1500}, /* ns */
        {"-7", 0, 0},
        {"99999999999999999999999", UINT64_C(9999999999999999999), -1},
    };

    EACH_ROW(i, rows) {
        json_value v = {JSON_NUMBER, false, view_of(rows[i].text)};

        CHECK_EQ(json_count(&v), rows[i].count);
        if (rows[i].ms >= 0)
            CHECK_EQ(json_ms(&v), rows[i].ms);
        else
            CHECK(json_ms(&v) > 0);
    }
}

/* A long string of escapes takes time in proportion to its length: 8 MB of them end. */
TEST(json_scan_looks_at_each_byte_of_a_string_a_few_times)
{
    size_t n = 8 << 20;
    char *text = malloc(n + 16);
    json_value v;
    seine_view name;

    memcpy(text, "{\"a\":\"", 6);
    for (size_t i = 0; i < n; i += 2)
        memcpy(text + 6 + i, "\\t", 2);
    memcpy(text + 6 + n, "\"}", 2);
    json_scan s = json_scan_object((seine_view){text, n + 8});
    CHECK(json_scan_next(&s, &name, &v));
    CHECK_EQ(v.text.len, n);
    CHECK(json_scan_is_whole(&s));
    free(text);
}
