/* SPDX-License-Identifier: Apache-2.0 */
#include "net/decode.h"

#include "base/alloc.h"

/* The most memory a stage may keep for the next body: all of zlib, and brotli and zstd
 * for small pages, but no large window. */
#define KEPT (256 << 10)

static bool
coding_of(sn_str name, sn_coding *out_coding)
{
    static const struct {
        sn_str name;
        sn_coding coding;
    } known[] = {
        {{"gzip", 4}, SN_CODING_GZIP},       {{"br", 2}, SN_CODING_BR},
        {{"deflate", 7}, SN_CODING_DEFLATE}, {{"zstd", 4}, SN_CODING_ZSTD},
        {{"x-gzip", 6}, SN_CODING_GZIP},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sn_str_eq_nocase(name, known[i].name)) {
            *out_coding = known[i].coding;
            return true;
        }
    return false;
}

/* True for words that say how text is written or sent, not how it is packed. */
static bool
is_no_coding(sn_str name)
{
    static const char *const words[] = {"none",   "utf-8", "utf8",
                                        "binary", "8bit",  "7bit"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sn_str_eq_nocase(name, sn_str_of(words[i])))
            return true;
    return false;
}

seine_err
sn_codings_add(sn_codings *codings, sn_str value)
{
    sn_codings all = *codings;
    sn_coding coding;
    sn_str name;

    while (sn_str_next(&value, ',', &name)) {
        name = sn_str_trim(name);
        if (name.len == 0 || sn_str_eq_nocase(name, SN_STR("identity")))
            continue; /* RFC 9110, 5.6.1.2: empty elements are ignored */
        if (is_no_coding(name)) {
            all.is_odd = true;
            continue;
        }
        if (!coding_of(name, &coding) || all.n == SN_DECODE_STAGES)
            return SEINE_E_BAD_ENCODING;
        all.list[all.n++] = (uint8_t)coding;
    }
    *codings = all;
    return SEINE_OK;
}

static seine_err
reserve(size_t n, void *held)
{
    return held ? seine_budget_grow(held, SEINE_RES_MEMORY, n) : SEINE_OK;
}

static void
give_back(size_t n, void *held)
{
    if (held)
        seine_budget_shrink(held, SEINE_RES_MEMORY, n);
}

void
sn_decode_init(sn_decode *d, char *scratch, seine_held *held)
{
    *d = (sn_decode){.scratch = scratch, .held = held};
    d->gate = (sn_codec_gate){reserve, give_back, held};
    for (int i = 0; i < SN_DECODE_STAGES; i++)
        sn_codec_init(&d->stages[i].codec,
                      &(sn_codec_opts){.way = SN_CODEC_DECODE, .gate = &d->gate});
}

void
sn_decode_fini(sn_decode *d)
{
    for (int i = 0; i < SN_DECODE_STAGES; i++)
        sn_codec_fini(&d->stages[i].codec);
    if (d->between) {
        sn_free(d->between);
        give_back(SN_DECODE_BETWEEN, d->held);
    }
    *d = (sn_decode){0};
}

/* Frees large windows instead of keeping them for the next body. */
static void
slim(sn_decode *d)
{
    for (int i = 0; i < SN_DECODE_STAGES; i++)
        if (d->stages[i].codec.bytes > KEPT)
            sn_codec_fini(&d->stages[i].codec);
}

static seine_err
connect_stages(sn_decode *d)
{
    if (d->between)
        return SEINE_OK;
    seine_err e = reserve(SN_DECODE_BETWEEN, d->held);
    if (e != SEINE_OK)
        return e;
    d->between = sn_alloc(SN_DECODE_BETWEEN);
    if (d->between)
        return SEINE_OK;
    give_back(SN_DECODE_BETWEEN, d->held);
    return SEINE_E_NOMEM;
}

