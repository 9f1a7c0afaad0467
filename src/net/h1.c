/* SPDX-License-Identifier: Apache-2.0 */
#include "net/h1.h"

#include "net/h1_parts.h"

void
sn_h1_begin(sn_h1 *h, sn_head *head, const sn_h1_ask *ask)
{
    sn_head_reset(head);
    *h = (sn_h1){.head = head, .ask = *ask, .keep_alive_s = UINT32_MAX};
}

bool
sn_h1_has_begun(const sn_h1 *h)
{
    return h->head_bytes > 0 || h->head->len > 0;
}

static sn_h1_event
end_response(sn_h1 *h, const sn_str *in)
{
    h->state = SN_H1_AT_END;
    if (in->len > 0)
        h->notes |= SN_NOTE_EXTRA_BYTES;
    return SN_H1_DONE;
}

sn_h1_event
sn_h1_next(sn_h1 *h, sn_str *in, sn_str *out_piece)
{
    sn_h1_step step;

    if (h->state >= SN_H1_AT_END)
        return h->state == SN_H1_AT_END ? end_response(h, in) : SN_H1_FAIL;
    if (h->state < SN_H1_AT_BODY) {
        step = sn_h1_head_step(h, in);
        if (step == SN_H1_WHOLE)
            return SN_H1_HEAD;
    } else {
        step = sn_h1_body_step(h, in, out_piece);
        if (step == SN_H1_PIECE)
            return SN_H1_BODY;
        if (step == SN_H1_WHOLE)
            return end_response(h, in);
    }
    return step == SN_H1_WANT ? SN_H1_MORE : SN_H1_FAIL;
}

static seine_err
ended(sn_h1 *h, bool in_order)
{
    seine_err e = SEINE_E_BODY_TRUNCATED;

    h->says_close = true; /* it closed the connection */
    if (h->state == SN_H1_AT_ERROR)
        return h->err;
    if (h->state == SN_H1_AT_BODY &&
        (h->framing == SN_H1_NO_BODY || (h->framing == SN_H1_LENGTH && h->left == 0) ||
         (h->framing == SN_H1_UNTIL_CLOSE && in_order)))
        h->state = SN_H1_AT_END;
    if (h->state == SN_H1_AT_END)
        return SEINE_OK;
    if (!sn_h1_has_begun(h))
        e = SEINE_E_CONN_RESET;
    else if (h->state < SN_H1_AT_BODY)
        e = sn_h1_head_blame(h, SEINE_E_HEADER_TRUNCATED);
    sn_h1_wrong(h, e);
    return e;
}

seine_err
sn_h1_eof(sn_h1 *h)
{
    return ended(h, true);
}

seine_err
sn_h1_lost(sn_h1 *h)
{
    return ended(h, false);
}

/* Does the peer say that it keeps the connection? */
static bool
keeps(const sn_h1 *h)
{
    return !h->says_close && (h->head->minor == 1 || (h->says_keep && !h->has_chunked));
}

static bool
announces_body(const sn_h1 *h)
{
    return h->has_chunked || (h->has_length && h->length > 0);
}

bool
sn_h1_is_reusable(const sn_h1 *h)
{
    return h->state == SN_H1_AT_END && keeps(h) && !h->ask.tunnel &&
           !(h->framing == SN_H1_NO_BODY && announces_body(h)) &&
           !(h->notes & (SN_NOTE_FRAMING_CONFLICT | SN_NOTE_EXTRA_BYTES));
}

bool
sn_h1_has_extra(const sn_h1 *h)
{
    return h->state == SN_H1_AT_END && keeps(h) && h->notes & SN_NOTE_EXTRA_BYTES;
}

bool
sn_h1_never_ends(const sn_h1 *h)
{
    return h->state == SN_H1_AT_BODY && h->framing == SN_H1_UNTIL_CLOSE && keeps(h);
}
