/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - one output of a run, whatever its format, and how to add a format.
 *
 * A format is one file that fills in a table of functions, sn_out_ops, plus a line in the
 * table of out.c and a row in the table of format.c with its name and endings:
 *
 *     const sn_out_ops sn_out_csv = {                     src/store/out_csv.c
 *         .size = sizeof(csv_output), .open = open_csv, .start = start_csv, …
 *     };
 *
 *     e = sn_out_open(&o, &opts, hurry, &diag);  found, locked, nothing changed yet
 *     e = sn_out_start(&o, &diag);             emptied if asked for; heads written
 *     e = sn_out_record(&o, r, seq, &diag);
 *     e = sn_out_flush(&o, all, &diag);
 *     e = sn_out_close(&o, &diag);
 *
 * An archive or a saver of bodies has `is_first` set and sets members of the record
 * (warc, body_file), which the outputs after it then write; these views stay valid until
 * its next record. A format that writes to a file uses outfile.h, which handles append,
 * overwrite, locks and full disks.
 *
 * Time    plays no part; writing blocks.
 * Memory  `self`, and what the format allocates.
 * Threads one owner.
 */
#ifndef SN_OUT_H
#define SN_OUT_H

#include "base/diag.h"
#include "seine/record_links.h"
#include "seine/sink.h"
#include "store/hurry.h"
#include "store/record.h"

typedef struct sn_out sn_out;

/* A line that is no record: a summary or an event. */
typedef struct sn_said {
    sn_str type;
    uint64_t seq;
    sn_str text; /* the JSON line with its newline */
} sn_said;

/* How far the output was written; for a job. */
typedef struct sn_out_length {
    int fd;
    uint64_t size;    /* bytes; of a database the last seq */
    unsigned number;  /* of the file, if there are several; else 0 */
    bool is_database; /* synced by its own commits */
} sn_out_length;

/* `diag`: one line on failure, or empty for the text of the error. */
typedef struct sn_out_ops {
    size_t size;         /* of self, which is zeroed before open */
    bool is_first;       /* sets members of the record */
    bool items_only;     /* with opts.items it takes no records */
    seine_span patience; /* longest wait of a record for a full flush; 0: none */
    seine_err (*open)(sn_out *o, seine_diag *diag);
    seine_err (*start)(sn_out *o,
                       seine_diag *diag); /* NULL: nothing to do; likewise line, flush */
    seine_err (*record)(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag);
    /* Of opts.links: the links of the page, whatever else the output leaves out; their
     * numbers follow that of the record. NULL: it has no place for them. */
    seine_err (*links)(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag);
    /* Of opts.items: the items of the page. Their numbers follow `seq`. NULL: it has no
     * place for them. */
    seine_err (*items)(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag);
    seine_err (*line)(sn_out *o, const sn_said *said, seine_diag *diag);
    /* Slices of the timeline, a line of JSON each. NULL: it has no place for them. */
    seine_err (*slices)(sn_out *o, sn_str lines, seine_diag *diag);
    /* Writes what waits; `all` of it when the sink thread is idle, at the end, or when
     * the patience is over. The bytes written are always complete for a reader. */
    seine_err (*flush)(sn_out *o, bool all, seine_diag *diag);
    /* Of what was flushed. False, or NULL: it has none. */
    bool (*length)(sn_out *o, sn_out_length *out);
    /* Called also after a failed open, and if never started: then the file is as before
     * open. Drops what was not flushed. Syncs the file to disk. */
    seine_err (*close)(sn_out *o, seine_diag *diag);
} sn_out_ops;

struct sn_out {
    const sn_out_ops *ops;
    seine_sink_opts opts; /* with format and pack decided; path is a copy */
    uint64_t members;     /* of seine_members */
    unsigned how;         /* SEINE_CSV_* */
    char name[SEINE_DIAG_FILE];
    void *self;
    sn_hurry *hurry; /* NULL: its writes may block for ever */
    bool is_started;
    sn_str job;                            /* its name; NULL: none */
    uint64_t job_id;                       /* no other job on this machine has it */
    const struct seine_durable_job *owner; /* NULL: no job */
    uint64_t synced;                       /* bytes of its file that the job has synced */
    bool is_durable;      /* belongs to a job: a commit of a database is synced */
    const char *job_path; /* the path as it was given, if it belongs to a job; owned */
    uint64_t marked_seq;  /* of a job: the last row that it has committed here; 0: none */
    uint64_t cut_seq;     /* of a job: later rows of a database are removed at start */
    uint64_t last_seq;    /* set by open: of existing records */
    uint64_t records, bytes;           /* written; counted by the format */
    uint64_t told_records, told_bytes; /* of these: the metrics know */
    uint64_t dev, ino;                 /* of the file; ino 0: none of its own */
    struct sn_record_filter *filter;   /* NULL: all records */
    seine_time since; /* since when a record waits for a flush; 0: none */
};

/* On failure the output is closed. */
SEINE_MUST_CHECK seine_err sn_out_open(sn_out *o, const seine_sink_opts *opts,
                                       sn_hurry *hurry, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_start(sn_out *o, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_record(sn_out *o, seine_record *r, uint64_t seq,
                                         seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_links(sn_out *o, const seine_record *r, uint64_t seq,
                                        seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_items(sn_out *o, const seine_record *r, uint64_t seq,
                                        seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_line(sn_out *o, const sn_said *said, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_slices(sn_out *o, sn_str lines, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_flush(sn_out *o, bool all, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_close(sn_out *o, seine_diag *diag);
void sn_out_drop(sn_out *o); /* closes it and ignores errors */

/* The formats. */
extern const sn_out_ops sn_out_jsonl, sn_out_csv, sn_out_raw, sn_out_call, sn_out_save,
    sn_out_sqlite, sn_out_warc, sn_out_named, sn_out_mirror;

#endif
