/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_show.h - the settings of a command as a configuration file, with their origins.
 *
 *     host-rate: 1/s                    # ./seine.yaml:3
 *     timeout: 30s                      # default
 */
#ifndef CLI_CONFIG_SHOW_H
#define CLI_CONFIG_SHOW_H

#include "options/options.h"

typedef struct config_show_opts {
    bool with_origin;
    const char *host;        /* NULL: all settings */
    const char *config_path; /* as in args */
} config_show_opts;

/* `words` are a command and its options; none: fetch. The exit code. */
int config_show(const config_show_opts *o, char **words, size_t count);

#endif
