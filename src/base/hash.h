/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - keyed hashing for tables, digests for archives, checksums for files.
 *
 * sn_siphash is SipHash-1-3 under a secret 128-bit key: without the key nobody can
 * prepare names that collide. Every table of names from outside uses it.
 *
 * A digest takes its input in pieces:
 *
 *     e = sn_digest_begin(&d, SN_DIGEST_SHA1);
 *     sn_digest_add(&d, piece, n); …
 *     e = sn_digest_end(&d, bytes, &len);           20 of them
 *
 * Time    plays no part.
 * Memory  a digest keeps its state for the next one; libcrypto allocates it.
 * Threads any thread; a digest has one owner.
 */
#ifndef SN_HASH_H
#define SN_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/err.h"

uint64_t sn_siphash(const uint64_t key[2], const void *bytes, size_t n);

/* The published SipHash-2-4, for peers that agree on it. */
uint64_t sn_siphash24(const uint64_t key[2], const void *bytes, size_t n);

/* CRC-32 as in gzip and PNG. Start with 0 and pass the result in with the next bytes. The
 * implementation is that of base/gzip.c and does some gigabytes a second. */
uint32_t sn_crc32(uint32_t crc, const void *bytes, size_t n);

SEINE_MUST_CHECK seine_err sn_sha256(const void *bytes, size_t n, uint8_t out_digest[32]);
SEINE_MUST_CHECK seine_err sn_sha1(const void *bytes, size_t n, uint8_t out_digest[20]);

typedef enum sn_digest_kind {
    SN_DIGEST_NONE,
    SN_DIGEST_MD5,
    SN_DIGEST_SHA1,
    SN_DIGEST_SHA256,
    SN_DIGEST_SHA512
} sn_digest_kind;

enum { SN_DIGEST_MOST = 64 }; /* bytes of the longest */

typedef struct sn_digest {
    void *ctx; /* libcrypto's; NULL before the first begin */
    sn_digest_kind kind;
    bool failed;
} sn_digest;

/* A zeroed digest is valid and not begun. */
SEINE_MUST_CHECK seine_err sn_digest_begin(sn_digest *d, sn_digest_kind kind);
void sn_digest_add(sn_digest *d, const void *bytes, size_t n);
/* NOMEM, also when an earlier add failed. */
SEINE_MUST_CHECK seine_err sn_digest_end(sn_digest *d, uint8_t out_digest[SN_DIGEST_MOST],
                                         size_t *out_len);
void sn_digest_fini(sn_digest *d);

/* The version of libcrypto that is loaded. */
const char *sn_hash_version(void);

#endif
