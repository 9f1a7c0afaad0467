/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_retry.h - open again what a job has finished: which URLs, by a condition.
 *
 * The results for which the condition holds are forgotten, so that their URLs are work
 * again; the next run of the job fetches them, and nothing else. Nothing is emptied: the
 * other results, the URLs that are known and the outputs stay.
 *
 *     seine_job_retry_opts o = SEINE_JOB_RETRY_OPTS;
 *     o.name = "news";
 *     o.where = "outcome = timeout and host ~ '\\.example$'";
 *     e = seine_job_retry(&o, &n, &diag);        n URLs wait now
 *
 * Names in a condition: url host outcome ok status error.kind attempts depth ts bytes_in
 * bytes_body time.total (ms) seq; docs/user/expr.md has the language.
 *
 * Time    wall time; reads all rows.
 * Memory  16 bytes for each URL that is opened again, and a bit for each URL.
 * Threads one owner, and no other process has the job.
 */
#ifndef SEINE_JOB_RETRY_H
#define SEINE_JOB_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_job_retry_opts {
    size_t size;       /* of this struct: SEINE_JOB_RETRY_OPTS sets it */
    const char *state; /* the directory of all jobs; NULL: ".seine" */
    const char *name;
    const char *where;   /* NULL: "not ok and outcome != blocked" */
    const char *spec;    /* of the next runs, as in seine_job_opts; NULL: as it is */
    const char *command; /* likewise */
    bool is_trial;       /* counts, and changes nothing */
} seine_job_retry_opts;

/* clang-format off */
#define SEINE_JOB_RETRY_OPTS {sizeof(seine_job_retry_opts), NULL, NULL, NULL, NULL, NULL, false}
/* clang-format on */

SEINE_BEGIN

/* *out_n: URLs that were opened again. CONFIG: not a condition; diag.column is where.
 * STATE_LOCKED: it runs. IO: there is none. STATE_CORRUPT and its kin, BUDGET (the
 * condition takes too long), DISK_FULL, NOMEM, INVAL: nothing was changed. */
SEINE_MUST_CHECK seine_err seine_job_retry(const seine_job_retry_opts *opts,
                                           uint64_t *out_n, seine_diag *diag);

SEINE_END

#endif
