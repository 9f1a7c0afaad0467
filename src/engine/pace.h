/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - how far apart should requests to this host be?
 *
 * The limiter is a wall: no faster than `floor` apart. The pace stays behind the
 * wall and feels its way: it starts carefully, goes faster by a third after eight
 * good responses, doubles the interval when the host pushes back (429) and remembers at
 * which interval that was, the knee. From a knee it keeps 9/8 away for minutes; each
 * further push-back in the series doubles the time for which it does not dare again. It
 * slows down, too, when responses get slow, and to make a stated quota last.
 *
 * A failure (5xx, refused, reset, cut, timed out) says less: some hosts fail now and then
 * at any pace. So the share of failures among the last 20 responses counts. It has four
 * levels: none, some, from half on, from three quarters on. At each level the interval is
 * twice that of the level below. It grows while failures mount, stays while they do, and
 * is what it was after 20 good responses. A share that stays is no reason to remain at
 * the careful pace of the start: good responses shorten what the level multiplies.
 *
 *     sn_pace p;
 *     sn_pace_init(&p, floor_us, SEINE_SECS(1) / 1000, now);
 *     next = sn_pace_start(&p, now, dice);           a request leaves
 *     sn_pace_settle(&p, sn_pace_judge(&fault), ttfb, now);
 *     next = max(next, sn_pace_next(&p, now, 0));    a response may only delay
 *
 * A host that the user has typed is trusted sooner: four good responses within 500 ms
 * each, and nothing else before them, lead from the careful start to the floor.
 *
 * Five laws, each a test: an interval is never below the floor · what is not a
 * good response never makes the next request earlier · an interval grows at most to
 * the double and, but for that welcome, shrinks at most to two thirds at a time · in one
 * series events are 30 s apart at least, then 60, up to 600 · a state saved and restored
 * is not faster than the one that was saved.
 *
 * Time    and dice are passed in. Intervals are whole microseconds.
 * Memory  168 bytes, the caller's.
 * Threads one owner.
 */
#ifndef SN_PACE_H
#define SN_PACE_H

#include <stdbool.h>

#include "seine/err.h"

typedef struct sn_pace {
    seine_time last;        /* the newest start */
    seine_time pause;       /* no start before: a quota is spent, the server asked */
    seine_time quota_until; /* quota_us holds until then */
    seine_time epoch;       /* began then */
    uint32_t floor_us;
    uint32_t ivl_us;   /* own interval; 0: the pace is off, the floor alone holds */
    uint32_t quota_us; /* interval that makes the quota last */
    uint32_t srtt_us;  /* smoothed time to the first byte */
    uint8_t n_ok, n_med;
    uint8_t starved, level; /* of failures; 0: none */
    uint32_t recent;        /* the last responses, the newest lowest; 1: it failed */
    uint32_t calm_us;       /* the interval to return to from a level */
    bool is_troubled;       /* this epoch has seen a push-back, or failures mounting */
    uint8_t quick_left;     /* quick answers until the floor is trusted; 0: it is not */
    uint32_t knee_us;       /* interval at which the host last pushed back; 0: none */
    uint32_t hold_s;
    uint32_t ttfb_us[8];   /* of this epoch's good responses */
    seine_time cut;        /* the newest cut of a push-back */
    seine_time risen;      /* the newest rise of the level */
    seine_time hold;       /* no speeding up before */
    seine_time knee_until; /* the knee is believed in until then */
    uint16_t med_ms[16];   /* medians of the last epochs, a ring */
} sn_pace;

/* What an ended attempt says about the host's strength. */
typedef enum sn_pace_kind {
    SN_PACE_NONE, /* nothing: cancelled, own limits, names, certificates, proxies */
    SN_PACE_OK,   /* a whole response */
    SN_PACE_FAIL, /* a 5xx worth a retry, could not connect, reset, short, timed out */
    SN_PACE_PUSH, /* 429 */
} sn_pace_kind;

/* Why the interval changed, for the event `rate.changed`. */
typedef enum sn_pace_why {
    SN_PACE_SAME,
    SN_PACE_LATENCY,
    SN_PACE_ERRORS,
    SN_PACE_PUSHBACK,
    SN_PACE_RECOVERED,
} sn_pace_why;

/* What is kept of it between two runs. */
typedef struct sn_pace_row {
    uint32_t ivl_us, knee_us, base_us; /* base: the lowest median latency, 0 unknown */
    uint32_t calm_us, recent;          /* as in sn_pace */
    uint8_t level;
} sn_pace_row;

/* A host nobody knows yet: `first_us` is the interval to begin with, at least the
 * floor, which here is at least 100 us so that a cut has something to double. */
void sn_pace_init(sn_pace *p, uint32_t floor_us, uint32_t first_us, seine_time now);

/* Without adapting: the floor alone, no jitter. Pauses still hold. */
void sn_pace_init_off(sn_pace *p, uint32_t floor_us, seine_time now);

/* The user has typed this host: four good responses in a row, each within 500 ms, lead
 * from the careful start to the floor at once. Called before the first response. */
void sn_pace_welcome(sn_pace *p);

/* Continues a saved one, carefully: the first start is a whole interval away, and
 * if the host had pushed back of late, nothing gets faster for ten minutes. */
sn_pace_row sn_pace_save(const sn_pace *p, seine_time now);
void sn_pace_restore(sn_pace *p, uint32_t floor_us, const sn_pace_row *row,
                     seine_time now);

/* A new floor (a crawl-delay was read); raises the interval if need be. */
void sn_pace_set_floor(sn_pace *p, uint32_t floor_us);

/* The user has set another floor: a host that never pushed back keeps to it at once. */
void sn_pace_tune(sn_pace *p, uint32_t floor_us);

/* The interval is at least this much from here on: after a breaker has closed. */
void sn_pace_slow(sn_pace *p, uint32_t at_least_us);

/* A request leaves now; returns when the next one may. `dice` are 64 random bits,
 * 0 for no jitter. */
seine_time sn_pace_start(sn_pace *p, seine_time now, uint64_t dice);

/* The same question without a start: the newest one plus the interval plus up to an
 * eighth of it. `pause` is a brake of its own and not looked at. */
seine_time sn_pace_next(const sn_pace *p, seine_time now, uint64_t dice);

/* The interval that holds now, without jitter. */
seine_span sn_pace_every(const sn_pace *p, seine_time now);

/* The host could have taken more and was given nothing, or was held by a limit of
 * ours: this epoch proves nothing. */
void sn_pace_starve(sn_pace *p);

sn_pace_kind sn_pace_judge(const seine_fault *fault);

/* An attempt has ended. `ttfb` is looked at for OK alone. */
sn_pace_why sn_pace_settle(sn_pace *p, sn_pace_kind kind, seine_span ttfb,
                           seine_time now);

/* The server says that `left` requests are left for `reset`. Ignored when reset is
 * negative or longer than a day. */
void sn_pace_quota(sn_pace *p, uint64_t left, seine_span reset, seine_time now);

/* No start before `until`; never shortens. */
void sn_pace_pause(sn_pace *p, seine_time until);

/* A change from one interval to another that is worth an event: over a quarter. */
bool sn_pace_is_news(uint32_t from_us, uint32_t to_us);
const char *sn_pace_why_name(sn_pace_why why);

#endif
