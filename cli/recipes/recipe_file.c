/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"
#include "screen/xalloc.h"

/* The n-th line of a text, from 1, without its end. */
static seine_view
line_of(const bytes *text, uint64_t n)
{
    const char *at = text->ptr, *end = text->ptr + text->len, *stop;

    while (n > 1 && at < end && (stop = memchr(at, '\n', (size_t)(end - at)))) {
        at = stop + 1;
        n--;
    }
    stop = memchr(at, '\n', (size_t)(end - at));
    return (seine_view){at, (size_t)((stop ? stop : end) - at)};
}

/* Shows the line and a caret below the character; a long line from near the character. */
static void
show_place(const bytes *text, uint64_t line, uint64_t column)
{
    enum { BEFORE = 70, MOST = 110 };
    seine_view v = line_of(text, line);
    char shown_line[4 * MOST];
    size_t from = 0, at = 0, left = column > 0 ? (size_t)column - 1 : 0;

    while (at < v.len && left > 0) {
        at++;
        while (at < v.len && (v.ptr[at] & 0xc0) == 0x80)
            at++;
        left--;
    }
    if (at > BEFORE)
        from = at - BEFORE;
    while (from < v.len && (v.ptr[from] & 0xc0) == 0x80)
        from++;
    size_t len = v.len - from < MOST ? v.len - from : MOST, caret = 0;
    for (size_t i = from; i < at; i++)
        caret += (v.ptr[i] & 0xc0) != 0x80;
    size_t n =
        seine_inert(v.ptr + from, len, SEINE_INERT_ROW, shown_line, sizeof shown_line);
    for (size_t i = 0; i < n && i < sizeof shown_line; i++)
        if (shown_line[i] == '\t')
            shown_line[i] = ' ';
    fprintf(stderr, "  %s%.*s\n  %*s^\n", from > 0 ? "…" : "",
            (int)(n < sizeof shown_line ? n : sizeof shown_line), shown_line,
            (int)caret + (from > 0), "");
}

/* A hint is the part of the text behind "; try ". */
static void
tell(const bytes *text, const seine_diag *d)
{
    char what[SEINE_DIAG_TEXT];
    const char *hint = NULL;

    snprintf(what, sizeof what, "%s", d->text);
    for (char *at = what; (at = strstr(at, "; try ")); at++)
        hint = d->text + (at - what) + 6;
    if (hint)
        what[(size_t)(hint - 6 - d->text)] = '\0';
    say_note("%s:%" PRIu64 ":%" PRIu64 ": %s", d->file, d->line, d->column, what);
    if (d->line > 0)
        show_place(text, d->line, d->column);
    if (hint)
        fprintf(stderr, "try: %s\n", show(hint).text);
}

static char *
folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? xalloc_copy(path, (size_t)(slash + 1 - path)) : xalloc_copy("", 0);
}

int
recipe_open(recipe_file *f, const char *path)
{
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];

    memset(f, 0, sizeof *f);
    f->path = path;
    f->folder = folder_of(path);
    zone_bytes_init(&f->zones);
    int code = bytes_file(path, &f->yaml);
    if (code != SAY_DONE)
        return code;
    o.name = path;
    o.zone = zone_bytes_get;
    o.arg = &f->zones;
    seine_err e = seine_recipe_parse(f->yaml.ptr, f->yaml.len, &o, &f->recipe, wrong);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    for (size_t i = 0; e == SEINE_E_CONFIG && i < SEINE_DIAG_MAX && wrong[i].text[0]; i++)
        tell(&f->yaml, &wrong[i]);
    return e == SEINE_OK ? SAY_DONE : SAY_USAGE;
}

void
recipe_close(recipe_file *f)
{
    seine_recipe_free(f->recipe);
    zone_bytes_fini(&f->zones);
    bytes_free(&f->yaml);
    free(f->folder);
    memset(f, 0, sizeof *f);
}

char *
recipe_path(const recipe_file *f, const char *name)
{
    const char *folder = name[0] == '/' ? "" : f->folder;
    size_t n = strlen(folder) + strlen(name) + 1;
    char *path = xalloc_zeroed(n, 1);

    snprintf(path, n, "%s%s", folder, name);
    return path;
}

seine_json *
recipe_part(const recipe_file *f, const char *key)
{
    const char *text = seine_recipe_part(f->recipe, key);
    seine_json *json = NULL;

    if (text && seine_json_parse(text, strlen(text), &json, NULL) != SEINE_OK)
        xalloc_json(NULL);
    return json;
}

const char *
recipe_type_of(const char *path)
{
    size_t n = strlen(path);

    return n > 5 && strcmp(path + n - 5, ".json") == 0 ? "application/json" : "text/html";
}

/* "entry" becomes "entries", "box" "boxes", "shift" "shifts". */
void
recipe_count(uint64_t n, const char *kind, char *out, size_t cap)
{
    size_t len = strlen(kind);
    char last = len > 0 ? kind[len - 1] : ' ', before = len > 1 ? kind[len - 2] : ' ';
    bool is_y = last == 'y' && !strchr("aeiou", before);
    const char *end = is_y ? "ies" : strchr("sxz", last) ? "es" : "s";

    if (n == 1)
        snprintf(out, cap, "1 %s", kind);
    else
        snprintf(out, cap, "%" PRIu64 " %.*s%s", n, (int)(len - is_y), kind, end);
}
