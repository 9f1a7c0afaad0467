/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_items.h - the items of a page, on their way with the record of the page.
 *
 * Who reads pages for items (recipe.h) gives them to the sinks together with the record
 * of their page. So the record, its items and what a job keeps of the page are written
 * and committed together: after kill -9 none is lost, and none is there twice.
 *
 *     seine_record_items *items;
 *     e = seine_record_items_new(&items);
 *     seine_item item = SEINE_ITEM;
 *     item.kind = (seine_view){"product", 7};
 *     item.data = (seine_view){"{\"sku\":\"A-1\"}", 13};
 *     item.ok = true;
 *     e = seine_record_items_add(items, &item);           once for each
 *     e = seine_sinks_put_items(sinks, shard, record, items);
 *
 * An output takes items if seine_sink_opts.items says which; their numbers (`seq`) follow
 * that of the record.
 *
 * Time    plays no part.
 * Memory  their texts, once.
 * Threads one owner; the sinks take them over.
 */
#ifndef SEINE_RECORD_ITEMS_H
#define SEINE_RECORD_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/record.h"
#include "seine/sink.h"

typedef struct seine_record_items seine_record_items;

/* One item. Texts are copied. */
typedef struct seine_item {
    size_t size;        /* of this struct: SEINE_ITEM sets it */
    seine_view kind;    /* "product" */
    seine_view data;    /* an object of JSON: its fields */
    seine_view errors;  /* a list of JSON; absent: none */
    seine_view members; /* JSON lines: what follows v, type, job, seq and ts, without
                           braces */
    seine_view row;     /* CSV: its row, without the end of the line; absent: none */
    seine_view url;     /* of the page */
    uint32_t n;         /* on the page, from 1 */
    bool ok;            /* false: a bad one */
} seine_item;

/* clang-format off */
#define SEINE_ITEM {sizeof(seine_item), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false}
/* clang-format on */

/* A column of a table of items. */
typedef struct seine_item_column {
    const char *name; /* of the field; NULL ends the list */
    const char *type; /* of SQLite: "INTEGER", "REAL", "TEXT"; "": values as they are */
} seine_item_column;

/* Items of one kind in a database: table item_KIND. */
typedef struct seine_item_table {
    const char *kind; /* NULL ends the list */
    const seine_item_column *columns;
} seine_item_table;

/* Which items an output takes. CSV takes these and no records, JSON lines take records as
 * well if they are asked to; a database takes both. */
typedef struct seine_item_sink {
    size_t size;      /* of this struct: SEINE_ITEM_SINK sets it */
    bool flat;        /* JSON lines: the data of good items alone */
    bool records;     /* JSON lines: the records of the pages, too, before their items */
    const char *kind; /* CSV: good items of this kind; NULL: bad ones of all kinds */
    const char *head; /* CSV: the line of column names, without its end */
    const seine_item_table *tables; /* SQLite; bad items go to item_error */
} seine_item_sink;

/* clang-format off */
#define SEINE_ITEM_SINK {sizeof(seine_item_sink), false, false, NULL, NULL, NULL}
/* clang-format on */

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_record_items_new(seine_record_items **out_items);
void seine_record_items_free(seine_record_items *i); /* NULL is fine */

/* INVAL: a text of more than 4 GiB, or options of another version. NOMEM. */
SEINE_MUST_CHECK seine_err seine_record_items_add(seine_record_items *i,
                                                  const seine_item *item);

/* What a job keeps with the record, any bytes: seine_fetch_opts.on_kept gets them when
 * the job goes on. Replaces what was given before. NOMEM. */
SEINE_MUST_CHECK seine_err seine_record_items_keep(seine_record_items *i,
                                                   const char *bytes, size_t len);

size_t seine_record_items_count(const seine_record_items *i);

/* As seine_sinks_put, with the items of the page; takes them over in every case. */
SEINE_MUST_CHECK seine_err seine_sinks_put_items(seine_sinks *s, unsigned lane,
                                                 const seine_record *r,
                                                 seine_record_items *give);

SEINE_END

#endif
