/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - convert records between JSON lines, CSV, SQLite and WARC.
 *
 * Records stream from one file to another, one in memory at a time. Rows or objects of
 * other programs are converted by the names of their columns or members. Members that the
 * target format cannot hold are left out and named once.
 *
 *     seine_convert_opts o = SEINE_CONVERT_OPTS;
 *     o.in = "pages.jsonl.gz";
 *     o.out = "pages.csv";
 *     e = seine_convert(&o, &stats, &diag);
 *
 * A bad line ends the conversion, and the diag names its place; records before it are
 * written completely. With `skip_bad` bad lines are reported to `note`, counted and left
 * out.
 *
 * Time    the output is flushed before a read that would block, so a reader of a pipe
 *         never waits for more input than needed.
 * Memory  a record (at most 64 MiB) and a few buffers, never the whole file.
 * Threads one owner; the call blocks until all is done.
 */
#ifndef SEINE_CONVERT_H
#define SEINE_CONVERT_H

#include <stddef.h>

#include "seine/sink.h"

typedef struct seine_convert_opts {
    size_t size;          /* of this struct: SEINE_CONVERT_OPTS sets it */
    const char *in, *out; /* NULL, "-": standard input, standard output */
    /* AUTO: by the name, else by the first bytes; JSONL for standard output */
    seine_sink_format from, to;
    bool append, overwrite; /* neither: an output that exists is ALREADY */
    bool csv_raw;           /* writes or removes no guards against formulas */
    bool csv_crlf;
    bool skip_bad;
    seine_body_form body; /* of a WARC: NONE, TEXT or B64 */
    /* Called with one line for people: a skipped line, or what was lost. `member` is the
     * option that would keep it, or NULL. May be NULL */
    void (*note)(const char *line, const char *member, void *arg);
    void *arg;
} seine_convert_opts;

/* clang-format off */
#define SEINE_CONVERT_OPTS {sizeof(seine_convert_opts), 0, 0, SEINE_SINK_AUTO, SEINE_SINK_AUTO, false, false, false, false, false, SEINE_BODY_NONE, 0, 0}
/* clang-format on */

typedef struct seine_converted {
    uint64_t records; /* written: records, rows, objects, summaries */
    uint64_t bad;     /* lines that were left out */
} seine_converted;

/* Answer whether to go on. */
typedef bool (*seine_line_fn)(const char *line, size_t n, void *arg);
typedef bool (*seine_record_each_fn)(const seine_record *r, uint64_t seq, void *arg);

SEINE_BEGIN

/* INVAL: no such input, or no conversion between these formats. ALREADY, OUTPUT_CHANGED,
 * STATE_LOCKED: the output, before anything is read or written. PARSE: a bad line or a
 * damaged input. DISK_FULL, OUTPUT_CLOSED, IO, FSYNC_FAILED, NOMEM. The diag says what is
 * wrong. *out_stats is always written. */
SEINE_MUST_CHECK seine_err seine_convert(const seine_convert_opts *opts,
                                         seine_converted *out_stats, seine_diag *diag);

/* Reads an output back, whatever its format: JSON lines or CSV, packed or not, SQLite,
 * WARC. `fn` gets each line as JSON, or each result and skip as a record. A line that is
 * damaged is passed over. PARSE: the packed bytes are damaged or cut off; what stands
 * before was given. INVAL: there is no such file. IO, NOMEM. The diag says what is wrong.
 */
SEINE_MUST_CHECK seine_err seine_lines_each(const char *path, seine_line_fn fn, void *arg,
                                            seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_records_each(const char *path, seine_record_each_fn fn,
                                              void *arg, seine_diag *diag);

SEINE_END

#endif
