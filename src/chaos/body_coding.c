/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/body_coding.h"

#include <string.h>

#include "base/alloc.h"

#define AT_ONCE ((uint64_t)256 << 10) /* a longer body is encoded as it goes */
#define LONGEST ((uint64_t)64 << 20)  /* in several codings, or with its end held back */
#define PIECE   8192                  /* encoded bytes at a time */

typedef struct stage {
    snc_coder *coder;
    sn_str in;  /* the rest of `room` */
    bool last;  /* nothing follows it */
    bool done;  /* the end of the coding is out */
    char *room; /* SNC_WIRE_ROOM bytes */
} stage;

typedef struct coding_state {
    snc_body_coding how;
    snc_wire inner;
    sn_buf lines; /* of a body that is made of lines */
    stage stages[SNC_BODY_CODINGS];
    uint64_t at;   /* encoded bytes that left `held` */
    uint64_t keep; /* bytes held back until the end is known */
    bool over;     /* everything is encoded */
    sn_buf held;
    sn_str member; /* the rest of an empty encoded text */
} coding_state;

static void
drop_coding(void *self)
{
    coding_state *r = self;

    for (unsigned i = 0; i < r->how.count; i++) {
        if (r->stages[i].coder)
            r->stages[i].coder->free(r->stages[i].coder);
        sn_free(r->stages[i].room);
    }
    snc_wire_fini(&r->inner);
    sn_buf_fini(&r->lines);
    sn_buf_fini(&r->held);
    sn_free(r);
}

/* The next bytes of the body after the first `count` codings; 0: the end. */
static size_t
pull_coded(coding_state *r, unsigned count, char *out, size_t room)
{
    if (count == 0)
        return snc_wire_read(&r->inner, &r->lines, out, room);

    stage *s = &r->stages[count - 1];
    size_t n = 0;

    while (n == 0 && !s->done) {
        if (s->in.len == 0 && !s->last) {
            size_t got = pull_coded(r, count - 1, s->room, SNC_WIRE_ROOM);

            s->in = (sn_str){s->room, got};
            s->last = got == 0;
        }
        n = s->coder->step(s->coder, &s->in, s->last, out, room, &s->done);
    }
    return n;
}

/* The end is known: cuts and damages the bytes that were held back. */
static void
close_held(coding_state *r)
{
    size_t cut = r->how.cut < r->held.len ? (size_t)r->how.cut : r->held.len;
    uint64_t flip = r->how.flip;

    r->over = true;
    r->keep = 0;
    if (r->how.flips_end && flip > 0 && flip <= r->held.len)
        r->held.ptr[r->held.len - flip] = (char)~r->held.ptr[r->held.len - flip];
    sn_buf_truncate(&r->held, r->held.len - cut);
}

static void
fill_held(coding_state *r)
{
    while (!r->over && r->held.len <= r->keep) {
        char *room = sn_buf_reserve(&r->held, SNC_WIRE_ROOM);
        size_t n = room ? pull_coded(r, r->how.count, room, SNC_WIRE_ROOM) : 0;

        if (n > 0)
            sn_buf_commit(&r->held, n);
        else
            close_held(r);
    }
}

static size_t
take_held(coding_state *r, char *out, size_t room)
{
    size_t n = r->held.len - (size_t)r->keep;

    n = n < room ? n : room;
    memcpy(out, r->held.ptr, n);
    sn_buf_drop(&r->held, n);
    if (r->how.flips && r->how.flip >= r->at && r->how.flip - r->at < n)
        out[r->how.flip - r->at] = (char)~out[r->how.flip - r->at];
    r->at += n;
    return n;
}

/* Bytes behind the end. */
static size_t
take_extra(coding_state *r, char *out, size_t room)
{
    size_t n = 0;

    while (n < room && (r->member.len > 0 || r->how.members > 0)) {
        if (r->member.len == 0) {
            r->member = snc_coder_nothing(r->how.member);
            r->how.members--;
        }
        size_t take = r->member.len < room - n ? r->member.len : room - n;
        if (take > 0)
            memcpy(out + n, r->member.ptr, take);
        r->member = sn_str_slice(r->member, take, r->member.len);
        n += take;
    }
    for (; n < room && r->how.extra > 0; r->how.extra--)
        out[n++] = 't';
    return n;
}

/* 0: the end. */
static size_t
produce(coding_state *r, char *out, size_t room)
{
    fill_held(r);
    return r->held.len > r->keep ? take_held(r, out, room) : take_extra(r, out, room);
}

static void
coded_lines(void *self, sn_buf *out, size_t want)
{
    char piece[PIECE];

    (void)want;
    sn_buf_add(out, piece, produce(self, piece, sizeof piece));
}

static bool
holds_end(const snc_body_coding *how)
{
    return how->cut > 0 || how->flips_end;
}

static seine_err
begin_coding(coding_state **out_r, const snc_body_coding *how)
{
    coding_state *r = sn_zalloc(sizeof *r);
    seine_err e = r ? SEINE_OK : SEINE_E_NOMEM;

    if (!r)
        return e;
    r->how = *how;
    if (snc_coder_nothing(how->member).len == 0)
        r->how.members = 0;
    r->keep = holds_end(how) ? SNC_BODY_CODING_HELD : 0;
    sn_buf_init(&r->lines, 65536);
    sn_buf_init(&r->held, SNC_BODY_CODING_HELD + (size_t)4 * SNC_WIRE_ROOM);
    for (unsigned i = 0; i < how->count && e == SEINE_OK; i++) {
        r->stages[i].room = sn_alloc(SNC_WIRE_ROOM);
        e = r->stages[i].room ? snc_coder_new(how->codings[i], &r->stages[i].coder)
                              : SEINE_E_NOMEM;
    }
    if (e == SEINE_OK)
        *out_r = r;
    else
        drop_coding(r);
    return e;
}

/* Appends to the text, behind everything that the body may still be read from. */
static seine_err
code_now(coding_state *r, snc_wire *body, sn_buf *text)
{
    char piece[PIECE];
    size_t from = text->len, n;

    while ((n = produce(r, piece, sizeof piece)) > 0)
        sn_buf_add(text, piece, n);
    seine_err e = sn_buf_done(&r->held);
    for (unsigned i = 0; i < r->how.count; i++)
        if (r->stages[i].coder->failed)
            e = SEINE_E_NOMEM;
    snc_wire_text(body, from);
    drop_coding(r);
    return e != SEINE_OK ? e : sn_buf_done(text);
}

seine_err
snc_body_code(snc_wire *body, const snc_body_coding *how, sn_buf *text)
{
    const snc_chunks none = {.on = false};
    uint64_t length = snc_wire_body_length(body);
    coding_state *r;

    if ((how->count > 1 || holds_end(how)) && length > LONGEST)
        return SEINE_E_FULL;
    seine_err e = begin_coding(&r, how);
    if (e != SEINE_OK)
        return e;
    r->inner = *body; /* moves all of it */
    snc_wire_init(body, text);
    snc_wire_body(body, &none);
    if (length <= AT_ONCE && how->extra <= AT_ONCE && r->how.members <= AT_ONCE / 16) {
        e = code_now(r, body, text);
    } else if (snc_wire_keep(&r->inner)) {
        snc_wire_lines(body, coded_lines, drop_coding, r);
    } else {
        drop_coding(r);
        e = SEINE_E_NOMEM;
    }
    snc_wire_body_end(body);
    return e;
}
