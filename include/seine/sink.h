/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - where records go: files, pipes, databases and archives, written by a thread of
 * their own.
 *
 * Shards put records into lanes and never wait; one thread takes them out, gives each
 * its `seq` (1, 2, 3 …), renders it for every output and writes whole records. All
 * outputs get the same ones. When the thread cannot keep up, a lane says that it is not
 * ready, and the engine starts no request until it is: back-pressure, not memory.
 *
 *     e = seine_sinks_new(&(seine_sinks_opts)SEINE_SINKS_OPTS, &s);
 *     seine_sink_opts opts = SEINE_SINK_OPTS;
 *     opts.path = "out.jsonl";
 *     e = seine_sinks_open(s, &opts, &diag);
 *     e = seine_sinks_start(s, threads);
 *     …  seine_sinks_put(s, shard, record)        from the shard's callback
 *     e = seine_sinks_close(s);                   all of it is on disk
 *
 * What went wrong is told once and stays: DISK_FULL, OUTPUT_CLOSED (the reader of a pipe
 * has gone), IO. Then `failed` is called, put takes and drops, and what was written
 * before stays whole: the last line, member or batch is complete.
 *
 * Time    wall time of records is theirs.
 * Memory  1 MiB a lane and the records in it; the reorder window of `ordered`.
 * Threads put and poll: the owner of the lane; close, open: one owner; the rest any.
 */
#ifndef SEINE_SINK_H
#define SEINE_SINK_H

#include <stddef.h>

#include "seine/diag.h"
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
    SEINE_SINK_SAVE /* path: a directory; bodies under the hash of their bytes */
} seine_sink_format;

/* JSON lines, CSV and WARC can be packed. */
typedef enum seine_sink_pack {
    SEINE_PACK_AUTO, /* by the extension behind that of the format: .gz .zst */
    SEINE_PACK_NONE,
    SEINE_PACK_GZIP,
    SEINE_PACK_ZSTD
} seine_sink_pack;

/* Called on the sink thread: for whoever formats for people, counts, or has a sink of
 * its own. Anything but OK ends the run like a failed write. */
typedef seine_err (*seine_sink_fn)(const seine_record *r, uint64_t seq, void *arg);

typedef struct seine_sink_opts {
    size_t size; /* of this struct: SEINE_SINK_OPTS sets it */
    seine_sink_format format;
    seine_sink_pack pack;
    const char *path;       /* "-": standard output; NULL: fd; copied */
    int fd;                 /* stays the caller's */
    bool append, overwrite; /* neither: a file that exists is ALREADY */
    bool csv_raw, csv_crlf;
    bool no_skips;        /* of this sink */
    seine_members fields; /* bits 0: the standard set */
    seine_body_form body;
    bool repeats;           /* a key may come again: SQLite's is then not unique */
    const char *command;    /* for those that say what made them; NULL: nothing */
    uint64_t max_file;      /* of WARC: bytes after which x-00002 begins; 0: one file */
    const char *user_agent; /* of WARC: what was sent; NULL: not said */
    const char *robots;     /* of WARC: how robots.txt was treated; NULL: not said */
    seine_sink_fn call;
    void *arg;
} seine_sink_opts;

/* clang-format off */
#define SEINE_SINK_OPTS {sizeof(seine_sink_opts), SEINE_SINK_AUTO, SEINE_PACK_AUTO, NULL, 0, false, false, false, false, false, {0}, SEINE_BODY_NONE, false, NULL, 0, NULL, NULL, NULL, NULL}
/* clang-format on */

typedef struct seine_sinks_opts {
    size_t size;      /* of this struct: SEINE_SINKS_OPTS sets it */
    bool ordered;     /* in the order of the input; needs a bounded number in flight */
    uint32_t window;  /* of `ordered`: records that may wait, 65536 */
    size_t ring_size; /* 1 MiB */
    void (*room)(void *arg);                /* a lane is ready again; any thread. NULL */
    void (*failed)(seine_err e, void *arg); /* on the sink thread. NULL */
    void *arg;
} seine_sinks_opts;

/* clang-format off */
#define SEINE_SINKS_OPTS {sizeof(seine_sinks_opts), false, 65536, 1u << 20, 0, 0, 0}
/* clang-format on */

typedef struct seine_sinks_stats {
    uint64_t records; /* written to all outputs */
    uint64_t bytes;   /* in all files together */
    uint64_t seq;     /* the last one given */
} seine_sinks_stats;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_sinks_new(const seine_sinks_opts *opts,
                                           seine_sinks **out_sinks);

/* Before start. Opens and locks the file at once, so that a mistake is told before the
 * first request; nothing in it changes before start, and a new one is taken away again
 * when there is none. ALREADY: it exists; OUTPUT_CHANGED, STATE_FOREIGN, STATE_NEWER:
 * what is there cannot be appended to; INVAL: no such format, or the file is an output
 * already; IO, DISK_FULL, INVAL, STATE_LOCKED, NOMEM. The diag is one clear
 * line. */
SEINE_MUST_CHECK seine_err seine_sinks_open(seine_sinks *s, const seine_sink_opts *opts,
                                            seine_diag *diag);

/* So many lanes and the thread. INVAL, NOMEM, or what seine_sinks_err tells. */
SEINE_MUST_CHECK seine_err seine_sinks_start(seine_sinks *s, unsigned lanes);

/* Copies the record into the lane. Never refused: whoever was started while the lane was
 * ready finds room. NOMEM. */
SEINE_MUST_CHECK seine_err seine_sinks_put(seine_sinks *s, unsigned lane,
                                           const seine_record *r);

/* Is the lane ready for more? False: opts.room is called when it is again. */
bool seine_sinks_poll(const seine_sinks *s, unsigned lane);

/* Of `ordered`: the number that is waited for. Whoever gives the engine no URL whose
 * number is `window` or more above it keeps the window from filling up; a full one
 * stops new requests, and the one that is waited for may be among them. Any thread. */
uint64_t seine_sinks_due(const seine_sinks *s);

/* What went wrong first, and with which file. */
seine_err seine_sinks_err(const seine_sinks *s, seine_diag *diag);

/* A line for every JSON lines output (the summary, an event): on the sink thread's turn,
 * behind what was put before. `{"v":1,"type":"summary","seq":` … is made from `members`,
 * the text behind the common members, without braces. */
SEINE_MUST_CHECK seine_err seine_sinks_line(seine_sinks *s, const char *type,
                                            const char *members, size_t len);

/* Waits until everything put is written and flushed; in `ordered`, gaps are not waited
 * for any more. The error, if there was one. */
SEINE_MUST_CHECK seine_err seine_sinks_drain(seine_sinks *s);

/* drain, close, join. */
SEINE_MUST_CHECK seine_err seine_sinks_close(seine_sinks *s);
void seine_sinks_free(seine_sinks *s); /* closes what is open; NULL is fine */

void seine_sinks_stats_get(const seine_sinks *s, seine_sinks_stats *out_stats);

SEINE_END

#endif
