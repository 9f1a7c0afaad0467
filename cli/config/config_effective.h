/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_effective.h - the settings of a run that nobody typed: those of configuration
 * files, of a recipe and of the environment, for reports.
 *
 *     seine_json *list = config_effective(a);
 *
 * is [{"option":"--host-rate","value":"2/s","from":"./seine.yaml:3"}, …]. Those of
 * `hosts` and `groups` follow, as "hosts.e.example.host-rate". Secrets are ***, as in
 * `config show`.
 */
#ifndef CLI_CONFIG_EFFECTIVE_H
#define CLI_CONFIG_EFFECTIVE_H

#include <seine/plumbing.h>

#include "options/options.h"

/* A list of objects; the caller frees it. */
seine_json *config_effective(const args *a);

#endif
