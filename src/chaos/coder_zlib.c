/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/alloc.h"
#include "chaos/coder.h"

#define UNIT ((uint64_t)256 << 10) /* zeros of a bomb's unit */
#define LONG 65521                 /* the prime of Adler-32 */

typedef struct coder {
    snc_coder base;
    z_stream z;
} coder;

static void *
zlib_get(void *arg, unsigned n, unsigned size)
{
    (void)arg;
    return sn_calloc(n, size);
}

static void
give_back(void *arg, void *p)
{
    (void)arg;
    sn_free(p);
}

static size_t
zlib_step(snc_coder *self, sn_str *in, bool last, char *out, size_t room, bool *out_done)
{
    z_stream *z = &((coder *)(void *)self)->z;
    size_t take = in->len < INT_MAX ? in->len : INT_MAX;

    z->next_in = (const Bytef *)(in->ptr ? in->ptr : "");
    z->avail_in = (uInt)take;
    z->next_out = (Bytef *)out;
    z->avail_out = (uInt)room;
    *out_done = deflate(z, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_END;
    *in = sn_str_slice(*in, take - z->avail_in, in->len);
    return room - z->avail_out;
}

static void
zlib_end(snc_coder *self)
{
    coder *c = (coder *)(void *)self;

    deflateEnd(&c->z);
    sn_free(c);
}

seine_err
snc_coder_zlib(snc_coding coding, snc_coder **out_coder)
{
    int bits = coding == SNC_CODING_GZIP ? 31 : coding == SNC_CODING_RAW ? -15 : 15;
    coder *c = sn_zalloc(sizeof *c);

    if (!c)
        return SEINE_E_NOMEM;
    c->base = (snc_coder){.step = zlib_step, .free = zlib_end};
    c->z.zalloc = zlib_get;
    c->z.zfree = give_back;
    if (deflateInit2(&c->z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        sn_free(c);
        return SEINE_E_NOMEM;
    }
    *out_coder = &c->base;
    return SEINE_OK;
}

/* Encodes zeros as blocks of their own: `flush` ends them on a byte and resets the
 * window, or ends the stream. */
static seine_err
add_zeros(uint64_t size, int flush, sn_buf *out)
{
    static const Bytef zeros[4096];
    z_stream z = {.zalloc = zlib_get, .zfree = give_back};

    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return SEINE_E_NOMEM;
    do {
        uint64_t take = size < sizeof zeros ? size : sizeof zeros;
        char *room = sn_buf_reserve(out, 8192);

        if (!room)
            break;
        size -= take;
        z.next_in = zeros;
        z.avail_in = (uInt)take;
        z.next_out = (Bytef *)room;
        z.avail_out = 8192; /* more than the rest of this step can need */
        deflate(&z, size == 0 ? flush : Z_NO_FLUSH);
        sn_buf_commit(out, 8192 - z.avail_out);
    } while (size > 0);
    deflateEnd(&z);
    return sn_buf_done(out);
}

/* The CRC-32 of `size` zeros, in as many steps as the number has digits. */
static uLong
crc_of_zeros(uint64_t size)
{
    static const Bytef zero[1];
    uLong crc = crc32(0, NULL, 0), part = crc32(crc, zero, 1);

    for (uint64_t n = 1; size > 0; n *= 2, size /= 2) {
        if (size & 1)
            crc = crc32_combine(crc, part, (z_off_t)n);
        part = crc32_combine(part, part, (z_off_t)n);
    }
    return crc;
}

static void
add_number(sn_buf *out, uint32_t n, bool big_end)
{
    for (int i = 0; i < 4; i++)
        sn_buf_char(out, (char)(n >> (big_end ? 24 - 8 * i : 8 * i)));
}

seine_err
snc_bomb_zlib(snc_coding coding, uint64_t size, sn_buf *out, snc_bomb *out_bomb)
{
    if (coding == SNC_CODING_GZIP)
        sn_buf_add(out, "\x1f\x8b\x08\0\0\0\0\0\x02\x03", 10);
    else if (coding == SNC_CODING_DEFLATE)
        sn_buf_add(out, "\x78\xda", 2);
    out_bomb->unit_at = out->len;
    out_bomb->count = size / UNIT;
    seine_err e = add_zeros(UNIT, Z_FULL_FLUSH, out);
    out_bomb->tail_at = out->len;
    if (e == SEINE_OK)
        e = add_zeros(size % UNIT, Z_FINISH, out);
    if (coding == SNC_CODING_GZIP) {
        add_number(out, (uint32_t)crc_of_zeros(size), false);
        add_number(out, (uint32_t)size, false);
    } else if (coding == SNC_CODING_DEFLATE) {
        add_number(out, (uint32_t)(size % LONG) << 16 | 1, true);
    }
    return e != SEINE_OK ? e : sn_buf_done(out);
}
