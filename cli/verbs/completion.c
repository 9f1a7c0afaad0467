/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "options/topics.h"
#include "options/values.h"
#include "screen/out.h"
#include "screen/say.h"
#include "verbs/verbs.h"

static int run_completion(const args *a);

/* clang-format off */
static const example examples[] = {
    {"seine completion bash > ~/.local/share/bash-completion/completions/seine",
     "For bash, once and for all:"},
    {"seine completion zsh > ~/.zfunc/_seine",
     "For zsh, where ~/.zfunc is in fpath:"},
    {"seine completion fish > ~/.config/fish/completions/seine.fish",
     "For fish:"},
    {NULL, NULL},
};

const command cmd_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .choices = "bash|zsh|fish",
    .is_aside = true,
    .about = "print what a shell needs to complete commands and options",
    .examples = examples,
    .min_args = 1,
    .max_args = 1,
    .run = run_completion,
};
/* clang-format on */

/* Writes "bash|zsh" as "bash zsh". */
static void
put_choices(const char *choices)
{
    for (; *choices; choices++)
        out_bytes(*choices == '|' ? " " : choices, 1);
}

static bool
is_list(const char *value)
{
    return value && strchr(value, '|') && !strchr(value, '[');
}

/* Writes a text that stands inside single quotes, for all three shells. */
static void
put_quoted(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            out_text("'\\''");
        else if (*text != '`')
            out_bytes(text, 1);
}

static bool
is_file(const option *o)
{
    return o->kind == KIND_FILE || o->kind == KIND_FILES;
}

static bool
has_no(const option *o)
{
    return o->kind == KIND_FLAG || o->no;
}

static bool
wants_file(const command *c)
{
    return strstr(c->arguments, "TRACE") || strstr(c->arguments, "FILE");
}

/* Whether the i-th command is the first with its first word, which is copied. */
static bool
begins_group(size_t i, char first[32])
{
    size_t n = strcspn(commands[i]->name, " ");

    snprintf(first, 32, "%.*s", (int)n, commands[i]->name);
    for (size_t k = 0; k < i; k++)
        if (strncmp(commands[k]->name, first, n) == 0 &&
            strchr(" ", commands[k]->name[n]))
            return false;
    return true;
}

static void
bash_words(const option *list)
{
    for (const option *o = list; o && o->name; o++) {
        if (o->hidden)
            continue;
        out_print(" --%s", o->name);
        if (has_no(o))
            out_print(" --no-%s", o->name);
        for (const char *l = o->letters; l && *l; l++)
            out_print(" -%c", *l);
    }
}

static void
bash_values(const option *list)
{
    for (const option *o = list; o && o->name; o++) {
        if (!values_takes(o))
            continue;
        out_print("        --%s", o->name);
        for (const char *l = o->letters; l && *l; l++)
            out_print("|-%c", *l);
        out_text(") COMPREPLY=($(compgen ");
        if (is_file(o))
            out_text("-f");
        else {
            out_text("-W '");
            if (is_list(o->value))
                put_choices(o->value);
            out_text("'");
        }
        out_text(" -- \"$word\")); return ;;\n");
    }
}

/* Writes the second words of the commands that begin with `first`. */
static void
put_verbs(const char *first)
{
    size_t n = strlen(first);

    for (size_t k = 0; commands[k]; k++)
        if (strncmp(commands[k]->name, first, n) == 0 && commands[k]->name[n] == ' ')
            out_print(" %s", commands[k]->name + n + 1);
}

/* Writes the first words of all commands. */
static void
put_groups(void)
{
    char first[32];

    for (size_t i = 0; commands[i]; i++)
        if (begins_group(i, first))
            out_print("%s%s", i ? " " : "", first);
}

/* Writes the words that `seine help` takes. */
static void
put_topics(void)
{
    put_groups();
    out_text(" topics");
    for (const topic *t = topics; t->name; t++)
        out_print(" %s", t->name);
}

/* Writes what an argument of the command may be, as far as that is known. */
static void
put_arguments(const command *c)
{
    if (c->choices)
        put_choices(c->choices);
    else if (strstr(c->arguments, "TOPIC"))
        put_topics();
}

static void
write_bash(void)
{
    char first[32];

    out_text("# bash completion for seine\n_seine() {\n"
             "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local first=${COMP_WORDS[1]} second=${COMP_WORDS[2]} name\n"
             "    COMPREPLY=()\n"
             "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
             "        COMPREPLY=($(compgen -W '");
    put_groups();
    out_text(" --help --version' -- \"$word\")); return\n    fi\n");
    for (size_t i = 0; commands[i]; i++)
        if (begins_group(i, first) && strchr(commands[i]->name, ' ')) {
            out_print("    if [ \"$COMP_CWORD\" -eq 2 ] && [ \"$first\" = %s ] && "
                      "[[ $word != -* ]]; then\n"
                      "        COMPREPLY=($(compgen -W '",
                      first);
            put_verbs(first);
            out_text("' -- \"$word\")); return\n    fi\n");
        }
    out_text("    name=\"$first $second\"\n    case $name in\n");
    for (size_t i = 0; commands[i]; i++) {
        const command *c = commands[i];

        out_print(strchr(c->name, ' ') ? "    '%s')\n" : "    '%s '*)\n", c->name);
        out_text("        case $last in\n");
        bash_values(c->options);
        bash_values(shared_options);
        out_text("        esac\n        case $word in\n"
                 "        -*) COMPREPLY=($(compgen -W '");
        bash_words(c->options);
        bash_words(shared_options);
        out_text("' -- \"$word\")) ;;\n        *) ");
        if (wants_file(c))
            out_text("COMPREPLY=($(compgen -f -- \"$word\"))");
        else {
            out_text("COMPREPLY=($(compgen -W '");
            put_arguments(c);
            out_text("' -- \"$word\"))");
        }
        out_text(" ;;\n        esac ;;\n");
    }
    out_text("    esac\n}\ncomplete -o filenames -F _seine seine\n");
}

