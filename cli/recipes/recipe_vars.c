/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/suggest.h"
#include "screen/say.h"
#include "screen/xalloc.h"

/* What is being collected. */
typedef struct collecting {
    const recipe_file *f;
    seine_json *declared, *given;
    seine_secrets *secrets;
    bool needed;
    int code;
} collecting;

typedef struct nearest {
    const char *word, *best;
    unsigned slip;
} nearest;

static bool
look(const char *name, const seine_json *value, void *arg)
{
    nearest *n = arg;

    (void)value;
    suggest_nearer(n->word, name, &n->slip, &n->best);
    return true;
}

/* NAME=VALUE of the command line. */
static int
add_given(collecting *c, const char *word)
{
    const char *sign = strchr(word, '=');
    nearest near = {NULL, NULL, 3};

    if (!sign || sign == word)
        return say_fail(SAY_USAGE, "--var NAME=VALUE", "--var '%s': no NAME=VALUE",
                        show(word).text);
    char *name = xalloc_copy(word, (size_t)(sign - word));
    int code = SAY_DONE;
    if (seine_json_get(c->declared, name)) {
        jsonl_set(c->given, name, jsonl_string(sign + 1));
    } else {
        near.word = name;
        (void)seine_json_each(c->declared, look, &near);
        code = say_fail(SAY_USAGE, near.best, "--var %s: %s has no such variable",
                        show(name).text, show(c->f->path).text);
    }
    free(name);
    return code;
}

/* The first line of a file, or the value in the environment; NULL: after a message. */
static char *
read_elsewhere(collecting *c, const char *name, const char *from)
{
    if (strncmp(from, "env:", 4) == 0) {
        const char *value = getenv(from + 4);
        if (value)
            return xalloc_copy(value, strlen(value));
        if (c->needed)
            c->code = say_fail(SAY_USAGE, NULL,
                               "variable '%s' is read from %s, which is not set", name,
                               show(from + 4).text);
        return NULL;
    }
    bytes file;
    char *path = recipe_path(c->f, from + 5), *text = NULL;
    int code = bytes_file(path, &file);
    free(path);
    if (code == SAY_DONE)
        text = xalloc_copy(file.ptr, file.len);
    else
        c->code = code;
    bytes_free(&file);
    for (size_t n = text ? strlen(text) : 0; n > 0 && strchr("\r\n", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

static const char *
text_of(const seine_json *value)
{
    const char *text = NULL;
    size_t len;

    return seine_json_string(value, &text, &len) ? text : NULL;
}

static bool
is_elsewhere(const char *text)
{
    return text && (strncmp(text, "env:", 4) == 0 || strncmp(text, "file:", 5) == 0);
}

/* One variable: given, a default, or read from elsewhere. */
static bool
settle(const char *name, const seine_json *declared, void *arg)
{
    collecting *c = arg;
    const char *given = text_of(seine_json_get(c->given, name));
    const char *fallback = text_of(seine_json_get(declared, "default"));
    const char *from = given ? given : fallback;
    bool secret = false;

    if (is_elsewhere(from)) {
        char *value = read_elsewhere(c, name, from);
        if (value)
            jsonl_set(c->given, name, jsonl_string(value));
        free(value);
    } else if (!given && c->needed && !seine_json_get(declared, "default")) {
        c->code =
            say_fail(SAY_USAGE, NULL, "variable '%s' of %s has no value; try --var %s=…",
                     name, show(c->f->path).text, name);
    }
    const char *value = text_of(seine_json_get(c->given, name));
    if (seine_json_bool(seine_json_get(declared, "secret"), &secret) && secret && value &&
        c->secrets &&
        seine_secrets_add(c->secrets, value, strlen(value)) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return c->code == SAY_DONE;
}

static int
check_all(const collecting *c, seine_text *out_vars)
{
    seine_diag diag = SEINE_DIAG;
    seine_text text = {NULL, 0};

    if (seine_json_print(c->given, &text) != SEINE_OK)
        xalloc_json(NULL);
    seine_err e = seine_recipe_vars(c->f->recipe, text.bytes, out_vars, &diag);
    seine_text_free(&text);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK)
        return say_fail(SAY_USAGE, NULL, "--var %s: %s", diag.member, diag.text);
    return SAY_DONE;
}

int
recipe_vars(const recipe_file *f, const texts *given, bool needed, seine_secrets *secrets,
            seine_text *out_vars)
{
    collecting c = {f,
                    recipe_part(f, "vars"),
                    xalloc_json(seine_json_new_object()),
                    secrets,
                    needed,
                    SAY_DONE};

    for (size_t i = 0; i < given->count && c.code == SAY_DONE; i++)
        c.code = add_given(&c, given->items[i]);
    if (c.code == SAY_DONE && c.declared)
        (void)seine_json_each(c.declared, settle, &c);
    if (c.code == SAY_DONE)
        c.code = check_all(&c, out_vars);
    seine_json_free(c.declared);
    seine_json_free(c.given);
    return c.code;
}
