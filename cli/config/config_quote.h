/* SPDX-License-Identifier: Apache-2.0 */
/* config_quote.h - a text as a YAML scalar: as it is, or in quotes where YAML would read
 * something else. */
#ifndef CLI_CONFIG_QUOTE_H
#define CLI_CONFIG_QUOTE_H

/* Writes it to standard output. */
void config_quote_print(const char *text);

#endif
