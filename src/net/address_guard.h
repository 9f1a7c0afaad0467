/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_guard.h - may seine connect to this address? (protection against SSRF)
 *
 * Server-side request forgery (SSRF): a public page links to 127.0.0.1 or 10.0.0.1 and
 * makes the crawler fetch it. The guard ranks addresses in zones, public < private <
 * local; forbidden addresses are outside the ranking. A URL that the user typed may reach
 * up to local. A URL found on a page may reach no higher than the zone of the server that
 * sent the page: its ceiling. A host name may reach no higher than the lowest zone it was
 * ever connected in: its pin, which stops DNS rebinding. The guard checks the address of
 * each connection, never the text of a URL. An IPv6 address that embeds an IPv4 address
 * is ranked by the embedded one.
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

#define SN_ADDRESS_NO_PIN SN_ADDRESS_LOCAL /* of a name never connected to */

/* `zones` CIDR=ZONE */
typedef struct sn_address_zone_rule {
    sn_cidr net;
    sn_address_zone zone;
} sn_address_zone_rule;

/* Everything is borrowed until init returns. */
typedef struct sn_address_guard_opts {
    const sn_cidr *allow; /* `allow_net`: overrides ceiling, pin and forbidden */
    size_t n_allow;
    const sn_cidr *deny; /* `deny_net`: wins over everything */
    size_t n_deny;
    const sn_address_zone_rule
        *rules; /* `zones`; the narrowest counts, the last of equals */
    size_t n_rules;
    const sn_cidr *nat64; /* NAT64 prefixes besides 64:ff9b::/96 */
    size_t n_nat64;
    const uint16_t *own_ports; /* `deny_net` local:PORT: denied on this machine */
    size_t n_own_ports;
} sn_address_guard_opts;

#define SN_ADDRESS_GUARD_OPTS ((sn_address_guard_opts){0})

typedef struct sn_address_guard {
    sn_address_guard_opts opts; /* its arrays are in `memory` */
    void *memory;
    sn_ip *own; /* sorted */
    size_t n_own;
} sn_address_guard;

/* How to read the interfaces: getifaddrs and freeifaddrs, or a test's functions. */
typedef struct sn_iface_source {
    int (*get)(struct ifaddrs **out_list);
    void (*put)(struct ifaddrs *list);
} sn_iface_source;

/* NOMEM. INVAL: a NAT64 prefix length that RFC 6052 does not allow, or a rule without a
 * zone. */
SEINE_MUST_CHECK seine_err sn_address_guard_init(sn_address_guard *z,
                                                 const sn_address_guard_opts *opts);
void sn_address_guard_fini(sn_address_guard *z);

/* Set or read the addresses of this machine, which then rank as local. NOMEM, IO: the old
 * list stays. */
SEINE_MUST_CHECK seine_err sn_address_guard_set_own(sn_address_guard *z,
                                                    const sn_ip *list, size_t n);
SEINE_MUST_CHECK seine_err sn_address_guard_read_own(sn_address_guard *z,
                                                     const sn_iface_source *source);

/* OK or BLOCKED_ADDRESS. Every connection passes this function: each address that is
 * tried, reused connections, redirects, robots.txt, sitemaps. */
SEINE_MUST_CHECK seine_err sn_address_guard_check(const sn_address_guard *z,
                                                  const struct sockaddr *addr,
                                                  sn_address_zone ceiling,
                                                  sn_address_zone pin);

/* Returns the zone; an address that is neither IPv4 nor IPv6 is forbidden. */
sn_address_zone sn_address_guard_zone(const sn_address_guard *z,
                                      const struct sockaddr *addr);

/* Returns the new pin of a name after a connection in that zone. */
sn_address_zone sn_address_zone_pin(sn_address_zone pin, sn_address_zone connected);

/* Returns how far URLs may reach that a server in that zone sent. */
sn_address_zone sn_address_zone_ceiling(sn_address_zone peer);

/* Returns the network that a user could allow to permit the address: the table row that
 * matched, or the address alone. */
sn_cidr sn_address_guard_net(const sn_address_guard *z, const struct sockaddr *addr);

/* True if URLs found on pages may not use the port: the Fetch standard's list. */
bool sn_address_guard_blocks_port(uint16_t port);

const char *sn_address_zone_name(sn_address_zone zone);

/* Parses "127.1.0.0/16=public". INVAL. */
SEINE_MUST_CHECK seine_err sn_address_zone_rule_parse(sn_str text,
                                                      sn_address_zone_rule *out_rule);

#endif
