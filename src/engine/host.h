/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what a shard knows of its hosts: a small record of each for ever, guards for
 * those that have work, and figures of the first thousands for the summary.
 *
 * The record has the queues of visits, the first moment at which the host may be asked
 * again, and where it stands: idle, on the wheel, in a ready lane, busy (as many in
 * flight as allowed), or parked (given up in this run). The guards, ten times as big, are
 * folded away when a host is idle and nothing in them matters any more; `next` keeps the
 * debt of the limiter, so that folding never makes a request early.
 *
 *     h = sn_hosts_get(&hosts, &url, now, &e);
 *     g = sn_hosts_guard(&hosts, h, now, &e);
 *
 * Time    is passed in.
 * Memory  64 bytes and the name a host; guards and figures in slabs that are reused.
 * Threads one owner.
 */
#ifndef SN_HOST_H
#define SN_HOST_H

#include "base/wheel.h"
#include "engine/commons.h"
#include "engine/pace.h"

typedef enum sn_place {
    SN_IDLE,   /* nothing waits */
    SN_WHEEL,  /* until `next` */
    SN_LANE,   /* ready, in a lane */
    SN_BUSY,   /* as many in flight as allowed: the next end wakes it */
    SN_ASIDE,  /* nothing of it may go yet: an end, a put, a visit, the gate wake it */
    SN_DRY,    /* no visit was free for its next URL */
    SN_PARKED, /* not asked again in this run */
} sn_place;

enum { SN_HIGH, SN_NORMAL, SN_LOW, SN_LANES };

typedef struct sn_host {
    seine_time next;             /* no request may start before */
    sn_visit *last[SN_LANES];    /* rings of visits: last->next is the first */
    char *name;                  /* "https://e.example:443"; terminated */
    uint32_t hash;               /* of the name */
    uint32_t link;               /* the wheel's, or the next in its lane */
    uint32_t guards;             /* SN_NONE: folded */
    uint32_t figures;            /* SN_NONE: none are kept */
    uint32_t n_waiting, n_again; /* in the rings; waiting for a moment of their own */
    uint32_t n_source;           /* URLs at the source */
    uint32_t in_flight;
    uint32_t delay_ms;    /* Crawl-delay; 0: none */
    uint32_t parked_next; /* in the list of parked hosts whose URLs are to be ended */
    uint8_t place;        /* sn_place */
    bool shut;            /* of its visits only robots.txt may start */
    bool is_given;        /* a given URL names it */
    bool is_told;         /* it is in the list of parked hosts */
    uint8_t why;          /* seine_wait: what holds it, or held it last */
    uint8_t pin;          /* sn_zone */
    uint16_t parked_by;   /* seine_err */
} sn_host;

typedef struct sn_guards {
    seine_limiter limiter;
    seine_breaker breaker;
    seine_throttle throttle;
    sn_pace pace;
    seine_guards set; /* pointers to those that are on */
    seine_retry_budget *retry_budget;
    seine_span held;       /* how long brakes have held the host, in all */
    seine_span held_mark;  /* when the last visit left it */
    seine_time held_since; /* NEVER: they do not now */
    seine_span gap;        /* of the newest start to the next one */
    sn_ip ip;              /* connected to last; v = 0: unknown */
    uint32_t link;         /* next free one */
    uint8_t held_why;      /* seine_wait: the last brake that did */
    uint8_t retry_after;   /* the pause that holds was asked for by the server */
    bool is_leaving;       /* the newest start has not left yet */
} sn_guards;

/* Latencies in quarter octaves from 1 us on. */
#define SN_FIGURE_BINS   112
#define SN_FIGURE_STARTS 64

typedef struct sn_figures {
    uint64_t requests, ok, failed, retries;
    uint64_t sent; /* of them left, or are taken to have */
    uint32_t opens, max_in_1s;
    seine_time last;
    seine_span min_gap;
    seine_span held[SEINE_WAIT_COUNT];
    seine_time starts[SN_FIGURE_STARTS]; /* a ring: exact up to 64 a second */
    seine_time slice;                    /* of 50 ms: the newest of `slices` */
    uint32_t slices[20];                 /* for more */
    uint32_t in_slices;
    uint32_t bins[SN_FIGURE_BINS];
} sn_figures;

typedef struct sn_hosts {
    sn_commons *commons;
    sn_host *all;
    uint32_t n, room;
    uint32_t *table; /* host number + 1, by hash; 0: empty */
    uint32_t table_room;
    sn_arena names;
    sn_guards **guards; /* blocks of 64: pointers into them stay valid */
    uint32_t n_guards, free_guards, guards_used;
    sn_figures **figures; /* blocks of 16 */
    uint32_t n_figures;
    sn_wheel *wheel; /* told when `all` moves */
    uint64_t secret[2];
} sn_hosts;

SEINE_MUST_CHECK seine_err sn_hosts_init(sn_hosts *hs, sn_commons *commons,
                                         sn_wheel *wheel, seine_time now);
void sn_hosts_fini(sn_hosts *hs);

/* The number of the host of that URL; made if it is new. NOMEM. */
SEINE_MUST_CHECK seine_err sn_hosts_find(sn_hosts *hs, const seine_url *url,
                                         seine_time now, uint32_t *out_host);

/* Its guards; made anew if there are none. NOMEM. */
SEINE_MUST_CHECK seine_err sn_hosts_guard(sn_hosts *hs, uint32_t host, seine_time now,
                                          sn_guards **out_guards);
sn_guards *sn_hosts_guards(const sn_hosts *hs, uint32_t host); /* there are */

/* The least time between two starts, by --host-rate and Crawl-delay; 0: any. */
seine_span sn_hosts_every(const sn_hosts *hs, const sn_host *h);

/* Is it one of those that `mine` is about? In a crawl these are the given ones. */
bool sn_hosts_is_mine(const sn_hosts *hs, const sn_host *h);

/* The brakes of its guards, if it has any, follow what was changed in the host. */
void sn_hosts_retune(sn_hosts *hs, uint32_t host, seine_time now);

/* Gives the guards of an idle host back if there are many and they say nothing. */
void sn_hosts_fold(sn_hosts *hs, uint32_t host, seine_time now);

/* NULL: none are kept of this one. */
sn_figures *sn_hosts_figures(sn_hosts *hs, uint32_t host);
void sn_figures_start(sn_figures *f);
void sn_figures_sent(sn_figures *f, seine_time now); /* as the server sees it */
void sn_figures_end(sn_figures *f, bool ok, seine_span took);
seine_span sn_figures_quantile(const sn_figures *f, unsigned percent);

/* Behind the others of its lane, or before them; robots.txt goes before everything. */
void sn_host_push(sn_host *h, sn_visit *v, unsigned lane, bool first);
sn_visit *sn_host_pop(sn_host *h);

/* The lane of its best waiting visit, or of its URLs at the source. */
unsigned sn_host_lane(const sn_host *h);

/* Does one of its visits wait that the gate lets pass? */
bool sn_host_has_visit(const sn_host *h);

#endif
