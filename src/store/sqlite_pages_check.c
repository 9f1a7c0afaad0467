/* SPDX-License-Identifier: Apache-2.0 */
/* Is the file whole, as far as its pages are concerned? What is in the rows is the affair
 * of who reads them. A page that two own, or that is free and yet used, would be written
 * over by the next commit. */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_pages.h"

#define LOCK_BYTE (UINT64_C(1) << 30) /* SQLite never uses the page where it is */

typedef struct check {
    const sn_sqlite_pages *pages;
    uint8_t *memory; /* a page for each level, and one more */
    uint64_t *used;  /* a bit for each page */
} check;

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

static seine_err
use(check *c, uint32_t number)
{
    if (number == 0 || number > c->pages->n || c->used[number / 64] >> number % 64 & 1)
        return SEINE_E_STATE_CORRUPT;
    c->used[number / 64] |= UINT64_C(1) << number % 64;
    return SEINE_OK;
}

/* Pages of a chain, each of which begins with the number of the next one. */
static seine_err
use_chain(check *c, uint32_t number, uint64_t bytes)
{
    uint8_t *page = c->memory + (size_t)SN_SQLITE_DEPTH * c->pages->size;
    seine_err e = SEINE_OK;

    for (uint64_t left = bytes; e == SEINE_OK && left > 0;) {
        e = use(c, number);
        if (e == SEINE_OK)
            e = sn_sqlite_page_read(c->pages, number, page, NULL);
        number = u32(page);
        left -= left < c->pages->size - 4 ? left : c->pages->size - 4;
    }
    return e == SEINE_OK && number != 0 ? SEINE_E_STATE_CORRUPT : e;
}

/* The bytes among the cells that none of them has. -1: the list of them is damaged. */
static int64_t
spare_of(const sn_sqlite_page *p, uint32_t content)
{
    const uint8_t *h = p->bytes + p->head;
    int64_t n = h[7];
    uint32_t last = content - 1;

    for (uint32_t at = u16(h + 1); at != 0; at = u16(p->bytes + at)) {
        if (at <= last || at + 4 > p->size || at + u16(p->bytes + at + 2) > p->size)
            return -1;
        last = at + u16(p->bytes + at + 2) - 1;
        n += u16(p->bytes + at + 2);
    }
    return n;
}

static seine_err check_tree(check *c, uint32_t number, unsigned depth, int64_t *io_last,
                            unsigned *io_leaves);

/* Cells of a leaf, or children of an inner page; *io_last is the key before. */
static seine_err
check_cells(check *c, const sn_sqlite_page *p, unsigned depth, int64_t *io_last,
            unsigned *io_leaves, uint64_t *out_bytes)
{
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < p->cells && e == SEINE_OK; i++) {
        sn_sqlite_cell cell;

        e = sn_sqlite_cell_read(p, i, &cell);
        if (e != SEINE_OK)
            return e;
        *out_bytes += cell.size < 4 ? 4 : cell.size;
        if (!p->is_leaf)
            e = check_tree(c, cell.child, depth + 1, io_last, io_leaves);
        else if (cell.key <= *io_last)
            e = SEINE_E_STATE_CORRUPT;
        else if (cell.overflow)
            e = use_chain(c, cell.overflow, cell.len - cell.local.len);
        /* An inner key is the highest of its child, or was before a row went. */
        if (e == SEINE_OK && !p->is_leaf && cell.key < *io_last)
            e = SEINE_E_STATE_CORRUPT;
        *io_last = cell.key;
    }
    if (e == SEINE_OK && !p->is_leaf)
        e = check_tree(c, p->right, depth + 1, io_last, io_leaves);
    return e;
}

static seine_err
check_tree(check *c, uint32_t number, unsigned depth, int64_t *io_last,
           unsigned *io_leaves)
{
    sn_sqlite_page p;
    uint64_t bytes = 0;

    if (depth == SN_SQLITE_DEPTH)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = use(c, number);
    if (e == SEINE_OK)
        e = sn_sqlite_page_read(c->pages, number,
                                c->memory + (size_t)depth * c->pages->size, &p);
    if (e != SEINE_OK)
        return e;
    if (p.is_leaf && *io_leaves == 0)
        *io_leaves = depth + 1;
    if (p.is_leaf && (*io_leaves != depth + 1 || (p.cells == 0 && depth > 0)))
        return SEINE_E_STATE_CORRUPT;
    e = check_cells(c, &p, depth, io_last, io_leaves, &bytes);
    uint32_t content = u16(p.bytes + p.head + 5);
    if (content == 0)
        content = 65536;
    int64_t spare = spare_of(&p, content);
    uint32_t end = p.head + (p.is_leaf ? 8 : 12) + p.cells * 2;
    bool adds_up = spare >= 0 && content >= end && content <= p.size &&
                   bytes + (uint64_t)spare == p.size - content;
    return e == SEINE_OK && !adds_up ? SEINE_E_STATE_CORRUPT : e;
}

static seine_err
check_free(check *c)
{
    const sn_sqlite_pages *p = c->pages;
    uint32_t trunk = p->first_free, left = p->free;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && trunk != 0) {
        e = use(c, trunk);
        if (e == SEINE_OK)
            e = sn_sqlite_page_read(p, trunk, c->memory, NULL);
        uint32_t n = e == SEINE_OK ? u32(c->memory + 4) : 0;
        if (n > p->size / 4 - 2 || left < n + 1)
            return SEINE_E_STATE_CORRUPT;
        for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
            e = use(c, u32(c->memory + 8 + (size_t)i * 4));
        left -= n + 1;
        trunk = u32(c->memory);
    }
    return e == SEINE_OK && left != 0 ? SEINE_E_STATE_CORRUPT : e;
}

static bool
is_all_used(const check *c)
{
    uint64_t lock = LOCK_BYTE / c->pages->size + 1;

    for (uint32_t i = 1; i <= c->pages->n; i++)
        if (i != lock && !(c->used[i / 64] >> i % 64 & 1))
            return false;
    return true;
}

static seine_err
check_all(check *c, const uint32_t *roots, unsigned n)
{
    seine_err e = SEINE_OK;

    for (unsigned i = 0; i <= n && e == SEINE_OK; i++) {
        int64_t last = INT64_MIN;
        unsigned leaves = 0;

        e = check_tree(c, i == 0 ? 1 : roots[i - 1], 0, &last, &leaves);
    }
    if (e == SEINE_OK)
        e = check_free(c);
    return e == SEINE_OK && !is_all_used(c) ? SEINE_E_STATE_CORRUPT : e;
}

seine_err
sn_sqlite_pages_check(const sn_sqlite_pages *p, const uint32_t *roots, unsigned n)
{
    uint8_t *memory SN_AUTOFREE = sn_alloc((size_t)(SN_SQLITE_DEPTH + 1) * p->size);
    uint64_t *used SN_AUTOFREE = sn_calloc((size_t)p->n / 64 + 1, sizeof *used);
    check c = {p, memory, used};

    return memory && used ? check_all(&c, roots, n) : SEINE_E_NOMEM;
}
