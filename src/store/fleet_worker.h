/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_worker.h - a job that several workers share through Redis, as one worker sees it.
 *
 * A job has partitions; a registrable domain belongs to one of them. A worker leases
 * partitions and is then the only one that asks their hosts, so that pace, robots.txt and
 * the seen-set are memory as on one machine, and no request needs Redis. Links travel in
 * blocks through the inbox of their partition, also those to own partitions. A block
 * stays there until each of its links has ended.
 *
 *     e = sn_fleet_open(&opts, &fleet, warning, &diag);
 *     job = sn_fleet_job(fleet);                   for sinks and fetch
 *     while (sn_fleet_tick(fleet, &hooks, &diag) == SN_FLEET_GOING)
 *         continue;                                one thread
 *
 * Three kinds of threads use it. The keeper calls tick: it renews leases, takes and gives
 * partitions, reads inboxes. The sink thread commits through the job: records to the
 * segment of their partition, synced; then blocks of found links to the inboxes; then one
 * fenced call per partition. Shards ask whether a URL still is theirs (is_lost) and
 * whether they may start (may_start): they never wait.
 *
 * The number of a URL says where it came from: tenure, entry of the inbox, link in it.
 *
 * Time    of the clock; leases count on sn_time_up, which goes on in a suspended machine.
 * Memory  8 bytes and a bit per URL that waits, blocks on their way out.
 * Threads as said.
 */
#ifndef SN_FLEET_WORKER_H
#define SN_FLEET_WORKER_H

#include "seine/job.h"
#include "store/fleet_block.h"
#include "store/fleet_call.h"
#include "store/job.h"

enum {
    SN_FLEET_SERVERS = 16,
    SN_FLEET_NOTE_WIDENED = 1, /* the kind of note that all workers hear of; … */
    SN_FLEET_NOTE_TRAP = 3,    /* … "KEY HOST" of a path pattern that repeats, … */
    SN_FLEET_NOTE_PAGES = 4,   /* … and how many pages of one were asked for */
    SN_FLEET_LATE = 3,         /* the kind of link that is not followed, as it seems */
    SN_FLEET_AT_END = 128      /* of its flags: it waits until all else has ended */
};

typedef struct sn_fleet sn_fleet;

typedef struct sn_fleet_opts {
    const char *const *urls; /* of Redis servers; partitions are dealt out to them */
    size_t n_urls;
    const char *name;
    const char *verb, *spec, *command; /* of a new job; NULL: it must be there */
    uint32_t parts;                    /* of a new job; 0: 256 */
    const char *out;    /* directory of segments; NULL: none are written (submit) */
    seine_span lease;   /* 0: 15 s */
    seine_span wait;    /* for a server that is away; 0: 10 min */
    uint32_t weight;    /* of this worker: its concurrency; 0: 1 */
    seine_span every;   /* between starts of the whole fleet; 0: no limit */
    bool accepts_loss;  /* of the last second: appendfsync everysec will do */
    seine_clock *clock; /* NULL: the system's */
    /* The time that leases count on, of that clock; NULL: sn_time_up. */
    seine_time (*up)(seine_clock *c);
    uint64_t members; /* of records */
    const sn_redis_wire
        *wires; /* one for each of 2 × n_urls connections; NULL: sockets */
} sn_fleet_opts;

/* CONFIG: the server, its settings or the job are not fit; ALREADY: the job is finished;
 * STORE_UNAVAILABLE: it cannot be reached; IO: no directory for segments; NOMEM. The diag
 * is one line. *out_warning: "" or one line. */
SEINE_MUST_CHECK seine_err sn_fleet_open(const sn_fleet_opts *opts, sn_fleet **out_fleet,
                                         char out_warning[SEINE_DIAG_ROOM],
                                         seine_diag *diag);
/* Gives all leases back; what is not committed is done again by others. */
void sn_fleet_free(sn_fleet *f);

seine_durable_job *sn_fleet_job(sn_fleet *f);       /* ends with seine_job_end */
sn_fleet *sn_job_fleet(const seine_durable_job *j); /* NULL: it is no fleet's */

const char *sn_fleet_name(const sn_fleet *f);
const char *sn_fleet_command(const sn_fleet *f);
bool sn_fleet_is_new(const sn_fleet *f); /* made by open */
bool sn_fleet_is_seeded(const sn_fleet *f);

/* What seine jobs set has said to all workers, as JSON, if that is not revision *io_rev.
 * Any thread. */
bool sn_fleet_said(sn_fleet *f, uint64_t *io_rev, char *out, size_t room);

