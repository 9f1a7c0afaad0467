/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what a run was like, second by second: a row of slices.
 *
 * A slice is a second or a minute of a run: how many requests ended and how, how long
 * they took, what was in flight and what URLs waited for. A run keeps its last 600
 * seconds and its last 1,440 minutes, and a job keeps both on disk. A timeline joins the
 * slices of all shards of a run; its slices are seconds if the whole run lies within ten
 * minutes, else minutes. Where the run slept or did not exist there is a gap.
 *
 *     seine_timeline *t = NULL;
 *     e = seine_timeline_new(&t);
 *     e = seine_fetch_timeline(f, t);               or seine_job_view_timeline
 *     const seine_slice *all = seine_timeline_slices(t, &n);
 *     for (size_t i = 0; i < n; i++)
 *         printf("%.1f in flight\n", seine_slice_mean(&all[i], all[i].in_flight));
 *     seine_timeline_free(t);
 *
 * Time    slices begin at full seconds or minutes of wall time in ns, spans are in ns.
 * Memory  about 1.2 KB a slice.
 * Threads one owner.
 */
#ifndef SEINE_TIMELINE_H
#define SEINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/diag.h"
#include "seine/err.h"
#include "seine/record.h"
#include "seine/time.h"

#define SEINE_SLICE_STEPS  8   /* bins of latency per power of two … */
#define SEINE_SLICE_BINS   168 /* … from 64 us to 134 s */
#define SEINE_SLICE_KINDS  16  /* of errors that are told apart */
#define SEINE_LINE_SECONDS 600
#define SEINE_LINE_MINUTES 1440

typedef struct seine_slice_error {
    uint32_t err; /* a seine_err; 0: all kinds that found no place */
    uint32_t n;   /* 0: there is none in this place */
} seine_slice_error;

/* Sums of time have the unit "URL times microsecond": ten URLs that waited for one second
 * are 10,000,000. seine_slice_mean makes the mean number of URLs of them. */
typedef struct seine_slice {
    int64_t wall;                          /* its beginning */
    seine_span width;                      /* a second or a minute */
    seine_span lived;                      /* how much of it the run was there */
    uint64_t shards;                       /* that it is the sum of */
    uint64_t ok, failed, blocked, skipped; /* records */
    uint64_t requests[6];                  /* that ended, by status: none, 1xx … 5xx */
    uint64_t retries, bytes_in, bytes_body;
    uint64_t in_flight, waiting[SEINE_WAIT_ROOM]; /* sums of time */
    uint64_t slots;                               /* most that may be in flight */
    uint64_t cpu_us;       /* of the threads of the shards; 0: not known */
    uint64_t output_us;    /* outputs were full, so nothing started */
    uint64_t memory_us;    /* memory was used up, so nothing started */
    uint64_t paused_us;    /* somebody paused the run */
    seine_span slowest;    /* request */
    uint64_t reserved[12]; /* 0 */
    seine_slice_error errors[SEINE_SLICE_KINDS]; /* requests that failed, by why */
    uint32_t latency[SEINE_SLICE_BINS];          /* requests by how long they took */
} seine_slice;

/* What held a slice back. */
/* clang-format off */
#define SEINE_LIMITS(X) \
    X(NOTHING,     "nothing")     /* there was nothing to do */ \
    X(PAUSED,      "paused") \
    X(OUTPUT,      "output")      /* writing */ \
    X(MEMORY,      "memory") \
    X(CPU,         "cpu")         /* this machine */ \
    X(CONCURRENCY, "concurrency") \
    X(RATE,        "rate")        /* over all hosts */ \
    X(POLITENESS,  "politeness")  /* rates, delays and pauses of hosts */ \
    X(BREAKER,     "breaker") \
    X(BACKOFF,     "backoff")     /* failed URLs wait for their retry */ \
    X(PER_HOST,    "per_host")    /* connections to a host or an address */ \
    X(MIXED,       "mixed") \
    X(SERVER,      "server")      /* all is in flight */
/* clang-format on */

typedef enum seine_limit {
#define X(id, name) SEINE_LIMIT_##id,
    SEINE_LIMITS(X)
#undef X
        SEINE_LIMIT_ROOM
} seine_limit;

typedef struct seine_timeline seine_timeline;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_timeline_new(seine_timeline **out_timeline);
void seine_timeline_free(seine_timeline *t); /* NULL is fine */

/* Joins the slice with the one of the same width and beginning. NOMEM, INVAL: it is no
 * second and no minute, FULL: there are 8,192 others. */
SEINE_MUST_CHECK seine_err seine_timeline_add(seine_timeline *t, const seine_slice *s);

/* Those that show the whole run, in order; borrowed until the next add. */
const seine_slice *seine_timeline_slices(const seine_timeline *t, size_t *out_n);

/* Adds the timeline that an SQLite output holds; any other file has none, which is fine.
 * PARSE: the database is damaged. IO, NOMEM. The diag says what is wrong. */
SEINE_MUST_CHECK seine_err seine_timeline_read(seine_timeline *t, const char *path,
                                               seine_diag *diag);

/* Adds `from` to `to`. Slices of the same moment are of two shards, others follow each
 * other. */
void seine_slice_join(seine_slice *to, const seine_slice *from);

/* The mean number of URLs that such a sum of time stands for. */
double seine_slice_mean(const seine_slice *s, uint64_t sum);

/* The span below or at which so many percent of the requests lie; 0: there was none. It
 * is at most 6 % off. */
seine_span seine_slice_latency(const seine_slice *s, unsigned percent);

seine_limit seine_slice_limit(const seine_slice *s);
const char *seine_limit_name(seine_limit l); /* "politeness"; "": there is no such */

SEINE_END

#endif
