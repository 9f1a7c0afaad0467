/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_job.h - outputs of a job: how far each was committed, and how it is cut back.
 *
 *     e = sn_out_job_recover(job, &opts, &diag);    before sn_out_open: checked and cut
 *     …
 *     e = sn_out_flush(&o, true, &diag);
 *     e = sn_out_job_mark(job, &o, &diag);          synced; joins the next commit
 *
 * A new output is claimed in the job before its file is made. So a process that was
 * killed between the two finds a file of its own, and not one that "exists already".
 * Pipes, standard output and callbacks have no length: what they were given before a kill
 * they are given again.
 *
 * Time    a sync for every output that has grown.
 * Memory  none but the mark in the job.
 * Threads one owner.
 */
#ifndef SN_OUT_JOB_H
#define SN_OUT_JOB_H

#include "store/job.h"
#include "store/out.h"

enum { SN_OUT_TAIL = 4096 }; /* bytes before the end that the CRC covers */

/* Cuts the file to its committed length and sets opts->append; an output that was only
 * claimed gets opts->overwrite. OUTPUT_CHANGED: somebody moved, changed or removed it;
 * nothing was cut. IO, NOMEM, DISK_FULL. */
SEINE_MUST_CHECK seine_err sn_out_job_recover(seine_durable_job *j, seine_sink_opts *opts,
                                              seine_diag *diag);

/* The committed length of that output, of a database the last seq; 0: none. */
uint64_t sn_out_job_marked(const seine_durable_job *j, const char *path);

/* Must the output be marked before its first record? One that is claimed is made anew
 * after a kill, and one without a length is never cut. */
bool sn_out_job_needs_mark(const seine_durable_job *j, const sn_out *o);

/* The output has been flushed. FSYNC_FAILED, IO, NOMEM. */
SEINE_MUST_CHECK seine_err sn_out_job_mark(seine_durable_job *j, sn_out *o,
                                           seine_diag *diag);

/* The end of a job: what follows the mark of the first call belongs to the output when
 * the job is finished, and is cut off by a run that goes on before. The first flushes
 * files, and the group after it syncs both. */
SEINE_MUST_CHECK seine_err sn_out_job_mark_end(seine_durable_job *j, sn_out *o,
                                               seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_job_mark_behind(seine_durable_job *j, sn_out *o,
                                                  seine_diag *diag);

#endif
