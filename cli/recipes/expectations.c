/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/expectations.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

void
expectations_init(expectations *e, const recipe_file *recipe)
{
    const char *kind, *name;

    memset(e, 0, sizeof *e);
    e->recipe = recipe;
    e->least = UINT64_MAX;
    for (size_t k = 0; (kind = seine_recipe_kind(recipe->recipe, k)); k++)
        for (size_t i = 0; e->n_fields < FIELDS_MOST &&
                           (name = seine_recipe_field(recipe->recipe, kind, i, NULL));
             i++)
            e->fields[e->n_fields++] = (field_count){kind, name, 0, 0, 0};
}

static seine_json *
parsed(const char *text)
{
    seine_json *json = NULL;

    if (seine_json_parse(text, strlen(text), &json, NULL) != SEINE_OK)
        xalloc_json(NULL);
    return json;
}

static const char *
text_of(const seine_json *object, const char *name)
{
    const char *text = "";
    size_t n;

    (void)seine_json_string(seine_json_get(object, name), &text, &n);
    return text;
}

static void
count_errors(expectations *e, const seine_row *row)
{
    seine_json *all = parsed(row->errors);
    const seine_json *one;

    for (size_t i = 0; (one = seine_json_at(all, i)); i++) {
        const char *field = text_of(one, "field");
        e->duplicates += strcmp(text_of(one, "why"), "duplicate") == 0;
        if (!e->first_error[0])
            snprintf(e->first_error, sizeof e->first_error, "%s: %s", field,
                     text_of(one, "message"));
        for (size_t k = 0; k < e->n_fields; k++)
            e->fields[k].errors += strcmp(e->fields[k].kind, row->kind) == 0 &&
                                   strcmp(e->fields[k].name, field) == 0;
    }
    seine_json_free(all);
}

static void
count_fields(expectations *e, const seine_row *row)
{
    seine_json *data = parsed(row->json);

    for (size_t k = 0; k < e->n_fields; k++) {
        field_count *f = &e->fields[k];
        if (strcmp(f->kind, row->kind) != 0)
            continue;
        f->rows++;
        f->filled += seine_json_type_of(seine_json_get(data, f->name)) != SEINE_JSON_NULL;
    }
    seine_json_free(data);
}

void
expectations_row(expectations *e, const char *url, const seine_row *row)
{
    e->good += row->ok;
    e->bad += !row->ok;
    if (strcmp(row->errors, "[]") != 0)
        count_errors(e, row);
    if (!row->ok)
        return;
    count_fields(e, row);
    if (row->unmet > 0 && e->unmet++ == 0) {
        e->first_unmet = row->unmet;
        snprintf(e->unmet_url, sizeof e->unmet_url, "%s", url);
    }
}

void
expectations_page(expectations *e, const char *url, bool is_start, uint32_t good)
{
    e->pages++;
    if (!is_start)
        return;
    if (good < e->least) {
        e->least = good;
        snprintf(e->least_url, sizeof e->least_url, "%s", url);
    }
    if (good >= e->most) {
        e->most = good;
        snprintf(e->most_url, sizeof e->most_url, "%s", url);
    }
}

/* ">= 20", "<= 2%", 31: does the number fit? A share is one of `of`. */
static bool
fits(const char *text, uint64_t n, uint64_t of)
{
    static const char *const signs[] = {">=", "<=", "!=", ">", "<", "="};
    const char *sign = "=";

    text += strspn(text, " ");
    for (size_t i = 0; i < 6; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0) {
            sign = signs[i];
            text += strlen(sign);
            break;
        }
    uint64_t want = strtoull(text, NULL, 10) * (strchr(text, '%') ? of : 100),
             got = n * 100;
    if (strcmp(sign, ">=") == 0)
        return got >= want;
    if (strcmp(sign, "<=") == 0)
        return got <= want;
    if (strcmp(sign, "!=") == 0)
        return got != want;
    return sign[0] == '>' ? got > want : sign[0] == '<' ? got < want : got == want;
}

