/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - the body as it was before the server packed it, and never more of it
 * than was agreed.
 *
 * Content-Encoding names codings in the order in which they were applied: gzip,
 * x-gzip, deflate (with the head of zlib, else without), br, zstd; at most two;
 * identity is none. The body passes through them backwards, in steps of at most 64 KiB:
 *
 *     sn_decode_init(&d, scratch, &held);
 *     e = sn_codings_add(&codings, value);             once for each field
 *     e = sn_decode_begin(&d, &codings, &SN_DECODE_LIMITS);
 *     while ((event = sn_decode_next(&d, &in, &piece)) == SN_DECODE_BODY)
 *         keep(piece);                                 stop whenever you like
 *     if (event == SN_DECODE_MORE && no_more_comes)
 *         e = sn_decode_end(&d);
 *
 * Our own counters, not the libraries', stop bombs: what a coding puts out is at most
 * max_body, and at most 200 times what it took in once that is more than 1 MiB.
 * Exactly max_body bytes come out of a body that is larger. A body is whole only when
 * every coding reached its own end mark with checksum and length right.
 *
 * Time    plays no part.
 * Memory  reserved from the budget before it is allocated, when the first byte comes;
 *         at most 512 KiB stay for the next body. Pieces are views of the scratch, or
 *         of the input where there is no coding.
 * Threads one owner. Decoders of one thread may share their scratch: a piece is valid
 *         until the next step of any of them. A decoder must not be moved.
 */
#ifndef SN_DECODE_H
#define SN_DECODE_H

#include "base/codec.h"
#include "net/note.h"
#include "seine/budget.h"

enum {
    SN_DECODE_STAGES = 2,
    SN_DECODE_STEP = 64 << 10,    /* bytes of the scratch */
    SN_DECODE_BETWEEN = 16 << 10, /* from one coding to the next */
    SN_DECODE_FURTHER = 1024      /* gzip members and zstd frames behind the first */
};

typedef enum sn_coding {
    SN_CODING_GZIP,
    SN_CODING_DEFLATE,
    SN_CODING_BR,
    SN_CODING_ZSTD
} sn_coding;

/* As the fields name them. All zero: none, the body is what it is. */
typedef struct sn_codings {
    uint8_t n;
    uint8_t list[SN_DECODE_STAGES]; /* sn_coding */
} sn_codings;

/* Adds what one field says. BAD_ENCODING: one that is unknown, or too many; then
 * the list is as it was. */
SEINE_MUST_CHECK seine_err sn_codings_add(sn_codings *codings, sn_str value);

typedef struct sn_decode_limits {
    uint64_t max_body;
    uint64_t ratio, ratio_from; /* out : in, looked at above so many bytes out */
} sn_decode_limits;

#define SN_DECODE_LIMITS ((sn_decode_limits){16 << 20, 200, 1 << 20})

typedef struct sn_stage {
    sn_codec codec;
    sn_coding coding;
    enum { SN_STAGE_BEFORE, SN_STAGE_INSIDE, SN_STAGE_BEHIND } at; /* of a stream */
    bool has_more;       /* to say, without further input */
    uint8_t n_peek, fed; /* bytes that told what begins; of them, decoded */
    char peek[4];
    uint32_t streams; /* begun */
    uint64_t in, out;
} sn_stage;

typedef struct sn_decode {
    sn_stage stages[SN_DECODE_STAGES]; /* the last coding first */
    uint8_t n;
    seine_err err, late; /* late: of the first stage, told behind what it made before */
    uint32_t notes;      /* SN_NOTE_TRAILING_BYTES */
    sn_decode_limits limits;
    uint64_t passed; /* bytes without a coding */
    char *scratch;
    char *between;  /* of two stages; NULL: never needed */
    sn_str waiting; /* what is left of it */
    seine_held *held;
    sn_codec_gate gate;
} sn_decode;

/* Borrows a scratch of SN_DECODE_STEP bytes, and `held`, which may be NULL: no budget.
 * Takes no memory. */
void sn_decode_init(sn_decode *d, char *scratch, seine_held *held);
void sn_decode_fini(sn_decode *d);

/* A new body, wherever the one before stood. BUDGET, NOMEM. */
SEINE_MUST_CHECK seine_err sn_decode_begin(sn_decode *d, const sn_codings *codings,
                                           const sn_decode_limits *limits);

typedef enum sn_decode_event {
    SN_DECODE_MORE, /* all of `in` was taken and said */
    SN_DECODE_BODY, /* a piece, not empty */
    SN_DECODE_FAIL  /* d->err: BODY_TOO_LARGE, BAD_ENCODING, BUDGET, NOMEM; it stays */
} sn_decode_event;

/* One step. */
sn_decode_event sn_decode_next(sn_decode *d, sn_str *in, sn_str *out_piece);

/* All steps of `in` at once. CANCELED: `fn` said false. */
SEINE_MUST_CHECK seine_err sn_decode_feed(sn_decode *d, sn_str in,
                                          bool (*fn)(sn_str piece, void *arg), void *arg);

/* The last byte of the body has come and everything was taken: OK, why it failed, or
 * BODY_TRUNCATED. No byte at all is a whole body. Gives back memory beyond what is
 * kept. */
SEINE_MUST_CHECK seine_err sn_decode_end(sn_decode *d);

#endif
