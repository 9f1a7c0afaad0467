/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what did a crawl leave out, because of which option?
 *
 * URLs that a crawl refuses have records. Three kinds of refusal are told at the end as
 * well, also with --quiet: pages that repeat, and pages that a limit took which the user
 * did not set. The second kind makes the exit code 4.
 *
 *     limits_note(&l, record);                       of each skip
 *     if (limits_cut(&l, a))                      exit code 4
 *         …
 *     limits_say(&l, a, &log);
 */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include <seine/record.h>

#include "options/options.h"
#include "verbs/run_log.h"

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
} limits;

void limits_note(limits *l, const seine_record *skip);

/* Did a limit that the user did not set take pages? */
bool limits_cut(const limits *l, const args *a);

void limits_say(const limits *l, const args *a, run_log *log);

#endif
