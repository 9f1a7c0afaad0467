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
} adding;

static bool
is_flag(const char *name)
{
    bool no;
    const option *o = options_by_name(&cmd_fetch, name, strlen(name), &no);

    return o && o->kind == KIND_FLAG;
}

static void
add_flag(run_options *o, const char *name, bool on)
{
    char no[64];

    snprintf(no, sizeof no, "no-%.50s", name);
    run_options_add(o, on ? name : no, NULL);
}

/* A flag is true, false, on or off; the last two are texts of YAML. */
static void
add_value(run_options *o, const char *name, const seine_json *value)
{
    const char *text;
    size_t len;
    bool on;
    seine_text printed = {NULL, 0};

    if (seine_json_bool(value, &on)) {
        add_flag(o, name, on);
    } else if (seine_json_string(value, &text, &len)) {
        if (is_flag(name))
            add_flag(o, name, strcmp(text, "on") == 0);
        else
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
    const char *text;
    size_t len;
    char name[64];

    snprintf(name, sizeof name, "%s", key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    if (strcmp(name, "dedup") == 0 && seine_json_string(value, &text, &len) &&
        strcmp(text, "job") == 0) {
        a->o->keeps_known = true;
        return true;
    }
    if (is_typed(a->o, a->typed, name))
        return true;
    if (seine_json_type_of(value) != SEINE_JSON_ARRAY)
        add_value(a->o, name, value);
    else
        for (size_t i = 0; i < seine_json_size(value); i++)
            add_value(a->o, name, seine_json_at(value, i));
    return true;
}

/* The words of the recipe follow those that are typed, and are weaker. */
static void
add_all(run_options *o, const recipe_file *recipe)
{
    adding a = {o, o->count};
    seine_json *options = recipe_part(recipe, "options");

    if (options)
        (void)seine_json_each(options, add_option, &a);
    o->args.n_weak = o->count - a.typed;
    seine_json_free(options);
}

/* The configuration is that of the command that was typed. */
static void
add_config(const args *as, run_options *o)
{
    if (as->config_path && as->config_path[0])
        run_options_add(o, "config", as->config_path);
    else if (as->config_path)
        run_options_add(o, "no-config", NULL);
}

int
run_options_make(run_options *o, const recipe_file *recipe, const args *as)
{
    shared common = {0};

    add_config(as, o);
    add_all(o, recipe);
    o->command = cmd_fetch;
    o->command.name = as->command->name;
    o->args.command = &o->command;
    o->args.screen = as->screen;
    o->args.color = as->color;
    o->args.quiet = as->quiet;
    o->args.host = as->host;
    o->set = xalloc_zeroed(1, cmd_fetch.settings_size);
    o->args.settings = o->set;
    o->args.words = xalloc_zeroed(o->count + 1, sizeof *o->args.words);
    values_defaults(&cmd_fetch, o->set);
    o->set->robots = OBEY_ON; /* unless somebody says otherwise */
    int code = parse_words(&o->args, &common, o->words, o->count);
    if (code != PARSE_RUN)
        return code;
    free(o->args.words);
    o->args.words = xalloc_zeroed(as->count + 1, sizeof *o->args.words);
    o->args.count = as->count - 1; /* the URLs behind the recipe */
    for (size_t i = 1; i < as->count; i++)
        o->args.words[i - 1] = as->words[i];
    return SAY_DONE;
}

void
run_options_free(run_options *o)
{
    if (o->set)
        parse_free(&o->args);
    for (size_t i = 0; i < o->count; i++)
        free(o->words[i]);
    free(o->words);
    free(o->args.words);
    free(o->set);
    memset(o, 0, sizeof *o);
}
