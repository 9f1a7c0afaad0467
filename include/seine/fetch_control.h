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

#include "seine/fetch.h"

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
} seine_fetch_wait;

SEINE_BEGIN

/* No request starts from here on, or they do again. */
void seine_fetch_pause(seine_fetch *f, bool is_paused);
bool seine_fetch_is_paused(const seine_fetch *f);

/* INVAL: what cannot be; the diag says which member and why. FULL: too many changes were
 * made. NOMEM. */
SEINE_MUST_CHECK seine_err seine_fetch_tune_set(seine_fetch *f, const seine_fetch_tune *t,
                                                seine_diag *diag);

/* Asks all shards what their hosts wait for. */
uint64_t seine_fetch_waits_ask(seine_fetch *f);
/* The answer to that question or a later one: up to `room` hosts, those with most URLs
 * first. False: not all shards have answered. */
bool seine_fetch_waits_get(const seine_fetch *f, uint64_t ticket, seine_fetch_wait *out,
                           size_t room, size_t *out_n);

SEINE_END

#endif
