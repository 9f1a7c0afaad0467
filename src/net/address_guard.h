/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_guard.h - may this address be connected to, given who named it?
 *
 * Who names an address decides how far it may reach. Zones are ranked public <
 * private < local; forbidden stands outside. A URL the user typed may reach as far
 * as local; a URL found on a page no further than the zone of the server that sent
 * the page: a public page never leads to a private address. A host name never
 * climbs above the lowest zone it was connected in, its pin. What is judged is the
 * address about to be connected to, never the text of a URL; IPv6 that carries an
 * IPv4 address is judged by what it carries.
 *
 *     sn_address_guard z;
 *     e = sn_address_guard_init(&z, &SN_ADDRESS_GUARD_OPTS);
 *     e = sn_address_guard_read_own(&z, NULL);                  again every minute
 *     if (sn_address_guard_check(&z, addr, ceiling, pin) != SEINE_OK)
 *         …                                             blocked_address, no packet
 *     pin = sn_address_zone_pin(pin, sn_address_guard_zone(&z, addr));     once connected
 *
 * Time    plays no part; the caller refreshes the own addresses.
 * Memory  a copy of the options and the list of own addresses.
 * Threads one owner: each shard has its own.
 */
#ifndef SN_ADDRESS_GUARD_H
#define SN_ADDRESS_GUARD_H

#include "net/cidr.h"

struct ifaddrs;

typedef enum sn_address_zone {
    SN_ADDRESS_PUBLIC,
    SN_ADDRESS_PRIVATE,
    SN_ADDRESS_LOCAL,
    SN_ADDRESS_FORBIDDEN,
} sn_address_zone;

#define SN_ADDRESS_NO_PIN SN_ADDRESS_LOCAL /* of a name that was never connected to */

/* `zones` CIDR=ZONE */
typedef struct sn_address_zone_rule {
    sn_cidr net;
    sn_address_zone zone;
} sn_address_zone_rule;

/* All borrowed until init returns. */
typedef struct sn_address_guard_opts {
    const sn_cidr *allow; /* `allow_net`: passes ceiling, pin and forbidden */
    size_t n_allow;
    const sn_cidr *deny; /* `deny_net`: wins over everything */
    size_t n_deny;
    const sn_address_zone_rule
        *rules; /* `zones`; the narrowest counts, of equals the last */
    size_t n_rules;
    const sn_cidr *nat64; /* prefixes of NAT64 gateways besides 64:ff9b::/96 */
    size_t n_nat64;
} sn_address_guard_opts;

#define SN_ADDRESS_GUARD_OPTS ((sn_address_guard_opts){0})

typedef struct sn_address_guard {
    sn_address_guard_opts opts; /* its arrays are in `memory` */
    void *memory;
    sn_ip *own; /* sorted */
    size_t n_own;
} sn_address_guard;

/* Where interfaces come from: getifaddrs and freeifaddrs, or a test. */
typedef struct sn_iface_source {
    int (*get)(struct ifaddrs **out_list);
    void (*put)(struct ifaddrs *list);
} sn_iface_source;

/* NOMEM. INVAL: a NAT64 prefix that RFC 6052 does not know, a rule without a zone. */
SEINE_MUST_CHECK seine_err sn_address_guard_init(sn_address_guard *z,
                                                 const sn_address_guard_opts *opts);
void sn_address_guard_fini(sn_address_guard *z);

/* The addresses of this machine, from here on local. NOMEM, IO: the old list stays. */
SEINE_MUST_CHECK seine_err sn_address_guard_set_own(sn_address_guard *z,
                                                    const sn_ip *list, size_t n);
SEINE_MUST_CHECK seine_err sn_address_guard_read_own(sn_address_guard *z,
                                                     const sn_iface_source *source);

/* OK or BLOCKED_ADDRESS. The one function every connection passes: first ones, each
 * address that is tried, idle ones on reuse, redirects, robots, sitemaps. */
SEINE_MUST_CHECK seine_err sn_address_guard_check(const sn_address_guard *z,
                                                  const struct sockaddr *addr,
                                                  sn_address_zone ceiling,
                                                  sn_address_zone pin);

/* The zone of an address; what is neither IPv4 nor IPv6 is forbidden. */
sn_address_zone sn_address_guard_zone(const sn_address_guard *z,
                                      const struct sockaddr *addr);

/* The pin of a name after it was connected to in that zone. */
sn_address_zone sn_address_zone_pin(sn_address_zone pin, sn_address_zone connected);

/* How far what is found on a peer in that zone may reach. */
sn_address_zone sn_address_zone_ceiling(sn_address_zone peer);

/* The net to name when a person could allow the address: the row of the table it
 * fell into, or the address alone. */
sn_cidr sn_address_guard_net(const sn_address_guard *z, const struct sockaddr *addr);

/* A found URL may not use it: the Fetch standard's list. */
bool sn_address_guard_blocks_port(uint16_t port);

const char *sn_address_zone_name(sn_address_zone zone);

/* "127.1.0.0/16=public"; INVAL. */
SEINE_MUST_CHECK seine_err sn_address_zone_rule_parse(sn_str text,
                                                      sn_address_zone_rule *out_rule);

#endif
