/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_options.h"
#include "screen/mistake.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

static char *
folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? xalloc_copy(path, (size_t)(slash + 1 - path)) : xalloc_copy("", 0);
}

static void
init(recipe_file *f, const char *path)
{
    memset(f, 0, sizeof *f);
    f->path = path;
    f->folder = folder_of(path);
    zone_bytes_init(&f->zones);
}

static int
parse(recipe_file *f)
{
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];

    o.name = f->path;
    o.zone = zone_bytes_get;
    o.arg = &f->zones;
    seine_err e = seine_recipe_parse(f->yaml.ptr, f->yaml.len, &o, &f->recipe, wrong);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    size_t n = 0;
    while (e == SEINE_E_CONFIG && n < SEINE_DIAG_MAX && wrong[n].text[0])
        n++;
    n = recipe_options_check(f, wrong, n);
    for (size_t i = 0; i < n; i++)
        mistake_tell(f->yaml.ptr, f->yaml.len, &wrong[i]);
    return e == SEINE_OK && n == 0 ? SAY_DONE : SAY_USAGE;
}

int
recipe_open(recipe_file *f, const char *path)
{
    init(f, path);
    int code = bytes_file(path, &f->yaml);
    return code == SAY_DONE ? parse(f) : code;
}

int
recipe_open_text(recipe_file *f, const char *name, char *give_yaml, size_t len)
{
    init(f, name);
    f->yaml = (bytes){give_yaml, len, give_yaml};
    return parse(f);
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

typedef struct choosing {
    const seine_json *declared;
    seine_json *to;
} choosing;

static bool
put_public(const char *name, const seine_json *value, void *arg)
{
    choosing *c = arg;
    bool secret = false;

    (void)seine_json_bool(seine_json_get(seine_json_get(c->declared, name), "secret"),
                          &secret);
    if (!secret)
        jsonl_set(c->to, name, seine_json_new_copy(value));
    return true;
}

seine_json *
recipe_public_vars(const recipe_file *f, const char *vars)
{
    seine_json *declared = recipe_part(f, "vars"), *all = NULL;
    choosing c = {declared, xalloc_json(seine_json_new_object())};

    if (seine_json_parse(vars, strlen(vars), &all, NULL) != SEINE_OK)
        xalloc_json(NULL);
    (void)seine_json_each(all, put_public, &c);
    seine_json_free(all);
    seine_json_free(declared);
    return c.to;
}

const char *
recipe_type_of(const char *path)
{
    size_t n = strlen(path);

    return n > 5 && strcmp(path + n - 5, ".json") == 0 ? "application/json" : "text/html";
}

/* "entry" becomes "entries", "box" "boxes", "shift" "shifts"; "news" stays. */
void
recipe_count(uint64_t n, const char *kind, char *out, size_t cap)
{
    size_t len = strlen(kind);
    char last = len > 0 ? kind[len - 1] : ' ', before = len > 1 ? kind[len - 2] : ' ';
    bool is_y = last == 'y' && !strchr("aeiou", before);
    bool is_plural = strcmp(kind, "news") == 0 || strcmp(kind, "series") == 0;
    const char *end = is_plural ? "" : is_y ? "ies" : strchr("sxz", last) ? "es" : "s";

    if (n == 1)
        snprintf(out, cap, "1 %s", kind);
    else
        snprintf(out, cap, "%" PRIu64 " %.*s%s", n, (int)(len - is_y), kind, end);
}
