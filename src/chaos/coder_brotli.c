/* SPDX-License-Identifier: Apache-2.0 */
#include <brotli/encode.h>

#include "base/alloc.h"
#include "chaos/coder.h"

#define UNIT ((uint64_t)1 << 20) /* zeros of a bomb's unit */

typedef struct coder {
    snc_coder base;
    BrotliEncoderState *state;
} coder;

/* Uses the C library's memory: the encoder aborts the program when ours is refused. */
static BrotliEncoderState *
begin_encoder(void)
{
    BrotliEncoderState *s = BrotliEncoderCreateInstance(NULL, NULL, NULL);

    if (s) {
        BrotliEncoderSetParameter(s, BROTLI_PARAM_QUALITY, 5);
        BrotliEncoderSetParameter(s, BROTLI_PARAM_LGWIN, 18);
    }
    return s;
}

static size_t
brotli_step(snc_coder *self, sn_str *in, bool last, char *out, size_t room,
            bool *out_done)
{
    coder *c = (coder *)(void *)self;
    const uint8_t *next_in = (const uint8_t *)(in->ptr ? in->ptr : "");
    uint8_t *next_out = (uint8_t *)out;
    size_t left_in = in->len, left_out = room;

    bool fine = BrotliEncoderCompressStream(
        c->state, last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS, &left_in,
        &next_in, &left_out, &next_out, NULL);
    *in = sn_str_slice(*in, in->len - left_in, in->len);
    c->base.failed |= !fine;
    *out_done = !fine || (last && BrotliEncoderIsFinished(c->state));
    return room - left_out;
}

static void
brotli_end(snc_coder *self)
{
    coder *c = (coder *)(void *)self;

    BrotliEncoderDestroyInstance(c->state);
    sn_free(c);
}

seine_err
snc_coder_brotli(snc_coder **out_coder)
{
    coder *c = sn_zalloc(sizeof *c);

    if (!c)
        return SEINE_E_NOMEM;
    c->base = (snc_coder){.step = brotli_step, .free = brotli_end};
    c->state = begin_encoder();
    if (!c->state) {
        sn_free(c);
        return SEINE_E_NOMEM;
    }
    *out_coder = &c->base;
    return SEINE_OK;
}

/* Encodes `size` more zeros, up to a whole byte or to the end. */
static bool
add_zeros(BrotliEncoderState *s, uint64_t size, BrotliEncoderOperation op, sn_buf *out)
{
    static const uint8_t zeros[4096];

    for (bool more = true; more;) {
        size_t take = size < sizeof zeros ? (size_t)size : sizeof zeros;
        bool now = take == size;
        const uint8_t *next_in = zeros;
        size_t left_in = take, left_out = 4096;
        char *room = sn_buf_reserve(out, left_out);
        uint8_t *next_out = (uint8_t *)room;

        if (!room ||
            !BrotliEncoderCompressStream(s, now ? op : BROTLI_OPERATION_PROCESS, &left_in,
                                         &next_in, &left_out, &next_out, NULL))
            return false;
        sn_buf_commit(out, 4096 - left_out);
        size -= take - left_in;
        more = size > 0 || BrotliEncoderHasMoreOutput(s) ||
               (op == BROTLI_OPERATION_FINISH && !BrotliEncoderIsFinished(s));
    }
    return true;
}

/* The first two stretches teach the decoder its distance; every later one has the same
 * bytes. The test decodes it. */
seine_err
snc_bomb_brotli(uint64_t size, sn_buf *out, snc_bomb *out_bomb)
{
    BrotliEncoderState *s = begin_encoder();
    bool repeats = size >= 4 * UNIT, fine = s;

    if (repeats)
        fine = fine && add_zeros(s, UNIT, BROTLI_OPERATION_FLUSH, out) &&
               add_zeros(s, UNIT, BROTLI_OPERATION_FLUSH, out);
    out_bomb->unit_at = out->len;
    out_bomb->count = repeats ? size / UNIT - 2 : 0;
    if (repeats)
        fine = fine && add_zeros(s, UNIT, BROTLI_OPERATION_FLUSH, out);
    out_bomb->tail_at = out->len;
    fine =
        fine && add_zeros(s, repeats ? size % UNIT : size, BROTLI_OPERATION_FINISH, out);
    if (s)
        BrotliEncoderDestroyInstance(s);
    return fine ? sn_buf_done(out) : SEINE_E_NOMEM;
}