/* The partition of a URL: that of its registrable domain. */
uint32_t sn_fleet_part_of(const sn_fleet *f, sn_str text);
/* Are both URLs of one registrable domain, and so of one worker? */
bool sn_fleet_is_same_site(const sn_fleet *f, sn_str a, sn_str b);

/* Before the work: gives URLs to the job; says that these are all. Blocks. */
SEINE_MUST_CHECK seine_err sn_fleet_give(sn_fleet *f, const sn_fleet_link *l,
                                         seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_fleet_given_all(sn_fleet *f, seine_diag *diag);

/* The keeper. */

typedef struct sn_fleet_hooks {
    /* A partition was taken over: what is known of its ended URLs and of its hosts. The
     * number is that of any of its URLs. `again`: this worker had it before. */
    seine_err (*acquired)(uint32_t part, bool again, void *arg);
    seine_err (*prints)(uint64_t number, const uint64_t *prints, size_t n, void *arg);
    seine_err (*host)(const sn_job_host *row, void *arg);
    void (*kept)(sn_str host, void *arg); /* a row that was awaited is committed */
    /* Pages of a path pattern that earlier owners have asked for. */
    seine_err (*pattern)(sn_str host, uint64_t key, uint32_t pages, bool is_trap,
                         void *arg);
    /* A URL that waits: the print of its key, and whether it has ended, or waits already,
     * and needs no record. */
    seine_err (*print)(const sn_fleet_link *l, uint64_t number, uint64_t *out_print,
                       bool *out_known, void *arg);
    /* … and if it is not known: it is to be fetched. */
    seine_err (*url)(const sn_fleet_link *l, uint64_t number, void *arg);
    seine_err (*seed)(sn_str url, void *arg);                /* given at the beginning */
    seine_err (*widened)(sn_str from, sn_str to, void *arg); /* the scope */
    void (*renewed)(void *arg);         /* shards that were held may go on */
    void (*paused)(bool is, void *arg); /* by seine jobs pause */
    bool (*is_idle)(void *arg);         /* the worker has nothing to do */
    uint64_t (*backlog)(void *arg);     /* URLs that wait for room in the engine */
    void *arg;
} sn_fleet_hooks;

typedef enum sn_fleet_state {
    SN_FLEET_GOING,
    SN_FLEET_OVER,    /* every URL of the job has ended */
    SN_FLEET_STOPPED, /* by seine jobs stop */
    SN_FLEET_FAILED   /* the diag says why; see sn_fleet_err */
} sn_fleet_state;

/* One turn; waits for new blocks up to 50 ms. */
sn_fleet_state sn_fleet_tick(sn_fleet *f, const sn_fleet_hooks *hooks, seine_diag *diag);
seine_err sn_fleet_err(const sn_fleet *f);
const seine_diag *sn_fleet_why(const sn_fleet *f); /* once there is an err */
void sn_fleet_give_up(sn_fleet *f, seine_err e);   /* the worker cannot go on */

/* Renews the leases now. */
void sn_fleet_refresh(sn_fleet *f, const sn_fleet_hooks *hooks);

/* Stops taking partitions and URLs, so that the worker can end in order. */
void sn_fleet_leave(sn_fleet *f);

/* Shards; they never wait. */
bool sn_fleet_is_lost(const sn_fleet *f, uint64_t number); /* it is another worker's */
/* Is the partition of the URL, or host, ours to ask? In which tenure, 0: it is not; and
 * since when. */
bool sn_fleet_holds(const sn_fleet *f, sn_str url);
uint32_t sn_fleet_tenure_of(const sn_fleet *f, sn_str url);
seine_time sn_fleet_held_since(const sn_fleet *f, uint32_t tenure);
uint64_t sn_fleet_n_lost(const sn_fleet *f); /* tenures that were lost so far */
void sn_fleet_started(sn_fleet *f); /* a request: it counts for the rate of the fleet */
void sn_fleet_asked(sn_fleet *f, uint64_t number); /* it becomes a visit */
bool sn_fleet_may_start(const sn_fleet *f);        /* leases are surely held */
seine_span sn_fleet_left(const sn_fleet *f); /* … for so long; below 0: not any more */
void sn_fleet_fence(sn_fleet *f);            /* not any more: all tenures are lost */
/* Changes when a server may have lost blocks: links that were sent before are sent again.
 */
uint64_t sn_fleet_generation(const sn_fleet *f);

typedef struct sn_fleet_figures {
    uint32_t parts, held, workers;
    uint64_t waiting; /* URLs of own partitions in memory */
    uint64_t commits, records, links, blocks, fenced;
    bool is_away; /* a server cannot be reached … */
    bool is_full; /* … or has no memory */
} sn_fleet_figures;
void sn_fleet_figures_get(const sn_fleet *f, sn_fleet_figures *out);

#endif
