/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/toml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

/* Parses and prints as JSON; "LINE:COLUMN: why" on failure. */
static const char *
read_bytes(const char *toml, size_t len)
{
    static char out[4096];
    seine_json *all = NULL;
    seine_text text = {0};
    seine_diag d = SEINE_DIAG;
    seine_err e = seine_toml_parse(toml, len, &all, &d);

    if (e == SEINE_OK) {
        CHECK_EQ(seine_json_print(all, &text), SEINE_OK);
        snprintf(out, sizeof out, "%s", text.bytes);
        seine_text_free(&text);
        seine_json_free(all);
    } else if (e == SEINE_E_PARSE) {
        snprintf(out, sizeof out, "%d:%d: %s", (int)d.line, (int)d.column, d.text);
    } else {
        snprintf(out, sizeof out, "%s", seine_err_name(e));
    }
    return out;
}

static const char *
read_text(const char *toml)
{
    return read_bytes(toml, strlen(toml));
}

TEST(toml_reads_what_its_standard_allows)
{
    static const struct {
        const char *toml, *want;
    } rows[] = {
        {"", "{}"},
        {"# only\r\n\r\n\t# comments", "{}"},
        {"\xef\xbb\xbf"
         "a = 1",
         "{\"a\":1}"},
        {"a = 1 # so\nb=2\r\nc =\t3", "{\"a\":1,\"b\":2,\"c\":3}"},
        /* keys */
        {"a-b_1 = 1\n1 = 2\n\"a b\" = 3\n'\"' = 4\n\"\" = 5",
         "{\"a-b_1\":1,\"1\":2,\"a b\":3,\"\\\"\":4,\"\":5}"},
        {"a.b.c = 1\na . d = 2\n\"x.y\".z = 3",
         "{\"a\":{\"b\":{\"c\":1},\"d\":2},\"x.y\":{\"z\":3}}"},
        {"3.14 = 'pi'", "{\"3\":{\"14\":\"pi\"}}"},
        /* strings */
        {"a = \"\\b\\t\\n\\f\\r\\\"\\\\\\u00e9\\U0001F600\"",
         "{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\\xc3\xa9\xf0\x9f\x98\x80\"}"},
        {"a = 'C:\\x\\n'", "{\"a\":\"C:\\\\x\\\\n\"}"},
        {"a = \"\"\"\none\n two\"\"\"", "{\"a\":\"one\\n two\"}"},
        {"a = \"\"\"a \\\n\n   b\"\"\"", "{\"a\":\"a b\"}"},
        {"a = \"\"\"\"\"two\"\"\"\"\"", "{\"a\":\"\\\"\\\"two\\\"\\\"\"}"},
        {"a = '''\r\nit's\r\n'''", "{\"a\":\"it's\\n\"}"},
        {"a = ''\nb = \"\"\nc = \"\"\"\"\"\"\nd = ''''''",
         "{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\"}"},
        /* numbers, booleans, dates */
        {"a = [+1, -0, 1_000, 0xFF, 0o17, 0b101, 9223372036854775807]",
         "{\"a\":[1,0,1000,255,15,5,9223372036854775807]}"},
        {"a = [1.5, +0.25, -1e3, 1_0.5_0E+2]", "{\"a\":[1.5,0.25,-1000.0,1050.0]}"},
        {"a = [true, false, inf, -nan]", "{\"a\":[true,false,\"inf\",\"-nan\"]}"},
        {"a = [2022-08-31, 07:32:00, 1979-05-27T07:32:00Z, 1979-05-27 "
         "00:32:00.9-07:00]",
         "{\"a\":[\"2022-08-31\",\"07:32:00\",\"1979-05-27T07:32:00Z\",\"1979-05-27 "
         "00:32:00.9-07:00\"]}"},
        {"d = 2022-08-31 # a comment", "{\"d\":\"2022-08-31\"}"},
        /* arrays and inline tables */
        {"a = [ # one\n  [1, 2],\n  [\"x\", {}], # two\n]", "{\"a\":[[1,2],[\"x\",{}]]}"},
        {"a = {b = 1, c.d = [2], \"e\" = {f = {}}}",
         "{\"a\":{\"b\":1,\"c\":{\"d\":[2]},\"e\":{\"f\":{}}}}"},
        /* tables */
        {"[a]\nb = 1\n[ c . d ]\ne = 2\n[c]\nf = 3",
         "{\"a\":{\"b\":1},\"c\":{\"d\":{\"e\":2},\"f\":3}}"},
        {"[[p]]\nn = 1\n[p.q]\nr = 2\n[[p]]\n[[p.s]]\nt = 3\n[[p.s]]",
         "{\"p\":[{\"n\":1,\"q\":{\"r\":2}},{\"s\":[{\"t\":3},{}]}]}"},
        {"[f]\na.b = 1\n[f.a.c]\nd = 2", "{\"f\":{\"a\":{\"b\":1,\"c\":{\"d\":2}}}}"},
        {"[\"lz4::x\"]\n\"a::b\" = [\"< 1\"]", "{\"lz4::x\":{\"a::b\":[\"< 1\"]}}"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_text(rows[i].toml), rows[i].want);
}

TEST(toml_says_where_a_text_is_wrong)
{
    static const struct {
        const char *toml, *want;
    } rows[] = {
        {"a", "1:2: = is missing behind the key"},
        {"a = ", "1:5: a value is missing"},
        {"a = 1 b = 2", "1:7: the line should end here"},
        {"= 1", "1:1: a key is missing"},
        {"a..b = 1", "1:3: a key is missing"},
        {"\n a = 1\n a = 2", "3:2: this key is given twice"},
        {"a.b = 1\na.b.c = 2",
         "2:1: a part of this key is no table, or complete already"},
        {"a = {b = 1}\na.c = 2",
         "2:1: a part of this key is no table, or complete already"},
        {"[a]\n[a]", "2:1: this table is defined twice"},
        {"a = 1\n[a]", "2:1: this table is defined twice"},
        {"[a]\nb.c = 1\n[a.b]", "3:1: this table is defined twice"},
        {"[a.b]\nc = 1\n[a]\nb.d = 2",
         "4:1: a part of this key is no table, or complete already"},
        {"a = {}\n[a.b]", "2:1: a part of this name is no table, or complete already"},
        {"a = []\n[[a]]", "2:1: this name has another value already"},
        {"[[a]]\n[a]", "2:1: this table is defined twice"},
        {"[a", "1:3: ] is missing"},
        {"[[a]", "1:5: ] is missing"},
        {"[a] b = 1", "1:5: the line should end here"},
        {"a = \"x", "1:5: the string does not end"},
        {"a = \"x\ny\"", "1:7: the string does not end"},
        {"a = '''x''", "1:5: the string does not end"},
        {"a = \"\\q\"", "1:7: an unknown escape"},
        {"a = \"\\ud800\"", "1:12: the escape is no character"},
        {"a = \"\\u12\"", "1:10: a digit of the escape is missing"},
        {"\"\\u0000\" = 1", "1:1: a key with a zero byte"},
        {"\"\"\"a\"\"\" = 1", "1:1: a key has no lines"},
        {"a = 'x\x01'", "1:7: a control character in a string"},
        {"# \x01", "1:3: a control character in a comment"},
        {"a = [1 2]", "1:8: , or ] is missing"},
        {"a = [,]", "1:6: a value is missing"},
        {"a = {b = 1,}", "1:12: a key is missing"},
        {"a = {b = 1\n}", "1:11: , or } is missing"},
        {"a = 01", "1:5: not a value of TOML"},
        {"a = 1__0", "1:5: not a value of TOML"},
        {"a = _1", "1:5: not a value of TOML"},
        {"a = 1.", "1:5: not a value of TOML"},
        {"a = .5", "1:5: not a value of TOML"},
        {"a = ++1", "1:5: not a value of TOML"},
        {"a = 0x", "1:5: not a value of TOML"},
        {"a = 0b2", "1:5: not a value of TOML"},
        {"a = 9223372036854775808", "1:5: not a value of TOML"},
        {"a = 2022-13-01", "1:5: not a value of TOML"},
        {"a = 25:00:00", "1:5: not a value of TOML"},
        {"a = True", "1:5: not a value of TOML"},
        {"a = null", "1:5: not a value of TOML"},
        {"a = \xff", "1:1: not UTF-8"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_text(rows[i].toml), rows[i].want);
}

TEST(toml_bounds_how_deep_and_how_much_it_reads)
{
    char *text = malloc(SEINE_TOML_BYTES + 2);

    memcpy(text, "a=", 2);
    memset(text + 2, '[', SEINE_TOML_DEPTH + 1);
    memset(text + 2 + SEINE_TOML_DEPTH, ']', SEINE_TOML_DEPTH + 2);
    CHECK_EQ(read_bytes(text, 2 + 2 * SEINE_TOML_DEPTH)[0], '{');
    memset(text + 2, '[', 100000);
    CHECK_STR(read_bytes(text, 100002), "range");
    for (size_t i = 0; i < 2 * SEINE_TOML_DEPTH + 2; i++)
        text[i] = "a."[i % 2];
    CHECK_STR(read_bytes(text, 2 * SEINE_TOML_DEPTH + 1), "range"); /* a.a.a… */
    memset(text, ' ', SEINE_TOML_BYTES + 1);
    CHECK_STR(read_bytes(text, SEINE_TOML_BYTES), "{}");
    CHECK_STR(read_bytes(text, SEINE_TOML_BYTES + 1), "range");
    free(text);
}

static const char *
deep_text(const char *begin, const char *piece, size_t n, const char *end)
{
    static char text[8192];
    sn_buf b;

    sn_buf_init(&b, sizeof text - 1);
    sn_buf_text(&b, begin);
    for (size_t i = 0; i < n; i++)
        sn_buf_text(&b, piece);
    sn_buf_text(&b, end);
    CHECK_EQ(sn_buf_done(&b), SEINE_OK);
    memcpy(text, b.ptr, b.len);
    text[b.len] = '\0';
    sn_buf_fini(&b);
    return read_text(text);
}

/* However the levels came to be: by dots, brackets, headers or all of them. */
TEST(toml_bounds_the_levels_of_the_tree)
{
    static const struct {
        const char *begin, *piece, *end;
        size_t most; /* pieces that are read */
    } rows[] = {
        {"a", ".a", "=1", SEINE_TOML_DEPTH - 1},
        {"[a", ".a", "]", SEINE_TOML_DEPTH - 1},
        {"[[a", ".a", "]]", SEINE_TOML_DEPTH - 2},
        {"[a.a.a]\na", ".a", "=1", SEINE_TOML_DEPTH - 3},
        {"[a.a.a]\na", ".a", "=[]", SEINE_TOML_DEPTH - 4},
        {"[a.a.a]\nb=1\na", ".a", "={}", SEINE_TOML_DEPTH - 4},
        {"[[a]]\n[[a.a]]\n[a.a.b", ".a", "]", SEINE_TOML_DEPTH - 5},
        {"a={b={c=1},a", ".a", "=1}", SEINE_TOML_DEPTH - 1},
        {"a.a.a={a", ".a", "=1}", SEINE_TOML_DEPTH - 3},
        {"a={a.a.a={a.a={a", ".a", "=1}}}", SEINE_TOML_DEPTH - 6},
    };

    EACH_ROW(i, rows) {
        const char *begin = rows[i].begin, *piece = rows[i].piece, *end = rows[i].end;

        CHECK_EQ(deep_text(begin, piece, rows[i].most, end)[0], '{');
        CHECK_STR(deep_text(begin, piece, rows[i].most + 1, end), "range");
    }
}

TEST(toml_survives_every_failing_allocation)
{
    static const char toml[] = "[a.b]\nc = \"x\"\nd.e = [1, {f = 2}]\n[[g]]\n'h' = 1\n";

    FAIL_EACH(n)
    {
        seine_json *all = NULL;
        seine_err e = seine_toml_parse(toml, sizeof toml - 1, &all, NULL);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_json_free(all);
    }
}
