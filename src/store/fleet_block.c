/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet_block.h"

#include <string.h>

/* Of a link: meta_of, depth, how far its line is from the line of the link before, the
 * length of what its URL shares with the URL before, the rest of the URL, 0 for the
 * parent of the link before or else its length + 1 and text, and the length and text of
 * its request. Numbers are varints. Who changes this changes FORMAT of fleet_worker.c. */

void
sn_fleet_block_init(sn_fleet_block *b)
{
    *b = (sn_fleet_block){.n = 0};
    sn_buf_init(&b->raw, SN_FLEET_BLOCK_RAW);
    sn_buf_init(&b->last, SN_STORE_TEXT);
    sn_buf_init(&b->parent, SN_STORE_TEXT);
    sn_codec_init(&b->codec, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 3});
}

void
sn_fleet_block_fini(sn_fleet_block *b)
{
    sn_buf_fini(&b->raw);
    sn_buf_fini(&b->last);
    sn_buf_fini(&b->parent);
    sn_codec_fini(&b->codec);
}

bool
sn_fleet_block_is_full(const sn_fleet_block *b)
{
    return b->n == SN_FLEET_LINKS || b->raw.len >= SN_FLEET_BLOCK_FULL;
}

static void
put_number(sn_buf *b, uint64_t n)
{
    while (n >= 128) {
        sn_buf_char(b, (char)(n | 128));
        n >>= 7;
    }
    sn_buf_char(b, (char)n);
}

static void
put_text(sn_buf *b, sn_str text)
{
    put_number(b, text.len);
    sn_buf_str(b, text);
}

static uint64_t
meta_of(const sn_waiting_url *u)
{
    return (uint64_t)(u->kind & 7u) | (uint64_t)(u->ceiling & 3u) << 3 |
           (uint64_t)(u->tag & 63u) << 5 | (uint64_t)(u->attr & 15u) << 11 |
           (uint64_t)u->flags << 15 | (uint64_t)u->moved << 23;
}

/* A small number for a line that is near, before or behind. */
static uint32_t
line_step(uint32_t from, uint32_t to)
{
    uint32_t by = to - from;

    return by < UINT32_C(1) << 31 ? by << 1 : ~(by << 1);
}

static uint32_t
line_after(uint32_t from, uint32_t step)
{
    return from + (step & 1 ? ~(step >> 1) : step >> 1);
}

