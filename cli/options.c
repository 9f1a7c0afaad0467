/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "heap.h"
#include "help.h"
#include "say.h"

/* In the order of the help. */
const command *const commands[] = {
    &cmd_limit_simulate,
    &cmd_breaker_simulate,
    &cmd_backoff_simulate,
    &cmd_help,
    &cmd_completion,
    &cmd_version,
    NULL,
};

typedef struct shared {
    int color;
    bool quiet;
} shared;

/* clang-format off */
const option shared_options[] = {
    {"help", "h", KIND_ACTION,
     .help = "-h: one screen; --help: everything"},
    {"version", "V", KIND_ACTION,
     .help = "what `seine version` prints"},
    {"color", NULL, KIND_CHOICE, "auto|always|never", "auto", offsetof(shared, color), .env = true,
     .help = "when to use colours",
     .more = "`auto` means on a terminal, unless NO_COLOR is set or TERM is `dumb`; CLICOLOR_FORCE asks for them everywhere. "
             "The option beats the environment."},
    {"quiet", "qs", KIND_FLAG, .at = offsetof(shared, quiet),
     .help = "errors only, no notes"},
    {.name = NULL},
};
/* clang-format on */

/* Slips between two words: a letter too many, missing, wrong, or two swapped. */
static unsigned
slips(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned rows[3][LONGEST + 1];
    size_t la = strlen(a), lb = strlen(b);

    if (la > LONGEST || lb > LONGEST)
        return LONGEST;
    for (unsigned j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= la; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3],
                 *before = rows[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= lb; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[la % 3][lb];
}

/* Remembers in *best the name nearest to `word`, if it is near enough. */
static void
nearer(const char *word, const char *name, unsigned *slip, const char **best)
{
    unsigned n = slips(word, name);

    if (n <= 2 && n < *slip && 2 * n < strlen(word)) {
        *slip = n;
        *best = name;
    }
}

const char *
options_near_command(const char *word)
{
    const char *best = NULL;
    unsigned slip = 3;
    char first[32];

    for (size_t i = 0; commands[i]; i++) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(commands[i]->name, " "),
                 commands[i]->name);
        if (strcmp(word, first) == 0)
            return commands[i]->name;
        const char *near = NULL;
        nearer(word, first, &slip, &near);
        best = near ? commands[i]->name : best;
    }
    return best;
}

const command *
options_find(char **words, size_t count, size_t *out_used)
{
    for (size_t i = 0; commands[i]; i++) {
        const char *p = commands[i]->name;
        size_t used = 0;

        for (; used < count && *p; used++) {
            size_t n = strcspn(p, " ");

            if (strncmp(p, words[used], n) != 0 || words[used][n])
                break;
            p += n + (p[n] == ' ');
        }
        if (!*p) {
            *out_used = used;
            return commands[i];
        }
    }
    return NULL;
}

static const option *
in_list(const option *list, const char *name, size_t n, bool *out_no)
{
    for (const option *o = list; o && o->name; o++) {
        *out_no = false;
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0)
            return o;
        *out_no = true;
        if (o->kind == KIND_FLAG && n == strlen(o->name) + 3 &&
            strncmp(name, "no-", 3) == 0 && strncmp(name + 3, o->name, n - 3) == 0)
            return o;
    }
    return NULL;
}

static const option *
by_name(const command *c, const char *name, size_t n, bool *out_no)
{
    const option *o = in_list(c->options, name, n, out_no);

    return o ? o : in_list(shared_options, name, n, out_no);
}

static const option *
by_letter(const command *c, char letter)
{
    const option *lists[] = {c->options, shared_options};

    for (size_t i = 0; i < 2; i++)
        for (const option *o = lists[i]; o && o->name; o++)
            if (o->letters && strchr(o->letters, letter))
                return o;
    return NULL;
}

