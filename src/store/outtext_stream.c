/* SPDX-License-Identifier: Apache-2.0 */
/* A line longer than the buffer is written while it is rendered: a body of 100 MiB takes
 * no memory here. */
#include <errno.h>

#include "store/outtext.h"

typedef struct stream {
    sn_out *out;
    uint64_t written; /* bytes of this line in the file */
    int error;        /* errno; 0: none */
    bool no_memory;
} stream;

static void
write_piece(stream *s, sn_str piece)
{
    sn_outtext *t = s->out->self;
    size_t done = 0;

    if (s->error != 0 || s->no_memory)
        return;
    if (!sn_outfile_write(&t->file, piece, &done))
        s->error = errno;
    s->written += done;
}

/* Compresses a piece of the line, which is one member. */
static void
pack_piece(stream *s, sn_str piece, bool is_last)
{
    sn_outtext *t = s->out->self;
    sn_codec_event event = SN_CODEC_MORE;
    sn_str packed;

    do {
        if (sn_pack_step(&t->pack, &piece, is_last, &packed, &event) != SEINE_OK) {
            s->no_memory = true;
            return;
        }
        write_piece(s, packed);
    } while (piece.len > 0 || (is_last && event != SN_CODEC_END));
}

static void
spill(sn_text_writer *p, void *arg)
{
    stream *s = arg;
    const sn_outtext *t = s->out->self;
    sn_str piece = {p->start, (size_t)(p->at - p->start)};

    if (t->is_packed)
        pack_piece(s, piece, false);
    else
        write_piece(s, piece);
}

static seine_err
fail_line(const stream *s, seine_diag *diag)
{
    sn_outtext *t = s->out->self;

    sn_outfile_take_back(&t->file, (size_t)s->written);
    if (s->error != 0)
        return sn_outfile_fail(s->out, s->error, diag);
    sn_diag_text(diag, "%s", seine_err_text(SEINE_E_NOMEM));
    return SEINE_E_NOMEM;
}

seine_err
sn_outtext_stream(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_outtext *t = o->self;
    stream s = {.out = o};
    sn_text_writer p = sn_text_writer_on(t->buf, t->room);

    if (t->is_packed && sn_pack_begin(&t->pack) != SEINE_OK)
        s.no_memory = true;
    p.spill = spill;
    p.arg = &s;
    t->render(o, &p, r, seq);
    sn_str rest = {p.start, (size_t)(p.at - p.start)};
    if (t->is_packed)
        pack_piece(&s, rest, true);
    else
        write_piece(&s, rest);
    if (s.error != 0 || s.no_memory)
        return fail_line(&s, diag);
    o->bytes += s.written;
    o->records++;
    return SEINE_OK;
}
