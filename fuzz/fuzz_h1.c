/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One byte of what was asked and how the connection ends, two of a seed for the
 * pieces, then the response. The same bytes in one piece, in two random splits and
 * byte by byte give the same events; work is linear; nothing that was cut is done.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "net/h1.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* How the bytes are cut. */
enum { WHOLE, SINGLE, SMALL, LARGE, CUTS };

typedef struct reading {
    sn_h1 h;
    sn_head head;
    sn_buf log; /* of events and what came with them */
    sn_h1_event last;
    size_t taken;
    uint64_t body;
    bool has_head;
} reading;

static void
log_head(reading *r)
{
    sn_str again;

    REQUIRE(!r->has_head && r->body == 0);
    r->has_head = true;
    REQUIRE(r->head.status >= 200 && r->head.status <= 999 && r->head.minor <= 1);
    sn_buf_printf(&r->log, "%u %u %d %llu ", r->head.status, r->head.minor,
                  (int)r->h.framing, (unsigned long long)r->h.length);
    sn_buf_str(&r->log, sn_head_reason(&r->head));
    for (uint32_t i = 0; i < r->head.n_fields; i++) {
        sn_field f = sn_head_field_of(&r->head, i);

        REQUIRE(sn_h1_is_name(f.name) && sn_head_get(&r->head, f.name, &again));
        REQUIRE(!memchr(f.value.ptr, '\0', f.value.len));
        REQUIRE(!memchr(f.value.ptr, '\r', f.value.len));
        REQUIRE(!memchr(f.value.ptr, '\n', f.value.len));
        sn_buf_str(&r->log, f.name);
        sn_buf_char(&r->log, '=');
        sn_buf_str(&r->log, f.value);
        sn_buf_char(&r->log, '\n');
    }
}

/* From memory that ends where the piece does. */
static void
feed(reading *r, const uint8_t *bytes, size_t n)
{
    char *copy = malloc(n ? n : 1);
    sn_str in = {copy, n}, piece = {0};

    REQUIRE(copy);
    if (n > 0)
        memcpy(copy, bytes, n);
    do {
        size_t before = in.len;

        r->last = sn_h1_next(&r->h, &in, &piece);
        REQUIRE(in.len <= before && in.ptr + in.len == copy + n);
        r->taken += before - in.len;
        if (r->last == SN_H1_HEAD)
            log_head(r);
        if (r->last == SN_H1_BODY) {
            REQUIRE(r->has_head && piece.len > 0);
            REQUIRE(piece.ptr >= copy && piece.ptr + piece.len <= copy + n);
            r->body += piece.len;
            sn_buf_str(&r->log, piece);
        }
    } while (r->last == SN_H1_HEAD || r->last == SN_H1_BODY);
    REQUIRE(r->last != SN_H1_MORE || in.len == 0);
    free(copy);
}

static size_t
next_piece(sn_rng *rng, int cut, size_t left)
{
    size_t n = cut == WHOLE    ? left
               : cut == SINGLE ? 1
                               : sn_rng_below(rng, cut == SMALL ? 9 : 700);

    return n < left ? n : left;
}

static void
read_all(reading *r, const sn_h1_ask *ask, int cut, uint64_t seed, const uint8_t *bytes,
         size_t n)
{
    sn_rng rng = sn_rng_seed(seed);

    memset(r, 0, sizeof *r);
    sn_buf_init(&r->log, 64 << 20);
    sn_head_init(&r->head, NULL);
    sn_h1_begin(&r->h, &r->head, ask);
    for (size_t at = 0; at < n;) {
        size_t piece = next_piece(&rng, cut, n - at);

        feed(r, bytes + at, piece);
        at += piece;
    }
    REQUIRE(r->h.steps <= 16 * n + 4096);
    REQUIRE(sn_h1_has_begun(&r->h) || n == 0);
}