seine_err
sn_decode_begin(sn_decode *d, const sn_codings *codings, const sn_decode_limits *limits)
{
    slim(d);
    d->n = codings->n;
    d->notes = 0;
    d->is_bomb = false;
    d->passed = 0;
    d->work = 0;
    d->limits = *limits;
    d->waiting = (sn_str){0};
    d->late = SEINE_OK;
    for (int i = 0; i < d->n; i++) {
        sn_stage *s = &d->stages[i];

        s->coding = (sn_coding)codings->list[d->n - 1 - i];
        s->at = SN_STAGE_BEFORE;
        s->has_more = false;
        s->n_peek = s->fed = 0;
        s->streams = 0;
        s->in = s->out = 0;
    }
    return d->err = d->n == 2 ? connect_stages(d) : SEINE_OK;
}

static seine_err
open_stream(sn_stage *s, sn_codec_kind kind)
{
    if (s->streams++ > SN_DECODE_FURTHER)
        return SEINE_E_BAD_ENCODING;
    s->at = SN_STAGE_INSIDE;
    s->has_more = true; /* the peeked bytes */
    return sn_codec_begin(&s->codec, kind);
}

/* Before a stream: the first bytes say whether there is one, and of which format. */
static seine_err
before(sn_decode *d, sn_stage *s, sn_str *in)
{
    static const sn_codec_kind kinds[] = {
        [SN_CODING_GZIP] = SN_CODEC_GZIP,
        [SN_CODING_DEFLATE] = SN_CODEC_ZLIB,
        [SN_CODING_BR] = SN_CODEC_BR,
        [SN_CODING_ZSTD] = SN_CODEC_ZSTD,
    };
    sn_codec_kind kind = kinds[s->coding];
    sn_codec_match match = SN_CODEC_MAYBE;

    for (; in->len > 0 && match == SN_CODEC_MAYBE; in->ptr++, in->len--) {
        s->peek[s->n_peek++] = *in->ptr;
        s->in++;
        match = sn_codec_match_of(kind, (sn_str){s->peek, s->n_peek});
    }
    if (match == SN_CODEC_YES)
        return open_stream(s, kind);
    if (match == SN_CODEC_MAYBE)
        return SEINE_OK;
    if (s->streams > 0) {
        s->at = SN_STAGE_BEHIND;
        d->notes |= SN_NOTE_TRAILING_BYTES;
        return SEINE_OK;
    }
    return s->coding == SN_CODING_DEFLATE ? open_stream(s, SN_CODEC_DEFLATE)
                                          : SEINE_E_BAD_ENCODING;
}

/* After a stream: gzip and zstd may continue with another. */
static void
leave_stream(sn_stage *s)
{
    bool goes_on = s->coding == SN_CODING_GZIP || s->coding == SN_CODING_ZSTD;

    s->at = goes_on ? SN_STAGE_BEFORE : SN_STAGE_BEHIND;
    s->n_peek = s->fed = 0;
    s->has_more = false;
}

/* At max_body the codec is asked for one byte more, to see whether the body ends
 * there. */
static seine_err
inside(sn_decode *d, sn_stage *s, sn_str *in, sn_codec_room *out)
{
    sn_str peeked = {s->peek + s->fed, (size_t)(s->n_peek - s->fed)};
    sn_str *from = peeked.len > 0 ? &peeked : in;
    uint64_t left = d->limits.max_body - s->out;
    char probe;
    sn_codec_room room = left == 0 ? (sn_codec_room){&probe, 1} : *out;
    if (left > 0 && room.len > left)
        room.len = (size_t)left;
    size_t had_in = from->len, had_room = room.len;

    sn_codec_event event = sn_codec_step(&s->codec, from, &room, false);
    size_t taken = had_in - from->len, made = had_room - room.len;
    if (from == in)
        s->in += taken;
    else
        s->fed = (uint8_t)(s->fed + taken);
    if (left == 0 && made > 0)
        return SEINE_E_BODY_TOO_LARGE;
    out->ptr += made;
    out->len -= made;
    s->out += made;
    s->has_more = event == SN_CODEC_ROOM;
    if (d->limits.ratio > 0 && s->out > d->limits.ratio_from &&
        (s->out - 1) / d->limits.ratio >= s->in) { /* out > ratio × in */
        d->is_bomb = true;
        return SEINE_E_BODY_TOO_LARGE;
    }
    if (event == SN_CODEC_END)
        leave_stream(s);
    return event == SN_CODEC_FAIL ? s->codec.err : SEINE_OK;
}

