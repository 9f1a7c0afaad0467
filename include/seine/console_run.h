/* SPDX-License-Identifier: Apache-2.0 */
/*
 * console_run.h - how a console starts runs, and how a run shows itself on a console.
 *
 * The console knows which runs there are and what people ask of them; how a recipe
 * becomes requests and records is the business of whoever makes the console, the runner.
 * It gets a spec on a thread of the run and returns when the run has ended:
 *
 *     seine_console_run_begin(r, f, ask_to_stop, f);     pages show it from here on
 *     code = wait_for_its_end(f);
 *     seine_console_run_end(r);                          and no thread looks at it now
 *     seine_fetch_free(f);
 *
 * A program that runs by itself makes a console for its one run:
 *
 *     e = seine_console_run_add(console, "docs.example", &r);
 *     seine_console_run_begin(r, f, stop, arg);
 *
 * Time    the system's clocks.
 * Memory  2 MB for a run that is watched, and its figures over time.
 * Threads any thread; begin and end are called by the thread of the run.
 */
#ifndef SEINE_CONSOLE_RUN_H
#define SEINE_CONSOLE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/fetch.h"

typedef struct seine_console_run seine_console_run;
struct seine_console;

/* What is to be run. All of it is borrowed until the runner returns. */
typedef struct seine_run_spec {
    size_t size;        /* of this struct */
    const char *id;     /* of the run */
    const char *dir;    /* of the run: whatever it keeps stands there */
    const char *recipe; /* path of its text; NULL: URLs alone */
    const char *verb;   /* "run", "crawl", "fetch" */
    const char *const *urls;
    size_t n_urls;
    const char *records;                            /* path of the database of records */
    const char *concurrency, *rate, *host_rate;     /* "10", "5/s"; NULL: not said */
    const char *max_pages, *depth;                  /* likewise */
    const char *const *allow_net, *const *deny_net; /* ended by NULL; NULL: none */
    const char *const *env; /* variables that a recipe may read; likewise */
    uint32_t threads;
    bool is_resumed; /* an earlier process has begun it */
} seine_run_spec;

typedef struct seine_console_runner {
    size_t size; /* of this struct */
    /* Returns the exit code of the run. */
    int (*run)(const seine_run_spec *spec, seine_console_run *r, void *arg);
    /* Writes the report of a run as a page. Returns an exit code. NULL: there is none. */
    int (*report)(const seine_run_spec *spec, const char *path, void *arg);
    void *arg;
} seine_console_runner;

SEINE_BEGIN

/* The fetch is there. `stop` is called, on any thread and maybe twice, when somebody
 * wants the run to stop in order. */
void seine_console_run_begin(seine_console_run *r, seine_fetch *f,
                             void (*stop)(void *arg), void *arg);

/* The fetch is about to go: returns when nobody looks at it any more. */
void seine_console_run_end(seine_console_run *r);

/* So many rows of a recipe were taken from a page, of this process or, before begin, of
 * an earlier one that this run goes on from. */
void seine_console_run_rows(seine_console_run *r, uint64_t n);

/* Why it ends, for people: one line. The last one counts. */
void seine_console_run_say(seine_console_run *r, const char *line);

/* A run that the console did not start, and does not keep. INVAL, FULL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_console_run_add(struct seine_console *c,
                                                 const char *title,
                                                 seine_console_run **out_run);
/* It has ended with that exit code; the run is the console's from here on. */
void seine_console_run_done(seine_console_run *r, int code);
const char *seine_console_run_id(const seine_console_run *r);

SEINE_END

#endif