/* DONE only where the framing says so; FAIL only with a kind of this reader. */
static void
check_end(reading *r, bool by_eof)
{
    sn_str none = {0}, piece;
    seine_err e = r->h.err;

    if (r->last == SN_H1_DONE) {
        REQUIRE(r->has_head && e == SEINE_OK);
        REQUIRE(r->h.framing != SN_H1_LENGTH || r->body == r->h.length);
        REQUIRE(r->h.framing != SN_H1_NO_BODY || r->body == 0);
        REQUIRE(r->h.framing != SN_H1_UNTIL_CLOSE || by_eof);
        REQUIRE(!sn_h1_is_reusable(&r->h) || !by_eof);
    } else {
        REQUIRE(r->last == SN_H1_FAIL && !sn_h1_is_reusable(&r->h));
        REQUIRE(e == SEINE_E_BAD_STATUS_LINE || e == SEINE_E_BAD_HEADER ||
                e == SEINE_E_BAD_FRAMING || e == SEINE_E_HEADER_TOO_LARGE ||
                e == SEINE_E_TOO_MANY_INTERIM || e == SEINE_E_UNEXPECTED_304 ||
                e == SEINE_E_UNEXPECTED_206 || e == SEINE_E_CONN_RESET ||
                e == SEINE_E_HEADER_TRUNCATED || e == SEINE_E_BODY_TRUNCATED);
    }
    REQUIRE(sn_h1_next(&r->h, &none, &piece) == r->last); /* and it stays so */
}

static void
finish(reading *r, bool in_order)
{
    bool by_eof = r->last == SN_H1_MORE;

    if (by_eof) {
        seine_err e = in_order ? sn_h1_eof(&r->h) : sn_h1_lost(&r->h);

        REQUIRE(e == r->h.err);
        r->last = e == SEINE_OK ? SN_H1_DONE : SN_H1_FAIL;
        REQUIRE(e != SEINE_OK || (in_order && r->h.framing == SN_H1_UNTIL_CLOSE));
    }
    check_end(r, by_eof);
    sn_buf_printf(&r->log, "\n%d %d %x %u %u %d %u", (int)r->last, (int)r->h.err,
                  r->h.notes, r->h.odd_headers, r->h.keep_alive_s,
                  sn_h1_is_reusable(&r->h), r->h.n_interim);
    if (r->last == SN_H1_DONE)
        sn_buf_printf(&r->log, " %zu", r->taken);
    REQUIRE(sn_buf_done(&r->log) == SEINE_OK);
}

static void
reading_fini(reading *r)
{
    sn_buf_fini(&r->log);
    sn_head_fini(&r->head);
}

/* What is complete is not complete one byte, or any number of bytes, before. */
static void
check_cut(const sn_h1_ask *ask, uint64_t seed, const uint8_t *bytes, const reading *whole)
{
    sn_rng rng = sn_rng_seed(seed);
    size_t cuts[] = {whole->taken - 1, sn_rng_below(&rng, whole->taken)};
    reading r;

    for (size_t i = 0; i < 2; i++)
        for (int in_order = 0; in_order < 2; in_order++) {
            read_all(&r, ask, LARGE, seed, bytes, cuts[i]);
            REQUIRE(r.last != SN_H1_DONE);
            r.last = cuts[i] == 0 ? SN_H1_MORE : r.last;
            finish(&r, in_order);
            reading_fini(&r);
        }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const sn_h1_limits tight = {200, 600, 8};

    if (n < 3)
        return 0;
    sn_h1_ask ask = {.head_only = bytes[0] & 1,
                     .tunnel = bytes[0] & 2,
                     .conditional = bytes[0] & 4,
                     .range = bytes[0] & 8,
                     .limits = bytes[0] & 16 ? &tight : NULL};
    bool in_order = !(bytes[0] & 32);
    uint64_t seed = (uint64_t)bytes[1] << 8 | bytes[2];
    reading whole, r;

    bytes += 3;
    n -= 3;
    read_all(&whole, &ask, WHOLE, seed, bytes, n);
    whole.last = n == 0 ? SN_H1_MORE : whole.last;
    finish(&whole, in_order);
    for (int cut = SINGLE; cut < CUTS; cut++) {
        read_all(&r, &ask, cut, seed, bytes, n);
        r.last = n == 0 ? SN_H1_MORE : r.last;
        finish(&r, in_order);
        REQUIRE(sn_str_eq(sn_buf_view(&whole.log), sn_buf_view(&r.log)));
        reading_fini(&r);
    }
    if (whole.last == SN_H1_DONE)
        check_cut(&ask, seed, bytes, &whole);
    reading_fini(&whole);
    return 0;
}
