/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_vars.h - the values of variables that --var gives, and defaults that the program
 * has to read: env:NAME, file:PATH. */
#ifndef CLI_RECIPE_VARS_H
#define CLI_RECIPE_VARS_H

#include <seine/secret.h>

#include "options/options.h"
#include "recipes/recipe_file.h"

/* Makes the JSON of all variables. Values of secret ones join `secrets`, unless NULL.
 * With `needed`, a variable without a value is an error. *out_is_secret: a secret was
 * typed, and is wiped now; NULL is fine. SAY_DONE, or the exit code after an error
 * message. */
int recipe_vars(const recipe_file *f, const texts *given, bool needed,
                seine_secrets *secrets, seine_text *out_vars, bool *out_is_secret);

/* The same; `known` has values that are settled, an object of JSON. */
int recipe_vars_beside(const recipe_file *f, const seine_json *known, const texts *given,
                       bool needed, seine_secrets *secrets, seine_text *out_vars,
                       bool *out_is_secret);

#endif
