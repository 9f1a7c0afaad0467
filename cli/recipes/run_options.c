/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/parse.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

void
run_options_add(run_options *o, const char *name, const char *value)
{
    size_t n = strlen(name) + (value ? strlen(value) : 0) + 4;
    char *word = xalloc_zeroed(n, 1);

    snprintf(word, n, value ? "--%s=%s" : "--%s", name, value ? value : "");
    o->words = xalloc_room(o->words, o->count, &o->cap, sizeof *o->words);
    o->words[o->count++] = word;
}

static bool
is_typed(const run_options *o, size_t count, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < count; i++)
        if (strncmp(o->words[i] + 2, name, n) == 0 && strchr("=", o->words[i][n + 2]))
            return true;
    return false;
}

/* What is being added, and how many words were typed. */
typedef struct adding {
    run_options *o;
    size_t typed;
    bool has_robots;
} adding;

static void
add_value(run_options *o, const char *name, const seine_json *value)
{
    const char *text;
    size_t len;
    bool on;
    seine_text printed = {NULL, 0};
    char no[64];

    if (seine_json_bool(value, &on)) {
        snprintf(no, sizeof no, "no-%.50s", name);
        run_options_add(o, on ? name : no, NULL);
    } else if (seine_json_string(value, &text, &len)) {
        run_options_add(o, name, text);
    } else if (seine_json_print(value, &printed) == SEINE_OK) {
        run_options_add(o, name, printed.bytes);
        seine_text_free(&printed);
    }
}

/* In keys _ and - are the same. */
static bool
add_option(const char *key, const seine_json *value, void *arg)
{
    adding *a = arg;
    char name[64];

    snprintf(name, sizeof name, "%s", key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    a->has_robots |= strcmp(name, "robots") == 0;
    if (is_typed(a->o, a->typed, name))
        return true;
    if (seine_json_type_of(value) != SEINE_JSON_ARRAY)
        add_value(a->o, name, value);
    else
        for (size_t i = 0; i < seine_json_size(value); i++)
            add_value(a->o, name, seine_json_at(value, i));
    return true;
}

/* A run obeys robots.txt unless somebody says otherwise. */
static void
add_all(run_options *o, const recipe_file *recipe)
{
    adding a = {o, o->count, false};
    seine_json *options = recipe_part(recipe, "options");

    if (options)
        (void)seine_json_each(options, add_option, &a);
    if (!a.has_robots && !is_typed(o, a.typed, "robots") && !is_typed(o, a.typed, "mine"))
        run_options_add(o, "robots", "on");
    seine_json_free(options);
}

int
run_options_make(run_options *o, const recipe_file *recipe)
{
    shared common = {0};

    add_all(o, recipe);
    o->args.command = &cmd_fetch;
    o->set = xalloc_zeroed(1, cmd_fetch.settings_size);
    o->args.settings = o->set;
    o->args.words = xalloc_zeroed(o->count + 1, sizeof *o->args.words);
    values_defaults(&cmd_fetch, o->set);
    int code = parse_words(&o->args, &common, o->words, o->count);
    if (code == PARSE_RUN)
        code = fetch_plan_make(&o->args, &o->plan);
    o->has_plan = code == SAY_DONE;
    return code;
}

void
run_options_free(run_options *o)
{
    if (o->has_plan)
        fetch_plan_free(&o->plan);
    if (o->set)
        values_free(&cmd_fetch, o->set);
    for (size_t i = 0; i < o->count; i++)
        free(o->words[i]);
    free(o->words);
    free(o->args.words);
    free(o->set);
    memset(o, 0, sizeof *o);
}
