/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_rules.h - the policies of `seine gate`: what the command line says and what the
 * section `gate:` of the configuration says, as options of the library.
 */
#ifndef CLI_GATE_RULES_H
#define CLI_GATE_RULES_H

#include <seine/config.h>
#include <seine/gate.h>
#include <seine/gate_config.h>

#include "options/options.h"

typedef struct gate_settings {
    const char *listen, *admin, *state, *redis;
    seine_frequency rate;
    uint64_t burst, v4_prefix, v6_prefix, max_keys;
    texts trust;
    seine_span state_every, redis_timeout;
    int overflow, log;
    bool demo;
} gate_settings;

struct config;

/* Policies of the file, then the one of --rate. The options borrow from *out_rules, from
 * the configuration and from the settings. SAY_DONE, or the exit code after a message,
 * which `why` (CONFIG_WHY bytes) takes over if it is not NULL. */
int gate_rules_read(const gate_settings *set, const struct config *c,
                    seine_gate_config **out_rules, seine_gate_opts *out_opts, char *why);

/* The settings as the files say them now, for a gate that runs: trust-proxy, max-keys and
 * overflow. *out_later names another option that has changed in a file and needs a
 * restart; NULL: there is none. The settings borrow from the configuration. */
gate_settings gate_rules_again(const args *a, const struct config *now,
                               const char **out_later);
void gate_rules_again_free(const args *a, gate_settings *again);

/* The check of the section `gate:` (config/config_sections.h). */
void gate_rules_check(seine_config *c, const seine_config_node *value);

#endif
