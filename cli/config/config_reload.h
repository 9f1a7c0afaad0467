/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_reload.h - the limits of a run that goes on, from the configuration files as
 * they are now.
 *
 *     config_reload c = config_reload_begin(a, fetch, first);
 *     bool fine = config_reload_now(&c, line);        HUP has come
 *
 * rate, burst, host-rate, host-burst, concurrency, per-host and per-ip follow the files
 * unless the command line, the environment or a recipe has set them; `hosts:` and
 * `groups:` are replaced. What hosts and groups owe is kept, and so are all other
 * settings, headers, logins and proxies of hosts among them. A file that is wrong changes
 * nothing.
 */
#ifndef CLI_CONFIG_RELOAD_H
#define CLI_CONFIG_RELOAD_H

#include <seine/fetch_control.h>

#include "config/config.h"
#include "config/host_config.h"
#include "options/fetch_settings.h"

typedef struct config_reload {
    const args *args; /* whose settings are those of a fetch */
    seine_fetch *fetch;
    const host_config *first; /* hosts and groups at the beginning */
    fetch_settings limits;    /* as they are in force */
} config_reload;

config_reload config_reload_begin(const args *a, seine_fetch *f,
                                  const host_config *first);

/* True: the limits are those of the files. False: they are as before. `line` says so for
 * people, in CONFIG_WHY bytes. */
bool config_reload_now(config_reload *c, char *line);

#endif
