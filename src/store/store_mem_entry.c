/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of an entry in a chunk; numbers are varints (LEB128).
 *
 *     what      bytes    there when
 *     head      1        always: the three bits below
 *     context   …        HAS_CONTEXT; the first of a chunk has one
 *     number    1 … 10   it has not: less that of its context, zigzag
 *     line      1 … 5    the same
 *     meta      4        HAS_META: not that of its context
 *     shared    1, 2     IS_ANCHOR is not set: so much of the anchor, then the rest
 *     length    1, 2     always
 *     text      length   of the target, or of its rest
 *
 * A context holds for all entries up to the next one:
 *
 *     number, line, depth    of its first entry
 *     meta      4            moved, kind, ceiling, tag, attr, flags of it
 *     shared, length, text   of the parent; shared with the first parent of the chunk
 *
 * An anchor is a target stored completely; entries after it share its prefix. An entry
 * depends only on its context and its anchor, so it can be read without the entries
 * before it.
 */
#include <string.h>

#include "store/store_mem_parts.h"

enum { HAS_CONTEXT = 1, IS_ANCHOR = 2, HAS_META = 4, FIRST_CONTEXT = 1, META = 4 };

typedef struct context {
    uint64_t number, line;
    uint64_t depth;
    uint32_t meta;
    size_t shared; /* bytes shared with the first parent */
    sn_str rest;
} context;

static size_t
width(uint64_t n)
{
    size_t w = 1;

    for (; n >= 0x80; n >>= 7)
        w++;
    return w;
}

static uint8_t *
put_number(uint8_t *at, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        *at++ = (uint8_t)(n | 0x80);
    *at++ = (uint8_t)n;
    return at;
}

static uint8_t *
put_text(uint8_t *at, sn_str text)
{
    at = put_number(at, text.len);
    if (text.ptr && text.len > 0)
        memcpy(at, text.ptr, text.len);
    return at + text.len;
}

static uint64_t
zigzag(uint64_t n)
{
    return n << 1 ^ -(n >> 63);
}

static uint64_t
unzigzag(uint64_t n)
{
    return n >> 1 ^ -(n & 1);
}

static uint32_t
meta_of(const sn_waiting_url *u)
{
    return (uint32_t)u->moved | (uint32_t)u->kind << 8 | (uint32_t)u->ceiling << 11 |
           (uint32_t)u->tag << 13 | (uint32_t)u->attr << 19 | (uint32_t)u->flags << 23;
}

static void
set_meta(sn_waiting_url *u, uint32_t meta)
{
    u->moved = (uint8_t)meta;
    u->kind = meta >> 8 & 7;
    u->ceiling = meta >> 11 & 3;
    u->tag = meta >> 13 & 63;
    u->attr = meta >> 19 & 15;
    u->flags = (uint8_t)(meta >> 23);
}

/* A reader; missing bytes read as 0, and `bad` is checked at the end. */
typedef struct reader {
    const uint8_t *at, *end;
    bool bad;
} reader;

static uint64_t
get_number(reader *r)
{
    uint64_t n = 0;

    for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
        uint8_t b = *r->at++;

        n |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return n;
    }
    r->bad = true;
    return 0;
}

static uint32_t
get_meta(reader *r)
{
    uint32_t meta = 0;

    if (r->end - r->at < META) {
        r->bad = true;
        return 0;
    }
    memcpy(&meta, r->at, META);
    r->at += META;
    return meta;
}

static sn_str
get_text(reader *r)
{
    uint64_t n = get_number(r);

    if (n > SN_STORE_TEXT || n > (uint64_t)(r->end - r->at)) {
        r->bad = true;
        return (sn_str){0};
    }
    sn_str text = {(const char *)r->at, (size_t)n};
    r->at += n;
    return text;
}

static reader
reader_at(const sn_chunk *c, size_t at)
{
    return (reader){c->bytes + at, c->bytes + c->end, at >= c->end};
}

