/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - a file, pipe or device to write to, always complete pieces.
 *
 *     e = sn_outfile_open(&f, &o, &diag);      opened or created; locked; unchanged
 *     e = sn_outfile_start(&f, &o, &diag);     truncated if asked for, else at its end
 *     if (!sn_outfile_write(&f, bytes, &done)) {
 *         e = sn_outfile_fail(&o, errno, &diag);
 *         sn_outfile_take_back(&f, done - whole);
 *     }
 *     e = sn_outfile_close(&f, &o, &diag);     synced; a new, unstarted file is removed
 *
 * `size` is where the next byte of a plain file goes. An output that appends looks at the
 * bytes before it in open.
 *
 * A pipe takes pieces of at most PIPE_BUF bytes that end with a line if they can: each is
 * in the pipe whole or not at all, whenever the process ends.
 *
 * Time    plays no part; writing blocks, until sn_out.hurry says otherwise.
 * Memory  none.
 * Threads one owner.
 */
#ifndef SN_OUTFILE_H
#define SN_OUTFILE_H

#include "store/out.h"

typedef struct sn_outfile {
    int fd;          /* -1: none */
    sn_hurry *hurry; /* NULL: it does not block, or may */
    bool is_open;    /* by open; also the caller's descriptor */
    bool is_own;     /* opened here */
    bool is_new;     /* created by open: removed again if never started */
    bool is_plain;   /* has a length, and can be truncated */
    bool is_screen;  /* a terminal: gets text that it does not obey (base/inert.h) */
    uint64_t size;   /* of a plain file; 0 if it will be overwritten */
} sn_outfile;

SEINE_MUST_CHECK seine_err sn_outfile_open(sn_outfile *f, sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outfile_start(sn_outfile *f, sn_out *o, seine_diag *diag);

/* Writes all bytes; else returns false with errno and how many. */
bool sn_outfile_write(sn_outfile *f, sn_str bytes, size_t *out_done);

/* Reads `n` bytes at `at` of a plain file. False if they are not there. */
bool sn_outfile_read(const sn_outfile *f, char *to, size_t n, uint64_t at);

/* Truncates a plain file by n bytes; does nothing to others. */
void sn_outfile_take_back(sn_outfile *f, size_t n);

/* Maps errno to an error, with a line such as "cannot write x: …; 8,112 records are
 * safe". */
seine_err sn_outfile_fail(const sn_out *o, int error, seine_diag *diag);

/* The same for an output whose end fails (fsync, close): nothing is known to be safe.
 * Returns `e`. */
seine_err sn_outfile_fail_end(const sn_out *o, seine_err e, int error, seine_diag *diag);

/* ALREADY, with a line such as "x exists (1.2 MB)". */
seine_err sn_outfile_exists(const sn_out *o, int64_t size, seine_diag *diag);

/* Of a plain file. */
bool sn_outfile_length(const sn_outfile *f, sn_out_length *out);

SEINE_MUST_CHECK seine_err sn_outfile_close(sn_outfile *f, sn_out *o, seine_diag *diag);

#endif
