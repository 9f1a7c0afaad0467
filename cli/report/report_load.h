/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_load.h - what a run was busy with, second by second, and what held it back.
 *
 * The slices of a timeline are joined into bins of equal width. Files of plain records
 * have no timeline, and nothing of this.
 *
 *     report_load load = {0};
 *     report_load_make(timeline, &load);
 *     if (load.n > 0)
 *         printf("%.0f %%\n", 100 * report_load_share(&load, LOAD_POLITE));
 *     report_load_free(&load);
 */
#ifndef CLI_REPORT_LOAD_H
#define CLI_REPORT_LOAD_H

#include <seine/timeline.h>

#include "screen/textbuf.h"

/* What limits a run, and what URLs wait for, in the same groups. */
typedef enum load_group {
    LOAD_POLITE,  /* rates, delays and pauses of hosts, and the rate over all */
    LOAD_SLOTS,   /* connections at once: in all, per host, per address */
    LOAD_FAILING, /* breakers and backoff */
    LOAD_MACHINE, /* outputs, memory, processor, a pause */
    LOAD_SERVER,  /* all is in flight */
    LOAD_MIXED,
    LOAD_GROUPS
} load_group;

typedef struct load_bin {
    seine_slice sum;
    seine_span limits[LOAD_GROUPS]; /* the time in which each was the limit */
} load_bin;

typedef struct report_load {
    load_bin *all;
    size_t n;
    int64_t from; /* of the first bin */
    seine_span width;
    seine_slice sum;                     /* of all bins */
    seine_span limits[SEINE_LIMIT_ROOM]; /* the time in which each was the limit … */
    seine_span busy;                     /* … together: without that of nothing to do */
    double most_in_flight, most_waiting; /* means of the fullest bin */
} report_load;

void report_load_make(const seine_timeline *t, report_load *out);
void report_load_free(report_load *l);

load_group load_group_of(seine_limit l);
load_group load_wait_group(seine_wait w);
const char *load_group_name(load_group g); /* "politeness" */

/* The part of the busy time in which a group, or a limit, was what held the run back. */
double report_load_share(const report_load *l, load_group g);
double report_load_limit(const report_load *l, seine_limit limit);

/* "politeness 62 %, this machine 30 %" */
void report_load_text(const report_load *l, textbuf *out);

#endif