static void
zsh_option(const option *o)
{
    const char *tail = is_file(o) ? ":file:_files" : NULL;

    out_print("            '--%s%s[", o->name, values_takes(o) ? "=" : "");
    put_quoted(o->help);
    out_text("]");
    if (values_takes(o) && is_list(o->value)) {
        out_print(":%s:(", o->name);
        put_choices(o->value);
        out_text(")");
    } else if (values_takes(o)) {
        out_text(tail ? tail : ":value: ");
    }
    out_text("' \\\n");
    for (const char *l = o->letters; l && *l; l++) {
        out_print("            '-%c%s[", *l, values_takes(o) ? "+" : "");
        put_quoted(o->help);
        out_print("]%s' \\\n", values_takes(o) ? ":value: " : "");
    }
    if (has_no(o))
        out_print("            '--no-%s[not --%s]' \\\n", o->name, o->name);
}

static void
write_zsh(void)
{
    char first[32];

    out_text("#compdef seine\n_seine() {\n    if (( CURRENT == 2 )); then\n"
             "        _values command");
    for (size_t i = 0; commands[i]; i++)
        if (begins_group(i, first)) {
            out_print(" '%s[", first);
            put_quoted(commands[i]->about);
            out_text("]'");
        }
    out_text("\n        return\n    fi\n");
    for (size_t i = 0; commands[i]; i++)
        if (begins_group(i, first) && strchr(commands[i]->name, ' ')) {
            out_print("    if (( CURRENT == 3 )) && [[ $words[2] == %s && "
                      "$words[3] != -* ]]; then\n"
                      "        _values verb",
                      first);
            put_verbs(first);
            out_text("\n        return\n    fi\n");
        }
    out_text("    case \"$words[2] $words[3]\" in\n");
    for (size_t i = 0; commands[i]; i++) {
        const command *c = commands[i];

        out_print(strchr(c->name, ' ') ? "    '%s')\n" : "    '%s '*)\n", c->name);
        out_text("        _arguments \\\n");
        for (const option *o = c->options; o && o->name; o++)
            if (!o->hidden)
                zsh_option(o);
        for (const option *o = shared_options; o->name; o++)
            zsh_option(o);
        if (wants_file(c))
            out_text("            '*:file:_files' ;;\n");
        else {
            out_text("            '*:argument:(");
            put_arguments(c);
            out_text(")' ;;\n");
        }
    }
    out_text("    esac\n}\n_seine \"$@\"\n");
}

/* Writes fish's condition under which the options of this command apply. */
static void
fish_condition(const command *c)
{
    size_t n = strcspn(c->name, " ");

    out_print(" -n '__fish_seen_subcommand_from %.*s", (int)n, c->name);
    if (c->name[n])
        out_print("; and __fish_seen_subcommand_from %s", c->name + n + 1);
    out_text("'");
}

static void
fish_option(const command *c, const option *o)
{
    out_text("complete -c seine");
    if (c)
        fish_condition(c);
    out_print(" -l %s", o->name);
    for (const char *l = o->letters; l && *l; l++)
        out_print(" -s %c", *l);
    if (values_takes(o))
        out_text(is_file(o) ? " -r" : " -x");
    if (values_takes(o) && is_list(o->value)) {
        out_text(" -a '");
        put_choices(o->value);
        out_text("'");
    }
    out_text(" -d '");
    put_quoted(o->help);
    out_text("'\n");
    if (!has_no(o))
        return;
    out_text("complete -c seine");
    if (c)
        fish_condition(c);
    out_print(" -l no-%s -d 'not --%s'\n", o->name, o->name);
}

static void
write_fish(void)
{
    char first[32];

    out_text("# fish completion for seine\ncomplete -c seine -f\n");
    for (size_t i = 0; commands[i]; i++) {
        const command *c = commands[i];
        const char *verb = strchr(c->name, ' ');

        if (begins_group(i, first)) {
            out_print("complete -c seine -n __fish_use_subcommand -a %s -d '", first);
            put_quoted(c->about);
            out_text("'\n");
        }
        if (verb) {
            out_print("complete -c seine -n '__fish_seen_subcommand_from %.*s; and not "
                      "__fish_seen_subcommand_from %s' -a %s -d '",
                      (int)(verb - c->name), c->name, verb + 1, verb + 1);
            put_quoted(c->about);
            out_text("'\n");
        }
        bool is_known = c->choices || strstr(c->arguments, "TOPIC");
        if (wants_file(c) || is_known) {
            out_text("complete -c seine");
            fish_condition(c);
            out_text(is_known ? " -a '" : " -F");
            put_arguments(c);
            out_text(is_known ? "'\n" : "\n");
        }
        for (const option *o = c->options; o && o->name; o++)
            if (!o->hidden)
                fish_option(c, o);
    }
    for (const option *o = shared_options; o->name; o++)
        fish_option(NULL, o);
}

static int
run_completion(const args *a)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};

    for (size_t i = 0; i < 3; i++)
        if (strcmp(a->words[0], shells[i].name) == 0) {
            shells[i].print();
            return SAY_DONE;
        }
    return say_fail(SAY_USAGE, "bash, zsh or fish", "completion: no shell '%s'",
                    show(a->words[0]).text);
}
