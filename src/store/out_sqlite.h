/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_sqlite.h - a database that records go to, and a record as a row of it.
 *
 * Time    plays no part.
 * Memory  the longest record as JSON, and three times its texts.
 * Threads one owner.
 */
#ifndef SN_OUT_SQLITE_H
#define SN_OUT_SQLITE_H

#include "store/out.h"
#include "store/sqlite.h"

typedef struct sn_base {
    bool is_open, is_new; /* is_new: made by open */
    bool is_there;        /* the tables are there: something is appended */
    int fd;               /* of the lock. Closed last: closing it drops SQLite's own */
    sn_sqlite *db;
    sn_sqlite_stmt *result, *skip, *summary, *meta;
    bool in_batch, has_failed;
    uint64_t held; /* records of the batch */
    uint64_t held_bytes;
    int64_t run;
    char *json; /* the record as text … */
    size_t room;
    char *clean; /* … and texts of it that were not UTF-8 */
    size_t clean_room;
} sn_base;

/* Into the batch that was begun. DISK_FULL, NOMEM, IO …; `held` is the caller's. */
SEINE_MUST_CHECK seine_err sn_base_put(sn_out *o, const seine_record *r, uint64_t seq);

#endif
