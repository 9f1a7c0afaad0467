/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - the durable state of a run: who writes to it, who commits, who reads.
 *
 * Every shard, and the thread that gives input, has a lane of its own and appends to it
 * what became known: a URL was found, a URL has ended without a record, a host changed.
 * An append never blocks. The sink thread is the only one that commits. It takes records
 * first and operations second, so that a group holds whatever its records need:
 *
 *     sn_job_lane *lane = sn_job_lane_at(job, shard);
 *     e = sn_job_found(lane, &found);               a shard, before the record of the
 * page
 *
 *     e = sn_job_result(job, record, seq);          the sink thread, for every record
 *     e = sn_job_commit(job, &diag);                … then everything becomes durable
 *
 * Before the shards start, sn_job_scan_all returns what earlier runs have left: work is
 * every URL that was found and has not ended.
 *
 * Every row carries a CRC of all of its values, and the counters in `head` say how many
 * rows there are. So a damaged row, a missing one and a doubled one are STATE_CORRUPT.
 *
 * Time    wall time in ns; rows hold milliseconds.
 * Memory  16 MiB of operations wait at most while the engine asks sn_job_is_ready.
 * Threads a lane has one producer; result, commit: the sink thread; is_ready: any;
 *         the rest: the owner, before the shards start and after they have ended.
 */
#ifndef SN_STORE_JOB_H
#define SN_STORE_JOB_H

#include "seine/job.h"
#include "seine/record.h"
#include "store/store.h"

#define SN_JOB_NONE UINT64_MAX /* no number */

/* Kinds of URLs that the job knows itself. One that was put off is refused unless another
 * link leads there. While it waits, its print is not among those that the scan returns.
 */
enum {
    SN_JOB_SITEMAP = 2, /* ends without a record */
    SN_JOB_PUT_OFF = 3,
    SN_JOB_BY_USER = 4 /* given: the text as given */
};

/* A URL that was found or given. Its texts are at most SN_STORE_TEXT long, `ask` longer.
 */
typedef struct sn_job_url {
    sn_waiting_url url;     /* parent: only if there is no parent_number */
    uint64_t print;         /* of its key in the seen-set */
    uint64_t parent_number; /* of the URL it was found on; SN_JOB_NONE: none */
    bool parent_is_given;   /* from a scan: parent is as somebody wrote it, not a URL */
    sn_str ask;             /* a given URL: JSON as input_json.c reads it; or empty */
} sn_job_url;

/* What outlives the process of a host. Moments are wall time in ms; 0: none. A new column
 * is one line here. */
/* clang-format off */
#define SN_JOB_HOST(X) \
    X(next_ms)   /* no request before */ \
    X(pause_ms)  /* the server asked for it, or a quota is spent */ \
    X(open_ms)   /* the breaker is open until then */ \
    X(interval_us) \
    X(floor_us) \
    X(knee_us) \
    X(base_us)   /* lowest median latency */ \
    X(calm_us) \
    X(recent)    /* responses, as in sn_pace */ \
    X(level) \
    X(breaker)   /* seine_breaker_state */ \
    X(streak)    /* failed probes */ \
    X(delay_ms)  /* Crawl-delay */ \
    X(zone)      /* sn_address_zone: the pin */ \
    X(flags) \
    X(saved_ms)  /* when the row was made */ \
    X(up_ms)     /* … and how long the machine was up, sn_time_up */ \
    X(boot)      /* … since which start, sn_job_boot */
/* clang-format on */

enum { SN_JOB_HOST_AWAITED = 2 }; /* of flags: somebody waits until the row is kept */

typedef struct sn_job_host {
    sn_str name; /* "https://e.example:443" */
#define X(column) int64_t column;
    SN_JOB_HOST(X)
#undef X
} sn_job_host;

typedef struct sn_job_robots {
    sn_str host;
    int64_t wall_ms; /* when it was read */
    int64_t state;   /* the engine's */
    sn_str text;
} sn_job_robots;

/* A URL that has ended with a record. */
typedef struct sn_job_ended_row {
    uint64_t seq, number;
    seine_record_type type;
    seine_err kind;    /* of a result */
    seine_skip reason; /* of a skip */
    uint16_t status;
    uint32_t attempts;
    int64_t at_ms;
    uint64_t bytes_in, bytes_body;
    int64_t total_us, latency_us;
    uint64_t print; /* of a skip that was never found: 0: none */
} sn_job_ended_row;

/* Sums over all records that no row has. */
/* clang-format off */
#define SN_JOB_SUMS(X) X(queue_us) X(throttle_us) X(backoff_us) X(retry_budget_us)
/* clang-format on */

typedef struct sn_job_sums {
#define X(column) int64_t column;
    SN_JOB_SUMS(X)
#undef X
} sn_job_sums;

/* What all runs have done, also for URLs that have no record yet, or never will: as in
 * seine_fetch_stats. */
