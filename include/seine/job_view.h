/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_view.h - which jobs are there, how far is each, and what does it wait for?
 *
 * A view reads the state of a job without owning it: the job may run meanwhile, in
 * another process, and is not held up. It shows what was committed, at most some
 * hundredths of a second ago.
 *
 *     e = seine_job_view_open(".seine", "news", &view, &diag);
 *     const seine_job_about *a = seine_job_view_about(view);
 *     printf("%s: %llu to do\n", a->name, (unsigned long long)a->pending);
 *     e = seine_job_view_hosts(view, print_host, NULL, &diag);
 *     seine_job_view_free(view);
 *
 * State that is damaged, of another program or of a newer version can be viewed, too: of
 * it, `about` says what is wrong, and nothing else.
 *
 * Time    wall time in ns. Counts read the table of results, hosts read all tables: about
 *         a second for a million URLs each.
 * Memory  a bit per URL and the names of hosts, while hosts are read.
 * Threads one owner.
 */
#ifndef SEINE_JOB_VIEW_H
#define SEINE_JOB_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/breaker.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/record.h"
#include "seine/url.h"
#include "seine/view.h"

typedef struct seine_job_view seine_job_view;

typedef enum seine_job_status {
    SEINE_JOB_IS_RUNNING,  /* a process works on it */
    SEINE_JOB_IS_FINISHED, /* nothing is left to do */
    SEINE_JOB_IS_STOPPED,  /* its last run ended in order, with work left */
    SEINE_JOB_IS_FAILED    /* its last run was killed, or its state is damaged */
} seine_job_status;

typedef struct seine_job_about {
    const char *name, *path;           /* "news", ".seine/news" */
    const char *verb, *spec, *command; /* as in seine_job_opts; "": not known */
    seine_job_status status;
    int64_t pid;     /* of the process that works on it; 0: none, or not known */
    seine_err err;   /* of the state: OK, STATE_CORRUPT, STATE_FOREIGN … */
    const char *why; /* a line about it; "" */
    uint64_t ok, failed, skipped; /* URLs that have ended with a record */
    uint64_t pending;             /* URLs that were found and have not ended */
    uint64_t bytes;               /* of the files in its directory */
    uint32_t run;                 /* 1 is the first */
    int64_t created, updated;     /* wall time, ns */
    uint64_t bytes_in;            /* of the answers of this round */
} seine_job_about;

/* An output as of the last commit. */
typedef struct seine_job_output {
    const char *path;
    uint64_t committed; /* bytes; of a database and a split archive 0 */
} seine_job_output;

/* A host as of the last commit. */
typedef struct seine_job_host {
    seine_view host;                 /* "http://e.example:80" */
    uint64_t done, refused, pending; /* URLs */
    int64_t next;                    /* wall time, ns: not asked before; 0: no wait … */
    int64_t pause, open; /* … since the server asked for it; since it fails */
    seine_breaker_state breaker;
    seine_span every; /* between two requests, as learned; 0: nothing learned */
    seine_span delay; /* Crawl-delay; 0: none */
} seine_job_host;

/* What a job knows of one URL. */
typedef struct seine_job_url {
    bool is_known;  /* it was found or given; else nothing below is set */
    bool is_given;  /* by the user */
    bool has_ended; /* else it is still to be fetched */
    bool has_record, is_skip;
    uint64_t seq;      /* of its record */
    seine_err kind;    /* of a result */
    seine_skip reason; /* of a skip */
    uint16_t status;
    uint32_t attempts;
    int64_t at; /* wall time of the record, ns */
    uint64_t bytes_body;
    seine_span total, latency; /* its whole life; the last attempt */
    bool has_place;            /* where it was found is known: */
    uint32_t depth, line;
    const char *tag, *attr;      /* "a", "href"; "" */
    char parent[SEINE_URL_ROOM]; /* "": none */
} seine_job_url;

typedef void (*seine_job_name_fn)(const char *name, void *arg);
typedef void (*seine_job_output_fn)(const seine_job_output *o, void *arg);
typedef void (*seine_job_record_fn)(const seine_record *r, void *arg);
typedef void (*seine_job_host_fn)(const seine_job_host *h, void *arg);

