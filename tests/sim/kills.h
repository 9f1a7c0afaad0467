/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kills.h - a run that has a job and is killed: what was committed, and what the witness
 * forgets.
 *
 * Now and then between two steps the job commits, as the sinks would. A kill comes at any
 * step: what was not committed is lost to the engine, and so to the oracle, which takes
 * back what it knew at the last commit. What servers have seen stays seen. Every third
 * kill is a disk that fails inside of a commit (job_disk.h): all of its group is lost,
 * and nothing that was committed before.
 */
#ifndef SIM_KILLS_H
#define SIM_KILLS_H

#include "net.h"
#include "store/job.h"

typedef struct sim_kills sim_kills;

/* Draws when to commit and when to kill, and takes out of the world what a stop would
 * end: a job waits for it. */
sim_kills *sim_kills_new(sim_world *w);
void sim_kills_free(sim_kills *k);

/* Opens the job. */
seine_err sim_kills_open(sim_kills *k, seine_durable_job **out_job, seine_diag *diag);

void sim_kills_record(sim_kills *k, const seine_record *r);

/* After a step: commits if the dice say so. True: the run is to be killed. */
bool sim_kills_step(sim_kills *k, const uint64_t *records, const uint64_t *skips);
bool sim_kills_is_due(const sim_kills *k);

/* The process is gone: the job is closed without a commit; the world as of the last. */
void sim_kills_crash(sim_kills *k);
void sim_kills_restore(sim_kills *k, uint64_t *out_records, uint64_t *out_skips);

/* At the end: does the job have as much to do as the run says it has left? */
void sim_kills_judge(sim_kills *k, uint64_t left);

#endif
