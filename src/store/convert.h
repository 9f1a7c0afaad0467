/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - one conversion: a reader for each format makes JSON lines, and what becomes
 * of a line is decided in one place.
 *
 *     csv rows, sqlite rows, warc records ──► a JSON line ──► sn_convert_line ──► sn_out
 *
 * The first line decides the shape of the rest: records of ours, which have columns and
 * tables, or objects of anybody else's, which have the members of the first one.
 *
 * Time    plays no part.
 * Memory  a line, and the tree of it.
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
    SN_LOST_NAMES = 48, /* names of what was lost that are told */
    SN_LOST_NAME = 48   /* bytes of one */
};

/* What the other format had no place for. */
typedef struct sn_lost {
    struct {
        char name[SN_LOST_NAME];
        uint64_t times;
    } names[SN_LOST_NAMES];
    size_t n;
    uint64_t others; /* that found no room */
} sn_lost;

typedef enum sn_shape { SN_SHAPE_NONE, SN_SHAPE_RECORDS, SN_SHAPE_OBJECTS } sn_shape;

typedef struct sn_convert {
    const seine_convert_opts *opts;
    seine_sink_format from, to;
    seine_diag *diag;
    seine_converted stats;
    sn_convert_source source;
    uint64_t line, column; /* where the reader is; 0: it has no such thing */
    sn_record_reader rr;
    sn_out out;
    bool is_open;
    bool is_strict; /* the next bad line cannot be left out */
    sn_shape shape;
    sn_lost lost;
    uint64_t last_seq;    /* of rows, which have each their own */
    uint64_t summaries;   /* of which SQLite keeps one */
    uint64_t bodies_left; /* out, because nobody asked for them */
    sn_buf text;          /* a line on its way out */
    sn_buf made;          /* a line that a reader makes */
    sn_buf cut;           /* a line without its body */
    sn_arena keep;        /* for the whole conversion: names of columns */
    sn_map column_of;
    struct sn_column *columns; /* of OBJECTS as CSV */
    size_t n_columns;
} sn_convert;

/* A JSON line. OK also for a bad one that is left out. */
SEINE_MUST_CHECK seine_err sn_convert_line(sn_convert *c, sn_str line);

/* A bad one: left out and told, or the end. `what`: one clear line without its place. */
SEINE_MUST_CHECK seine_err sn_convert_bad(sn_convert *c, const char *what);

void sn_convert_lost(sn_convert *c, sn_str name);

/* The readers: to the end of the input. */
SEINE_MUST_CHECK seine_err sn_convert_from_jsonl(sn_convert *c);
SEINE_MUST_CHECK seine_err sn_convert_from_csv(sn_convert *c);
SEINE_MUST_CHECK seine_err sn_convert_from_sqlite(sn_convert *c);
SEINE_MUST_CHECK seine_err sn_convert_from_warc(sn_convert *c);

/* A JSON string, or base64 between quotes. */
void sn_convert_quote(sn_buf *to, sn_str text);
void sn_convert_base64(sn_buf *to, sn_str bytes);

/* An object as a row under the columns of the first one. */
SEINE_MUST_CHECK seine_err sn_convert_head(sn_convert *c, const seine_json *object);
SEINE_MUST_CHECK seine_err sn_convert_row(sn_convert *c, const seine_json *object);

/* The whole text goes out as one line. */
SEINE_MUST_CHECK seine_err sn_convert_put(sn_convert *c, const sn_buf *text, sn_str type,
                                          uint64_t seq);

#endif
