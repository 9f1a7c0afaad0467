/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - keys of per-source guards: any bytes that name a source.
 *
 * A key may be the canonical authority of a host ("https://example.org:443"), a
 * customer's name, or a client address:
 *
 *     seine_keyed_allow(per_host, seine_key_str("https://example.org:443"), now, 1);
 *
 *     char client[17];
 *     seine_view k = {client, seine_key_ip(addr, 16, 64, client)};
 *
 * Time    plays no part.
 * Memory  a key borrows its bytes; tables copy what they keep.
 * Threads any thread.
 */
#ifndef SEINE_KEY_H
#define SEINE_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/view.h"

SEINE_BEGIN

/* The bytes of a terminated string; NULL is the empty key. */
seine_view seine_key_str(const char *s);

/* Writes the key of the network of `prefix` bits that an address belongs to and returns
 * its length, or 0 when addr_len is neither 4 nor 16. Usual: 32 for IPv4, 64 for IPv6,
 * since one customer owns a whole /64. An IPv4-mapped IPv6 address counts as its IPv4
 * address; a prefix longer than the address is the whole address. */
size_t seine_key_ip(const uint8_t *addr, size_t addr_len, unsigned prefix,
                    char out_key[17]);

SEINE_END

#endif
