/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - options of curl, wget, lychee and Scrapy that people type from habit.
 *
 * A name that means the same here is an alias and is taken for our option; any other gets
 * the exact translation as its hint. A command needs our option for an alias to count.
 *
 *     const foreign *f = foreign_find("retry", 5);
 *     if (f && f->ours)
 *         puts(f->ours);
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stddef.h>

typedef struct foreign {
    const char *name; /* "retry" */
    const char *ours; /* the option that means the same, "retries"; NULL: there is none */
    const char *hint; /* what to type instead; NULL: `ours` */
} foreign;

/* The row of a name; NULL: nobody calls an option so. */
const foreign *foreign_find(const char *name, size_t n);

/* All rows; the last has no name. */
extern const foreign foreign_rows[];

#endif
