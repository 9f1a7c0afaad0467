/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_input.h - where the records of a report or a comparison come from.
 *
 * A name is that of a file, or else of a job: then its outputs are read, the first that
 * holds records.
 *
 *     int code = report_input_read(".seine", "news", &about, take_line, r);
 */
#ifndef CLI_REPORT_INPUT_H
#define CLI_REPORT_INPUT_H

#include <seine/convert.h>
#include <seine/job_view.h>

/* What is known of a job. */
typedef struct report_job {
    char name[132]; /* "": it is a file */
    char *command;  /* for people; the caller frees it */
    uint64_t pending;
    bool is_finished;
} report_job;

/* Gives every line of records to `fn`. SAY_DONE, or the exit code after an error message.
 */
int report_input_read(const char *state, const char *name, report_job *out_job,
                      seine_line_fn fn, void *arg);

#endif
