/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/fleet_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_target.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

void
fleet_rows_init(fleet_rows *r, const recipe_file *recipe)
{
    *r = (fleet_rows){.recipe = recipe};
    r->all = xalloc_zeroed(1, sizeof *r->all);
    r->page = xalloc_zeroed(1, sizeof *r->page);
    expectations_begin(r->all, recipe);
    if (seine_seen_new(NULL, &r->seen) != SEINE_OK)
        xalloc_json(NULL);
}

void
fleet_rows_fini(fleet_rows *r)
{
    free(r->all);
    free(r->page);
    seine_json_free(r->keys);
    seine_seen_free(r->seen);
}

static const char *
text_of(const seine_json *from, const char *name)
{
    const char *text = "";
    size_t n;

    (void)seine_json_string(seine_json_get(from, name), &text, &n);
    return text;
}

/* Pages. */

static void
end_page(fleet_rows *r)
{
    if (r->has_page)
        expectations_add(r->all, r->page);
    r->has_page = false;
}

/* What a worker has kept of a page (recipe_past.c); its rows follow. */
static void
begin_page(fleet_rows *r, const seine_json *data)
{
    end_page(r);
    expectations_begin(r->page, r->recipe);
    expectations_read(r->page, seine_json_get(data, "count"));
    seine_json_free(r->keys);
    r->keys = seine_json_new_copy(seine_json_get(data, "keys"));
    r->row = 0;
    r->has_page = true;
    if (seine_json_get(data, "flaw"))
        r->failed++;
    else
        r->ok++;
}

/* A page that was had is counted by what is kept of it. */
static void
count_record(fleet_rows *r, const seine_json *line)
{
    bool is_ok = false;

    end_page(r);
    (void)seine_json_bool(seine_json_get(line, "ok"), &is_ok);
    if (strcmp(text_of(line, "type"), "skip") == 0)
        r->skipped++;
    else if (!is_ok)
        r->failed++;
}

/* Rows. */

