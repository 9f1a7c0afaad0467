/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited.h - what holds a run back right now, and since when?
 *
 * A run is looked at four times a second. The verdict is made of the means of the last
 * ten seconds, by the first rule that holds:
 *
 *     paused, stopping, finished   its state says so
 *     output       outputs were full for 5 % of the time or more
 *     memory       95 % of the budget or more is used
 *     cpu          at least half of the threads were busy for 90 % of the time
 *     concurrency  95 % of the slots or more are in flight, and URLs lack nothing else
 *     rate, politeness, breaker, backoff, robots, per_host
 *                  most URLs wait for it, and at least half of them
 *     mixed        URLs wait otherwise
 *     server       nothing waits, and requests are in flight
 *
 * Another rule has to hold for three seconds before it becomes the verdict, so that a
 * line on a screen does not flicker; a change of state counts at once.
 *
 *     seine_limited l;
 *     seine_limited_init(&l);
 *     seine_limited_add(&l, &look);                       every 250 ms
 *     seine_limited_get(&l, &verdict);
 *     puts(seine_limit_name(verdict.code));
 *
 * Time    comes with each look.
 * Memory  a plain value of 30 KiB.
 * Threads one owner.
 */
#ifndef SEINE_LIMITED_H
#define SEINE_LIMITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/time.h"
#include "seine/timeline.h"

#define SEINE_LIMITED_LOOKS  40 /* ten seconds */
#define SEINE_LIMITED_SHARDS 64 /* whose time is looked at */

/* Verdicts beside those of a slice of time. */
enum {
    SEINE_LIMIT_STOPPING = SEINE_LIMIT_ROOM,
    SEINE_LIMIT_FINISHED,
    SEINE_LIMIT_ROBOTS, /* URLs wait for a robots.txt */
    SEINE_LIMITED_ROOM
};

/* A run at one moment. Times are sums since its beginning. */
typedef struct seine_limited_look {
    seine_time at;
    bool is_paused, is_stopping, is_finished;
    uint64_t in_flight, slots;
    uint64_t
        waiting[SEINE_WAIT_ROOM]; /* URLs by what they wait for, without parked ones */
    uint64_t robots;              /* URLs that wait for a robots.txt */
    uint64_t memory_used, memory_cap; /* cap 0: there is none */
    uint64_t sink_full_ns;            /* of all shards together */
    uint32_t shards;
    uint64_t busy_ns[SEINE_LIMITED_SHARDS];
} seine_limited_look;

typedef struct seine_limited_verdict {
    int code;                       /* seine_limit, or one of those above */
    seine_time since;               /* 0: nothing was looked at yet */
    int first, second;              /* of mixed: what most URLs wait for */
    unsigned busiest, busy_percent; /* of cpu: the shard, and how busy it was */
} seine_limited_verdict;

typedef struct seine_limited {
    seine_limited_look looks[SEINE_LIMITED_LOOKS];
    uint32_t n, next;
    seine_limited_verdict now, wish;
} seine_limited;

/* What the text of a verdict can tell. Members that are not known are 0. */
typedef struct seine_limited_facts {
    uint64_t slots, in_flight, memory_used, memory_cap, per_host;
    uint64_t hosts;   /* that wait for it */
    const char *top;  /* "e.org 5/s, a.example 1/s"; NULL: not known */
    const char *rate; /* "10/s"; NULL */
    const char *sink; /* "records.sqlite"; NULL */
    seine_span next;  /* until something goes on: probe, retry */
} seine_limited_facts;

SEINE_BEGIN

void seine_limited_init(seine_limited *l);
void seine_limited_add(seine_limited *l, const seine_limited_look *look);
void seine_limited_get(const seine_limited *l, seine_limited_verdict *out_verdict);

/* "politeness", also of the codes above; "": there is no such. */
const char *seine_limited_name(int code);

/* "limited by politeness on 3 hosts (e.org 5/s, …)"; "" where the state says it all.
 * Writes at most `cap` bytes with the terminator. */
void seine_limited_text(const seine_limited_verdict *v, const seine_limited_facts *f,
                        char *buf, size_t cap);

SEINE_END

#endif
