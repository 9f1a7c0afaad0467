/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - decodes with the libraries themselves.
 *
 *     unpacked u = unpack(SNC_CODING_BR, bytes, n, out, sizeof out);
 *     CHECK(u.end == UNPACKED_WHOLE && u.sum == 1000);
 *
 * Output beyond the room is counted, not kept.
 */
#ifndef UNPACK_H
#define UNPACK_H

#include <brotli/decode.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "chaos/coder.h"

typedef enum unpack_end { UNPACKED_WHOLE, UNPACKED_SHORT, UNPACKED_BAD } unpack_end;

typedef struct unpacked {
    unpack_end end;
    uint64_t sum;  /* bytes that came out */
    uint32_t crc;  /* of them */
    size_t behind; /* coded bytes behind the end */
    char *out;
    size_t room;
} unpacked;

static inline void
unpack_note(unpacked *u, const unsigned char *bytes, size_t n)
{
    if (u->sum < u->room)
        memcpy(u->out + u->sum, bytes, n < u->room - u->sum ? n : u->room - u->sum);
    u->crc = (uint32_t)crc32(u->crc, bytes, (unsigned)n);
    u->sum += n;
}

static inline void
unpack_zlib(unpacked *u, int bits, const char *bytes, size_t n)
{
    static unsigned char piece[1 << 16];
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)n};
    int got = inflateInit2(&z, bits);

    while (got == Z_OK) {
        z.next_out = piece;
        z.avail_out = sizeof piece;
        got = inflate(&z, Z_NO_FLUSH);
        unpack_note(u, piece, sizeof piece - z.avail_out);
    }
    u->end = got == Z_STREAM_END  ? UNPACKED_WHOLE
             : got == Z_BUF_ERROR ? UNPACKED_SHORT
                                  : UNPACKED_BAD;
    u->behind = z.avail_in;
    inflateEnd(&z);
}

static inline void
unpack_brotli(unpacked *u, const char *bytes, size_t n)
{
    static unsigned char piece[1 << 16];
    BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = (const uint8_t *)bytes;
    BrotliDecoderResult got = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;

    while (got == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
        unsigned char *out = piece;
        size_t left = sizeof piece;

        got = BrotliDecoderDecompressStream(s, &n, &in, &left, &out, NULL);
        unpack_note(u, piece, sizeof piece - left);
    }
    u->end = got == BROTLI_DECODER_RESULT_SUCCESS            ? UNPACKED_WHOLE
             : got == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT ? UNPACKED_SHORT
                                                             : UNPACKED_BAD;
    u->behind = n;
    BrotliDecoderDestroyInstance(s);
}

static inline void
unpack_zstd(unpacked *u, const char *bytes, size_t n)
{
    static unsigned char piece[1 << 16];
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t left = 1, before;

    do {
        ZSTD_outBuffer out = {piece, sizeof piece, 0};

        before = in.pos;
        left = ZSTD_decompressStream(ctx, &out, &in);
        unpack_note(u, piece, out.pos);
        before = before == in.pos && out.pos == 0;
    } while (!ZSTD_isError(left) && left > 0 && !before);
    u->end = ZSTD_isError(left) ? UNPACKED_BAD
             : left == 0        ? UNPACKED_WHOLE
                                : UNPACKED_SHORT;
    u->behind = n - in.pos;
    ZSTD_freeDCtx(ctx);
}

static inline unpacked
unpack(snc_coding coding, const char *bytes, size_t n, char *out, size_t room)
{
    unpacked u = {.out = out, .room = room};

    switch (coding) {
    case SNC_CODING_GZIP:
        unpack_zlib(&u, 31, bytes, n);
        break;
    case SNC_CODING_DEFLATE:
        unpack_zlib(&u, 15, bytes, n);
        break;
    case SNC_CODING_RAW:
        unpack_zlib(&u, -15, bytes, n);
        break;
    case SNC_CODING_BR:
        unpack_brotli(&u, bytes, n);
        break;
    default:
        unpack_zstd(&u, bytes, n);
    }
    return u;
}

#endif
