/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST
#include <zlib.h>

#include "base/codec_parts.h"

/* zlib counts bytes in 32 bits. */
#define MOST (1u << 30)

static void *
get(void *codec, unsigned n, unsigned size)
{
    return sn_codec_get(codec, (size_t)n * size);
}

/* 15 is the largest window; + 16 selects gzip; a negative value selects raw deflate. */
static int
bits(sn_codec_kind kind)
{
    return kind == SN_CODEC_GZIP ? 31 : kind == SN_CODEC_ZLIB ? 15 : -15;
}

static z_stream *
stream(sn_codec *c)
{
    z_stream *z = sn_codec_get(c, sizeof *z);

    if (z)
        *z = (z_stream){.zalloc = get, .zfree = sn_codec_put, .opaque = c};
    return z;
}

/* As much as zlib can count; the next call takes the rest. */
static unsigned
some(size_t n)
{
    return n < MOST ? (unsigned)n : MOST;
}

static void
lend(z_stream *z, const sn_str *in, const sn_codec_room *out)
{
    z->next_in = (const unsigned char *)in->ptr;
    z->avail_in = some(in->len);
    z->next_out = (unsigned char *)out->ptr;
    z->avail_out = some(out->len);
}

static void
move_on(const z_stream *z, sn_str *in, sn_codec_room *out)
{
    size_t taken = some(in->len) - z->avail_in, made = some(out->len) - z->avail_out;

    if (taken > 0)
        *in = (sn_str){in->ptr + taken, in->len - taken};
    *out = (sn_codec_room){out->ptr + made, out->len - made};
}

/* The event that a result of zlib means. */
static sn_codec_event
event_of(sn_codec *c, int said, const sn_codec_room *out)
{
    switch (said) {
    case Z_STREAM_END:
        return SN_CODEC_END;
    case Z_OK:
    case Z_BUF_ERROR:
        return sn_codec_rest(out);
    default:
        return sn_codec_fail(c);
    }
}

static void
inflate_open(sn_codec *c)
{
    z_stream *z = stream(c);

    if (z && inflateInit2(z, bits(c->kind)) != Z_OK) {
        sn_codec_put(c, z);
        z = NULL;
    }
    c->lib = z;
}

static bool
inflate_again(sn_codec *c, sn_codec_kind last)
{
    (void)last; /* all kinds share one state */
    return inflateReset2(c->lib, bits(c->kind)) == Z_OK;
}

static sn_codec_event
inflate_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    z_stream *z = c->lib;

    (void)finish;
    lend(z, in, out);
    int said = inflate(z, Z_NO_FLUSH);
    move_on(z, in, out);
    return event_of(c, said, out);
}

static void
inflate_close(sn_codec *c)
{
    inflateEnd(c->lib);
    sn_codec_put(c, c->lib);
}

static void
deflate_open(sn_codec *c)
{
    int level = c->opts.level > 0 ? c->opts.level : Z_DEFAULT_COMPRESSION;
    z_stream *z = stream(c);

    if (z && deflateInit2(z, level, Z_DEFLATED, bits(c->kind), 8, Z_DEFAULT_STRATEGY) !=
                 Z_OK) {
        sn_codec_put(c, z);
        z = NULL;
    }
    c->lib = z;
}

static bool
deflate_again(sn_codec *c, sn_codec_kind last)
{
    return c->kind == last && deflateReset(c->lib) == Z_OK;
}

static sn_codec_event
deflate_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    z_stream *z = c->lib;

    lend(z, in, out);
    int said = deflate(z, finish && in->len <= MOST ? Z_FINISH : Z_NO_FLUSH);
    move_on(z, in, out);
    return event_of(c, said, out);
}

static void
deflate_close(sn_codec *c)
{
    deflateEnd(c->lib);
    sn_codec_put(c, c->lib);
}

const sn_codec_ops sn_codec_inflate = {inflate_open, inflate_again, inflate_step,
                                       inflate_close};
const sn_codec_ops sn_codec_deflate = {deflate_open, deflate_again, deflate_step,
                                       deflate_close};