static int
unknown(const command *c, const char *word)
{
    const option *lists[] = {c->options, shared_options};
    char name[64], hint[96];
    const char *best = NULL;
    unsigned slip = 3;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    if (strncmp(name, "--", 2) == 0)
        for (size_t i = 0; i < 2; i++)
            for (const option *o = lists[i]; o && o->name; o++)
                nearer(name + 2, o->name, &slip, &best);
    if (best)
        snprintf(hint, sizeof hint, "--%s", best);
    else
        snprintf(hint, sizeof hint, "seine %s --help", c->name);
    return say_fail(SAY_USAGE, hint, "unknown option '%s'", show(name).text);
}

static const char *
read_choice(const option *o, const char *text, int *out)
{
    int place = 0;

    for (const char *p = o->value; *p; place++) {
        size_t n = strcspn(p, "|");

        if (strlen(text) == n && strncmp(p, text, n) == 0) {
            *out = place;
            return NULL;
        }
        p += n + (p[n] == '|');
    }
    return "not one of the choices";
}

enum { WHY = 96 };

static const char *
read_count(const option *o, const char *text, uint64_t *out, char why[WHY])
{
    uint64_t n = 0;
    const char *bad = units_count(text, &n);

    if (bad)
        return bad;
    if (n >= o->min && (o->max == 0 || n <= o->max)) {
        *out = n;
        return NULL;
    }
    if (o->max)
        snprintf(why, WHY, "must be %" PRIu64 " to %" PRIu64, o->min, o->max);
    else
        snprintf(why, WHY, "must be at least %" PRIu64, o->min);
    return why;
}

/* Why the text is no value for the option (said in `why` where it takes numbers),
 * or NULL and its place is written. */
static const char *
read_value(const option *o, const char *text, void *settings, char why[WHY])
{
    void *at = (char *)settings + o->at;
    bool off = o->off && strcmp(text, "off") == 0;

    switch (o->kind) {
    case KIND_SPAN:
        if (!off)
            return units_span(text, at);
        *(seine_span *)at = SEINE_NEVER;
        return NULL;
    case KIND_PACE:
        return units_pace(text, at);
    case KIND_COUNT:
        return read_count(o, text, at, why);
    case KIND_SHARE:
        if (!off)
            return units_share(text, at);
        *(uint32_t *)at = 0;
        return NULL;
    case KIND_CHOICE:
        return read_choice(o, text, at);
    case KIND_TEXT:
    case KIND_FILE:
        if (!text[0])
            return "must not be empty";
        *(const char **)at = text;
        return NULL;
    case KIND_FLAG:
    case KIND_ACTION:
        break;
    }
    return "takes no value";
}

/* What to type instead, for the hint. */
static void
sample(const option *o, char *out, size_t cap)
{
    static const char *const samples[] = {
        [KIND_SPAN] = "500ms, 2s or 1h30m",
        [KIND_PACE] = "5/s, 30/m or 3/4h",
        [KIND_COUNT] = "10, 10_000 or 10k",
        [KIND_SHARE] = "20%",
        [KIND_CHOICE] = "",
        [KIND_TEXT] = "",
        [KIND_FILE] = "FILE",
        [KIND_FLAG] = "",
        [KIND_ACTION] = "",
    };
    const char *text =
        o->kind == KIND_CHOICE || o->kind == KIND_TEXT ? o->value : samples[o->kind];

    if (o->kind == KIND_PACE)
        snprintf(out, cap, "--%s 1/m, or --%s off for no limit", o->name, o->name);
    else
        snprintf(out, cap, "--%s %s%s", o->name, text, o->off ? ", or off" : "");
}

static int
bad_value(const option *o, const char *label, const char *text, const char *why)
{
    char hint[128];

    sample(o, hint, sizeof hint);
    return say_fail(SAY_USAGE, hint, "%s '%s': %s", label, show(text).text, why);
}

void
options_defaults(const command *c, void *settings)
{
    char why[WHY];

    for (const option *o = c->options; o && o->name; o++)
        if (o->initial && o->kind != KIND_FLAG)
            read_value(o, o->initial, settings, why);
        else if (o->kind == KIND_FLAG)
            *(bool *)((char *)settings + o->at) = o->initial != NULL;
}

/* One run of the parser over the words after the command's name. */
typedef struct parse {
    args *args;
    shared shared;
    uint64_t shared_given;
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
    return is_shared(o) ? &p->shared_given : &p->args->given;
}

