/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the bytes of a response, made while they are sent.
 *
 * A response is a few pieces one behind the other: texts, bytes that follow from a
 * seed, a unit repeated so many times, or lines somebody makes. All of them are
 * made at the moment they are read, so that a petabyte takes no more memory than
 * a line. Pieces between snc_wire_body and snc_wire_body_end are the body; they may
 * go in chunks:
 *
 *     snc_wire w;
 *     snc_wire_init(&w, &text);
 *     snc_wire_text(&w, from);              what was added to `text` since
 *     snc_wire_body(&w, &chunks);
 *     snc_wire_bytes(&w, seed, 1 << 30);
 *     snc_wire_body_end(&w);
 *     while ((n = snc_wire_read(&w, &lines, out, sizeof out)) > 0)
 *         send(out, n);
 *     snc_wire_fini(&w);
 *
 * Time    plays no part.
 * Memory  texts lie in the caller's buffer until snc_wire_keep copies them.
 * Threads one owner.
 */
#ifndef SNC_WIRE_H
#define SNC_WIRE_H

#include "base/buf.h"
#include "chaos/plan.h"

#define SNC_WIRE_PIECES  20
#define SNC_WIRE_ROOM    16400      /* the least room of a read */
#define SNC_WIRE_ENDLESS UINT64_MAX /* a length nobody knows */

/* Adds lines, `want` bytes or a little more; nothing when there are no more. */
typedef void snc_wire_fn(void *self, sn_buf *out, size_t want);

typedef struct snc_piece {
    enum { SNC_PIECE_TEXT, SNC_PIECE_BYTES, SNC_PIECE_UNITS, SNC_PIECE_LINES } kind;
    uint64_t length;
    size_t from;      /* its text, or the unit's */
    size_t unit;      /* bytes of the unit */
    size_t number_at; /* where its ten digits stand; no place in it: none */
    uint64_t seed;
} snc_piece;

typedef struct snc_chunks {
    bool on;
    snc_chunk_evil evil;
    uint64_t size, ext;
} snc_chunks;

typedef struct snc_wire {
    const sn_buf *text; /* borrowed, until it is kept */
    char *kept;
    snc_piece pieces[SNC_WIRE_PIECES];
    unsigned count, at;
    unsigned body, body_end; /* pieces of the body */
    uint64_t done;           /* of the piece that is being read */

    snc_chunks chunks;
    enum {
        SNC_CHUNK_AT_SIZE,
        SNC_CHUNK_AT_EXT,
        SNC_CHUNK_AT_EOL,
        SNC_CHUNK_AT_DATA,
        SNC_CHUNK_AT_END,
        SNC_CHUNK_OVER
    } phase;
    uint64_t chunk_left, body_left, ext_done;
    bool spoiled; /* the evil chunk has gone out */
    char pending[32];
    unsigned pending_at, pending_len;

    snc_wire_fn *lines;
    void (*drop)(void *self); /* with the wire */
    void *self;
} snc_wire;

void snc_wire_init(snc_wire *w, const sn_buf *text);
void snc_wire_fini(snc_wire *w);

/* Pieces that would be empty are left out. */
void snc_wire_text(snc_wire *w, size_t from);
void snc_wire_bytes(snc_wire *w, uint64_t seed, uint64_t length);

/* What was added to the text since `from`, `count` times. A run of ten zeros in it
 * is replaced by the number of the repetition, from 0. */
void snc_wire_units(snc_wire *w, size_t from, uint64_t count);

/* The same without looking for digits, of `unit` bytes from there. */
void snc_wire_repeat(snc_wire *w, size_t from, size_t unit, uint64_t count);

/* Lines that `fn` makes; `drop` ends what was given with the wire, NULL frees it. */
void snc_wire_lines(snc_wire *w, snc_wire_fn *fn, void (*drop)(void *self), void *give);

void snc_wire_body(snc_wire *w, const snc_chunks *chunks);
void snc_wire_body_end(snc_wire *w);

/* Moves all pieces of another wire on the same text to the end of this one. */
void snc_wire_move(snc_wire *w, snc_wire *give);

/* Of the pieces of the body, before they are put into chunks. */
uint64_t snc_wire_body_length(const snc_wire *w);

/* Of everything, and of everything before the body. */
uint64_t snc_wire_length(const snc_wire *w);
uint64_t snc_wire_head_length(const snc_wire *w);

/* Copies the texts, so that the buffer may be used for something else. False: no
 * memory. */
bool snc_wire_keep(snc_wire *w);

/* The next bytes; 0: that was all. `lines` is for whoever makes lines. */
size_t snc_wire_read(snc_wire *w, sn_buf *lines, char *out, size_t room);

/* Bytes `at` … of the endless stream that a seed stands for. */
void snc_wire_fill(uint64_t seed, uint64_t at, char *out, size_t n);

#endif
