/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what was left out of a run, because of which option?
 *
 * Every limit that has kept URLs, links or bytes out is told at the end: on standard
 * error with the option to type, and in the summary. A limit that the user did not set is
 * told also with --quiet, and makes the exit code 4. Pages that repeat are told with
 * --quiet too, and leave the exit code alone.
 *
 *     limits_see(&l, record);                      of each skip, on the sink thread
 *     size_t n = limits_list(&l, a, &c, rows);     those that have bitten
 */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include "options/options.h"
#include "screen/closing.h"

/* One kind of refusal: how many, and the rule of the first. */
typedef struct limit {
    uint64_t n;
    char rule[512];
} limit;

typedef struct limits {
    limit repeats; /* --pattern-budget: proven */
    limit hosts;   /* --max-subdomains */
    limit depth;   /* --depth */
    limit memory;  /* no room for one more URL */
    limit pages, bytes, per_host;
    uint64_t bad_lines; /* of the input */
} limits;

typedef struct limit_row {
    const char *name; /* in the summary */
    uint64_t n;
    bool is_surprise; /* the user has not set it: exit code 4 */
    bool is_loud;     /* it is said with --quiet, too */
    char text[640];
    const char *hint;
} limit_row;

enum { LIMITS_MOST = 12 };

void limits_see(limits *l, const seine_record *skip);

/* Returns how many there are, at most LIMITS_MOST. */
size_t limits_list(const limits *l, const args *a, const closing *c, limit_row *out);

/* Whether one of them was not set by the user. */
bool limits_surprise(const limits *l, const args *a, const closing *c);

#endif
