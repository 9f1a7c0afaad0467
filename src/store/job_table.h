/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_table.h - the tables of job.db, all of one shape: integers, then texts, then a CRC.
 *
 * The first integer is the primary key. The CRC covers every other value of the row and
 * the number of the table, so that a row that was damaged, or that belongs elsewhere, is
 * found. Two tables, which have a row for every URL, keep sixteen rows in one of SQLite
 * (job_pack.h); those who read and put rows do not see it.
 *
 *     sn_job_row row = {.ints = {7, 1}, .texts = {SN_STR("/path")}};
 *     e = sn_job_table_put(&t, &row);               inserts or replaces
 *
 *     while ((e = sn_job_table_next(&t, &row, &there)) == SEINE_OK && there)
 *         use(row.ints[0], row.texts[0]);
 *     sn_job_table_reset(&t);
 *
 * Time    plays no part; blocks.
 * Memory  three statements a table at most.
 * Threads one owner.
 */
#ifndef SN_JOB_TABLE_H
#define SN_JOB_TABLE_H

#include "store/job_pack.h"
#include "store/sqlite_pages.h"

#define SN_JOB_APPLICATION 0x5345494E /* "SEIN" */
/* 1 has neither pages nor rounds; up to 2 every URL and result has a row of SQLite. */
#define SN_JOB_FORMAT 3

typedef enum sn_job_table_id {
    SN_TABLE_JOB,  /* one row: what the job is */
    SN_TABLE_HEAD, /* one row: how far it is */
    SN_TABLE_HOST,
    SN_TABLE_ROBOTS,
    SN_TABLE_URL,
    SN_TABLE_REQUEST, /* of URLs that were given with more than their text */
    SN_TABLE_RESULT,
    SN_TABLE_ENDED, /* without a record */
    SN_TABLE_NOTE,
    SN_TABLE_OUTPUT,
    SN_TABLE_PAGE,  /* what the last copy of a page was like, see job_page.h */
    SN_TABLE_ROUND, /* one row: which visit of the whole site this is */
    SN_TABLES
} sn_job_table_id;

typedef struct sn_job_table {
    sn_job_table_id id;
    unsigned n_ints, n_texts;
    bool is_packed;
    sn_sqlite *db;
    sn_sqlite_stmt *put, *all, *get; /* get: by the first integer; NULL: not needed yet */
    uint32_t root;                   /* its first page */
    sn_sqlite_cursor direct;         /* reads in place of `all`, if it is open */
    sn_str rest;                     /* of the pack that is being read … */
    int64_t pack;                    /* … and its number */
} sn_job_table;

/* Declares all tables in an empty database. */
SEINE_MUST_CHECK seine_err sn_job_tables_make(sn_sqlite *db);
/* Makes the tables of a state of an older format those of this one, with all rows but the
 * one of `round`, which format 1 lacks. Inside a transaction. STATE_CORRUPT: they are not
 * ours. */
SEINE_MUST_CHECK seine_err sn_job_tables_upgrade(sn_sqlite *db, int64_t format);
/* STATE_CORRUPT: the declarations are not ours. */
SEINE_MUST_CHECK seine_err sn_job_tables_open(sn_sqlite *db,
                                              sn_job_table out_tables[SN_TABLES]);
const char *sn_job_table_name(sn_job_table_id id);
unsigned sn_job_table_blobs(sn_job_table_id id); /* of the texts, the last ones */
sn_job_pack_shape sn_job_table_stored(const sn_job_table *t); /* a row of SQLite */
int32_t sn_job_table_crc(const sn_job_table *t, const sn_job_row *stored);

SEINE_MUST_CHECK seine_err sn_job_table_put(sn_job_table *t, const sn_job_row *row);
/* Rows of one pack, in order, join those that are there. */
SEINE_MUST_CHECK seine_err sn_job_table_put_pack(sn_job_table *t, int64_t pack,
                                                 sn_str rows);
/* Removes the rows of these keys, which rise, from a table of packs. */
SEINE_MUST_CHECK seine_err sn_job_table_drop(sn_job_table *t, const int64_t *keys,
                                             size_t n);

/* STATE_CORRUPT: the CRC is wrong; row->ints[0] is where, or the first place of a pack
 * that cannot be read. Texts are valid until the next
 * step or reset, which every reading needs: an open one keeps the WAL from shrinking. */
SEINE_MUST_CHECK seine_err sn_job_table_next(sn_job_table *t, sn_job_row *row,
                                             bool *out_there);
/* Until the next reset `next` reads pages. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_table_direct(sn_job_table *t, const sn_sqlite_pages *p);
/* As get, by a cursor of one's own on the pages of the table. */
SEINE_MUST_CHECK seine_err sn_job_table_find(const sn_job_table *t, sn_sqlite_cursor *c,
                                             int64_t key, sn_job_row *row,
                                             bool *out_there);
SEINE_MUST_CHECK seine_err sn_job_table_get(sn_job_table *t, int64_t key, sn_job_row *row,
                                            bool *out_there);

/* The first row behind `key`, for who reads a damaged file: after STATE_CORRUPT
 * *out_there says whether row->ints[0] is the damaged row, or the last place of its pack,
 * or a page cannot be read. The caller owns *stmt, NULL at first. */
SEINE_MUST_CHECK seine_err sn_job_table_after(sn_sqlite *db, const sn_job_table *t,
                                              sn_sqlite_stmt **stmt, int64_t key,
                                              sn_job_row *row, bool *out_there);

/* Ends what next and get have begun: their texts are gone. */
void sn_job_table_reset(sn_job_table *t);

#endif
