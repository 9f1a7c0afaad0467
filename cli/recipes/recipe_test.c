/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/json_same.h"
#include "screen/say.h"
#include "screen/xalloc.h"

/* What came out of the page. */
typedef struct outcome {
    seine_json *good, *bad; /* lists of data */
    seine_json *golden;     /* a list of lines as the golden file has them */
    char *next;
    char dead[TEST_LINES][TEST_LINE]; /* selectors that find nothing */
    unsigned n_dead;
    bool told_dead; /* the first of them */
    test_result *out;
} outcome;

static void __attribute__((format(printf, 2, 3)))
differ(test_result *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (r->failed < TEST_LINES)
        vsnprintf(r->lines[r->failed], TEST_LINE, fmt, args);
    r->failed++;
    va_end(args);
}

static seine_json *
parsed(const char *text)
{
    seine_json *json = NULL;

    if (seine_json_parse(text, strlen(text), &json, NULL) != SEINE_OK)
        xalloc_json(NULL);
    return json;
}

static bool
on_row(const seine_row *row, void *arg)
{
    outcome *o = arg;
    seine_json *line = xalloc_json(seine_json_new_object());

    jsonl_add(row->ok ? o->good : o->bad, parsed(row->json));
    jsonl_set(line, "kind", jsonl_string(row->kind));
    if (!row->ok)
        jsonl_set(line, "ok", seine_json_new_bool(false));
    jsonl_set(line, "data", parsed(row->json));
    if (strcmp(row->errors, "[]") != 0)
        jsonl_set(line, "errors", parsed(row->errors));
    jsonl_add(o->golden, line);
    return true;
}

static void
on_lead(const seine_lead *lead, void *arg)
{
    outcome *o = arg;

    if (lead->is_next && !o->next)
        o->next = xalloc_copy(lead->url, strlen(lead->url));
}

static void
on_dead(const seine_dead_selector *dead, void *arg)
{
    outcome *o = arg;
    char near[200] = "";

    if (dead->nearest)
        snprintf(near, sizeof near, "; nearest: `%.120s` (%" PRIu32 ")", dead->nearest,
                 dead->count);
    if (o->n_dead < TEST_LINES)
        snprintf(o->dead[o->n_dead++], TEST_LINE, "%s%s`%.160s` matches nothing%s",
                 dead->field, dead->field[0] ? ": " : "", dead->selector, near);
}

static const char *
text_of(const seine_json *object, const char *name)
{
    const char *text = NULL;
    size_t len;

    return seine_json_string(seine_json_get(object, name), &text, &len) ? text : NULL;
}

/* "expected 29 shifts, got 0", and the reason if a selector finds nothing. */
static void
check_count(outcome *o, const seine_json *expect, const char *name, const char *what,
            uint64_t got)
{
    bool is_items = strcmp(name, "items") == 0 && got == 0 && o->n_dead > 0;
    int64_t want;

    if (!seine_json_int(seine_json_get(expect, name), &want) || (uint64_t)want == got)
        return;
    if (is_items)
        differ(o->out, "expected %" PRId64 " %s, got %" PRIu64 ": %.380s", want, what,
               got, o->dead[0]);
    else
        differ(o->out, "expected %" PRId64 " %s, got %" PRIu64, want, what, got);
    o->told_dead |= is_items;
    if (o->out->n_counted < 3)
        o->out->counted[o->out->n_counted++] = (struct test_count){name, got};
}

typedef struct row_differs {
    outcome *o;
    const char *which;
} row_differs;

static void
on_difference(const char *name, const seine_json *want, const seine_json *got, void *arg)
{
    const row_differs *d = arg;
    char *w = json_shown(want), *g = json_shown(got);

    differ(d->o->out, "%s: %s is %.180s, expected %.180s", d->which, name, g, w);
    free(w);
    free(g);
}

static void
check_row(outcome *o, const seine_json *expect, const char *which)
{
    const seine_json *want = seine_json_get(expect, which);
    size_t n = seine_json_size(o->good);
    row_differs d = {o, which};

    if (!want)
        return;
    if (n == 0)
        differ(o->out, "%s: there is no good row", which);
    else
        (void)json_differs(want, seine_json_at(o->good, which[0] == 'f' ? 0 : n - 1),
                           on_difference, &d);
}

typedef struct first_member {
    const seine_json *row;
    bool *is_same;
} first_member;

/* Looks at the first member of a wanted row alone. */
static bool
has_first(const char *name, const seine_json *want, void *arg)
{
    const first_member *f = arg;

    *f->is_same = json_same(want, seine_json_get(f->row, name));
    return false;
}

/* The good row that differs least from the one that is wanted; of two the one with the
 * same first member, which is what people name a row by. */
