/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/mime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

/* Parses the value and prints it again; "-" for no type. */
static const char *
read_bytes(const char *value, size_t len)
{
    static char mem[SEINE_MIME_ROOM], out[2 * SEINE_MIME_ROOM];
    seine_mime m;

    seine_mime_init(&m, mem, sizeof mem);
    seine_err e = seine_mime_parse(&m, value, len);
    CHECK(e == SEINE_OK || e == SEINE_E_PARSE);
    if (e != SEINE_OK) {
        CHECK_EQ(seine_mime_count(&m), 0);
        CHECK_STR(seine_mime_essence(&m).ptr, "");
        return "-";
    }
    size_t n = seine_mime_print(&m, out, sizeof out);
    CHECK_EQ(n, strlen(out));
    return out;
}

static const char *
read_text(const char *value)
{
    return read_bytes(value, strlen(value));
}

TEST(mime_reads_types_as_browsers_do)
{
    static const struct {
        const char *value, *want;
    } rows[] = {
        {"text/html", "text/html"},
        {"TEXT/HTML;CHARSET=GBK", "text/html;charset=GBK"},
        {" \t\r\ntext/html \r\n", "text/html"},
        {"text/html ;charset=gbk", "text/html;charset=gbk"},
        {"text/html; \t charset=gbk ", "text/html;charset=gbk"},
        {"application/ld+json", "application/ld+json"},
        {"!#$%&'*+-.^_`|~/x", "!#$%&'*+-.^_`|~/x"},
        /* No type. */
        {"", "-"},
        {" ", "-"},
        {"text", "-"},
        {"text/", "-"},
        {"/html", "-"},
        {"/", "-"},
        {"text/ ", "-"},
        {"text /html", "-"},
        {"text/ html", "-"},
        {"text/html/x", "-"},
        {"text/html,text/plain", "-"},
        {"text/html\f", "-"},
        {"\"text/html\"", "-"},
        {"te\377t/html", "-"},
        {";charset=x", "-"},
        /* Parameters that do not count. */
        {"a/b;", "a/b"},
        {"a/b;;;", "a/b"},
        {"a/b;x", "a/b"},
        {"a/b;x;y=1", "a/b;y=1"},
        {"a/b;x=", "a/b"},
        {"a/b;x=;y=1", "a/b;y=1"},
        {"a/b;x= ;y=1", "a/b;y=1"},
        {"a/b;x =1", "a/b"},
        {"a/b;x= 1", "a/b;x=\" 1\""}, /* the blank belongs to it */
        {"a/b;=1", "a/b"},
        {"a/b;(x=1", "a/b"},
        {"a/b;x=\0011;y=2", "a/b;y=2"},
        {"a/b;x=\1771", "a/b"},
        {"a/b;x=1;X=2", "a/b;x=1"}, /* the first counts */
        {"a/b;x=\";x=2", "a/b;x=\";x=2\""},
        /* Quoted values. */
        {"a/b;x=\"1\"", "a/b;x=1"},
        {"a/b;x=\"\"", "a/b;x=\"\""},
        {"a/b;x=\"1 2\"", "a/b;x=\"1 2\""},
        {"a/b;x=\"1\"junk;y=2", "a/b;x=1;y=2"},
        {"a/b;x=\"1;2\";y=2", "a/b;x=\"1;2\";y=2"},
        {"a/b;x=\"1\\\"2\\\\3\\4\"", "a/b;x=\"1\\\"2\\\\34\""},
        {"a/b;x=\"1", "a/b;x=1"},
        {"a/b;x=\"1\\", "a/b;x=\"1\\\\\""},
        {"a/b;x=\"", "a/b;x=\"\""},
        {"a/b;x='1'", "a/b;x='1'"},
        {"a/b;x=1\"2", "a/b;x=\"1\\\"2\""},
        {"a/b;x=\377\t1", "a/b;x=\"\377\t1\""},
        {"a/b;x=(1)", "a/b;x=\"(1)\""},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_text(rows[i].value), rows[i].want);
    CHECK_STR(read_bytes("a/b;x=\0;y=2", 11), "a/b;y=2");
    CHECK_STR(read_bytes("a\0/b", 4), "-");
}

