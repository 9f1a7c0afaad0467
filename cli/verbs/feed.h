/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - the URLs of the command line and of the inputs, given to a fetch one after
 * the other by a thread of its own, which then waits for the end of all of them.
 */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include <pthread.h>
#include <stdatomic.h>

#include <seine/fetch.h>
#include <seine/input.h>
#include <seine/sink.h>

#include "options/fetch_settings.h"

typedef struct feed {
    const args *args;
    seine_input **inputs; /* of -i, and where "-" stands among the words */
    size_t n_inputs;
    seine_fetch *fetch;
    const seine_sinks *ordered; /* NULL: records leave as they end */
    uint32_t window;            /* of `ordered` */
    seine_ctx *ctx;             /* of waiting for room; cancelled by stop */
    int wake;                   /* eventfd, written when all is done */
    pthread_t thread;
    bool started;
    atomic_bool at_end;  /* no more URLs will come */
    atomic_bool is_done; /* and all have ended */
    atomic_bool stopped;
    atomic_bool cut;   /* there was more to read */
    atomic_int failed; /* a seine_err of reading or adding */
    char why[SEINE_WHY];
} feed;

/* Opens the inputs. SAY_DONE, or it was said what is wrong. */
int feed_open(feed *f, const args *a);

/* Starts the thread; false: no memory. */
bool feed_start(feed *f, seine_fetch *fetch, int wake);

/* No further URL; from any thread. */
void feed_stop(feed *f);

/* Waits for the thread. */
void feed_join(feed *f);
void feed_free(feed *f);

/* How many URLs there are in all, by what was read of inputs whose size is known;
 * 0: cannot be known. */
uint64_t feed_estimate(const feed *f);

#endif
