/* SPDX-License-Identifier: Apache-2.0 */
#include "base/codec.h"

#include <stdint.h>

#include "base/alloc.h"
#include "base/codec_parts.h"

/* Stands before each piece of memory, because the libraries do not say the size when they
 * free. */
typedef struct sn_codec_block {
    _Alignas(16) size_t size; /* of the block, this head included */
} block;

static void
drop_block(sn_codec *c, block *b)
{
    size_t size = b->size;

    sn_free(b);
    c->bytes -= size;
    if (c->opts.gate)
        c->opts.gate->give(size, c->opts.gate->arg);
}

/* The smallest spare piece that fits and wastes little. */
static block *
reuse(sn_codec *c, size_t size)
{
    int best = -1;

    for (int i = 0; i < SN_CODEC_SPARES; i++) {
        const block *b = c->spare[i];

        if (b && b->size >= size && b->size / 4 <= size &&
            (best < 0 || b->size < c->spare[best]->size))
            best = i;
    }
    if (best < 0)
        return NULL;
    block *found = SN_STEAL(c->spare[best]);
    c->spare_bytes -= found->size;
    return found;
}

static seine_err
acquire(sn_codec *c, size_t size, block **out_block)
{
    const sn_codec_gate *gate = c->opts.gate;
    seine_err e = gate ? gate->take(size, gate->arg) : SEINE_OK;

    if (e != SEINE_OK)
        return e;
    block *b = sn_alloc(size);
    if (!b) {
        if (gate)
            gate->give(size, gate->arg);
        return SEINE_E_NOMEM;
    }
    b->size = size;
    c->bytes += size;
    *out_block = b;
    return SEINE_OK;
}

void *
sn_codec_get(void *codec, size_t n)
{
    sn_codec *c = codec;

    if (n > SIZE_MAX / 2) {
        c->lack = SEINE_E_NOMEM;
        return NULL;
    }
    block *b = reuse(c, n + sizeof *b);
    seine_err e = b ? SEINE_OK : acquire(c, n + sizeof *b, &b);
    if (e != SEINE_OK) {
        c->lack = e;
        return NULL;
    }
    return b + 1;
}

void
sn_codec_put(void *codec, void *p)
{
    sn_codec *c = codec;

    if (!p)
        return;
    block *b = (block *)p - 1;
    if (c->spare_bytes + b->size <= SN_CODEC_SPARE)
        for (int i = 0; i < SN_CODEC_SPARES; i++)
            if (!c->spare[i]) {
                c->spare[i] = b;
                c->spare_bytes += b->size;
                return;
            }
    drop_block(c, b);
}

static void
close_lib(sn_codec *c)
{
    if (c->lib)
        c->ops->close(c);
    c->lib = NULL;
}

void
sn_codec_init(sn_codec *c, const sn_codec_opts *opts)
{
    *c = (sn_codec){.opts = *opts, .err = SEINE_E_INVAL};
}

void
sn_codec_fini(sn_codec *c)
{
    close_lib(c);
    for (int i = 0; i < SN_CODEC_SPARES; i++)
        if (c->spare[i])
            drop_block(c, SN_STEAL(c->spare[i]));
    sn_codec_init(c, &(sn_codec_opts){.way = c->opts.way,
                                      .level = c->opts.level,
                                      .gate = c->opts.gate});
}

static const sn_codec_ops *
ops_of(sn_codec_kind kind, bool packs)
{
    switch (kind) {
    case SN_CODEC_GZIP:
    case SN_CODEC_ZLIB:
    case SN_CODEC_DEFLATE:
        return packs ? &sn_codec_deflate : &sn_codec_inflate;
    case SN_CODEC_BR:
        return packs ? &sn_codec_brotli : &sn_codec_unbrotli;
    case SN_CODEC_ZSTD:
        return packs ? &sn_codec_zstd : &sn_codec_unzstd;
    default:
        return NULL;
    }
}

seine_err
sn_codec_begin(sn_codec *c, sn_codec_kind kind)
{
    const sn_codec_ops *ops = ops_of(kind, c->opts.way == SN_CODEC_ENCODE);
    sn_codec_kind last = c->kind;

    c->is_done = false;
    if (!ops || c->opts.level < 0 || c->opts.level > 9)
        return c->err = SEINE_E_INVAL;
    c->err = c->lack = SEINE_OK;
    c->kind = kind;
    if (c->lib && ops == c->ops && ops->again && ops->again(c, last))
        return SEINE_OK;
    close_lib(c);
    c->ops = ops;
    ops->open(c);
    if (!c->lib)
        c->err = c->lack != SEINE_OK ? c->lack : SEINE_E_NOMEM;
    return c->err;
}

sn_codec_event
sn_codec_fail(sn_codec *c)
{
    c->err = c->lack != SEINE_OK ? c->lack : SEINE_E_BAD_ENCODING;
    return SN_CODEC_FAIL;
}

sn_codec_event
sn_codec_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    sn_codec_event event;
    size_t before;

    if (c->err != SEINE_OK)
        return SN_CODEC_FAIL;
    if (c->is_done)
        return SN_CODEC_END;
    if (out->len == 0)
        return SN_CODEC_ROOM;
    do {
        before = in->len;
        event = c->ops->step(c, in, out, finish);
    } while (event == SN_CODEC_MORE && in->len > 0 && in->len < before);
    if (event == SN_CODEC_MORE && in->len > 0)
        return sn_codec_fail(c); /* no input was taken and no output made */
    c->is_done = event == SN_CODEC_END;
    return event;
}

static sn_codec_match
prefix(sn_str first, const char *mark, size_t n)
{
    for (size_t i = 0; i < n && i < first.len; i++)
        if (first.ptr[i] != mark[i])
            return SN_CODEC_NO;
    return first.len < n ? SN_CODEC_MAYBE : SN_CODEC_YES;
}

/* RFC 1950, 2.2: method 8, a window of at most 32 KiB, the first two bytes divisible
 * by 31. */
static sn_codec_match
zlib_head(sn_str first)
{
    if (first.len == 0)
        return SN_CODEC_MAYBE;
    unsigned a = (unsigned char)first.ptr[0];
    if ((a & 15) != 8 || a >> 4 > 7)
        return SN_CODEC_NO;
    if (first.len == 1)
        return SN_CODEC_MAYBE;
    return (a << 8 | (unsigned char)first.ptr[1]) % 31 == 0 ? SN_CODEC_YES : SN_CODEC_NO;
}

/* RFC 8878, 3.1: the magic number of a frame, or one of 16 magic numbers of a skippable
 * frame. */
static sn_codec_match
zstd_head(sn_str first)
{
    char skip[4] = {0x50, 0x2a, 0x4d, 0x18};
    sn_codec_match m = prefix(first, "\x28\xb5\x2f\xfd", 4);

    if (m != SN_CODEC_NO)
        return m;
    skip[0] = (char)(skip[0] | (first.ptr[0] & 15));
    return prefix(first, skip, sizeof skip);
}

sn_codec_match
sn_codec_match_of(sn_codec_kind kind, sn_str first)
{
    switch (kind) {
    case SN_CODEC_GZIP:
        return prefix(first, "\x1f\x8b", 2);
    case SN_CODEC_ZLIB:
        return zlib_head(first);
    case SN_CODEC_ZSTD:
        return zstd_head(first);
    default:
        return SN_CODEC_YES;
    }
}
