/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_job.h - what became of a URL in a job, and what it waits for.
 *
 *     code = explain_job_open(a, state, name, &job);   options and seeds of the job
 *     has_robots = explain_job_robots(&job, url, &answer);
 *     seine_json *facts = explain_job_facts(&job, key, url);
 *     explain_job_print(facts, &a->screen);
 */
#ifndef CLI_EXPLAIN_JOB_H
#define CLI_EXPLAIN_JOB_H

#include <seine/job_view.h>
#include <seine/plumbing.h>
#include <seine/robots_fetch.h>

#include "jobs/job_command.h"
#include "options/options.h"

typedef struct explain_job {
    seine_job_view *view;
    job_command command;
    args args; /* of `explain`, by the command line of the job; words are its seeds */
    const command *parsed; /* who has read the command line */
    bool is_crawl, is_fetch;
} explain_job;

/* SAY_DONE, or the exit code after an error message. */
int explain_job_open(const args *a, const char *state, const char *name,
                     explain_job *out);
void explain_job_close(explain_job *j);

/* False: the job has not read it. The answer's rules belong to the caller. */
bool explain_job_robots(const explain_job *j, const char *url, seine_robots_answer *out);

/* {"name","state",…}; NULL: the state of the job cannot be read. */
seine_json *explain_job_facts(const explain_job *j, const char *key, const char *url);
void explain_job_print(const seine_json *facts, const screen *s);

#endif
