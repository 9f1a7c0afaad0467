/* SPDX-License-Identifier: Apache-2.0 */
#include <seine/version.h>
#include <string.h>

#include "options/help.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

/* Writes one character of UTF-8 for roff. */
static size_t
put_foreign(const char *p)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    unsigned c = s[0] & (0x7fu >> len);

    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s[i] & 0x3f);
    out_print("\\[u%04X]", c);
    return len;
}

/* Writes a text for roff: nothing in it becomes a command, hyphens stay hyphens, and a
 * part in backquotes is bold. */
static void
put_roff(const char *text)
{
    bool bold = false;

    for (const char *p = text; *p;) {
        if (strncmp(p, "\n\n", 2) == 0) {
            out_text("\n.PP\n");
            p += 2;
            continue;
        }
        if ((unsigned char)*p >= 0x80) {
            p += put_foreign(p);
            continue;
        }
        switch (*p) {
        case '`':
            bold = !bold;
            out_text(bold ? "\\fB" : "\\fR");
            break;
        case '\\':
            out_text("\\e");
            break;
        case '-':
            out_text("\\-");
            break;
        case '.':
        case '\'':
            out_print("\\&%c", *p);
            break;
        default:
            out_bytes(p, 1);
        }
        p++;
    }
}

static void
put_option(const option *o)
{
    help_text env = help_env(o), initial = help_default(o);

    out_text(".TP\n");
    for (const char *l = o->letters; l && *l; l++)
        out_print("\\fB\\-%c\\fR, ", *l);
    out_text("\\fB\\-\\-");
    put_roff(o->name);
    out_text("\\fR");
    if (o->value) {
        out_text(o->alone ? "[=\\fI" : " \\fI");
        put_roff(o->value);
        out_text(o->alone ? "\\fR]" : "\\fR");
    }
    out_text("\n");
    put_roff(o->help);
    if (initial.text[0]) {
        out_text(" ");
        put_roff(initial.text);
    }
    out_text(".\n");
    if (o->more) {
        put_roff(o->more);
        out_text("\n");
    }
    if (env.text[0])
        out_print("Environment: \\fB%s\\fR.\n", env.text);
}

static void
put_usage(const command *c)
{
    out_text("seine ");
    put_roff(c->name);
    if (c->options)
        out_text(" [OPTION\\[u2026]]");
    if (c->arguments[0]) {
        out_text(" ");
        put_roff(c->arguments);
    }
}

static void
put_command(const command *c)
{
    out_text(".SS \"");
    put_usage(c);
    out_text("\"\n");
    put_roff(c->about);
    out_text(".\n");
    if (c->text) {
        out_text(".PP\n");
        put_roff(c->text);
        out_text("\n");
    }
    for (const option *o = c->options; o && o->name; o++)
        if (!o->hidden)
            put_option(o);
}

/* Is the word the command's name, or the first word of it? */
static bool
is_of(const command *c, const char *word)
{
    size_t n = strcspn(c->name, " ");

    return strlen(word) == n && strncmp(c->name, word, n) == 0;
}

static void
put_examples(const char *word)
{
    bool is_first = true;

    for (size_t i = 0; commands[i]; i++)
        for (const example *e = commands[i]->examples; e && e->line; e++) {
            if (!is_of(commands[i], word))
                continue;
            out_text(is_first ? ".SH EXAMPLES\n.PP\n" : ".PP\n");
            is_first = false;
            put_roff(e->says);
            out_text("\n.PP\n.nf\n.RS 4\n");
            put_roff(e->line);
            out_text("\n.RE\n.fi\n");
        }
}

