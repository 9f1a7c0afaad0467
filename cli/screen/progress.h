/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - where a run stands, in one or two lines.
 *
 *     62 %  ━━━━━━━━━━━━━━━━━━━━━━━━━──────────────  622/1,000  98/s  ETA 3–4 s
 *     ok 598  err 24  retried 611  64 in flight  limited by --host-rate
 *
 * The part of the bar that failed is red, or "!" without colours. Of a crawl the total
 * is what is known by now, and the line has its name:
 *
 *     docs.example  1,204/1,310  92 %  4.7/s  ok 1,198  err 6  4 in flight  ETA 21–25 s
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <seine/fetch.h>

#include "screen/eta.h"
#include "screen/screen.h"

typedef struct progress_facts {
    seine_time now;
    seine_fetch_stats stats;
    uint64_t ok, errors, skipped;
    uint64_t total;   /* of URLs; 0: not known */
    bool is_estimate; /* `total` is from the part of the file that was read */
    bool is_reading;  /* the input is not at its end */
    bool is_stopping;
    uint32_t concurrency;
    const char *host; /* the only one, or NULL */
    const eta *eta;

    /* of a crawl */
    bool is_crawl;
    const char *name;   /* the host it began at, or NULL */
    const char *slow;   /* the host that will take longest, or NULL … */
    seine_span slowest; /* … and how long, at the pace it keeps */
} progress_facts;

typedef struct progress_text {
    char bytes[2048];
} progress_text;

/* Two lines for a terminal, the second without a line feed. */
progress_text progress_bar(const screen *s, const progress_facts *f);

/* The same in one plain line. */
progress_text progress_line(const progress_facts *f);

/* "--host-rate on e.example", or "". */
const char *progress_limit(const progress_facts *f, char *buf, size_t cap);

/* What of the options a wait belongs to: "--host-rate". */
const char *progress_wait_name(seine_wait w);

/* How many columns the text takes. */
size_t progress_columns(const char *text);

#endif
