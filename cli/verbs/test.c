/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_edit.h"
#include "recipes/recipe_record.h"
#include "recipes/recipe_test.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts vars;
    bool update, record;
    int format;
} settings;

enum { AS_TEXT, AS_JSONL, AS_JUNIT };

static int run_test(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"update", NULL, KIND_FLAG, AT(update),
     .help = "write golden files and numbers of rows anew where they differ",
     .more = "What differs is shown first. Of `expect` the numbers `items`, `bad` and `links` are changed in the recipe; rows and URLs under it stay as they are."},
    {"record", NULL, KIND_FLAG, AT(record),
     .help = "fetch the start pages first, save them in pages/ and add their tests",
     .more = "At most ten pages, by the options of the recipe, robots.txt obeyed. A page that is tested already is saved anew in its place."},
    {"var", NULL, KIND_LIST, "NAME=V", AT(vars),
     .help = "of --record: the value of a variable; may be repeated"},
    {"format", "f", KIND_CHOICE, "text|jsonl|junit", "text", AT(format),
     .help = "how the results are written"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine test recipes/shop/shop.yaml", "Does the recipe still read its saved pages?"},
    {"seine test -f jsonl recipes/blog/blog.yaml recipes/tickets/tickets.yaml", "Several recipes, for a script:"},
    {NULL, NULL},
};

const command cmd_test = {
    .name = "test",
    .arguments = "RECIPE…",
    .about = "run the tests of recipes, without a network but for --record",
    .text = "A test names a saved page and what must come out of it: numbers of rows, rows, the next page, or a golden file with all rows. "
            "Where a selector finds nothing, the nearest one that does is shown. Mistakes of a recipe are all shown, with line and column, and the exit code is 2. "
            "A test that fails is exit code 6.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_test,
};
/* clang-format on */

/* Results so far. */
typedef struct tally {
    unsigned passed, failed;
    int format;
} tally;

static void
show_text(const test_result *r)
{
    out_print("%s %-32s ", r->failed > 0 ? "FAIL" : "ok  ", show(r->page).text);
    if (r->failed == 0) {
        out_print("%s\n", r->counts);
        return;
    }
    for (unsigned i = 0; i < r->failed && i < TEST_LINES; i++) {
        out_text(i > 0 ? "     " : "");
        out_line(r->lines[i], strlen(r->lines[i]));
    }
    if (r->failed > TEST_LINES)
        out_print("     and %u more\n", r->failed - TEST_LINES);
    if (r->updated)
        out_print("     the golden file was written anew\n");
    if (r->edited)
        out_print("     numbers in the recipe were changed\n");
}

static void
show_jsonl(const recipe_file *f, const test_result *r)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_json *lines = xalloc_json(seine_json_new_array());

    for (unsigned i = 0; i < r->failed && i < TEST_LINES; i++)
        jsonl_add(lines, jsonl_string(r->lines[i]));
    jsonl_set(out, "recipe", jsonl_string(f->path));
    jsonl_set(out, "page", jsonl_string(r->page));
    jsonl_set(out, "ok", seine_json_new_bool(r->failed == 0));
    jsonl_set(out, "counts", jsonl_string(r->counts));
    jsonl_set(out, "differences", lines);
    out_json(out);
}

/* XML has no control characters, and five characters have names. */
static void
put_xml(const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            out_text("&amp;");
            break;
        case '<':
            out_text("&lt;");
            break;
        case '>':
            out_text("&gt;");
            break;
        case '"':
            out_text("&quot;");
            break;
        default:
            out_bytes((unsigned char)*text < ' ' ? " " : text, 1);
        }
}

static void
show_junit(const recipe_file *f, const test_result *r)
{
    out_text("  <testcase classname=\"");
    put_xml(f->path);
    out_text("\" name=\"");
    put_xml(r->page);
    out_text(r->failed > 0 ? "\"><failure message=\"" : "\"/>\n");
    if (r->failed == 0)
        return;
    put_xml(r->lines[0]);
    out_text("\">");
    for (unsigned i = 0; i < r->failed && i < TEST_LINES; i++) {
        put_xml(r->lines[i]);
        out_text("\n");
    }
    out_text("</failure></testcase>\n");
}

static void
show_result(const recipe_file *f, const test_result *r, tally *t)
{
    t->passed += r->failed == 0;
    t->failed += r->failed > 0;
    if (t->format == AS_TEXT)
        show_text(r);
    else if (t->format == AS_JSONL)
        show_jsonl(f, r);
    else
        show_junit(f, r);
}

/* Changes the numbers of rows that the i-th test of the recipe expects. */
static int
edit_counts(recipe_file *f, size_t test, test_result *r)
{
    int code = SAY_DONE;

    for (size_t i = 0; i < r->n_counted && code == SAY_DONE; i++) {
        const struct test_count *c = &r->counted[i];
        char *text = recipe_edit_count(f, test, c->name, c->got);
        if (text)
            code = recipe_edit_save(f, text);
        r->edited |= text != NULL;
        free(text);
    }
    return code;
}

static int
test_file(const char *path, const args *a, tally *t)
{
    const settings *set = a->settings;
    recipe_file f;
    int code = recipe_open(&f, path);
    if (code == SAY_DONE && set->record)
        code = recipe_record(&f, &set->vars, a);
    seine_json *tests = code == SAY_DONE ? recipe_part(&f, "tests") : NULL;
    const seine_json *one;

    if (code == SAY_DONE && seine_json_size(tests) == 0)
        code = say_fail(SAY_USAGE, "a list of saved pages under tests: in the recipe",
                        "%s has no tests", show(path).text);
    for (size_t i = 0; (one = seine_json_at(tests, i)); i++) {
        test_result *r = xalloc_zeroed(1, sizeof *r);
        int now = recipe_test(&f, one, set->update, r);
        if (now == SAY_DONE && set->update && r->n_counted > 0)
            now = edit_counts(&f, i, r);
        if (now == SAY_DONE)
            show_result(&f, r, t);
        code = code == SAY_DONE ? now : code; /* the others are tested all the same */
        free(r);
    }
    seine_json_free(tests);
    recipe_close(&f);
    return code;
}

/* A recipe with mistakes does not keep the others from being tested. */
static int
run_test(const args *a)
{
    const settings *set = a->settings;
    tally t = {0, 0, set->format};
    int code = SAY_DONE;

    if (t.format == AS_JUNIT)
        out_text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"seine "
                 "test\">\n");
    for (size_t i = 0; i < a->count; i++) {
        int one = test_file(a->words[i], a, &t);
        code = code == SAY_DONE ? one : code;
        out_flush();
    }
    if (t.format == AS_JUNIT)
        out_text("</testsuite>\n");
    else if (t.format == AS_TEXT && t.passed + t.failed > 1)
        out_print("%u passed, %u failed\n", t.passed, t.failed);
    return code != SAY_DONE ? code : t.failed > 0 ? SAY_EXPECTED : SAY_DONE;
}