/* The title in capitals, and how the name is written in NAME. */
static void
put_head(const char *dash, const char *word)
{
    out_text(".TH SEINE");
    out_text(dash);
    for (const char *p = word; *p; p++)
        out_print("%c", *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
    out_print(" 1 \"\" \"seine %s\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\nseine%s%s "
              "\\- ",
              seine_version(), dash, word);
}

/* What a page is about: its only command, or the names of several. */
static void
put_about(const char *word)
{
    const command *only = NULL;
    size_t n = 0;

    for (size_t i = 0; commands[i]; i++)
        if (is_of(commands[i], word)) {
            only = commands[i];
            n++;
        }
    if (n == 1) {
        put_roff(only->about);
        out_text("\n");
        return;
    }
    for (size_t i = 0, k = 0; commands[i]; i++)
        if (is_of(commands[i], word)) {
            out_text(k == 0 ? "" : k + 1 < n ? ", " : " and ");
            put_roff(commands[i]->name);
            k++;
        }
    out_text("\n");
}

static void
put_page(const char *word)
{
    put_head("\\-", word);
    put_about(word);
    out_text(".SH SYNOPSIS\n.nf\n");
    for (size_t i = 0; commands[i]; i++)
        if (is_of(commands[i], word)) {
            put_usage(commands[i]);
            out_text("\n");
        }
    out_text(".fi\n.SH DESCRIPTION\n");
    for (size_t i = 0; commands[i]; i++)
        if (is_of(commands[i], word))
            put_command(commands[i]);
    put_examples(word);
    out_text(
        ".SH SEE ALSO\n.BR seine (1)\nhas the options of every command, the units and "
        "the exit status.\n");
}

/* Has an earlier command the same first word? */
static bool
is_named(size_t at, size_t len)
{
    for (size_t i = 0; i < at; i++)
        if (strncmp(commands[i]->name, commands[at]->name, len) == 0 &&
            strcspn(commands[i]->name, " ") == len)
            return true;
    return false;
}

static void
put_list(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const char *name = commands[i]->name;
        size_t len = strcspn(name, " ");

        out_text(".TP\n\\fBseine ");
        put_roff(name);
        out_text("\\fR\n");
        put_roff(commands[i]->about);
        out_text(".\n");
        if (!is_named(i, len))
            out_print("See \\fBseine\\-%.*s\\fR(1).\n", (int)len, name);
    }
}

static void
put_overview(void)
{
    put_head("", "");
    out_text("fetch many URLs quickly, politely, and without losing one\n.SH SYNOPSIS\n"
             ".B seine\n\\fICOMMAND\\fR [\\fIOPTION\\fR\\[u2026]] "
             "[\\fIARGUMENT\\fR\\[u2026]]\n.SH DESCRIPTION\n");
    put_roff(help_rules);
    out_text("\n.SH COMMANDS\n");
    put_list();
    out_text(".SH OPTIONS OF EVERY COMMAND\n");
    for (const option *o = shared_options; o->name; o++)
        put_option(o);
    out_text(".SH UNITS\n");
    put_roff(help_units);
    out_text("\n.SH EXIT STATUS\n");
    put_roff(help_exits);
    out_text("\n");
}

int
help_man(const char *word)
{
    if (!word) {
        put_overview();
        return SAY_DONE;
    }
    for (size_t i = 0; commands[i]; i++)
        if (is_of(commands[i], word)) {
            put_page(word);
            return SAY_DONE;
        }
    return -1;
}

static void
table_option(const char *name, const option *o)
{
    static const char *const kinds[] = {"flag",  "span",   "pace",  "count", "size",
                                        "share", "choice", "text",  "file",  "list",
                                        "files", "times",  "action"};
    seine_json *line = xalloc_json(seine_json_new_object());
    help_text env = help_env(o);

    jsonl_set(line, "command", jsonl_string(name));
    jsonl_set(line, "option", jsonl_string(o->name));
    jsonl_set(line, "kind", jsonl_string(kinds[o->kind]));
    if (o->letters)
        jsonl_set(line, "letters", jsonl_string(o->letters));
    if (o->value)
        jsonl_set(line, "value", jsonl_string(o->value));
    if (o->alone)
        jsonl_set(line, "alone", xalloc_json(seine_json_new_bool(true)));
    if (o->no)
        jsonl_set(line, "no", xalloc_json(seine_json_new_bool(true)));
    if (o->member)
        jsonl_set(line, "member", jsonl_string(o->member));
    if (o->initial)
        jsonl_set(line, "default", jsonl_string(o->initial));
    if (env.text[0])
        jsonl_set(line, "env", jsonl_string(env.text));
    jsonl_set(line, "help", jsonl_string(o->help));
    out_json(line);
}

int
help_table(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const command *c = commands[i];
        seine_json *line = xalloc_json(seine_json_new_object());
        seine_json *lines = xalloc_json(seine_json_new_array());

        jsonl_set(line, "command", jsonl_string(c->name));
        jsonl_set(line, "arguments", jsonl_string(c->arguments));
        jsonl_set(line, "about", jsonl_string(c->about));
        jsonl_set(line, "examples", lines);
        for (const example *e = c->examples; e && e->line; e++)
            jsonl_add(lines, jsonl_string(e->line));
        out_json(line);
        for (const option *o = c->options; o && o->name; o++)
            if (!o->hidden)
                table_option(c->name, o);
    }
    for (const option *o = shared_options; o->name; o++)
        table_option("", o);
    return SAY_DONE;
}
