/* SPDX-License-Identifier: Apache-2.0 */
#include "options/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/config_values.h"
#include "config/service_config.h"
#include "options/foreign.h"
#include "options/help.h"
#include "options/suggest.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"

/* Only commands that ask hosts for pages have options like those of curl and wget. */
static bool
speaks_http(const command *c)
{
    bool no;

    return options_by_name(c, "timeout", strlen("timeout"), &no) != NULL;
}

/* Whether a command of that name exists: the hint may only name one that does. */
static bool
is_known(const char *hint)
{
    char copy[64], *words[1] = {copy};
    size_t used;

    if (strncmp(hint, "seine ", 6) != 0)
        return true;
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(hint + 6, " "), hint + 6);
    return options_find(words, 1, &used) != NULL;
}

/* The letters of other programs that this one lacks. */
static const char *
letter_hint(char letter)
{
    static const struct {
        char letter;
        const char *hint;
    } rows[] = {
        {'F', "-d @FILE -H 'Content-Type: multipart/form-data; boundary=…'"},
        {'G', "the query in the URL: 'https://e.example/?a=1'"},
        {'Z', "leave it out; -c 64 says how many at once"},
        {'S', "leave it out: errors are shown with -q, too"},
        {'R', "seine crawl --incremental"},
        {'T', "-X PUT -d @FILE"},
        {'N', "leave it out: records leave as they come"},
        {'P', "--save DIR"},
        {'E', "--cert FILE"},
        {'K', "seine fetch -i FILE"},
        {'p', "seine mirror URL"},
        {'U', "-A 'NAME/1.0'"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].letter == letter)
            return rows[i].hint;
    return NULL;
}

static int
refuse_unknown(const command *c, const char *word)
{
    char name[64], hint[160];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    bool is_long = strncmp(name, "--", 2) == 0;
    const char *near = is_long ? suggest_option(c, name + 2) : NULL;
    bool http = speaks_http(c);
    const foreign *f = is_long && http ? foreign_find(name + 2, strlen(name + 2)) : NULL;
    const char *known = f ? f->hint : is_long || !http ? NULL : letter_hint(name[1]);
    if (known && is_known(known))
        snprintf(hint, sizeof hint, "%s", known);
    else if (near)
        snprintf(hint, sizeof hint, "--%s", near);
    else
        snprintf(hint, sizeof hint, "seine %s --help", c->name);
    return say_fail(SAY_USAGE, hint, "unknown option '%s'", show(name).text);
}

/* The parser at one word of the command line. */
typedef struct parser {
    args *args;
    shared *shared;
    uint64_t shared_given[OPTIONS_MOST / 64];
    char **words;
    size_t count, next;
    option_level level; /* of the words that are read */
} parser;

static bool
is_shared(const option *o)
{
    for (const option *s = shared_options; s->name; s++)
        if (s == o)
            return true;
    return false;
}

static void *
settings_of(parser *p, const option *o)
{
    return is_shared(o) ? (void *)p->shared : p->args->settings;
}

/* Shared options have their origins behind those of the command. */
static option_origin *
origin_of(parser *p, const option *o)
{
    if (is_shared(o))
        return &p->args->origins[OPTIONS_MOST + (o - shared_options)];
    return &p->args->origins[o - p->args->command->options];
}

static void
mark_given(parser *p, const option *o)
{
    ptrdiff_t place = o - p->args->command->options;

    origin_of(p, o)->level = p->level;
    if (!is_shared(o) && p->level == LEVEL_FLAG)
        p->args->given[place / 64] |= UINT64_C(1) << place % 64;
}

/* Something stronger has set the option: what is read now does not count. */
static bool
is_set(parser *p, const option *o)
{
    return origin_of(p, o)->level > p->level;
}

static int
take_value(parser *p, const option *o, const char *text)
{
    char label[64];

    snprintf(label, sizeof label, "--%s", o->name);
    if (!text && p->next < p->count)
        text = p->words[p->next++];
    if (!text) {
        char hint[128];

        values_sample(o, hint, sizeof hint);
        return say_fail(SAY_USAGE, hint, "%s needs a value", label);
    }
    char spare[VALUES_WHY];
    if (is_set(p, o))
        return PARSE_RUN;
    const char *why = values_read(o, text, settings_of(p, o), spare);
    if (why)
        return values_bad(o, label, text, why);
    mark_given(p, o);
    origin_of(p, o)->text = text;
    return PARSE_RUN;
}

