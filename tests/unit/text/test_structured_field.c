/* SPDX-License-Identifier: Apache-2.0 */
#include "text/structured_field.h"

#include "check.h"

/* Reads a whole list; the first member and the number of all parameters. */
static bool
list(const char *text, sn_field_item *out_first, int *out_parameters)
{
    sn_cursor t = sn_trimmed(text, strlen(text)), key;
    sn_field_item item, value;
    bool is_first = true;

    *out_parameters = 0;
    while (!sn_ended(&t)) {
        sn_field_more more;

        if (!sn_field_member(&t, &item))
            return false;
        while ((more = sn_field_parameter(&t, &key, &value)) == SN_FIELD_MORE)
            ++*out_parameters;
        if (more == SN_FIELD_BAD || !sn_field_comma(&t))
            return false;
        if (is_first)
            *out_first = item;
        is_first = false;
    }
    return true;
}

static bool
reads(const char *text)
{
    sn_field_item item;
    int n;

    return list(text, &item, &n);
}

TEST(structured_field_reads_every_kind_of_item)
{
    static const struct {
        const char *in;
        sn_field_kind kind;
        int64_t n;
        const char *text;
    } rows[] = {
        {"42", SN_FIELD_INTEGER, 42, ""},
        {"-0", SN_FIELD_INTEGER, 0, ""},
        {"-999999999999999", SN_FIELD_INTEGER, -999999999999999, ""},
        {"007", SN_FIELD_INTEGER, 7, ""},
        {"4.5", SN_FIELD_DECIMAL, 4500, ""},
        {"-0.001", SN_FIELD_DECIMAL, -1, ""},
        {"999999999999.999", SN_FIELD_DECIMAL, 999999999999999, ""},
        {"\"\"", SN_FIELD_STRING, 0, ""},
        {"\"a b\"", SN_FIELD_STRING, 0, "a b"},
        {"\"\\\"\\\\\"", SN_FIELD_STRING, 0, "\\\"\\\\"},
        {"foo123/456", SN_FIELD_TOKEN, 0, "foo123/456"},
        {"*", SN_FIELD_TOKEN, 0, "*"},
        {"A:b!", SN_FIELD_TOKEN, 0, "A:b!"},
        {":aGk=:", SN_FIELD_BYTES, 0, "aGk="},
        {":aGk:", SN_FIELD_BYTES, 0, "aGk"},   /* padding may be missing */
        {":iZ==:", SN_FIELD_BYTES, 0, "iZ=="}, /* and bits behind it set */
        {"::", SN_FIELD_BYTES, 0, ""},
        {"?1", SN_FIELD_BOOLEAN, 1, ""},
        {"?0", SN_FIELD_BOOLEAN, 0, ""},
        {"@1659578233", SN_FIELD_DATE, 1659578233, ""},
        {"@-1", SN_FIELD_DATE, -1, ""},
        {"%\"f%c3%bc!\"", SN_FIELD_DISPLAY, 0, "f%c3%bc!"},
        {"%\"%f0%9f%98%80\"", SN_FIELD_DISPLAY, 0, "%f0%9f%98%80"},
        {"%\"\"", SN_FIELD_DISPLAY, 0, ""},
        {"()", SN_FIELD_INNER, 0, ""},
        {"(  1   \"(\" a;x=:aGk=:  )", SN_FIELD_INNER, 0, ""},
    };

    EACH_ROW(i, rows) {
        sn_field_item item = {.kind = SN_FIELD_INNER};
        int n;

        CHECK(list(rows[i].in, &item, &n));
        CHECK_EQ(item.kind, rows[i].kind);
        CHECK_EQ(item.n, rows[i].n);
        size_t len = item.text.at ? (size_t)(item.text.end - item.text.at) : 0;
        CHECK(len == strlen(rows[i].text) &&
              (len == 0 || memcmp(item.text.at, rows[i].text, len) == 0));
    }
}

TEST(structured_field_reads_lists_with_parameters)
{
    static const struct {
        const char *in;
        int parameters;
    } rows[] = {
        {"", 0},
        {"a, b ,c\t,\td", 0},
        {"a;x, b;y=1; z=\"2\"", 3},
        {"a;*k_-.9=?0", 1},
        {"(1;in 2);out", 1}, /* those of an inner list's items are its own */
        {"1;a=(", -1},
        {"a;  x", 1},
    };

    EACH_ROW(i, rows) {
        sn_field_item item;
        int n;
        bool good = list(rows[i].in, &item, &n);

        CHECK_EQ(good, rows[i].parameters >= 0);
        if (good)
            CHECK_EQ(n, rows[i].parameters);
    }
}

TEST(structured_field_refuses_what_the_grammar_does_not_know)
{
    static const char *const rows[] = {
        "1000000000000000", /* 16 digits */
        "-1000000000000000",
        "0000000000000001",
        "1.",
        "1.2345",
        "1000000000000.1", /* 13 and 1 */
        ".5",
        "--1",
        "-",
        "+1",
        "- 1",
        "1a",
        "\"a",
        "\"\\a\"",
        "\"\\",
        "\"\t\"",
        "\"\x7f\"",
        "\"\xc3\xa4\"",
        "'a'",
        ":aGk=",
        ":a:",     /* six bits are no byte */
        ":aGk==:", /* too much padding */
        ":a=Gk:",
        ":aG k:",
        ":aGk-:", /* another alphabet */
        ":====:",
        ":=:",
        "?",
        "?2",
        "?01",
        "@",
        "@1.5",
        "@x",
        "%a",
        "%\"a",
        "%\"%C3%BC\"", /* capitals */
        "%\"%c3\"",    /* no UTF-8 */
        "%\"%c3a\"",
        "%\"%ed%a0%80\"",
        "%\"%f5%80%80%80\"",
        "%\"%e\"",
        "%\"%\"",
        "%\"\t\"",
        "%\"\xc3\xbc\"",
        "(",
        "(1",
        "(1 2",
        "(1,2)",
        "(1 (2))",
        "(\"a\"\"b\")",
        "(1\t2)",
        "1)",
        "a,",
        ",a",
        "a,,b",
        "a b",
        "a;",
        "a;A",
        "a;1",
        "a;x=",
        "a;x=(1)",
        "a ;x",
        "a; =1",
        "a;\tx",
        "=",
    };

    EACH_ROW(i, rows)
        CHECK(!reads(rows[i]));
}