/* Has a row of this key come before? */
static bool
is_repeat(fleet_rows *r)
{
    const char *key = "";
    size_t n = 0;
    bool is_new = true;

    (void)seine_json_string(seine_json_at(r->keys, r->row++), &key, &n);
    if (n > 0 && seine_seen_add(r->seen, key, n, &is_new) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return !is_new;
}

typedef struct items_of {
    const char *kind;
    const seine_json *found;
} items_of;

/* `items` is one, or a list of them. */
static void
look_at(const seine_json *items, items_of *o)
{
    if (strcmp(text_of(items, "kind"), o->kind) == 0)
        o->found = items;
    for (size_t i = 0; !o->found && i < seine_json_size(items); i++)
        look_at(seine_json_at(items, i), o);
}

static bool
look_in_page(const char *name, const seine_json *page, void *arg)
{
    items_of *o = arg;

    (void)name;
    look_at(seine_json_get(page, "items"), o);
    return !o->found;
}

/* What happens to a row that came before: the first field of `unique` has the error, and
 * `on-error: drop` leaves the row out. */
static bool
drops(const fleet_rows *r, const char *of_kind, char unique[64])
{
    seine_json *items = recipe_part(r->recipe, "items"),
               *pages = recipe_part(r->recipe, "pages");
    items_of o = {of_kind, NULL};
    const char *field = "";
    size_t n;

    look_at(items, &o);
    if (!o.found)
        (void)seine_json_each(pages, look_in_page, &o);
    const seine_json *list = seine_json_get(o.found, "unique");
    if (!seine_json_string(list, &field, &n))
        (void)seine_json_string(seine_json_at(list, 0), &field, &n);
    snprintf(unique, 64, "%s", field);
    const char *what = text_of(o.found, "on-error");
    bool is = strcmp(what[0] ? what : text_of(o.found, "on_error"), "drop") == 0;
    seine_json_free(items);
    seine_json_free(pages);
    return is;
}

/* False: the row is left out. */
static bool
mark_repeat(fleet_rows *r, seine_json *line)
{
    const char *of_kind = text_of(line, "kind");
    seine_json *errors, *one;
    char unique[64];
    bool is_dropped = drops(r, of_kind, unique);

    expectations_repeat(r->page, of_kind, unique, seine_json_get(line, "data"));
    if (is_dropped)
        return false;
    errors = seine_json_get(line, "errors")
                 ? seine_json_new_copy(seine_json_get(line, "errors"))
                 : seine_json_new_array();
    one = xalloc_json(seine_json_new_object());
    jsonl_set(one, "field", jsonl_string(unique));
    jsonl_set(one, "why", jsonl_string("duplicate"));
    jsonl_set(one, "message", jsonl_string("duplicate"));
    jsonl_add(xalloc_json(errors), one);
    jsonl_set(line, "ok", xalloc_json(seine_json_new_bool(false)));
    jsonl_set(line, "errors", errors);
    return true;
}

static char *
print_line(const seine_json *json, size_t *out_len)
{
    seine_text text = {NULL, 0};

    if (seine_json_print(json, &text) != SEINE_OK)
        xalloc_json(NULL);
    char *line = xalloc_zeroed(text.len + 2, 1);
    memcpy(line, text.bytes, text.len);
    line[text.len] = '\n';
    *out_len = text.len + 1;
    seine_text_free(&text);
    return line;
}

static char *
take_row(fleet_rows *r, seine_json *json, const char *line, size_t len, size_t *out_len)
{
    bool is_ok = false, has_come = is_repeat(r);

    if (has_come && !mark_repeat(r, json))
        return NULL;
    (void)seine_json_bool(seine_json_get(json, "ok"), &is_ok);
    if (r->flat)
        return is_ok ? print_line(seine_json_get(json, "data"), out_len) : NULL;
    if (has_come)
        return print_line(json, out_len);
    *out_len = len;
    return xalloc_copy(line, len);
}

char *
fleet_rows_line(fleet_rows *r, const char *line, size_t len, size_t *out_len)
{
    seine_json *json = NULL;
    char *out = NULL;

    if (seine_json_parse(line, len, &json, NULL) != SEINE_OK) {
        r->unread++;
        return NULL;
    }
    const char *type = text_of(json, "type");
    if (strcmp(type, "page") == 0) {
        begin_page(r, seine_json_get(json, "data"));
    } else if (strcmp(type, "item") == 0) {
        out = take_row(r, json, line, len, out_len);
    } else {
        count_record(r, json);
        if (r->has_records && !r->flat) {
            *out_len = len;
            out = xalloc_copy(line, len);
        }
    }
    seine_json_free(json);
    return out;
}

/* The end. */

static void
say_counts(const fleet_rows *r)
{
    const expectations *e = r->all;
    const seine_recipe *recipe = r->recipe->recipe;
    char kinds[200], pages[64], failed[64] = "", bad[300] = "";

    recipe_count(e->good,
                 seine_recipe_kind(recipe, 1) ? "item" : seine_recipe_kind(recipe, 0),
                 kinds, sizeof kinds);
    recipe_count(r->ok, "page", pages, sizeof pages);
    if (r->failed > 0)
        snprintf(failed, sizeof failed, ", %" PRIu64 " failed", r->failed);
    if (e->bad > 0)
        snprintf(bad, sizeof bad, ", %" PRIu64 " bad row%s (%s)", e->bad,
                 e->bad == 1 ? "" : "s", show(e->first_error).text);
    say_note("%s%s, %s%s", pages, failed, kinds, bad);
}

int
fleet_rows_end(fleet_rows *r, bool is_finished, bool is_quiet)
{
    const seine_json *one;
    const char *text;
    size_t n;
    int code = SAY_DONE;

    end_page(r);
    if (!is_quiet)
        say_counts(r);
    if (r->unread > 0)
        return say_fail(SAY_MACHINE, "the files as the workers have written them",
                        "%" PRIu64 " lines of the segments cannot be read", r->unread);
    if (!is_finished) {
        if (!is_quiet)
            say_note("the job is not finished: what its recipe expects is not judged");
        return SAY_DONE;
    }
    if (r->ok == 0 && r->failed + r->skipped > 0)
        return SAY_FAILED;
    seine_json *unmet = expectations_judge(r->all, NULL, 0, false);
    for (size_t i = 0; (one = seine_json_at(unmet, i)); i++)
        if (seine_json_string(one, &text, &n))
            code = say_fail(SAY_EXPECTED, NULL, "expectation not met: %s", text);
    seine_json_free(unmet);
    return code;
}
