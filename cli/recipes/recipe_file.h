/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_file.h - a recipe from a file, with its mistakes shown where they are.
 *
 *     seine: shop.yaml:14:9: selector 'a..b' is not valid: expected a class name after
 * '.' each: a..b
 *               ^
 *     try: a.b
 */
#ifndef CLI_RECIPE_FILE_H
#define CLI_RECIPE_FILE_H

#include <seine/recipe.h>

#include "recipes/zone_bytes.h"
#include "verbs/bytes.h"

typedef struct recipe_file {
    const char *path;
    char *folder; /* that paths in the recipe start from: "recipes/shop/" or "" */
    bytes yaml;
    zone_bytes zones;
    seine_recipe *recipe;
    const struct run_host *host; /* of the run; NULL: none */
    bool is_shared; /* a job in Redis has it: its variables are read from no files */
} recipe_file;

/* SAY_DONE, or the exit code after all mistakes are told. Close in any case. */
int recipe_open(recipe_file *f, const char *path);
/* The same, of a text; `name` stands in messages. Takes the text over. */
int recipe_open_text(recipe_file *f, const char *name, char *give_yaml, size_t len);
void recipe_close(recipe_file *f);

/* A path that the recipe names; the caller frees it. */
char *recipe_path(const recipe_file *f, const char *name);

/* A key of the top level as a JSON value, NULL: none. The caller frees it. */
seine_json *recipe_part(const recipe_file *f, const char *key);

/* Values of variables, JSON, but for those of secrets; the caller frees them. */
seine_json *recipe_public_vars(const recipe_file *f, const char *vars);

/* "application/json" or "text/html", by the end of a file's name. */
const char *recipe_type_of(const char *path);

/* "30 shifts", "1 shift". */
void recipe_count(uint64_t n, const char *kind, char *out, size_t cap);

#endif
