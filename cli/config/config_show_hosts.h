/* SPDX-License-Identifier: Apache-2.0 */
/* config_show_hosts.h - `hosts:` and `groups:` of all files as `config show` prints them.
 */
#ifndef CLI_CONFIG_SHOW_HOSTS_H
#define CLI_CONFIG_SHOW_HOSTS_H

#include "config/config.h"

/* Both sections, as they are in force. */
void config_show_sections(const config *c, bool with_origin);

/* Calls `fn` for every key of both sections that is in force; `v` is its value. */
typedef void (*config_key_fn)(const char *section, const char *name, const char *key,
                              const seine_config_node *v, const config_file *file,
                              void *arg);
void config_show_each(const config *c, config_key_fn fn, void *arg);

/* The value of a key for one host, by the entry that counts. False: no entry has it. */
bool config_show_key(const config *c, const char *host, const char *key,
                     bool with_origin);

/* A value without its secrets; the caller frees it. */
char *config_show_value(const char *name, const char *text);

#endif
