/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_state.h - what do all shards of one fetch share? They share nothing else.
 *
 * The options as given, the count of requests in flight and the bucket of `rate` (one
 * atomic each), the limits per address, the memory budget, the visits, the seen-set, what
 * is left to do, and one word that says stop.
 *
 * Time    plays no part.
 * Memory  made once; freed when all shards are gone.
 * Threads any thread, each member by its own rule.
 */
#ifndef SN_SHARED_STATE_H
#define SN_SHARED_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/address_limit.h"
#include "engine/depth_counts.h"
#include "engine/host_policy.h"
#include "engine/lastmod_table.h"
#include "engine/memory_brake.h"
#include "engine/tried_urls.h"
#include "engine/tune.h"
#include "engine/visit.h"
#include "net/address_guard.h"
#include "net/proxy.h"
#include "net/read_rate.h"
#include "net/tls.h"
#include "seine/fetch.h"
#include "seine/psl.h"
#include "seine/seen.h"
#include "seine/shared.h"

enum {
    SN_GOING,
    SN_DRAINING,
    SN_STOPPING
}; /* no new request; nothing in flight either */

typedef struct sn_shared_state {
    seine_fetch_opts opts; /* texts and arrays in `memory` */
    sn_arena memory;
    uint8_t trace[24]; /* of the span of the whole fetch */
    sn_limits limits;  /* of a request, from opts */
    sn_visits *visits;
    struct sn_url_front
        *_Atomic front;         /* of the URL given last; NULL: somebody uses it */
    seine_seen *seen;           /* NULL: `dedup` is off */
    seine_throttle in_flight;   /* `concurrency` */
    seine_shared *rate;         /* `rate`; NULL: off */
    struct sn_key_pace *pace;   /* `rate` by `rate_key`; NULL: off */
    sn_read_rate *read_rate;    /* `limit_rate`; NULL: off */
    seine_breaker_opts breaker; /* of the hosts; rows of failures are judged by waves */
    sn_memory_brake *brake;     /* `max_memory`, with … */
    seine_budget *budget;       /* … its budget; NULL: unlimited */
    sn_tls_ctx *tls;            /* whom to trust */
    sn_proxies proxies;         /* never changes */
    sn_address_limits address_limits;
    bool has_address_limits;
    sn_host_groups groups;        /* what groups of hosts owe */
    sn_host_policies *policies;   /* of single hosts, at the beginning; NULL: none */
    uint64_t secret[2];           /* of the hash that gives a host its shard … */
    struct sn_shard_turns *turns; /* … behind the first ones; NULL: one shard */
    _Atomic uint64_t next_number;
    _Atomic int stop;          /* SN_GOING … */
    _Atomic int stop_why;      /* seine_err: CANCELED, DEADLINE */
    _Atomic uint32_t narrowed; /* percent of `concurrency` to use: descriptors ran out */
    _Atomic bool paused;       /* nothing starts */
    _Atomic uint64_t tickets;  /* questions of what hosts wait for */
    sn_tunes
        tunes; /* limits that were changed; its lock guards `rate` and the newest … */
    sn_host_policies *newest;  /* … table of policies, which keeps the others */
    _Atomic uint32_t starving; /* shards that wait for a slot of another */
    _Atomic uint32_t held;     /* shards that may start nothing, and wait to be woken */
    _Atomic uint32_t busy;     /* shards with more pages than they have time for */
    struct sn_page_readers *readers; /* NULL: every shard reads its pages itself */

    /* what was given and found, and how much of it is left */
    _Atomic uint64_t admitted, refused, duplicates;
    _Atomic uint64_t links_cut, sitemaps_cut; /* beyond a limit, see seine_fetch_stats */
    _Atomic uint32_t sitemaps;                /* that were found, and … */
    _Atomic uint64_t sitemap_bytes;           /* … bytes of those that were read */
    _Atomic uint64_t sitemaps_over, sitemap_bytes_over; /* left out beyond each limit */
    _Atomic uint64_t lost;       /* found, and without a record: see `err` */
    _Atomic int err;             /* seine_err: why found URLs could not be kept; OK */
    _Atomic bool is_failing;     /* a shard writes … */
    seine_diag why;              /* … this, before it sets `err` */
    _Atomic uint64_t unwanted;   /* refused by their type, and yet asked for */
    _Atomic uint64_t load;       /* units of work in the low half; see sn_load */
    _Atomic uint64_t late;       /* shards with something to tell at the end */
    _Atomic uint64_t bytes_body; /* of all responses */
    _Atomic uint64_t mail_bytes; /* between shards */
    _Atomic bool closed;         /* no more URLs are given … */
    _Atomic uint32_t adding;     /* … once these calls are over */
    _Atomic bool gives_up;       /* on hosts whose robots.txt cannot be had */

    /* a job, which keeps what is not done when the run ends */
    struct seine_durable_job *job; /* NULL: none */
    pthread_mutex_t giver;         /* of … */
    struct sn_job_lane *given;     /* … its lane for URLs that are given, and … */
    uint64_t n_given;              /* … how many there were in a crawl */
    seine_time resumed_at;         /* INT64_MIN: it is the first run */
    _Atomic seine_time earliest;   /* a resumed run asks no host before */
    seine_span tenure_wait;        /* in a fleet: from a lease to the first request */
    struct sn_fleet *fleet;        /* of a job that several workers share; NULL: none */
    _Atomic uint64_t left, left_parked, left_robots; /* as in seine_fetch_left */
    _Atomic uint64_t known; /* URLs that earlier runs were given, and this one was not */
    sn_tried_urls tried;    /* by earlier runs; filled before the shards start */
    _Atomic uint64_t not_due;  /* pages of an incremental crawl that are left alone */
    sn_lastmod_table lastmods; /* of pages that sitemaps name, in such a crawl */

    /* a crawl, or robots.txt */
    struct sn_scope *scope;               /* NULL: all URLs are fine */
    struct sn_record_filter *accept_urls; /* NULL: accept_type alone decides */
    seine_seen *late_seen;                /* keys of late refusals */
    seine_psl *psl;                       /* NULL: nobody asks */
    char agent[64]; /* the product token that robots.txt is read for */
    struct {
        sn_str depth, nofollow, scope, pattern_budget, max_per_host, max_subdomains;
    } shown;                /* how rules of records call these options */
    sn_depth_counts depths; /* pages of a crawl that were found by links */
    char max_pages_rule[96], max_bytes_rule[96]; /* with their values */
} sn_shared_state;

