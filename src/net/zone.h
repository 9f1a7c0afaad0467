/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone.h - may this address be connected to, given who named it?
 *
 * Who names an address decides how far it may reach. Zones are ranked public <
 * private < local; forbidden stands outside. A URL the user typed may reach as far
 * as local; a URL found on a page no further than the zone of the server that sent
 * the page: a public page never leads to a private address. A host name never
 * climbs above the lowest zone it was connected in, its pin. What is judged is the
 * address about to be connected to, never the text of a URL; IPv6 that carries an
 * IPv4 address is judged by what it carries.
 *
 *     sn_zones z;
 *     e = sn_zones_init(&z, &SN_ZONES_OPTS);
 *     e = sn_zones_read_own(&z, NULL);                  again every minute
 *     if (sn_zone_check(&z, addr, ceiling, pin) != SEINE_OK)
 *         …                                             blocked_address, no packet
 *     pin = sn_zone_pin(pin, sn_zone_of(&z, addr));     once connected
 *
 * Time    plays no part; the caller refreshes the own addresses.
 * Memory  a copy of the options and the list of own addresses.
 * Threads one owner: each shard has its own.
 */
#ifndef SN_ZONE_H
#define SN_ZONE_H

#include "net/cidr.h"

struct ifaddrs;

typedef enum sn_zone {
    SN_ZONE_PUBLIC,
    SN_ZONE_PRIVATE,
    SN_ZONE_LOCAL,
    SN_ZONE_FORBIDDEN,
} sn_zone;

#define SN_ZONE_NO_PIN SN_ZONE_LOCAL /* of a name that was never connected to */

/* --zone CIDR=ZONE */
typedef struct sn_zone_rule {
    sn_cidr net;
    sn_zone zone;
} sn_zone_rule;

/* All borrowed until init returns. */
typedef struct sn_zones_opts {
    const sn_cidr *allow; /* --allow-net: passes ceiling, pin and forbidden */
    size_t n_allow;
    const sn_cidr *deny; /* --deny-net: wins over everything */
    size_t n_deny;
    const sn_zone_rule *rules; /* --zone; the narrowest counts, of equals the last */
    size_t n_rules;
    const sn_cidr *nat64; /* prefixes of NAT64 gateways besides 64:ff9b::/96 */
    size_t n_nat64;
} sn_zones_opts;

#define SN_ZONES_OPTS ((sn_zones_opts){0})

typedef struct sn_zones {
    sn_zones_opts opts; /* its arrays are in `memory` */
    void *memory;
    sn_ip *own; /* sorted */
    size_t n_own;
} sn_zones;

/* Where interfaces come from: getifaddrs and freeifaddrs, or a test. */
typedef struct sn_iface_source {
    int (*get)(struct ifaddrs **out_list);
    void (*put)(struct ifaddrs *list);
} sn_iface_source;

/* NOMEM. INVAL: a NAT64 prefix that RFC 6052 does not know, a rule without a zone. */
SEINE_MUST_CHECK seine_err sn_zones_init(sn_zones *z, const sn_zones_opts *opts);
void sn_zones_fini(sn_zones *z);

/* The addresses of this machine, from here on local. NOMEM, IO: the old list stays. */
SEINE_MUST_CHECK seine_err sn_zones_set_own(sn_zones *z, const sn_ip *list, size_t n);
SEINE_MUST_CHECK seine_err sn_zones_read_own(sn_zones *z, const sn_iface_source *source);

/* OK or BLOCKED_ADDRESS. The one function every connection passes: first ones, each
 * address that is tried, idle ones on reuse, redirects, robots, sitemaps. */
SEINE_MUST_CHECK seine_err sn_zone_check(const sn_zones *z, const struct sockaddr *addr,
                                         sn_zone ceiling, sn_zone pin);

/* The zone of an address; what is neither IPv4 nor IPv6 is forbidden. */
sn_zone sn_zone_of(const sn_zones *z, const struct sockaddr *addr);

/* The pin of a name after it was connected to in that zone. */
sn_zone sn_zone_pin(sn_zone pin, sn_zone connected);

/* How far what is found on a peer in that zone may reach. */
sn_zone sn_zone_ceiling(sn_zone peer);

/* The net to name when a person could allow the address: the row of the table it
 * fell into, or the address alone. */
sn_cidr sn_zone_net(const sn_zones *z, const struct sockaddr *addr);

/* A found URL may not use it: the Fetch standard's list. */
bool sn_zone_port_is_blocked(uint16_t port);

const char *sn_zone_name(sn_zone zone);

/* "127.1.0.0/16=public"; INVAL. */
SEINE_MUST_CHECK seine_err sn_zone_rule_parse(sn_str text, sn_zone_rule *out_rule);

#endif