SEINE_BEGIN

/* The names of all jobs in that directory (NULL: ".seine"), in the order of their bytes.
 * A directory that does not exist has none. IO with a diag, NOMEM. */
SEINE_MUST_CHECK seine_err seine_jobs_each(const char *state, seine_job_name_fn fn,
                                           void *arg, seine_diag *diag);

/* IO: there is no such job. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_job_view_open(const char *state, const char *name,
                                               seine_job_view **out_view,
                                               seine_diag *diag);
void seine_job_view_free(seine_job_view *v); /* NULL is fine */

const seine_job_about *seine_job_view_about(const seine_job_view *v); /* borrowed */
void seine_job_view_outputs(const seine_job_view *v, seine_job_output_fn fn, void *arg);

/* Reads and checks all rows. STATE_CORRUPT with the place, IO, NOMEM. */
SEINE_MUST_CHECK seine_err seine_job_view_hosts(seine_job_view *v, seine_job_host_fn fn,
                                                void *arg, seine_diag *diag);

/* Looks for the URL with that key, as seine_explain_url says it. Reads the tables of URLs
 * and results once. STATE_CORRUPT, IO, NOMEM. */
SEINE_MUST_CHECK seine_err seine_job_view_url(seine_job_view *v, const char *key,
                                              seine_job_url *out_url);

/* The robots.txt that the job has read of "https://e.example:443", valid until the next
 * call; empty where there was none. False: it has read none. */
bool seine_job_view_robots(seine_job_view *v, const char *host, seine_view *out_text,
                           int64_t *out_wall);

/* What the next run of an incremental crawl would ask for at that moment, wall time in
 * ns; 0: all that it knows, whenever it is due. `fn` gets each URL, NULL: none. INVAL:
 * the rows were read before. Otherwise as above. */
typedef struct seine_job_due {
    uint32_t round;        /* that the run would be in */
    uint64_t due, not_due; /* URLs */
} seine_job_due;
typedef void (*seine_job_url_fn)(seine_view url, void *arg);
SEINE_MUST_CHECK seine_err seine_job_view_due(seine_job_view *v, int64_t wall,
                                              seine_job_url_fn fn, void *arg,
                                              seine_job_due *out_due, seine_diag *diag);

/* Gives the orphans of an incremental crawl: pages that were there when they were asked
 * for last, and which no other page, no sitemap and no seed names. What pages name that
 * are unchanged, fail or are not due counts as it was read last. INVAL: the rows were
 * read before. Otherwise as above. */
typedef struct seine_job_orphans {
    uint64_t n;
    uint64_t cut; /* pages that name more URLs than are kept: some may be no orphans */
} seine_job_orphans;
SEINE_MUST_CHECK seine_err seine_job_view_orphans(seine_job_view *v, seine_job_url_fn fn,
                                                  void *arg, seine_job_orphans *out,
                                                  seine_diag *diag);

/* Gives every URL of this round that has ended with a record, in the order of their
 * numbers, with what the state keeps of it: how it ended and when, sizes, the time of its
 * last attempt as `ttfb`; of a failure also where it was found. What all of them have
 * waited stands in the first result. Views are valid until `fn` returns. INVAL: the rows
 * were read before. STATE_CORRUPT, IO, NOMEM. */
SEINE_MUST_CHECK seine_err seine_job_view_records(seine_job_view *v,
                                                  seine_job_record_fn fn, void *arg);

/* Adds the slices that the runs of the job have kept, see timeline.h: its last minutes,
 * and its last ten minutes by the second. STATE_CORRUPT, IO, NOMEM. */
struct seine_timeline;
SEINE_MUST_CHECK seine_err seine_job_view_timeline(seine_job_view *v,
                                                   struct seine_timeline *into);

/* Removes the job: its state, not its outputs. STATE_LOCKED: it runs. IO: there is no
 * such job, or its directory has files that are not ours. */
SEINE_MUST_CHECK seine_err seine_job_remove(const char *state, const char *name,
                                            seine_diag *diag);

SEINE_END

#endif
