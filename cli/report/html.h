/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - text of strangers in a page, and charts as inline SVG.
 *
 *     html_text(out, url);                       escaped, cut and inert
 *     html_link(out, url);                       a link, if it is http or https
 *
 * A chart is stretched to the width that there is, and its labels are text beside it, so
 * that they stay readable on a narrow screen, on paper and when zoomed.
 */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "report/report.h"

/* Control characters become \x1b, markup becomes entities, and what takes more than 360
 * bytes ends in an ellipsis. */
void html_text(textbuf *out, const char *text);
void html_link(textbuf *out, const char *url);

/* The same for a sentence of ours that has texts of strangers in it: 4,000 bytes. */
void html_sentence(textbuf *out, const char *text);

/* A bar that shows the share of `part` in `whole`. */
void html_bar(textbuf *out, const char *class, double part, double whole);

/* Values over bins of equal width. */
typedef struct html_series {
    const char *name, *class; /* "2xx", "c-ok" */
    const double *values;     /* below 0: there is none */
} html_series;

typedef struct html_chart {
    const char *id, *title;
    char about[400]; /* says in words what the chart shows */
    const html_series *series;
    size_t n_series, n;    /* bins */
    const char *labels[3]; /* below the chart: its beginning, middle and end */
    const char *(*bin)(size_t i, void *arg); /* what to show of a bin; NULL: nothing */
    void *arg;
    bool is_band; /* shares of 100 that fill all bins: a low chart without a scale */
    bool is_log;  /* the values are spans, on a scale of powers of ten */
    const char *unit;
} html_chart;

/* One above the other, or as lines. */
void html_stack(textbuf *out, const html_chart *c);
void html_lines(textbuf *out, const html_chart *c);

extern const char html_style[];
extern const char html_style_hash[]; /* "sha256-…", for the policy of the page */

/* Sorts and filters tables; the style of what the script adds comes behind html_style. */
extern const char html_script[], html_script_style[], html_script_hash[];

#endif
