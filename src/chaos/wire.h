/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the bytes of a response, generated while they are sent.
 *
 * A response is a sequence of pieces: texts, bytes that follow from a seed, a unit that
 * is repeated, or lines that a function makes. Each piece is generated when it is read,
 * so a petabyte takes no more memory than a line. Pieces between snc_wire_body and
 * snc_wire_body_end are the body, which may go in chunks:
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
#define SNC_WIRE_ROOM    16400      /* the smallest buffer for a read */
#define SNC_WIRE_ENDLESS UINT64_MAX /* an unknown length */

/* Adds lines, `want` bytes or a little more; nothing at the end. */
typedef void snc_wire_fn(void *self, sn_buf *out, size_t want);

typedef struct snc_piece {
    enum { SNC_PIECE_TEXT, SNC_PIECE_BYTES, SNC_PIECE_UNITS, SNC_PIECE_LINES } kind;
    uint64_t length;
    size_t from;      /* start of its text or unit */
    size_t unit;      /* bytes of the unit */
    size_t number_at; /* offset of its ten digits; beyond the unit: none */
    uint64_t seed;
} snc_piece;

typedef struct snc_chunks {
    bool on;
    snc_chunk_fault fault;
    uint64_t size, ext;
} snc_chunks;

typedef struct snc_wire {
    const sn_buf *text; /* borrowed, until snc_wire_keep */
    char *kept;
    snc_piece pieces[SNC_WIRE_PIECES];
    unsigned count, at;
    unsigned body, body_end; /* pieces of the body */
    uint64_t done;           /* bytes read of the current piece */

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
    bool spoiled; /* the damaged chunk has gone out */
    char pending[32];
    unsigned pending_at, pending_len;

    snc_wire_fn *lines;
    void (*drop)(void *self); /* called when the wire ends */
    void *self;
    bool scarce; /* the last read ended with fewer lines than were wanted */
} snc_wire;

void snc_wire_init(snc_wire *w, const sn_buf *text);
void snc_wire_fini(snc_wire *w);

/* Empty pieces are left out. */
void snc_wire_text(snc_wire *w, size_t from);
void snc_wire_bytes(snc_wire *w, uint64_t seed, uint64_t length);

/* Repeats the text since `from` `count` times. Ten zeros in a row become the number of
 * the repetition, from 0. */
void snc_wire_units(snc_wire *w, size_t from, uint64_t count);

/* Repeats `unit` bytes from there, without a number. */
void snc_wire_repeat(snc_wire *w, size_t from, size_t unit, uint64_t count);

/* Adds lines that `fn` makes. `drop` frees `give` when the wire ends; NULL: sn_free. */
void snc_wire_lines(snc_wire *w, snc_wire_fn *fn, void (*drop)(void *self), void *give);

void snc_wire_body(snc_wire *w, const snc_chunks *chunks);
void snc_wire_body_end(snc_wire *w);

/* Moves all pieces of another wire on the same text to the end of this one. */
void snc_wire_move(snc_wire *w, snc_wire *give);

/* Length of the body before chunking. */
uint64_t snc_wire_body_length(const snc_wire *w);

/* Length of everything, and of everything before the body. */
uint64_t snc_wire_length(const snc_wire *w);
uint64_t snc_wire_head_length(const snc_wire *w);

/* Copies the texts, so that the buffer may be reused. False: no memory. */
bool snc_wire_keep(snc_wire *w);

/* The next bytes; 0: the end. `lines` is a buffer for lines that are generated. Lines
 * that come scarcely may each be the work of MiB, so a read ends with them. */
size_t snc_wire_read(snc_wire *w, sn_buf *lines, char *out, size_t room);

/* Writes bytes from `at` on of the endless stream of a seed. */
void snc_wire_fill(uint64_t seed, uint64_t at, char *out, size_t n);

#endif
