/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.h - the command line behind the command's name, read into its settings.
 *
 * Long options are --x V, --x=V and --no-x; letters may stand together (-qk, -r5/s); "--"
 * ends the options. An option that is not given takes the text of its variable in the
 * environment, SEINE_MAX_WAIT for --max-wait, where the table says so; then what a recipe
 * says (the last a->n_weak words); then what the configuration files say.
 *
 *     int code = parse_words(&a, &common, words, count);
 *     if (code == PARSE_RUN)
 *         code = a.command->run(&a);
 *     parse_free(&a);
 */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include "options/options.h"

enum { PARSE_RUN = -1 }; /* no exit code: the command can run */

/* Fills in a->settings, words, count and given, and what all commands share. a->words has
 * room for `count` words. PARSE_RUN; or the exit code, after --help, --version or an
 * error message. */
int parse_words(args *a, shared *common, char **words, size_t count);

/* The same without a look at the number of arguments. */
int parse_settings(args *a, shared *common, char **words, size_t count);

/* Frees the lists of the settings, the origins and the configuration. */
void parse_free(args *a);

/* Reads "fail=5,open=60s" of the option `name`. Each key is one of `keys` ("fail|open")
 * and sets the option of that name, unless the command line gives that option itself.
 * NULL is an empty specification. SAY_DONE, or SAY_USAGE after the error message. */
int parse_spec(const args *a, const char *name, const char *spec, const char *keys);

#endif
