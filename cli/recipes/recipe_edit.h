/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_edit.h - changes the tests in the text of a recipe, and nothing else of it.
 *
 * Each function returns the whole new text, which the caller frees, or NULL: the recipe
 * is written in a way that only its writer can change.
 */
#ifndef CLI_RECIPE_EDIT_H
#define CLI_RECIPE_EDIT_H

#include <stdint.h>

#include "recipes/recipe_file.h"

/* `lines`: entries of the list `tests`, "- {…}" each, without indentation. */
char *recipe_edit_add(const recipe_file *f, const char *lines);

/* Changes the number of "items: 30" in the test of that index. */
char *recipe_edit_count(const recipe_file *f, size_t test, const char *name, uint64_t to);

/* Writes the text in the place of the recipe and reads it anew. SAY_DONE, or the exit
 * code after an error message. */
int recipe_edit_save(recipe_file *io_f, const char *text);

#endif
