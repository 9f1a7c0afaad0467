/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - workers of a fleet, the Redis that they share, the net between them and the
 * site that they crawl, all from one seed and on one virtual time.
 *
 *     sim_fleet.c   draws faults, gives everybody their turn, judges the end
 *     worker.c      a worker: the real keeper, engine and commits, on three fibers
 *     wire.c        connections to Redis that are slow, cut, and answered too late
 *     site.c        pages and links; the witness of all requests
 *
 * A worker has a clock of its own: `now` stands still while its machine is suspended,
 * `up` does not, and its wall time is wrong by some seconds.
 */
#ifndef SIM_FLEET_WORLD_H
#define SIM_FLEET_WORLD_H

#include "base/rng.h"
#include "engine/fetch.h"
#include "engine/fleet.h"
#include "fiber.h"
#include "redis_model.h"
#include "store/record.h"

enum { MAX_WORKERS = 24, MAX_HOSTS = 12, MAX_PAGES = 160, MAX_LINKS = 8, SERVERS = 2 };

#define EPOCH (INT64_C(1794000000) * SEINE_SECS(1))

typedef struct world world;
typedef struct worker worker;

/* The site. */

typedef struct sim_page {
    char url[64];
    uint32_t host;
    uint16_t links[MAX_LINKS];
    bool nofollow[MAX_LINKS];
    uint32_t n_links;
    uint32_t bad;      /* so many requests fail first */
    bool is_gone;      /* 404 */
    bool is_forbidden; /* by robots.txt */
    uint32_t asked, records;
    bool is_known; /* the oracle's: it has to have a record */
} sim_page;

typedef struct sim_host {
    char name[32];
    seine_span delay;  /* Crawl-delay; 0: none */
    seine_span takes;  /* to answer */
    seine_time last;   /* the newest request … */
    seine_span wanted; /* … after which there has to be such a pause */
    uint32_t requests;
} sim_host;

/* A thread of a worker. */

typedef struct actor {
    worker *of;
    fiber *fiber;         /* NULL: it has ended */
    seine_time at;        /* of the world: when it goes on */
    const uint32_t *word; /* that wakes it earlier; NULL: none */
} actor;

typedef struct kept { /* a record on its way from the shard to the sink */
    struct kept *next;
    seine_record *record;
    char block[] __attribute__((aligned(16)));
} kept;

typedef struct wire wire;

typedef enum ending { LIVING, TERMINATED, KILLED } ending;

struct worker {
    seine_clock clock; /* first: it leads back */
    world *of;
    uint32_t index;
    sn_rng dice;
    seine_span skew;         /* of its wall time */
    seine_span missed;       /* its machine was suspended for so long */
    seine_time stands_until; /* nothing of it runs before */
    bool is_suspended;       /* … and its clock stands, too */
    seine_time cut_until;    /* no byte gets to Redis and back */
    wire *wires[2 * SERVERS];
    seine_fleet *fleet;
    sn_fleet *own; /* the same, inside */
    seine_fetch *fetch;
    sn_net net;
    actor keeper, sink, shard;
    kept *first, **last;
    uint32_t bell;
    uint64_t seq;
    ending end;
    bool is_fetched, is_committed, has_left; /* steps of the end in order */
    seine_fleet_state state;
    uint64_t started, granted; /* requests; starts of the rate of the fleet */
};

/* Bytes on their way to a server. */
typedef struct packet {
    struct packet *next;
    wire *of;
    uint32_t generation;
    uint64_t run; /* of the server that it was sent to */
    seine_time at;
    size_t len;
    char bytes[];
} packet;

struct wire {
    worker *of;
    uint32_t server;
    uint32_t generation; /* of its connection */
    bool is_open, is_reset;
    seine_time busy_until; /* packets do not overtake each other */
    sn_buf in;             /* replies … */
    seine_time in_at;      /* … that are there from then on */
    uint32_t bell;
};

typedef struct server {
    redis_model *model;
    sn_redis_wire inner;
    seine_time down_until, full_until, slow_until;
    uint64_t run;
    bool is_full;
} server;

typedef struct lease { /* as the witness knows it */
    char token[80];
    int64_t until_ms;
} lease;

struct world {
    uint64_t seed;
    sn_rng dice;
    seine_time now;
    uint64_t steps, hash;
    bool trace, is_broken;
    char what[240];
    char dir[64];
    server servers[SERVERS];
    uint32_t n_servers, parts;
    seine_span lease, latency, interval, every;
    packet *packets;
    worker *talking; /* whose command is run */
    worker *workers[MAX_WORKERS];
    uint32_t n_workers;
    sim_host hosts[MAX_HOSTS];
    sim_page pages[MAX_PAGES];
    uint32_t n_hosts, n_pages;
    seine_crawl_opts crawl;
    lease leases[64]; /* by partition */
    sn_fleet_id id;   /* of the job */
    uint64_t commits, fenced, tenures, requests, kills;
    seine_time quota_since;
    uint64_t granted;
};

uint64_t below(world *w, uint64_t n);
bool chance(world *w, uint64_t percent);
seine_span between(world *w, seine_span from, seine_span to);
/* A promise was broken: the first one is kept. */
void broken(world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void note(world *w, const char *what, uint64_t a, uint64_t b);

/* worker.c */
worker *worker_new(world *w);
void worker_submit(worker *k); /* makes the job and gives its seeds; a fiber */
void worker_start(worker *k);
void worker_stop(worker *k); /* SIGTERM */
void worker_kill(worker *k);
bool worker_is_over(const worker *k);
void worker_free(worker *k);
actor *worker_next(worker *k, seine_time *out_at); /* who goes on first, and when */
void actor_run(actor *a);
/* Inside a fiber: sleeps until that moment of the world, or until the word is rung. */
void actor_sleep(worker *k, seine_time at, const uint32_t *word);
void actor_ring(worker *k, uint32_t *word);

/* wire.c */
void wires_open(worker *k, sn_redis_wire out[2 * SERVERS]);
void wires_free(worker *k);
void servers_init(world *w);
void servers_free(world *w);
void server_restart(world *w, uint32_t i, seine_span away);
seine_time packets_when(const world *w);
void packets_deliver(world *w); /* those that are due */

/* site.c */
void site_draw(world *w);
uint32_t site_page_of(const world *w, sn_str url); /* n_pages: none */
sn_net site_net(worker *k);
void site_judge(world *w);

#endif
