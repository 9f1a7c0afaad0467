/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.h - a thread that receives the signals, and ends the program when its threads
 * cannot.
 *
 * A thread that writes to a pipe nobody reads, or that opens a FIFO nobody reads, hears
 * no signal and watches no deadline. The watchdog writes nothing that could block. It
 * hands each signal to the main thread and then sees that the program ends:
 *
 *   - the first INT, TERM or HUP of a terminal: the main thread stops in order and takes
 *     its time. Before the run has begun there is nothing to wait for: as the second.
 *   - the second one: `hurry` is called, and 50 ms later the process ends.
 *   - the time limit (--max-time and --grace): `hurry` as soon as the outputs have made
 * no progress for 100 ms; the process ends a second later.
 *
 *     watchdog_start(&w, &hooks, limit);   before any other thread
 *     if ((number = watchdog_begin(&w, limit)) == 0)
 *         run();                           polls w.fd, asks watchdog_next
 *     watchdog_stop(&w);
 *
 * `hurry` makes blocked writes fail, so that the main thread comes to its orderly end
 * well before the process is ended.
 *
 * Time    real.
 * Threads start, begin and stop: the main thread. The hooks are called on the watchdog's.
 */
#ifndef CLI_WATCHDOG_H
#define CLI_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seine/time.h>

typedef struct watchdog_hooks {
    void (*hurry)(void *arg);        /* may be called more than once */
    uint64_t (*progress)(void *arg); /* changes while the outputs take something */
    void (*halt)(void *arg);         /* the process ends when it returns */
    void *arg;
} watchdog_hooks;

typedef struct watchdog {
    watchdog_hooks hooks;
    int fd; /* readable: watchdog_next has a signal */
    int to_main, signals, wake;
    pthread_t thread;
    bool is_started;
    bool on_terminal; /* HUP then ends the run */
    pthread_mutex_t lock;
    bool is_begun, is_stopped;
    int number; /* the first signal that ends the run; 0 */
    seine_time limit;
} watchdog;

/* Blocks the signals. `limit`: as in watchdog_begin. False: no descriptor or thread. */
bool watchdog_start(watchdog *w, const watchdog_hooks *hooks, seine_time limit);

/* The run begins and must have ended at `limit`. Returns the signal that came before, and
 * then does not begin. */
int watchdog_begin(watchdog *w, seine_time limit);

int watchdog_number(watchdog *w); /* the first signal that ends the run; 0 */
int watchdog_next(watchdog *w);   /* the number of the next signal, or 0 */
void watchdog_stop(watchdog *w);

#endif