/* clang-format off */
#define SN_JOB_COUNTS(X) \
    X(requests) X(retries) X(replays) X(bytes_in) X(bytes_body) X(connections) X(reused) \
    X(breaker_opens)
/* clang-format on */

typedef struct sn_job_counts {
#define X(column) uint64_t column;
    SN_JOB_COUNTS(X)
#undef X
    uint64_t sitemap_bytes;
} sn_job_counts;

/* Kinds of notes that the job knows itself; the engine's begin at 1 (job_kinds.h). A new
 * round and a retry forget the first two; a new round also forgets the links, and the
 * third, unless the job keeps it. */
enum {
    SN_JOB_NOTE_COUNTS = 100, /* sn_job_counts */
    SN_JOB_NOTE_TRIED = 101,  /* attempts of a URL that has not ended, by its number */
    SN_JOB_NOTE_KEPT = 102,   /* what came with a record (record_items.h), likewise */
    SN_JOB_NOTE_SAID = 103,   /* seine_job_note */
    SN_JOB_NOTE_SLICE = 104,  /* of the timeline: "SHARD s|m PLACE", store/timeline.h */
    SN_JOB_NOTE_LINKS = 105,  /* of a page (referrers.h), by its number */
    SN_JOB_NOTE_LISTED = 106, /* by its URL: prints of what a sitemap names */
    SN_JOB_NOTE_TOLD = 107    /* the last round whose orphans were told */
};

typedef struct sn_job_lane sn_job_lane;

/* Makes lanes 0 … shards - 1, and one more for who gives input. Once. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_start(seine_durable_job *j, unsigned shards);
sn_job_lane *sn_job_lane_at(seine_durable_job *j, unsigned i);

/* Around the moment at which a key joins the seen-set and the append that follows: other
 * shards may take the URL for known in between, so the next group waits for its end. */
void sn_job_lane_enter(sn_job_lane *l);
void sn_job_lane_leave(sn_job_lane *l);

/* NOMEM: nothing was appended; the run has to end. */
SEINE_MUST_CHECK seine_err sn_job_found(sn_job_lane *l, const sn_job_url *u);
/* The URL ended and has no record: a sitemap, for instance. It is durable one group after
 * the one that takes it, so that records put before it are durable no later. */
SEINE_MUST_CHECK seine_err sn_job_ended(sn_job_lane *l, uint64_t number);
/* A skip record of a URL without a `found` follows: its print joins the result. */
SEINE_MUST_CHECK seine_err sn_job_refused(sn_job_lane *l, uint64_t number,
                                          uint64_t print);
SEINE_MUST_CHECK seine_err sn_job_host_put(sn_job_lane *l, const sn_job_host *h);
SEINE_MUST_CHECK seine_err sn_job_robots_put(sn_job_lane *l, const sn_job_robots *r);
/* Anything else that is worth keeping: replaces the note of that kind and key. */
SEINE_MUST_CHECK seine_err sn_job_note_put(sn_job_lane *l, uint32_t kind, sn_str key,
                                           sn_str value);
/* That much more was done. It is durable with the next group. */
SEINE_MUST_CHECK seine_err sn_job_counted(sn_job_lane *l, const sn_job_counts *more);
/* The URL was asked for so many times, in so many ms, and is to be asked once more. */
SEINE_MUST_CHECK seine_err sn_job_tried(sn_job_lane *l, uint64_t number,
                                        uint32_t attempts, int64_t elapsed_ms);

/* False: so much waits for a commit that nothing new should start. */
bool sn_job_is_ready(const seine_durable_job *j);
bool sn_job_has_work(const seine_durable_job *j); /* something was appended */

/* `wake` is called by an append that should not wait for the next record. */
void sn_job_listen(seine_durable_job *j, void (*wake)(void *arg), void *arg);

/* The sink thread. STATE_CORRUPT: that number has a result already. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_result(seine_durable_job *j, const seine_record *r,
                                         uint64_t seq);
/* What referrers.h knows of a URL whose result is in the same group. A job that is kept
 * elsewhere drops it. The sink thread. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_keep_links(seine_durable_job *j, uint64_t number,
                                             sn_str packed);
/* The scan calls `fn` with what was kept of every URL that has ended in this round. */
void sn_job_hear_links(seine_durable_job *j, void (*fn)(sn_str packed, void *arg),
                       void *arg);
/* The number that follows is that of the next line of any kind. */
void sn_job_seq(seine_durable_job *j, uint64_t last_seq);
/* A number that is given out when the job is finished; before, it is free. */
void sn_job_end_seq(seine_durable_job *j, uint64_t last_seq);

/* Makes all results, and all that stands in the lanes, durable together. After a failure
 * every commit fails. DISK_FULL, FSYNC_FAILED, IO, NOMEM, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_job_commit(seine_durable_job *j, seine_diag *diag);

/* A page that nothing names any more, in the round that has told so. */
typedef struct sn_job_orphan {
    sn_str url, host; /* "https://e.example/a", "e.example" */
    int64_t round;
    int64_t seen_ms, changed_ms; /* as in job_page.h */
} sn_job_orphan;
typedef seine_err (*sn_job_orphan_fn)(const sn_job_orphan *o, void *arg);

