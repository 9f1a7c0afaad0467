/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pacer.h - says when a line may start.
 *
 *     pacer p;
 *     if (pacer_open(&p, &opts) != SAY_DONE)
 *         return SAY_USAGE;
 *     if (pacer_reserve(&p, &line, ready, now, &at, why) == PACER_DUE)
 *         sleep_until(at);
 *
 * Each key has a token bucket of its own (seine/keyed.h). The k-th start is never earlier
 * than its bucket allows. A line that could have started earlier, had this machine been
 * quicker, counts as if it had: by up to PACER_GRACE, so that a process that is woken a
 * little late loses no time over many lines.
 *
 * Threads any thread.
 */
#ifndef CLI_PACER_H
#define CLI_PACER_H

#include <pthread.h>

#include <seine/keyed.h>
#include <seine/units.h>

#include "limit/paced_line.h"

#define PACER_GRACE SEINE_MS(10)

typedef struct pacer_opts {
    seine_frequency rate; /* count 0: no limit */
    uint32_t burst;
    const char *key;     /* none, host, or a JSON Pointer */
    seine_span max_wait; /* SEINE_NEVER: as long as it takes */
} pacer_opts;

typedef struct pacer {
    pacer_opts opts;
    pthread_mutex_t lock; /* for the rate and the buckets */
    seine_keyed *buckets; /* NULL: no limit */
} pacer;

typedef enum pacer_answer {
    PACER_DUE,
    PACER_LIMITED, /* it would wait too long; no token was taken */
    PACER_NO_KEY,  /* the line has none; `why` says what is missing */
    PACER_ENDED    /* of those who wait for it: the run is over */
} pacer_answer;

/* SAY_DONE, or an exit code after an error message. */
int pacer_open(pacer *p, const pacer_opts *opts);
void pacer_close(pacer *p);

/* Another rate and burst from now on. Every key keeps its tokens, whole ones; what is
 * more than the new burst is gone, and so is what was reserved: who waits asks again.
 * False: no bucket can be made of them, and nothing has changed. */
bool pacer_set(pacer *p, seine_frequency rate, uint32_t burst, seine_time now);

/* Takes a token for the line, which could have started at `ready`; it may start at
 * *out_at. */
pacer_answer pacer_reserve(pacer *p, const paced_line *line, seine_time ready,
                           seine_time now, seine_time *out_at, char why[128]);

#endif
