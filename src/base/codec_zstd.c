/* SPDX-License-Identifier: Apache-2.0 */
#define ZSTD_STATIC_LINKING_ONLY /* declares custom allocators */
#include <zstd.h>

#include "base/codec_parts.h"

/* The decoder, and the check of the frame's magic number. Without the check libzstd would
 * also read formats before 0.8, with other code and memory that bypasses the gate. */
typedef struct unzstd {
    ZSTD_DCtx *context;
    char mark[4];
    size_t n_mark;
} unzstd;

static ZSTD_customMem
memory(sn_codec *c)
{
    return (ZSTD_customMem){sn_codec_get, sn_codec_put, c};
}

static void
unzstd_open(sn_codec *c)
{
    unzstd *u = sn_codec_get(c, sizeof *u);

    if (!u)
        return;
    *u = (unzstd){.context = ZSTD_createDCtx_advanced(memory(c))};
    if (!u->context || ZSTD_isError(ZSTD_DCtx_setParameter(
                           u->context, ZSTD_d_windowLogMax, SN_CODEC_WINDOW_LOG))) {
        ZSTD_freeDCtx(u->context);
        sn_codec_put(c, u);
        u = NULL;
    }
    c->lib = u;
}

static bool
unzstd_again(sn_codec *c, sn_codec_kind last)
{
    unzstd *u = c->lib;

    (void)last;
    u->n_mark = 0;
    return !ZSTD_isError(ZSTD_DCtx_reset(u->context, ZSTD_reset_session_only));
}

static bool
read_mark(unzstd *u, sn_str in)
{
    if (u->n_mark == sizeof u->mark)
        return true;
    for (size_t i = 0; u->n_mark < sizeof u->mark && i < in.len; i++)
        u->mark[u->n_mark++] = in.ptr[i];
    return sn_codec_match_of(SN_CODEC_ZSTD, (sn_str){u->mark, u->n_mark}) != SN_CODEC_NO;
}

static void
move_on(sn_str *in, size_t taken, sn_codec_room *out, size_t made)
{
    if (taken > 0)
        *in = (sn_str){in->ptr + taken, in->len - taken};
    *out = (sn_codec_room){out->ptr + made, out->len - made};
}

static sn_codec_event
unzstd_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    ZSTD_inBuffer from = {in->ptr, in->len, 0};
    ZSTD_outBuffer to = {out->ptr, out->len, 0};
    unzstd *u = c->lib;

    (void)finish;
    if (!read_mark(u, *in))
        return sn_codec_fail(c);
    size_t left = ZSTD_decompressStream(u->context, &to, &from);
    move_on(in, from.pos, out, to.pos);
    if (ZSTD_isError(left))
        return sn_codec_fail(c);
    return left == 0 ? SN_CODEC_END : sn_codec_rest(out);
}

static void
unzstd_close(sn_codec *c)
{
    unzstd *u = c->lib;

    ZSTD_freeDCtx(u->context);
    sn_codec_put(c, u);
}

/* Writes a checksum, since archives outlive disks. Up to level 9 windows are at most 4
 * MiB, so this codec can read what it wrote. */
static void
zstd_open(sn_codec *c)
{
    int level = c->opts.level > 0 ? c->opts.level : ZSTD_CLEVEL_DEFAULT;
    ZSTD_CCtx *context = ZSTD_createCCtx_advanced(memory(c));

    if (context &&
        (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ||
         ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))) {
        ZSTD_freeCCtx(context);
        context = NULL;
    }
    c->lib = context;
}

static bool
zstd_again(sn_codec *c, sn_codec_kind last)
{
    (void)last;
    return !ZSTD_isError(ZSTD_CCtx_reset(c->lib, ZSTD_reset_session_only));
}

static sn_codec_event
zstd_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish)
{
    ZSTD_inBuffer from = {in->ptr, in->len, 0};
    ZSTD_outBuffer to = {out->ptr, out->len, 0};
    size_t left =
        ZSTD_compressStream2(c->lib, &to, &from, finish ? ZSTD_e_end : ZSTD_e_continue);

    move_on(in, from.pos, out, to.pos);
    if (ZSTD_isError(left))
        return sn_codec_fail(c);
    return finish && left == 0 ? SN_CODEC_END : sn_codec_rest(out);
}

static void
zstd_close(sn_codec *c)
{
    ZSTD_freeCCtx(c->lib);
}

const sn_codec_ops sn_codec_unzstd = {unzstd_open, unzstd_again, unzstd_step,
                                      unzstd_close};
const sn_codec_ops sn_codec_zstd = {zstd_open, zstd_again, zstd_step, zstd_close};
