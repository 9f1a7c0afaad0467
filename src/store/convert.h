/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - convert between formats: a reader per format makes JSON lines, and one
 * function writes them.
 *
 *     csv rows, sqlite rows, warc records ──► a JSON line ──► sn_convert_line ──► sn_out
 *
 * The first line decides the shape of the rest: records or links of seine, which have
 * fixed columns and tables, or other objects, whose columns are the members of the first
 * one.
 *
 * Time    plays no part.
 * Memory  a line and its JSON tree.
 * Threads one owner.
 */
#ifndef SN_CONVERT_H
#define SN_CONVERT_H

#include "base/buf.h"
#include "base/map.h"
#include "seine/convert.h"
#include "store/convert_source.h"
#include "store/out.h"
#include "store/record_read.h"

enum {
    SN_LOST_NAMES = 48, /* lost members that are named */
    SN_LOST_NAME = 48   /* bytes of a name */
};

/* Members that the target format cannot hold. */
typedef struct sn_lost {
    struct {
        char name[SN_LOST_NAME];
        uint64_t times;
    } names[SN_LOST_NAMES];
    size_t n;
    uint64_t others; /* further ones, not named */
} sn_lost;

/* Of a table that is made of objects: as many as the reader of tables takes. Each row has
 * a comma for each of them. */
enum { SN_CONVERT_COLUMNS = 10000 };

typedef enum sn_shape {
    SN_SHAPE_NONE,
    SN_SHAPE_RECORDS,
    SN_SHAPE_LINKS, /* of `seine check`, as CSV */
    SN_SHAPE_OBJECTS
} sn_shape;

typedef struct sn_convert {
    const seine_convert_opts *opts;
    seine_sink_format from, to;
    seine_diag *diag;
    seine_converted stats;
    sn_convert_source source;
    uint64_t line, column; /* where the reader is; 0: not known */
    sn_record_reader rr;
    /* Reads alone: the caller gets each line or record, and nothing is written. */
    seine_line_fn on_line;
    seine_record_each_fn on_record;
    void *arg;
    bool is_enough; /* the caller wants no more */
    sn_out out;
    bool is_open;
    bool is_strict; /* the next bad line cannot be skipped */
    sn_shape shape;
    sn_lost lost;
    uint64_t last_seq;    /* of rows; each row has its own */
    uint64_t summaries;   /* SQLite keeps one */
    uint64_t bodies_left; /* bodies left out, because they were not asked for */
    sn_buf text;          /* the line being written */
    sn_buf made;          /* the line being read */
    sn_buf cut;           /* a line without its body */
    sn_arena keep;        /* for the whole conversion: column names */
    sn_map column_of;
    struct sn_column *columns; /* of OBJECTS as CSV */
    size_t n_columns;
} sn_convert;

/* Converts a JSON line. OK also for a bad line that is skipped. */
SEINE_MUST_CHECK seine_err sn_convert_line(sn_convert *c, sn_str line);

/* Handles a bad line: skips and reports it, or ends the conversion. `what` is one line
 * without its place. */
SEINE_MUST_CHECK seine_err sn_convert_bad(sn_convert *c, const char *what);

void sn_convert_lost(sn_convert *c, sn_str name);

/* The readers, which read to the end of the input. */
SEINE_MUST_CHECK seine_err sn_convert_from_jsonl(sn_convert *c);
SEINE_MUST_CHECK seine_err sn_convert_from_csv(sn_convert *c);
SEINE_MUST_CHECK seine_err sn_convert_from_sqlite(sn_convert *c);
SEINE_MUST_CHECK seine_err sn_convert_from_warc(sn_convert *c);

/* Appends a JSON string, or base64 in quotes. */
void sn_convert_quote(sn_buf *to, sn_str text);
void sn_convert_base64(sn_buf *to, sn_str bytes);

/* Write an object as a row under the columns of the first object. */
SEINE_MUST_CHECK seine_err sn_convert_head(sn_convert *c, const seine_json *object);
SEINE_MUST_CHECK seine_err sn_convert_row(sn_convert *c, const seine_json *object);

/* Writes a link as a row under the columns of links; the first one writes these. */
SEINE_MUST_CHECK seine_err sn_convert_link(sn_convert *c, const seine_json *link);

/* Writes the text as one line. */
SEINE_MUST_CHECK seine_err sn_convert_put(sn_convert *c, const sn_buf *text, sn_str type,
                                          uint64_t seq);

#endif
