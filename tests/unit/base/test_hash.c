/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

static const char *
hex(const uint8_t *bytes, size_t n)
{
    static char text[65];

    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* FIPS 180-4 and its examples. */
TEST(hash_sha_gives_the_published_digests)
{
    static char million[1000000];
    static const struct {
        const char *text;
        size_t n;
        const char *sha1, *sha256;
    } rows[] = {
        {"", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {million, sizeof million, "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };

    memset(million, 'a', sizeof million);
    EACH_ROW(i, rows) {
        uint8_t digest[32];

        CHECK_EQ(sn_sha1(rows[i].text, rows[i].n, digest), SEINE_OK);
        CHECK_STR(hex(digest, 20), rows[i].sha1);
        CHECK_EQ(sn_sha256(rows[i].text, rows[i].n, digest), SEINE_OK);
        CHECK_STR(hex(digest, 32), rows[i].sha256);
    }
}

TEST(hash_crc32_is_that_of_gzip_and_can_be_continued)
{
    CHECK_EQ(sn_crc32(0, "", 0), 0);
    CHECK_EQ(sn_crc32(0, "123456789", 9), 0xcbf43926);
    CHECK_EQ(sn_crc32(0, "The quick brown fox jumps over the lazy dog", 43), 0x414fa339);
    CHECK_EQ(sn_crc32(sn_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

/* From the paper and the reference implementation: key 00 … 0f, input 00 … n-1. */
TEST(hash_siphash24_gives_the_published_vectors)
{
    static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    static const struct {
        size_t n;
        uint64_t want;
    } rows[] = {
        {0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd}, {2, 0x0d6c8009d9a94f5a},
        {7, 0xab0200f58b01d137}, {8, 0x93f5f5799a932462}, {15, 0xa129ca6149be45e5},
    };
    uint8_t input[16];

    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (uint8_t)i;
    EACH_ROW(i, rows)
        CHECK(sn_siphash24(key, input, rows[i].n) == rows[i].want);
}

static uint64_t
rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* SipHash-c-d written down from the paper, a byte at a time. */
static uint64_t
naive(const uint64_t key[2], const uint8_t *in, size_t n, int c, int d)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};

    for (size_t word = 0; word <= n / 8 + 1; word++) {
        bool is_end = word == n / 8 + 1;
        uint64_t m = 0;

        for (size_t i = 0; i < 8 && !is_end; i++) {
            size_t at = word * 8 + i;
            uint64_t byte = at < n ? in[at] : i == 7 ? n & 0xff : 0;

            m |= byte << (8 * i);
        }
        if (is_end)
            v[2] ^= 0xff;
        v[3] ^= m;
        for (int i = 0; i < (is_end ? d : c); i++) {
            v[0] += v[1], v[1] = rotate(v[1], 13), v[1] ^= v[0], v[0] = rotate(v[0], 32);
            v[2] += v[3], v[3] = rotate(v[3], 16), v[3] ^= v[2];
            v[0] += v[3], v[3] = rotate(v[3], 21), v[3] ^= v[0];
            v[2] += v[1], v[1] = rotate(v[1], 17), v[1] ^= v[2], v[2] = rotate(v[2], 32);
        }
        v[0] ^= m;
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

TEST(hash_siphash_agrees_with_the_paper_at_every_length)
{
    static const uint64_t published[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    sn_rng r = sn_rng_seed(check_seed());
    uint8_t input[300];

    for (size_t i = 0; i < 15; i++)
        input[i] = (uint8_t)i;
    CHECK(naive(published, input, 15, 2, 4) == 0xa129ca6149be45e5);
    for (size_t n = 0; n <= sizeof input; n++) {
        uint64_t key[2] = {sn_rng_next(&r), sn_rng_next(&r)};

        for (size_t i = 0; i < n; i++)
            input[i] = (uint8_t)sn_rng_next(&r);
        CHECK(sn_siphash(key, input, n) == naive(key, input, n, 1, 3));
        CHECK(sn_siphash24(key, input, n) == naive(key, input, n, 2, 4));
    }
}

static void
digest_of(sn_digest *d, sn_digest_kind kind, const char *text, size_t cut, char *out_hex)
{
    uint8_t bytes[SN_DIGEST_MOST];
    size_t n = 0;

    CHECK_EQ(sn_digest_begin(d, kind), SEINE_OK);
    sn_digest_add(d, text, cut);
    sn_digest_add(d, text + cut, strlen(text) - cut);
    CHECK_EQ(sn_digest_end(d, bytes, &n), SEINE_OK);
    for (size_t i = 0; i < n; i++)
        snprintf(out_hex + 2 * i, 3, "%02x", bytes[i]);
}

/* The digests of "abc": RFC 1321, FIPS 180-4. One state serves all of them. */
TEST(digest_in_pieces_is_the_digest_of_the_whole)
{
    static const struct {
        sn_digest_kind kind;
        const char *hex;
    } rows[] = {
        {SN_DIGEST_MD5, "900150983cd24fb0d6963f7d28e17f72"},
        {SN_DIGEST_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {SN_DIGEST_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {SN_DIGEST_SHA256,
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {SN_DIGEST_SHA512,
         "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
         "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
    };
    sn_digest d = {0};

    EACH_ROW(i, rows)
        for (size_t cut = 0; cut <= 3; cut++) {
            char hex[2 * SN_DIGEST_MOST + 1] = "";

            digest_of(&d, rows[i].kind, "abc", cut, hex);
            CHECK_STR(hex, rows[i].hex);
        }
    CHECK_EQ(sn_digest_begin(&d, SN_DIGEST_NONE), SEINE_E_INVAL);
    sn_digest_fini(&d);
    sn_digest_fini(&d);
}
