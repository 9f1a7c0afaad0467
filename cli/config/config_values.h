/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_values.h - a value of a configuration file, read as an option is.
 *
 *     static const option rate = {"rate", NULL, KIND_PACE, "R"};
 *     bool fine = config_value_read(c, node, &rate, &settings);   mistakes are told
 *
 * A scalar is read by what the option wants: `no` is a text where a text is wanted, and
 * flags are true, false, on or off. An option that may be repeated takes a list or one
 * text; what it held before is replaced.
 */
#ifndef CLI_CONFIG_VALUES_H
#define CLI_CONFIG_VALUES_H

#include <seine/config.h>

#include "config/config.h"
#include "options/options.h"

/* Writes the value to its place in the settings. False: that was a mistake, and nothing
 * was written. The texts are those of the configuration. */
bool config_value_read(seine_config *c, const seine_config_node *n, const option *o,
                       void *settings);

/* The option as the files say it now, or its default, for a program that goes on. What
 * the command line, the environment or a recipe has set stays. A list that the settings
 * hold is freed. */
void config_value_again(const args *a, const config *now, const char *name,
                        void *settings);

/* Would it be read? Tells nothing; the reason stands in `why`. */
bool config_value_fits(const seine_config_node *n, const option *o, char *why,
                       size_t cap);

/* The scalar's text. False: it is none, or nothing stands there; that was told. */
bool config_value_text(seine_config *c, const seine_config_node *n, const char **out);

#endif