static const seine_json *
nearest_row(const seine_json *rows, const seine_json *want, unsigned *out_differs)
{
    const seine_json *row, *best = NULL;
    bool best_first = false;

    *out_differs = UINT32_MAX;
    for (size_t i = 0; (row = seine_json_at(rows, i)); i++) {
        bool first = true;
        unsigned n = json_differs(want, row, NULL, NULL);
        (void)seine_json_each(want, has_first, &(first_member){row, &first});
        if (n < *out_differs || (n == *out_differs && first && !best_first)) {
            *out_differs = n;
            best = row;
            best_first = first;
        }
    }
    return best;
}

static void
check_contains(outcome *o, const seine_json *expect)
{
    const seine_json *all = seine_json_get(expect, "contains"), *want;

    for (size_t i = 0; (want = seine_json_at(all, i)); i++) {
        row_differs d = {o, "  the nearest row"};
        unsigned n;
        const seine_json *near = nearest_row(o->good, want, &n);
        if (near && n == 0)
            continue;
        char *shown_want = json_shown(want);
        differ(o->out, "no row has %.300s", shown_want);
        free(shown_want);
        if (near)
            (void)json_differs(want, near, on_difference, &d);
    }
}

static void
check_next(outcome *o, const seine_json *expect)
{
    const seine_json *want = seine_json_get(expect, "next");
    const char *url = text_of(expect, "next");

    if (want && (url == NULL) != (o->next == NULL))
        differ(o->out, "next is %.200s, expected %.200s", o->next ? o->next : "null",
               url ? url : "null");
    else if (url && strcmp(url, o->next) != 0)
        differ(o->out, "next is %.200s, expected %.200s", o->next, url);
}

/* The lines of a golden file, as values; NULL: there is none. */
static seine_json *
read_golden(const char *path)
{
    seine_json *all = NULL;
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (!in)
        return NULL;
    all = xalloc_json(seine_json_new_array());
    while ((n = getline(&line, &cap, in)) > 0) {
        seine_json *one = NULL;
        if (n > 1 && seine_json_parse(line, (size_t)n, &one, NULL) == SEINE_OK)
            jsonl_add(all, one);
        else if (n > 1)
            jsonl_add(all, jsonl_string("no JSON"));
    }
    free(line);
    fclose(in);
    return all;
}

static bool
write_golden(const char *path, const seine_json *lines)
{
    const seine_json *one;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    for (size_t i = 0; out && (one = seine_json_at(lines, i)); i++) {
        char *line = json_shown(one);
        fprintf(out, "%s\n", line);
        free(line);
    }
    bool good = out && fclose(out) == 0 && seine_file_replace(path, text, n);
    free(text);
    return good;
}

/* Lines that differ: the first few, what is expected and what came. */
static void
compare_golden(outcome *o, const char *name, const seine_json *want)
{
    size_t n = seine_json_size(want), m = seine_json_size(o->golden);

    if (n != m)
        differ(o->out, "%s has %zu rows, got %zu", name, n, m);
    for (size_t i = 0; i < n && i < m; i++) {
        const seine_json *w = seine_json_at(want, i), *g = seine_json_at(o->golden, i);
        char which[64];
        row_differs d = {o, which};
        if (json_same(w, g))
            continue;
        snprintf(which, sizeof which, "row %zu", i + 1);
        unsigned count = json_differs(seine_json_get(w, "data"),
                                      seine_json_get(g, "data"), on_difference, &d);
        if (count == 0)
            (void)json_differs(w, g, on_difference, &d);
    }
}

static int
check_golden(const recipe_file *f, const seine_json *test, bool update, outcome *o)
{
    const char *name = text_of(test, "golden");
    unsigned before = o->out->failed;
    int code = SAY_DONE;

    if (!name)
        return SAY_DONE;
    char *path = recipe_path(f, name);
    seine_json *want = read_golden(path);
    if (want)
        compare_golden(o, name, want);
    else
        differ(o->out, "%s is not there; seine test --update writes it", name);
    if (update && o->out->failed > before) {
        o->out->updated = write_golden(path, o->golden);
        if (!o->out->updated)
            code = say_fail(SAY_MACHINE, NULL, "cannot write %s: %s", show(path).text,
                            show_errno(errno).text);
    }
    seine_json_free(want);
    free(path);
    return code;
}

