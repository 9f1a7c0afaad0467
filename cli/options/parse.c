/* SPDX-License-Identifier: Apache-2.0 */
#include "options/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t *
given_bits(parser *p, const option *o)
{
    return is_shared(o) ? p->shared_given : p->args->given;
}

static void
mark_given(parser *p, const option *o)
{
    const option *list = is_shared(o) ? shared_options : p->args->command->options;

    given_bits(p, o)[(o - list) / 64] |= UINT64_C(1) << (o - list) % 64;
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
    const char *why = values_read(o, text, settings_of(p, o), spare);
    if (why)
        return values_bad(o, label, text, why);
    mark_given(p, o);
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

        if (!o->env || given_bits(p, o)[(o - list) / 64] >> (o - list) % 64 & 1)
            continue;
        for (const char *c = o->name; *c && n + 1 < sizeof name; c++)
            name[n++] = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        const char *text = getenv(name);
        if (!text || !text[0])
            continue;
        const char *why = values_environment(o, text, settings_of(p, o), spare);
        if (why)
            return values_bad(o, name, text, why);
    }
    return PARSE_RUN;
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

int
parse_words(args *a, shared *common, char **words, size_t count)
{
    parser p = {.args = a, .shared = common, .words = words, .count = count};
    bool only_words = false;
    int code = PARSE_RUN;

    while (code == PARSE_RUN && p.next < p.count) {
        char *word = p.words[p.next++];

        if (only_words || word[0] != '-' || !word[1])
            a->words[a->count++] = word;
        else if (strcmp(word, "--") == 0)
            only_words = true;
        else
            code = word[1] == '-' ? long_option(&p, word) : short_options(&p, word);
    }
    if (code == PARSE_RUN)
        code = read_environment(&p, shared_options);
    if (code == PARSE_RUN)
        code = read_environment(&p, a->command->options);
    return code == PARSE_RUN ? check_arguments(a) : code;
}