/* Runs until all input is taken and decoded, or the output is full. */
static seine_err
advance(sn_decode *d, sn_stage *s, sn_str *in, sn_codec_room *out)
{
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && out->len > 0 && (in->len > 0 || s->has_more)) {
        if (s->at == SN_STAGE_BEFORE) {
            e = before(d, s, in);
        } else if (s->at == SN_STAGE_INSIDE) {
            e = inside(d, s, in, out);
        } else {
            d->notes |= SN_NOTE_TRAILING_BYTES;
            *in = (sn_str){0};
        }
    }
    return e;
}

/* The second coding may make nothing of much: a step ends then, too. */
static seine_err
advance_both(sn_decode *d, sn_str *in, sn_codec_room *out)
{
    sn_stage *first = &d->stages[0], *second = &d->stages[1];

    d->work = 0;

    for (;;) {
        seine_err e = advance(d, second, &d->waiting, out);
        if (e != SEINE_OK || out->len == 0 || d->work >= SN_DECODE_STEP)
            return e;
        if (d->late != SEINE_OK || (in->len == 0 && !first->has_more))
            return d->late;
        sn_codec_room between = {d->between, SN_DECODE_BETWEEN};
        d->late = advance(d, first, in, &between);
        d->waiting = (sn_str){d->between, SN_DECODE_BETWEEN - between.len};
        d->work += d->waiting.len;
    }
}

static seine_err
pass(sn_decode *d, sn_str *in, sn_str *out_piece)
{
    uint64_t left = d->limits.max_body - d->passed;
    size_t n = in->len < left ? in->len : (size_t)left;

    if (n == 0)
        return in->len > 0 ? SEINE_E_BODY_TOO_LARGE : SEINE_OK;
    *out_piece = (sn_str){in->ptr, n};
    *in = (sn_str){in->ptr + n, in->len - n};
    d->passed += n;
    return SEINE_OK;
}

sn_decode_event
sn_decode_next(sn_decode *d, sn_str *in, sn_str *out_piece)
{
    sn_codec_room room = {d->scratch, SN_DECODE_STEP};
    sn_str piece = {0};

    if (d->err != SEINE_OK)
        return SN_DECODE_FAIL;
    if (d->n == 0) {
        d->err = pass(d, in, &piece);
    } else {
        d->err =
            d->n == 1 ? advance(d, &d->stages[0], in, &room) : advance_both(d, in, &room);
        piece = (sn_str){d->scratch, SN_DECODE_STEP - room.len};
    }
    bool is_busy = d->n == 2 && d->err == SEINE_OK && d->work >= SN_DECODE_STEP;
    if (piece.len > 0 || is_busy) {
        *out_piece = piece;
        return SN_DECODE_BODY; /* an error is returned by the next call */
    }
    return d->err != SEINE_OK ? SN_DECODE_FAIL : SN_DECODE_MORE;
}

seine_err
sn_decode_feed(sn_decode *d, sn_str in, bool (*fn)(sn_str piece, void *arg), void *arg)
{
    sn_decode_event event;
    sn_str piece;

    while ((event = sn_decode_next(d, &in, &piece)) == SN_DECODE_BODY)
        if (piece.len > 0 && !fn(piece, arg))
            return SEINE_E_CANCELED;
    return event == SN_DECODE_FAIL ? d->err : SEINE_OK;
}

/* A body must not end inside a stream, or inside the magic number of one. */
static bool
is_whole(const sn_stage *s)
{
    return s->at == SN_STAGE_BEHIND || (s->at == SN_STAGE_BEFORE && s->n_peek == 0);
}

seine_err
sn_decode_end(sn_decode *d)
{
    if (d->err == SEINE_OK)
        d->err = d->late;
    for (int i = 0; i < d->n && d->err == SEINE_OK; i++)
        if (!is_whole(&d->stages[i]))
            d->err = SEINE_E_BODY_TRUNCATED;
    if (d->err == SEINE_OK && d->waiting.len > 0)
        d->err = SEINE_E_BODY_TRUNCATED;
    slim(d);
    return d->err;
}
