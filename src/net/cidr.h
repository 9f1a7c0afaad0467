/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cidr.h - IP addresses as bytes, and networks of them.
 *
 *     sn_cidr net;
 *     if (sn_cidr_parse(SN_STR("10.0.0.0/8"), &net) == SEINE_OK &&
 *         sn_ip_of(address, &ip) && sn_cidr_has(&net, &ip))
 *         …
 *
 * A network is written as address/prefix length; without a slash it is that one address.
 * The host bits must be zero: 10.1.2.3/8 is refused as a mistake. Ports and scope ids are
 * ignored.
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SN_CIDR_H
#define SN_CIDR_H

#include "base/str.h"

struct sockaddr;

typedef struct sn_ip {
    uint8_t v; /* 4 or 6 */
    uint8_t bytes[16];
} sn_ip;

typedef struct sn_cidr {
    sn_ip net;
    uint8_t bits;
} sn_cidr;

#define SN_CIDR_TEXT 50 /* bytes that hold any of them as text */

/* False for anything but AF_INET and AF_INET6. */
bool sn_ip_of(const struct sockaddr *addr, sn_ip *out_ip);

/* Parses 1.2.3.4, or an IPv6 address of RFC 4291. INVAL. */
SEINE_MUST_CHECK seine_err sn_ip_parse(sn_str text, sn_ip *out_ip);

/* INVAL also if host bits are set. */
SEINE_MUST_CHECK seine_err sn_cidr_parse(sn_str text, sn_cidr *out_net);

bool sn_ip_eq(const sn_ip *a, const sn_ip *b);
bool sn_cidr_has(const sn_cidr *net, const sn_ip *ip);

/* Writes "10.0.0.0/8", terminated. */
void sn_cidr_text(const sn_cidr *net, char out_text[SN_CIDR_TEXT]);

#endif
