/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the configuration files that count for a command, read and checked.
 *
 * `./seine.yaml`, then `$XDG_CONFIG_HOME/seine/config.yaml`; `--config FILE` or
 * SEINE_CONFIG replaces both. A key of the first file that has it counts. A file that
 * others than its owner can write, or that belongs to somebody else, is refused.
 *
 *     config *c;
 *     int code = config_load(NULL, &c, NULL);
 *     const config_file *from;
 *     const seine_config_node *gate = config_get(c, "gate", &from);
 *     config_free(c);
 *
 * A part of the program with a section of its own (`gate:`) adds a row to the table in
 * config_sections.c; see config_sections.h.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include <seine/config.h>

typedef struct config_file {
    char *path; /* as people see it: "./seine.yaml" */
    char *text;
    size_t len;
    seine_config *tree;
} config_file;

enum { CONFIG_FILES = 2, CONFIG_WHY = 400 };

typedef struct config {
    config_file files[CONFIG_FILES]; /* the first that has a key counts */
    size_t count;
} config;

/* `chosen` is the value of --config: NULL: not given; "": no file at all. SAY_DONE, also
 * if there is no file; else the exit code. All mistakes are shown, or, with a `why`, the
 * first of them is written there in one line: `why` has CONFIG_WHY bytes. */
int config_load(const char *chosen, config **out_config, char *why);
void config_free(config *c); /* NULL is fine */

/* The value of a key of the top level in the first file that has it; NULL: none has. */
const seine_config_node *config_get(const config *c, const char *key,
                                    const config_file **out_file);

/* The places that are looked at without --config: the i-th, to be freed; NULL behind the
 * last. */
char *config_place(size_t i);

/* Reads one file, whoever owns it. SAY_DONE, or the exit code after a message, which
 * `why` takes over. */
int config_read(const char *path, bool is_trusted, config_file *out_file, char *why);
void config_close(config_file *f);

/* Shows the mistakes of a file that was checked; or writes the first of them to `why`.
 * True: there are none. */
bool config_is_fine(const config_file *f, char *why);

#endif
