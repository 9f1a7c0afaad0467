/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/config.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static seine_config *
config_of(const char *text)
{
    seine_config *c = NULL;

    CHECK_EQ(seine_config_parse(text, strlen(text), "t.yaml", &c), SEINE_OK);
    return c;
}

/* "1:2 text|3:4 text" */
static void
mistakes_of(const seine_config *c, char *out, size_t cap)
{
    const seine_diag *d;
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; (d = seine_config_mistake(c, i)) && n < cap; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s%d:%d %s", i > 0 ? "|" : "",
                              (int)d->line, (int)d->column, d->text);
}

static const struct {
    const char *text, *want;
} files[] = {
    {"", ""}, /* nothing is said, and nothing is wrong */
    {"# a comment\n", ""},
    {"---\n", ""},
    {"~", ""},
    {"a: 1\nb: {c: d}", ""},
    {"- a", "1:1 a configuration is a map of keys and values; try host-rate: 5/s"},
    {"a: &x 1", "1:4 anchors and tags are not part of the language"},
    {"a: {", "1:5 a value is missing, or a '{' or '[' above is not closed"},
    /* All repeated keys are told, and - and _ are the same. */
    {"a-b: 1\na_b: 2\nc: {d: 1, d: 2}\n",
     "2:1 key 'a_b' stands twice; the first is in line 1|"
     "3:11 key 'd' stands twice; the first is in line 3"},
};

TEST(config_tells_what_is_wrong_with_a_file_as_such)
{
    EACH_ROW(i, files) {
        seine_config *c = config_of(files[i].text);
        char got[512];

        mistakes_of(c, got, sizeof got);
        CHECK_STR(got, files[i].want);
        seine_config_free(c);
    }
}

TEST(config_is_a_tree_of_nodes_that_know_their_lines)
{
    seine_config *c =
        config_of("rate: 5/s\nlist: [a, 'b c']\nhosts:\n  e.example: {x_y: on}\n");
    const seine_config_node *root = seine_config_root(c);
    const seine_config_node *list = seine_config_get(root, "list");
    const seine_config_node *host =
        seine_config_get(seine_config_get(root, "hosts"), "e.example");

    CHECK_STR(seine_config_text(seine_config_get(root, "rate")), "5/s");
    CHECK_EQ(seine_config_kind_of(list), SEINE_CONFIG_LIST);
    CHECK_STR(seine_config_text(seine_config_next(seine_config_first(list))), "b c");
    CHECK_EQ(seine_config_line(host), 4);
    CHECK_EQ(seine_config_column(host), 14);
    CHECK_EQ(seine_config_column(NULL), 0);
    CHECK_STR(seine_config_text(seine_config_get(host, "x-y")), "on");
    CHECK_STR(seine_config_key(seine_config_first(host)), "x_y");
    CHECK(seine_config_get(root, "nothing") == NULL);
    seine_config_free(c);
}

TEST(config_names_the_nearest_word_for_an_unknown_key)
{
    static const char *const words[] = {"host-rate", "per-host", NULL};
    seine_config *c = config_of("host_rate: 1\nper-hots: 2\nzebra: 3\n");
    char got[512];

    for (const seine_config_node *n = seine_config_first(seine_config_root(c)); n;
         n = seine_config_next(n))
        CHECK_EQ(seine_config_knows(c, n, "t", words, "a book"),
                 seine_config_line(n) == 1);
    mistakes_of(c, got, sizeof got);
    CHECK_STR(got, "2:1 unknown key 'per-hots' in t; try per-host|"
                   "3:1 unknown key 'zebra' in t; try a book");
    seine_config_free(c);
}

TEST(config_keeps_the_first_twenty_mistakes_in_order)
{
    seine_config *c = config_of("a: 1\nb: 2\n");
    const seine_config_node *a = seine_config_first(seine_config_root(c));
    size_t n = 0;

    seine_config_wrong(c, seine_config_next(a), "second");
    for (int i = 0; i < 30; i++)
        seine_config_wrong_key(c, a, "first");
    while (seine_config_mistake(c, n))
        n++;
    CHECK_EQ(n, SEINE_DIAG_MAX);
    CHECK_STR(seine_config_mistake(c, n - 1)->text, "first");
    seine_config_free(c);
}

TEST(config_survives_every_failing_allocation)
{
    const char *text = "a: {b: [1, 2], c: d}\ne: f\n";

    FAIL_EACH(n)
    {
        seine_config *c = NULL;
        seine_err e = seine_config_parse(text, strlen(text), "t.yaml", &c);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_config_free(c);
    }
}
