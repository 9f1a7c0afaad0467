/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what a shard knows of its hosts: a small record of each for ever, guards for
 * those that have work, and statistics of the first thousands for the summary.
 *
 * The record has the queues of visits, the first moment at which the host may be asked
 * again, and where it stands: idle, on the wheel, in a ready lane, busy (as many in
 * flight as allowed), or parked (given up in this run). The guards, ten times as big, are
 * folded away when a host is idle and nothing in them matters any more; `next` keeps the
 * debt of the limiter, so that folding never makes a request early.
 *
 *     e = sn_hosts_find(&hosts, &url, now, &host);
 *     e = sn_hosts_guard(&hosts, host, now, &guards);
 *
 * Time    is passed in.
 * Memory  64 + 32 bytes, a place in a table and the name a host; guards and statistics
 *         in slabs that are reused.
 * Threads one owner.
 */
#ifndef SN_HOST_H
#define SN_HOST_H

#include "base/timer_wheel.h"
#include "engine/host_stats.h"
#include "engine/pace.h"
#include "engine/shared_state.h"
#include "engine/tune.h"
#include "engine/wave.h"
#include "guard/adaptive_limit.h"

#define SN_GUARDS_BLOCK     64
#define SN_HOST_STATS_BLOCK 16

typedef enum sn_host_place {
    SN_HOST_IDLE,     /* nothing waits */
    SN_HOST_ON_WHEEL, /* until `next` */
    SN_HOST_READY,    /* ready, in a lane */
    SN_HOST_BUSY,     /* as many in flight as allowed: the next end wakes it */
    SN_HOST_ASIDE,    /* nothing of it may go yet: an end, work, a visit wake it */
    SN_HOST_DRY,      /* there was no memory for its next URL */
    SN_HOST_PARKED,   /* not asked again in this run */
} sn_host_place;

enum { SN_HIGH, SN_NORMAL, SN_LOW, SN_LANES };

typedef struct sn_host {      /* one cache line: all that a start and an end look at */
    seine_time next;          /* no request may start before */
    sn_visit *last[SN_LANES]; /* rings of visits: last->next is the first */
    uint32_t link;            /* the wheel's, or the next in its lane */
    uint32_t guards;          /* SN_NONE: folded */
    uint32_t stats;           /* SN_NONE: none are kept */
    uint32_t n_waiting;       /* in the rings */
    uint32_t n_unpaid;        /* retries that the retry budget did not pay for */
    uint32_t n_offered;       /* URLs at the frontier that may be asked for */
    uint32_t in_flight;
    uint8_t place;       /* sn_host_place */
    uint8_t why;         /* seine_wait: what holds it, or held it last */
    uint8_t pin;         /* sn_address_zone */
    bool is_given : 1;   /* a given URL names it */
    bool is_delayed : 1; /* by a Crawl-delay */
    bool is_told : 1;    /* it is in the list of parked hosts */
    bool has_twin : 1;   /* its name is known on the other of ports 80 and 443, too */
    bool is_tuned : 1;   /* it has limits of its own: sn_hosts_tuned */
} sn_host;

typedef struct sn_host_card { /* the rest */
    char *name;               /* "https://e.example:443"; terminated */
    uint32_t hash;            /* of the name */
    uint32_t delay_ms;        /* Crawl-delay */
    uint32_t parked_next;     /* in the list of parked hosts whose URLs are to be ended */
    uint32_t n_again;         /* visits that wait for a moment of their own */
    uint32_t twin;            /* see has_twin */
    uint16_t parked_by;       /* seine_err */
    uint16_t policy;          /* its place in sn_hosts.policies; 0: as for all */
} sn_host_card;

/* In the order in which a start and an end go through them: 576 bytes, of which five
 * lines are looked at while all goes well. */
typedef struct sn_guards {
    _Alignas(64) seine_limiter limiter;
    seine_throttle throttle;
    seine_guards set;      /* pointers to those that are on */
    sn_aimd cap;           /* of an adaptive throttle */
    seine_span held;       /* how long brakes have held the host, in all */
    seine_span held_mark;  /* when the last visit left it */
    seine_time held_since; /* NEVER: they do not now */
    seine_breaker breaker;
    sn_pace pace;
    sn_wave wave;
    seine_retry_budget *retry_budget;
    sn_visit *unpaid;    /* a ring like those of the host: last->next is the first */
    uint32_t gap_us;     /* of the newest start to the next one */
    uint32_t link;       /* next free one */
    sn_ip ip;            /* connected to last; v = 0: unknown */
    uint8_t held_why;    /* seine_wait: the last brake that did */
    uint8_t retry_after; /* the pause that holds was asked for by the server */
    bool is_leaving;     /* the newest start has not left yet */
    bool is_alive;       /* it has responded, with whatever status */
    bool is_vain;        /* no good answer since the last pause began … */
    bool was_vain;       /* … and between that pause and the one before */
} sn_guards;

