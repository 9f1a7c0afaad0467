/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a page and of a run as JSON, which a job keeps. Zeros are left out. */
#include <stdio.h>
#include <string.h>

#include "recipes/expectations.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

static void
put_int(seine_json *to, const char *name, uint64_t n)
{
    if (n > 0)
        jsonl_set(to, name, xalloc_json(seine_json_new_int((int64_t)n)));
}

static void
put_text(seine_json *to, const char *name, const char *text)
{
    if (text[0])
        jsonl_set(to, name, jsonl_string(text));
}

static uint64_t
int_of(const seine_json *from, const char *name)
{
    int64_t n = 0;

    (void)seine_json_int(seine_json_get(from, name), &n);
    return n > 0 ? (uint64_t)n : 0;
}

static void
read_text(const seine_json *from, const char *name, char *out, size_t cap)
{
    const char *text = "";
    size_t n;

    (void)seine_json_string(seine_json_get(from, name), &text, &n);
    snprintf(out, cap, "%s", text);
}

static uint64_t
int_at(const seine_json *list, size_t i)
{
    int64_t n = 0;

    (void)seine_json_int(seine_json_at(list, i), &n);
    return n > 0 ? (uint64_t)n : 0;
}

/* Three numbers for each field, in the order of the recipe. */
static seine_json *
field_list(const expectations *e)
{
    seine_json *list = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < e->n_fields; i++) {
        const field_count *f = &e->fields[i];
        jsonl_add(list, xalloc_json(seine_json_new_int((int64_t)f->rows)));
        jsonl_add(list, xalloc_json(seine_json_new_int((int64_t)f->filled)));
        jsonl_add(list, xalloc_json(seine_json_new_int((int64_t)f->errors)));
    }
    return list;
}

static seine_json *
dead_list(const expectations *e)
{
    seine_json *list = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < e->n_dead; i++) {
        const dead_count *d = &e->dead[i];
        seine_json *one = xalloc_json(seine_json_new_object());
        put_text(one, "field", d->field);
        put_text(one, "selector", d->selector);
        put_text(one, "nearest", d->nearest);
        put_text(one, "url", d->url);
        put_int(one, "count", d->count);
        jsonl_add(list, one);
    }
    return list;
}

seine_json *
expectations_json(const expectations *page)
{
    seine_json *all = xalloc_json(seine_json_new_object());

    put_int(all, "pages", page->pages);
    put_int(all, "good", page->good);
    put_int(all, "bad", page->bad);
    put_int(all, "duplicates", page->duplicates);
    put_int(all, "unmet", page->unmet);
    put_int(all, "first_unmet", page->first_unmet);
    put_text(all, "unmet_url", page->unmet_url);
    put_text(all, "first_error", page->first_error);
    if (page->least != UINT64_MAX)
        put_text(all, "start", page->least_url);
    jsonl_set(all, "fields", field_list(page));
    if (page->n_dead > 0)
        jsonl_set(all, "dead", dead_list(page));
    return all;
}

static void
read_dead(expectations *page, const seine_json *list)
{
    const seine_json *one;

    for (size_t i = 0; i < DEAD_MOST && (one = seine_json_at(list, i)); i++) {
        dead_count *d = &page->dead[page->n_dead++];
        read_text(one, "field", d->field, sizeof d->field);
        read_text(one, "selector", d->selector, sizeof d->selector);
        read_text(one, "nearest", d->nearest, sizeof d->nearest);
        read_text(one, "url", d->url, sizeof d->url);
        d->count = (uint32_t)int_of(one, "count");
    }
}

void
expectations_read(expectations *page, const seine_json *json)
{
    const seine_json *fields = seine_json_get(json, "fields");

    page->pages = int_of(json, "pages");
    page->good = int_of(json, "good");
    page->bad = int_of(json, "bad");
    page->duplicates = int_of(json, "duplicates");
    page->unmet = int_of(json, "unmet");
    page->first_unmet = (unsigned)int_of(json, "first_unmet");
    read_text(json, "unmet_url", page->unmet_url, sizeof page->unmet_url);
    read_text(json, "first_error", page->first_error, sizeof page->first_error);
    if (seine_json_get(json, "start")) {
        page->least = page->most = page->good;
        read_text(json, "start", page->least_url, sizeof page->least_url);
        read_text(json, "start", page->most_url, sizeof page->most_url);
    }
    for (size_t i = 0; i < page->n_fields; i++) {
        page->fields[i].rows = int_at(fields, 3 * i);
        page->fields[i].filled = int_at(fields, 3 * i + 1);
        page->fields[i].errors = int_at(fields, 3 * i + 2);
    }
    read_dead(page, seine_json_get(json, "dead"));
}

/* Fields of later versions of a recipe may be others: they are known by their names. */
seine_json *
expectations_past_json(const expectations *e, int64_t run)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *fields = xalloc_json(seine_json_new_object());

    jsonl_set(all, "run", xalloc_json(seine_json_new_int(run)));
    jsonl_set(all, "items", xalloc_json(seine_json_new_int((int64_t)e->good)));
    for (size_t i = 0; i < e->n_fields; i++) {
        const field_count *f = &e->fields[i];
        seine_json *pair = xalloc_json(seine_json_new_array());
        char name[256];
        snprintf(name, sizeof name, "%.120s.%.120s", f->kind, f->name);
        jsonl_add(pair, xalloc_json(seine_json_new_int((int64_t)f->rows)));
        jsonl_add(pair, xalloc_json(seine_json_new_int((int64_t)f->filled)));
        jsonl_set(fields, name, pair);
    }
    jsonl_set(all, "fields", fields);
    return all;
}

bool
expectations_past_read(const expectations *e, const seine_json *json, past_run *out)
{
    const seine_json *fields = seine_json_get(json, "fields");

    memset(out, 0, sizeof *out);
    if (!seine_json_int(seine_json_get(json, "run"), &out->run) || !fields)
        return false;
    out->items = int_of(json, "items");
    for (size_t i = 0; i < e->n_fields; i++) {
        char name[256];
        snprintf(name, sizeof name, "%.120s.%.120s", e->fields[i].kind,
                 e->fields[i].name);
        const seine_json *pair = seine_json_get(fields, name);
        out->rows[i] = int_at(pair, 0);
        out->filled[i] = int_at(pair, 1);
    }
    return true;
}
