/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.h - the words of a command, with places for a line of input.
 *
 *     command_line c;
 *     const char *why = command_line_read(&c, "./sync.sh --id {} --to '{/to}'");
 *     if (why)
 *         complain(why);
 *     char **argv = command_line_fill(&c, &line, &bad);
 *
 * The text is split once, with the quotes and backslashes of sh; no shell ever sees it,
 * so that nothing in a line of input can become a word, a variable or a command of its
 * own. `{}` stands for the line, and for its URL where the line is JSON; `{/name}` for a
 * member of the JSON. A command without a place gets the line as its last word.
 *
 * Memory  command_line_free; an argv is one block, freed by free.
 */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "limit/paced_line.h"

typedef struct command_line {
    char **words; /* ended by NULL */
    size_t count;
    bool has_place, wants_json;
} command_line;

/* NULL, or why the text is no command. */
const char *command_line_read(command_line *c, const char *text);
void command_line_free(command_line *c);

/* The words for a line, ended by NULL. NULL: the line lacks something that `bad` names.
 */
char **command_line_fill(const command_line *c, const paced_line *line, char bad[128]);

#endif
