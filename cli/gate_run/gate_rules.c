/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_run/gate_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_values.h"
#include "screen/say.h"
#include "screen/xalloc.h"

static int
refuse(char *why, const char *hint, const char *text)
{
    if (!why)
        return say_fail(SAY_USAGE, hint, "%s", text);
    snprintf(why, CONFIG_WHY, "%s", text);
    return SAY_USAGE;
}

/* The section in the strongest file; its mistakes were told when it was read. */
static seine_gate_config *
section_of(const config *c)
{
    const config_file *from = NULL;
    const seine_config_node *gate = c ? config_get(c, "gate", &from) : NULL;
    seine_gate_config *rules = NULL;
    seine_config *none = NULL;
    seine_err e = SEINE_OK;

    if (!gate)
        e = seine_config_parse("", 0, NULL, &none);
    if (e == SEINE_OK)
        e = seine_gate_config_new(gate ? from->tree : none, gate, &rules);
    seine_config_free(none);
    if (e != SEINE_OK)
        xalloc_json(NULL);
    return rules;
}

static seine_gate_policy
typed_policy(const gate_settings *set)
{
    seine_gate_policy p = SEINE_GATE_POLICY;

    p.rate.count = set->rate.count;
    p.rate.per = set->rate.per;
    p.rate.burst = set->burst ? (uint32_t)set->burst : seine_gate_config_burst(set->rate);
    return p;
}

int
gate_rules_read(const gate_settings *set, const config *c, seine_gate_config **out_rules,
                seine_gate_opts *out_opts, char *why)
{
    seine_gate_opts opts = SEINE_GATE_OPTS;
    seine_gate_config *rules = section_of(c);
    seine_gate_policy typed = typed_policy(set);

    if (set->rate.count > 0 && seine_gate_config_add(rules, &typed) != SEINE_OK) {
        seine_gate_config_free(rules);
        return refuse(why, "fewer policies", "--rate is one policy more than 256");
    }
    seine_gate_config_fill(rules, &opts);
    if (opts.n_policies == 0) {
        seine_gate_config_free(rules);
        return refuse(why, "--rate 10/s, or gate: {policies: […]} in seine.yaml",
                      "no --rate given, and no policies in a configuration");
    }
    opts.trust = set->trust.items;
    opts.v4_prefix = (uint32_t)set->v4_prefix;
    opts.v6_prefix = (uint32_t)set->v6_prefix;
    opts.max_keys = (uint32_t)set->max_keys;
    opts.overflow = (seine_overflow)set->overflow;
    *out_rules = rules;
    *out_opts = opts;
    return SAY_DONE;
}

/* Is the setting another one than at the start? */
static bool
has_changed(const gate_settings *was, const gate_settings *is, const char *name)
{
    if (strcmp(name, "v4-prefix") == 0)
        return was->v4_prefix != is->v4_prefix;
    if (strcmp(name, "v6-prefix") == 0)
        return was->v6_prefix != is->v6_prefix;
    if (strcmp(name, "redis-timeout") == 0)
        return was->redis_timeout != is->redis_timeout;
    return !was->admin != !is->admin || (is->admin && strcmp(was->admin, is->admin) != 0);
}

gate_settings
gate_rules_again(const args *a, const config *now, const char **out_later)
{
    static const char *const fixed[] = {"v4-prefix", "v6-prefix", "redis-timeout",
                                        "admin", NULL};
    const gate_settings *was = a->settings;
    gate_settings is = *was, seen = *was;

    if (options_origin(a, "trust-proxy").level <= LEVEL_FILE)
        is.trust = (texts){0}; /* that of the start stays with the arguments */
    config_value_again(a, now, "trust-proxy", &is);
    config_value_again(a, now, "max-keys", &is);
    config_value_again(a, now, "overflow", &is);
    *out_later = NULL;
    for (size_t i = 0; fixed[i] && !*out_later; i++) {
        config_value_again(a, now, fixed[i], &seen);
        if (has_changed(was, &seen, fixed[i]))
            *out_later = fixed[i];
    }
    return is;
}

void
gate_rules_again_free(const args *a, gate_settings *again)
{
    const gate_settings *was = a->settings;

    if (again->trust.items != was->trust.items)
        free(again->trust.items);
    again->trust = (texts){0};
}

void
gate_rules_check(seine_config *c, const seine_config_node *value)
{
    seine_gate_config *rules = NULL;

    if (seine_gate_config_new(c, value, &rules) != SEINE_OK)
        xalloc_json(NULL);
    seine_gate_config_free(rules);
}
