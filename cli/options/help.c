/* SPDX-License-Identifier: Apache-2.0 */
#include "options/help.h"

#include <stdio.h>
#include <string.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"

/* clang-format off */
const char help_rules[] =
    "Options and arguments mix; `--` ends the options; `--opt V` is `--opt=V`; short ones cluster (`-qj`); of a repeated one "
    "the last counts; every on/off option `--x` also exists as `--no-x`; `-` as a file is standard input.";
const char help_units[] =
    "Durations: `500ms`, `2s`, `1h30m`; units ns us ms s m h d w, bare numbers are seconds. Rates: `5/s`, `30/m`, `3/4h`, "
    "`off`. Counts: `10_000`, `10k`. Sizes: `64k`, `16M`, `2GiB`. Shares: `20%`.";
const char help_exits[] =
    "0: finished. 1: finished, and the answer is no. 2: usage or input, and nothing was sent or printed. 3: this machine (disk, "
    "memory, output). 4: stopped by --max-time or --max-errors with work left. 5: hosts were given up, try later. 6: what a recipe expects is not so. 129, 130, 143: "
    "signals. 141: the reader of the output has gone.";
/* clang-format on */

enum {
    GAP = 26,
    SHORT_GAP = 16
}; /* columns at which descriptions of options and, on one screen, of commands begin */

help_text
help_label(const option *o)
{
    help_text out = {""};
    size_t n = 0;

    for (const char *l = o->letters; l && *l; l++)
        n += (size_t)snprintf(out.text + n, sizeof out.text - n, "-%c, ", *l);
    snprintf(out.text + n, sizeof out.text - n, o->alone ? "--%s[=%.0s%s]" : "--%s%s%s",
             o->name, o->value ? " " : "", o->value ? o->value : "");
    return out;
}

help_text
help_default(const option *o)
{
    help_text out = {""};

    if (o->kind == KIND_FLAG && o->initial)
        snprintf(out.text, sizeof out.text, "[on]");
    else if (o->initial)
        snprintf(out.text, sizeof out.text, "[%s]", o->initial);
    return out;
}

help_text
help_env(const option *o)
{
    help_text out = {""};
    size_t n = 6;

    if (!o->env)
        return out;
    memcpy(out.text, "SEINE_", n);
    for (const char *c = o->name; *c && n + 1 < sizeof out.text; c++)
        out.text[n++] = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    return out;
}

/* The columns that a word takes; backquotes are not shown. */
static size_t
count_columns(const char *word, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += word[i] != '`' && ((unsigned char)word[i] & 0xc0) != 0x80;
    return sum;
}

/* Prints a word; a part in `backquotes` is bold where there are colours. */
static void
put_word(const screen *s, const char *word, size_t n, bool *bold)
{
    while (n > 0) {
        const char *mark = memchr(word, '`', n);
        size_t len = mark ? (size_t)(mark - word) : n;

        out_bytes(word, len);
        if (!mark)
            return;
        word += len + 1;
        n -= len + 1;
        *bold = !*bold;
        if (s->colour)
            out_code(*bold ? "\x1b[1m" : "\x1b[0m");
    }
}

/* Wraps sentences at the screen's width, `indent` columns in; the first line
 * begins at column `at`. */
static void
wrap_text(const screen *s, const char *text, size_t indent, size_t at)
{
    size_t width = s->width < 100 ? s->width : 100;
    bool bold = false;

    while (*text) {
        size_t n = strcspn(text, " \n"), wide = count_columns(text, n);

        if (at > indent && at + 1 + wide > width) {
            out_text("\n");
            at = 0;
        }
        if (at < indent)
            out_fill(" ", indent - at);
        else if (at > indent)
            out_text(" ");
        at = (at < indent ? indent : at + (at > indent)) + wide;
        put_word(s, text, n, &bold);
        text += n;
        if (strncmp(text, "\n\n", 2) == 0) {
            out_text("\n\n");
            at = 0;
            text += 2;
        } else if (*text) {
            text++;
        }
    }
    out_text("\n");
}

