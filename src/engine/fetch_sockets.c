/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "engine/fetch.h"
#include "net/socket_transport.h"

#define SPARE 64 /* descriptors for everything else */

static seine_err
wrong(seine_diag *diag, const char *member, const char *value)
{
    return sn_diag_value(diag, member, sn_str_of(value), "not understood");
}

static size_t
list_length(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static seine_err
read_allowed(const char *const *list, sn_cidr **out_nets, size_t *out_n, seine_diag *diag)
{
    size_t n = list_length(list);

    *out_n = n;
    *out_nets = sn_calloc(n + 1, sizeof **out_nets);
    if (!*out_nets)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (sn_cidr_parse(sn_str_of(list[i]), &(*out_nets)[i]) != SEINE_OK)
            return wrong(diag, "allow_net", list[i]);
    return SEINE_OK;
}

/* A port of this machine: local:PORT. */
static bool
read_own_port(const char *text, uint16_t *out_port)
{
    sn_str prefix = SN_STR("local:"), all = sn_str_of(text);
    uint64_t port;

    if (!sn_str_starts(all, prefix) ||
        sn_str_u64(sn_str_slice(all, prefix.len, all.len), &port) != SEINE_OK ||
        port == 0 || port > UINT16_MAX)
        return false;
    *out_port = (uint16_t)port;
    return true;
}

/* Networks, and ports of this machine. */
static seine_err
read_denied(const char *const *list, sn_address_guard_opts *o, sn_cidr **out_nets,
            uint16_t **out_ports, seine_diag *diag)
{
    size_t n = list_length(list);

    *out_nets = sn_calloc(n + 1, sizeof **out_nets);
    *out_ports = sn_calloc(n + 1, sizeof **out_ports);
    if (!*out_nets || !*out_ports)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        if (read_own_port(list[i], &(*out_ports)[o->n_own_ports]))
            o->n_own_ports++;
        else if (sn_cidr_parse(sn_str_of(list[i]), &(*out_nets)[o->n_deny]) == SEINE_OK)
            o->n_deny++;
        else
            return wrong(diag, "deny_net", list[i]);
    }
    o->deny = *out_nets;
    o->own_ports = *out_ports;
    return SEINE_OK;
}

static seine_err
read_rules(const char *const *list, sn_address_zone_rule **out_rules, size_t *out_n,
           seine_diag *diag)
{
    size_t n = list_length(list);

    *out_n = n;
    *out_rules = sn_calloc(n + 1, sizeof **out_rules);
    if (!*out_rules)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (sn_address_zone_rule_parse(sn_str_of(list[i]), &(*out_rules)[i]) != SEINE_OK)
            return wrong(diag, "zones", list[i]);
    return SEINE_OK;
}

/* Of the descriptors this process may have, a share for each shard. */
static uint32_t
most_connections(uint32_t n_shards)
{
    struct rlimit limit;
    rlim_t most = 1024;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        most = limit.rlim_cur;
    most = most > 2 * SPARE ? most - SPARE : most / 2;
    most /= n_shards;
    return most < 1 ? 1 : most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

static seine_err
open_sockets(void *self, const sn_shared_state *c, uint32_t shard, uint32_t n_shards,
             sn_transport **out_transport, seine_diag *diag)
{
    const seine_fetch_opts *o = &c->opts;
    sn_cidr *allow SN_AUTOFREE = NULL;
    sn_cidr *deny SN_AUTOFREE = NULL;
    uint16_t *own_ports SN_AUTOFREE = NULL;
    sn_address_zone_rule *rules SN_AUTOFREE = NULL;
    sn_address_guard_opts zones = {0};

    (void)self;
    (void)shard;
    seine_err e = read_allowed(o->allow_net, &allow, &zones.n_allow, diag);
    if (e == SEINE_OK)
        e = read_denied(o->deny_net, &zones, &deny, &own_ports, diag);
    if (e == SEINE_OK)
        e = read_rules(o->zones, &rules, &zones.n_rules, diag);
    if (e != SEINE_OK)
        return e;
    zones.allow = allow;
    zones.rules = rules;
    return sn_socket_transport_new(
        &(sn_socket_transport_opts){.clock = o->clock,
                                    .dns = {.server = o->dns,
                                            .resolve = o->resolve,
                                            .family = o->family,
                                            .timeout = o->dns_timeout,
                                            .max_names = 65536},
                                    .zones = zones,
                                    .budget = c->budget,
                                    .tls = c->tls,
                                    .max_connections = most_connections(n_shards),
                                    /* one may rest while all others are busy */
                                    .max_idle = o->concurrency + 1,
                                    .max_idle_origin =
                                        (o->mine ? o->concurrency : o->per_host) + 1,
                                    .idle_time = SEINE_SECS(15),
                                    .max_age = SEINE_SECS(600),
                                    .max_requests = 10000,
                                    .read_rate = c->read_rate},
        out_transport, diag);
}

static void
close_sockets(void *self, sn_transport *t)
{
    (void)self;
    sn_socket_transport_free(t);
}

const sn_net sn_net_sockets = {.open = open_sockets, .close = close_sockets};
