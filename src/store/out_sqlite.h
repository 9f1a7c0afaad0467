/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_sqlite.h - the SQLite output, and a record as a row.
 *
 * Time    plays no part.
 * Memory  the longest record as JSON, and three times its texts.
 * Threads one owner.
 */
#ifndef SN_OUT_SQLITE_H
#define SN_OUT_SQLITE_H

#include "store/data_columns.h"
#include "store/out.h"
#include "store/sqlite.h"

typedef struct sn_base {
    bool is_open, is_new; /* is_new: created by open */
    bool is_there;        /* the tables exist: records are appended */
    int fd;               /* of the lock. Closed last: closing drops SQLite's locks */
    sn_sqlite *db;
    sn_sqlite_stmt *result, *skip, *link, *summary, *meta;
    sn_sqlite_stmt *target, *unlink; /* of opts.links; NULL: there is none */
    bool has_links;                  /* earlier runs have left rows in `link` */
    sn_sqlite_stmt **items;          /* of opts.items: one for each table … */
    sn_sqlite_stmt *item_error;      /* … and one for bad items; NULL: there are none */
    bool in_batch, has_failed;
    uint64_t held; /* records in the batch */
    uint64_t held_bytes;
    uint64_t last_put; /* seq of the last record */
    int64_t run;
    sn_data_columns data;
    char *json; /* the record as text … */
    size_t room;
    char *clean; /* … and its texts that were not UTF-8 */
    size_t clean_room;
} sn_base;

/* Adds a row to the open batch. DISK_FULL, NOMEM, IO …; the caller counts `held`. */
SEINE_MUST_CHECK seine_err sn_base_put(sn_out *o, const seine_record *r, uint64_t seq);

/* The same for a link that `seine check` has judged, a line of JSON. */
SEINE_MUST_CHECK seine_err sn_base_put_link(sn_base *b, sn_str json, uint64_t seq);

/* The links of a crawl: out_sqlite_links.c. */

/* A row of `link`. */
typedef struct sn_base_link {
    sn_str source, target, verdict, json;
    uint32_t line; /* 0: NULL */
    uint64_t seq;
} sn_base_link;

/* The one number that a query gives; `otherwise` if it gives none, or NULL. */
SEINE_MUST_CHECK seine_err sn_base_ask(sn_base *b, const char *sql, int64_t otherwise,
                                       int64_t *out_n);

SEINE_MUST_CHECK seine_err sn_base_start_links(sn_base *b);
/* The links of the page get the numbers behind that of its record. */
SEINE_MUST_CHECK seine_err sn_base_put_links(sn_out *o, const seine_record *r,
                                             uint64_t seq);
/* The end of a run: copies to each link what became of its target. No batch is open. */
SEINE_MUST_CHECK seine_err sn_base_judge_links(sn_base *b);

/* The tables of opts.items: out_sqlite_items.c. */

/* Before anything is changed. OUTPUT_CHANGED: the file has one with other columns; the
 * diag names it. */
SEINE_MUST_CHECK seine_err sn_base_check_items(const sn_out *o, seine_diag *diag);
/* Makes those that are missing, and removes the rows behind `last` of a job. */
SEINE_MUST_CHECK seine_err sn_base_start_items(sn_out *o);
/* The number of the last item in the tables; 0: none. */
SEINE_MUST_CHECK seine_err sn_base_last_item(const sn_out *o, int64_t *io_last);
SEINE_MUST_CHECK seine_err sn_base_put_items(sn_out *o, const seine_record *r,
                                             uint64_t seq);

SEINE_MUST_CHECK seine_err sn_base_put_link_row(sn_base *b, const sn_base_link *l);
SEINE_MUST_CHECK seine_err sn_base_forget_links(sn_base *b, sn_str source);
/* `next`: of a redirect, the key of what it leads to; ptr NULL: it is none. */
SEINE_MUST_CHECK seine_err sn_base_put_target(sn_base *b, const seine_record *r,
                                              uint64_t seq, sn_str next);
/* Slices of the timeline, a line each; into the open batch. A table of that name that is
 * not ours stays as it is. */
SEINE_MUST_CHECK seine_err sn_base_put_slices(sn_base *b, sn_str lines);
SEINE_MUST_CHECK seine_err sn_base_make_json(sn_base *b, size_t n); /* room for it */
sn_str sn_base_url_of(const seine_record *r);

#endif
