/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/request_body.h"

#define SPENT 16384 /* bytes of extensions and trailers one body may have */

snc_request_body
snc_request_body_of(const snc_request *req)
{
    snc_request_body in = {.state = SNC_BODY_DONE};

    if (req->chunked)
        in.state = SNC_BODY_SIZE;
    else if (req->length > 0)
        in = (snc_request_body){.state = SNC_BODY_LENGTH, .left = req->length};
    return in;
}

static snc_parsed
bad_body(snc_request_body *in, const char *why)
{
    in->why = why;
    return SNC_PARSED_BAD;
}

/* The end of a size line: data follow, or trailers behind the last chunk. */
static void
size_done(snc_request_body *in)
{
    in->state = in->left > 0 ? SNC_BODY_DATA : SNC_BODY_TRAILER;
    in->digits = 0;
    in->cr = false;
    in->blank = true;
}

/* The byte behind the carriage return. */
static snc_parsed
size_end(snc_request_body *in, char c)
{
    if (c != '\n')
        return bad_body(in, "chunk size line without CRLF");
    size_done(in);
    return SNC_PARSED_MORE;
}

static snc_parsed
size_byte(snc_request_body *in, char c)
{
    int digit = sn_hex_digit(c);

    if (in->cr)
        return size_end(in, c);
    if (digit >= 0) {
        if (++in->digits > 15)
            return bad_body(in, "chunk size is too large");
        in->left = in->left << 4 | (uint64_t)digit;
        return SNC_PARSED_MORE;
    }
    if (in->digits == 0)
        return bad_body(in, "chunk without a size");
    if (c == '\r')
        in->cr = true;
    else if (c == ';' || c == ' ' || c == '\t')
        in->state = SNC_BODY_EXT;
    else
        return bad_body(in, "chunk size is no number");
    return SNC_PARSED_MORE;
}

static snc_parsed
ext_byte(snc_request_body *in, char c)
{
    if (in->cr)
        return size_end(in, c);
    if (++in->spent > SPENT)
        return bad_body(in, "chunk extensions are too large");
    if (c == '\n')
        return bad_body(in, "chunk size line without CRLF");
    in->cr = c == '\r';
    return SNC_PARSED_MORE;
}

/* The CRLF behind the data of a chunk. */
static snc_parsed
data_end_byte(snc_request_body *in, char c)
{
    if (c != (in->cr ? '\n' : '\r'))
        return bad_body(in, "chunk data without CRLF");
    if (in->cr)
        in->state = SNC_BODY_SIZE;
    in->cr = !in->cr;
    return SNC_PARSED_MORE;
}

static snc_parsed
trailer_byte(snc_request_body *in, char c)
{
    if (++in->spent > SPENT)
        return bad_body(in, "trailers are too large");
    if (c == '\n' && in->cr && in->blank) {
        in->state = SNC_BODY_DONE;
        return SNC_PARSED_OK;
    }
    if (in->cr != (c == '\n'))
        return bad_body(in, "trailer line without CRLF");
    in->blank = c == '\n' || (in->blank && c == '\r');
    in->cr = c == '\r';
    return SNC_PARSED_MORE;
}

/* Takes data of the body from the front of `rest`. */
static sn_str
take_data(snc_request_body *in, sn_str *rest)
{
    size_t n = in->left < rest->len ? (size_t)in->left : rest->len;
    sn_str piece = sn_str_slice(*rest, 0, n);

    *rest = sn_str_slice(*rest, n, rest->len);
    in->left -= n;
    if (in->left == 0) {
        in->cr = false;
        in->state = in->state == SNC_BODY_LENGTH ? SNC_BODY_DONE : SNC_BODY_CR;
    }
    return piece;
}

snc_parsed
snc_request_body_feed(snc_request_body *in, sn_str *rest, sn_str *out_piece)
{
    *out_piece = (sn_str){NULL, 0};
    while (rest->len > 0 && in->state != SNC_BODY_DONE) {
        snc_parsed got = SNC_PARSED_MORE;
        char c = rest->ptr[0];

        if (in->state == SNC_BODY_LENGTH || in->state == SNC_BODY_DATA) {
            *out_piece = take_data(in, rest);
            break;
        }
        *rest = sn_str_slice(*rest, 1, rest->len);
        switch (in->state) {
        case SNC_BODY_SIZE:
            got = size_byte(in, c);
            break;
        case SNC_BODY_EXT:
            got = ext_byte(in, c);
            break;
        case SNC_BODY_CR:
            got = data_end_byte(in, c);
            break;
        default:
            got = trailer_byte(in, c);
        }
        if (got == SNC_PARSED_BAD)
            return got;
    }
    return in->state == SNC_BODY_DONE ? SNC_PARSED_OK : SNC_PARSED_MORE;
}