/* Counts of each kind, and of bad rows. */
static void
count_rows(const recipe_file *f, outcome *o)
{
    const char *kind, *of;
    size_t used = 0, len;
    char *out = o->out->counts;

    for (size_t k = 0; (kind = seine_recipe_kind(f->recipe, k)); k++) {
        const seine_json *line;
        uint64_t n = 0;
        for (size_t i = 0; (line = seine_json_at(o->golden, i)); i++)
            n += seine_json_string(seine_json_get(line, "kind"), &of, &len) &&
                 strcmp(of, kind) == 0 && !seine_json_get(line, "ok");
        char part[64];
        recipe_count(n, kind, part, sizeof part);
        bool is_last = !seine_recipe_kind(f->recipe, k + 1);
        if ((n > 0 || (is_last && used == 0)) && used < sizeof o->out->counts)
            used += (size_t)snprintf(out + used, sizeof o->out->counts - used, "%s%s",
                                     used > 0 ? ", " : "", part);
    }
    if (seine_json_size(o->bad) > 0 && used < sizeof o->out->counts)
        snprintf(out + used, sizeof o->out->counts - used, ", %zu bad",
                 seine_json_size(o->bad));
}

static void
judge(const recipe_file *f, const seine_json *test, const seine_applied *got, outcome *o)
{
    const seine_json *expect = seine_json_get(test, "expect");
    const char *kind = seine_recipe_kind(f->recipe, 0);
    char rows[64];

    if (got->err != SEINE_OK)
        differ(o->out, "the page cannot be read: %s", seine_err_text(got->err));
    recipe_count(0, seine_recipe_kind(f->recipe, 1) ? "item" : kind, rows, sizeof rows);
    check_count(o, expect, "items", rows + 2, seine_json_size(o->good));
    check_count(o, expect, "bad", "bad rows", got->bad);
    check_count(o, expect, "links", "links", got->links);
    check_next(o, expect);
    check_row(o, expect, "first");
    check_row(o, expect, "last");
    check_contains(o, expect);
}

/* Bad rows are the usual reason for what is missing. */
static void
explain(outcome *o)
{
    const seine_json *line;

    for (unsigned i = o->told_dead; i < o->n_dead; i++)
        differ(o->out, "%s", o->dead[i]);
    for (size_t i = 0, told = 0; told < 3 && (line = seine_json_at(o->golden, i)); i++)
        if (seine_json_get(line, "ok")) {
            char *errors = json_shown(seine_json_get(line, "errors"));
            differ(o->out, "bad row %zu: %.300s", i + 1, errors);
            free(errors);
            told++;
        }
}

static int
run(const recipe_file *f, const seine_json *test, bool update, const bytes *body,
    const char *vars, outcome *o)
{
    seine_page page = SEINE_PAGE;
    seine_applied got;

    page.url = text_of(test, "url");
    page.kind = text_of(test, "kind");
    page.content_type = recipe_type_of(o->out->page);
    page.body = body->ptr;
    page.len = body->len;
    page.vars = vars;
    page.on_lead = on_lead;
    if (seine_recipe_apply(f->recipe, &page, on_row, o, &got) != SEINE_OK)
        xalloc_json(NULL);
    if (seine_recipe_dead(f->recipe, &page, on_dead, o) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    count_rows(f, o);
    o->out->good = seine_json_size(o->good);
    o->out->bad = got.bad;
    judge(f, test, &got, o);
    int code = check_golden(f, test, update, o);
    if (o->out->failed > 0)
        explain(o);
    return code;
}

/* The variables of the test and the defaults, as JSON. */
static int
test_vars(const recipe_file *f, const seine_json *test, const char *page, seine_text *out)
{
    const seine_json *given = seine_json_get(test, "vars");
    seine_diag diag = SEINE_DIAG;
    char *text = given ? json_shown(given) : NULL;
    seine_err e = seine_recipe_vars(f->recipe, text, out, &diag);

    free(text);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK)
        return say_fail(SAY_USAGE, NULL, "%s: the test of %s: variable '%s' %s", f->path,
                        page, diag.member, diag.text);
    return SAY_DONE;
}

int
recipe_test(const recipe_file *f, const seine_json *test, bool update, test_result *out)
{
    outcome *o = xalloc_zeroed(1, sizeof *o);
    seine_text vars = {NULL, 0};
    bytes body = {NULL, 0, NULL};

    o->good = xalloc_json(seine_json_new_array());
    o->bad = xalloc_json(seine_json_new_array());
    o->golden = xalloc_json(seine_json_new_array());
    o->out = out;
    memset(out, 0, sizeof *out);
    out->page = text_of(test, "page");
    char *path = recipe_path(f, out->page);
    int code = test_vars(f, test, out->page, &vars);
    if (code == SAY_DONE)
        code = bytes_file_of(path, f->path, &body);
    if (code == SAY_DONE)
        code = run(f, test, update, &body, vars.bytes, o);
    bytes_free(&body);
    seine_text_free(&vars);
    free(path);
    free(o->next);
    seine_json_free(o->good);
    seine_json_free(o->bad);
    seine_json_free(o->golden);
    free(o);
    return code;
}
