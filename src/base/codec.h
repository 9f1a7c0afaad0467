/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - bytes packed and unpacked as streams: gzip, zlib, deflate, brotli, zstd.
 *
 * A codec takes what there is of the input and fills what room there is for output,
 * in pieces of any size. One codec serves one stream after another, of any kind, and
 * keeps its memory in between.
 *
 *     sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
 *     e = sn_codec_begin(&c, SN_CODEC_GZIP);
 *     switch (sn_codec_step(&c, &in, &room, false)) {
 *     case SN_CODEC_MORE: …              all of `in` was taken, there is room left
 *     case SN_CODEC_ROOM: …              the room is full, there may be more to say
 *     case SN_CODEC_END: …               `in` begins behind the end of the stream
 *     case SN_CODEC_FAIL: return c.err;
 *     }
 *     sn_codec_fini(&c);
 *
 * A stream has ended well when END was said: its checksum and its length, where it
 * has them, are right. A file of several gzip members or zstd frames is several
 * streams. What nobody asked for is not read: no dictionaries, no large windows of
 * brotli, no windows of zstd above 8 MiB, no formats of zstd before 0.8.
 *
 * Time    plays no part.
 * Memory  all of it goes through base/alloc, and through the gate first. Decoding:
 *         zlib 40 KiB, brotli 16 MiB and its tables, zstd 8.6 MiB at most; brotli
 *         and zstd take what the stream needs. Packing: zlib 264 KiB, brotli 7 MiB, zstd
 *         by level, 4 MiB at the usual one.
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
    SN_CODEC_DEFLATE, /* raw: neither head nor checksum */
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

/* Asked before memory is taken, told when it was given back. */
typedef struct sn_codec_gate {
    seine_err (*take)(size_t n, void *arg); /* not OK: it is not taken */
    void (*give)(size_t n, void *arg);
    void *arg;
} sn_codec_gate;

typedef struct sn_codec_opts {
    sn_codec_way way;
    int level;                 /* ENCODE: 1 quick to 9 small; 0: the usual one */
    const sn_codec_gate *gate; /* borrowed; NULL: none */
} sn_codec_opts;

/* Where output goes; moves forward as it is filled. */
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
    const struct sn_codec_ops *ops; /* of the library; NULL before the first begin */
    void *lib;                      /* its state; NULL: none is open */
    bool is_done;
    seine_err err;  /* why FAIL */
    seine_err lack; /* why the library got no memory */
    size_t bytes;   /* taken in all, spare ones too */
    size_t spare_bytes;
    struct sn_codec_block *spare[SN_CODEC_SPARES];
} sn_codec;

/* Takes no memory. */
void sn_codec_init(sn_codec *c, const sn_codec_opts *opts);
void sn_codec_fini(sn_codec *c); /* all zero is fine */

/* A new stream, wherever the one before stood. NOMEM, what the gate said, or INVAL
 * for no such kind; then every step fails. */
SEINE_MUST_CHECK seine_err sn_codec_begin(sn_codec *c, sn_codec_kind kind);

/* Moves `in` and `out` forward. `finish` says to an encoder that nothing comes behind
 * `in`; it is then called until END. FAIL: BAD_ENCODING, NOMEM, or what the gate
 * said. END and FAIL stay until the next begin. */
sn_codec_event sn_codec_step(sn_codec *c, sn_str *in, sn_codec_room *out, bool finish);

/* Could these first bytes begin a stream of this kind? Raw deflate and brotli have no
 * mark: always. Four bytes are enough for a YES or NO. */
typedef enum sn_codec_match { SN_CODEC_NO, SN_CODEC_MAYBE, SN_CODEC_YES } sn_codec_match;
sn_codec_match sn_codec_match_of(sn_codec_kind kind, sn_str first);

#endif
