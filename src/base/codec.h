/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - compress and decompress streams: gzip, zlib, deflate, brotli, zstd.
 *
 * A codec takes input and fills output in pieces of any size. One codec serves one
 * stream after another, of any kind, and keeps its memory in between.
 *
 *     sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
 *     e = sn_codec_begin(&c, SN_CODEC_GZIP);
 *     switch (sn_codec_step(&c, &in, &room, false)) {
 *     case SN_CODEC_MORE: …              all of `in` was taken, there is room left
 *     case SN_CODEC_ROOM: …              the room is full, more output may follow
 *     case SN_CODEC_END: …               `in` begins behind the end of the stream
 *     case SN_CODEC_FAIL: return c.err;
 *     }
 *     sn_codec_fini(&c);
 *
 * SN_CODEC_END means that the stream is complete: its checksum and length, where the
 * format has them, are right. A file of several gzip members or zstd frames is several
 * streams. The codec refuses what no server may use unasked: dictionaries, large
 * windows of brotli, windows of zstd above 8 MiB, formats of zstd before 0.8.
 *
 * Time    plays no part.
 * Memory  comes from base/alloc, after the gate agreed. Decoding takes at most 40 KiB
 *         (zlib), 16 MiB and tables (brotli), 8.6 MiB (zstd); brotli and zstd take
 *         what the stream needs. Encoding takes 264 KiB (zlib), 7 MiB (brotli), and
 *         by level for zstd, 4 MiB at the default.
 * Threads one owner. A codec must not be moved.
 */
#ifndef SN_CODEC_H
#define SN_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

typedef enum sn_codec_kind {
    SN_CODEC_GZIP,
    SN_CODEC_ZLIB,
    SN_CODEC_DEFLATE, /* raw: neither header nor checksum */
    SN_CODEC_BR,
    SN_CODEC_ZSTD,
    SN_CODEC_KINDS
} sn_codec_kind;

typedef enum sn_codec_way { SN_CODEC_DECODE, SN_CODEC_ENCODE } sn_codec_way;

typedef enum sn_codec_event {
    SN_CODEC_MORE,
    SN_CODEC_ROOM,
    SN_CODEC_END,
    SN_CODEC_FAIL
} sn_codec_event;

/* The codec asks before it takes memory, and tells when it gave memory back. */
typedef struct sn_codec_gate {
    seine_err (*take)(size_t n, void *arg); /* any error refuses the memory */
    void (*give)(size_t n, void *arg);
    void *arg;
} sn_codec_gate;

typedef struct sn_codec_opts {
    sn_codec_way way;
    int level;                 /* ENCODE: 1 fast to 9 small; 0: the default */
    const sn_codec_gate *gate; /* borrowed; NULL: none */
} sn_codec_opts;

/* Where output goes; the codec moves `ptr` forward as it writes. */
typedef struct sn_codec_room {
    char *ptr;
    size_t len;
} sn_codec_room;

enum {
    SN_CODEC_SPARES = 12,       /* pieces of memory kept for the next stream … */
    SN_CODEC_SPARE = 256 << 10, /* … and their bytes */
    SN_CODEC_WINDOW_LOG = 23    /* of zstd: 8 MiB */
};

typedef struct sn_codec {
    sn_codec_opts opts;
    sn_codec_kind kind;
    const struct sn_codec_ops *ops; /* the library in use; NULL before the first begin */
    void *lib;                      /* the library's state; NULL: none is open */
    bool is_done;
    seine_err err;  /* why FAIL */
    seine_err lack; /* why the library got no memory */
    size_t bytes;   /* held now, spare pieces included */
    size_t spare_bytes;
    struct sn_codec_block *spare[SN_CODEC_SPARES];
} sn_codec;

/* Takes no memory. */
void sn_codec_init(sn_codec *c, const sn_codec_opts *opts);
void sn_codec_fini(sn_codec *c); /* all zero is fine */

/* Begins a new stream and drops an unfinished one. NOMEM, the gate's error, or INVAL for
 * an unknown kind; then every step fails. */
SEINE_MUST_CHECK seine_err sn_codec_begin(sn_codec *c, sn_codec_kind kind);

/* Moves `in` and `out` forward. `finish` tells an encoder that nothing follows `in`; call
 * again until END. FAIL: BAD_ENCODING, NOMEM, or the gate's error. END and FAIL stay
 * until the next begin. */
sn_codec_event sn_codec_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish);

/* Could these first bytes begin a stream of this kind? Raw deflate and brotli have no
 * magic number, so they always could. Four bytes are enough for YES or NO. */
typedef enum sn_codec_match { SN_CODEC_NO, SN_CODEC_MAYBE, SN_CODEC_YES } sn_codec_match;
sn_codec_match sn_codec_match_of(sn_codec_kind kind, sn_str first);

#endif
