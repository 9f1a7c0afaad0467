/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectations.h - what a recipe expects of a whole run, and what came.
 *
 * Threads one owner.
 */
#ifndef CLI_EXPECTATIONS_H
#define CLI_EXPECTATIONS_H

#include "recipes/recipe_file.h"

enum { FIELDS_MOST = 400 };

/* Rows of one field of one kind. */
typedef struct field_count {
    const char *kind, *name;
    uint64_t rows, filled, errors;
} field_count;

typedef struct expectations {
    const recipe_file *recipe;
    uint64_t good, bad;
    uint64_t pages;       /* that were read */
    uint64_t least, most; /* good rows of a start page */
    char least_url[512], most_url[512];
    field_count fields[FIELDS_MOST];
    size_t n_fields;
    uint64_t unmet;       /* rows of which a condition of `where` is not true … */
    unsigned first_unmet; /* … the first of these conditions, from 1 … */
    char unmet_url[512];  /* … and its page */
    uint64_t duplicates;
    char first_error[200]; /* "start: '7ish' is not a time" */
} expectations;

void expectations_init(expectations *e, const recipe_file *recipe);
void expectations_row(expectations *e, const char *url, const seine_row *row);
void expectations_page(expectations *e, const char *url, bool is_start, uint32_t good);

/* A list of texts, each one that is not met: "items: 80, expected >= 100". The caller
 * frees it. */
seine_json *expectations_judge(const expectations *e);

#endif
