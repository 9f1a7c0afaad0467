/* SPDX-License-Identifier: Apache-2.0 */
/* A job that is kept elsewhere: shards append to its lanes as to those of any job, and
 * the sink thread passes on what stands there. */
#include <string.h>

#include "base/alloc.h"
#include "store/job_parts.h"

seine_err
sn_job_remote_new(const sn_job_remote *remote, void *self, const char *name,
                  const uint64_t secret[2], seine_durable_job **out_job)
{
    seine_durable_job *j = sn_job_new();
    size_t n = strlen(name) + 1;

    if (!j)
        return SEINE_E_NOMEM;
    j->remote = remote;
    j->self = self;
    j->is_scanned = true;
    j->facts.run = 1;
    j->round.number = 1;
    memcpy(j->facts.secret, secret, sizeof j->facts.secret);
    j->facts.name = sn_alloc(n);
    j->facts.spec = sn_zalloc(1);
    j->facts.command = sn_zalloc(1);
    j->facts.verb = sn_zalloc(1);
    j->facts.boot_id = sn_zalloc(64);
    if (!j->facts.name || !j->facts.spec || !j->facts.command || !j->facts.verb ||
        !j->facts.boot_id) {
        sn_job_free(j);
        return SEINE_E_NOMEM;
    }
    memcpy(j->facts.name, name, n);
    sn_job_boot_id(j->facts.boot_id);
    *out_job = j;
    return SEINE_OK;
}

void
sn_job_remote_wake(seine_durable_job *j)
{
    if (j->wake)
        j->wake(j->wake_arg);
}

static seine_err
pass_on(seine_durable_job *j, sn_job_lane *l)
{
    sn_job_cursor c = sn_job_lane_read(l);
    const sn_job_op *op;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (op = sn_job_lane_next(&c)))
        e = j->remote->op(j->self, op);
    if (e == SEINE_OK)
        sn_job_lane_release(l, &c);
    return e;
}

seine_err
sn_job_remote_commit(seine_durable_job *j, bool is_end, seine_diag *diag)
{
    unsigned n = atomic_load(&j->n_lanes);
    seine_err e = j->err;

    for (unsigned i = 0; i < n && e == SEINE_OK; i++)
        if (atomic_load(&j->lanes[i].has_failed))
            e = SEINE_E_NOMEM;
    for (unsigned i = 0; i < n && e == SEINE_OK; i++) {
        sn_job_lane_wait(&j->lanes[i]);
        e = pass_on(j, &j->lanes[i]);
    }
    if (e == SEINE_OK)
        e = j->remote->commit(j->self, is_end, diag);
    if (e != SEINE_OK && j->err == SEINE_OK)
        j->err = e;
    return e;
}
