/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closing.h - the report at the end of a run, for people: one line, on a terminal a table
 * below it, and at most three lines of advice.
 *
 *     done: 2 URLs, 1 ok, 1 http_error (404) in 0.2 s
 *
 * The caller fills in a closing with what is known of the run:
 *
 *     textbuf out = {0};
 *     closing_line(&c, &out);
 *     textbuf_free(&out);
 */
#ifndef CLI_CLOSING_H
#define CLI_CLOSING_H

#include <seine/fetch.h>
#include <seine/tally.h>

#include "screen/textbuf.h"

typedef struct closing {
    seine_tally_sums sums;
    seine_fetch_stats stats;
    seine_fetch_left left;
    uint64_t unwritten;      /* records that no output took, because one had failed */
    seine_fetch_host *hosts; /* the busiest first */
    char **names;            /* the memory of their names */
    size_t n_hosts;
    const uint64_t *bins; /* of outputs.h: how long requests took */
    seine_span wall;
    seine_span rate_wait;   /* reading waited for --limit-rate */
    const char *stopped_by; /* "done", "signal" … */
    bool has_told_depth;    /* that URLs are deeper than the default */
    bool has_told_offsite;  /* that a given URL leads to another host */
    const seine_fetch_opts *opts;
} closing;

/* Adds the `done:` line, without a line feed. */
void closing_line(const closing *c, textbuf *out);

/* Adds the table; every line has its line feed. */
void closing_table(const closing *c, const screen *s, textbuf *out);

/* Adds up to three lines of "try: …". */
void closing_advice(const closing *c, textbuf *out);

/* What holds a host back, and the option that would change it; NULL: there is none. */
typedef struct brake {
    const char *name, *hint;
} brake;
brake closing_brake(seine_wait wait);

/* Collects the ten busiest hosts; the run has ended. */
void closing_hosts(closing *c, const seine_fetch *f);
void closing_free(closing *c);

#endif
