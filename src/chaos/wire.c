/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/wire.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "chaos/arg.h"

#define DIGITS "0000000000"
#define LINES  4096                 /* bytes of lines in a chunk, or a little more */
#define AROUND 9                    /* framing of a chunk of lines */
#define MOST   (SNC_WIRE_ROOM - 16) /* bytes of lines at once */

enum { FOR_BYTES = 301 };

void
snc_wire_init(snc_wire *w, const sn_buf *text)
{
    *w = (snc_wire){.text = text};
}

void
snc_wire_fini(snc_wire *w)
{
    sn_free(w->kept);
    if (w->drop)
        w->drop(w->self);
    else
        sn_free(w->self);
    *w = (snc_wire){.count = 0};
}

static void
add_piece(snc_wire *w, snc_piece piece)
{
    if (piece.length > 0 && w->count < SNC_WIRE_PIECES)
        w->pieces[w->count++] = piece;
}

void
snc_wire_text(snc_wire *w, size_t from)
{
    add_piece(
        w,
        (snc_piece){.kind = SNC_PIECE_TEXT, .from = from, .length = w->text->len - from});
}

void
snc_wire_bytes(snc_wire *w, uint64_t seed, uint64_t length)
{
    add_piece(w, (snc_piece){.kind = SNC_PIECE_BYTES, .seed = seed, .length = length});
}

void
snc_wire_units(snc_wire *w, size_t from, uint64_t count)
{
    size_t unit = w->text->len - from;
    const char *digits = unit > 0 ? strstr(w->text->ptr + from, DIGITS) : NULL;

    add_piece(w, (snc_piece){.kind = SNC_PIECE_UNITS,
                             .from = from,
                             .unit = unit,
                             .number_at =
                                 digits ? (size_t)(digits - w->text->ptr) - from : unit,
                             .length = unit * count});
}

void
snc_wire_repeat(snc_wire *w, size_t from, size_t unit, uint64_t count)
{
    add_piece(w, (snc_piece){.kind = SNC_PIECE_UNITS,
                             .from = from,
                             .unit = unit,
                             .number_at = unit,
                             .length = unit * count});
}

void
snc_wire_lines(snc_wire *w, snc_wire_fn *fn, void (*drop)(void *self), void *give)
{
    w->lines = fn;
    w->drop = drop;
    w->self = give;
    add_piece(w, (snc_piece){.kind = SNC_PIECE_LINES, .length = SNC_WIRE_ENDLESS});
}

void
snc_wire_body(snc_wire *w, const snc_chunks *chunks)
{
    w->body = w->count;
    w->chunks = *chunks;
}

void
snc_wire_body_end(snc_wire *w)
{
    w->body_end = w->count;
    w->body_left = snc_wire_body_length(w);
    w->phase = w->chunks.on ? SNC_CHUNK_AT_SIZE : SNC_CHUNK_OVER;
}

void
snc_wire_move(snc_wire *w, snc_wire *give)
{
    for (unsigned i = 0; i < give->count; i++)
        add_piece(w, give->pieces[i]);
    if (give->self) {
        w->lines = give->lines;
        w->drop = give->drop;
        w->self = SN_STEAL(give->self);
        give->drop = NULL;
    }
    give->count = 0;
}

static uint64_t
sum_lengths(const snc_wire *w, unsigned from, unsigned end)
{
    uint64_t length = 0;

    for (unsigned i = from; i < end; i++)
        if (w->pieces[i].length == SNC_WIRE_ENDLESS)
            return SNC_WIRE_ENDLESS;
        else
            length += w->pieces[i].length;
    return length;
}

uint64_t
snc_wire_body_length(const snc_wire *w)
{
    return sum_lengths(w, w->body, w->body_end);
}

uint64_t
snc_wire_head_length(const snc_wire *w)
{
    return sum_lengths(w, 0, w->body);
}

static unsigned
hex_digits(uint64_t n)
{
    unsigned digits = 1;

    while (n >>= 4)
        digits++;
    return digits;
}

/* Bytes that chunking adds: a line before each chunk, CRLF behind, and the last chunk. */
static uint64_t
overhead(const snc_wire *w, uint64_t body)
{
    uint64_t size = w->chunks.size, whole = body / size, rest = body % size;
    uint64_t each = 4 + w->chunks.ext;

    return whole * (each + hex_digits(size)) + (rest > 0 ? each + hex_digits(rest) : 0) +
           3;
}

