/* SPDX-License-Identifier: Apache-2.0 */
/* config_net.h - is a text of a configuration a network? */
#ifndef CLI_CONFIG_NET_H
#define CLI_CONFIG_NET_H

/* "10.0.0.0/8", with no bit set behind its prefix, or one address. NULL: it is; else why
 * not, with what to try. */
const char *config_net_refuse(const char *text);
/* Likewise; a port of this machine will do, too: local:6379. */
const char *config_net_refuse_denied(const char *text);

#endif
