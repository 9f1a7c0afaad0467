/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_local.h - resolve names without a DNS server: typed addresses, hosts file,
 * localhost.
 *
 *     e = sn_dns_local_resolve(&k, SN_STR("e.example:443:127.0.0.1"));
 *     e = sn_dns_local_hosts(&k, text_of_the_hosts_file);
 *     switch (sn_dns_local_ask(&k, name, port, &answer)) {
 *     case SEINE_OK:      …      answer
 *     case SEINE_E_BUSY:  …      a server must be asked
 *     default:            …      DNS_BAD_NAME; DNS_NXDOMAIN: not in the family asked for
 *     }
 *
 * In this order: `resolve` entries, which hold for one port; address literals; invalid
 * names; localhost and *.localhost, which are 127.0.0.1 and ::1 whatever the hosts file
 * says (RFC 6761); the hosts file.
 *
 * Time    plays no part.
 * Memory  32 addresses per name, 65,536 names of the hosts file, at most.
 * Threads one owner.
 */
#ifndef SN_DNS_LOCAL_H
#define SN_DNS_LOCAL_H

#include "base/map.h"
#include "net/dns.h"

typedef struct sn_dns_local {
    sn_map names; /* "host:port" of `resolve`, "host" of the hosts file */
    seine_family family;
    uint32_t typed;
} sn_dns_local;

void sn_dns_local_init(sn_dns_local *k, seine_family family);
void sn_dns_local_fini(sn_dns_local *k);

/* Adds host:port:address[,address…]. INVAL: not of that form. FULL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_dns_local_resolve(sn_dns_local *k, sn_str entry);

/* Adds the lines of a hosts file; skips invalid lines. NOMEM. */
SEINE_MUST_CHECK seine_err sn_dns_local_hosts(sn_dns_local *k, sn_str text);

SEINE_MUST_CHECK seine_err sn_dns_local_ask(const sn_dns_local *k, sn_str name,
                                            uint16_t port, sn_dns_answer *out_answer);

/* True for up to 253 bytes in labels of 1 to 63 bytes, of a-z 0-9 - _. */
bool sn_dns_is_name(sn_str name);

/* Parses "127.0.0.1", "127.0.0.1:53", "::1", "[::1]", "[::1]:53". INVAL. */
SEINE_MUST_CHECK seine_err sn_dns_server(sn_str text, sn_ip *out_ip, uint16_t *out_port);

/* Adds an address if there is room and it is not in the answer yet. */
void sn_dns_answer_add(sn_dns_answer *a, const sn_ip *ip);

#endif
