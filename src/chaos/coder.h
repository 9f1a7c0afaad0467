/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coder.h - content encoders for hostile bodies.
 *
 * A coder takes bytes and gives encoded ones, as many as there is room for:
 *
 *     sn_str in = SN_STR("hello");
 *     char out[4096];
 *     bool last = true, done = false;
 *     seine_err e = snc_coder_new(SNC_CODING_BR, &coder);
 *     while (!done)
 *         n = coder->step(coder, &in, last, out, sizeof out, &done);
 *     coder->free(coder);
 *
 * A bomb is an encoded run of zeros with a middle that repeats, so a petabyte is three
 * short texts: the text before `unit_at`, the unit `count` times, the rest.
 *
 * Time    plays no part.
 * Memory  what the library takes: 270 KiB for gzip, 1 to 3 MiB for br and zstd.
 * Threads one owner.
 */
#ifndef SNC_CODER_H
#define SNC_CODER_H

#include "base/buf.h"
#include "base/str.h"

typedef enum snc_coding {
    SNC_CODING_NONE,
    SNC_CODING_GZIP,
    SNC_CODING_DEFLATE, /* in zlib's format, as the RFC demands */
    SNC_CODING_RAW,     /* raw deflate, as many servers send it */
    SNC_CODING_BR,
    SNC_CODING_ZSTD
} snc_coding;

typedef struct snc_coder snc_coder;

struct snc_coder {
    /* Consumes the front of *in and returns how many bytes it put into `out`; 0 before
     * done asks for more input. `last`: nothing follows *in. */
    size_t (*step)(snc_coder *self, sn_str *in, bool last, char *out, size_t room,
                   bool *out_done);
    void (*free)(snc_coder *self);
    bool failed; /* there was no memory */
};

typedef struct snc_bomb {
    size_t unit_at, tail_at; /* in the buffer; the tail goes up to its end */
    uint64_t count;
} snc_bomb;

/* SNC_CODING_NONE for any name but gzip, deflate, rawdeflate, br and zstd. */
snc_coding snc_coder_named(sn_str name);

/* The name in Content-Encoding. */
sn_str snc_coder_label(snc_coding coding);

SEINE_MUST_CHECK seine_err snc_coder_new(snc_coding coding, snc_coder **out_coder);

/* Adds a bomb to the buffer, which decodes to `size` zeros. */
SEINE_MUST_CHECK seine_err snc_coder_bomb(snc_coding coding, uint64_t size, sn_buf *out,
                                          snc_bomb *out_bomb);

/* The complete encoding of an empty text; empty when the coding has none. */
sn_str snc_coder_nothing(snc_coding coding);

/* Each library has a file of its own. */
SEINE_MUST_CHECK seine_err snc_coder_zlib(snc_coding coding, snc_coder **out_coder);
SEINE_MUST_CHECK seine_err snc_coder_brotli(snc_coder **out_coder);
SEINE_MUST_CHECK seine_err snc_coder_zstd(snc_coder **out_coder);
SEINE_MUST_CHECK seine_err snc_bomb_zlib(snc_coding coding, uint64_t size, sn_buf *out,
                                         snc_bomb *out_bomb);
SEINE_MUST_CHECK seine_err snc_bomb_brotli(uint64_t size, sn_buf *out,
                                           snc_bomb *out_bomb);
SEINE_MUST_CHECK seine_err snc_bomb_zstd(uint64_t size, sn_buf *out, snc_bomb *out_bomb);

#endif
