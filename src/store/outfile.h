/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - a file, pipe or device that an output writes to, whole pieces only.
 *
 *     e = sn_outfile_open(&f, &o, &diag);      found, made or refused; locked; unchanged
 *     e = sn_outfile_start(&f, &o, &diag);     emptied if asked for, at its end
 *     if (!sn_outfile_write(&f, bytes, &done)) {
 *         e = sn_outfile_fail(&f, &o, errno, &diag);
 *         sn_outfile_take_back(&f, done - whole);
 *     }
 *     e = sn_outfile_close(&f, &o, &diag);     synced; a new one that never started is
 * gone
 *
 * `size` is where the next byte of a plain file goes: an output that was told to append
 * finds there what it has to look at before it says yes.
 *
 * Time    plays no part; writing blocks.
 * Memory  none.
 * Threads one owner.
 */
#ifndef SN_OUTFILE_H
#define SN_OUTFILE_H

#include "store/out.h"

typedef struct sn_outfile {
    int fd;        /* -1: none */
    bool is_open;  /* by open, also of the caller's descriptor */
    bool is_own;   /* opened here */
    bool is_new;   /* made by open: taken away again if never started */
    bool is_plain; /* has a length, and can be cut */
    uint64_t size; /* of a plain file: its end; 0 when it is to be overwritten */
} sn_outfile;

SEINE_MUST_CHECK seine_err sn_outfile_open(sn_outfile *f, sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_outfile_start(sn_outfile *f, sn_out *o, seine_diag *diag);

/* All of it; else false, errno, and how much. */
bool sn_outfile_write(sn_outfile *f, sn_str bytes, size_t *out_done);

/* Of a plain file: `n` bytes at `at`. False when they are not there. */
bool sn_outfile_read(const sn_outfile *f, char *to, size_t n, uint64_t at);

/* A plain file without its last n bytes; others stay as they are. */
void sn_outfile_take_back(sn_outfile *f, size_t n);

/* The kind of errno, and one line: "cannot write x: …; 8,112 records are safe". */
seine_err sn_outfile_fail(const sn_out *o, int error, seine_diag *diag);

/* ALREADY, and one line: "x exists (1.2 MB)". */
seine_err sn_outfile_exists(const sn_out *o, int64_t size, seine_diag *diag);

SEINE_MUST_CHECK seine_err sn_outfile_close(sn_outfile *f, sn_out *o, seine_diag *diag);

#endif