static context
get_context(reader *r)
{
    context x;

    x.number = get_number(r);
    x.line = get_number(r);
    x.depth = get_number(r);
    x.meta = get_meta(r);
    x.shared = (size_t)get_number(r);
    x.rest = get_text(r);
    return x;
}

static context
context_at(const sn_chunk *c, size_t at)
{
    reader r = reader_at(c, at);

    return get_context(&r);
}

static size_t
common_length(sn_str a, sn_str b)
{
    size_t n = a.len < b.len ? a.len : b.len, i = 0;

    for (uint64_t x, y; i + 8 <= n; i += 8) {
        memcpy(&x, a.ptr + i, 8);
        memcpy(&y, b.ptr + i, 8);
        if (x != y)
            return i + (size_t)__builtin_ctzll(x ^ y) / 8;
    }
    while (i < n && a.ptr[i] == b.ptr[i])
        i++;
    return i;
}

static sn_str
rest_behind(sn_str s, size_t n)
{
    return (sn_str){s.ptr ? s.ptr + n : NULL, s.len - n};
}

static bool
is_same_page(const sn_chunk *c, const context *x, const sn_waiting_url *u)
{
    if (x->depth != u->depth || x->shared + x->rest.len != u->parent.len ||
        !sn_str_eq(x->rest, rest_behind(u->parent, x->shared)))
        return false;
    if (x->shared == 0)
        return true;
    sn_str first = sn_str_slice(context_at(c, FIRST_CONTEXT).rest, 0, x->shared);
    return sn_str_eq(first, sn_str_slice(u->parent, 0, x->shared));
}

/* Plans the context of the page, unless it is the current one. */
static size_t
plan_context(const sn_chunk *c, const sn_waiting_url *u, sn_entry *out)
{
    if (c) {
        context now = context_at(c, c->open.context);

        if (is_same_page(c, &now, u)) {
            out->number = zigzag(u->number - now.number);
            out->line = zigzag(u->line - now.line);
            out->head = meta_of(u) == now.meta ? 0 : HAS_META;
            return width(out->number) + width(out->line) + (out->head ? META : 0);
        }
        out->from_parent = common_length(context_at(c, FIRST_CONTEXT).rest, u->parent);
    }
    size_t rest = u->parent.len - out->from_parent;
    out->head = HAS_CONTEXT;
    return width(u->number) + width(u->line) + width(u->depth) + META +
           width(out->from_parent) + width(rest) + rest;
}

/* A target that shares less than half with the anchor becomes the next anchor. */
static size_t
plan_target(const sn_chunk *c, const sn_waiting_url *u, sn_entry *out)
{
    if (c) {
        reader r = reader_at(c, c->open.anchor);

        out->shared = common_length(get_text(&r), u->target);
    }
    if (2 * out->shared < u->target.len || !c) {
        out->shared = 0;
        out->head |= IS_ANCHOR;
        return width(u->target.len) + u->target.len;
    }
    size_t rest = u->target.len - out->shared;
    return width(out->shared) + width(rest) + rest;
}

void
sn_entry_plan(const sn_chunk *c, const sn_waiting_url *u, sn_entry *out)
{
    *out = (sn_entry){.u = u};
    size_t n = plan_context(c, u, out);
    out->len = 1 + n + plan_target(c, u, out);
}

static uint8_t *
put_meta(uint8_t *at, const sn_waiting_url *u)
{
    uint32_t meta = meta_of(u);

    memcpy(at, &meta, META);
    return at + META;
}

static uint8_t *
put_context(uint8_t *at, const sn_entry *e)
{
    at = put_number(at, e->u->number);
    at = put_number(at, e->u->line);
    at = put_number(at, e->u->depth);
    at = put_meta(at, e->u);
    at = put_number(at, e->from_parent);
    return put_text(at, rest_behind(e->u->parent, e->from_parent));
}

