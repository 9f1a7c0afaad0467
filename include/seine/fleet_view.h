/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_view.h - jobs that are kept in Redis, for who looks at them and steers them.
 *
 *     e = seine_fleet_view_open(&url, 1, &view, &diag);
 *     e = seine_fleet_view_job(view, "news", &about, &diag);
 *     printf("%s: %llu records\n", about.state, (unsigned long long)about.emitted);
 *     e = seine_fleet_view_steer(view, "news", "paused", &diag);
 *     seine_fleet_view_free(view);
 *
 * Workers read the state of their job every few seconds, a third of their lease.
 *
 * Time    moments are wall time in ms, of the server.
 * Memory  one reply at a time; texts are valid until the next call.
 * Threads one owner, which blocks.
 */
#ifndef SEINE_FLEET_VIEW_H
#define SEINE_FLEET_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/diag.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_FLEET_SAID 8192

typedef struct seine_fleet_view seine_fleet_view;

typedef struct seine_fleet_about {
    const char *name, *verb, *command;
    const char *state; /* "running", "paused", "stopped" or "finished" */
    int64_t created;
    uint32_t partitions, servers, workers;
    uint32_t held;                         /* partitions that a worker has */
    bool is_seeded;                        /* all URLs have been given */
    uint64_t blocks;                       /* of links that wait in all inboxes */
    uint64_t emitted, ok, failed, refused; /* records */
    uint64_t ended;                        /* URLs */
    uint64_t memory;  /* bytes that the servers use, for whatever they hold */
    const char *said; /* to all workers: a JSON object, see seine_fleet_view_say */
} seine_fleet_about;

typedef struct seine_fleet_worker {
    seine_view id, host;
    uint64_t weight;
    int64_t silent_ms; /* since it was heard of */
    int64_t lease_ms;  /* after which it counts as gone */
} seine_fleet_worker;

typedef struct seine_fleet_partition {
    uint32_t number;
    seine_view owner; /* id of a worker; empty: none */
    uint64_t epoch, blocks, ended;
} seine_fleet_partition;

typedef struct seine_fleet_segment {
    uint32_t partition;
    seine_view name, host;   /* "p00042.e7.jsonl", of the worker's machine */
    uint64_t bytes, records; /* that count */
} seine_fleet_segment;

SEINE_BEGIN

/* CONFIG, STORE_UNAVAILABLE, NOMEM; the diag is one line. */
SEINE_MUST_CHECK seine_err seine_fleet_view_open(const char *const *stores, size_t n,
                                                 seine_fleet_view **out_view,
                                                 seine_diag *diag);
void seine_fleet_view_free(seine_fleet_view *v); /* NULL is fine */

/* The names of all jobs; `fn` may not ask the view. */
SEINE_MUST_CHECK seine_err seine_fleet_view_names(seine_fleet_view *v,
                                                  void (*fn)(seine_view name, void *arg),
                                                  void *arg, seine_diag *diag);
/* CONFIG: there is no such job, also below. */
SEINE_MUST_CHECK seine_err seine_fleet_view_job(seine_fleet_view *v, const char *name,
                                                seine_fleet_about *out_about,
                                                seine_diag *diag);
/* What the job was made with: seine_fleet_opts.spec. */
SEINE_MUST_CHECK seine_err seine_fleet_view_spec(seine_fleet_view *v, const char *name,
                                                 const char **out_spec, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_fleet_view_workers(
    seine_fleet_view *v, const char *name,
    void (*fn)(const seine_fleet_worker *w, void *arg), void *arg, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_fleet_view_partitions(
    seine_fleet_view *v, const char *name,
    void (*fn)(const seine_fleet_partition *p, void *arg), void *arg, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_fleet_view_segments(
    seine_fleet_view *v, const char *name,
    void (*fn)(const seine_fleet_segment *s, void *arg), void *arg, seine_diag *diag);

/* "running", "paused" or "stopped", for all workers. */
SEINE_MUST_CHECK seine_err seine_fleet_view_steer(seine_fleet_view *v, const char *name,
                                                  const char *state, seine_diag *diag);

/* What all workers are to hear, now and when they join: a JSON object in the place of the
 * one before. TOO_BIG: SEINE_FLEET_SAID bytes and more. */
SEINE_MUST_CHECK seine_err seine_fleet_view_say(seine_fleet_view *v, const char *name,
                                                const char *json, seine_diag *diag);

/* Removes everything that Redis knows of the job; segments stay. BUSY: workers are there.
 */
SEINE_MUST_CHECK seine_err seine_fleet_view_remove(seine_fleet_view *v, const char *name,
                                                   seine_diag *diag);

SEINE_END

#endif
