/* SPDX-License-Identifier: Apache-2.0 */
/* h1_parts.h - the states of the reader, shared by the h1*.c files. */
#ifndef SN_H1_PARTS_H
#define SN_H1_PARTS_H

#include "net/h1.h"

enum {
    /* in a head */
    SN_H1_AT_VERSION, /* HTTP/1.x 200 */
    SN_H1_AT_REASON,
    SN_H1_AT_LINE,     /* before the first byte of a line */
    SN_H1_AT_NAME,     /* of a field */
    SN_H1_AT_VALUE,    /* of a field */
    SN_H1_AT_FOLD,     /* in a line that continues the value before */
    SN_H1_AT_DROP,     /* in a line that continues a dropped field */
    SN_H1_AT_ODD_NAME, /* in an invalid line, before a colon */
    SN_H1_AT_ODD,      /* in the rest of an invalid line */
    /* in a body */
    SN_H1_AT_BODY, /* with a length, or until the peer closes */
    SN_H1_AT_SIZE, /* of a chunk */
    SN_H1_AT_BLANK,
    SN_H1_AT_EXTENSION,
    SN_H1_AT_SIZE_LF,
    SN_H1_AT_DATA,
    SN_H1_AT_DATA_CR,
    SN_H1_AT_DATA_LF,
    SN_H1_AT_TRAILER, /* before the first byte of a line */
    SN_H1_AT_TRAILER_LINE,
    SN_H1_AT_TRAILER_LF,
    SN_H1_AT_LAST_LF,
    /* at the end */
    SN_H1_AT_END,
    SN_H1_AT_ERROR,
};

/* The result of one step of the reader. */
typedef enum sn_h1_step {
    SN_H1_GO,    /* on to the next state */
    SN_H1_WANT,  /* the input is used up */
    SN_H1_WHOLE, /* the head, the body is complete */
    SN_H1_PIECE, /* of the body */
    SN_H1_WRONG, /* err */
} sn_h1_step;

sn_h1_step sn_h1_head_step(sn_h1 *h, sn_str *in);
sn_h1_step sn_h1_body_step(sn_h1 *h, sn_str *in, sn_str *out_piece);

/* True if an invalid line could frame the body for a more lenient reader: its letters
 * before a colon contain the name of a framing field. */
bool sn_h1_resembles_framing(sn_h1 *h, sn_str name);

/* Checks a complete framing field, and that it agrees with earlier ones. */
bool sn_h1_frame(sn_h1 *h, sn_str name, sn_str value);

/* The head ends here: returns an error that the bytes so far contain, or `otherwise`. */
seine_err sn_h1_head_blame(const sn_h1 *h, seine_err otherwise);

/* The final head is complete: decides the framing, and checks that the response is
 * allowed for the request. */
seine_err sn_h1_conclude(sn_h1 *h);

static inline const sn_h1_limits *
sn_h1_limits_of(const sn_h1 *h)
{
    static const sn_h1_limits usual = {64 << 10, 256 << 10, 1000};

    return h->ask.limits ? h->ask.limits : &usual;
}

static inline sn_h1_step
sn_h1_wrong(sn_h1 *h, seine_err e)
{
    h->err = e;
    h->state = SN_H1_AT_ERROR;
    return SN_H1_WRONG;
}

#endif
