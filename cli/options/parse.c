/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/help.h"
#include "options/options.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

static int
unknown(const command *c, const char *word)
{
    char name[64], hint[96];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *near =
        strncmp(name, "--", 2) == 0 ? options_near_option(c, name + 2) : NULL;
    if (near)
        snprintf(hint, sizeof hint, "--%s", near);
    else
        snprintf(hint, sizeof hint, "seine %s --help", c->name);
    return say_fail(SAY_USAGE, hint, "unknown option '%s'", show(name).text);
}

/* One run of the parser over the words after the command's name. */
typedef struct parse {
    args *args;
    shared shared;
    uint64_t shared_given[OPTIONS_MOST / 64];
    char **words;
    size_t count, next;
} parse;

static bool
is_shared(const option *o)
{
    for (const option *s = shared_options; s->name; s++)
        if (s == o)
            return true;
    return false;
}

static void *
home(parse *p, const option *o)
{
    return is_shared(o) ? (void *)&p->shared : p->args->settings;
}

static uint64_t *
given_bits(parse *p, const option *o)
{
    return is_shared(o) ? p->shared_given : p->args->given;
}

static bool
is_given(const uint64_t *bits, ptrdiff_t place)
{
    return bits[place / 64] >> place % 64 & 1;
}

static void
mark_given(parse *p, const option *o)
{
    const option *list = is_shared(o) ? shared_options : p->args->command->options;

    given_bits(p, o)[(o - list) / 64] |= UINT64_C(1) << (o - list) % 64;
}

bool
options_given(const args *a, const char *name)
{
    for (const option *o = a->command->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return is_given(a->given, o - a->command->options);
    return false;
}

enum { GO_ON = -1 };

static int
take_value(parse *p, const option *o, const char *text)
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
    const char *why = values_read(o, text, home(p, o), spare);
    if (why)
        return values_bad(o, label, text, why);
    mark_given(p, o);
    return GO_ON;
}

static int
act(const parse *p, const option *o, bool all)
{
    if (strcmp(o->name, "version") == 0)
        return help_version();

    screen s = screen_look((color_when)p->shared.color);
    return help_command(&s, p->args->command, all);
}

/* Options that stand alone: on and off, how often, and --no-x of what has a value. */
static int
take_flag(parse *p, const option *o, bool on)
{
    void *at = (char *)home(p, o) + o->at;

    if (o->kind == KIND_FLAG)
        *(bool *)at = on;
    else if (o->kind == KIND_TIMES)
        ++*(uint32_t *)at;
    else
        *(const char **)at = "";
    mark_given(p, o);
    return GO_ON;
}

static int
long_option(parse *p, const char *word)
{
    const command *c = p->args->command;
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    bool no;
    const option *o = options_by_name(c, name, n, &no);

    if (!o)
        return unknown(c, word);
    if (o->alone && equals && !no)
        return take_value(p, o, equals + 1);
    if ((no || !values_takes(o)) && equals) {
        char hint[80];

        snprintf(hint, sizeof hint, "--%s%s", o->name,
                 o->kind == KIND_FLAG ? " or its --no- form" : "");
        return say_fail(SAY_USAGE, hint, "--%.*s takes no value", (int)n, name);
    }
    if (o->kind == KIND_ACTION)
        return act(p, o, true);
    if (no || !values_takes(o))
        return take_flag(p, o, !no);
    return take_value(p, o, equals ? equals + 1 : NULL);
}

/* -qk, -r5/s, -r 5/s */
static int
short_options(parse *p, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const option *o = options_by_letter(p->args->command, *letter);
        int code;

        if (!o)
            return unknown(p->args->command, (char[]){'-', *letter, '\0'});
        if (o->kind == KIND_ACTION)
            return act(p, o, false);
        if (values_takes(o))
            return take_value(p, o, letter[1] ? letter + 1 : NULL);
        code = take_flag(p, o, true);
        if (code != GO_ON)
            return code;
    }
    return GO_ON;
}

/* SEINE_MAX_WAIT for --max-wait, where the command line is silent. */
static int
read_environment(parse *p, const option *list)
{
    for (const option *o = list; o && o->name; o++) {
        char name[64] = "SEINE_", spare[VALUES_WHY];
        size_t n = strlen(name);

        if (!o->env || is_given(given_bits(p, o), o - list))
            continue;
        for (const char *c = o->name; *c && n + 1 < sizeof name; c++)
            name[n++] = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        const char *text = getenv(name);
        if (!text || !text[0])
            continue;
        const char *why = values_environment(o, text, home(p, o), spare);
        if (why)
            return values_bad(o, name, text, why);
    }
    return GO_ON;
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
options_spec(const args *a, const char *name, const char *spec, const char *keys)
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
    return GO_ON;
}

static int
parse_words(parse *p)
{
    bool only_words = false;
    int code = GO_ON;

    while (code == GO_ON && p->next < p->count) {
        char *word = p->words[p->next++];

        if (only_words || word[0] != '-' || !word[1])
            p->args->words[p->args->count++] = word;
        else if (strcmp(word, "--") == 0)
            only_words = true;
        else
            code = word[1] == '-' ? long_option(p, word) : short_options(p, word);
    }
    if (code == GO_ON)
        code = read_environment(p, shared_options);
    if (code == GO_ON)
        code = read_environment(p, p->args->command->options);
    return code == GO_ON ? check_arguments(p->args) : code;
}

static int
run(const command *c, char **words, size_t count)
{
    args a = {.command = c};
    parse p = {.args = &a, .words = words, .count = count};

    a.settings = xalloc_zeroed(1, c->settings_size ? c->settings_size : 1);
    a.words = xalloc_zeroed(count + 1, sizeof *a.words);
    values_defaults(c, a.settings);

    int code = parse_words(&p);
    if (code == GO_ON) {
        a.color = (color_when)p.shared.color;
        a.screen = screen_look(a.color);
        a.quiet = p.shared.quiet;
        code = c->run(&a);
    }
    values_free(c, a.settings);
    free(a.words);
    free(a.settings);
    return code;
}

static int
no_command(char **words, size_t count)
{
    const char *near = options_near_command(words[0]);
    size_t first = strcspn(near ? near : "", " ");
    char hint[96];

    snprintf(hint, sizeof hint, "seine %s", near ? near : "help");
    if (near && strncmp(words[0], near, first) == 0 && !words[0][first])
        return count > 1 && words[1][0] != '-'
                   ? say_fail(SAY_USAGE, hint, "unknown command '%s %s'",
                              show(words[0]).text, show(words[1]).text)
                   : say_fail(SAY_USAGE, hint, "%s needs a verb", words[0]);
    return say_fail(SAY_USAGE, hint, "unknown command '%s'", show(words[0]).text);
}

int
options_run(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)argc - 1 : 0, used = 0;
    char **words = argv + 1;

    if (count == 0)
        return say_fail(SAY_USAGE, "seine help", "no command given");
    if (strcmp(words[0], "-h") == 0 || strcmp(words[0], "--help") == 0) {
        screen s = screen_look(COLOR_AUTO);

        return help_overview(&s, words[0][1] == '-');
    }
    if (strcmp(words[0], "-V") == 0 || strcmp(words[0], "--version") == 0)
        return help_version();
    if (words[0][0] == '-')
        return say_fail(SAY_USAGE, "seine COMMAND [OPTION…]; seine help lists them",
                        "'%s' stands before the command", show(words[0]).text);

    const command *c = options_find(words, count, &used);
    if (!c && strstr(words[0], "://"))
        c = &cmd_fetch;
    if (!c)
        return no_command(words, count);
    return run(c, words + used, count - used);
}
