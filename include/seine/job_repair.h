/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_repair.h - save what can be read of a job whose state is damaged.
 *
 * Every row has a checksum, so that a row is either as it was written or known to be
 * damaged. The rows that are as they were go into a new state; the old one stays beside
 * it as job.db.damaged.
 *
 *     e = seine_job_repair(".seine", "news", &got, &diag);
 *     printf("%llu URLs are lost\n", (unsigned long long)got.urls_lost);
 *
 * A URL whose result is lost is fetched again, and has a second record in the outputs. A
 * URL that is lost itself is found again only if a link leads there that is still to be
 * read. The first page of the file holds the secret of the job: without it nothing can be
 * saved.
 *
 * Time    reads all rows. Memory a bit for each URL. Threads one owner, and no other
 * process has the job.
 */
#ifndef SEINE_JOB_REPAIR_H
#define SEINE_JOB_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_job_repaired {
    bool is_sound; /* nothing was damaged, and nothing was changed */
    bool
        has_guessed; /* how many rows there were is not known: losses are a lower bound */
    uint64_t urls, results, others;                /* rows that were saved */
    uint64_t urls_lost, results_lost, others_lost; /* that are missing */
} seine_job_repaired;

SEINE_BEGIN

/* STATE_LOCKED: it runs. IO: there is none. STATE_CORRUPT, STATE_FOREIGN, STATE_NEWER:
 * nothing can be saved; nothing was changed. DISK_FULL, FSYNC_FAILED, NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_job_repair(const char *state, const char *name,
                                            seine_job_repaired *out_repaired,
                                            seine_diag *diag);

SEINE_END

#endif
