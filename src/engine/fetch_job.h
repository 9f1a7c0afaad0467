/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_job.h - how does a fetch go on where an earlier run of its job has ended?
 *
 * Before the shards start everything comes back: the keys that were seen, hosts with
 * their pauses and paces, robots.txt, the scope, the counts, and every URL that was found
 * and has not ended, each to the shard that owns its host. URLs that were given wait in a
 * list until the caller asks for them (seine_fetch_resume), since visits are bounded.
 *
 *     e = sn_fetch_job_scan(&jobs, shared, runs, n, now, &diag);
 *     while (sn_fetch_job_next(&jobs, &ask, &number, &e))
 *         …
 *
 * Time    is passed in; pauses are kept as wall time.
 * Memory  of the URLs that were given.
 * Threads one owner.
 */
#ifndef SN_FETCH_JOB_H
#define SN_FETCH_JOB_H

#include "engine/run.h"
#include "store/job.h"

typedef struct sn_fetch_job {
    sn_arena memory;
    struct sn_given *first, *last; /* URLs that were given, not done */
    seine_fetch_stats before;      /* what earlier runs have done */
} sn_fetch_job;

void sn_fetch_job_init(sn_fetch_job *p);
void sn_fetch_job_fini(sn_fetch_job *p);

/* NOMEM, STATE_CORRUPT, IO with a diag. */
SEINE_MUST_CHECK seine_err sn_fetch_job_scan(sn_fetch_job *p, sn_shared_state *c,
                                             sn_run *const *runs, uint32_t n,
                                             seine_time now, seine_diag *diag);

/* The next URL that was given; its texts live as long as p. False: there is none. STATE
 * in *out_err: its bytes are damaged. */
bool sn_fetch_job_next(sn_fetch_job *p, seine_ask *out_ask, uint64_t *out_number,
                       seine_err *out_err);

/* The interval of a host that nobody knows. */
seine_span sn_fetch_job_first_interval(const seine_fetch_opts *o);

#endif
