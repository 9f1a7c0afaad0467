/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_run.h - a run whose job is in Redis: opens it, gives it its seeds, says how it
 * ended.
 *
 *     int code = fleet_run_open(a, spec, line, &job);      of --store
 *     code = fleet_run_give(a, &job, &urls);               unless they are there
 */
#ifndef CLI_FLEET_RUN_H
#define CLI_FLEET_RUN_H

#include "verbs/feed.h"
#include "verbs/run_job.h"

/* Of open and give: there is nothing more to do, --submit or a job that is finished. */
enum { FLEET_RUN_SUBMITTED = -1 };

/* All: SAY_DONE, or the exit code after an error message. */
int fleet_run_open(const args *a, const char *spec, const char *line, run_job *out);
int fleet_run_give(const args *a, run_job *job, feed *f);
int fleet_run_say(const run_job *job);

/* The URLs of --store, each REDIS_URL_ROOM bytes; to be freed and wiped by the caller. */
int fleet_run_urls(const texts *typed, char **out_urls);

#endif
