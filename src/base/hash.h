/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - keyed hashing for tables, digests for archives, checksums for files.
 *
 * sn_siphash is SipHash-1-3 under a secret 128-bit key: whoever does not know
 * the key cannot prepare keys that collide. Every table that holds names from
 * outside uses it.
 *
 * Time    plays no part.
 * Memory  nothing is kept; SHA allocates inside libcrypto for one call.
 * Threads any thread.
 */
#ifndef SN_HASH_H
#define SN_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "seine/err.h"

uint64_t sn_siphash(const uint64_t key[2], const void *bytes, size_t n);

/* The published SipHash-2-4, for peers that agree on it. */
uint64_t sn_siphash24(const uint64_t key[2], const void *bytes, size_t n);

/* CRC-32 as in gzip and PNG; start with 0, feed the result back for more bytes. */
uint32_t sn_crc32(uint32_t crc, const void *bytes, size_t n);

SEINE_MUST_CHECK seine_err sn_sha256(const void *bytes, size_t n, uint8_t out_digest[32]);
SEINE_MUST_CHECK seine_err sn_sha1(const void *bytes, size_t n, uint8_t out_digest[20]);

/* Of libcrypto, as it runs. */
const char *sn_hash_version(void);

#endif
