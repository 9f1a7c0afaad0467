/* SPDX-License-Identifier: Apache-2.0 */
/* config_init.h - a configuration file to begin with, made from the table of options. */
#ifndef CLI_CONFIG_INIT_H
#define CLI_CONFIG_INIT_H

void config_init_print(void);

#endif