static void
mark_given(parse *p, const option *o)
{
    const option *list = is_shared(o) ? shared_options : p->args->command->options;

    *given_bits(p, o) |= UINT64_C(1) << (o - list);
}

bool
options_given(const args *a, const char *name)
{
    for (const option *o = a->command->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return a->given >> (o - a->command->options) & 1;
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

        sample(o, hint, sizeof hint);
        return say_fail(SAY_USAGE, hint, "%s needs a value", label);
    }
    char spare[WHY];
    const char *why = read_value(o, text, home(p, o), spare);
    if (why)
        return bad_value(o, label, text, why);
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

static int
take_flag(parse *p, const option *o, bool on)
{
    *(bool *)((char *)home(p, o) + o->at) = on;
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
    const option *o = by_name(c, name, n, &no);

    if (!o)
        return unknown(c, word);
    if ((o->kind == KIND_FLAG || o->kind == KIND_ACTION) && equals) {
        char hint[80];

        snprintf(hint, sizeof hint, "--%s%s", o->name,
                 o->kind == KIND_FLAG ? " or its --no- form" : "");
        return say_fail(SAY_USAGE, hint, "--%.*s takes no value", (int)n, name);
    }
    if (o->kind == KIND_ACTION)
        return act(p, o, true);
    if (o->kind == KIND_FLAG)
        return take_flag(p, o, !no);
    return take_value(p, o, equals ? equals + 1 : NULL);
}

/* -qk, -r5/s, -r 5/s */
static int
short_options(parse *p, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const option *o = by_letter(p->args->command, *letter);
        int code;

        if (!o)
            return unknown(p->args->command, (char[]){'-', *letter, '\0'});
        if (o->kind == KIND_ACTION)
            return act(p, o, false);
        if (o->kind != KIND_FLAG)
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
        char name[64] = "SEINE_", spare[WHY];
        size_t n = strlen(name);

        if (!o->env || *given_bits(p, o) >> (o - list) & 1)
            continue;
        for (const char *c = o->name; *c && n + 1 < sizeof name; c++)
            name[n++] = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        const char *text = getenv(name);
        if (!text || !text[0])
            continue;
        const char *why = read_value(o, text, home(p, o), spare);
        if (why)
            return bad_value(o, name, text, why);
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
    char *equals = strchr(part, '='), hint[160], spare[WHY];
    size_t n = equals ? (size_t)(equals - part) : strlen(part);
    bool no;

    if (!is_key(part, n, keys) || !equals) {
        snprintf(hint, sizeof hint, "%s", keys);
        return say_fail(SAY_USAGE, hint,
                        equals ? "--%s: unknown key '%s'" : "--%s: no value in '%s'",
                        name, show_bytes(part, equals ? n : strlen(part)).text);
    }
    const option *o = by_name(a->command, part, n, &no);
    *equals = '\0';
    if (options_given(a, part))
        return SAY_DONE;
    const char *why = read_value(o, equals + 1, a->settings, spare);
    if (!why)
        return SAY_DONE;
    snprintf(hint, sizeof hint, "--%s: %s", name, part);
    return bad_value(o, hint, equals + 1, why);
}

int
options_spec(const args *a, const char *name, const char *spec, const char *keys)
{
    char *copy = heap_copy(spec ? spec : "", spec ? strlen(spec) : 0), *rest = copy;
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

    a.settings = heap_zeroed(1, c->settings_size ? c->settings_size : 1);
    a.words = heap_zeroed(count + 1, sizeof *a.words);
    options_defaults(c, a.settings);

    int code = parse_words(&p);
    if (code == GO_ON) {
        a.screen = screen_look((color_when)p.shared.color);
        a.quiet = p.shared.quiet;
        code = c->run(&a);
    }
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

    if (strstr(words[0], "://"))
        return say_fail(SAY_USAGE, "seine help", "'%s': this version has no fetch",
                        show(words[0]).text);
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
    if (!c)
        return no_command(words, count);
    return run(c, words + used, count - used);
}
