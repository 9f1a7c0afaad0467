/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/h1_parts.h"

#define SIZE_DIGITS 16
#define EXT_LINE    4096
#define EXT_ALL     65536

/* Takes at most `n` bytes of the input. */
static sn_str
take_bytes(sn_str *in, uint64_t n)
{
    sn_str piece = {in->ptr, n < in->len ? (size_t)n : in->len};

    in->ptr += piece.len;
    in->len -= piece.len;
    return piece;
}

static sn_h1_step
at_body(sn_h1 *h, sn_str *in, sn_str *out_piece)
{
    if (h->framing == SN_H1_NO_BODY || (h->framing == SN_H1_LENGTH && h->left == 0))
        return SN_H1_WHOLE;
    if (in->len == 0)
        return SN_H1_WANT;
    if (h->framing == SN_H1_UNTIL_CLOSE) {
        *out_piece = take_bytes(in, in->len);
    } else {
        *out_piece = take_bytes(in, h->left);
        h->left -= out_piece->len;
    }
    return SN_H1_PIECE;
}

/* Prepares for the next chunk. */
static void
expect_size(sn_h1 *h)
{
    h->state = SN_H1_AT_SIZE;
    h->left = 0;
    h->at = 0;
    h->ext_line = 0;
}

/* Reads a byte of a chunk's size line, or of the line end after its data. */
static bool
read_size(sn_h1 *h, char c)
{
    int digit = sn_hex_digit(c);

    if (h->state == SN_H1_AT_SIZE && digit >= 0) {
        h->left = h->left << 4 | (unsigned)digit;
        return ++h->at <= SIZE_DIGITS && h->left <= INT64_MAX;
    }
    if (h->at == 0)
        return false;
    if (c == '\r' && h->state != SN_H1_AT_BLANK) {
        h->state = SN_H1_AT_SIZE_LF;
        return true;
    }
    if (h->state != SN_H1_AT_EXTENSION) { /* blanks are allowed before a semicolon only */
        if (c != ';' && c != ' ' && c != '\t')
            return false;
        h->state = c == ';' ? SN_H1_AT_EXTENSION : SN_H1_AT_BLANK;
    }
    return c != '\n' && ++h->ext_line <= EXT_LINE && ++h->ext_all <= EXT_ALL;
}

static sn_h1_step
at_size(sn_h1 *h, sn_str *in)
{
    while (in->len > 0 && h->state < SN_H1_AT_SIZE_LF)
        if (!read_size(h, *take_bytes(in, 1).ptr))
            return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    if (in->len == 0)
        return SN_H1_WANT;
    if (*take_bytes(in, 1).ptr != '\n')
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    h->state = h->left > 0 ? SN_H1_AT_DATA : SN_H1_AT_TRAILER;
    h->line = 0;
    return SN_H1_GO;
}

static sn_h1_step
at_data(sn_h1 *h, sn_str *in, sn_str *out_piece)
{
    if (in->len == 0)
        return SN_H1_WANT;
    *out_piece = take_bytes(in, h->left);
    h->left -= out_piece->len;
    if (h->left == 0)
        h->state = SN_H1_AT_DATA_CR;
    return SN_H1_PIECE;
}

static sn_h1_step
at_data_end(sn_h1 *h, sn_str *in)
{
    while (in->len > 0) {
        char c = *take_bytes(in, 1).ptr;

        if (c != (h->state == SN_H1_AT_DATA_CR ? '\r' : '\n'))
            return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
        if (h->state == SN_H1_AT_DATA_LF) {
            expect_size(h);
            return SN_H1_GO;
        }
        h->state = SN_H1_AT_DATA_LF;
    }
    return SN_H1_WANT;
}

/* Reads a byte of the trailers. They are dropped, but the limits of a head apply, and
 * their lines must end in CRLF, so that the end is unambiguous. */
static seine_err
read_trailer(sn_h1 *h, char c)
{
    const sn_h1_limits *limits = sn_h1_limits_of(h);

    if (++h->head_bytes > limits->head_bytes)
        return SEINE_E_HEADER_TOO_LARGE;
    switch (h->state) {
    case SN_H1_AT_TRAILER:
        if (c == '\r') {
            h->state = SN_H1_AT_LAST_LF;
            return SEINE_OK;
        }
        if (++h->n_trailers > limits->head_fields)
            return SEINE_E_HEADER_TOO_LARGE;
        h->state = SN_H1_AT_TRAILER_LINE;
        h->line = 0;
        break;
    case SN_H1_AT_TRAILER_LINE:
        break;
    default: /* after a CR */
        h->state = h->state == SN_H1_AT_LAST_LF ? SN_H1_AT_END : SN_H1_AT_TRAILER;
        return c == '\n' ? SEINE_OK : SEINE_E_BAD_FRAMING;
    }
    if (c == '\r') {
        h->state = SN_H1_AT_TRAILER_LF;
        return SEINE_OK;
    }
    if (c == '\n')
        return SEINE_E_BAD_FRAMING;
    if (c == '\0')
        return SEINE_E_BAD_HEADER;
    return ++h->line > limits->line_bytes ? SEINE_E_HEADER_TOO_LARGE : SEINE_OK;
}

static sn_h1_step
at_trailer(sn_h1 *h, sn_str *in)
{
    while (in->len > 0) {
        seine_err e = read_trailer(h, *take_bytes(in, 1).ptr);

        if (e != SEINE_OK)
            return sn_h1_wrong(h, e);
        if (h->state == SN_H1_AT_END)
            return SN_H1_WHOLE;
    }
    return SN_H1_WANT;
}

sn_h1_step
sn_h1_body_step(sn_h1 *h, sn_str *in, sn_str *out_piece)
{
    sn_h1_step step = SN_H1_GO;
    size_t before = in->len;

    while (step == SN_H1_GO) {
        if (h->state == SN_H1_AT_BODY)
            step = at_body(h, in, out_piece);
        else if (h->state <= SN_H1_AT_SIZE_LF)
            step = at_size(h, in);
        else if (h->state == SN_H1_AT_DATA)
            step = at_data(h, in, out_piece);
        else if (h->state <= SN_H1_AT_DATA_LF)
            step = at_data_end(h, in);
        else
            step = at_trailer(h, in);
    }
    h->steps += before - in->len;
    return step;
}
