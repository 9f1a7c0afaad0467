/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_control.h - a fetch or crawl that runs: hold it, change its limits, see what
 * its hosts wait for.
 *
 *     seine_fetch_pause(f, true);                      nothing new starts
 *     seine_fetch_tune t = SEINE_FETCH_TUNE;
 *     t.host = "e.example";
 *     t.has_host_rate = true;
 *     t.host_rate = (seine_rate){1, SEINE_SECS(1), 1};
 *     e = seine_fetch_tune_set(f, &t, &diag);          from the next request on
 *
 *     uint64_t ticket = seine_fetch_waits_ask(f);      the shards look …
 *     while (!seine_fetch_waits_get(f, ticket, waits, 64, &n))
 *         wait_a_little();                             … within milliseconds
 *
 * What is in flight goes on during a pause. A limit that was changed holds from the next
 * turn of each shard on, for URLs that wait already as well. Crawl-delay, Retry-After and
 * breakers hold whatever limits are set.
 *
 * Time    through the clock of the fetch.
 * Memory  a few hundred bytes a change, some kilobytes a question.
 * Threads any thread.
 */
#ifndef SEINE_FETCH_CONTROL_H
#define SEINE_FETCH_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/breaker.h"
#include "seine/fetch.h"
#include "seine/host_opts.h"

typedef struct seine_fetch_tune {
    size_t size;      /* of this struct: SEINE_FETCH_TUNE sets it */
    const char *host; /* "e.example", "e.example:8080"; NULL: all hosts */
    bool has_rate;    /* over all hosts; not with `host` */
    bool has_host_rate;
    seine_rate rate, host_rate; /* count 0: off; burst 0: that of the options */
    uint32_t concurrency;       /* 0: as it is; not with `host` */
    uint32_t per_host;          /* 0: as it is */
    uint32_t per_ip;            /* 0: as it is; not with `host` */
} seine_fetch_tune;

/* clang-format off */
#define SEINE_FETCH_TUNE {sizeof(seine_fetch_tune), NULL, false, false, {0, 0, 0}, {0, 0, 0}, 0, 0, 0}
/* clang-format on */

/* A host that has work, at one moment. */
typedef struct seine_fetch_wait {
    char host[160]; /* "e.example", with the port unless it is the default */
    uint64_t waiting, in_flight;
    bool is_held; /* something holds it: `why`, until `until` if that is known */
    seine_wait why;
    seine_time until;  /* 0: not known */
    seine_err cause;   /* of an open breaker, and of a host that was given up; OK */
    uint32_t failures; /* in a row, as the breaker counts them */
    bool is_robots;    /* it waits for robots.txt, which cannot be had until `until` */
    bool is_parked;    /* given up in this run */
    seine_span every;  /* between two requests now */
    uint64_t requests, ok, failed; /* that ended; of the first thousands of hosts */
    seine_span p95;                /* of whole attempts */
    seine_breaker_state breaker;
    seine_span delay; /* Crawl-delay; 0: none */
} seine_fetch_wait;

/* Which hosts, and which of them first. */
typedef enum seine_fetch_sort {
    SEINE_SORT_WAITING,
    SEINE_SORT_REQUESTS,
    SEINE_SORT_FAILED,
    SEINE_SORT_IN_FLIGHT,
    SEINE_SORT_SLOW /* those with the greatest p95 */
} seine_fetch_sort;

typedef struct seine_fetch_look {
    seine_fetch_sort sort;
    bool is_all;    /* hosts without work, too */
    char match[64]; /* is in the name; "": any */
} seine_fetch_look;

SEINE_BEGIN

/* No request starts from here on, or they do again. */
void seine_fetch_pause(seine_fetch *f, bool is_paused);
bool seine_fetch_is_paused(const seine_fetch *f);

/* INVAL: what cannot be; the diag says which member and why. FULL: too many changes were
 * made. NOMEM. */
SEINE_MUST_CHECK seine_err seine_fetch_tune_set(seine_fetch *f, const seine_fetch_tune *t,
                                                seine_diag *diag);

/* Other settings of single hosts and other groups than those of the options, see
 * host_opts.h; NULL and 0: none. What was started keeps its settings; what hosts and
 * groups owe is kept. INVAL: nothing has changed, and the diag says why. NOMEM, FULL. */
SEINE_MUST_CHECK seine_err seine_fetch_hosts_set(seine_fetch *f,
                                                 const seine_host_opts *hosts,
                                                 size_t n_hosts,
                                                 const seine_group_opts *groups,
                                                 size_t n_groups, seine_diag *diag);

/* Closes the breaker of "e.example" or "e.example:8080": its URLs may be asked for. A
 * host that was given up stays so. INVAL, FULL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_fetch_breaker_reset(seine_fetch *f, const char *host);

/* Asks all shards what their hosts wait for. */
uint64_t seine_fetch_waits_ask(seine_fetch *f);
/* The same of other hosts, in another order; NULL: as above. Who asks while another
 * question is open changes what both get. */
uint64_t seine_fetch_waits_look(seine_fetch *f, const seine_fetch_look *look);
/* The answer to that question or a later one: up to `room` hosts, those with most URLs
 * first, or as the question says. False: not all shards have answered. */
bool seine_fetch_waits_get(const seine_fetch *f, uint64_t ticket, seine_fetch_wait *out,
                           size_t room, size_t *out_n);

/* Adds the slices of all shards, those of earlier runs of the job included; see
 * timeline.h. Without `timeline` and without a job there are none. NOMEM, FULL. */
struct seine_timeline;
SEINE_MUST_CHECK seine_err seine_fetch_timeline(const seine_fetch *f,
                                                struct seine_timeline *into);

SEINE_END

#endif
