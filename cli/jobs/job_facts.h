/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_facts.h - a job as a JSON object, which `jobs ls` and `jobs show` print.
 *
 *     seine_json *facts = job_facts_of(about);
 *     job_facts_print(facts);                   for people
 *     out_json(facts);                          for programs
 */
#ifndef CLI_JOB_FACTS_H
#define CLI_JOB_FACTS_H

#include <seine/job_view.h>
#include <seine/plumbing.h>

#include "screen/screen.h"

/* Counts, times and the command, without outputs and hosts. */
seine_json *job_facts_of(const seine_job_about *a);

void job_facts_add_outputs(seine_json *facts, const seine_job_view *v);

/* Adds `hosts` as of the last commit. SAY_DONE, or the exit code after an error message.
 */
int job_facts_add_hosts(seine_json *facts, seine_job_view *v);

/* Asks the running job, by "status" or "show": state, counts, with "show" hosts as they
 * are now. False: it does not answer. */
bool job_facts_add_live(seine_json *facts, const char *dir, const char *cmd);

void job_facts_print(const seine_json *facts);

/* Members, "" and 0 where there are none. */
const char *job_facts_text(const seine_json *facts, const char *name);
uint64_t job_facts_count(const seine_json *facts, const char *name);

/* "3 d", "5 h", "12 min", "40 s" */
figure figure_age(int64_t wall, int64_t now);

int64_t job_facts_wall(void); /* now, ns */

#endif
