/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_jobs.h - `seine jobs` for jobs that are in Redis.
 *
 * All return SAY_DONE, or the exit code after an error message.
 */
#ifndef CLI_FLEET_JOBS_H
#define CLI_FLEET_JOBS_H

#include <seine/plumbing.h>

#include "options/options.h"

int fleet_jobs_ls(const texts *stores, bool json);
int fleet_jobs_show(const texts *stores, const char *name, bool json);
int fleet_jobs_steer(const texts *stores, const char *name, const char *state);
/* Changes limits for all workers, by the members of the line. */
int fleet_jobs_set(const texts *stores, const char *name, const seine_json *line);
int fleet_jobs_rm(const texts *stores, const char *const *all, size_t n);

#endif