/* Limits of one host, by its name. */
typedef struct sn_host_tune {
    char host[SN_TUNE_HOST];
    bool has_rate;
    seine_rate rate;
    uint32_t per_host; /* 0: not said */
} sn_host_tune;

typedef struct sn_hosts {
    sn_shared_state *shared;
    sn_host *all; /* starts on a cache line */
    sn_host_card *cards;
    uint32_t n, room;
    char front[SN_HOST_NAME]; /* of the URL that was looked up last: up to its path … */
    uint32_t front_len, front_host; /* … and what was found; 0: nothing yet */
    uint32_t *table;                /* host number + 1, by hash; 0: empty */
    uint32_t table_room;
    sn_arena names;
    sn_guards **guards;              /* blocks: pointers into them stay valid */
    uint32_t n_guards, fresh_guards; /* there is room for; were never used from here on */
    uint32_t free_guards, guards_used;
    sn_host_stats **stats; /* blocks */
    uint32_t n_stats;
    sn_timer_wheel *wheel; /* told when `all` moves */
    uint64_t secret[2];
    seine_shared *rate; /* limits that may change: over all hosts; NULL: off … */
    seine_rate host_rate;
    uint32_t per_host;
    sn_host_tune *tunes; /* … and of single hosts */
    size_t n_tunes;
    sn_host_policies *said;          /* what is said of single hosts; NULL: nothing … */
    const sn_host_policy **policies; /* … and what was found there, from 1 on */
    uint32_t n_policies, policies_room;
} sn_hosts;

SEINE_MUST_CHECK seine_err sn_hosts_init(sn_hosts *hs, sn_shared_state *shared,
                                         sn_timer_wheel *wheel, seine_time now);
void sn_hosts_fini(sn_hosts *hs);

/* The number of the host of that URL; made if it is new. NOMEM, DNS_BAD_NAME: the name is
 * longer than DNS allows. */
SEINE_MUST_CHECK seine_err sn_hosts_find(sn_hosts *hs, const seine_url *url,
                                         seine_time now, uint32_t *out_host);

/* The number of a host of that name. False: there is none. */
bool sn_hosts_known(const sn_hosts *hs, sn_str name, uint32_t *out_host);

/* host_twin.c: the new host finds its twin; new guards take over the debts of the twin's;
 * a request of the host starts, or has left later than it started, and the twin, which
 * there is, keeps its distance. */
void sn_hosts_pair(sn_hosts *hs, uint32_t host);
void sn_hosts_inherit(sn_hosts *hs, uint32_t host, sn_guards *g, seine_time now);
void sn_hosts_tell_twin(sn_hosts *hs, uint32_t host, bool has_left, seine_time now);

/* Its guards; made anew if there are none. NOMEM. */
SEINE_MUST_CHECK seine_err sn_hosts_make_guards(sn_hosts *hs, uint32_t host,
                                                seine_time now, sn_guards **out_guards);
static inline sn_guards * /* there are */
sn_hosts_guards(const sn_hosts *hs, uint32_t host)
{
    uint32_t i = hs->all[host].guards;

    return &hs->guards[i / SN_GUARDS_BLOCK][i % SN_GUARDS_BLOCK];
}

SEINE_MUST_CHECK static inline seine_err
sn_hosts_guard(sn_hosts *hs, uint32_t host, seine_time now, sn_guards **out_guards)
{
    if (hs->all[host].guards == SN_NONE)
        return sn_hosts_make_guards(hs, host, now, out_guards);
    *out_guards = sn_hosts_guards(hs, host);
    return SEINE_OK;
}

/* "https://e.example:443". */
static inline sn_str
sn_hosts_name(const sn_hosts *hs, uint32_t host)
{
    return sn_str_of(hs->cards[host].name);
}

/* Visits of the host in flight, and those that wait for a moment of their own. */
static inline uint32_t
sn_hosts_busy(const sn_hosts *hs, uint32_t host)
{
    return hs->all[host].in_flight + hs->cards[host].n_again;
}

/* A given URL names the host, from now on. */
void sn_hosts_set_given(sn_hosts *hs, uint32_t host, seine_time now);

/* The least time between two starts, by `host_rate` and Crawl-delay, or by `host_rate`
 * alone; 0: any. */
seine_span sn_hosts_every(const sn_hosts *hs, uint32_t host);
seine_span sn_hosts_rate(const sn_hosts *hs, uint32_t host);

uint32_t sn_hosts_floor_us(const sn_hosts *hs, uint32_t host); /* the former in us */

