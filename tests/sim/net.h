/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - a net made of numbers: hosts that are slow, lie, fail, limit and redirect, as a
 * seed has it, and a transport (net/transport.h) to them on virtual time.
 *
 * Every choice is a hash of the seed, the page and how often it was asked, so that the
 * same starts at the same moments get the same answers. The net is also the witness: it
 * checks each start against what the options promise and each end against its deadline,
 * and says which invariant was broken (docs/internals/sim.md).
 *
 * URLs are http://h7.sim/p/123: host 7, page 123, which is the number of the visit. A
 * redirect leads to /p/123/2?z=0, hop 2, named by bytes from a peer in zone 0. Half of
 * all worlds are crawled: their URLs, pages and rules are those of site.h, and what is
 * to be recorded is known to oracle.h.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/rng.h"
#include "net/transport.h"
#include "seine/fetch.h"

#define SIM_SECRET "x-sim-secret"

typedef struct sim_host {
    sn_ip ip;
    sn_address_zone zone;
    seine_span dns, connect, ttfb, jitter, body;             /* latencies */
    uint32_t reset, cut, refuse, slow, s500, s404, redirect; /* of 1000 answers */
    uint32_t stale;  /* of 1000 on a kept connection */
    seine_span flap; /* down every other such span; 0: never */
    bool dead, nx;
    uint32_t limit;         /* 429 above so many a second; 0: none */
    seine_span retry_after; /* said with 429; -1: nothing */
    /* the witness's */
    seine_time tat;          /* second opinion on the rate: theoretical arrival time */
    seine_time closed_until; /* breaker.open said so */
    bool half_open;
    seine_time pause; /* a Retry-After that was said runs until then */
    uint32_t in_flight, peak, idle;
    seine_time second;
    uint32_t in_second;
    seine_time seen; /* the newest request that arrived */
    bool is_seen;
    uint64_t starts;
    /* second opinion on waves, see engine/wave.h */
    uint32_t row;   /* failures since the last success, while its breaker was closed */
    uint32_t wave;  /* in flight at the threshold, and still in flight */
    uint64_t mark;  /* those that started before it are of the wave */
    uint32_t epoch; /* changes of its breaker */
} sim_host;

typedef struct sim_page {
    uint32_t asked;
    uint8_t last_ok; /* the last answer was whole and accepted */
    uint8_t records;
    uint8_t given;
} sim_page;

typedef struct sim_world {
    uint64_t seed;
    seine_fetch_opts opts;
    seine_clock clock;
    seine_time now;
    int64_t wall_step; /* the wall clock was set by so much */
    sn_rng dice, model;
    uint32_t n_hosts, n_pages, n_shards;
    sim_host *hosts;
    sim_page *pages;
    struct sim_disk *disk;     /* where its URLs wait */
    seine_span stalled;        /* by the disk, since the engine looked at the clock */
    seine_span late, was_late; /* all stalls of this step, and of the one before */
    uint64_t missing;          /* URLs that have no record and need one */
    struct site *site; /* what is crawled; NULL: pages are given, and have no links */
    uint64_t pages_asked;
    uint64_t step, hash;
    uint64_t starts, ends, early_cancels;
    bool trace, broken;
    char what[200];
    bool has_left;   /* the run ended, and its job is not finished */
    bool was_killed; /* at least once */
    bool stopping;   /* no start may come any more */
    seine_time stopped_at;
} sim_world;

/* Draws hosts, faults, limits and options. NULL: no memory. */
sim_world *sim_world_new(uint64_t seed, uint32_t max_hosts, uint32_t max_pages);
void sim_world_free(sim_world *w);

sn_transport *sim_net_new(sim_world *w, uint32_t shard);
void sim_net_free(sn_transport *base);
seine_time sim_net_when(const sn_transport *base); /* its next event */
uint32_t sim_net_in_flight(const sn_transport *base);

/* An invariant does not hold: the first one is kept. */
/* S19, see there. */
void sim_judge_attempts(sim_world *w, const seine_record *r);

void sim_broken(sim_world *w, const char *invariant, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sim_note(sim_world *w, const char *event, uint64_t a, uint64_t b);

sim_host *sim_host_of(sim_world *w, sn_str name); /* "http://h7.sim:80" */

#endif
