/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/suggest.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"

/* What is being collected. */
typedef struct collecting {
    const recipe_file *f;
    seine_json *declared, *given;
    const seine_json *known; /* values that somebody has settled; NULL: none */
    seine_secrets *secrets;
    bool needed;
    bool is_typed; /* a secret was */
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

static bool
is_elsewhere(const char *text)
{
    return text && (strncmp(text, "env:", 4) == 0 || strncmp(text, "file:", 5) == 0);
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
    const seine_json *declared = seine_json_get(c->declared, name);
    bool secret = false;
    if (declared && seine_json_get(c->known, name)) {
        free(name);
        return SAY_DONE;
    }
    if (declared) {
        jsonl_set(c->given, name, jsonl_string(sign + 1));
        (void)seine_json_bool(seine_json_get(declared, "secret"), &secret);
        if (secret && !is_elsewhere(sign + 1)) { /* as the process list shows it */
            seine_wipe((char *)sign + 1, strlen(sign + 1));
            c->is_typed = true;
        }
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
        bool may = run_host_allows(c->f->host, from + 4);
        const char *value = may ? getenv(from + 4) : NULL;

        if (value)
            return xalloc_copy(value, strlen(value));
        if (c->needed && !may)
            c->code = say_fail(SAY_USAGE, NULL,
                               "variable '%s' is read from %s, which console.recipe_env "
                               "does not list",
                               name, show(from + 4).text);
        else if (c->needed)
            c->code = say_fail(SAY_USAGE, NULL,
                               "variable '%s' is read from %s, which is not set", name,
                               show(from + 4).text);
        return NULL;
    }
    if (c->f->is_shared) {
        c->code = say_fail(SAY_USAGE, "env:NAME, which every worker has",
                           "variable '%s' is read from a file, which a recipe of a job "
                           "in Redis may not do",
                           name);
        return NULL;
    }
    if (c->f->host && c->f->host->is_inner) {
        c->code = say_fail(SAY_USAGE, "env:NAME, and NAME in console.recipe_env",
                           "variable '%s' is read from a file, which a recipe may not do "
                           "here",
                           name);
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

/* One variable: given, a default, or read from elsewhere. */
static bool
settle(const char *name, const seine_json *declared, void *arg)
{
    collecting *c = arg;
    const seine_json *known = seine_json_get(c->known, name);

    if (known) {
        jsonl_set(c->given, name, seine_json_new_copy(known));
        return true;
    }
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
            seine_text *out_vars, bool *out_is_secret)
{
    return recipe_vars_beside(f, NULL, given, needed, secrets, out_vars, out_is_secret);
}

int
recipe_vars_beside(const recipe_file *f, const seine_json *known, const texts *given,
                   bool needed, seine_secrets *secrets, seine_text *out_vars,
                   bool *out_is_secret)
{
    collecting c = {.f = f,
                    .known = known,
                    .declared = recipe_part(f, "vars"),
                    .given = xalloc_json(seine_json_new_object()),
                    .secrets = secrets,
                    .needed = needed,
                    .code = SAY_DONE};

    for (size_t i = 0; i < given->count && c.code == SAY_DONE; i++)
        c.code = add_given(&c, given->items[i]);
    if (c.code == SAY_DONE && c.declared)
        (void)seine_json_each(c.declared, settle, &c);
    if (c.code == SAY_DONE)
        c.code = check_all(&c, out_vars);
    if (out_is_secret)
        *out_is_secret = c.is_typed;
    seine_json_free(c.declared);
    seine_json_free(c.given);
    return c.code;
}
