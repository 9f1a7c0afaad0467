/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/item_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/csv.h>
#include <seine/plumbing.h>

#include "screen/xalloc.h"

static void
put_cell(FILE *out, const char *text, size_t n)
{
    size_t len = seine_csv_cell(text, n, 0, NULL, 0);
    char *cell = xalloc_zeroed(len + 1, 1);

    seine_csv_cell(text, n, 0, cell, len);
    fwrite(cell, 1, len, out);
    free(cell);
}

static void
put_name(FILE *out, const char *name, const char *more)
{
    char text[256];
    int n = snprintf(text, sizeof text, "%s%s", name, more);

    put_cell(out, text, n > 0 && (size_t)n < sizeof text ? (size_t)n : 0);
}

/* The kind whose fields are the columns. */
static const char *
columns_of(const recipe_file *recipe, const char *of_kind)
{
    return of_kind ? of_kind : seine_recipe_kind(recipe->recipe, 0);
}

static FILE *
begin(char **text, size_t *len)
{
    FILE *out = open_memstream(text, len);

    if (!out)
        xalloc_json(NULL);
    return out;
}

static void
end(FILE *out)
{
    if (fclose(out) != 0)
        xalloc_json(NULL);
}

char *
item_csv_head(const recipe_file *recipe, const char *of_kind, size_t *out_len)
{
    const char *columns = columns_of(recipe, of_kind), *name, *type;
    char *text = NULL;
    FILE *out = begin(&text, out_len);

    for (size_t i = 0; (name = seine_recipe_field(recipe->recipe, columns, i, &type));
         i++) {
        put_name(out, name, "");
        fputc(',', out);
        if (strcmp(type, "money") == 0) {
            put_name(out, name, "_currency");
            fputc(',', out);
        }
    }
    fputs(of_kind ? "_url,_n" : "_url,_n,_kind,_errors", out);
    end(out);
    return text;
}

/* The text of a value in a cell. */
static char *
cell_text(const seine_json *value)
{
    const char *text;
    size_t n;
    seine_text printed = {NULL, 0};

    if (seine_json_type_of(value) == SEINE_JSON_NULL)
        return xalloc_copy("", 0);
    if (seine_json_string(value, &text, &n))
        return xalloc_copy(text, n);
    if (seine_json_print(value, &printed) != SEINE_OK)
        xalloc_json(NULL);
    char *copy = xalloc_copy(printed.bytes, printed.len);
    seine_text_free(&printed);
    return copy;
}

/* A list is joined by |. */
static void
put_value(FILE *out, const seine_json *value)
{
    char *all = NULL;
    size_t n = 0;
    FILE *text = begin(&all, &n);

    bool is_list = seine_json_type_of(value) == SEINE_JSON_ARRAY;
    for (size_t i = 0; i < (is_list ? seine_json_size(value) : 1); i++) {
        char *one = cell_text(is_list ? seine_json_at(value, i) : value);
        fprintf(text, "%s%s", i > 0 ? "|" : "", one);
        free(one);
    }
    end(text);
    put_cell(out, all ? all : "", n);
    free(all);
}

static void
put_fields(FILE *out, const recipe_file *recipe, const char *columns,
           const seine_json *data)
{
    const char *name, *type;

    for (size_t i = 0; (name = seine_recipe_field(recipe->recipe, columns, i, &type));
         i++) {
        const seine_json *value = seine_json_get(data, name);
        bool money = strcmp(type, "money") == 0;
        put_value(out, money ? seine_json_get(value, "amount") : value);
        fputc(',', out);
        if (money) {
            put_value(out, seine_json_get(value, "currency"));
            fputc(',', out);
        }
    }
}

char *
item_csv_row(const recipe_file *recipe, const char *of_kind, const item_of *of,
             const seine_row *row, size_t *out_len)
{
    char *text = NULL;
    FILE *out = begin(&text, out_len);
    seine_json *data = NULL;

    if (seine_json_parse(row->json, strlen(row->json), &data, NULL) != SEINE_OK)
        xalloc_json(NULL);
    put_fields(out, recipe, columns_of(recipe, of_kind), data);
    put_cell(out, of->url, strlen(of->url));
    fprintf(out, ",%u", (unsigned)row->n);
    if (!of_kind) {
        fputc(',', out);
        put_cell(out, row->kind, strlen(row->kind));
        fputc(',', out);
        put_cell(out, row->errors, strlen(row->errors));
    }
    end(out);
    seine_json_free(data);
    return text;
}
