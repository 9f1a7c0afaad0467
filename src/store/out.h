/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - one output of a run: what every format has in common, and how one is added.
 *
 * A format is one file that fills in a table of functions, sn_out_ops, a line of the
 * table in out.c, and a row of the table in format.c, which has its name and endings:
 *
 *     const sn_out_ops sn_out_csv = {                     src/store/out_csv.c
 *         .size = sizeof(sn_outtext), .open = open_csv, .start = start_csv, …
 *     };
 *
 *     e = sn_out_open(&o, &opts, &diag);       found, locked, nothing changed yet
 *     e = sn_out_start(&o, &diag);             emptied if asked for; heads written
 *     e = sn_out_record(&o, r, seq, &diag);
 *     e = sn_out_flush(&o, all, &diag);
 *     e = sn_out_close(&o, &diag);
 *
 * An archive or a saver of bodies sets `is_first` and members of the record (warc,
 * body_file), which the outputs behind it then write; what the members look at is its
 * own and stays valid until its next record. A format that writes to a file does so
 * through outfile.h, which knows about append, overwrite, locks and full disks.
 *
 * Time    plays no part; writing blocks.
 * Memory  `self`, and what the format takes.
 * Threads one owner.
 */
#ifndef SN_OUT_H
#define SN_OUT_H

#include "base/diag.h"
#include "seine/sink.h"
#include "store/record.h"

typedef struct sn_out sn_out;

/* A line that is no record: a summary, an event. */
typedef struct sn_said {
    sn_str type;
    uint64_t seq;
    sn_str text; /* the whole JSON line with its newline */
} sn_said;

/* `diag`: one clear line on failure, or left empty for the text of the
 * error. */
typedef struct sn_out_ops {
    size_t size;   /* of self, which is zeroed before open */
    bool is_first; /* sets members of the record */
    seine_span
        patience; /* how long a record may wait for a flush of all; 0: not at all */
    seine_err (*open)(sn_out *o, seine_diag *diag);
    seine_err (*start)(sn_out *o,
                       seine_diag *diag); /* NULL: nothing to do; so are line, flush */
    seine_err (*record)(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag);
    seine_err (*line)(sn_out *o, const sn_said *said, seine_diag *diag);
    /* What waits goes out; `all` of it when nothing else is to be done, at the end, or
     * when the patience is over. Bytes that are there make sense to any reader. */
    seine_err (*flush)(sn_out *o, bool all, seine_diag *diag);
    /* Also after a failed open, and if never started: then it is as if never opened.
     * What was not flushed is dropped. A file is on disk afterwards. */
    seine_err (*close)(sn_out *o, seine_diag *diag);
} sn_out_ops;

struct sn_out {
    const sn_out_ops *ops;
    seine_sink_opts opts; /* format and pack are decided; path is ours */
    uint64_t members;     /* of seine_members */
    unsigned how;         /* SEINE_CSV_* */
    char name[SEINE_DIAG_FILE];
    void *self;
    bool is_started;
    uint64_t last_seq;       /* set by open: of the records that are there already */
    uint64_t records, bytes; /* written; kept by the format */
    uint64_t dev, ino;       /* of what it writes to; ino 0: nothing of its own */
    seine_time since;        /* of whoever flushes: 0, or a record waits since then */
};

/* On failure the output is as after close. */
SEINE_MUST_CHECK seine_err sn_out_open(sn_out *o, const seine_sink_opts *opts,
                                       seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_start(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_record(sn_out *o, seine_record *r, uint64_t seq,
                                         seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_line(sn_out *o, const sn_said *said, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_flush(sn_out *o, bool all, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_close(sn_out *o, seine_diag *diag);
void sn_out_drop(sn_out *o); /* close, whatever it says */

/* The formats. */
extern const sn_out_ops sn_out_jsonl, sn_out_csv, sn_out_raw, sn_out_call, sn_out_save,
    sn_out_sqlite, sn_out_warc;

#endif
