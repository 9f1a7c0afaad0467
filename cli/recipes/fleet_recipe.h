/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_recipe.h - the recipe of a job that is in Redis, for its workers and its export.
 *
 * The spec of the job has the text of the recipe and the values of its variables, but for
 * secrets. Whoever may write to Redis has written them: the text is parsed as any recipe,
 * and may read no file of this machine.
 *
 *     code = fleet_recipe_load(view, "shop", &job);
 *     apply(&job.recipe);
 *     fleet_recipe_free(&job);
 */
#ifndef CLI_FLEET_RECIPE_H
#define CLI_FLEET_RECIPE_H

#include <seine/fleet_view.h>

#include "options/options.h"
#include "recipes/recipe_file.h"

typedef struct fleet_recipe {
    recipe_file recipe;
    bool has_recipe; /* false: the job is there and has none, or it is not there */
    char name[160];  /* of the recipe in messages: "recipe of job 'shop'" */
    seine_json *vars;
    char run_date[16]; /* the day on which the job was made */
} fleet_recipe;

/* SAY_DONE, or the exit code after an error message. Free in any case. */
int fleet_recipe_load(seine_fleet_view *view, const char *job, fleet_recipe *out);
/* The same, of the job that --store and --job name. With `must_be` it is there, and is a
 * recipe; without, only the day is read, and only if it is there. */
int fleet_recipe_find(const texts *store, const char *job, bool must_be,
                      fleet_recipe *out);
void fleet_recipe_free(fleet_recipe *r);

#endif
