/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_check.h - what is wrong with a recipe, as editors want to know it.
 *
 *     sn_recipe_zones zones = {0};
 *     sn_recipe_check(text, &zones, &recipe, &out);        [{"from":12,"to":20,…}]
 *     seine_recipe_free(recipe);
 *     sn_recipe_zones_fini(&zones);
 *
 * The parser and the messages are those of `seine run`. A place is a range of UTF-16
 * units: from the column of the message to the end of the word there.
 *
 * Time    linear in the text.
 * Memory  the recipe, and the files of the time zones that it names.
 * Threads any thread.
 */
#ifndef SN_RECIPE_CHECK_H
#define SN_RECIPE_CHECK_H

#include "base/buf.h"
#include "seine/recipe.h"

enum { SN_RECIPE_ZONES = 8 };

/* Files of time zones, which a recipe borrows. */
typedef struct sn_recipe_zones {
    struct {
        char name[64];
        seine_text bytes;
    } all[SN_RECIPE_ZONES];
    size_t n;
} sn_recipe_zones;

void sn_recipe_zones_fini(sn_recipe_zones *z);

/* Appends a list of problems to `out`. *out_recipe is NULL if there are any, or memory
 * is short. */
void sn_recipe_check(sn_str text, sn_recipe_zones *zones, seine_recipe **out_recipe,
                     sn_buf *out);

/* Appends one problem: {"from":…,"to":…,"severity":…,"code":…,"message":…,"hint":…}.
 * `text` of the diag may end with "; try …", which becomes the hint. */
void sn_recipe_problem(sn_str recipe, const seine_diag *d, const char *severity,
                       const char *code, sn_buf *out);

#endif
