/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_sections.h - what may stand in a configuration file?
 *
 * The long name of every option that has an environment variable, and sections: maps with
 * a schema of their own. To add a section `gate:`
 *
 *   1. write a function of the type of `check` below. It walks the nodes below `gate`
 *      and tells every mistake with seine_config_wrong, seine_config_wrong_key or
 *      seine_config_knows (the last one for unknown keys: it names the nearest). It
 *      decides nothing else and may be called for any file, also by `config check`;
 *   2. add its row, name and one line about it, to the table in config_sections.c;
 *   3. take the values where they are used: config_get(a->config, "gate", &file) is the
 *      node in the strongest file that has the section, NULL if none has. It was checked.
 *
 * A command gets a->config if one of its options has an environment variable.
 * config_values.h reads values by the kinds of options: rates, durations, flags.
 */
#ifndef CLI_CONFIG_SECTIONS_H
#define CLI_CONFIG_SECTIONS_H

#include <seine/config.h>

typedef struct config_section {
    const char *name, *about;
    void (*check)(seine_config *c, const seine_config_node *value);
} config_section;

extern const config_section config_sections[]; /* ended by a NULL name */

/* Tells all mistakes of the file. */
void config_sections_check(seine_config *c);

#endif
