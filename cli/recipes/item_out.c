/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/item_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/csv.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"

static bool
ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Makes a new file; an old one is replaced only with --overwrite. */
static int
open_file(item_out *o, char *give_path, const char *of_kind, bool csv, bool overwrite)
{
    int how =
        O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL) | O_NOFOLLOW;
    int fd = open(give_path, how, 0666);

    o->files = xalloc_room(o->files, o->count, &o->cap, sizeof *o->files);
    o->files[o->count] =
        (item_file){give_path, of_kind, fd >= 0 ? fdopen(fd, "we") : NULL, csv};
    if (o->files[o->count++].out)
        return SAY_DONE;
    if (errno == EEXIST)
        return say_fail(SAY_USAGE, "--overwrite, or another name", "%s exists",
                        show(give_path).text);
    return say_fail(SAY_MACHINE, NULL, "cannot write %s: %s", show(give_path).text,
                    show_errno(errno).text);
}

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

static void
put_header(const item_out *o, const item_file *f)
{
    const char *of_kind = f->kind ? f->kind : seine_recipe_kind(o->recipe->recipe, 0);
    const char *name, *type;

    for (size_t i = 0; (name = seine_recipe_field(o->recipe->recipe, of_kind, i, &type));
         i++) {
        put_name(f->out, name, "");
        fputc(',', f->out);
        if (strcmp(type, "money") == 0) {
            put_name(f->out, name, "_currency");
            fputc(',', f->out);
        }
    }
    fputs(f->kind ? "_url,_n\n" : "_url,_n,_kind,_errors\n", f->out);
}

/* "shifts.csv" becomes "shifts.bad.csv". */
static char *
beside(const char *path, const char *word)
{
    size_t n = strlen(path) + strlen(word) + 2;
    char *made = xalloc_zeroed(n, 1);

    snprintf(made, n, "%.*s.%s.csv", (int)(strlen(path) - 4), path, word);
    return made;
}

static bool
is_first(const item_out *o, size_t k)
{
    const char *of_kind = seine_recipe_kind(o->recipe->recipe, k);

    for (size_t i = 0; i < k; i++)
        if (strcmp(seine_recipe_kind(o->recipe->recipe, i), of_kind) == 0)
            return false;
    return true;
}

static int
open_csv(item_out *o, const char *path, bool overwrite)
{
    size_t first = o->count;
    int code = SAY_DONE;
    const char *of_kind;

    for (size_t k = 0;
         code == SAY_DONE && (of_kind = seine_recipe_kind(o->recipe->recipe, k)); k++)
        if (is_first(o, k))
            code = open_file(
                o, k == 0 ? xalloc_copy(path, strlen(path)) : beside(path, of_kind),
                of_kind, true, overwrite);
    if (code == SAY_DONE && !o->flat)
        code = open_file(o, beside(path, "bad"), NULL, true, overwrite);
    for (size_t i = first; code == SAY_DONE && i < o->count; i++)
        put_header(o, &o->files[i]);
    return code;
}

int
item_out_open(item_out *o, const recipe_file *recipe, const texts *paths, bool flat,
              bool overwrite)
{
    int code = SAY_DONE;

    *o = (item_out){.recipe = recipe, .flat = flat};
    for (size_t i = 0; i < paths->count && code == SAY_DONE; i++) {
        const char *path = paths->items[i];
        if (ends_with(path, ".csv"))
            code = open_csv(o, path, overwrite);
        else if (ends_with(path, ".jsonl") || ends_with(path, ".ndjson"))
            code = open_file(o, xalloc_copy(path, strlen(path)), NULL, false, overwrite);
        else
            code = say_fail(SAY_USAGE, "-o rows.jsonl or -o rows.csv",
                            "-o %s: run writes .jsonl and .csv", show(path).text);
    }
    return code;
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
    FILE *text = open_memstream(&all, &n);

    if (!text)
        xalloc_json(NULL);
    bool is_list = seine_json_type_of(value) == SEINE_JSON_ARRAY;
    for (size_t i = 0; i < (is_list ? seine_json_size(value) : 1); i++) {
        char *one = cell_text(is_list ? seine_json_at(value, i) : value);
        fprintf(text, "%s%s", i > 0 ? "|" : "", one);
        free(one);
    }
    fclose(text);
    put_cell(out, all ? all : "", n);
    free(all);
}

static void
put_csv(const item_out *o, const item_file *f, const item_of *of, const seine_row *row)
{
    const char *of_kind = f->kind ? f->kind : seine_recipe_kind(o->recipe->recipe, 0);
    const char *name, *type;
    seine_json *data = NULL;

    if (seine_json_parse(row->json, strlen(row->json), &data, NULL) != SEINE_OK)
        xalloc_json(NULL);
    for (size_t i = 0; (name = seine_recipe_field(o->recipe->recipe, of_kind, i, &type));
         i++) {
        const seine_json *value = seine_json_get(data, name);
        bool money = strcmp(type, "money") == 0;
        put_value(f->out, money ? seine_json_get(value, "amount") : value);
        fputc(',', f->out);
        if (money) {
            put_value(f->out, seine_json_get(value, "currency"));
            fputc(',', f->out);
        }
    }
    put_cell(f->out, of->url, strlen(of->url));
    fprintf(f->out, ",%u", (unsigned)row->n);
    if (!f->kind) {
        fputc(',', f->out);
        put_cell(f->out, row->kind, strlen(row->kind));
        fputc(',', f->out);
        put_cell(f->out, row->errors, strlen(row->errors));
    }
    fputc('\n', f->out);
    seine_json_free(data);
}

static void
put_line(item_out *o, const char *line, size_t n)
{
    for (size_t i = 0; i < o->count; i++)
        if (!o->files[i].csv) {
            fwrite(line, 1, n, o->files[i].out);
            fputc('\n', o->files[i].out);
        }
    if (o->count == 0) {
        out_line(line, n);
        out_flush();
    }
}

void
item_out_row(item_out *o, const item_of *of, const seine_row *row)
{
    size_t n = 0;

    for (size_t i = 0; i < o->count; i++) {
        const item_file *f = &o->files[i];
        bool fits = f->kind ? row->ok && strcmp(f->kind, row->kind) == 0 : !row->ok;
        if (f->csv && fits)
            put_csv(o, f, of, row);
    }
    if (o->flat && row->ok)
        put_line(o, row->json, strlen(row->json));
    if (o->flat)
        return;
    char *line = item_record(of, row, &n);
    put_line(o, line, n);
    free(line);
}

void
item_out_line(item_out *o, const char *line)
{
    if (!o->flat)
        put_line(o, line, strlen(line));
}

bool
item_out_close(item_out *o)
{
    bool good = true;

    for (size_t i = 0; i < o->count; i++) {
        item_file *f = &o->files[i];
        bool failed = f->out && (fflush(f->out) != 0 || ferror(f->out));
        if (f->out && fclose(f->out) != 0)
            failed = true;
        if (failed && good)
            say_fail(SAY_MACHINE, NULL, "cannot write %s: %s", show(f->path).text,
                     show_errno(errno).text);
        good = good && !failed;
        free(f->path);
    }
    free(o->files);
    *o = (item_out){0};
    return good;
}