static void
put_option(const screen *s, const option *o, bool all)
{
    help_text name = help_label(o), initial = help_default(o);
    size_t indent = o->letters ? 2 : 6;
    size_t at = indent + count_columns(name.text, strlen(name.text));
    char line[512];

    out_fill(" ", indent);
    screen_put(s, INK_BOLD, "%s", name.text);
    if (at + 2 > GAP) {
        out_text("\n");
        at = 0;
    }
    snprintf(line, sizeof line, "%s%s%s", o->help, initial.text[0] ? " " : "",
             initial.text);
    wrap_text(s, line, GAP, at);
    if (all && o->more)
        wrap_text(s, o->more, GAP, 0);
}

static void
put_heading(const screen *s, const char *text)
{
    out_text("\n");
    screen_put(s, INK_BOLD, "%s", text);
    out_text("\n");
}

static void
put_options(const screen *s, const option *list, bool all)
{
    const char *group = NULL;

    for (const option *o = list; o && o->name; o++) {
        if (all && o->group && (!group || strcmp(group, o->group) != 0))
            put_heading(s, group = o->group);
        if ((all || !o->rare) && !o->hidden)
            put_option(s, o, all);
    }
}

static void
put_variables(const option *list)
{
    for (const option *o = list; o && o->name; o++)
        if (o->env && !o->hidden)
            out_print("  %-*s --%s\n", GAP + 2, help_env(o).text, o->name);
}

int
help_command(const screen *s, const command *c, bool all)
{
    screen_put(s, INK_BOLD, "seine %s", c->name);
    out_print(" [OPTION…]%s%s\n", c->arguments[0] ? " " : "", c->arguments);
    wrap_text(s, c->about, 0, 0);
    if (all && c->text) {
        out_text("\n");
        wrap_text(s, c->text, 0, 0);
    }
    if (c->options) {
        if (!all)
            out_text("\n");
        else if (!c->options->group)
            put_heading(s, "Options");
        put_options(s, c->options, all);
    }
    if (all) {
        put_heading(s, "Options of every command");
        put_options(s, shared_options, all);
    }
    if (c->examples) {
        if (all)
            put_heading(s, "Examples");
        else
            out_text("\n");
    }
    for (const example *e = c->examples; e && e->line; e++) {
        if (all && e->says)
            wrap_text(s, e->says, 2, 0);
        out_print(all ? "    %s\n" : "  %s\n", e->line);
        if (!all)
            break;
    }
    if (all) {
        put_heading(s, "Environment");
        put_variables(c->options);
        put_variables(shared_options);
    }
    if (!all)
        out_print("%sseine %s --help says more.\n", c->examples ? "" : "\n", c->name);
    return SAY_DONE;
}

/* How many commands, from the i-th on, have names of two words with the same first. */
static size_t
family_size(size_t i)
{
    size_t n = 0, word = strcspn(commands[i]->name, " ");

    while (commands[i + n] &&
           strncmp(commands[i + n]->name, commands[i]->name, word) == 0 &&
           commands[i + n]->name[word] == ' ')
        n++;
    return n;
}

/* The command that follows a family and is named like its first word; NULL: none. */
static const command *
head_of(size_t i, size_t n)
{
    size_t word = strcspn(commands[i]->name, " ");
    const command *c = commands[i + n];

    return c && strlen(c->name) == word && strncmp(c->name, commands[i]->name, word) == 0
               ? c
               : NULL;
}

/* Prints a family in one line, "url …   parse, resolve, normalize". */
static void
put_family(const screen *s, size_t i, size_t n)
{
    size_t word = strcspn(commands[i]->name, " "), len = 0;
    const command *head = head_of(i, n);
    char verbs[256] = "";

    if (head)
        len = (size_t)snprintf(verbs, sizeof verbs, "%s; ", head->about);
    for (size_t k = 0; k < n && len < sizeof verbs; k++)
        len += (size_t)snprintf(verbs + len, sizeof verbs - len, "%s%s",
                                k > 0 ? ", " : "", commands[i + k]->name + word + 1);
    out_text("  ");
    screen_put(s, INK_BOLD, "%.*s", (int)word, commands[i]->name);
    out_text(" …");
    wrap_text(s, verbs, SHORT_GAP, word + 4);
}

/* True if the command's name is this word and a verb. */
static bool
is_of(const command *c, const char *word)
{
    size_t n = strlen(word);

    return n > 0 && strncmp(c->name, word, n) == 0 && c->name[n] == ' ';
}

