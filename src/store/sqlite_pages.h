/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_pages.h - reads whole tables of a database from the pages of its file, several
 * times as fast as by statements: a resume reads every row of a job.
 *
 * The file is as https://www.sqlite.org/fileformat.html says. All that was written has to
 * be in it, not in a WAL (sn_sqlite_settle), and nobody may write meanwhile. Only what we
 * make ourselves is read: tables without indexes, UTF-8, no reserved bytes. Every byte
 * may be damaged; nothing is read outside of its page.
 *
 *     e = sn_sqlite_pages_open(db, &pages);
 *     e = sn_sqlite_pages_check(&pages, roots, n);   every page is used once, and in
 * order
 *
 *     e = sn_sqlite_cursor_init(&c, &pages, root);
 *     while ((e = sn_sqlite_cursor_next(&c, &key, &record, &there)) == SEINE_OK && there)
 *         e = sn_sqlite_record_read(record, ints, n_ints, texts, n_texts, &last);
 *     sn_sqlite_cursor_fini(&c);
 *
 * Time    a page is read when the cursor comes to it.
 * Memory  a page for each level of the tree; the largest record that spans pages.
 * Threads one owner.
 */
#ifndef SN_SQLITE_PAGES_H
#define SN_SQLITE_PAGES_H

#include "base/buf.h"
#include "store/sqlite.h"

enum { SN_SQLITE_DEPTH = 10 }; /* levels of a tree; three have millions of rows */

typedef struct sn_sqlite_pages {
    sn_sqlite *db;
    uint32_t size, n;          /* bytes of a page, pages */
    uint32_t first_free, free; /* the list of those that are not used */
} sn_sqlite_pages;

/* STATE_CORRUPT: it is no such file. IO. */
SEINE_MUST_CHECK seine_err sn_sqlite_pages_open(sn_sqlite *db, sn_sqlite_pages *out);

/* Does every page belong to one table, or to the list of free ones, and does the order of
 * keys hold? `roots` are the tables; that of the declarations is known. STATE_CORRUPT,
 * NOMEM, IO. */
SEINE_MUST_CHECK seine_err sn_sqlite_pages_check(const sn_sqlite_pages *p,
                                                 const uint32_t *roots, unsigned n);

/* One page, as far as its head says. */
typedef struct sn_sqlite_page {
    const uint8_t *bytes;
    uint32_t size;
    uint32_t head; /* where it begins */
    bool is_leaf;
    uint32_t cells; /* so many */
    uint32_t right; /* the last child of an inner page */
} sn_sqlite_page;

/* A row in a leaf, or a child in an inner page. */
typedef struct sn_sqlite_cell {
    int64_t key;
    uint32_t child;    /* of an inner page */
    uint64_t len;      /* of the whole record … */
    sn_str local;      /* … the part that is here … */
    uint32_t overflow; /* … and the page where it goes on; 0: it is all here */
    uint32_t size;     /* bytes of the cell */
} sn_sqlite_cell;

/* For the two files of this noun. STATE_CORRUPT, IO. */
SEINE_MUST_CHECK seine_err sn_sqlite_page_read(const sn_sqlite_pages *p, uint32_t number,
                                               uint8_t *bytes, sn_sqlite_page *out);
SEINE_MUST_CHECK seine_err sn_sqlite_cell_read(const sn_sqlite_page *page, uint32_t i,
                                               sn_sqlite_cell *out);

typedef struct sn_sqlite_cursor {
    const sn_sqlite_pages *pages;
    uint8_t *memory; /* a page for each level */
    struct {
        sn_sqlite_page page;
        uint32_t number; /* of the page; find alone knows it */
        uint32_t at;     /* the next cell, or child */
    } levels[SN_SQLITE_DEPTH];
    unsigned depth;    /* levels that are open; the last one is a leaf */
    unsigned leaves;   /* the level of all leaves; 0: none was seen */
    uint32_t root;     /* 0: it was opened */
    sn_buf record;     /* of several pages */
    uint8_t *overflow; /* one of these */
} sn_sqlite_cursor;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_sqlite_cursor_init(sn_sqlite_cursor *c,
                                                 const sn_sqlite_pages *p, uint32_t root);
void sn_sqlite_cursor_fini(sn_sqlite_cursor *c); /* a zeroed one is fine */
/* The record is valid until the next call. STATE_CORRUPT, NOMEM, IO. */
SEINE_MUST_CHECK seine_err sn_sqlite_cursor_next(sn_sqlite_cursor *c, int64_t *out_key,
                                                 sn_str *out_record, bool *out_there);

/* The row of that key. A cursor is for one of the two: next, or find, which keeps the
 * pages it has read. */
SEINE_MUST_CHECK seine_err sn_sqlite_cursor_find(sn_sqlite_cursor *c, int64_t key,
                                                 sn_str *out_record, bool *out_there);

/* A record of a key, integers, texts or blobs, and one more integer, and nothing else.
 * The key is not in it: ints begin with what follows. STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_sqlite_record_read(sn_str record, int64_t *ints,
                                                 unsigned n_ints, sn_str *texts,
                                                 unsigned n_texts, int64_t *out_last);

#endif