/* Calls `fn` for every orphan as of the last commit, and for none if an earlier commit of
 * this round has its note: the next commit keeps that. An error of `fn` ends it. The sink
 * thread, when all URLs have ended. NOMEM, IO, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_job_tell_orphans(seine_durable_job *j, sn_job_orphan_fn fn,
                                               void *arg);

/* Does a finished job begin anew as if it had never run? Its outputs are new ones. */
bool sn_job_forgets(const seine_durable_job *j);

/* Is everything of earlier runs known? Any thread. */
bool sn_job_is_started(const seine_durable_job *j);
/* Has that number a result, or ended without one? The sink thread, once it is started. */
bool sn_job_has_ended(const seine_durable_job *j, uint64_t number);

sn_str sn_job_name_of(const seine_durable_job *j);
uint64_t sn_job_id(const seine_durable_job *j); /* of its directory, in all runs */
/* Records that are committed, of all runs. Any thread. */
uint64_t sn_job_emitted(const seine_durable_job *j);
uint64_t sn_job_last_seq(const seine_durable_job *j); /* of earlier runs; 0: none */
/* An output has failed: what is not committed never will be, so that the next run does it
 * again. Every commit fails from here on. The sink thread. */
void sn_job_give_up(seine_durable_job *j, seine_err e);

int64_t sn_job_boot(const seine_durable_job *j);           /* of the machine: a hash */
const uint64_t *sn_job_secret(const seine_durable_job *j); /* [2], of the seen-set */
uint64_t sn_job_next_number(const seine_durable_job *j);   /* above all that were used */
void sn_job_sums_get(const seine_durable_job *j, sn_job_sums *out); /* of earlier runs */
/* The text of the URL with that number; `out` stays as it is when there is none. */
SEINE_MUST_CHECK seine_err sn_job_url_text(seine_durable_job *j, int64_t number,
                                           char *out, size_t cap);
/* The same, after the scan; zeroes if earlier runs have kept none. */
void sn_job_counts_get(const seine_durable_job *j, sn_job_counts *out);

/* URLs of a host by how they stand. Those that were given belong to no host here. */
typedef struct sn_job_standing {
    uint64_t done, refused, waiting, not_due;
    uint64_t sitemaps; /* that are done */
} sn_job_standing;

struct sn_job_page;

/* Receives what earlier runs have left, in this order. NULL members are left out; an
 * error of one ends the scan. Texts are valid until it returns. */
typedef struct sn_job_scan {
    seine_err (*ended)(const sn_job_ended_row *r, void *arg);
    seine_err (*note)(uint32_t kind, sn_str key, sn_str value, void *arg);
    /* Of a URL that has not ended. */
    seine_err (*tried)(uint64_t number, uint32_t attempts, int64_t elapsed_ms, void *arg);
    seine_err (*host)(const sn_job_host *h, void *arg);
    seine_err (*robots)(const sn_job_robots *r, void *arg);
    seine_err (*prints)(const uint64_t *prints, size_t n, void *arg); /* many times */
    seine_err (*page)(const struct sn_job_page *p, void *arg);        /* see job_page.h */
    /* Unfinished, in order of number; between calls of `prints`. */
    seine_err (*url)(const sn_job_url *u, void *arg);
    /* Likewise, of pages that are not due before `due_ms`; 0: all are due. */
    seine_err (*not_due)(const sn_job_url *u, void *arg);
    int64_t due_ms;
    bool next_round; /* as the next round of a finished job begins; nothing is changed */
    seine_err (*given)(sn_str text, void *arg); /* that was fetched; as it was given */
    seine_err (*count)(sn_str host, const sn_job_standing *n, void *arg);
    void *arg;
} sn_job_scan;

/* Reads and checks everything, once. STATE_CORRUPT with the place; NOMEM, IO. */
SEINE_MUST_CHECK seine_err sn_job_scan_all(seine_durable_job *j, const sn_job_scan *into,
                                           seine_diag *diag);

/* An output as of the last commit. */
typedef struct sn_job_output {
    sn_str path;       /* absolute */
    int64_t dev, ino;  /* ino 0: claimed, perhaps not made yet */
    int64_t committed; /* bytes */
    int64_t tail_crc;  /* of the last 4 KiB before */
    sn_str detail;     /* the format's own, "" */
} sn_job_output;

/* NULL: none of that path. Valid until the next call of set. */
const sn_job_output *sn_job_output_get(const seine_durable_job *j, sn_str path);
/* Joins the next commit. The sink thread, or the owner before start. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_output_set(seine_durable_job *j,
                                             const sn_job_output *o);
/* The same for an output that has a mark, from the moment on when the job is finished. A
 * later set forgets it. */
SEINE_MUST_CHECK seine_err sn_job_output_end(seine_durable_job *j,
                                             const sn_job_output *o);

#endif
