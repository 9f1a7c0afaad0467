/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* The words with bars between them. */
static void
join(char **words, char *out, size_t cap)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; words[i]; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s%s", i ? "|" : "", words[i]);
}

TEST(command_line_is_split_like_sh_does)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"a b  c", "a|b|c"},        {" \t a\nb ", "a|b"},
        {"'a b' c", "a b|c"},       {"a'b c'd", "ab cd"},
        {"\"a 'b' c\"", "a 'b' c"}, {"'a \"b\" c'", "a \"b\" c"},
        {"a\\ b \\'", "a b|'"},     {"\"a\\\"b\\\\c\\$d\\`e\\f\"", "a\"b\\c$d`e\\f"},
        {"'a\\b'", "a\\b"},         {"a '' \"\"", "a||"},
        {"$HOME *", "$HOME|*"}, /* no shell ever sees it */
    };

    EACH_ROW(i, rows) {
        command_line c;
        char got[256];

        CHECK(!command_line_read(&c, rows[i].text));
        join(c.words, got, sizeof got);
        CHECK_STR(got, rows[i].words);
        command_line_free(&c);
    }
}

TEST(command_line_without_words_or_with_an_open_quote_is_refused)
{
    static const char *const rows[] = {"",          " \t\n", "a 'b",  "\"",
                                       "a \"b\\\"", "a\\",   "{/a~2}"};

    EACH_ROW(i, rows) {
        command_line c;

        CHECK(command_line_read(&c, rows[i]));
        CHECK(!c.words && c.count == 0);
    }
}

/* What a command becomes for a line; the reason in brackets where it is refused. */
static void
fill(const char *command, const char *text, size_t len, char *out, size_t cap)
{
    command_line c;
    paced_line line;
    char bad[128] = "";

    CHECK(!command_line_read(&c, command));
    CHECK(paced_line_read(&line, text, len, bad));
    char **argv = command_line_fill(&c, &line, bad);
    if (argv)
        join(argv, out, cap);
    else
        snprintf(out, cap, "(%s)", bad);
    free(argv);
    paced_line_clear(&line);
    command_line_free(&c);
}

TEST(command_line_places_take_the_line_or_its_members)
{
    static const struct {
        const char *command, *line, *argv;
    } rows[] = {
        {"run {}", "a b", "run|a b"},
        {"run", "a b", "run|a b"},
        {"run x{}y{}", " v ", "run|xvyv"},
        {"run {}", "{\"url\":\"http://e/\"}", "run|http://e/"},
        {"run {}", "{\"a\":1}", "run|{\"a\":1}"},
        {"run {/a} {/b/0} {/c~1d}", "{\"a\":1.5,\"b\":[true],\"c/d\":\"x\"}",
         "run|1.5|true|x"},
        {"run {/a}", "{\"a\":\"{}\"}", "run|{}"}, /* a value has no places */
        {"run {/a}", "{\"a\":null}", "(no member /a)"},
        {"run {/a}", "a", "(no member /a)"},
        {"run {/a}", "{\"a\":\"x\\u0000y\"}",
         "(a zero byte cannot be part of a command)"},
        {"run {a} { } {", "v", "run|{a}|{|}|{|v"},
    };

    EACH_ROW(i, rows) {
        char got[256];

        fill(rows[i].command, rows[i].line, strlen(rows[i].line), got, sizeof got);
        CHECK_STR(got, rows[i].argv);
    }
}

TEST(paced_line_that_begins_like_json_has_to_be_json)
{
    paced_line line;
    char why[128];

    CHECK(!paced_line_read(&line, "{\"a\":", 5, why));
    CHECK(strncmp(why, "no JSON: ", 9) == 0);
    paced_line_clear(&line);
    CHECK(paced_line_read(&line, "[1", 2, why)); /* only { begins a request */
    paced_line_clear(&line);
}
