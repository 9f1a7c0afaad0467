/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - how did the whole run go? Counts of all records.
 *
 *     seine_tally_new(&t);
 *     seine_tally_add(t, record);                      once per record, on one thread
 *     seine_tally_sums_get(t, &now_so_far);            any thread: for a progress bar
 *     seine_tally_members(t, &run, &text);             the summary, as JSON members
 *
 * total = ok + failed + blocked + skipped; success_rate = ok / (ok + failed) * 100.
 * Latencies are kept in a histogram with bins 3 % wide, so memory does not grow with
 * their number.
 *
 * Time    durations come with the records.
 * Memory  fixed, about 25 KiB.
 * Threads add: one owner; snapshot: any thread.
 */
#ifndef SEINE_TALLY_H
#define SEINE_TALLY_H

#include "seine/alloc.h"
#include "seine/breaker.h"
#include "seine/record.h"

typedef struct seine_tally seine_tally;

/* A snapshot. given = admitted + refused + lost; admitted = done + waiting + in_flight.
 */
typedef struct seine_fetch_stats {
    uint64_t given, duplicates, admitted, refused, done;
    uint64_t links_cut;    /* beyond max_links of their page: never looked at */
    uint64_t sitemaps_cut; /* files not read to their end, or not at all, for a limit */
    uint64_t lost;         /* found, and without a record: a failing disk had them */
    uint64_t ok, failed, blocked; /* of the done */
    uint64_t waiting, in_flight;
    uint64_t waiting_for[SEINE_WAIT_ROOM];
    uint64_t requests, retries, replays; /* also requests that were refused */
    uint64_t bytes_in, bytes_body;
    uint64_t connections, reused;
    uint64_t hosts, parked, breaker_opens;
    uint64_t unread; /* of a crawl: wait at depths of which hardly a page was read */
    seine_time parked_until;     /* the earliest; NEVER */
    uint64_t sitemaps_over;      /* sitemaps beyond max_sitemaps: not read … */
    uint64_t sitemap_bytes_over; /* … and beyond max_sitemap_bytes */
} seine_fetch_stats;

/* Statistics of a host. */
typedef struct seine_fetch_host {
    seine_view host; /* "e.example", with the port unless it is the default */
    uint64_t requests, ok, failed, retries;
    uint32_t waiting, in_flight;
    uint32_t max_in_1s;  /* that left in the busiest second, wherever it begins */
    seine_span min_gap;  /* between two starts; NEVER: fewer than two */
    seine_span p50, p95; /* of whole attempts */
    uint32_t breaker_opens;
    seine_breaker_state breaker;
    seine_wait limited_by; /* what its URLs waited for longest */
    bool parked;
    seine_span every; /* current interval */
} seine_fetch_host;

/* The host that will take longest at its current pace. */
typedef struct seine_fetch_slowest {
    char host[160]; /* as above; cut if it is longer */
    uint64_t waiting;
    seine_span every, left; /* between two starts; until the last one */
} seine_fetch_slowest;

typedef struct seine_tally_sums {
    uint64_t total, ok, failed, blocked, skipped;
    uint64_t fates[SEINE_FATE_ROOM], skips[SEINE_SKIP_ROOM];
    uint64_t errors[SEINE_ERR_ROOM];
    uint64_t statuses[1000];
    uint64_t attempts, retries, bytes_in, bytes_body;
    uint64_t total_duration_ms, avg_duration_ms; /* of results */
    double success_rate;
    seine_span p50, p90, p95, p99, max; /* of the last attempts of results */
    seine_span queue, throttle, backoff, retry_budget;
} seine_tally_sums;

/* A limit that has kept something out: its name and how often. */
typedef struct seine_tally_limit {
    const char *name; /* "max_bytes" */
    uint64_t n;
} seine_tally_limit;

/* What the program knows of the run. */
typedef struct seine_tally_run {
    const char *command, *stopped_by; /* "fetch", "done" */
    uint64_t pending, duplicates;
    seine_span wall;
    int exit_code;
    bool resumable;
    const seine_fetch_stats *stats;
    const seine_fetch_host *top; /* the busiest hosts, at most ten */
    size_t n_top;
    const seine_tally_limit *limits; /* that have bitten */
    size_t n_limits;
    const char *unread;   /* the input in which reading stopped; NULL: none … */
    uint64_t unread_line; /* … behind this line */
} seine_tally_run;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_tally_new(seine_tally **out_tally);
void seine_tally_free(seine_tally *t);
void seine_tally_add(seine_tally *t, const seine_record *r);
void seine_tally_sums_get(const seine_tally *t, seine_tally_sums *out_sums);

/* Writes the members of the summary record after the common ones, `"command":…` to
 * `"resumable":…`, without braces. NOMEM. */
SEINE_MUST_CHECK seine_err seine_tally_members(const seine_tally *t,
                                               const seine_tally_run *run,
                                               seine_text *out_text);

SEINE_END

#endif
