/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - the text of an option's value and its place in the settings. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "options/options.h"

enum { VALUES_WHY = 96 };

/* Why the text is no value for the option (said in `why` where it takes numbers),
 * or NULL and its place is written. */
const char *values_read(const option *o, const char *text, void *settings,
                        char why[VALUES_WHY]);

/* The same for the text of an environment variable: flags are on, off, true, false,
 * and a list's parts stand between commas. */
const char *values_environment(const option *o, const char *text, void *settings,
                               char why[VALUES_WHY]);

/* Whether the option is followed by a value. */
bool values_takes(const option *o);

/* Says so; SAY_USAGE. `label` is how the value was given: "--rate". */
int values_bad(const option *o, const char *label, const char *text, const char *why);

/* What to type instead, for a hint. */
void values_sample(const option *o, char *out, size_t cap);

/* Fills a command's settings with the defaults. */
void values_defaults(const command *c, void *settings);

/* Frees what lists hold; the texts themselves are the command line's. */
void values_free(const command *c, void *settings);

#endif
