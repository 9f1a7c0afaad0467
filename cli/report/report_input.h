/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_input.h - where the records of a report or a comparison come from.
 *
 * A name is that of a file, or else of a job: then its outputs are read, the first that
 * holds records. A job without such an output has results in its state, which lack
 * messages, types and redirects.
 *
 *     report_taker taker = {.line = take_line, .record = take_record, .arg = r};
 *     int code = report_input_read(".seine", "news", &taker, &about);
 *     report_job_free(&about);
 */
#ifndef CLI_REPORT_INPUT_H
#define CLI_REPORT_INPUT_H

#include <seine/convert.h>
#include <seine/job_view.h>
#include <seine/timeline.h>

/* What is known of a job. */
typedef struct report_job {
    char name[132]; /* "": it is a file */
    char *command;  /* for people; NULL */
    char *words;    /* the same as JSON */
    char *spec;     /* what the job is made of, JSON; NULL */
    uint64_t pending;
    bool is_finished;
    seine_job_status status;
    bool is_bare; /* the records come from its state */
} report_job;

void report_job_free(report_job *j);

/* Who gets the records. */
typedef struct report_taker {
    seine_line_fn line;
    seine_job_record_fn
        record;               /* of a job without outputs; NULL: such a job is refused */
    seine_timeline *timeline; /* gets the slices of a job or database; NULL: nobody */
    void *arg;
} report_taker;

/* SAY_DONE, or the exit code after an error message. */
int report_input_read(const char *state, const char *name, const report_taker *to,
                      report_job *out_job);

#endif