int
help_verbs(const screen *s, const char *word, bool all)
{
    const command *first = NULL;
    size_t n = 0, width = 0;

    for (size_t i = 0; commands[i]; i++) {
        if (!is_of(commands[i], word))
            continue;
        first = n++ ? first : commands[i];
        width = strlen(commands[i]->name) > width ? strlen(commands[i]->name) : width;
    }
    if (n == 0)
        return -1;
    if (n == 1)
        return help_command(s, first, all);
    for (size_t i = 0; commands[i]; i++) {
        if (!is_of(commands[i], word))
            continue;
        screen_put(s, INK_BOLD, "seine %-*s", (int)width, commands[i]->name);
        out_print("  %s\n", commands[i]->about);
    }
    return SAY_DONE;
}

/* Prints commands in a paragraph: "Small tools: url (parse, resolve), sitemap." */
static void
put_paragraph(const screen *s, const char *title, bool is_aside)
{
    textbuf text = {NULL, 0, 0};
    const char *between = title;

    for (size_t i = 0; commands[i]; i++) {
        size_t word = strcspn(commands[i]->name, " "), n = family_size(i);

        if (!(is_aside ? commands[i]->is_aside : commands[i]->is_small))
            continue;
        textbuf_put(&text, "%s%.*s", between, (int)word, commands[i]->name);
        for (size_t k = 0; k < n && commands[i]->name[word]; k++)
            textbuf_put(&text, "%s%s", k > 0 ? ", " : " (",
                        commands[i + k]->name + word + 1);
        textbuf_put(&text, "%s", commands[i]->name[word] ? ")" : "");
        i += n > 1 ? n - 1 : 0;
        between = ", ";
    }
    textbuf_put(&text, ".");
    wrap_text(s, text.text, 0, 0);
    textbuf_free(&text);
}

int
help_first(screen s)
{
    static const char *const lines[] = {
        "seine https://e.example/              fetch a page",
        "seine crawl https://docs.example/     fetch a whole site",
        "seine check https://docs.example/     find its broken links",
    };
    textbuf text = {NULL, 0, 0};

    textbuf_ink(&text, &s, INK_BOLD, "seine");
    textbuf_put(&text, ": a web crawler and fetcher; every URL ends in one record\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        textbuf_put(&text, "  %s\n", lines[i]);
    textbuf_put(&text, "try: seine help\n");
    fwrite(text.text, 1, text.len, stderr);
    textbuf_free(&text);
    return SAY_USAGE;
}

int
help_overview(const screen *s, bool all)
{
    screen_put(s, INK_BOLD, "seine COMMAND");
    out_text(" [OPTION…] [ARGUMENT…]\n\n");
    for (size_t i = 0; commands[i]; i++) {
        const char *takes = all ? commands[i]->arguments : ""; /* else one screen */
        size_t gap = all ? GAP + 6 : SHORT_GAP;
        char line[128];

        if (!all && (commands[i]->is_aside || commands[i]->is_small))
            continue;
        if (!all && (family_size(i) > 1 || head_of(i, 1))) {
            size_t n = family_size(i);

            put_family(s, i, n);
            i += n - 1 + (head_of(i, n) != NULL);
            continue;
        }
        snprintf(line, sizeof line, "%s %s", commands[i]->name, takes);
        out_text("  ");
        screen_put(s, INK_BOLD, "%-*s", (int)strlen(commands[i]->name),
                   commands[i]->name);
        out_print(" %s", takes);
        size_t at = 2 + count_columns(line, strlen(line));
        if (at + 1 > gap) {
            out_text("\n");
            at = 0;
        }
        wrap_text(s, commands[i]->about, gap, at);
    }
    if (all) {
        put_heading(s, "Options of every command");
        put_options(s, shared_options, all);
        out_text("\n");
        wrap_text(s, help_rules, 0, 0);
        out_text("\n");
        wrap_text(s, help_units, 0, 0);
        out_text("\n");
        wrap_text(s, help_exits, 0, 0);
        out_text("\n");
    }
    if (!all) {
        put_paragraph(s, "Small tools: ", false);
        put_paragraph(s, "Of seine: ", true);
    }
    wrap_text(s,
              "`seine COMMAND -h` is one screen, `--help` everything. Pages: `seine "
              "help topics`.",
              0, 0);
    return SAY_DONE;
}
