/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

typedef struct sip {
    uint64_t v0, v1, v2, v3;
} sip;

static inline uint64_t
rotl(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void
sip_round(sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 = rotl(s->v2, 32);
}

static inline void
sip_word(sip *s, uint64_t word, int rounds)
{
    s->v3 ^= word;
    for (int i = 0; i < rounds; i++)
        sip_round(s);
    s->v0 ^= word;
}

/* Reads little-endian words; the last one is padded and its top byte is the length. */
static inline uint64_t
sip_hash(const uint64_t key[2], const uint8_t *p, size_t n, int c, int d)
{
    sip s = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
             key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    uint64_t word, last = (uint64_t)n << 56;
    size_t left = n;

    for (; left >= 8; left -= 8, p += 8) {
        memcpy(&word, p, 8);
        sip_word(&s, word, c);
    }
    if (n >= 8 && left > 0) { /* the last eight bytes, of which some were read before */
        memcpy(&word, p + left - 8, 8);
        last |= word >> (64 - 8 * left);
    }
    for (size_t i = 0; n < 8 && i < left; i++)
        last |= (uint64_t)p[i] << (8 * i);
    sip_word(&s, last, c);

    s.v2 ^= 0xff;
    for (int i = 0; i < d; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t
sn_siphash(const uint64_t key[2], const void *bytes, size_t n)
{
    return sip_hash(key, bytes, n, 1, 3);
}

uint64_t
sn_siphash24(const uint64_t key[2], const void *bytes, size_t n)
{
    return sip_hash(key, bytes, n, 2, 4);
}

static seine_err
digest(const EVP_MD *how, const void *bytes, size_t n, uint8_t *out_digest)
{
    return EVP_Digest(bytes, n, out_digest, NULL, how, NULL) == 1 ? SEINE_OK
                                                                  : SEINE_E_NOMEM;
}

seine_err
sn_sha256(const void *bytes, size_t n, uint8_t out_digest[32])
{
    return digest(EVP_sha256(), bytes, n, out_digest);
}

seine_err
sn_sha1(const void *bytes, size_t n, uint8_t out_digest[20])
{
    return digest(EVP_sha1(), bytes, n, out_digest);
}

static const EVP_MD *
method(sn_digest_kind kind)
{
    switch (kind) {
    case SN_DIGEST_MD5:
        return EVP_md5();
    case SN_DIGEST_SHA1:
        return EVP_sha1();
    case SN_DIGEST_SHA256:
        return EVP_sha256();
    case SN_DIGEST_SHA512:
        return EVP_sha512();
    case SN_DIGEST_NONE:
    default:
        return NULL;
    }
}

/* libcrypto looks a method up by name, which costs more than the digest of a short text.
 * So the lookup happens only when the kind changes. */
seine_err
sn_digest_begin(sn_digest *d, sn_digest_kind kind)
{
    const EVP_MD *how = kind == d->kind ? NULL : method(kind);

    if (kind == SN_DIGEST_NONE || (!how && kind != d->kind))
        return SEINE_E_INVAL;
    if (!d->ctx)
        d->ctx = EVP_MD_CTX_new();
    d->failed = !d->ctx || EVP_DigestInit_ex(d->ctx, how, NULL) != 1;
    d->kind = d->failed ? SN_DIGEST_NONE : kind;
    return d->failed ? SEINE_E_NOMEM : SEINE_OK;
}

void
sn_digest_add(sn_digest *d, const void *bytes, size_t n)
{
    if (!d->failed && n > 0 && EVP_DigestUpdate(d->ctx, bytes, n) != 1)
        d->failed = true;
}

seine_err
sn_digest_end(sn_digest *d, uint8_t out_digest[SN_DIGEST_MOST], size_t *out_len)
{
    unsigned len = 0;

    if (d->failed || EVP_DigestFinal_ex(d->ctx, out_digest, &len) != 1)
        return SEINE_E_NOMEM;
    *out_len = len;
    return SEINE_OK;
}

void
sn_digest_fini(sn_digest *d)
{
    EVP_MD_CTX_free(d->ctx);
    *d = (sn_digest){0};
}

const char *
sn_hash_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}
