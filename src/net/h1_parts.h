/* SPDX-License-Identifier: Apache-2.0 */
/* h1_parts.h - the states of the reader, and what its files need of each other. */
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
    SN_H1_AT_DROP,     /* in a line that continues a field already dropped */
    SN_H1_AT_ODD_NAME, /* in a line that is no field, before a colon */
    SN_H1_AT_ODD,      /* in the rest of it */
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
    /* behind it */
    SN_H1_AT_END,
    SN_H1_AT_ERROR,
};

/* What one step of the reader found. */
typedef enum sn_h1_step {
    SN_H1_GO,    /* on to the next state */
    SN_H1_WANT,  /* the input is used up */
    SN_H1_WHOLE, /* the head, the body is complete */
    SN_H1_PIECE, /* of the body */
    SN_H1_WRONG, /* err */
} sn_h1_step;

sn_h1_step sn_h1_head_step(sn_h1 *h, sn_str *in);
sn_h1_step sn_h1_body_step(sn_h1 *h, sn_str *in, sn_str *out_piece);

/* A line that is no field would frame the body for a reader less strict: its letters,
 * up to a colon, contain the name of a framing field. */
bool sn_h1_resembles_framing(sn_h1 *h, sn_str name);

/* A framing field is complete. Is it what it must be, and as those before it? */
bool sn_h1_frame(sn_h1 *h, sn_str name, sn_str value);

/* What the bytes so far say about a head that ends here: an error that stands in
 * them already, or `otherwise`. */
seine_err sn_h1_head_blame(const sn_h1 *h, seine_err otherwise);

/* The final head is complete: what follows it, and whether it answers what was asked. */
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