uint64_t
snc_wire_length(const snc_wire *w)
{
    uint64_t all = sum_lengths(w, 0, w->count);

    if (all == SNC_WIRE_ENDLESS || !w->chunks.on)
        return all;
    return all + overhead(w, snc_wire_body_length(w));
}

bool
snc_wire_keep(snc_wire *w)
{
    if (w->kept)
        return true;
    w->kept = sn_alloc(w->text->len + 1);
    if (!w->kept)
        return false;
    if (w->text->len > 0)
        memcpy(w->kept, w->text->ptr, w->text->len);
    w->text = NULL;
    return true;
}

void
snc_wire_fill(uint64_t seed, uint64_t at, char *out, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint64_t word = snc_mix(seed, (at + i) / 8, FOR_BYTES);
        size_t skip = (at + i) % 8, take = 8 - skip < n - i ? 8 - skip : n - i;

        memcpy(out + i, (const char *)&word + skip, take);
        i += take;
    }
}

static void
fill_units(const snc_piece *p, const char *unit, uint64_t at, char *out, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t skip = (size_t)((at + i) % p->unit);
        size_t take = p->unit - skip < n - i ? p->unit - skip : n - i;

        if (p->number_at == p->unit && i >= p->unit) { /* as many units again */
            size_t whole = i - i % p->unit;

            take = whole < n - i ? whole : n - i;
            memcpy(out + i, out + i - whole, take);
            i += take;
            continue;
        }
        memcpy(out + i, unit + skip, take);
        if (p->number_at < p->unit) {
            char number[16];

            snprintf(number, sizeof number, "%010u",
                     (unsigned)((at + i) / p->unit % 1000000000u));
            for (size_t k = 0; k < 10; k++)
                if (p->number_at + k >= skip && p->number_at + k < skip + take)
                    out[i + p->number_at + k - skip] = number[k];
        }
        i += take;
    }
}

/* Generates whole lines only; the caller comes back with more room. */
static size_t
read_lines(snc_wire *w, sn_buf *lines, char *out, size_t room)
{
    if (room < MOST)
        return 0;
    sn_buf_reset(lines);
    w->lines(w->self, lines, LINES);
    if (sn_buf_done(lines) != SEINE_OK || lines->len == 0 || lines->len > MOST) {
        w->at++;
        return 0;
    }
    memcpy(out, lines->ptr, lines->len);
    w->scarce = lines->len < LINES;
    return lines->len;
}

/* Reads from the current piece. */
static size_t
read_piece(snc_wire *w, char *out, size_t room)
{
    const snc_piece *p = &w->pieces[w->at];
    const char *text = w->kept ? w->kept : w->text->ptr;
    uint64_t left = p->length - w->done;
    size_t n = left < room ? (size_t)left : room;

    if (p->kind == SNC_PIECE_TEXT)
        memcpy(out, text + p->from + w->done, n);
    else if (p->kind == SNC_PIECE_BYTES)
        snc_wire_fill(p->seed, w->done, out, n);
    else
        fill_units(p, text + p->from, w->done, out, n);
    w->done += n;
    if (w->done == p->length) {
        w->at++;
        w->done = 0;
    }
    return n;
}

static size_t
read_body(snc_wire *w, char *out, size_t room)
{
    size_t n = 0;

    while (n < room && w->at < w->body_end)
        n += read_piece(w, out + n, room - n);
    return n;
}

static void
pend_text(snc_wire *w, const char *text)
{
    w->pending_at = 0;
    w->pending_len = (unsigned)strlen(text);
    memcpy(w->pending, text, w->pending_len);
}

/* Damage is done once, in the first chunk. */
static bool
spoil(snc_wire *w, snc_chunk_fault fault)
{
    if (w->chunks.fault != fault || w->spoiled)
        return false;
    return w->spoiled = true;
}

static void
pend_size(snc_wire *w)
{
    char size[24];

    snprintf(size, sizeof size, "%llx", (unsigned long long)w->chunk_left);
    if (spoil(w, SNC_CHUNK_SIZE))
        pend_text(w, "zz");
    else if (spoil(w, SNC_CHUNK_NEGATIVE))
        pend_text(w, "-5");
    else if (spoil(w, SNC_CHUNK_LONG))
        pend_text(w, "00000000000000001");
    else if (spoil(w, SNC_CHUNK_HUGE))
        pend_text(w, "8000000000000000");
    else if (!spoil(w, SNC_CHUNK_EMPTY))
        pend_text(w, size);
}

