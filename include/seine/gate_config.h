/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_config.h - the policies of a gate as a file says them.
 *
 *     gate:
 *       allow: [10.0.0.0/8]
 *       deny: [203.0.113.0/24, "2001:db8::/32"]
 *       policies:
 *         - {name: login, match: {path: /login, method: POST}, rate: 5/m, burst: 5}
 *         - {name: api, match: {path: /api/}, key: "header:X-Api-Key", rate: 50/s}
 *         - {name: default, rate: 10/s, burst: 20}
 *
 * The map below `gate` is read from a configuration (config.h), and its mistakes are told
 * there, all of them:
 *
 *     seine_gate_config *rules;
 *     seine_gate_opts opts = SEINE_GATE_OPTS;
 *     e = seine_gate_config_new(c, seine_config_get(root, "gate"), &rules);
 *     if (!seine_config_mistake(c, 0))
 *         seine_gate_config_fill(rules, &opts);
 *     e = seine_gate_new(&opts, &gate, &diag);
 *     seine_gate_config_free(rules);
 *
 * A policy without a burst has that of one second, at least 1; one without `match` fits
 * every request; `method` is one method or a list.
 *
 * Time    plays no part.
 * Memory  its own; options that were filled borrow from it.
 * Threads one owner.
 */
#ifndef SEINE_GATE_CONFIG_H
#define SEINE_GATE_CONFIG_H

#include <stdint.h>

#include "seine/abi.h"
#include "seine/config.h"
#include "seine/err.h"
#include "seine/gate.h"
#include "seine/units.h"

typedef struct seine_gate_config seine_gate_config;

SEINE_BEGIN

/* `gate` NULL is an empty map. OK also where mistakes were told; NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_gate_config_new(seine_config *c,
                                                 const seine_config_node *gate,
                                                 seine_gate_config **out_rules);
void seine_gate_config_free(seine_gate_config *rules); /* NULL is fine */

/* Appends a last policy, in the place of one that has its name. It is copied but for its
 * texts, which stay the caller's. FULL: there are too many; NOMEM. */
SEINE_MUST_CHECK seine_err seine_gate_config_add(seine_gate_config *rules,
                                                 const seine_gate_policy *policy);

/* Sets policies, allow and deny. */
void seine_gate_config_fill(const seine_gate_config *rules, seine_gate_opts *opts);

/* The burst of a policy that names none: as many as come in a second, at least 1. */
uint32_t seine_gate_config_burst(seine_frequency rate);

SEINE_END

#endif
