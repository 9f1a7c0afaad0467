/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_parts.h - what the wrappers of the three libraries share.
 *
 * Each library is one file that fills in a table for each way. The libraries get
 * their memory from sn_codec_get, whose first argument is the codec.
 *
 * Time    plays no part.
 * Memory  see codec.h.
 * Threads one owner.
 */
#ifndef SN_CODEC_PARTS_H
#define SN_CODEC_PARTS_H

#include "base/codec.h"

typedef struct sn_codec_ops {
    /* Sets c->lib for a stream of c->kind, or leaves it NULL. */
    void (*open)(sn_codec *c);
    /* Reuses the state of the last stream; false: open a new one. NULL: always open. */
    bool (*again)(sn_codec *c, sn_codec_kind last);
    sn_codec_event (*step)(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish);
    void (*close)(sn_codec *c);
} sn_codec_ops;

extern const sn_codec_ops sn_codec_inflate, sn_codec_deflate;
extern const sn_codec_ops sn_codec_unbrotli, sn_codec_brotli;
extern const sn_codec_ops sn_codec_unzstd, sn_codec_zstd;

void *sn_codec_get(void *codec, size_t n);
void sn_codec_put(void *codec, void *p); /* NULL is fine */

/* Sets the error: lack of memory if an allocation failed, else a broken stream. */
sn_codec_event sn_codec_fail(sn_codec *c);

/* Says whether output room or input ran out. */
static inline sn_codec_event
sn_codec_rest(const sn_codec_room *out)
{
    return out->len == 0 ? SN_CODEC_ROOM : SN_CODEC_MORE;
}

#endif
