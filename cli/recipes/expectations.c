/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/expectations.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

void
expectations_begin(expectations *e, const recipe_file *recipe)
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
        if (!row->ok && !e->first_error[0])
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
expectations_repeat(expectations *page, const char *kind, const char *unique,
                    const seine_json *data)
{
    page->good -= page->good > 0;
    page->bad++;
    page->duplicates++;
    if (page->least != UINT64_MAX)
        page->least = page->most = page->good;
    if (!page->first_error[0])
        snprintf(page->first_error, sizeof page->first_error, "%s: duplicate", unique);
    for (size_t k = 0; k < page->n_fields; k++) {
        field_count *f = &page->fields[k];
        bool is_filled =
            seine_json_type_of(seine_json_get(data, f->name)) != SEINE_JSON_NULL;

        if (strcmp(f->kind, kind) != 0)
            continue;
        f->rows -= f->rows > 0;
        f->filled -= is_filled && f->filled > 0;
        f->errors += strcmp(f->name, unique) == 0;
    }
}

void
expectations_page(expectations *e, const char *url, bool is_start)
{
    e->pages = 1;
    if (!is_start)
        return;
    e->least = e->most = e->good;
    snprintf(e->least_url, sizeof e->least_url, "%s", url);
    snprintf(e->most_url, sizeof e->most_url, "%s", url);
}

bool
expectations_miss(const expectations *page)
{
    if (page->good == 0)
        return true;
    for (size_t i = 0; i < page->n_fields; i++)
        if (page->fields[i].rows > 0 && page->fields[i].filled == 0)
            return true;
    return false;
}

static void
add_dead(expectations *e, const dead_count *d)
{
    for (size_t i = 0; i < e->n_dead; i++)
        if (strcmp(e->dead[i].field, d->field) == 0 &&
            strcmp(e->dead[i].selector, d->selector) == 0)
            return;
    if (e->n_dead < DEAD_MOST)
        e->dead[e->n_dead++] = *d;
}

void
expectations_dead(expectations *e, const char *url, const seine_dead_selector *dead)
{
    dead_count d = {.count = dead->nearest ? dead->count : 0};

    snprintf(d.field, sizeof d.field, "%s", dead->field);
    snprintf(d.selector, sizeof d.selector, "%s", dead->selector);
    snprintf(d.nearest, sizeof d.nearest, "%s", dead->nearest ? dead->nearest : "");
    snprintf(d.url, sizeof d.url, "%s", url);
    add_dead(e, &d);
}

static void
add_pages(expectations *e, const expectations *page)
{
    e->pages += page->pages;
    if (page->least == UINT64_MAX)
        return;
    if (page->least < e->least) {
        e->least = page->least;
        memcpy(e->least_url, page->least_url, sizeof e->least_url);
    }
    if (page->most >= e->most) {
        e->most = page->most;
        memcpy(e->most_url, page->most_url, sizeof e->most_url);
    }
}

void
expectations_add(expectations *e, const expectations *page)
{
    add_pages(e, page);
    e->good += page->good;
    e->bad += page->bad;
    e->duplicates += page->duplicates;
    if (e->unmet == 0 && page->unmet > 0) {
        e->first_unmet = page->first_unmet;
        memcpy(e->unmet_url, page->unmet_url, sizeof e->unmet_url);
    }
    e->unmet += page->unmet;
    if (!e->first_error[0])
        memcpy(e->first_error, page->first_error, sizeof e->first_error);
    for (size_t i = 0; i < e->n_fields; i++) {
        e->fields[i].rows += page->fields[i].rows;
        e->fields[i].filled += page->fields[i].filled;
        e->fields[i].errors += page->fields[i].errors;
    }
    for (size_t i = 0; i < page->n_dead; i++)
        add_dead(e, &page->dead[i]);
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

/* What is being judged. */
typedef struct judging {
    const expectations *e;
    seine_json *list;
    const past_run *past;
    size_t n_past;
    uint64_t percent; /* that anything may fall by */
    bool is_partial;
} judging;

/* Are rows bad for want of this field? */
static bool
has_errors(const expectations *e, const char *field)
{
    for (size_t i = 0; i < e->n_fields; i++)
        if (e->fields[i].errors > 0 && strcmp(e->fields[i].name, field) == 0)
            return true;
    return false;
}

/* "; `.price` matches nothing on URL; nearest: `.cost` (20)". Field "" is the rows
 * themselves, then the first field for want of which rows are bad. */
static void
say_dead(const expectations *e, const char *field, char *out, size_t cap)
{
    const dead_count *found = NULL;

    for (size_t i = 0; i < e->n_dead && !found; i++)
        if (strcmp(e->dead[i].field, field) == 0)
            found = &e->dead[i];
    for (size_t i = 0; i < e->n_dead && !found && !field[0]; i++)
        if (has_errors(e, e->dead[i].field))
            found = &e->dead[i];
    out[0] = '\0';
    if (!found)
        return;
    int n =
        snprintf(out, cap, "; `%s` matches nothing on %s", found->selector, found->url);
    if (found->nearest[0] && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n, "; nearest: `%s` (%" PRIu32 ")",
                 found->nearest, found->count);
}

static void __attribute__((format(printf, 3, 4)))
tell(const judging *j, const char *field, const char *fmt, ...)
{
    char text[900], dead[700] = "", all[sizeof text + sizeof dead];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (field)
        say_dead(j->e, field, dead, sizeof dead);
    snprintf(all, sizeof all, "%s%s", text, dead);
    jsonl_add(j->list, jsonl_string(all));
}

/* A selector that finds nothing is named if it is that of the first field that is wrong.
 */
static void
tell_bad_rows(const judging *j, const char *expected)
{
    const expectations *e = j->e;
    char field[sizeof e->dead[0].field];

    snprintf(field, sizeof field, "%.*s", (int)strcspn(e->first_error, ":"),
             e->first_error);
    tell(j, field[0] ? field : NULL,
         "bad-rows: %" PRIu64 " of %" PRIu64 ", expected %s%s%s", e->bad,
         e->good + e->bad, expected, field[0] ? "; the first: " : "", e->first_error);
}

static void
judge_counts(const judging *j, const seine_json *expect)
{
    const expectations *e = j->e;
    char *items = wanted(expect, "items"), *bad = wanted(expect, "bad-rows");
    char *page = wanted(expect, "per-page");

    if (!bad)
        bad = wanted(expect, "bad_rows");
    if (!page)
        page = wanted(expect, "per_page");
    if (items && !fits(items, e->good, 100))
        tell(j, "", "items: %" PRIu64 ", expected %s", e->good, items);
    if (bad && !fits(bad, e->bad, e->good + e->bad))
        tell_bad_rows(j, bad);
    if (page && e->least != UINT64_MAX && !fits(page, e->least, 100))
        tell(j, "", "per-page: %" PRIu64 " on %s, expected %s", e->least, e->least_url,
             page);
    else if (page && e->least != UINT64_MAX && !fits(page, e->most, 100))
        tell(j, "", "per-page: %" PRIu64 " on %s, expected %s", e->most, e->most_url,
             page);
    free(items);
    free(bad);
    free(page);
}

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
        tell(j, name, "coverage of %s: %" PRIu64 " of %" PRIu64 " rows, expected %s",
             name, filled, rows, share);
    free(share);
    seine_json_free(one);
    return true;
}

