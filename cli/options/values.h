/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - reads the text of a value into its place in the settings.
 *
 *     char why[VALUES_WHY];
 *     const char *bad = values_read(o, "500ms", settings, why);
 */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "options/options.h"

enum { VALUES_WHY = 96 };

/* Writes the value and returns NULL; or writes nothing and returns the reason, for which
 * `why` is room. */
const char *values_read(const option *o, const char *text, void *settings,
                        char why[VALUES_WHY]);

/* The same for an environment variable: a flag is on, off, true, false, 1 or 0, and
 * commas separate the parts of a list. */
const char *values_environment(const option *o, const char *text, void *settings,
                               char why[VALUES_WHY]);

/* Stores what an option means that stands without its value: "". */
void values_alone(const option *o, void *settings);

/* Whether a value follows the option. */
bool values_takes(const option *o);

/* Prints the error message and returns SAY_USAGE. `label` says how the value was given:
 * "--rate". */
int values_bad(const option *o, const char *label, const char *text, const char *why);

/* Writes an example of a value, for the hint of an error message. */
void values_sample(const option *o, char *out, size_t cap);

/* The same without the name of the option: "500ms, 2s or 1h30m, or off". */
void values_form(const option *o, char *out, size_t cap);

/* Fills a command's settings with the defaults. */
void values_defaults(const command *c, void *settings);

/* Frees the lists; their texts belong to the command line. */
void values_free(const command *c, void *settings);

#endif