TEST(mime_has_parts)
{
    char mem[SEINE_MIME_ROOM];
    seine_mime m;
    seine_view name, value;

    seine_mime_init(&m, mem, sizeof mem);
    CHECK_EQ(seine_mime_parse(&m, "Text/X-Html; A=1; CharSet=\"UTF-8\"", 33), SEINE_OK);
    CHECK_STR(seine_mime_essence(&m).ptr, "text/x-html");
    CHECK_EQ(seine_mime_essence(&m).len, 11);
    CHECK_EQ(seine_mime_type(&m).len, 4);
    CHECK(memcmp(seine_mime_type(&m).ptr, "text", 4) == 0);
    CHECK_STR(seine_mime_subtype(&m).ptr, "x-html");
    CHECK_EQ(seine_mime_subtype(&m).len, 6);
    CHECK(seine_mime_is(&m, "text/x-html"));
    CHECK(!seine_mime_is(&m, "text/x-htm"));
    CHECK(!seine_mime_is(&m, ""));
    CHECK_EQ(seine_mime_count(&m), 2);
    CHECK(seine_mime_param(&m, 1, &name, &value));
    CHECK_STR(name.ptr, "charset");
    CHECK_STR(value.ptr, "UTF-8");
    CHECK_EQ(value.len, 5);
    CHECK(!seine_mime_param(&m, 2, &name, &value));
    CHECK_STR(seine_mime_charset(&m).ptr, "UTF-8");
    CHECK(seine_mime_get(&m, "a", &value));
    CHECK_STR(value.ptr, "1");
    CHECK(!seine_mime_get(&m, "b", &value));
}

TEST(mime_is_empty_before_it_is_read_and_after_a_failure)
{
    char mem[SEINE_MIME_ROOM];
    seine_mime m;
    seine_view part;

    seine_mime_init(&m, mem, sizeof mem);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(seine_mime_essence(&m).len + seine_mime_type(&m).len, 0);
        CHECK_EQ(seine_mime_subtype(&m).len + seine_mime_charset(&m).len, 0);
        CHECK_STR(seine_mime_subtype(&m).ptr, "");
        CHECK(!seine_mime_param(&m, 0, &part, &part));
        CHECK_EQ(seine_mime_print(&m, mem, 0), 0);
        CHECK_EQ(seine_mime_parse(&m, "a/b;charset=x", 13), SEINE_OK);
        CHECK_EQ(seine_mime_parse(&m, "a/", 2), SEINE_E_PARSE);
    }
}

TEST(mime_keeps_16_parameters)
{
    char value[512] = "a/b", want[512] = "a/b";
    size_t n = 3, kept = 3;

    for (int i = 0; i < 20; i++) {
        n += (size_t)snprintf(value + n, sizeof value - n, ";p%d=v", i);
        if (i < 16)
            kept = n;
    }
    memcpy(want, value, kept);
    want[kept] = '\0';
    CHECK_STR(read_text(value), want);
}

TEST(mime_needs_memory_for_its_value_and_two_bytes)
{
    static const char value[] = "a/b;x=y";
    char mem[9];
    seine_mime m;

    seine_mime_init(&m, mem, sizeof mem);
    CHECK_EQ(seine_mime_parse(&m, value, 7), SEINE_OK);
    CHECK_STR(seine_mime_essence(&m).ptr, "a/b");
    seine_mime_init(&m, mem, 8);
    CHECK_EQ(seine_mime_parse(&m, value, 7), SEINE_E_RANGE);
    CHECK_STR(seine_mime_essence(&m).ptr, "");
    seine_mime_init(&m, mem, 1);
    CHECK_EQ(seine_mime_parse(&m, "", 0), SEINE_E_RANGE);
    seine_mime_init(&m, NULL, 0);
    CHECK_EQ(seine_mime_parse(&m, value, 7), SEINE_E_INVAL);
}

TEST(mime_prints_as_much_as_there_is_room_for)
{
    char mem[64], out[16];
    seine_mime m;

    seine_mime_init(&m, mem, sizeof mem);
    CHECK_EQ(seine_mime_parse(&m, "a/b;x=\"\\\\\"", 10), SEINE_OK);
    for (size_t size = 0; size <= sizeof out; size++) {
        memset(out, '#', sizeof out);
        CHECK_EQ(seine_mime_print(&m, out, size), 10);
        if (size > 0) {
            CHECK_EQ(strlen(out), size > 10 ? 10 : size - 1);
            CHECK(strncmp(out, "a/b;x=\"\\\\\"", strlen(out)) == 0);
        }
        CHECK(size == sizeof out || out[size] == '#');
    }
}

TEST(mime_reads_again_what_it_prints)
{
    static const char bits[] = "aB/;;==\"\"\\ \t(\377\0010";
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 20000; round++) {
        char value[64] = "a/b;", first[256];
        size_t n = 4;

        while (n < 32)
            value[n++] = bits[sn_rng_below(&rng, sizeof bits - 1)];
        snprintf(first, sizeof first, "%s", read_bytes(value, n));
        CHECK_STR(read_text(first), first);
    }
}
