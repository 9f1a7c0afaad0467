/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_pages.h"

#include <string.h>

#include "base/alloc.h"

enum { FILE_HEAD = 100, RECORD_MOST = 64 << 20 };

static uint32_t
u16(const uint8_t *b)
{
    return (uint32_t)b[0] << 8 | b[1];
}

static uint32_t
u32(const uint8_t *b)
{
    return u16(b) << 16 | u16(b + 2);
}

seine_err
sn_sqlite_pages_open(sn_sqlite *db, sn_sqlite_pages *out)
{
    uint8_t head[FILE_HEAD];
    uint64_t size = 0;
    seine_err e = sn_sqlite_read(db, 0, head, sizeof head);

    if (e == SEINE_OK)
        e = sn_sqlite_size(db, &size);
    if (e != SEINE_OK)
        return e;
    sn_sqlite_pages p = {.db = db,
                         .size = u16(head + 16) == 1 ? 65536 : u16(head + 16),
                         .n = u32(head + 28),
                         .first_free = u32(head + 32),
                         .free = u32(head + 36)};
    bool ok = p.size >= 512 && (p.size & (p.size - 1)) == 0 && head[20] == 0 &&
              u32(head + 24) == u32(head + 92) && u32(head + 56) == 1 &&
              u32(head + 52) == 0 && (uint64_t)p.n * p.size <= size && p.n > 0;
    *out = p;
    return ok ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

seine_err
sn_sqlite_page_read(const sn_sqlite_pages *p, uint32_t number, uint8_t *bytes,
                    sn_sqlite_page *out)
{
    if (number == 0 || number > p->n)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = sn_sqlite_read(p->db, (uint64_t)(number - 1) * p->size, bytes, p->size);
    if (e != SEINE_OK || !out)
        return e;
    uint32_t head = number == 1 ? FILE_HEAD : 0;
    const uint8_t *h = bytes + head;
    *out = (sn_sqlite_page){.bytes = bytes,
                            .size = p->size,
                            .head = head,
                            .is_leaf = h[0] == 13,
                            .cells = u16(h + 3),
                            .right = h[0] == 5 ? u32(h + 8) : 0};
    bool fits = head + (out->is_leaf ? 8u : 12u) + (uint64_t)out->cells * 2 <= p->size;
    return (h[0] == 5 || h[0] == 13) && fits ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

/* Reads a number of up to nine bytes and moves *at behind it. False: it does not end. */
static bool
varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    const uint8_t *b = *at;
    uint64_t n = 0;

    if (b < end && *b < 0x80) {
        *out = *b;
        *at = b + 1;
        return true;
    }
    for (unsigned i = 0; i < 9 && b < end; i++, b++) {
        n = i == 8 ? n << 8 | *b : n << 7 | (*b & 0x7f);
        if (i == 8 || *b < 0x80) {
            *out = n;
            *at = b + 1;
            return true;
        }
    }
    return false;
}

/* How many bytes of a record are in its leaf. */
static uint64_t
local_of(uint64_t len, uint32_t size)
{
    uint64_t most = size - 35, least = (size - 12) * 32 / 255 - 23;

    if (len <= most)
        return len;
    uint64_t n = least + (len - least) % (size - 4);
    return n <= most ? n : least;
}

seine_err
sn_sqlite_cell_read(const sn_sqlite_page *page, uint32_t i, sn_sqlite_cell *out)
{
    const uint8_t *b = page->bytes, *end = b + page->size;
    uint32_t at = u16(b + page->head + (page->is_leaf ? 8 : 12) + (size_t)i * 2);
    const uint8_t *c = b + at;
    uint64_t key;

    *out = (sn_sqlite_cell){0};
    if (at + 4 > page->size)
        return SEINE_E_STATE_CORRUPT;
    if (!page->is_leaf) {
        out->child = u32(c);
        c += 4;
    } else if (!varint(&c, end, &out->len)) {
        return SEINE_E_STATE_CORRUPT;
    }
    if (!varint(&c, end, &key))
        return SEINE_E_STATE_CORRUPT;
    out->key = (int64_t)key;
    uint64_t local = page->is_leaf ? local_of(out->len, page->size) : 0;
    bool goes_on = local < out->len;
    if ((uint64_t)(end - c) < local + (goes_on ? 4 : 0))
        return SEINE_E_STATE_CORRUPT;
    out->local = (sn_str){(const char *)c, local};
    if (goes_on)
        out->overflow = u32(c + local);
    out->size = (uint32_t)(c - (b + at) + (ptrdiff_t)local) + (goes_on ? 4 : 0);
    return SEINE_OK;
}

/* Cursor. */

seine_err
sn_sqlite_cursor_init(sn_sqlite_cursor *c, const sn_sqlite_pages *p, uint32_t root)
{
    *c = (sn_sqlite_cursor){.pages = p, .root = root};
    sn_buf_init(&c->record, RECORD_MOST);
    c->memory = sn_alloc((size_t)(SN_SQLITE_DEPTH + 1) * p->size);
    if (!c->memory)
        return SEINE_E_NOMEM;
    c->overflow = c->memory + (size_t)SN_SQLITE_DEPTH * p->size;
    return SEINE_OK;
}

void
sn_sqlite_cursor_fini(sn_sqlite_cursor *c)
{
    if (!c->pages)
        return;
    sn_buf_fini(&c->record);
    sn_free(c->memory);
    *c = (sn_sqlite_cursor){.pages = NULL};
}

static seine_err
enter(sn_sqlite_cursor *c, uint32_t number)
{
    bool is_root = c->depth == 0;

    if (c->depth == SN_SQLITE_DEPTH)
        return SEINE_E_STATE_CORRUPT;
    sn_sqlite_page *page = &c->levels[c->depth].page;
    seine_err e = sn_sqlite_page_read(
        c->pages, number, c->memory + (size_t)c->depth * c->pages->size, page);
    if (e != SEINE_OK)
        return e;
    c->levels[c->depth++].at = 0;
    if (!page->is_leaf)
        return SEINE_OK;
    if (c->leaves == 0)
        c->leaves = c->depth;
    return c->leaves == c->depth && (page->cells > 0 || is_root) ? SEINE_OK
                                                                 : SEINE_E_STATE_CORRUPT;
}

/* Goes on to the next leaf. *out_there false: the last one is read. */
static seine_err
next_leaf(sn_sqlite_cursor *c, bool *out_there)
{
    seine_err e = SEINE_OK;

    *out_there = false;
    if (c->root > 0) {
        e = enter(c, c->root);
        c->root = 0;
    } else if (c->depth > 0) {
        c->depth--;
    }
    while (e == SEINE_OK && c->depth > 0) {
        sn_sqlite_page *page = &c->levels[c->depth - 1].page;
        uint32_t at = c->levels[c->depth - 1].at++;
        sn_sqlite_cell cell = {.child = page->right};

        if (page->is_leaf) {
            c->levels[c->depth - 1].at = 0;
            *out_there = page->cells > 0;
            return SEINE_OK;
        }
        if (at > page->cells) {
            c->depth--;
            continue;
        }
        if (at < page->cells)
            e = sn_sqlite_cell_read(page, at, &cell);
        if (e == SEINE_OK)
            e = enter(c, cell.child);
    }
    return e;
}

/* Puts a record of several pages together. */
static seine_err
gather(sn_sqlite_cursor *c, const sn_sqlite_cell *cell, sn_str *out)
{
    uint32_t next = cell->overflow, room = c->pages->size - 4;
    uint64_t left = cell->len - cell->local.len;

    sn_buf_reset(&c->record);
    if (cell->len > RECORD_MOST - 1)
        return SEINE_E_STATE_CORRUPT;
    sn_buf_str(&c->record, cell->local);
    while (left > 0) {
        size_t n = left < room ? (size_t)left : room;
        seine_err e = sn_sqlite_page_read(c->pages, next, c->overflow, NULL);

        if (e != SEINE_OK)
            return e;
        sn_buf_str(&c->record, (sn_str){(const char *)c->overflow + 4, n});
        next = u32(c->overflow);
        left -= n;
    }
    *out = sn_buf_view(&c->record);
    return next == 0 ? sn_buf_done(&c->record) : SEINE_E_STATE_CORRUPT;
}

seine_err
sn_sqlite_cursor_next(sn_sqlite_cursor *c, int64_t *out_key, sn_str *out_record,
                      bool *out_there)
{
    sn_sqlite_cell cell;
    seine_err e = SEINE_OK;

    *out_there =
        c->depth > 0 && c->levels[c->depth - 1].at < c->levels[c->depth - 1].page.cells;
    if (!*out_there)
        e = next_leaf(c, out_there);
    if (e != SEINE_OK || !*out_there)
        return e;
    e = sn_sqlite_cell_read(&c->levels[c->depth - 1].page, c->levels[c->depth - 1].at++,
                            &cell);
    if (e != SEINE_OK)
        return e;
    *out_key = cell.key;
    *out_record = cell.local;
    return cell.overflow ? gather(c, &cell, out_record) : SEINE_OK;
}

/* The first cell whose key is no lower; all of them: their number. */
static seine_err
search(const sn_sqlite_page *page, int64_t key, uint32_t *out_at, sn_sqlite_cell *out)
{
    uint32_t low = 0, high = page->cells;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        seine_err e = sn_sqlite_cell_read(page, middle, out);

        if (e != SEINE_OK)
            return e;
        if (out->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    *out_at = low;
    return low < page->cells ? sn_sqlite_cell_read(page, low, out) : SEINE_OK;
}

seine_err
sn_sqlite_cursor_find(sn_sqlite_cursor *c, int64_t key, sn_str *out_record,
                      bool *out_there)
{
    uint32_t number = c->root, size = c->pages->size, at;

    *out_there = false;
    for (unsigned depth = 0; depth < SN_SQLITE_DEPTH; depth++) {
        sn_sqlite_page *page = &c->levels[depth].page;
        sn_sqlite_cell cell = {0};
        seine_err e = SEINE_OK;

        if (c->levels[depth].number != number) {
            c->levels[depth].number = 0;
            e = sn_sqlite_page_read(c->pages, number, c->memory + (size_t)depth * size,
                                    page);
        }
        if (e == SEINE_OK)
            e = search(page, key, &at, &cell);
        if (e != SEINE_OK)
            return e;
        c->levels[depth].number = number;
        if (!page->is_leaf) {
            number = at < page->cells ? cell.child : page->right;
            continue;
        }
        *out_there = at < page->cells && cell.key == key;
        *out_record = *out_there ? cell.local : (sn_str){0};
        return *out_there && cell.overflow ? gather(c, &cell, out_record) : SEINE_OK;
    }
    return SEINE_E_STATE_CORRUPT;
}

/* Records. */

static const uint8_t widths[] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};

/* An integer of that type; *at moves behind it. */
static bool
read_int(uint64_t type, const uint8_t **at, const uint8_t *end, int64_t *out)
{
    const uint8_t *b = *at;

    if (type == 0 || type == 7 || type > 9 || end - b < widths[type])
        return false;
    if (type >= 8) {
        *out = (int64_t)type - 8;
        return true;
    }
    uint64_t n = (uint64_t)(int64_t)(int8_t)b[0];
    for (unsigned i = 1; i < widths[type]; i++)
        n = n << 8 | b[i];
    *out = (int64_t)n;
    *at = b + widths[type];
    return true;
}

seine_err
sn_sqlite_record_read(sn_str record, int64_t *ints, unsigned n_ints, sn_str *texts,
                      unsigned n_texts, int64_t *out_last)
{
    const uint8_t *types = (const uint8_t *)record.ptr, *end = types + record.len;
    uint64_t head = 0, type = 0;

    if (!varint(&types, end, &head) || head > record.len)
        return SEINE_E_STATE_CORRUPT;
    const uint8_t *body = (const uint8_t *)record.ptr + head, *types_end = body;
    if (!varint(&types, types_end, &type) || type != 0) /* the key */
        return SEINE_E_STATE_CORRUPT;
    for (unsigned i = 0; i < n_ints; i++)
        if (!varint(&types, types_end, &type) || !read_int(type, &body, end, &ints[i]))
            return SEINE_E_STATE_CORRUPT;
    for (unsigned i = 0; i < n_texts; i++) {
        if (!varint(&types, types_end, &type) || type < 12 ||
            (type - 12) / 2 > (uint64_t)(end - body))
            return SEINE_E_STATE_CORRUPT;
        texts[i] = (sn_str){(const char *)body, (size_t)(type - 12) / 2};
        body += texts[i].len;
    }
    bool ok = varint(&types, types_end, &type) && read_int(type, &body, end, out_last);
    return ok && types == types_end && body == end ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}
