/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_group.h - one limit for several hosts together: is there room in the group?
 *
 * What a group owes and has in flight is kept under its name as long as the fetch lives;
 * the rule, which may change meanwhile, says how much is allowed.
 *
 *     e = sn_group_rule_take(rule, now, &mark, &when);
 *     if (e != SEINE_OK)
 *         wait_until(when);                           nothing was taken
 *     sn_group_rule_end(rule);                        the request has ended
 *     sn_group_rule_undo(rule, mark, now);            or it never began
 *
 * It limits and never schedules: nobody is woken.
 *
 * Time    is passed in.
 * Memory  a few words a group, for the life of the fetch.
 * Threads any thread; making a group: under the lock of its list.
 */
#ifndef SN_HOST_GROUP_H
#define SN_HOST_GROUP_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/cidr.h"
#include "seine/host_opts.h"

typedef struct sn_host_group {
    struct sn_host_group *next;
    _Atomic int64_t full; /* when its bucket is full again */
    _Atomic uint32_t in_flight;
    char name[];
} sn_host_group;

typedef struct sn_host_groups {
    pthread_mutex_t lock;
    sn_host_group *first;
} sn_host_groups;

typedef struct sn_group_rule {
    sn_host_group *group;
    seine_limiter limit; /* its arithmetic; every 0: no rate */
    uint32_t most;       /* in flight; 0: any number */
    const char *const *names;
    const sn_cidr *nets;
    size_t n_nets;
} sn_group_rule;

void sn_host_groups_init(sn_host_groups *g);
void sn_host_groups_fini(sn_host_groups *g);

/* The group of that name; made if it is new. NULL: no memory. */
sn_host_group *sn_host_groups_get(sn_host_groups *g, const char *name);

/* OK; BUSY: as many as allowed are in flight; LIMITED: too early. Then nothing is taken
 * and *out_when says when to come back; for BUSY that is a guess. */
SEINE_MUST_CHECK seine_err sn_group_rule_take(const sn_group_rule *r, seine_time now,
                                              seine_time *out_mark, seine_time *out_when);
void sn_group_rule_end(const sn_group_rule *r);
void sn_group_rule_undo(const sn_group_rule *r, seine_time mark, seine_time now);

bool sn_group_rule_has_net(const sn_group_rule *r, const sn_ip *ip);

#endif
