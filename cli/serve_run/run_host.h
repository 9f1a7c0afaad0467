/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_host.h - a run that shows itself on a console: inside of `seine serve`, or watched.
 *
 * A run of `seine serve` is that of `seine run`, `crawl` or `fetch` on a thread. It takes
 * no signal and owns no terminal, a recipe may read neither files nor variables that
 * nobody has listed, and its messages go to the console.
 */
#ifndef CLI_RUN_HOST_H
#define CLI_RUN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/fetch.h>
#include <seine/metrics.h>
#include <seine/otlp.h>

struct seine_console_run;
struct args;

typedef struct run_host {
    struct seine_console_run *run;
    bool is_inner;            /* in `seine serve`, beside other runs */
    const char *const *env;   /* variables that a recipe may read; NULL: none */
    const char *const *words; /* options of fetch for `seine run`: "--threads=2" */
    size_t n_words;
    /* Of the process, for all of its runs; NULL: a run has its own. */
    seine_metrics *metrics;
    seine_otlp *traces;
    const char *command; /* of the job, as job_command.h has it; NULL: as typed */
    /* console_run.h; the console is an archive of its own. */
    void (*begin)(struct seine_console_run *r, seine_fetch *f, void (*stop)(void *arg),
                  void *arg);
    void (*end)(struct seine_console_run *r);
    void (*rows)(struct seine_console_run *r, uint64_t n);
} run_host;

/* Is the run one of several in this process? */
bool run_host_is_inner(const struct args *a);

/* May a recipe read that variable? */
bool run_host_allows(const run_host *h, const char *variable);

#endif
