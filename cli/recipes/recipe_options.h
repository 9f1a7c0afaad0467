/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_options.h - are the values under `options` of a recipe what `seine fetch` takes?
 *
 * The library knows the names of the options, and the program their values. Mistakes are
 * told like those of the recipe, in order of their positions.
 */
#ifndef CLI_RECIPE_OPTIONS_H
#define CLI_RECIPE_OPTIONS_H

#include "recipes/recipe_file.h"

/* Adds the mistakes to the `count` that are there, as far as SEINE_DIAG_MAX has room, and
 * returns how many there are. */
size_t recipe_options_check(const recipe_file *f, seine_diag *io_wrong, size_t count);

#endif
