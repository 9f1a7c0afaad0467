/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_options.h"

#include <stdio.h>
#include <string.h>

#include <seine/config.h>

#include "config/config_values.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

/* The mistakes of a file so far. */
typedef struct mistakes {
    seine_diag *all;
    size_t count;
    const char *file;
} mistakes;

static bool
is_behind(const seine_diag *a, const seine_diag *b)
{
    return a->line > b->line || (a->line == b->line && a->column > b->column);
}

/* Keeps the order of positions; the last falls off a full list. */
static void
add(mistakes *m, const seine_config_node *at, const char *text)
{
    seine_diag d = SEINE_DIAG;
    size_t n = strlen(m->file), cut = n < sizeof d.file ? 0 : n + 1 - sizeof d.file;

    d.line = seine_config_line(at);
    d.column = seine_config_column(at);
    snprintf(d.file, sizeof d.file, "%s", m->file + cut);
    snprintf(d.text, sizeof d.text, "%s", text);
    size_t i = m->count;
    while (i > 0 && is_behind(&m->all[i - 1], &d))
        i--;
    if (i == SEINE_DIAG_MAX)
        return;
    m->count += m->count < SEINE_DIAG_MAX;
    memmove(&m->all[i + 1], &m->all[i], (m->count - 1 - i) * sizeof d);
    m->all[i] = d;
}

/* `dedup: job` is a word of recipes alone. */
static bool
is_of_recipes(const option *o, const seine_config_node *n)
{
    return strcmp(o->name, "dedup") == 0 && strcmp(seine_config_text(n), "job") == 0;
}

static void
check_value(mistakes *m, const option *o, const seine_config_node *n)
{
    char why[SEINE_DIAG_TEXT];
    bool is_list = seine_config_kind_of(n) == SEINE_CONFIG_LIST &&
                   (o->kind == KIND_LIST || o->kind == KIND_FILES);
    uint64_t count = 0;

    for (const seine_config_node *v = is_list ? seine_config_first(n) : n; v;
         v = is_list ? seine_config_next(v) : NULL) {
        if (is_list && o->max > 0 && ++count > o->max) {
            config_value_fits(n, o, why, sizeof why);
            add(m, v, why);
            return;
        }
        if (!is_of_recipes(o, v) && !config_value_fits(v, o, why, sizeof why)) {
            char *hint = strstr(why, "; try batch|off");
            if (hint && strcmp(o->name, "dedup") == 0)
                snprintf(hint, sizeof why - (size_t)(hint - why),
                         "; try batch, job or off");
            add(m, v, why);
        }
    }
}

/* In keys _ and - are the same. */
static const option *
option_of(const char *key)
{
    char name[64];
    bool no;

    snprintf(name, sizeof name, "%s", key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const option *o = options_by_name(&cmd_fetch, name, strlen(name), &no);
    return no ? NULL : o;
}

size_t
recipe_options_check(const recipe_file *f, seine_diag *io_wrong, size_t count)
{
    mistakes m = {io_wrong, count, f->path};
    seine_config *c = NULL;

    if (seine_config_parse(f->yaml.ptr, f->yaml.len, NULL, &c) != SEINE_OK)
        xalloc_json(NULL);
    const seine_config_node *options = seine_config_get(seine_config_root(c), "options");
    for (const seine_config_node *n = seine_config_first(options); n;
         n = seine_config_next(n)) {
        const option *o = option_of(seine_config_key(n));
        if (o && seine_config_kind_of(n) != SEINE_CONFIG_MAP) /* the recipe tells maps */
            check_value(&m, o, n);
    }
    seine_config_free(c);
    return m.count;
}
