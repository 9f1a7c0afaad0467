/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_address.h - which client sent the request that a proxy passes on?
 *
 * Each proxy appends the address of its own peer to X-Forwarded-For. A client may send
 * the field, too, so only the entries that trusted proxies appended are true: they are
 * read from the right, and the first address that is not itself a trusted proxy is the
 * client.
 *
 *     sn_forwarded f;
 *     sn_forwarded_begin(&f, peer, &trusted);
 *     sn_forwarded_add(&f, last_field);
 *     sn_forwarded_add(&f, first_field);
 *     sn_ip client = f.client;
 *
 * An entry is 192.0.2.1, 192.0.2.1:443, 2001:db8::1, [2001:db8::1] or [2001:db8::1]:443;
 * a scope (%eth0) is left out. At anything else the walk ends, and the trusted proxy
 * that vouches for it stands for all of its clients. Where every address is trusted, the
 * leftmost is the client.
 *
 * Time    plays no part; work is linear in the field.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SN_CLIENT_ADDRESS_H
#define SN_CLIENT_ADDRESS_H

#include "gate/net_set.h"

typedef struct sn_forwarded {
    const sn_net_set *trusted;
    sn_ip client;  /* so far */
    bool is_ended; /* the rest of the fields does not count */
} sn_forwarded;

/* The peer of the connection is the client unless it is trusted. */
void sn_forwarded_begin(sn_forwarded *f, const sn_ip *peer, const sn_net_set *trusted);
void sn_forwarded_add(sn_forwarded *f, sn_str value);

/* One entry. False: it is no address. */
bool sn_forwarded_entry(sn_str text, sn_ip *out_ip);

#endif
