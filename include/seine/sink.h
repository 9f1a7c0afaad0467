/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - write records to files, pipes, databases and archives, on a thread of its own.
 *
 * Shards put records into lanes and never wait. One thread takes them out, gives each its
 * `seq` (1, 2, 3 …), renders it for every output and writes complete records. All outputs
 * get the same records. If the thread cannot keep up, a lane is not ready, and the engine
 * starts no request until it is: back-pressure instead of memory.
 *
 *     e = seine_sinks_new(&(seine_sinks_opts)SEINE_SINKS_OPTS, &s);
 *     seine_sink_opts opts = SEINE_SINK_OPTS;
 *     opts.path = "out.jsonl";
 *     e = seine_sinks_open(s, &opts, &diag);
 *     e = seine_sinks_start(s, threads);
 *     …  seine_sinks_put(s, shard, record)        from the shard's callback
 *     e = seine_sinks_close(s);                   all of it is on disk
 *
 * An error is permanent: DISK_FULL, OUTPUT_CLOSED (the reader of a pipe has gone), IO.
 * Then `failed` is called, and put drops records. The output stays valid: its last line,
 * member or batch is complete.
 *
 * Time    records carry their own wall time.
 * Memory  1 MiB per lane and large records in it; the reorder buffer of `ordered`.
 * Threads put and poll: the owner of the lane; close, open: one owner; the rest any.
 */
#ifndef SEINE_SINK_H
#define SEINE_SINK_H

#include <stddef.h>

#include "seine/diag.h"
#include "seine/metrics.h"
#include "seine/record.h"

typedef struct seine_sinks seine_sinks;

typedef enum seine_sink_format {
    SEINE_SINK_AUTO, /* by the extension: .jsonl .ndjson .csv .sqlite .warc; else INVAL */
    SEINE_SINK_JSONL,
    SEINE_SINK_CSV,
    SEINE_SINK_RAW,  /* bodies of ok results alone */
    SEINE_SINK_CALL, /* opts.call */
    SEINE_SINK_SQLITE,
    SEINE_SINK_WARC,
    SEINE_SINK_SAVE,  /* path: a directory; bodies named by their hash */
    SEINE_SINK_NAMED, /* path: a directory; bodies of ok results, named by their URL */
    SEINE_SINK_MIRROR /* path: a directory; pages for a copy of a site: mirror.h */
} seine_sink_format;

/* JSON lines, CSV and WARC can be compressed. */
typedef enum seine_sink_pack {
    SEINE_PACK_AUTO, /* by the ending after that of the format: .gz .zst */
    SEINE_PACK_NONE,
    SEINE_PACK_GZIP,
    SEINE_PACK_ZSTD
} seine_sink_pack;

/* Called on the sink thread. Anything but OK ends the run like a failed write. */
typedef seine_err (*seine_sink_fn)(const seine_record *r, uint64_t seq, void *arg);

typedef struct seine_sink_opts {
    size_t size; /* of this struct: SEINE_SINK_OPTS sets it */
    seine_sink_format format;
    seine_sink_pack pack;
    const char *path;       /* "-": standard output; NULL: fd; copied */
    int fd;                 /* owned by the caller */
    bool append, overwrite; /* neither: a file that exists is ALREADY */
    bool csv_raw, csv_crlf;
    bool no_skips;        /* of this sink */
    seine_members fields; /* bits 0: the standard set */
    seine_body_form body;
    bool repeats;           /* a key may repeat: SQLite's key is then not unique */
    const char *command;    /* the command to name in the output; NULL: none */
    uint64_t max_file;      /* WARC: bytes after which x-00002 begins; 0: one file */
    const char *user_agent; /* WARC: as sent; NULL: not written */
    const char *robots;     /* WARC: the robots.txt policy; NULL: not written */
    seine_sink_fn call;
    void *arg;
    bool only_changes; /* of this sink: new, changed and gone pages of an incremental
                          crawl, and no other records */
    bool header_names; /* NAMED: by Content-Disposition, if a response has one */
    bool only_failed;  /* of this sink: results that are not ok, and nothing else: a list
                          that seine_input reads */
    bool no_lines;     /* of this sink: records, and no summary or event between them */
    const char *columns; /* CSV: these and no others, in this order; NULL: the fixed ones;
                            copied */
    const char *const *keep; /* of this sink: results whose URL or media type is in the
                                list, and no other records; ended by NULL. NULL: all;
                                copied */
    bool links; /* SQLite: the links of all pages, with SEINE_KEEP_TARGETS; each counts in
                   `seq` */
    uint32_t referrers; /* records of failed URLs have up to so many pages that link to
                           them, with SEINE_KEEP_TARGETS, and are written at the next
                           drain, in all outputs but CALL without `referrers`, which
                           gets them at once with seq 0; 0: off */
    const char *const *data; /* CSV and SQLite: fields of the data of records, which get a
                                column each (extract.h); in `columns` the word data.*
                                means all of them; ended by NULL. NULL: none; copied */
    const struct seine_item_sink *items; /* the items of pages that this sink takes
                                            (record_items.h), outlives it; NULL: none */
} seine_sink_opts;

/* clang-format off */
#define SEINE_SINK_OPTS {sizeof(seine_sink_opts), SEINE_SINK_AUTO, SEINE_PACK_AUTO, NULL, 0, false, false, false, false, false, {0}, SEINE_BODY_NONE, false, NULL, 0, NULL, NULL, NULL, NULL, false, false, false, false, NULL, NULL, false, 0, NULL, NULL}
/* clang-format on */

