/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_test.h - the tests of a recipe: saved pages, and what must come out of them.
 */
#ifndef CLI_RECIPE_TEST_H
#define CLI_RECIPE_TEST_H

#include "recipes/recipe_file.h"

enum { TEST_LINES = 12, TEST_LINE = 480 };

/* How one test went: what differs, a line each, the first ones. */
typedef struct test_result {
    const char *page; /* as the recipe has it */
    char counts[160]; /* "30 shifts, 2 bad" */
    char lines[TEST_LINES][TEST_LINE];
    unsigned failed;    /* lines; more than there is room for are counted */
    bool updated;       /* its golden file was written */
    size_t good, bad;   /* rows */
    struct test_count { /* a number under `expect` that is another one */
        const char *name;
        uint64_t got;
    } counted[3];
    size_t n_counted;
    bool edited; /* … and was changed in the recipe */
} test_result;

/* Runs one test, an object of `tests`. With `update` a golden file that differs is
 * written anew. SAY_DONE, or the exit code after an error message. */
int recipe_test(const recipe_file *f, const seine_json *test, bool update,
                test_result *out);

#endif
