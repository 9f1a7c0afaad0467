/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_target.h - a page that a run of a recipe fetches, and how it is found again by
 * the record of the page.
 *
 * The id of a request has all that is known of its page beside the URL, so that a job can
 * go on with it:
 * {"kind":"detail","carry":{"sku":"A-1"},"number":2,"start":true,"named":true}.
 */
#ifndef CLI_RECIPE_TARGET_H
#define CLI_RECIPE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/plumbing.h>

typedef struct recipe_target {
    char *url, *kind;
    char *carry; /* JSON: what the page knows beside the variables of the run */
    uint32_t number;
    bool is_start; /* of the chain of start pages: it has the method and the body */
    bool is_named; /* on a host that the recipe names: it has the headers */
    struct recipe_target *next;
} recipe_target;

/* Texts are copied; carry NULL: {}. */
recipe_target *recipe_target_new(const char *url, const char *kind, const char *carry,
                                 uint32_t number, bool is_start);
void recipe_target_free(recipe_target *t); /* NULL is fine */

/* As a value of JSON, with or without the URL. */
seine_json *recipe_target_json(const recipe_target *t, bool with_url);
/* NULL: it is none. `url` NULL: it stands in the value. */
recipe_target *recipe_target_read(const seine_json *json, const char *url);

/* The members of both objects of JSON, those of `more` before those of `first`; NULL: {}.
 * The caller frees the text. */
char *recipe_merge(const char *first, const char *more);
/* The members of `all` that `known` does not have, or has with another value. */
char *recipe_beyond(const char *all, const char *known);

/* Prints and frees it; the caller frees the text. */
char *recipe_print(seine_json *give);

#endif
