/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_policy.h - what holds for this host that is not as for all?
 *
 * The entries of seine_fetch_opts.hosts and groups become a table. A host that none of
 * them names has no policy, and everything reads the options of the run; for the others
 * the entries that fit are laid upon the options once, the most specific last, and hosts
 * that the same entries fit share the result.
 *
 *     e = sn_host_policies_new(&opts, &list, &groups, &table, &diag);
 *     e = sn_host_policies_find(table, name, &policy);      NULL: as for all
 *     const seine_status_set *ok = policy ? &policy->accept : &opts.accept;
 *
 * A table never changes. Whoever replaces it keeps the old one until the fetch ends,
 * since visits point into it.
 *
 * Time    plays no part.
 * Memory  a copy of the entries, and a policy for each combination that was met.
 * Threads any thread; find takes a lock.
 */
#ifndef SN_HOST_POLICY_H
#define SN_HOST_POLICY_H

#include "engine/host_group.h"
#include "engine/visit.h"
#include "net/proxy.h"
#include "net/transport.h"
#include "seine/fetch.h"

enum { SN_HOST_ENTRIES = 20000, SN_GROUPS_MOST = 32 };

typedef struct sn_host_policy {
    uint32_t set; /* SEINE_HOST_…: what the entries say */
    seine_rate rate;
    uint32_t per_host;
    bool adaptive, cookies, insecure;
    bool is_free;     /* allowed more than limits per address would let through */
    sn_limits limits; /* of a request */
    seine_retry_opts retry;
    seine_span max_retry_after, max_crawl_delay;
    seine_breaker_opts breaker; /* rows of failures are judged by waves … */
    uint32_t failures;          /* … of so many; both 0: off */
    uint32_t park;
    seine_obey robots;
    const seine_field *fields;
    size_t n_fields;
    const char *user_agent;
    const sn_proxy *proxy;    /* with SEINE_HOST_PROXY; NULL: straight */
    struct sn_tls_ctx *trust; /* NULL: as everywhere */
    seine_status_set accept;
    const sn_group_rule *groups[SN_GROUPS_MOST];
    uint32_t n_groups;
} sn_host_policy;

typedef struct sn_host_list { /* as in seine_fetch_opts */
    const seine_host_opts *hosts;
    size_t n_hosts;
    const seine_group_opts *groups;
    size_t n_groups;
} sn_host_list;

typedef struct sn_host_policies sn_host_policies;

/* `run` are the options of the run, which outlive the table; groups keep what they owe in
 * `states`. CONFIG: the diag says what cannot be. NOMEM. */
SEINE_MUST_CHECK seine_err sn_host_policies_new(const seine_fetch_opts *run,
                                                const sn_host_list *list,
                                                sn_host_groups *states,
                                                sn_host_policies **out_policies,
                                                seine_diag *diag);
void sn_host_policies_free(sn_host_policies *p); /* NULL is fine */

/* Of "https://e.example:443". *out_policy is NULL if nothing is said of it. NOMEM. */
SEINE_MUST_CHECK seine_err sn_host_policies_find(sn_host_policies *p, sn_str host,
                                                 const sn_host_policy **out_policy);

/* The first group that has a network with this address; NULL: none. */
const sn_group_rule *sn_host_policies_net(const sn_host_policies *p, const sn_ip *ip);

/* Does some entry ask for robots.txt; the largest body that one allows, or 0. */
bool sn_host_policies_obeys(const sn_host_policies *p);
uint64_t sn_host_policies_max_body(const sn_host_policies *p);

/* Is this status of the visit's host one that is ok? */
static inline bool
sn_visit_accepts(const seine_fetch_opts *o, const sn_visit *v, uint16_t status)
{
    return seine_status_set_has(v->policy ? &v->policy->accept : &o->accept, status);
}

/* The table that was before this one; it is freed with it. */
void sn_host_policies_keep(sn_host_policies *p, sn_host_policies *give);

#endif