static char *
wanted(const seine_json *expect, const char *name)
{
    const seine_json *value = seine_json_get(expect, name);
    const char *text;
    size_t len;
    seine_text printed = {NULL, 0};

    if (!value)
        return NULL;
    if (seine_json_string(value, &text, &len))
        return xalloc_copy(text, len);
    if (seine_json_print(value, &printed) != SEINE_OK)
        xalloc_json(NULL);
    char *copy = xalloc_copy(printed.bytes, printed.len);
    seine_text_free(&printed);
    return copy;
}

static void __attribute__((format(printf, 2, 3)))
tell(seine_json *list, const char *fmt, ...)
{
    char text[900];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    jsonl_add(list, jsonl_string(text));
}

static void
judge_counts(const expectations *e, const seine_json *expect, seine_json *list)
{
    uint64_t rows = e->good + e->bad;
    char *items = wanted(expect, "items"), *bad = wanted(expect, "bad-rows");
    char *page = wanted(expect, "per-page");

    if (!bad)
        bad = wanted(expect, "bad_rows");
    if (!page)
        page = wanted(expect, "per_page");
    if (items && !fits(items, e->good, 100))
        tell(list, "items: %" PRIu64 ", expected %s", e->good, items);
    if (bad && !fits(bad, e->bad, rows))
        tell(list, "bad-rows: %" PRIu64 " of %" PRIu64 ", expected %s", e->bad, rows,
             bad);
    if (page && e->least != UINT64_MAX && !fits(page, e->least, 100))
        tell(list, "per-page: %" PRIu64 " on %s, expected %s", e->least, e->least_url,
             page);
    else if (page && e->least != UINT64_MAX && !fits(page, e->most, 100))
        tell(list, "per-page: %" PRIu64 " on %s, expected %s", e->most, e->most_url,
             page);
    free(items);
    free(bad);
    free(page);
}

typedef struct judging {
    const expectations *e;
    seine_json *list;
} judging;

static bool
judge_coverage(const char *name, const seine_json *value, void *arg)
{
    const judging *j = arg;
    uint64_t rows = 0, filled = 0;
    char text[32];
    seine_json *one = xalloc_json(seine_json_new_object());

    for (size_t i = 0; i < j->e->n_fields; i++)
        if (strcmp(j->e->fields[i].name, name) == 0) {
            rows += j->e->fields[i].rows;
            filled += j->e->fields[i].filled;
        }
    jsonl_set(one, "v", seine_json_new_copy(value));
    char *share = wanted(one, "v");
    snprintf(text, sizeof text, ">= %.20s%s", share, strchr(share, '%') ? "" : "%");
    if (!fits(text, filled, rows))
        tell(j->list, "coverage of %s: %" PRIu64 " of %" PRIu64 " rows, expected %s",
             name, filled, rows, share);
    free(share);
    seine_json_free(one);
    return true;
}

seine_json *
expectations_judge(const expectations *e)
{
    seine_json *expect = recipe_part(e->recipe, "expect");
    judging j = {e, xalloc_json(seine_json_new_array())};
    bool unique = false;

    judge_counts(e, expect, j.list);
    (void)seine_json_each(seine_json_get(expect, "coverage"), judge_coverage, &j);
    if (e->unmet > 0) {
        const seine_json *where = seine_json_get(expect, "where");
        const seine_json *one = seine_json_at(where, e->first_unmet - 1);
        const char *text = "";
        size_t len;
        (void)seine_json_string(one ? one : where, &text, &len);
        tell(j.list, "where: %" PRIu64 " rows are not so: %s; the first on %s", e->unmet,
             text, e->unmet_url);
    }
    if (seine_json_bool(seine_json_get(expect, "unique"), &unique) && unique &&
        e->duplicates > 0)
        tell(j.list, "unique: %" PRIu64 " rows came twice", e->duplicates);
    seine_json_free(expect);
    return j.list;
}
