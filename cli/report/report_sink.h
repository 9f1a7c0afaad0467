/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_sink.h - the report of a run as one of its outputs: -o run.html.
 *
 * Records are counted as they come, and the page is written once, when the run has ended:
 * its reader sees the old page or the new one.
 *
 *     report_sink s = {0};
 *     code = report_sink_open(&s, "run.html", may_replace);
 *     report_sink_add(&s, record);                 on the thread of the sinks
 *     const char *path;
 *     code = report_sink_write(&s, &about, &path);
 *     report_sink_free(&s);
 *
 * Memory  about 20 MB at most, whatever the run.
 */
#ifndef CLI_REPORT_SINK_H
#define CLI_REPORT_SINK_H

#include <stdbool.h>

#include <seine/record.h>

struct report;

typedef struct report_sink {
    const char **paths; /* borrowed names */
    size_t n, cap;
    struct report *report; /* NULL: no page is asked for */
} report_sink;

/* The path of an output that is a page: "run.html", "html:run". NULL: it is none. */
const char *report_sink_path(const char *name);

/* SAY_DONE, or the exit code after an error message. */
int report_sink_open(report_sink *s, const char *name, bool may_replace);

/* Whether one of the pages is that file, however it is spelled. */
bool report_sink_has(const report_sink *s, const char *path);

void report_sink_add(report_sink *s, const seine_record *r);
void report_sink_add_kept(report_sink *s, const seine_record *r); /* of earlier runs */

/* What the run knows at its end. */
typedef struct report_sink_about {
    const char *title;   /* the job, or the command */
    const char *job;     /* "": none */
    const char *state;   /* the directory of the job */
    uint64_t pending;    /* URLs without a record */
    bool is_finished;    /* nothing is left to do */
    const char *summary; /* members of the summary; NULL: none */
    size_t summary_len;
    const char *words;                     /* the command line, see report_settings.h */
    const struct seine_timeline *timeline; /* borrowed; NULL: there is none */
} report_sink_about;

/* Writes all pages. 0; or an errno, with *out_path the one that cannot be written. */
int report_sink_write(report_sink *s, const report_sink_about *about,
                      const char **out_path);
void report_sink_free(report_sink *s);

#endif
