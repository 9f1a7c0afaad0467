/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_config.h - the sections `hosts:` and `groups:` of configuration files, as options
 * of the library.
 *
 *     host_config h;
 *     int code = host_config_make(c, r, &h);
 *     host_config_free(&h);
 *
 * Keys are options of `seine fetch`, and `headers`, `send-to`, `user`. Files are laid
 * upon each other host by host and key by key, as seine_host_opts are by the library.
 */
#ifndef CLI_HOST_CONFIG_H
#define CLI_HOST_CONFIG_H

#include <seine/host_opts.h>

#include "config/config.h"
#include "options/request.h"

typedef struct host_config {
    seine_host_opts *hosts;
    size_t n_hosts, hosts_cap;
    seine_group_opts *groups;
    size_t n_groups, groups_cap;
    void **owned; /* lists that these point to */
    size_t n_owned, owned_cap;
} host_config;

/* The files were checked. Headers and their secrets belong to the request. SAY_DONE, or
 * the exit code after a message: a variable that a header names is not there. NULL is no
 * configuration. Free in any case. */
int host_config_make(const config *c, request *r, host_config *out);
void host_config_free(host_config *h);

/* The same while a run goes on: what may be secret, headers, logins and proxies, is that
 * of `first`, with which the run began. */
void host_config_again(const config *c, const host_config *first, host_config *out);

/* Of config_sections.h. */
void host_config_check_hosts(seine_config *c, const seine_config_node *hosts);
void host_config_check_groups(seine_config *c, const seine_config_node *groups);

/* Keys that an entry may have; ended by NULL. */
extern const char *const host_config_keys[];

#endif
