/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what the option table looks like to readers.
 *
 * `all` false: one screen; true: everything there is to say.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>

#include "options/options.h"

/* Paragraphs that belong to no command: how to type, units, exit codes. */
extern const char help_rules[], help_units[], help_exits[];

int help_overview(const screen *s, bool all);
int help_command(const screen *s, const command *c, bool all);
int help_version(void);

/* "-r, --rate R" and "[1]", as help and man page write them. */
typedef struct help_text {
    char text[96];
} help_text;

help_text help_label(const option *o);
help_text help_default(const option *o);
help_text help_env(const option *o); /* "SEINE_RATE", or empty */

/* The man page, in man(7); the table, one JSON object per line. */
int help_man(void);
int help_table(void);

#endif
