/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - records in another format: JSON lines, CSV, SQLite, WARC.
 *
 * Records stream from one file to another, one in memory at a time; a file of anybody
 * else's rows or objects is converted by the names of its columns or members. What the
 * other format has no place for is left out and named once.
 *
 *     seine_convert_opts o = SEINE_CONVERT_OPTS;
 *     o.in = "pages.jsonl.gz";
 *     o.out = "pages.csv";
 *     e = seine_convert(&o, &stats, why);
 *
 * A line that cannot be read ends it, with its place in `why`; what was converted before
 * stays, whole. With `skip_bad` such lines are told to `note`, counted and left out.
 *
 * Time    what a reader at the other end of a pipe can have it gets before the input is
 *         waited for.
 * Memory  a record (64 MiB at most), a few buffers; not the file.
 * Threads one owner; it blocks until all is done.
 */
#ifndef SEINE_CONVERT_H
#define SEINE_CONVERT_H

#include <stddef.h>

#include "seine/sink.h"

typedef struct seine_convert_opts {
    size_t size;          /* of this struct: SEINE_CONVERT_OPTS sets it */
    const char *in, *out; /* NULL, "-": standard input, standard output */
    /* AUTO: by the name; of a stream by its first bytes; for standard output JSONL */
    seine_sink_format from, to;
    bool append, overwrite; /* neither: an output that exists is ALREADY */
    bool csv_raw;           /* no guards against formulas, written or taken away */
    bool csv_crlf;
    bool skip_bad;
    seine_body_form body; /* of a WARC: NONE, TEXT or B64 */
    /* One line for people: a bad line that was left out, what was lost. `member` is the
     * option that would keep it; NULL: there is none. NULL: nobody is told */
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

SEINE_BEGIN

/* INVAL: there is no such input, or no way from the one format to the other; ALREADY,
 * OUTPUT_CHANGED, STATE_LOCKED: the output; before anything was read or written. PARSE:
 * a bad line, or an input that is damaged. DISK_FULL, OUTPUT_CLOSED, IO, FSYNC_FAILED,
 * NOMEM. The diag says what is wrong. *out_stats is written in any case. */
SEINE_MUST_CHECK seine_err seine_convert(const seine_convert_opts *opts,
                                         seine_converted *out_stats, seine_diag *diag);

SEINE_END

#endif
