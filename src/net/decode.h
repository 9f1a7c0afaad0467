/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - decode the Content-Encoding of a body, with limits against decompression
 * bombs.
 *
 * Content-Encoding names codings in the order in which the server applied them: gzip,
 * x-gzip, deflate (with or without zlib header), br, zstd; at most two; identity means
 * none, and so do words that some servers put there by mistake, like utf-8. The decoder
 * undoes them backwards, in steps of at most 64 KiB:
 *
 *     sn_decode_init(&d, scratch, &held);
 *     e = sn_codings_add(&codings, value);             once for each field
 *     e = sn_decode_begin(&d, &codings, &SN_DECODE_LIMITS);
 *     while ((event = sn_decode_next(&d, &in, &piece)) == SN_DECODE_BODY)
 *         keep(piece);                                 stop whenever you like
 *     if (event == SN_DECODE_MORE && no_more_comes)
 *         e = sn_decode_end(&d);
 *
 * Our own counters, not the libraries', stop bombs: the output of a coding is at most
 * max_body, and above `ratio_from` at most `ratio` times its input. A larger body yields
 * exactly max_body bytes. A body is complete only if every coding reached its end mark
 * with correct checksum and length.
 *
 * Time    plays no part.
 * Memory  reserved from the budget when the first byte comes; at most 512 KiB stay for
 *         the next body. Pieces are views of the scratch, or of the input if there is no
 *         coding.
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
    SN_DECODE_STEP = 64 << 10,    /* size of the scratch */
    SN_DECODE_BETWEEN = 16 << 10, /* buffer between two codings */
    SN_DECODE_FURTHER = 1024      /* gzip members and zstd frames after the first */
};

typedef enum sn_coding {
    SN_CODING_GZIP,
    SN_CODING_DEFLATE,
    SN_CODING_BR,
    SN_CODING_ZSTD
} sn_coding;

/* In the order of the fields. All zero: no coding. */
typedef struct sn_codings {
    uint8_t n;
    bool is_odd;                    /* a word that is no coding was passed over */
    uint8_t list[SN_DECODE_STAGES]; /* sn_coding */
} sn_codings;

/* Adds the codings of one field. BAD_ENCODING: an unknown one, or too many; the list is
 * then unchanged. */
SEINE_MUST_CHECK seine_err sn_codings_add(sn_codings *codings, sn_str value);

typedef struct sn_decode_limits {
    uint64_t max_body;
    uint64_t ratio, ratio_from; /* output : input, checked above so much output; 0: any */
} sn_decode_limits;

#define SN_DECODE_LIMITS ((sn_decode_limits){16 << 20, 200, 1 << 20})

typedef struct sn_stage {
    sn_codec codec;
    sn_coding coding;
    enum { SN_STAGE_BEFORE, SN_STAGE_INSIDE, SN_STAGE_BEHIND } at; /* of a stream */
    bool has_more;       /* has output without further input */
    uint8_t n_peek, fed; /* bytes read to detect the format; of them, decoded */
    char peek[4];
    uint32_t streams; /* begun */
    uint64_t in, out;
} sn_stage;

typedef struct sn_decode {
    sn_stage stages[SN_DECODE_STAGES]; /* in order of decoding: the last coding first */
    uint8_t n;
    seine_err err, late; /* late: of the first stage, reported after its output */
    bool is_bomb;        /* BODY_TOO_LARGE because of its ratio */
    uint32_t notes;      /* SN_NOTE_TRAILING_BYTES */
    sn_decode_limits limits;
    uint64_t passed; /* bytes that had no coding */
    char *scratch;
    char *between;  /* between two stages; NULL: never needed */
    sn_str waiting; /* the rest of it */
    size_t work;    /* bytes that the last step made, those between stages included */
    seine_held *held;
    sn_codec_gate gate;
} sn_decode;

/* Borrows a scratch of SN_DECODE_STEP bytes, and `held`; NULL: no budget. Allocates
 * nothing. */
void sn_decode_init(sn_decode *d, char *scratch, seine_held *held);
void sn_decode_fini(sn_decode *d);

/* Starts a new body, whatever the state of the last one. BUDGET, NOMEM. */
SEINE_MUST_CHECK seine_err sn_decode_begin(sn_decode *d, const sn_codings *codings,
                                           const sn_decode_limits *limits);

typedef enum sn_decode_event {
    SN_DECODE_MORE, /* all of `in` was taken and decoded */
    SN_DECODE_BODY, /* a piece; of two codings it may be empty: nothing to show yet */
    SN_DECODE_FAIL  /* d->err: BODY_TOO_LARGE, BAD_ENCODING, BUDGET, NOMEM; permanent */
} sn_decode_event;

/* One step. */
sn_decode_event sn_decode_next(sn_decode *d, sn_str *in, sn_str *out_piece);

/* Decodes all of `in`. CANCELED: `fn` returned false. */
SEINE_MUST_CHECK seine_err sn_decode_feed(sn_decode *d, sn_str in,
                                          bool (*fn)(sn_str piece, void *arg), void *arg);

/* Ends the body after all input was taken: OK, the error, or BODY_TRUNCATED. An empty
 * body is complete. Frees memory beyond what may be kept. */
SEINE_MUST_CHECK seine_err sn_decode_end(sn_decode *d);

#endif
