/* SPDX-License-Identifier: Apache-2.0 */
#include <brotli/decode.h>
#include <brotli/encode.h>

#include "base/codec_parts.h"

/* libbrotli cannot reset a state, so each stream opens a new one from the codec's spare
 * memory. Large windows stay off, which keeps a window within 16 MiB. */
static void
unbrotli_open(sn_codec *c)
{
    c->lib = BrotliDecoderCreateInstance(sn_codec_get, sn_codec_put, c);
}

static void
move_on(sn_str *in, size_t in_left, sn_codec_room *out, size_t out_left)
{
    size_t taken = in->len - in_left, made = out->len - out_left;

    if (taken > 0)
        *in = (sn_str){in->ptr + taken, in_left};
    *out = (sn_codec_room){out->ptr + made, out_left};
}

static sn_codec_event
unbrotli_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    const uint8_t *from = (const uint8_t *)in->ptr;
    uint8_t *to = (uint8_t *)out->ptr;
    size_t in_left = in->len, out_left = out->len;

    (void)finish;
    BrotliDecoderResult said =
        BrotliDecoderDecompressStream(c->lib, &in_left, &from, &out_left, &to, NULL);
    move_on(in, in_left, out, out_left);
    switch (said) {
    case BROTLI_DECODER_RESULT_SUCCESS:
        return SN_CODEC_END;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        return SN_CODEC_MORE;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return SN_CODEC_ROOM;
    default:
        return sn_codec_fail(c);
    }
}

static void
unbrotli_close(sn_codec *c)
{
    BrotliDecoderDestroyInstance(c->lib);
}

/* libbrotlienc, as Debian builds it, aborts the process when it gets no memory. So a
 * reserve is taken at the beginning, and a refused allocation comes out of it. The step
 * that used the reserve is the last. Windows of 64 KiB and steps of 64 KiB of input keep
 * the need of a step below 2.5 MiB at every level. */
#define RESERVE (4u << 20)
#define MOST    (64u << 10)

typedef struct packer {
    BrotliEncoderState *state;
    char *reserve;
    size_t used;
} packer;

static void *
get(void *codec, size_t n)
{
    sn_codec *c = codec;
    packer *p = c->lib;
    void *got = c->lack == SEINE_OK ? sn_codec_get(c, n) : NULL;

    n = (n + 15) & ~(size_t)15;
    if (!got && n <= RESERVE - p->used) {
        got = p->reserve + p->used;
        p->used += n;
    }
    return got;
}

static void
put_piece(void *codec, void *piece)
{
    const sn_codec *c = codec;
    const packer *p = c->lib;

    if ((uintptr_t)piece - (uintptr_t)p->reserve >= RESERVE)
        sn_codec_put(codec, piece);
}

static void
brotli_close(sn_codec *c)
{
    packer *p = c->lib;

    BrotliEncoderDestroyInstance(p->state);
    sn_codec_put(c, p->reserve);
    sn_codec_put(c, p);
}

/* Level 5 is about as fast as zlib's default and compresses better. */
static void
brotli_open(sn_codec *c)
{
    uint32_t quality = c->opts.level > 0 ? (uint32_t)c->opts.level : 5;
    packer *p = sn_codec_get(c, sizeof *p);

    if (!p)
        return;
    *p = (packer){.reserve = sn_codec_get(c, RESERVE)};
    if (!p->reserve) {
        sn_codec_put(c, p);
        return;
    }
    c->lib = p;
    p->state = BrotliEncoderCreateInstance(get, put_piece, c);
    if (!p->state || c->lack != SEINE_OK) {
        brotli_close(c);
        c->lib = NULL;
        return;
    }
    BrotliEncoderSetParameter(p->state, BROTLI_PARAM_QUALITY, quality);
    BrotliEncoderSetParameter(p->state, BROTLI_PARAM_LGWIN, 16);
}

static sn_codec_event
brotli_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    BrotliEncoderState *state = ((packer *)c->lib)->state;
    sn_str some = sn_str_slice(*in, 0, MOST);
    bool is_last = finish && some.len == in->len;
    const uint8_t *from = (const uint8_t *)some.ptr;
    uint8_t *to = (uint8_t *)out->ptr;
    size_t in_left = some.len, out_left = out->len;

    BROTLI_BOOL is_fine = BrotliEncoderCompressStream(
        state, is_last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS, &in_left,
        &from, &out_left, &to, NULL);
    move_on(in, in->len - (some.len - in_left), out, out_left);
    if (!is_fine || c->lack != SEINE_OK)
        return sn_codec_fail(c);
    if (BrotliEncoderIsFinished(state))
        return SN_CODEC_END;
    return sn_codec_rest(out);
}

const sn_codec_ops sn_codec_unbrotli = {unbrotli_open, NULL, unbrotli_step,
                                        unbrotli_close};
const sn_codec_ops sn_codec_brotli = {brotli_open, NULL, brotli_step, brotli_close};
