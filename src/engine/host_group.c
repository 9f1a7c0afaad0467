/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_group.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/gcra.h"

#define PATIENCE SEINE_MS(10)

void
sn_host_groups_init(sn_host_groups *g)
{
    *g = (sn_host_groups){.first = NULL};
    pthread_mutex_init(&g->lock, NULL);
}

void
sn_host_groups_fini(sn_host_groups *g)
{
    while (g->first) {
        sn_host_group *next = g->first->next;

        sn_free(g->first);
        g->first = next;
    }
    pthread_mutex_destroy(&g->lock);
}

static sn_host_group *
find_or_make(sn_host_groups *g, const char *name)
{
    for (sn_host_group *x = g->first; x; x = x->next)
        if (strcmp(x->name, name) == 0)
            return x;
    size_t n = strlen(name) + 1;
    sn_host_group *x = sn_zalloc(sizeof *x + n);
    if (!x)
        return NULL;
    atomic_init(&x->full, SN_LONG_AGO);
    memcpy(x->name, name, n);
    x->next = g->first;
    g->first = x;
    return x;
}

sn_host_group *
sn_host_groups_get(sn_host_groups *g, const char *name)
{
    pthread_mutex_lock(&g->lock);
    sn_host_group *x = find_or_make(g, name);
    pthread_mutex_unlock(&g->lock);
    return x;
}

/* Takes a token, or says when there is one. */
static seine_time
charge(const sn_group_rule *r, seine_time now, seine_time *out_mark)
{
    seine_limiter bucket = r->limit;
    int64_t full = atomic_load_explicit(&r->group->full, memory_order_relaxed);

    do {
        bucket.full = full;
        seine_time ready = sn_gcra_ready(&bucket, now, bucket.every);
        if (ready > now)
            return ready;
        sn_gcra_pay(&bucket, now, bucket.every);
    } while (!atomic_compare_exchange_weak(&r->group->full, &full, bucket.full));
    *out_mark = bucket.full;
    return now;
}

seine_err
sn_group_rule_take(const sn_group_rule *r, seine_time now, seine_time *out_mark,
                   seine_time *out_when)
{
    sn_host_group *g = r->group;
    uint32_t before = atomic_fetch_add_explicit(&g->in_flight, 1, memory_order_acq_rel);

    if (r->most > 0 && before >= r->most) {
        sn_group_rule_end(r);
        *out_when = sn_time_add(now, sn_time_max(r->limit.every, PATIENCE));
        return SEINE_E_BUSY;
    }
    *out_mark = SN_LONG_AGO;
    seine_time when = r->limit.every > 0 ? charge(r, now, out_mark) : now;
    if (when > now) {
        sn_group_rule_end(r);
        *out_when = when;
        return SEINE_E_LIMITED;
    }
    return SEINE_OK;
}

void
sn_group_rule_end(const sn_group_rule *r)
{
    atomic_fetch_sub_explicit(&r->group->in_flight, 1, memory_order_acq_rel);
}

void
sn_group_rule_undo(const sn_group_rule *r, seine_time mark, seine_time now)
{
    int64_t full = atomic_load_explicit(&r->group->full, memory_order_relaxed), less;

    sn_group_rule_end(r);
    if (mark == SN_LONG_AGO)
        return;
    do {
        less = sn_gcra_returned(full, mark, r->limit.every, now);
    } while (!atomic_compare_exchange_weak(&r->group->full, &full, less));
}

bool
sn_group_rule_has_net(const sn_group_rule *r, const sn_ip *ip)
{
    for (size_t i = 0; i < r->n_nets; i++)
        if (sn_cidr_has(&r->nets[i], ip))
            return true;
    return false;
}
