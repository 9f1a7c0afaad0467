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
put_command(const command *c)
{
    out_text(".SS \"seine ");
    put_roff(c->name);
    if (c->options)
        out_text(" [OPTION\\[u2026]]");
    if (c->arguments[0]) {
        out_text(" ");
        put_roff(c->arguments);
    }
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

static void
put_examples(void)
{
    out_text(".SH EXAMPLES\n");
    for (size_t i = 0; commands[i]; i++)
        for (const example *e = commands[i]->examples; e && e->line; e++) {
            out_text(".PP\n");
            put_roff(e->says);
            out_text("\n.PP\n.nf\n.RS 4\n");
            put_roff(e->line);
            out_text("\n.RE\n.fi\n");
        }
}

int
help_man(void)
{
    out_print(".TH SEINE 1 \"\" \"seine %s\" \"User Commands\"\n.nh\n.ad l\n",
              seine_version());
    out_text(".SH NAME\nseine \\- fetch many URLs quickly, politely, and without losing "
             "one\n.SH SYNOPSIS\n"
             ".B seine\n\\fICOMMAND\\fR [\\fIOPTION\\fR\\[u2026]] "
             "[\\fIARGUMENT\\fR\\[u2026]]\n.SH DESCRIPTION\n");
    put_roff(help_rules);
    out_text("\n.SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++)
        put_command(commands[i]);
    out_text(".SH OPTIONS OF EVERY COMMAND\n");
    for (const option *o = shared_options; o->name; o++)
        put_option(o);
    out_text(".SH UNITS\n");
    put_roff(help_units);
    out_text("\n.SH EXIT STATUS\n");
    put_roff(help_exits);
    out_text("\n");
    put_examples();
    return SAY_DONE;
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
