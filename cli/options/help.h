/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - help texts, made from the option table.
 *
 * `all` false is the one screen of -h, true the whole text of --help.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>

#include "options/options.h"

/* Paragraphs for all commands: how options are typed, units, exit codes. */
extern const char help_rules[], help_units[], help_exits[];

int help_overview(const screen *s, bool all);

/* What `seine` alone says, on standard error; SAY_USAGE. */
int help_first(screen s);
int help_command(const screen *s, const command *c, bool all);

/* The verbs of a command of two words ("limit"), or its only verb in full; -1: no command
 * begins with this word. */
int help_verbs(const screen *s, const char *word, bool all);
int help_version(void);

/* "-r, --rate R" and "[1]", as help and man page write them. */
typedef struct help_text {
    char text[96];
} help_text;

help_text help_label(const option *o);
help_text help_default(const option *o);
help_text help_env(const option *o); /* "SEINE_RATE", or empty */

/* Prints the man page seine(1) in man(7), or seine-WORD(1), which has all commands that
 * begin with the word; -1: none does. */
int help_man(const char *word);
/* Prints the table as JSON lines. */
int help_table(void);

#endif
