/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - one output: a file, a pipe or a function, and the lines that wait for it.
 *
 * Lines are rendered into a buffer of 256 KiB and written in one go, whole ones only,
 * when half of it is used or nothing else is to be done.
 *
 *     e = sn_out_open(&o, &opts, why);        found, locked, nothing changed yet
 *     e = sn_out_start(&o, why);              emptied if asked for; column names
 *     e = sn_out_record(&o, r, seq, why);
 *     e = sn_out_flush(&o, why);
 *     e = sn_out_close(&o, why);
 *
 * A file that cannot be written any further is cut back to its last whole line.
 *
 * Time    plays no part; writing blocks.
 * Memory  the buffer; a longer line makes it grow, once.
 * Threads one owner.
 */
#ifndef SN_SINK_H
#define SN_SINK_H

#include "seine/sink.h"
#include "store/record.h"
#include "store/why.h"

typedef struct sn_out {
    seine_sink_opts opts;
    uint64_t members;
    unsigned how; /* SEINE_CSV_* */
    char name[SN_WHY_NAME];
    char *path; /* of a file this call made: taken away again if never started */
    int fd;     /* -1: none */
    bool is_own, is_started, is_empty, needs_newline;
    char *buf;
    size_t len, room;
    uint64_t lines;          /* in the buffer … */
    bool has_head;           /* … of which the first is no record */
    uint64_t records, bytes; /* written */
} sn_out;

/* `why`: SEINE_WHY bytes. On failure the output is as after close. */
SEINE_MUST_CHECK seine_err sn_out_open(sn_out *o, const seine_sink_opts *opts, char *why);
SEINE_MUST_CHECK seine_err sn_out_start(sn_out *o, char *why);
SEINE_MUST_CHECK seine_err sn_out_record(sn_out *o, const seine_record *r, uint64_t seq,
                                         char *why);
SEINE_MUST_CHECK seine_err sn_out_line(sn_out *o, sn_str line, char *why);
SEINE_MUST_CHECK seine_err sn_out_flush(sn_out *o, char *why);

/* What is in the buffer is not written. A file is on disk afterwards. */
SEINE_MUST_CHECK seine_err sn_out_close(sn_out *o, char *why);
void sn_out_drop(sn_out *o); /* whatever it says */

/* How many of the first n bytes are whole lines, and how many lines. */
size_t sn_out_whole(const sn_out *o, const char *bytes, size_t n, uint64_t *out_lines);

#endif
