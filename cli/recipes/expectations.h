/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectations.h - what a recipe expects of a whole run, and what came.
 *
 * A page is counted by itself and then added to the run, so that a job can keep the
 * counts of a page with its record and add them again when it goes on.
 *
 *     expectations_begin(&page, recipe);
 *     expectations_row(&page, url, row);           each row of the page
 *     expectations_page(&page, url, is_start);
 *     expectations_add(&run, &page);
 *
 * Threads one owner.
 */
#ifndef CLI_EXPECTATIONS_H
#define CLI_EXPECTATIONS_H

#include "recipes/recipe_file.h"

enum { FIELDS_MOST = 400, DEAD_MOST = 16, HISTORY_MOST = 5 };

/* Rows of one field of one kind. */
typedef struct field_count {
    const char *kind, *name;
    uint64_t rows, filled, errors;
} field_count;

/* A selector that found nothing on a page, and the nearest one that finds something. */
typedef struct dead_count {
    char field[64]; /* "": the rows themselves */
    char selector[160], nearest[160], url[256];
    uint32_t count;
} dead_count;

/* What an earlier run of the job has found. */
typedef struct past_run {
    int64_t run;
    uint64_t items;
    uint64_t rows[FIELDS_MOST], filled[FIELDS_MOST];
} past_run;

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
    dead_count dead[DEAD_MOST];
    size_t n_dead;
} expectations;

void expectations_begin(expectations *e, const recipe_file *recipe);
void expectations_row(expectations *e, const char *url, const seine_row *row);
/* A good row that was counted turns out to have come before, on another page. `unique`:
 * the field of which that is an error. */
void expectations_repeat(expectations *page, const char *kind, const char *unique,
                         const seine_json *data);
void expectations_page(expectations *e, const char *url, bool is_start);

/* Is there a field that no row of the page has, or no good row at all? */
bool expectations_miss(const expectations *page);
void expectations_dead(expectations *e, const char *url, const seine_dead_selector *dead);

void expectations_add(expectations *e, const expectations *page);

/* The counts of a page for the job, and back. */
seine_json *expectations_json(const expectations *page);
void expectations_read(expectations *page, const seine_json *json);

/* What drift is judged by: the counts of a whole run for later ones, and back. */
seine_json *expectations_past_json(const expectations *e, int64_t run);
bool expectations_past_read(const expectations *e, const seine_json *json, past_run *out);

/* A list of texts, each one that is not met: "items: 80, expected >= 100". `past`: up to
 * HISTORY_MOST earlier runs; `is_partial`: the run leaves out what earlier ones have, so
 * that the number of its items says nothing. The caller frees the list. */
seine_json *expectations_judge(const expectations *e, const past_run *past, size_t n_past,
                               bool is_partial);

#endif
