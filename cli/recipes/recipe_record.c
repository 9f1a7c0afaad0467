/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_record.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seine/fetch.h>

#include "options/fetch_opts.h"
#include "recipes/json_same.h"
#include "recipes/recipe_edit.h"
#include "recipes/recipe_target.h"
#include "recipes/recipe_test.h"
#include "recipes/recipe_vars.h"
#include "recipes/run_options.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

enum { PAGES = 10 }; /* start pages that are recorded */

typedef struct saved_page {
    char *url, *vars; /* vars: JSON, what the page knows beside defaults */
    char *body, *why; /* body NULL: `why` */
    size_t len;
    bool is_json;
} saved_page;

typedef struct recording {
    recipe_file *f;
    seine_text vars;
    seine_json *request;
    seine_field fields[64];
    size_t n_fields;
    seine_fetch *fetch;
    saved_page pages[PAGES];
    size_t n, left; /* left: pages beyond these */
    textbuf lines;  /* tests to add */
    int code;
} recording;

/* Fetching. */

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    recording *g = arg;
    size_t i = r->id.len == 1 ? (size_t)(r->id.ptr[0] - '0') : PAGES;

    (void)shard;
    if (i >= g->n)
        return;
    saved_page *p = &g->pages[i];
    if (r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK) {
        p->body = xalloc_copy(r->body.ptr ? r->body.ptr : "", r->body.len);
        p->len = r->body.len;
        p->is_json = r->content_type.len > 0 &&
                     memmem(r->content_type.ptr, r->content_type.len, "json", 4);
    } else {
        p->why = r->message.len > 0 ? xalloc_copy(r->message.ptr, r->message.len)
                                    : xalloc_copy("not asked for", 13);
    }
}

