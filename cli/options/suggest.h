/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - the command or option that somebody probably meant to type.
 *
 * The distance of two words is the number of slips between them: a letter too many, one
 * missing, one wrong, or two neighbours swapped (Damerau and Levenshtein). A name is
 * suggested if it is at most two slips away and fewer than half of the word's letters
 * are.
 *
 *     const char *near = suggest_option(c, "timout");
 */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include "options/options.h"

/* The nearest name; NULL if none is near enough. The first word of a command's name is
 * enough for it. */
const char *suggest_command(const char *word);
const char *suggest_option(const command *c, const char *name);

/* Remembers in *best the name nearest to `word`, if it is near enough. *slip begins as 3.
 */
void suggest_nearer(const char *word, const char *name, unsigned *slip,
                    const char **best);

#endif
