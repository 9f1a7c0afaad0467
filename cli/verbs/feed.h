/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - a thread that gives the URLs of the command line and of the inputs to a fetch,
 * and then waits until all of them have ended.
 */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include <pthread.h>
#include <stdatomic.h>

#include <seine/fetch.h>
#include <seine/fleet.h>
#include <seine/fleet_view.h>
#include <seine/input.h>
#include <seine/sink.h>

#include "options/fetch_settings.h"

/* URLs of the inputs that were not given since the run stopped before. */
typedef struct feed_unread {
    uint64_t urls;
    bool is_more;      /* and more, which nobody has counted */
    const char *input; /* where reading stopped; NULL: not in an input */
    uint64_t line;     /* the last that was given; 0: none */
} feed_unread;

typedef struct feed {
    const args *args;
    seine_input **inputs; /* those of -i, then one for each "-" among the words */
    size_t n_inputs;
    seine_fetch *fetch;
    seine_fleet *fleet;         /* URLs go to a job in Redis; NULL: to the fetch */
    const seine_sinks *ordered; /* NULL: records leave as they end */
    uint32_t window;            /* of `ordered` */
    seine_ctx *ctx;             /* of waiting for room; feed_stop cancels it */
    int wake;                   /* eventfd, written when all URLs have ended */
    void (*on_said)(const char *json, void *arg); /* of a fleet: to all workers */
    void *said_arg;
    void (*give)(struct feed *f, void *arg); /* gives all URLs; NULL: as typed */
    void *give_arg;
    pthread_t thread;
    bool started;
    atomic_bool at_end;  /* no more URLs will come */
    atomic_bool is_done; /* all URLs have ended */
    atomic_bool stopped;
    atomic_bool cut;    /* some URLs were not given … */
    feed_unread unread; /* … these; the thread's until `cut` is set */
    bool is_over;       /* the thread's: it gives no more … */
    bool is_left;       /* … and something of `give` is left */
    atomic_int failed;  /* a seine_err of reading or adding */
    seine_diag diag;    /* what is wrong with an input */
} feed;

/* Opens one list. SAY_DONE, or the exit code after an error message. */
int feed_open_list(const fetch_settings *set, const char *path, const char *base,
                   seine_input **out_input);

/* Opens the inputs. SAY_DONE, or the exit code after an error message. */
int feed_open(feed *f, const args *a);

/* Gives all URLs to the fleet, now. SAY_DONE, or the exit code after an error message. */
int feed_give_fleet(feed *f, seine_fleet *fleet);

/* Starts the thread; false: no memory. */
bool feed_start(feed *f, seine_fetch *fetch, int wake);

/* Gives no further URL. Any thread. */
void feed_stop(feed *f);

/* Waits for the thread. */
void feed_join(feed *f);
void feed_free(feed *f);

/* Estimates the number of all URLs from the part of the inputs that was read. 0: the size
 * of an input is unknown. */
uint64_t feed_estimate(const feed *f);

#endif