/* host_settings.c: what is said of this host; NULL: nothing. */
static inline const sn_host_policy *
sn_hosts_policy(const sn_hosts *hs, uint32_t host)
{
    uint32_t i = hs->cards[host].policy;

    return i > 0 ? hs->policies[i] : NULL;
}

/* Looks it up: for a new host, and for all when the table is another. NOMEM. */
SEINE_MUST_CHECK seine_err sn_hosts_look_up(sn_hosts *hs, uint32_t host);
SEINE_MUST_CHECK seine_err sn_hosts_set_table(sn_hosts *hs, sn_host_policies *table);

/* The visit is about to be asked for: what its host has counts for it. */
void sn_hosts_settle_visit(const sn_hosts *hs, sn_visit *v);

/* How many failures in a row open its breaker; 0: it has none. */
uint32_t sn_hosts_failures(const sn_hosts *hs, uint32_t host);
seine_span sn_hosts_max_retry_after(const sn_hosts *hs, uint32_t host);
bool sn_hosts_is_adaptive(const sn_hosts *hs, uint32_t host);

/* host_tune.c: takes over a change; the guards follow by sn_hosts_retune. NOMEM. */
SEINE_MUST_CHECK seine_err sn_hosts_tune(sn_hosts *hs, const sn_tune *tune);
const sn_host_tune *sn_hosts_tuned(const sn_hosts *hs, uint32_t host); /* NULL: none */
seine_rate sn_hosts_rate_in_force(const sn_hosts *hs, uint32_t host);
uint32_t sn_hosts_cap_in_force(const sn_hosts *hs, uint32_t host);
/* When the host may be asked, as far as rates are concerned that hold now. */
seine_time sn_hosts_next_by_rate(const sn_hosts *hs, uint32_t host, seine_time now);

/* Is it one of those that `mine` is about? In a crawl these are the given ones. */
static inline bool
sn_hosts_is_mine(const sn_hosts *hs, const sn_host *h)
{
    const seine_fetch_opts *o = &hs->shared->opts;

    return o->mine && (!o->crawl || h->is_given);
}

/* The brakes of its guards, if it has any, follow what was changed in the host. */
void sn_hosts_retune(sn_hosts *hs, uint32_t host, seine_time now);

void sn_hosts_drop_guards(sn_hosts *hs); /* all of them, at the end */

/* Gives the guards of an idle host back if there are many and they say nothing. */
void sn_hosts_fold(sn_hosts *hs, uint32_t host, seine_time now);

/* Asks for the lines of its guards before they are needed. A function that does nothing
 * but prefetch has no effect in the eyes of GCC, which drops the call unless the body is
 * put in its place first. */
__attribute__((always_inline)) static inline void
sn_hosts_prefetch(const sn_hosts *hs, uint32_t host)
{
    uint32_t i = hs->all[host].guards;

    if (i == SN_NONE)
        return;
    const char *g = (const char *)&hs->guards[i / SN_GUARDS_BLOCK][i % SN_GUARDS_BLOCK];
    for (size_t line = 0; line < sizeof(sn_guards); line += 64)
        if (line != 256) /* what a breaker knows of better and worse days */
            __builtin_prefetch(g + line, 1);
}

/* The same for the one line that says since when brakes hold the host. */
__attribute__((always_inline)) static inline void
sn_hosts_prefetch_held(const sn_hosts *hs, uint32_t host)
{
    uint32_t i = hs->all[host].guards;

    if (i != SN_NONE)
        __builtin_prefetch(
            &hs->guards[i / SN_GUARDS_BLOCK][i % SN_GUARDS_BLOCK].held_since, 1);
}

/* NULL: none are kept of this one. */
sn_host_stats *sn_hosts_make_stats(sn_hosts *hs, uint32_t host);
static inline sn_host_stats *
sn_hosts_stats(sn_hosts *hs, uint32_t host)
{
    uint32_t i = hs->all[host].stats;

    if (i == SN_NONE)
        return sn_hosts_make_stats(hs, host);
    return &hs->stats[i / SN_HOST_STATS_BLOCK][i % SN_HOST_STATS_BLOCK];
}

/* Behind the others of its lane, or before them; robots.txt goes before everything. */
void sn_host_push(sn_host *h, sn_visit *v, unsigned lane, bool first);
sn_visit *sn_host_pop(sn_host *h);

/* The same for retries that the retry budget did not pay for. NULL: there is none. */
void sn_host_push_unpaid(sn_host *h, sn_guards *g, sn_visit *v);
sn_visit *sn_host_pop_unpaid(sn_host *h, sn_guards *g);

/* The lane of its best waiting visit, or of its URLs at the frontier. */
unsigned sn_host_lane(const sn_host *h);

/* Does one of its visits wait? */
bool sn_host_has_visit(const sn_host *h);

#endif
