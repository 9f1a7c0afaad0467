/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_hint.h - the command to type next about a job, for messages: it has the name of the
 * job, and --state unless its directory is the usual one. Quoted where a shell needs it.
 *
 *     say_fail(SAY_USAGE, job_hint("jobs resume", name, state).text, "no such job");
 */
#ifndef CLI_JOB_HINT_H
#define CLI_JOB_HINT_H

#include <seine/job_view.h>

typedef struct job_hint_text {
    char text[640];
} job_hint_text;

/* state NULL: ".seine". */
job_hint_text job_hint(const char *verb, const char *name, const char *state);
job_hint_text job_hint_about(const char *verb, const seine_job_about *a);

#endif
