/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.h - the parts of `seine limit`: lines of input start at a pace.
 *
 * limit_run.c reads the lines, asks the pacer and sleeps. What starts is the line itself
 * (--pass), its moment (--dry-run) or a command (--exec, limit_exec.c). Requests are sent
 * by fetch, which has these buckets in its scheduler.
 */
#ifndef CLI_LIMIT_H
#define CLI_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>

#include <seine/ctx.h>

#include "limit/command_line.h"
#include "limit/pacer.h"
#include "options/options.h"
#include "screen/terminal.h"
#include "verbs/lines.h"

typedef struct limit_settings {
    seine_frequency rate;
    uint64_t burst, concurrency, retries;
    const char *key, *exec, *output;
    seine_span max_wait, timeout;
    bool pass, dry_run, overwrite;
} limit_settings;

typedef struct limit_counts {
    uint64_t started, ok, failed, limited, bad;
} limit_counts;

struct limit_exec;

typedef struct limit_run {
    const args *args;
    const limit_settings *set;
    pacer pacer;
    lines in;
    terminal term;
    seine_ctx *ctx; /* a signal cancels it */
    seine_time from;
    seine_time ready; /* since when the line at hand could start */
    pthread_mutex_t lock;
    limit_counts counts;
    atomic_int signal;
    int signals; /* where they are read */
    int over;    /* readable when the run has ended */
    pthread_t ears;
    bool hears;
    atomic_bool is_ending; /* whoever sets it ends the run */
    atomic_bool has_hup;   /* the configuration is to be read again */
    bool ends_on_hangup;   /* started on a terminal, which has gone then */
    atomic_int failed;     /* errno of standard output; 0 */
    bool shows_bar;
    struct limit_exec *exec; /* NULL: no commands */
} limit_run;

/* --pass, --dry-run and --exec. Returns the exit code. */
int limit_run_lines(const args *a);

/* Requests, sent by `seine fetch`. Returns its exit code. */
int limit_requests(const args *a);

/* Starts, runs and ends the commands. */
int limit_exec_open(limit_run *r);
void limit_exec_wait_for_slot(limit_run *r);
void limit_exec_start(limit_run *r, const paced_line *line);
void limit_exec_refuse(limit_run *r, const paced_line *line, bool is_limited,
                       const char *why);
void limit_exec_kill(limit_run *r);
bool limit_exec_is_idle(limit_run *r);
void limit_exec_drain(limit_run *r); /* waits for the commands that run */

/* Closes the records. False, after an error message: they could not be written. */
bool limit_exec_close(limit_run *r);

void limit_count(limit_run *r, uint64_t *one);

#endif