typedef struct seine_sinks_opts {
    size_t size;             /* of this struct: SEINE_SINKS_OPTS sets it */
    bool ordered;            /* in input order; needs a bounded number in flight */
    uint32_t window;         /* of `ordered`: records that may wait, 65536 */
    size_t ring_size;        /* 1 MiB, with a job four times as much; less if there are
                                more than two lanes */
    void (*room)(void *arg); /* a lane is ready again; any thread. NULL */
    void (*failed)(seine_err e, void *arg); /* on the sink thread. NULL */
    void *arg;
    struct seine_durable_job *job; /* seine/job.h: records are durable with it; NULL */
} seine_sinks_opts;

/* clang-format off */
#define SEINE_SINKS_OPTS {sizeof(seine_sinks_opts), false, 65536, 1u << 20, 0, 0, 0, 0}
/* clang-format on */

typedef struct seine_sinks_stats {
    uint64_t records; /* written to all outputs */
    uint64_t bytes;   /* in all files together */
    uint64_t seq;     /* the last one assigned */
} seine_sinks_stats;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_sinks_new(const seine_sinks_opts *opts,
                                           seine_sinks **out_sinks);

/* Call it before start. Opens and locks the file at once, so that a mistake shows before
 * the first request. The file changes only at start; a new file is removed again if there
 * is no start. ALREADY: the file exists. OUTPUT_CHANGED, STATE_FOREIGN, STATE_NEWER:
 * cannot append to it. INVAL: unknown format, or the file is an output already. IO,
 * DISK_FULL, STATE_LOCKED, NOMEM. The diag is one line. */
SEINE_MUST_CHECK seine_err seine_sinks_open(seine_sinks *s, const seine_sink_opts *opts,
                                            seine_diag *diag);

/* Starts the thread and that many lanes. INVAL, NOMEM, or the error of
 * seine_sinks_err. */
SEINE_MUST_CHECK seine_err seine_sinks_start(seine_sinks *s, unsigned lanes);

/* Copies the record into the lane. Never refuses a record of a request that was started
 * while the lane was ready. NOMEM. */
SEINE_MUST_CHECK seine_err seine_sinks_put(seine_sinks *s, unsigned lane,
                                           const seine_record *r);

/* Is the lane ready for more? False: opts.room is called when it is again. */
bool seine_sinks_poll(const seine_sinks *s, unsigned lane);

/* With `ordered`: returns the number that is due. Give the engine no URL whose number is
 * `window` or more above it: a full window stops new requests, and the due URL may be
 * among them. Any thread. */
uint64_t seine_sinks_due(const seine_sinks *s);

/* Returns the first error; the diag names the file. */
seine_err seine_sinks_err(const seine_sinks *s, seine_diag *diag);

/* Writes a line to every JSON lines output (the summary, an event), after all records put
 * before. The line is `{"v":1,"type":"summary","seq":` … followed by `members`, a text
 * without braces. */
SEINE_MUST_CHECK seine_err seine_sinks_line(seine_sinks *s, const char *type,
                                            const char *members, size_t len);

/* As seine_sinks_line, for the summary of a run that another one goes on from. With a job
 * all records put so far are committed first, and the line is not: the next run cuts it
 * off, so that the outputs of a job end in one summary. Nothing else may follow it. */
SEINE_MUST_CHECK seine_err seine_sinks_last_line(seine_sinks *s, const char *type,
                                                 const char *members, size_t len);

/* As seine_sinks_line, for the summary of a run that ends its job. It is committed
 * together with all records put before, and belongs to the outputs as soon as
 * seine_job_end says that the job is finished: a run that goes on after a kill cuts it
 * off and writes another one. */
SEINE_MUST_CHECK seine_err seine_sinks_end_line(seine_sinks *s, const char *type,
                                                const char *members, size_t len);

/* Writes the slices of a run to every SQLite output, table `timeline`, in place of those
 * of the same moments; other outputs have no place for them. See timeline.h. NOMEM. */
struct seine_timeline;
SEINE_MUST_CHECK seine_err seine_sinks_timeline(seine_sinks *s,
                                                const struct seine_timeline *t);

/* Writes an event `page.orphan` for every page that nothing names any more (job_view.h),
 * once in a round, whoever is killed. All URLs have ended. INVAL: no job. NOMEM. */
SEINE_MUST_CHECK seine_err seine_sinks_orphans(seine_sinks *s);

/* Waits until all records put so far are written and flushed; with `ordered`, no longer
 * waits for missing numbers. Returns the first error. */
SEINE_MUST_CHECK seine_err seine_sinks_drain(seine_sinks *s);

/* Drains, closes the outputs and joins the thread. */
SEINE_MUST_CHECK seine_err seine_sinks_close(seine_sinks *s);

/* The run must end: from now on a pipe or terminal that takes nothing for 20 ms is a
 * failed output (DEADLINE), and open waits for no reader. Files are written to their end.
 * Any thread. */
void seine_sinks_hurry(seine_sinks *s);

/* Lets the outputs rest between two records, for ever: the caller is about to end the
 * process. False: one of them still writes after that span. Any thread. */
bool seine_sinks_halt(seine_sinks *s, seine_span patience);
void seine_sinks_free(seine_sinks *s); /* closes what is open; NULL is fine */

/* Before start: counts in seine_output_…; NULL: nowhere. CLOSED; as registering says. */
SEINE_MUST_CHECK seine_err seine_sinks_metrics(seine_sinks *s, seine_metrics *m);
void seine_sinks_stats_get(const seine_sinks *s, seine_sinks_stats *out_stats);

SEINE_END

#endif
