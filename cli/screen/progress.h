/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - the progress bar: how far a run is, and how long it will take.
 *
 *     62 %  ━━━━━━━━━━━━━━━━━━━━━━━━━──────────────  622/1,000  98/s  ETA 3–4 s
 *           ok 598  err 24  retried 611  64 in flight  limited by --host-rate
 *
 * The failed part of the bar is red, or "!" without colours. Where standard error is no
 * terminal, one plain line says the same every 10 seconds. The total of a crawl is the
 * number of URLs known by now, and its line begins with the host it started at:
 *
 *     docs.example  1,204/1,310  92 %  4.7/s  ok 1,198  err 6  4 in flight  ETA 21–25 s
 *
 * The caller collects the facts; a function here only turns them into text:
 *
 *     progress_facts f = {.now = now, .stats = stats, .total = 1000, .eta = &eta};
 *     progress_text text = progress_bar(&s, &f);
 *
 * docs/user/progress.md explains every part of the two lines.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <seine/eta.h>
#include <seine/fetch.h>

#include "screen/screen.h"

typedef struct progress_facts {
    seine_time now;
    int64_t wall; /* the same moment in Unix nanoseconds */
    seine_fetch_stats stats;
    uint64_t ok, errors, skipped;
    uint64_t total;   /* of URLs; 0: not known */
    bool is_estimate; /* `total` is projected from the part of the input that was read */
    bool is_reading;  /* the input has more */
    bool is_slowed;   /* reading waits for --limit-rate, most of the time */
    bool is_stopping;
    uint32_t concurrency;
    const char *host; /* the only host of the run, or NULL */
    const seine_eta *eta;

    /* of a crawl */
    bool is_crawl;
    const char *name;   /* the host it started at, or NULL */
    const char *slow;   /* the host that needs longest for its URLs, or NULL … */
    seine_span slowest; /* … and how long it needs at its present pace */
} progress_facts;

typedef struct progress_text {
    char bytes[2048];
} progress_text;

/* Two lines for a terminal, the second without a line feed. */
progress_text progress_bar(const screen *s, const progress_facts *f);

/* The same in one line without colours. */
progress_text progress_line(const progress_facts *f);

/* Writes what holds most URLs back into `buf` and returns `buf`: "--host-rate on
 * e.example", or "". */
const char *progress_limit(const progress_facts *f, char *buf, size_t cap);

/* The option or header that causes a wait: "--host-rate". */
const char *progress_wait_name(seine_wait w);

/* How many columns the text takes; escape sequences for colours take none. */
size_t progress_columns(const char *text);

#endif
