/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_spec.h - do two specs describe the same job, and if not, what differs?
 *
 *     e = sn_job_spec_check("{\"depth\":3}", "{\"depth\":4}", NULL, &diag);
 *
 * CONFIG, and the diag names the first member that differs: `depth`. Members may stand
 * in any order.
 *
 * Time    plays no part.
 * Memory  the two trees, during the call.
 * Threads any thread.
 */
#ifndef SN_JOB_SPEC_H
#define SN_JOB_SPEC_H

#include "seine/diag.h"
#include "seine/err.h"

/* Members of the list `free_ones`, which NULL ends, may differ; NULL: none may. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_spec_check(const char *was, const char *is,
                                             const char *const *free_ones,
                                             seine_diag *diag);

#endif
