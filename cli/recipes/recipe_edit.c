/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_edit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/config.h>
#include <seine/plumbing.h>

#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

static char *
text_of(const recipe_file *f)
{
    return xalloc_copy(f->yaml.ptr ? f->yaml.ptr : "", f->yaml.len);
}

static const char *
next_line(const char *at)
{
    const char *end = strchr(at, '\n');

    return end ? end + 1 : at + strlen(at);
}

/* The line "tests:" if its list is a block and the last part of the recipe. */
static const char *
last_tests(const char *text)
{
    const char *found = NULL;

    for (const char *at = text; *at; at = next_line(at)) {
        if (strncmp(at, "tests:", 6) == 0 &&
            strspn(at + 6, " \r") == strcspn(at + 6, "\n"))
            found = at;
        else if (found && !isspace((unsigned char)*at) && *at != '-' && *at != '#')
            return NULL;
    }
    return found;
}

/* How far the entries of the list are indented; -1: there are none. */
static int
indent_of(const char *tests)
{
    for (const char *at = next_line(tests); *at; at = next_line(at)) {
        size_t n = strspn(at, " ");
        if (at[n] == '-')
            return (int)n;
    }
    return -1;
}

static size_t
count_tests(const seine_recipe *r)
{
    const char *text = seine_recipe_part(r, "tests");
    seine_json *json = NULL;

    if (text && seine_json_parse(text, strlen(text), &json, NULL) != SEINE_OK)
        xalloc_json(NULL);
    size_t n = seine_json_size(json);
    seine_json_free(json);
    return n;
}

/* Is the text a recipe with so many tests? */
static bool
has_tests(const recipe_file *f, const char *text, size_t n)
{
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    seine_recipe *r = NULL;

    o.name = f->path;
    o.zone = zone_bytes_get;
    o.arg = (void *)&f->zones;
    bool is = seine_recipe_parse(text, strlen(text), &o, &r, wrong) == SEINE_OK &&
              count_tests(r) == n;
    seine_recipe_free(r);
    return is;
}

char *
recipe_edit_add(const recipe_file *f, const char *lines)
{
    char *text = text_of(f);
    const char *tests = last_tests(text);
    size_t before = count_tests(f->recipe), added = 0, n = strlen(text);
    int indent = tests ? indent_of(tests) : 2;
    textbuf out = {NULL, 0, 0};

    textbuf_put(&out, "%s%s%s", text, n > 0 && text[n - 1] != '\n' ? "\n" : "",
                before == 0 && !tests ? "tests:\n" : "");
    for (const char *at = lines; *at; at = next_line(at), added++)
        textbuf_put(&out, "%*s%.*s", indent < 0 ? 2 : indent, "",
                    (int)(next_line(at) - at), at);
    free(text);
    bool is_clear = tests || before == 0;
    if (is_clear && has_tests(f, out.text, before + added))
        return out.text;
    textbuf_free(&out);
    return NULL;
}

/* The number `name` under `expect` of the i-th test; NULL: none. */
static const seine_config_node *
find_count(const seine_config *c, size_t i, const char *name)
{
    const seine_config_node *test =
        seine_config_first(seine_config_get(seine_config_root(c), "tests"));

    while (test && i-- > 0)
        test = seine_config_next(test);
    return seine_config_get(seine_config_get(test, "expect"), name);
}

static seine_config *
tree_of(const char *text)
{
    seine_config *c = NULL;

    if (seine_config_parse(text, strlen(text), NULL, &c) != SEINE_OK)
        xalloc_json(NULL);
    return c;
}

/* The text at a line and a column, which counts characters; both from 1. */
static const char *
text_at(const char *text, uint32_t line, uint32_t column)
{
    while (line-- > 1)
        text = next_line(text);
    while (column-- > 1 && *text)
        do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

static bool
has_count(const char *text, size_t test, const char *name, const char *want)
{
    seine_config *c = tree_of(text);
    bool is = strcmp(seine_config_text(find_count(c, test, name)), want) == 0;

    seine_config_free(c);
    return is;
}

char *
recipe_edit_count(const recipe_file *f, size_t test, const char *name, uint64_t to)
{
    char *text = text_of(f), number[32];
    seine_config *c = tree_of(text);
    const seine_config_node *n = find_count(c, test, name);
    const char *from = seine_config_text(n);
    const char *at = text_at(text, seine_config_line(n), seine_config_column(n));
    textbuf out = {NULL, 0, 0};

    snprintf(number, sizeof number, "%" PRIu64, to);
    if (from[0] && strncmp(at, from, strlen(from)) == 0)
        textbuf_put(&out, "%.*s%s%s", (int)(at - text), text, number, at + strlen(from));
    seine_config_free(c);
    free(text);
    if (out.text && has_tests(f, out.text, count_tests(f->recipe)) &&
        has_count(out.text, test, name, number))
        return out.text;
    textbuf_free(&out);
    return NULL;
}

int
recipe_edit_save(recipe_file *io_f, const char *text)
{
    const char *path = io_f->path;

    if (!seine_file_replace(path, text, strlen(text)))
        return say_fail(SAY_MACHINE, NULL, "cannot write %s: %s", show(path).text,
                        show_errno(errno).text);
    recipe_close(io_f);
    return recipe_open(io_f, path);
}
