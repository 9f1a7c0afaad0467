/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_read.h"

static bool
is_packed(const seine_warc *w)
{
    return w->kind == SN_WARC_MEMBERS || w->kind == SN_WARC_FRAMES;
}

/* Detects the format by the first byte: "WARC", gzip or zstd. */
static void
know_kind(seine_warc *w, char first)
{
    switch ((unsigned char)first) {
    case 0x1f:
        w->kind = SN_WARC_MEMBERS;
        break;
    case 0x28:
        w->kind = SN_WARC_FRAMES;
        break;
    case 0x5d: /* a skippable frame: the dictionary of WARC-zstd */
        sn_warc_fail(w, "packed with a dictionary, which is not read");
        break;
    default:
        w->kind = SN_WARC_AS_IT_IS;
    }
}

static bool
begin_member(seine_warc *w)
{
    bool gzip = w->kind == SN_WARC_MEMBERS;
    seine_err e = sn_codec_begin(&w->codec, gzip ? SN_CODEC_GZIP : SN_CODEC_ZSTD);

    if (e != SEINE_OK) {
        sn_warc_fail(w, "%s", seine_err_text(e));
        return false;
    }
    w->in_member = w->at_start = true;
    return true;
}

/* Runs one step of the codec into w->ready. False: no input left, or an error. */
static bool
step_codec(seine_warc *w, sn_str *in)
{
    sn_codec_room room = {w->out, SN_WARC_UNPACKED};
    size_t before = in->len;
    sn_codec_event event = sn_codec_step(&w->codec, in, &room, false);

    w->at += before - in->len;
    w->ready = (sn_str){w->out, SN_WARC_UNPACKED - room.len};
    if (event == SN_CODEC_FAIL) {
        sn_warc_fail(w, "byte %llu: %s", (unsigned long long)w->at,
                     w->codec.err == SEINE_E_BAD_ENCODING ? "packed bytes are damaged"
                                                          : seine_err_text(w->codec.err));
        return false;
    }
    if (event == SN_CODEC_END)
        w->in_member = false;
    return event != SN_CODEC_MORE || w->ready.len > 0;
}

/* A record that spans members cannot be found by its offset: reports it. */
static void
begin_if_new(seine_warc *w)
{
    if (w->in_member)
        return;
    if (w->state != SN_WARC_BETWEEN && !w->is_spread) {
        w->is_spread = true;
        sn_warc_flaw_add(w, "it goes on in another %s", sn_warc_stream(w));
    }
    w->member_at = w->at;
    begin_member(w);
}

bool
sn_warc_unpack(seine_warc *w, sn_str *in)
{
    if (w->kind == SN_WARC_NOT_KNOWN && in->len > 0)
        know_kind(w, *in->ptr);
    while (!w->failed && w->ready.len == 0) {
        if (in->len == 0)
            return false;
        if (w->kind == SN_WARC_AS_IT_IS) {
            w->ready = *in;
            w->at += in->len;
            *in = (sn_str){in->ptr + in->len, 0};
            return true;
        }
        begin_if_new(w);
        if (!w->failed && !step_codec(w, in))
            return false;
    }
    return !w->failed;
}

bool
sn_warc_unpack_rest(seine_warc *w, sn_str *in)
{
    while (is_packed(w) && w->in_member && w->ready.len == 0 && !w->failed)
        if (!step_codec(w, in))
            return false;
    return !w->failed;
}
