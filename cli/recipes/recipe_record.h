/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_record.h - makes tests of a recipe: fetches its start pages, saves them beside
 * it in pages/, and writes down what comes out of them.
 *
 * A page that is tested already is saved anew in its place. The rows of a new one become
 * its golden file, and its test is added to the recipe.
 */
#ifndef CLI_RECIPE_RECORD_H
#define CLI_RECIPE_RECORD_H

#include "options/options.h"
#include "recipes/recipe_file.h"

/* `as`: the command that was typed. SAY_DONE, or the exit code after an error message. */
int recipe_record(recipe_file *io_f, const texts *vars, const args *as);

#endif
