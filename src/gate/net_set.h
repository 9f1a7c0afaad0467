/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_set.h - is this address in one of these networks?
 *
 *     sn_net_set set = {0};
 *     e = sn_net_set_read(&set, "trust", texts, diag);      "10.0.0.0/8", NULL
 *     if (sn_net_set_has(&set, &ip))
 *         …
 *     sn_net_set_fini(&set);
 *
 * The networks are sorted by the length of their prefixes; a question is one binary
 * search per length that occurs, so that lists of thousands cost little. An IPv6 network
 * of IPv4 addresses (::ffff:10.0.0.0/104) is the IPv4 network, as such an address is the
 * IPv4 address (sn_ip_plain).
 *
 * Time    plays no part.
 * Memory  18 bytes per network.
 * Threads one owner while it is read, then any thread.
 */
#ifndef SN_NET_SET_H
#define SN_NET_SET_H

#include "net/cidr.h"
#include "seine/diag.h"

typedef struct sn_net_set {
    sn_cidr *nets; /* sorted */
    size_t n;
} sn_net_set;

/* `texts` is ended by NULL; NULL itself is the empty list. CONFIG: the diag names the
 * member and the text; NOMEM. */
SEINE_MUST_CHECK seine_err sn_net_set_read(sn_net_set *set, const char *member,
                                           const char *const *texts, seine_diag *diag);
void sn_net_set_fini(sn_net_set *set);

bool sn_net_set_has(const sn_net_set *set, const sn_ip *ip);

/* An IPv4 address that is written as IPv6 becomes the IPv4 address. */
void sn_ip_plain(sn_ip *ip);

#endif