static void
begin_chunk(snc_wire *w)
{
    if (w->body_left == 0) {
        if (w->chunks.fault != SNC_CHUNK_NONE)
            pend_text(w, "0\r\n");
        w->phase = SNC_CHUNK_OVER;
        return;
    }
    w->chunk_left = w->body_left < w->chunks.size ? w->body_left : w->chunks.size;
    w->body_left -= w->chunk_left;
    pend_size(w);
    w->phase = SNC_CHUNK_AT_EXT;
}

static size_t
read_ext(snc_wire *w, char *out, size_t room)
{
    uint64_t left = w->chunks.ext - w->ext_done;
    size_t n = left < room ? (size_t)left : room;

    memset(out, 'e', n);
    if (w->ext_done == 0 && n > 0)
        out[0] = ';';
    w->ext_done += n;
    if (n == left) {
        w->ext_done = 0;
        w->phase = SNC_CHUNK_AT_EOL;
    }
    return n;
}

/* Lines have no known length: generates them, then puts them into a chunk. */
static size_t
read_line_chunk(snc_wire *w, sn_buf *lines, char *out, size_t room)
{
    if (room < MOST + AROUND)
        return 0;
    size_t n = read_lines(w, lines, out + 7, room - AROUND);
    if (n == 0) {
        pend_text(w, "0\r\n");
        w->phase = SNC_CHUNK_OVER;
        return 0;
    }
    for (int i = 0; i < 5; i++)
        out[i] = "0123456789abcdef"[n >> (16 - 4 * i) & 15];
    out[5] = out[7 + n] = '\r';
    out[6] = out[8 + n] = '\n';
    return n + AROUND;
}

static size_t
read_chunk(snc_wire *w, sn_buf *lines, char *out, size_t room)
{
    size_t n = 0;

    switch (w->phase) {
    case SNC_CHUNK_AT_SIZE:
        if (w->body_left == SNC_WIRE_ENDLESS)
            return read_line_chunk(w, lines, out, room);
        begin_chunk(w);
        break;
    case SNC_CHUNK_AT_EXT:
        return read_ext(w, out, room);
    case SNC_CHUNK_AT_EOL:
        pend_text(w, spoil(w, SNC_CHUNK_LF) ? "\n" : "\r\n");
        w->phase = SNC_CHUNK_AT_DATA;
        break;
    case SNC_CHUNK_AT_DATA:
        n = read_body(w, out, w->chunk_left < room ? (size_t)w->chunk_left : room);
        w->chunk_left -= n;
        if (w->chunk_left == 0)
            w->phase = SNC_CHUNK_AT_END;
        break;
    default:
        pend_text(w, spoil(w, SNC_CHUNK_END) ? "" : "\r\n");
        w->phase = SNC_CHUNK_AT_SIZE;
    }
    return n;
}

static size_t
read_pending(snc_wire *w, char *out, size_t room)
{
    size_t left = w->pending_len - w->pending_at, n = left < room ? left : room;

    memcpy(out, w->pending + w->pending_at, n);
    w->pending_at += (unsigned)n;
    return n;
}

/* Is the next byte part of a chunk? */
static bool
in_chunks(const snc_wire *w)
{
    return w->chunks.on && w->phase != SNC_CHUNK_OVER && w->at >= w->body;
}

size_t
snc_wire_read(snc_wire *w, sn_buf *lines, char *out, size_t room)
{
    size_t n = 0;

    w->scarce = false;
    while (n < room && !w->scarce) {
        unsigned at = w->at;
        int phase = (int)w->phase;
        size_t got;

        if (w->pending_at < w->pending_len)
            got = read_pending(w, out + n, room - n);
        else if (in_chunks(w))
            got = read_chunk(w, lines, out + n, room - n);
        else if (w->at == w->count)
            break;
        else if (w->pieces[w->at].kind == SNC_PIECE_LINES)
            got = read_lines(w, lines, out + n, room - n);
        else
            got = read_piece(w, out + n, room - n);
        if (got == 0 && at == w->at && phase == (int)w->phase)
            break; /* the lines need more room than is left */
        n += got;
    }
    return n;
}