static size_t
shared_with(sn_str a, sn_str b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

static void
put_link(sn_fleet_block *b, const sn_fleet_link *l)
{
    const sn_waiting_url *u = &l->url;
    size_t same = shared_with(sn_buf_view(&b->last), u->target);

    put_number(&b->raw, meta_of(u));
    put_number(&b->raw, u->depth);
    put_number(&b->raw, line_step(b->line, u->line));
    put_number(&b->raw, same);
    put_text(&b->raw, sn_str_slice(u->target, same, u->target.len));
    if (sn_str_eq(sn_buf_view(&b->parent), u->parent)) {
        put_number(&b->raw, 0);
    } else {
        put_number(&b->raw, u->parent.len + 1);
        sn_buf_str(&b->raw, u->parent);
    }
    put_text(&b->raw, l->ask);
}

seine_err
sn_fleet_block_add(sn_fleet_block *b, const sn_fleet_link *l)
{
    size_t before = b->raw.len;

    if (l->url.target.len > SN_STORE_TEXT || l->url.parent.len > SN_STORE_TEXT ||
        l->ask.len > SN_FLEET_BLOCK_RAW / 2)
        return SEINE_E_RANGE;
    put_link(b, l);
    seine_err e = sn_buf_done(&b->raw);
    if (e != SEINE_OK) {
        b->raw.err = SEINE_OK;
        sn_buf_truncate(&b->raw, before);
        return e == SEINE_E_FULL ? SEINE_E_RANGE : e;
    }
    sn_buf_reset(&b->last);
    sn_buf_str(&b->last, l->url.target);
    sn_buf_reset(&b->parent);
    sn_buf_str(&b->parent, l->url.parent);
    b->line = l->url.line;
    b->n++;
    e = sn_buf_done(&b->last);
    return e == SEINE_OK ? sn_buf_done(&b->parent) : e;
}

/* The whole stream at once. */
static seine_err
run_codec(sn_codec *c, sn_str in, size_t most, sn_buf *out)
{
    seine_err e = sn_codec_begin(c, SN_CODEC_ZSTD);
    sn_codec_event event = SN_CODEC_ROOM;
    size_t piece = in.len / 2 + 4096;

    while (e == SEINE_OK && event != SN_CODEC_END) {
        if (out->len + piece > most)
            piece = most - out->len;
        char *at = piece > 0 ? sn_buf_reserve(out, piece) : NULL;
        sn_codec_room room = {at, piece};

        if (!at)
            return piece > 0 ? SEINE_E_NOMEM : SEINE_E_STATE_CORRUPT;
        event = sn_codec_step(c, &in, &room, true);
        sn_buf_commit(out, piece - room.len);
        if (event == SN_CODEC_FAIL)
            e = c->err == SEINE_E_NOMEM ? c->err : SEINE_E_STATE_CORRUPT;
        else if (event == SN_CODEC_MORE && c->opts.way == SN_CODEC_DECODE)
            e = SEINE_E_STATE_CORRUPT; /* it ends too early */
    }
    return e == SEINE_OK && in.len > 0 ? SEINE_E_STATE_CORRUPT : e;
}

seine_err
sn_fleet_block_pack(sn_fleet_block *b, sn_buf *out)
{
    sn_buf_reset(out);
    seine_err e = run_codec(&b->codec, sn_buf_view(&b->raw), SIZE_MAX / 2, out);

    if (e != SEINE_OK)
        return e;
    sn_buf_reset(&b->raw);
    sn_buf_reset(&b->last);
    sn_buf_reset(&b->parent);
    b->line = 0;
    b->n = 0;
    return SEINE_OK;
}

seine_err
sn_fleet_block_unpack(sn_str bytes, uint32_t n, sn_buf *out)
{
    sn_codec codec;

    if (n == 0 || n > SN_FLEET_LINKS)
        return SEINE_E_STATE_CORRUPT;
    sn_buf_reset(out);
    sn_codec_init(&codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    seine_err e = run_codec(&codec, bytes, SN_FLEET_BLOCK_RAW, out);
    sn_codec_fini(&codec);
    if (e != SEINE_OK)
        return e;
    sn_fleet_block_reader r = {.left = sn_buf_view(out), .n = n};
    sn_fleet_link link;
    while (sn_fleet_block_next(&r, &link))
        continue;
    return r.n == 0 && r.left.len == 0 ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

/* Reading. */

static bool
take_number(sn_str *left, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;

    for (unsigned shift = 0; shift < 63 && left->len > 0; shift += 7) {
        uint8_t byte = (uint8_t)left->ptr[0];

        *left = sn_str_slice(*left, 1, left->len);
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = n;
            return n <= most;
        }
    }
    return false;
}

static bool
take_text(sn_str *left, uint64_t len, sn_str *out)
{
    if (len > left->len)
        return false;
    *out = sn_str_slice(*left, 0, (size_t)len);
    *left = sn_str_slice(*left, (size_t)len, left->len);
    return true;
}

static void
set_meta(sn_waiting_url *u, uint64_t meta)
{
    u->kind = meta & 7;
    u->ceiling = meta >> 3 & 3;
    u->tag = meta >> 5 & 63;
    u->attr = meta >> 11 & 15;
    u->flags = (uint8_t)(meta >> 15);
    u->moved = (uint8_t)(meta >> 23);
}

static bool
take_link(sn_fleet_block_reader *r, sn_fleet_link *out)
{
    sn_str left = r->left, rest;
    uint64_t meta, depth, step, same, len, parent, ask;

    if (!take_number(&left, (1u << 31) - 1, &meta) ||
        !take_number(&left, UINT32_MAX, &depth) ||
        !take_number(&left, UINT32_MAX, &step) ||
        !take_number(&left, r->last_len, &same) ||
        !take_number(&left, SN_STORE_TEXT - same, &len) ||
        !take_text(&left, len, &rest) || !take_number(&left, SN_STORE_TEXT + 1, &parent))
        return false;
    if (parent > 0 && !take_text(&left, parent - 1, &r->parent))
        return false;
    uint32_t line = line_after(r->line, (uint32_t)step);
    *out = (sn_fleet_link){.url = {.depth = (uint32_t)depth, .line = line}};
    if (!take_number(&left, SN_FLEET_BLOCK_RAW, &ask) ||
        !take_text(&left, ask, &out->ask))
        return false;
    if (rest.len > 0)
        memcpy(r->last + same, rest.ptr, rest.len);
    r->last_len = same + rest.len;
    r->line = line;
    set_meta(&out->url, meta);
    out->url.target = (sn_str){r->last, r->last_len};
    out->url.parent = r->parent;
    r->left = left;
    return true;
}

bool
sn_fleet_block_next(sn_fleet_block_reader *r, sn_fleet_link *out_link)
{
    if (r->n == 0 || !take_link(r, out_link))
        return false;
    r->n--;
    return true;
}