static int
run_action(const parser *p, const option *o, bool all)
{
    if (strcmp(o->name, "version") == 0)
        return help_version();

    screen s = screen_look((color_when)p->shared->color);
    return help_command(&s, p->args->command, all);
}

/* Takes an option without a value: a flag, a repeated -v, or --no-x of one with values.
 */
static int
take_flag(parser *p, const option *o, bool on)
{
    void *at = (char *)settings_of(p, o) + o->at;

    if (is_set(p, o))
        return PARSE_RUN;
    if (o->kind == KIND_FLAG)
        *(bool *)at = on;
    else if (o->kind == KIND_TIMES)
        ++*(uint32_t *)at;
    else
        values_alone(o, settings_of(p, o));
    mark_given(p, o);
    return PARSE_RUN;
}

static int
long_option(parser *p, const char *word)
{
    const command *c = p->args->command;
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    bool no;
    const option *o = options_by_name(c, name, n, &no);
    const foreign *f = o || !speaks_http(c) ? NULL : foreign_find(name, n);

    if (f && f->ours)
        o = options_by_name(c, f->ours, strlen(f->ours), &no);
    if (!o)
        return refuse_unknown(c, word);
    if (o->alone && equals && !no)
        return take_value(p, o, equals + 1);
    if ((no || !values_takes(o)) && equals) {
        char hint[80];

        if (strcmp(o->name, "json") == 0)
            snprintf(hint, sizeof hint, "--json-body '{…}' sends JSON; --json prints it");
        else
            snprintf(hint, sizeof hint, "--%s%s", o->name,
                     o->kind == KIND_FLAG ? " or its --no- form" : "");
        return say_fail(SAY_USAGE, hint, "--%.*s takes no value", (int)n, name);
    }
    if (o->kind == KIND_ACTION)
        return run_action(p, o, true);
    if (no || !values_takes(o))
        return take_flag(p, o, !no);
    return take_value(p, o, equals ? equals + 1 : NULL);
}

/* -qk, -r5/s, -r 5/s */
static int
short_options(parser *p, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const option *o = options_by_letter(p->args->command, *letter);
        int code;

        if (!o)
            return refuse_unknown(p->args->command, (char[]){'-', *letter, '\0'});
        if (o->kind == KIND_ACTION)
            return run_action(p, o, false);
        if (values_takes(o))
            return take_value(p, o, letter[1] ? letter + 1 : NULL);
        code = take_flag(p, o, true);
        if (code != PARSE_RUN)
            return code;
    }
    return PARSE_RUN;
}

/* Reads SEINE_MAX_WAIT for --max-wait, unless the command line gives the option. */
static int
read_environment(parser *p, const option *list)
{
    for (const option *o = list; o && o->name; o++) {
        char name[64] = "SEINE_", spare[VALUES_WHY];
        size_t n = strlen(name);

        if (!o->env || is_set(p, o))
            continue;
        for (const char *c = o->name; *c && n + 1 < sizeof name; c++)
            name[n++] = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        const char *text = getenv(name);
        if (!text || !text[0])
            continue;
        const char *why = values_environment(o, text, settings_of(p, o), spare);
        if (why)
            return values_bad(o, name, text, why);
        *origin_of(p, o) = (option_origin){.level = LEVEL_ENV, .text = text};
    }
    return PARSE_RUN;
}

/* The value of one option in the first file that has it. */
static void
read_file(parser *p, const option *o)
{
    const config_file *file = NULL;
    const seine_config_node *n = config_get(p->args->config, o->name, &file);

    if (n && config_value_read(file->tree, n, o, settings_of(p, o)))
        *origin_of(p, o) = (option_origin){
            .level = LEVEL_FILE, .file = file, .line = seine_config_line(n)};
}

static bool
has_settings(const command *c)
{
    for (const option *o = c->options; o && o->name; o++)
        if (o->env)
            return true;
    return false;
}

static bool
is_fine(const config *c)
{
    bool fine = true;

    for (size_t i = 0; i < c->count; i++)
        fine &= config_is_fine(&c->files[i], NULL);
    return fine;
}

/* What neither the command line nor the environment nor a recipe says. */
static int
read_config(parser *p)
{
    args *a = p->args;
    const option *lists[] = {shared_options, a->command->options};

    a->config_path = p->shared->config;
    if (!has_settings(a->command))
        return PARSE_RUN;
    int code = service_config_strays(environ);
    if (code == SAY_DONE)
        code = config_load(a->config_path, &a->config, NULL);
    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < 2; i++)
        for (const option *o = lists[i]; o && o->name; o++)
            if (o->env && origin_of(p, o)->level == LEVEL_DEFAULT &&
                strcmp(o->name, "config") != 0)
                read_file(p, o);
    return is_fine(a->config) ? PARSE_RUN : SAY_USAGE;
}