static bool
on_start(const seine_lead *lead, void *arg)
{
    recording *g = arg;
    seine_ask ask = SEINE_ASK;
    char id = (char)('0' + g->n);

    if (lead->is_sitemap) {
        g->code = say_fail(SAY_USAGE, "a page of it, saved by hand",
                           "start is a sitemap: there is no start page to record");
        return false;
    }
    if (g->n == PAGES) {
        g->left++;
        return true;
    }
    saved_page *p = &g->pages[g->n++];
    p->url = xalloc_copy(lead->url, strlen(lead->url));
    p->vars = xalloc_copy(lead->carry ? lead->carry : "{}",
                          lead->carry ? strlen(lead->carry) : 2);
    ask.url = (seine_view){p->url, strlen(p->url)};
    ask.id = (seine_view){&id, 1};
    ask.fields = g->fields;
    ask.n_fields = g->n_fields;
    if (seine_fetch_add(g->fetch, &ask, NULL) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return true;
}

static bool
add_header(const char *name, const seine_json *value, void *arg)
{
    recording *g = arg;
    const char *text = "";
    size_t n = 0;

    (void)seine_json_string(value, &text, &n);
    if (g->n_fields == sizeof g->fields / sizeof *g->fields)
        return false;
    g->fields[g->n_fields++] = (seine_field){{name, strlen(name)}, {text, n}};
    return true;
}

static int
read_request(recording *g)
{
    seine_diag diag = SEINE_DIAG;
    seine_text text = {NULL, 0};
    seine_err e = seine_recipe_request(g->f->recipe, g->vars.bytes, &text, &diag);

    if (e == SEINE_E_CONFIG)
        return say_fail(SAY_USAGE, NULL, "%s: request: '%s' %s", show(g->f->path).text,
                        diag.member, diag.text);
    if (e != SEINE_OK ||
        seine_json_parse(text.bytes, text.len, &g->request, NULL) != SEINE_OK)
        xalloc_json(NULL);
    seine_text_free(&text);
    (void)seine_json_each(seine_json_get(g->request, "headers"), add_header, g);
    return SAY_DONE;
}

static int
fetch_pages(recording *g, const fetch_plan *plan)
{
    seine_fetch_opts o = plan->opts;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    o.on_record = on_record;
    o.arg = g;
    o.threads = 1;
    o.keep = SEINE_KEEP_BODY | SEINE_KEEP_FIELDS;
    if (seine_fetch_new(&o, &g->fetch, &diag) != SEINE_OK) {
        seine_diag_print(&diag, o.names, line, sizeof line);
        return say_fail(SAY_USAGE, NULL, "%s", line);
    }
    seine_err e =
        seine_recipe_start(g->f->recipe, g->vars.bytes, NULL, on_start, g, &diag);
    if (e != SEINE_OK && g->code == SAY_DONE)
        g->code = say_fail(SAY_USAGE, NULL, "%s: '%s' %s", show(g->f->path).text,
                           diag.member, diag.text);
    (void)!seine_fetch_finish(g->fetch, NULL);
    seine_fetch_free(g->fetch);
    return g->code;
}

/* Saving. */

/* "2024-11" of https://amion.example/2024/11, "list-page-1" of …/list?page=1. */
static void
name_page(const char *url, char *out, size_t cap)
{
    const char *at = strstr(url, "://");
    size_t n = 0;

    at = at ? at + 3 : url;
    at += strcspn(at, "/?#");
    for (; *at && n + 1 < cap; at++)
        if (isalnum((unsigned char)*at) || *at == '_')
            out[n++] = *at;
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    while (n > 0 && out[n - 1] == '-')
        n--;
    if (n == 0)
        n = (size_t)snprintf(out, cap, "index");
    out[n] = '\0';
}

static const char *
text_of(const seine_json *json, const char *name)
{
    const char *text = NULL;
    size_t n;

    return seine_json_string(seine_json_get(json, name), &text, &n) ? text : NULL;
}

/* The test of a URL, if there is one. */
static const seine_json *
test_of(const seine_json *tests, const char *url)
{
    const seine_json *one;

    for (size_t i = 0; (one = seine_json_at(tests, i)); i++) {
        const char *of = text_of(one, "url");
        if (of && strcmp(of, url) == 0)
            return one;
    }
    return NULL;
}

static bool
has_page(const seine_json *tests, const char *page)
{
    const seine_json *one;

    for (size_t i = 0; (one = seine_json_at(tests, i)); i++)
        if (text_of(one, "page") && strcmp(text_of(one, "page"), page) == 0)
            return true;
    return false;
}

/* A test for a page that has none. */
static seine_json *
new_test(const recording *g, const saved_page *p, const seine_json *tests)
{
    char name[80], page[120], golden[120];
    char *beyond, *defaults;
    seine_text usual = {NULL, 0};
    seine_json *test = xalloc_json(seine_json_new_object()), *vars = NULL;
    unsigned k = 1;

    name_page(p->url, name, sizeof name - 8);
    size_t n = strlen(name);
    do {
        if (k > 1)
            snprintf(name + n, sizeof name - n, "-%u", k);
        snprintf(page, sizeof page, "pages/%s.%s", name, p->is_json ? "json" : "html");
    } while (has_page(tests, page) && ++k < 100);
    snprintf(golden, sizeof golden, "pages/%s.jsonl", name);
    jsonl_set(test, "page", jsonl_string(page));
    char *url = say_clean(p->url, strlen(p->url), &n);
    jsonl_set(test, "url", jsonl_string(url));
    free(url);
    defaults = seine_recipe_vars(g->f->recipe, NULL, &usual, NULL) == SEINE_OK
                   ? usual.bytes
                   : NULL;
    beyond = recipe_beyond(p->vars, defaults ? defaults : "{}");
    vars = recipe_public_vars(g->f, beyond);
    if (seine_json_size(vars) > 0)
        jsonl_set(test, "vars", vars);
    else
        seine_json_free(vars);
    jsonl_set(test, "golden", jsonl_string(golden));
    free(beyond);
    seine_text_free(&usual);
    return test;
}

typedef struct listing {
    textbuf *out;
    bool more;
} listing;

static bool
put_var(const char *name, const seine_json *value, void *arg)
{
    listing *l = arg;
    char *text = json_shown(value);

    textbuf_put(l->out, "%s%s: %s", l->more ? ", " : "", name, text);
    l->more = true;
    free(text);
    return true;
}

static void
put_quoted(textbuf *out, const char *name, const char *text)
{
    seine_json *json = jsonl_string(text);
    char *shown_text = json_shown(json);

    textbuf_put(out, "%s: %s", name, shown_text);
    free(shown_text);
    seine_json_free(json);
}

/* - {page: "pages/x.html", url: "…", vars: {…}, expect: {items: 3, bad: 0}, golden: "…"}
 */
static void
add_line(recording *g, const seine_json *test, const test_result *r)
{
    textbuf *out = &g->lines;
    listing vars = {out, false};

    textbuf_put(out, "- {");
    put_quoted(out, "page", text_of(test, "page"));
    textbuf_put(out, ", ");
    put_quoted(out, "url", text_of(test, "url"));
    if (seine_json_get(test, "vars")) {
        textbuf_put(out, ", vars: {");
        (void)seine_json_each(seine_json_get(test, "vars"), put_var, &vars);
        textbuf_put(out, "}");
    }
    textbuf_put(out, ", expect: {items: %zu, bad: %zu}, ", r->good, r->bad);
    put_quoted(out, "golden", text_of(test, "golden"));
    textbuf_put(out, "}\n");
}

static int
save_page(recording *g, const saved_page *p, const seine_json *tests)
{
    const seine_json *known = test_of(tests, p->url);
    seine_json *test = known ? seine_json_new_copy(known) : new_test(g, p, tests);
    test_result *r = xalloc_zeroed(1, sizeof *r);
    char *path = recipe_path(g->f, text_of(test, "page"));
    char *folder = recipe_path(g->f, "pages");
    int code = SAY_DONE;

    (void)mkdir(folder, 0777);
    if (!seine_file_replace(path, p->body, p->len))
        code = say_fail(SAY_MACHINE, NULL, "cannot write %s: %s", show(path).text,
                        show_errno(errno).text);
    if (code == SAY_DONE)
        code = recipe_test(g->f, test, true, r);
    if (code == SAY_DONE)
        out_print("saved %-30s %s\n", show(text_of(test, "page")).text, r->counts);
    if (code == SAY_DONE && !known)
        add_line(g, test, r);
    free(folder);
    free(path);
    free(r);
    seine_json_free(test);
    return code;
}

static int
save_all(recording *g)
{
    seine_json *tests = recipe_part(g->f, "tests");
    int code = SAY_DONE;
    bool failed = false;

    for (size_t i = 0; i < g->n && code == SAY_DONE; i++) {
        const saved_page *p = &g->pages[i];
        if (p->body)
            code = save_page(g, p, tests);
        else
            say_note("%s: %s", show(p->url).text, p->why ? p->why : "failed");
        failed |= !p->body;
    }
    seine_json_free(tests);
    if (g->left > 0)
        say_note("%zu more start pages were not recorded", g->left);
    return code == SAY_DONE && failed ? SAY_FAILED : code;
}

/* Adds the tests to the recipe, or shows them. */
static int
write_tests(recording *g)
{
    if (g->lines.len == 0)
        return SAY_DONE;
    char *text = recipe_edit_add(g->f, g->lines.text);
    if (!text) {
        say_note("add these lines under tests: in %s", show(g->f->path).text);
        out_text(g->lines.text);
        return SAY_DONE;
    }
    int code = recipe_edit_save(g->f, text);
    free(text);
    return code;
}

static void
free_all(recording *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->pages[i].url);
        free(g->pages[i].vars);
        free(g->pages[i].body);
        free(g->pages[i].why);
    }
    seine_json_free(g->request);
    seine_text_free(&g->vars);
    textbuf_free(&g->lines);
    free(g);
}

int
recipe_record(recipe_file *io_f, const texts *vars, const args *as)
{
    recording *g = xalloc_zeroed(1, sizeof *g);
    run_options chosen = {0};
    fetch_plan plan;

    g->f = io_f;
    int code = run_options_make(&chosen, io_f, as);
    bool has_plan =
        code == SAY_DONE && (code = fetch_plan_make(&chosen.args, &plan)) == SAY_DONE;
    if (code == SAY_DONE)
        code = recipe_vars(io_f, vars, true, plan.request.secrets, &g->vars, NULL);
    if (code == SAY_DONE && !seine_recipe_part(io_f->recipe, "start"))
        code = say_fail(SAY_USAGE, "start: URL in the recipe", "%s has no start",
                        show(io_f->path).text);
    if (code == SAY_DONE)
        code = read_request(g);
    if (code == SAY_DONE)
        code = fetch_pages(g, &plan);
    int saved = code == SAY_DONE ? save_all(g) : code;
    code = saved == SAY_DONE || saved == SAY_FAILED ? write_tests(g) : saved;
    if (has_plan)
        fetch_plan_free(&plan);
    run_options_free(&chosen);
    free_all(g);
    return code == SAY_DONE ? saved : code;
}