/* Drift: nothing may fall more than so many percent below the median of earlier runs. */

static int
by_size(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double
median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static bool
has_fallen(const judging *j, double now, double usual)
{
    return now < usual * (100 - (double)j->percent) / 100 - 1e-9;
}

static void
judge_items(const judging *j)
{
    double past[HISTORY_MOST];

    for (size_t i = 0; i < j->n_past; i++)
        past[i] = (double)j->past[i].items;
    double usual = median(past, j->n_past);
    if (has_fallen(j, (double)j->e->good, usual))
        tell(j, "",
             "drift: %" PRIu64 " items, %.0f in the median of the last %zu run%s, "
             "expected a fall of at most %" PRIu64 "%%",
             j->e->good, usual, j->n_past, j->n_past == 1 ? "" : "s", j->percent);
}

static void
judge_field(const judging *j, size_t i)
{
    const field_count *f = &j->e->fields[i];
    double past[HISTORY_MOST];
    size_t n = 0;

    for (size_t k = 0; k < j->n_past; k++)
        if (j->past[k].rows[i] > 0)
            past[n++] = (double)j->past[k].filled[i] / (double)j->past[k].rows[i];
    if (n == 0 || f->rows == 0)
        return; /* the number of items says it */
    double usual = median(past, n), now = (double)f->filled / (double)f->rows;
    if (has_fallen(j, now, usual))
        tell(j, f->name,
             "drift: %s is in %.0f%% of the rows, in %.0f%% in the median of "
             "the last %zu run%s, expected a fall of at most %" PRIu64 "%%",
             f->name, 100 * now, 100 * usual, n, n == 1 ? "" : "s", j->percent);
}

static void
judge_drift(judging *j, const seine_json *expect)
{
    char *most = wanted(expect, "drift");

    if (most && j->n_past > 0) {
        j->percent = strtoull(most, NULL, 10);
        if (!j->is_partial)
            judge_items(j);
        for (size_t i = 0; i < j->e->n_fields; i++)
            judge_field(j, i);
    }
    free(most);
}

seine_json *
expectations_judge(const expectations *e, const past_run *past, size_t n_past,
                   bool is_partial)
{
    seine_json *expect = recipe_part(e->recipe, "expect");
    judging j = {e, xalloc_json(seine_json_new_array()), past, n_past, 0, is_partial};
    bool unique = false;

    judge_counts(&j, expect);
    (void)seine_json_each(seine_json_get(expect, "coverage"), judge_coverage, &j);
    if (e->unmet > 0) {
        const seine_json *where = seine_json_get(expect, "where");
        const seine_json *one = seine_json_at(where, e->first_unmet - 1);
        const char *text = "";
        size_t len;
        (void)seine_json_string(one ? one : where, &text, &len);
        tell(&j, NULL, "where: %" PRIu64 " rows are not so: %s; the first on %s",
             e->unmet, text, e->unmet_url);
    }
    if (seine_json_bool(seine_json_get(expect, "unique"), &unique) && unique &&
        e->duplicates > 0)
        tell(&j, NULL, "unique: %" PRIu64 " rows came twice", e->duplicates);
    judge_drift(&j, expect);
    seine_json_free(expect);
    return j.list;
}
