/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outtext.h - a buffer of lines for a file, used by JSON lines and CSV.
 *
 * Lines are rendered into a buffer of 256 KiB. Complete lines are written when half of it
 * is used, or when the sink thread is idle. After a write error the file is truncated to
 * its last complete line.
 *
 * In a compressed file the lines of the buffer become one gzip member or zstd frame: when
 * the buffer is full, when the sink thread is idle, or after a second. An incomplete
 * member, left by a killed run, is cut off before anything is appended.
 *
 * Time    plays no part; writing blocks.
 * Memory  the buffer; a longer line is written while it is rendered.
 * Threads one owner.
 */
#ifndef SN_OUTTEXT_H
#define SN_OUTTEXT_H

#include "store/outfile.h"
#include "store/pack.h"

/* Renders the line; a NULL record means the line of column names. */
typedef void (*sn_outtext_render)(const sn_out *o, sn_text_writer *p,
                                  const seine_record *r, uint64_t seq);

/* Returns the bytes of the first line, its end included; 0: it is incomplete. */
typedef size_t (*sn_outtext_row)(const char *bytes, size_t n);

typedef struct sn_outtext {
    sn_outfile file;
    sn_outtext_render render;
    sn_outtext_row row;
    bool is_empty;      /* nothing was written to the file yet */
    bool needs_newline; /* the last existing line lacks it */
    bool is_packed;
    sn_pack pack;
    uint64_t torn; /* bytes to cut off at the end of a compressed file */
    char *buf;
    size_t len, room;
    uint64_t lines; /* lines in the buffer … */
    bool has_head;  /* … of which the first is the header */
} sn_outtext;

/* Set `render` and `row` before. */
SEINE_MUST_CHECK seine_err sn_outtext_open(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_start(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_head(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_record(sn_out *o, seine_record *r, uint64_t seq,
                                             seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_line(sn_out *o, const sn_said *said,
                                           seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_flush(sn_out *o, bool all, seine_diag *diag);
bool sn_outtext_length(sn_out *o, sn_out_length *out);
SEINE_MUST_CHECK seine_err sn_outtext_close(sn_out *o, seine_diag *diag);

/* Writes a line that is longer than the buffer, which is empty. */
SEINE_MUST_CHECK seine_err sn_outtext_stream(sn_out *o, const seine_record *r,
                                             uint64_t seq, seine_diag *diag);

/* How long lines may wait to be compressed together. */
#define SN_OUTTEXT_PATIENCE SEINE_SECS(1)

/* Returns how many bytes are complete lines, and counts the lines. */
size_t sn_outtext_whole(const sn_outtext *t, sn_str bytes, uint64_t *out_lines);

#endif
