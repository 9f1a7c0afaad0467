/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the records of a run, read from its database while the run may write it.
 *
 * A page of records begins behind a number and has those for which a condition holds, in
 * the order of their numbers: results, skips and the items of recipes. What is read is
 * bounded: a condition that hardly any record fulfils ends the page with the number that
 * the next one begins at.
 *
 *     sn_records_query q = {.path = path, .after = 120, .limit = 200};
 *     e = sn_records_read(&q, on_line, arg, &end, &diag);
 *
 * Time    plays no part; a page reads at most SN_RECORDS_SCAN rows.
 * Memory  a record.
 * Threads any thread that may wait for a disk; one query has one owner.
 */
#ifndef SN_RECORDS_H
#define SN_RECORDS_H

#include "base/buf.h"
#include "seine/diag.h"
#include "seine/time.h"

enum { SN_RECORDS_SCAN = 50000, SN_RECORDS_LINE = 4 << 20 };

typedef struct sn_records_query {
    const char *path;
    uint64_t after;    /* 0: from the first on */
    uint64_t limit;    /* records; 0: no bound but that of rows */
    const char *where; /* a condition, "": all */
    seine_span cpu;    /* that the condition may take; 0: half a second */
} sn_records_query;

typedef struct sn_records_end {
    uint64_t next;  /* the number behind which the next page begins */
    bool is_all;    /* there is nothing behind it now */
    uint64_t found; /* records that were given */
} sn_records_end;

/* `line` is a JSON object. False: that is enough. */
typedef bool (*sn_records_fn)(uint64_t seq, sn_str line, void *arg);

/* UNKNOWN: there is no database yet. CONFIG: not a condition, and the diag says where.
 * IO, STATE_…, NOMEM. */
SEINE_MUST_CHECK seine_err sn_records_read(const sn_records_query *q, sn_records_fn fn,
                                           void *arg, sn_records_end *out_end,
                                           seine_diag *diag);

/* One record as JSON; UNKNOWN: there is none. */
SEINE_MUST_CHECK seine_err sn_records_one(const char *path, uint64_t seq, sn_buf *out);
/* Its stored body, of a row of a recipe that of its page; UNKNOWN: there is none. */
SEINE_MUST_CHECK seine_err sn_records_body(const char *path, uint64_t seq, sn_buf *out);

/* Groups as JSON members: "groups":[…] of errors, "skips":[…] of skips. */
SEINE_MUST_CHECK seine_err sn_records_errors(const char *path, sn_buf *out);
SEINE_MUST_CHECK seine_err sn_records_skips(const char *path, sn_buf *out);
SEINE_MUST_CHECK seine_err sn_records_hosts(const char *path, sn_str match, sn_buf *out);
/* The members of one host, and what failed there: "timeline":[…], the first hundred.
 * UNKNOWN: no record is of it. */
SEINE_MUST_CHECK seine_err sn_records_host(const char *path, sn_str host, sn_buf *out);

/* Columns of items, "item.sku", by a comma; "" if there are none. */
SEINE_MUST_CHECK seine_err sn_records_columns(const char *path, sn_buf *out);

/* The members of a record that `fields` names, by paths like item.sku, as an object or as
 * a row of CSV. */
void sn_records_project(sn_str line, const char *fields, sn_buf *out);
void sn_records_csv(sn_str line, const char *fields, sn_buf *out);
void sn_records_csv_head(const char *fields, sn_buf *out);

#endif
