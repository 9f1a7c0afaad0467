/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shard_ping.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "engine/fetch.h"
#include "engine/run.h"

typedef struct call {
    sn_errand base; /* first */
    sn_shard_ping *of;
} call;

struct sn_shard_ping {
    _Atomic uint32_t owners, missing;
    call calls[];
};

void
sn_shard_ping_drop(sn_shard_ping *p)
{
    if (p && atomic_fetch_sub_explicit(&p->owners, 1, memory_order_acq_rel) == 1)
        sn_free(p);
}

static void
answer(sn_run *r, sn_errand *own, seine_time now)
{
    sn_shard_ping *p = ((call *)own)->of;

    (void)r;
    (void)now;
    atomic_fetch_sub_explicit(&p->missing, 1, memory_order_release);
    sn_shard_ping_drop(p);
}

seine_err
sn_shard_ping_send(seine_fetch *f, sn_shard_ping **out_ping)
{
    uint32_t n = 0;
    sn_run *const *runs = sn_fetch_runs(f, &n);
    sn_shard_ping *p = sn_zalloc(sizeof *p + n * sizeof *p->calls);

    if (!p)
        return SEINE_E_NOMEM;
    atomic_init(&p->owners, n + 1);
    atomic_init(&p->missing, n);
    *out_ping = p;
    for (uint32_t i = 0; i < n; i++) {
        p->calls[i] = (call){.base = {.run = answer}, .of = p};
        sn_run_errand(runs[i], &p->calls[i].base);
    }
    return SEINE_OK;
}

uint32_t
sn_shard_ping_missing(const sn_shard_ping *p)
{
    return atomic_load_explicit(&p->missing, memory_order_acquire);
}
