/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item_record.h - a row of a recipe as one line of JSON.
 *
 *     {"v":1,"type":"item","recipe":"shop","kind":"product","url":…,"n":3,"ok":true,
 *      "key":"A-1003","data":{…},"provenance":{"url":…,"selector":…,"line":9,"col":1}}
 */
#ifndef CLI_ITEM_RECORD_H
#define CLI_ITEM_RECORD_H

#include <stddef.h>

#include <seine/recipe.h>

/* Of which recipe and which page a row is. */
typedef struct item_of {
    const char *recipe, *url;
} item_of;

/* The line without its end; the caller frees it. */
char *item_record(const item_of *of, const seine_row *row, size_t *out_len);

/* What follows "type" in it, without braces; likewise. */
char *item_members(const item_of *of, const seine_row *row, size_t *out_len);

#endif
