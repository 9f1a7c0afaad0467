/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_body.h - reads the body of a request as it arrives.
 *
 *     snc_request_body in = snc_request_body_of(&req);
 *     while (rest.len > 0 &&
 *            snc_request_body_feed(&in, &rest, &piece) == SNC_PARSED_MORE)
 *         keep(piece);
 *
 * It reads by length or in chunks, as strictly as the head: CRLF everywhere, a size of 1
 * to 15 hexadecimal digits, at most 16 KiB of extensions and trailers.
 *
 * Time    plays no part.
 * Memory  nothing is allocated; a piece points into the bytes that were fed.
 * Threads one owner.
 */
#ifndef SNC_REQUEST_BODY_H
#define SNC_REQUEST_BODY_H

#include "chaos/request.h"

typedef enum snc_request_body_state {
    SNC_BODY_LENGTH,  /* data up to the length */
    SNC_BODY_SIZE,    /* digits of a chunk's size */
    SNC_BODY_EXT,     /* behind the size, up to the line end */
    SNC_BODY_DATA,    /* data of a chunk */
    SNC_BODY_CR,      /* the line end behind the data */
    SNC_BODY_TRAILER, /* behind the last chunk */
    SNC_BODY_DONE
} snc_request_body_state;

typedef struct snc_request_body {
    snc_request_body_state state;
    uint64_t left;   /* of the body or of this chunk */
    unsigned digits; /* of the chunk size so far */
    uint32_t spent;  /* bytes of extensions and trailers */
    bool cr;         /* the byte before was a carriage return */
    bool blank;      /* the trailer line is still empty */
    const char *why;
} snc_request_body;

snc_request_body snc_request_body_of(const snc_request *req);

/* Takes bytes from the front of `rest`; *out_piece is the next piece of the body among
 * them, maybe empty. OK: the body has ended, and `rest` is not part of it. MORE: call
 * again, with further bytes when `rest` is empty. */
snc_parsed snc_request_body_feed(snc_request_body *in, sn_str *rest, sn_str *out_piece);

#endif