/* What is left to do, read at one moment. A unit is a URL that was admitted and has no
 * record yet, a robots.txt, a sitemap. Stuck are the URLs that wait for a robots.txt
 * which cannot be had. */
typedef struct sn_load {
    uint32_t work, stuck;
} sn_load;

sn_load sn_shared_state_load(const sn_shared_state *c);
void sn_shared_state_add_work(sn_shared_state *c, uint32_t work);
void sn_shared_state_end_work(sn_shared_state *c, uint32_t work);
void sn_shared_state_add_stuck(sn_shared_state *c, uint32_t n);
void sn_shared_state_end_stuck(sn_shared_state *c, uint32_t n);

/* Nobody gives URLs any more. */
bool sn_shared_state_is_closed(const sn_shared_state *c);

/* Nobody gives URLs any more, and … no work is left, except refusals for the end. */
bool sn_shared_state_is_quiet(const sn_shared_state *c);
/* … only URLs that wait for a robots.txt in vain are left. */
bool sn_shared_state_is_stuck(const sn_shared_state *c);
/* … nothing at all is left. */
bool sn_shared_state_is_done(const sn_shared_state *c);

/* The shard of a URL, of `n`: all hosts of one name on the same one, in a crawl all of
 * one registrable domain. */
uint32_t sn_shared_state_shard(const sn_shared_state *c, const seine_url *url,
                               uint32_t n);

/* Found URLs can no longer be kept: the run stops in order, as by a first stop. The first
 * call counts; true: it was this one. */
bool sn_shared_state_fail(sn_shared_state *c, seine_err e, const seine_diag *why);

/* Does the end of the run leave work to the job? Then nothing is over that another URL
 * may still change. */
bool sn_shared_state_leaves(const sn_shared_state *c);

/* Do URLs of hosts that are given up stay with the job? Those of an incremental crawl end
 * in a record, and the next round asks for them again. */
static inline bool
sn_shared_state_leaves_hosts(const sn_shared_state *c)
{
    return c->job && !c->opts.revisit && !c->fleet;
}

/* One more is admitted, unless `max_pages` are. */
bool sn_shared_state_admit(sn_shared_state *c);

/* Copies the options, checks those that only the engine can judge, makes what is
 * shared. CONFIG: the diag says which member and how. NOMEM. */
SEINE_MUST_CHECK seine_err sn_shared_state_init(sn_shared_state *c,
                                                const seine_fetch_opts *opts,
                                                seine_diag *diag);
void sn_shared_state_fini(sn_shared_state *c); /* all visits are back */

/* Links are followed, robots.txt is asked for, at least of some hosts, or the next worker
 * of a fleet has to know how hosts stand. */
bool sn_shared_state_has_frontier(const sn_shared_state *c);

/* The rate as a bucket that lets a shard which was woken late catch up: up to a
 * millisecond's worth of starts more, none of them at the beginning. */
seine_rate sn_shared_state_rate(seine_rate rate);

/* "scheme://name:port" of what is kept by host. */
#define SN_HOST_NAME 280

#endif
