/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_table.h - the runs of a console: which there are, who starts and who ends them.
 *
 * A run is a directory runs/ID of the state directory. At most SN_RUNS_AT_ONCE run at the
 * same time, each on a thread of its own that calls the runner (console_run.h); further
 * ones wait. A run that was running when the process ended is begun again when the
 * console starts: its job goes on, and every record is written once.
 *
 *     e = sn_runs_launch(console, &wish, &run);
 *     e = sn_run_cancel(run);                         in order; its job keeps the rest
 *
 * Time    the loop's and the wall's.
 * Memory  at most SN_RUNS_MOST runs are known; the oldest ended ones are forgotten first,
 *         their files stay.
 * Threads the console's.
 */
#ifndef SN_RUN_TABLE_H
#define SN_RUN_TABLE_H

#include "console/run.h"
#include "seine/pool.h"

enum { SN_RUNS_AT_ONCE = 4, SN_RUNS_MOST = 10000, SN_RUN_URLS = 10000 };

/* A run that somebody wants. Texts are copied. */
typedef struct sn_run_wish {
    const char *doc, *sha256; /* NULL: no recipe */
    uint64_t version;
    sn_str recipe; /* its text; empty: none */
    const char *title, *by, *verb;
    const sn_str *urls;
    size_t n_urls;
    const char *concurrency, *rate, *host_rate, *max_pages, *depth; /* NULL: not said */
} sn_run_wish;

typedef struct sn_runs {
    seine_console *console;
    sn_console_run *first; /* the newest */
    size_t n, running;
    sn_timer look; /* every 250 ms while something runs */
    bool looks;
    bool is_stopped;
    seine_ctx *ctx;
    seine_pool *pool; /* sn-cread: whatever waits for a disk */
    struct sn_topics *topics;
    void *exports;            /* downloads under way; api_export.c */
    struct sn_story *stories; /* that wait for an answer of a fetch; api_explain.c */
    seine_counter *events_lost;
    struct sn_run_success *success;
} sn_runs;

sn_runs *sn_runs_of(const seine_console *c); /* NULL: the console keeps nothing */
sn_console_run *sn_runs_find(const seine_console *c, sn_str id);

/* FULL, IO, DISK_FULL, NOMEM; CLOSED: the console is stopping, or starts no runs. */
SEINE_MUST_CHECK seine_err sn_runs_launch(seine_console *c, const sn_run_wish *wish,
                                          sn_console_run **out_run);

/* BAD states are SEINE_E_CLOSED. */
SEINE_MUST_CHECK seine_err sn_run_pause(sn_console_run *r, bool is_paused);
SEINE_MUST_CHECK seine_err sn_run_cancel(sn_console_run *r);
/* An ended run goes on: its job has work. */
SEINE_MUST_CHECK seine_err sn_run_again(sn_console_run *r);
/* An ended run and all of its files. IO, CLOSED. */
SEINE_MUST_CHECK seine_err sn_run_remove(sn_console_run *r);

/* Looks at the runs and at what waits for them, from the next turn of the loop on. */
void sn_runs_begin_look(sn_runs *t);
/* api_explain.c: asks for those that have their answer, or had to wait too long. True:
 * others wait on. */
bool sn_stories_look(sn_runs *t, seine_time now);
void sn_stories_end(sn_runs *t); /* all of them, at the end */

/* For console_run.c: what the thread of a run tells, and a run with nothing said. */
void sn_runs_on_added(sn_mail *m, seine_console *c);
void sn_runs_on_begun(sn_mail *m, seine_console *c);
void sn_runs_on_done(sn_mail *m, seine_console *c);
sn_console_run *sn_runs_new_run(seine_console *c, const char *id); /* NULL: no memory */

/* A job of the readers: `run` on one of their threads, `done` on the console's. */
typedef struct sn_run_job {
    sn_mail mail; /* first */
    seine_console *console;
    void (*run)(struct sn_run_job *j);
    void (*done)(struct sn_run_job *j);
} sn_run_job;
/* FULL: too many wait; nothing is called. */
SEINE_MUST_CHECK seine_err sn_runs_read(seine_console *c, sn_run_job *j);

#endif