void
sn_entry_write(sn_chunk *c, const sn_entry *e)
{
    uint8_t *at = c->bytes + c->end;

    *at++ = e->head;
    if (e->head & HAS_CONTEXT) {
        c->open.context = (uint16_t)(at - c->bytes);
        at = put_context(at, e);
    } else {
        at = put_number(at, e->number);
        at = put_number(at, e->line);
        if (e->head & HAS_META)
            at = put_meta(at, e->u);
    }
    if (e->head & IS_ANCHOR)
        c->open.anchor = (uint16_t)(at - c->bytes);
    else
        at = put_number(at, e->shared);
    at = put_text(at, rest_behind(e->u->target, e->shared));
    c->end = (uint16_t)(at - c->bytes);
}

/* Joins the first n bytes of `start` and all of `rest` in `room`. */
static bool
join_texts(sn_str start, size_t n, sn_str rest, char *room, sn_str *out)
{
    if (n == 0) {
        *out = rest;
        return true;
    }
    if (n > start.len || n + rest.len > SN_STORE_TEXT)
        return false;
    memcpy(room, start.ptr, n);
    if (rest.len > 0)
        memcpy(room + n, rest.ptr, rest.len);
    *out = (sn_str){room, n + rest.len};
    return true;
}

static bool
read_context(sn_mem_store *mem, const sn_chunk *c, const context *x, sn_waiting_url *out)
{
    sn_str first = x->shared > 0 ? context_at(c, FIRST_CONTEXT).rest : (sn_str){0};

    out->number = x->number;
    out->line = (uint32_t)x->line;
    out->depth = (uint32_t)x->depth;
    set_meta(out, x->meta);
    return join_texts(first, x->shared, x->rest, mem->parent, &out->parent);
}

/* The target is its own anchor, or shares a prefix with the anchor at the mark. */
static bool
read_target(sn_mem_store *mem, const sn_chunk *c, reader *r, sn_chunk_mark *m,
            bool is_anchor, sn_waiting_url *out)
{
    if (is_anchor) {
        m->anchor = (uint16_t)(r->at - c->bytes);
        out->target = get_text(r);
        return true;
    }
    size_t shared = (size_t)get_number(r);
    reader anchor = reader_at(c, m->anchor);
    return join_texts(get_text(&anchor), shared, get_text(r), mem->target, &out->target);
}

seine_err
sn_entry_read(sn_mem_store *mem, const sn_chunk *c, sn_chunk_mark from,
              sn_waiting_url *out, sn_chunk_mark *out_next)
{
    reader r = reader_at(c, from.at);
    uint8_t head = r.bad ? 0 : *r.at++;
    sn_chunk_mark m = from;
    sn_waiting_url u;
    context x;

    if (head & HAS_CONTEXT) {
        m.context = (uint16_t)(r.at - c->bytes);
        x = get_context(&r);
    } else {
        x = context_at(c, m.context);
        x.number += unzigzag(get_number(&r));
        x.line += unzigzag(get_number(&r));
        if (head & HAS_META)
            x.meta = get_meta(&r);
    }
    bool ok = read_context(mem, c, &x, &u);
    ok = read_target(mem, c, &r, &m, (head & IS_ANCHOR) != 0, &u) && ok && !r.bad;
    if (!ok)
        return SEINE_E_STATE_CORRUPT;
    m.at = (uint16_t)(r.at - c->bytes);
    *out = u;
    *out_next = m;
    return SEINE_OK;
}

seine_err
sn_entries_count(sn_mem_store *mem, const sn_chunk *c, sn_chunk_mark from,
                 sn_lost *out_held)
{
    seine_err e = SEINE_OK;
    sn_waiting_url u;

    *out_held = (sn_lost){0};
    while (from.at < c->end && (e = sn_entry_read(mem, c, from, &u, &from)) == SEINE_OK) {
        out_held->urls++;
        out_held->pages += u.kind == 0;
    }
    return e;
}
