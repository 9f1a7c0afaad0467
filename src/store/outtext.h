/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outtext.h - the lines that wait for a file: what JSON lines and CSV have in common.
 *
 * Lines are rendered into a buffer of 256 KiB and written in one go, whole ones only,
 * when half of it is used or nothing else is to be done. A file that cannot be written
 * any further is cut back to its last whole line.
 *
 * Packed, all lines of the buffer are one member of their own: when it is full, when
 * nothing else is to be done, or after a second. What a killed run left of a member is
 * cut off before something is appended.
 *
 * Time    plays no part; writing blocks.
 * Memory  the buffer; a longer line makes it grow, once.
 * Threads one owner.
 */
#ifndef SN_OUTTEXT_H
#define SN_OUTTEXT_H

#include "store/outfile.h"
#include "store/pack.h"

/* Writes the line; a NULL record is the line of column names. */
typedef void (*sn_outtext_render)(const sn_out *o, sn_text_writer *p,
                                  const seine_record *r, uint64_t seq);

/* Bytes of the line that `bytes` begin with, its end included; 0: it is not whole. */
typedef size_t (*sn_outtext_row)(const char *bytes, size_t n);

typedef struct sn_outtext {
    sn_outfile file;
    sn_outtext_render render;
    sn_outtext_row row;
    bool is_empty;      /* what is written is the first of the file */
    bool needs_newline; /* the last line that is there lacks it */
    bool is_packed;
    sn_pack pack;
    uint64_t torn; /* bytes at the end of a packed file to be cut off */
    char *buf;
    size_t len, room;
    uint64_t lines; /* in the buffer … */
    bool has_head;  /* … of which the first is no record */
} sn_outtext;

/* `render` and `row` are set before. */
SEINE_MUST_CHECK seine_err sn_outtext_open(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_start(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_head(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_record(sn_out *o, seine_record *r, uint64_t seq,
                                             seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_line(sn_out *o, const sn_said *said,
                                           seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_flush(sn_out *o, bool all, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outtext_close(sn_out *o, seine_diag *diag);

/* How long lines may wait for others to be packed with. */
#define SN_OUTTEXT_PATIENCE SEINE_SECS(1)

/* How many of the first n bytes are whole lines, and how many lines. */
size_t sn_outtext_whole(const sn_outtext *t, sn_str bytes, uint64_t *out_lines);

#endif
