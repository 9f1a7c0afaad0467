/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - a job that several processes, on one machine or many, share through Redis.
 *
 * The job is in Redis, in partitions; all hosts of a registrable domain are in one. A
 * worker leases partitions and is then the only one that asks their hosts: every host is
 * asked at its pace, and every URL once, over the whole fleet. When a worker dies its
 * leases end and others go on. Records are written to segments, files of the worker that
 * fetched them; what counts of each segment is kept in Redis, and exporting joins them.
 *
 *     seine_fleet_opts o = SEINE_FLEET_OPTS;
 *     o.stores = &url;                         redis://db.example:6379/0
 *     o.n_stores = 1;
 *     o.name = "news";
 *     o.spec = spec;                           of a new job; NULL: it must be there
 *     o.out = "segments";
 *     e = seine_fleet_open(&o, &fleet, &diag);
 *     e = seine_fleet_give(fleet, &ask, &diag);            seeds, then …
 *     e = seine_fleet_given_all(fleet, &diag);
 *     seine_durable_job *job = seine_fleet_job(fleet);   for the options of fetch and of
 * sinks e = seine_fleet_start(fleet, fetcher);   closes the fetch when all is done …
 *     seine_fleet_stop(fleet);                 then the fetch and the sinks are freed
 *     e = seine_job_end(job, true, &diag);
 *     seine_fleet_free(fleet);
 *
 * Time    leases count on the time since the machine was started, suspension included.
 * Memory  8 bytes per URL that waits here, and the seen-set of own partitions.
 * Threads one owner; it starts a thread of its own. Figures: any thread.
 */
#ifndef SEINE_FLEET_H
#define SEINE_FLEET_H

#include "seine/fetch.h"
#include "seine/job.h"
#include "seine/record_items.h"

typedef struct seine_fleet seine_fleet;

typedef struct seine_fleet_opts {
    size_t size;               /* of this struct: SEINE_FLEET_OPTS sets it */
    const char *const *stores; /* URLs of Redis; partitions are dealt out to them */
    size_t n_stores;
    const char *name;
    const char *verb, *spec, *command; /* of a new job, as in seine_job_opts */
    uint32_t partitions;               /* of a new job; 0: 256 */
    const char *out;   /* directory of segments; NULL: this process only gives URLs */
    seine_span lease;  /* 0: 15 s */
    seine_span wait;   /* for a server that is away or full; 0: 10 min */
    uint32_t weight;   /* its share of the partitions: its concurrency; 0: 1 */
    seine_span every;  /* starts of the whole fleet are that far apart; 0: no limit */
    bool accepts_loss; /* of the last second: appendfsync everysec will do */
    uint64_t members;  /* of records, bits of seine_members; 0: the standard set */
} seine_fleet_opts;

/* clang-format off */
#define SEINE_FLEET_OPTS {sizeof(seine_fleet_opts), NULL, 0, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, false, 0}
/* clang-format on */

typedef enum seine_fleet_state {
    SEINE_FLEET_WORKING,
    SEINE_FLEET_OVER,    /* every URL of the job has ended */
    SEINE_FLEET_STOPPED, /* somebody has stopped the job for all */
    SEINE_FLEET_FAILED
} seine_fleet_state;

typedef struct seine_fleet_figures {
    uint32_t partitions, held, workers;
    uint64_t waiting; /* URLs in memory here */
    uint64_t commits, records, links, blocks;
    uint64_t fenced; /* commits that came too late: others have the partition */
    bool is_away;    /* a server cannot be reached … */
    bool is_full;    /* … or has no memory */
} seine_fleet_figures;

SEINE_BEGIN

/* CONFIG: the server, its settings or the job are not fit; ALREADY: the job is finished;
 * STORE_UNAVAILABLE, IO, NOMEM. The diag is one line. */
SEINE_MUST_CHECK seine_err seine_fleet_open(const seine_fleet_opts *opts,
                                            seine_fleet **out_fleet, seine_diag *diag);
/* After seine_job_end. Gives all leases back. NULL is fine. */
void seine_fleet_free(seine_fleet *f);

/* "" or one line: what could not be checked. Borrowed. */
const char *seine_fleet_warning(const seine_fleet *f);
seine_durable_job *seine_fleet_job(seine_fleet *f);
const char *seine_fleet_command(const seine_fleet *f); /* that made the job; borrowed */
bool seine_fleet_is_new(const seine_fleet *f);
bool seine_fleet_is_seeded(const seine_fleet *f); /* all URLs have been given */

/* Gives a URL to the job; what is given twice counts once. STORE_UNAVAILABLE, NOMEM. */
SEINE_MUST_CHECK seine_err seine_fleet_give(seine_fleet *f, const seine_ask *ask,
                                            seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_fleet_given_all(seine_fleet *f, seine_diag *diag);

/* A page leads there: the URL is given to the job together with the record that the items
 * travel with, so that a page is done only when its leads are kept. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_fleet_lead(seine_record_items *items,
                                            const seine_ask *ask);
/* Likewise: the URL was given, and was redirected. All workers hear where to. */
SEINE_MUST_CHECK seine_err seine_fleet_moved(seine_record_items *items, seine_view from,
                                             seine_view to);
/* Before the work: `fn` hears every URL that was given, whoever has its host, and where
 * given ones were redirected (`is_moved`); on a thread of its own. */
void seine_fleet_hear(seine_fleet *f,
                      void (*fn)(seine_view url, bool is_moved, void *arg), void *arg);

/* Begins to work. The fetch was made with the job, and ends when the job does. NOMEM. */
SEINE_MUST_CHECK seine_err seine_fleet_start(seine_fleet *f, seine_fetch *fetch);

/* Before the fetch is freed: takes no more URLs. Leases are kept for a while, so that the
 * sinks can commit what has ended. */
void seine_fleet_stop(seine_fleet *f);

/* What seine_fleet_view_say has said to all workers, if that is not revision *io_rev, in
 * `room` bytes of JSON text. Any thread. */
bool seine_fleet_said(const seine_fleet *f, uint64_t *io_rev, char *out, size_t room);

/* Any thread. */
seine_fleet_state seine_fleet_state_get(const seine_fleet *f);
seine_err seine_fleet_err(const seine_fleet *f, seine_diag *diag); /* why it FAILED */
void seine_fleet_figures_get(const seine_fleet *f, seine_fleet_figures *out_figures);

SEINE_END

#endif
