/* SPDX-License-Identifier: Apache-2.0 */
#include <zstd.h>

#include "base/alloc.h"
#include "chaos/coder.h"

#define BLOCK ((uint64_t)128 << 10) /* the largest there is */

typedef struct coder {
    snc_coder base;
    ZSTD_CCtx *ctx;
} coder;

static size_t
zstd_step(snc_coder *self, sn_str *in, bool last, char *out, size_t room, bool *out_done)
{
    coder *c = (coder *)(void *)self;
    ZSTD_inBuffer from = {in->ptr ? in->ptr : "", in->len, 0};
    ZSTD_outBuffer to = {out, room, 0};
    size_t left =
        ZSTD_compressStream2(c->ctx, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);

    *in = sn_str_slice(*in, from.pos, in->len);
    c->base.failed |= ZSTD_isError(left) != 0;
    *out_done = ZSTD_isError(left) || (last && left == 0);
    return to.pos;
}

static void
zstd_end(snc_coder *self)
{
    coder *c = (coder *)(void *)self;

    ZSTD_freeCCtx(c->ctx);
    sn_free(c);
}

seine_err
snc_coder_zstd(snc_coder **out_coder)
{
    coder *c = sn_zalloc(sizeof *c);

    if (!c)
        return SEINE_E_NOMEM;
    c->base = (snc_coder){.step = zstd_step, .free = zstd_end};
    c->ctx = ZSTD_createCCtx();
    if (!c->ctx) {
        sn_free(c);
        return SEINE_E_NOMEM;
    }
    ZSTD_CCtx_setParameter(c->ctx, ZSTD_c_checksumFlag, 1);
    *out_coder = &c->base;
    return SEINE_OK;
}

/* RFC 8878, 3.1.1.2: three bytes, then the byte that is repeated. An empty block is a raw
 * one. */
static void
add_block(sn_buf *out, uint64_t size, bool last)
{
    uint64_t head = size << 3 | (uint64_t)(size > 0) << 1 | (uint64_t)last;

    for (int i = 0; i < 3; i++)
        sn_buf_char(out, (char)(head >> 8 * i));
    if (size > 0)
        sn_buf_char(out, '\0');
}

/* Written by hand: a frame without length and checksum, a window of 128 KiB, runs of
 * zeros. */
seine_err
snc_bomb_zstd(uint64_t size, sn_buf *out, snc_bomb *out_bomb)
{
    sn_buf_add(out, "\x28\xb5\x2f\xfd\0\x38", 6);
    out_bomb->unit_at = out->len;
    out_bomb->count = size / BLOCK;
    add_block(out, BLOCK, false);
    out_bomb->tail_at = out->len;
    add_block(out, size % BLOCK, true);
    return sn_buf_done(out);
}
