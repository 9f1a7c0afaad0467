/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/sample_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { ROWS = 3, CELL = 28, KINDS = 8 };

/* The rows of one kind. */
typedef struct sample {
    const char *kind;
    char selector[120];
    seine_json *rows[ROWS];
    size_t count;
} sample;

typedef struct samples {
    sample all[KINDS];
    size_t n;
} samples;

static bool
on_row(const seine_row *row, void *arg)
{
    samples *s = arg;

    for (size_t i = 0; i < s->n; i++) {
        sample *one = &s->all[i];
        if (strcmp(one->kind, row->kind) != 0)
            continue;
        if (one->count == 0)
            snprintf(one->selector, sizeof one->selector, "%s", row->selector);
        if (one->count < ROWS &&
            seine_json_parse(row->json, strlen(row->json), &one->rows[one->count],
                             NULL) != SEINE_OK)
            xalloc_json(NULL);
        one->count++;
    }
    return true;
}

/* A cell, cut to its columns; returns the columns that it takes. */
static size_t
put_cell(const char *text, size_t n, bool print)
{
    size_t used = 0, at = 0;

    while (at < n) {
        size_t wide = 1, len = show_char(text + at, n - at, &wide);
        bool is_last = at + (len > 0 ? len : 1) >= n;
        if (used + wide > CELL - (is_last ? 0 : 1)) {
            if (print)
                out_text("…");
            return used + 1;
        }
        if (print)
            out_bytes(len > 0 ? text + at : " ", len > 0 ? len : 1);
        used += wide;
        at += len > 0 ? len : 1;
    }
    return used;
}

/* "12.5 EUR", "desk, brass": money and lists as people write them; 0: neither. */
static size_t
plain_text(const seine_json *v, char *out, size_t cap)
{
    const char *currency, *one;
    double amount;
    size_t n, used = 0;

    if (seine_json_number(seine_json_get(v, "amount"), &amount) &&
        seine_json_string(seine_json_get(v, "currency"), &currency, &n))
        return (size_t)snprintf(out, cap, "%.12g %s", amount, currency);
    for (size_t i = 0; i < seine_json_size(v) && used < cap; i++) {
        if (!seine_json_string(seine_json_at(v, i), &one, &n))
            return 0;
        used += (size_t)snprintf(out + used, cap - used, "%s%s", i > 0 ? ", " : "", one);
    }
    return used < cap ? used : cap - 1;
}

static char *
cell_of(const seine_json *row, const char *field, size_t *out_n)
{
    const seine_json *v = seine_json_get(row, field);
    seine_text text = {NULL, 0};
    const char *string;
    char plain[256];

    *out_n = 0;
    if (!v || seine_json_type_of(v) == SEINE_JSON_NULL)
        return xalloc_copy("", 0);
    if (seine_json_string(v, &string, out_n))
        return xalloc_copy(string, *out_n);
    if ((*out_n = plain_text(v, plain, sizeof plain)) > 0)
        return xalloc_copy(plain, *out_n);
    if (seine_json_print(v, &text) != SEINE_OK)
        xalloc_json(NULL);
    *out_n = text.len;
    char *copy = xalloc_copy(text.bytes, text.len);
    seine_text_free(&text);
    return copy;
}

static size_t
width_of(const recipe_file *f, const sample *s, size_t row)
{
    const char *name, *type;
    size_t widest = 5;

    for (size_t i = 0; (name = seine_recipe_field(f->recipe, s->kind, i, &type)); i++) {
        size_t n, wide;
        char *text = cell_of(s->rows[row], name, &n);
        wide = put_cell(text, n, false);
        widest = wide > widest ? wide : widest;
        free(text);
    }
    return widest;
}

static void
put_field(const sample *s, const char *name, const char *type, int name_width,
          const size_t *widths)
{
    size_t rows = s->count < ROWS ? s->count : ROWS;

    out_print("  %-*s  %-8s", name_width, name, type);
    for (size_t i = 0; i < rows; i++) {
        size_t n;
        char *text = cell_of(s->rows[i], name, &n);
        out_text("  ");
        size_t used = put_cell(text, n, true);
        if (i + 1 < rows)
            out_fill(" ", widths[i] > used ? widths[i] - used : 0);
        free(text);
    }
    out_text("\n");
}

static void
put_sample(const recipe_file *f, const sample *s)
{
    const char *name, *type;
    size_t widths[ROWS] = {0}, rows = s->count < ROWS ? s->count : ROWS;
    int longest = 5;
    char counted[80];

    recipe_count(s->count, "row", counted, sizeof counted);
    out_print("%s: %s by %s\n", s->kind, counted, show(s->selector).text);
    for (size_t i = 0; (name = seine_recipe_field(f->recipe, s->kind, i, &type)); i++)
        longest = (int)strlen(name) > longest ? (int)strlen(name) : longest;
    out_print("  %-*s  %-8s", longest, "field", "type");
    for (size_t i = 0; i < rows; i++) {
        widths[i] = width_of(f, s, i);
        out_print("  %s%-*zu", "row ", i + 1 < rows ? (int)widths[i] - 4 : 1, i + 1);
    }
    out_text("\n");
    for (size_t i = 0; (name = seine_recipe_field(f->recipe, s->kind, i, &type)); i++)
        put_field(s, name, type, longest, widths);
}

void
sample_table(const recipe_file *f, const seine_page *page)
{
    samples all = {.n = 0};
    seine_applied got;
    const char *kind;

    while (all.n < KINDS && (kind = seine_recipe_kind(f->recipe, all.n)))
        all.all[all.n++].kind = kind;
    if (seine_recipe_apply(f->recipe, page, on_row, &all, &got) != SEINE_OK)
        xalloc_json(NULL);
    for (size_t i = 0; i < all.n; i++) {
        if (all.all[i].count > 0)
            put_sample(f, &all.all[i]);
        for (size_t k = 0; k < ROWS; k++)
            seine_json_free(all.all[i].rows[k]);
    }
}
