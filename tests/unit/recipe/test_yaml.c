/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/yaml.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

/* The text as JSON, or "LINE:COLUMN: why". */
static void
read_yaml(const char *text, char *out, size_t cap)
{
    seine_diag fault = SEINE_DIAG;
    sn_yaml *root = NULL;
    seine_text printed = {NULL, 0};
    sn_arena arena;

    sn_arena_init(&arena, 4096, 1 << 24);
    if (!sn_yaml_read(sn_str_of(text), &arena, &root, &fault)) {
        snprintf(out, cap, "%d:%d: %s", (int)fault.line, (int)fault.column, fault.text);
    } else {
        seine_json *json = sn_yaml_json(root);
        CHECK_EQ(seine_json_print(json, &printed), SEINE_OK);
        snprintf(out, cap, "%s", printed.bytes);
        seine_text_free(&printed);
        seine_json_free(json);
    }
    sn_arena_fini(&arena);
}

static const struct {
    const char *text, *want;
} rows[] = {
    {"a: 1\nb: [x, 2.5, true, null, '3', ~]",
     "{\"a\":1,\"b\":[\"x\",2.5,true,null,\"3\",null]}"},
    {"a: 007\nb: 1_000\nc: no\nd: 2024-11",
     "{\"a\":\"007\",\"b\":\"1_000\",\"c\":\"no\",\"d\":\"2024-11\"}"},
    {"a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}"},
    {"- {é: \"\\u00fc\"}", "[{\"é\":\"ü\"}]"},
    {"\xef\xbb\xbf"
     "a: 1\r\nb: 2\r\n",
     "{\"a\":1,\"b\":2}"},
    {"\xef\xbb\xbf"
     "[1]: 2",
     "1:1: a key must be a word"},
    {"", "1:1: the file is empty"},
    {"a: &x 1\nb: *x", "1:4: anchors and tags are not part of the language"},
    {"a: !!str 1", "1:4: anchors and tags are not part of the language"},
    {"[1]: 2", "1:1: a key must be a word"},
    {"a: 1\n---\nb: 2", "3:1: a second document"},
    {"a:\n\tb: 1", "2:1: a tab cannot indent; try blanks"},
    {"a: \"\\q\"", "1:5: no such escape in double quotes; try single quotes"},
    {"a: \xff", "1:4: bytes that are no text in UTF-8"},
};

TEST(yaml_is_read_or_told_where_it_is_wrong)
{
    EACH_ROW(i, rows) {
        char got[256];

        read_yaml(rows[i].text, got, sizeof got);
        CHECK_STR(got, rows[i].want);
    }
}

static void
note_repeat(const sn_yaml *again, const sn_yaml *first, void *arg)
{
    char *out = arg;
    size_t n = strlen(out);

    snprintf(out + n, 200 - n, "%u:%u of %u:%u ", again->line, again->col, first->line,
             first->col);
}

static void
repeats_of(const char *text, bool (*is_same)(sn_str, sn_str), char out[200])
{
    seine_diag fault = SEINE_DIAG;
    sn_yaml *root = NULL;
    sn_arena arena;

    out[0] = '\0';
    sn_arena_init(&arena, 4096, 1 << 24);
    CHECK(sn_yaml_read(sn_str_of(text), &arena, &root, &fault));
    const sn_yaml_repeats r = {is_same, note_repeat, out};
    CHECK(root && sn_yaml_repeats_find(root, &r));
    sn_arena_fini(&arena);
}

TEST(yaml_finds_every_key_that_stands_twice_in_its_map)
{
    static const char text[] = "a_b: 1\nc: {x: 1, x: 2, x: 3}\na-b: 2\n"
                               "d: [{x: 1}, {y: 1, y: 2}]\nc: 1\n";
    char got[200];

    repeats_of(text, sn_str_eq, got);
    CHECK_STR(got, "5:1 of 2:1 2:11 of 2:5 2:17 of 2:5 4:20 of 4:14 ");
    repeats_of(text, sn_yaml_same_key, got);
    CHECK_STR(got, "3:1 of 1:1 5:1 of 2:1 2:11 of 2:5 2:17 of 2:5 4:20 of 4:14 ");
}

TEST(yaml_is_bounded)
{
    char deep[256], got[256];

    memset(deep, '[', 40);
    deep[40] = '\0';
    read_yaml(deep, got, sizeof got);
    CHECK_STR(got, "1:33: nested too deep");
}

TEST(yaml_node_knows_where_its_text_stands)
{
    seine_diag fault = SEINE_DIAG;
    sn_yaml *root = NULL;
    sn_arena arena;

    sn_arena_init(&arena, 4096, 1 << 20);
    CHECK(
        sn_yaml_read(SN_STR("é: x\nbad_key:  'yy'\nc: \"\\t\""), &arena, &root, &fault));
    const sn_yaml *y = sn_yaml_get(root, "bad-key");
    CHECK(y && y->line == 2 && y->col == 11 && y->inner == 12 && y->exact && !y->plain);
    const sn_yaml *c = sn_yaml_get(root, "c");
    CHECK(c && !c->exact); /* an escape */
    CHECK_EQ(root->first->col, 4);
    sn_arena_fini(&arena);
}

/* A key without a value at the end of a text: libyaml counts a line behind it. */
TEST(yaml_node_at_the_end_of_a_text_stands_in_its_last_line)
{
    static const struct {
        const char *text;
        uint32_t line, col;
    } rows_of_ends[] = {
        {"?", 1, 2},           {"a: 1\n? b", 2, 4},       {"a: 1\r? b", 2, 4},
        {"a: 1\r\n? b", 2, 4}, {"a: 1\xc2\x85? b", 2, 4}, {"a: 1\n? b\n", 3, 1},
    };

    EACH_ROW(i, rows_of_ends) {
        seine_diag fault = SEINE_DIAG;
        sn_yaml *root = NULL;
        sn_arena arena;

        sn_arena_init(&arena, 4096, 1 << 20);
        CHECK(sn_yaml_read(sn_str_of(rows_of_ends[i].text), &arena, &root, &fault));
        const sn_yaml *last = root ? root->first : NULL;
        while (last && last->next)
            last = last->next;
        CHECK(last != NULL);
        if (last) {
            CHECK_EQ(last->line, rows_of_ends[i].line);
            CHECK_EQ(last->col, rows_of_ends[i].col);
        }
        sn_arena_fini(&arena);
    }
}