static bool
is_key(const char *key, size_t n, const char *keys)
{
    for (const char *p = keys; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == n && strncmp(p, key, n) == 0)
            return true;
    return false;
}

/* One "key=value" of a specification. */
static int
spec_part(const args *a, const char *name, char *part, const char *keys)
{
    char *equals = strchr(part, '='), hint[160], spare[VALUES_WHY];
    size_t n = equals ? (size_t)(equals - part) : strlen(part);
    bool no;

    if (!is_key(part, n, keys) || !equals) {
        snprintf(hint, sizeof hint, "%s", keys);
        return say_fail(SAY_USAGE, hint,
                        equals ? "--%s: unknown key '%s'" : "--%s: no value in '%s'",
                        name, show_bytes(part, equals ? n : strlen(part)).text);
    }
    const option *o = options_by_name(a->command, part, n, &no);
    *equals = '\0';
    if (options_given(a, part))
        return SAY_DONE;
    const char *why = values_read(o, equals + 1, a->settings, spare);
    if (!why)
        return SAY_DONE;
    snprintf(hint, sizeof hint, "--%s: %s", name, part);
    return values_bad(o, hint, equals + 1, why);
}

int
parse_spec(const args *a, const char *name, const char *spec, const char *keys)
{
    char *copy = xalloc_copy(spec ? spec : "", spec ? strlen(spec) : 0), *rest = copy;
    int code = SAY_DONE;

    while (code == SAY_DONE && rest && *rest) {
        char *part = strsep(&rest, ",");

        code = spec_part(a, name, part, keys);
    }
    free(copy);
    return code;
}

static int
check_arguments(const args *a)
{
    const command *c = a->command;
    char hint[128];

    snprintf(hint, sizeof hint, "seine %s%s%s", c->name, c->arguments[0] ? " " : "",
             c->choices ? c->choices : c->arguments);
    if (a->count < c->min_args)
        return say_fail(SAY_USAGE, hint, "%s needs an argument", c->name);
    if (a->count > c->max_args)
        return say_fail(SAY_USAGE, hint, "%s: '%s' is one argument too many", c->name,
                        show(a->words[c->max_args]).text);
    return PARSE_RUN;
}

/* Reads words [next, end) of the command line. */
static int
read_words(parser *p, size_t end)
{
    bool only_words = false;
    int code = PARSE_RUN;

    p->count = end;
    while (code == PARSE_RUN && p->next < p->count) {
        char *word = p->words[p->next++];

        if (only_words || word[0] != '-' || !word[1])
            p->args->words[p->args->count++] = word;
        else if (strcmp(word, "--") == 0)
            only_words = true;
        else
            code = word[1] == '-' ? long_option(p, word) : short_options(p, word);
    }
    return code;
}

int
parse_settings(args *a, shared *common, char **words, size_t count)
{
    parser p = {.args = a, .shared = common, .words = words, .level = LEVEL_FLAG};
    size_t strong = count - a->n_weak;

    a->origins = xalloc_zeroed(OPTIONS_MOST + 16, sizeof *a->origins);
    for (const option *o = shared_options; o->name && common->config; o++)
        if (strcmp(o->name, "config") == 0) /* the caller has chosen it */
            origin_of(&p, o)->level = LEVEL_FLAG;
    int code = read_words(&p, strong);
    p.level = LEVEL_ENV;
    if (code == PARSE_RUN)
        code = read_environment(&p, shared_options);
    if (code == PARSE_RUN)
        code = read_environment(&p, a->command->options);
    p.level = LEVEL_RECIPE;
    if (code == PARSE_RUN)
        code = read_words(&p, count);
    p.level = LEVEL_FILE;
    if (code == PARSE_RUN)
        code = read_config(&p);
    return code;
}

int
parse_words(args *a, shared *common, char **words, size_t count)
{
    int code = parse_settings(a, common, words, count);

    return code == PARSE_RUN ? check_arguments(a) : code;
}

void
parse_free(args *a)
{
    if (a->settings)
        values_free(a->command, a->settings);
    free(a->origins);
    config_free(a->config);
    a->origins = NULL;
    a->config = NULL;
}
