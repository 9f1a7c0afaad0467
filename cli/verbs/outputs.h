/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs.h - the outputs of a run: files of records, and standard output with records
 * for programs or a table for people.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <seine/sink.h>
#include <seine/tally.h>

#include "options/fetch_settings.h"
#include "report/report_sink.h"
#include "screen/record_table.h"
#include "screen/template.h"
#include "screen/terminal.h"

enum { OUTPUTS_BINS = 40 }; /* each half a power of two wide, from 1/16 ms on */

typedef enum outputs_form {
    FORM_SILENT,  /* standard output is not used */
    FORM_ROWS,    /* text for people */
    FORM_PATTERN, /* --write-out */
    FORM_HEADS,   /* --include-headers: heads and bodies */
    FORM_SINK     /* JSON lines, CSV or bodies, which the library writes */
} outputs_form;

typedef struct outputs {
    seine_sinks *sinks;
    bool ordered;    /* records leave in the order of the input … */
    uint32_t window; /* … and so many of them may wait */
    seine_tally *tally;
    terminal *terminal;
    outputs_form form;
    bool skips, is_crawl;
    bool only_changes;
    bool prints_apart; /* a further sink prints: what --keep keeps, with referrers */
    uint64_t changes[SEINE_CHANGE_GONE + 1]; /* records by their change */
    record_table table;
    template pattern;
    report_sink report;          /* -o run.html; the sink thread counts for it */
    uint64_t bins[OUTPUTS_BINS]; /* how long requests took; complete after drain */
    pthread_mutex_t lock;
    char host[128]; /* of the first record; `lock` guards it */
    /* called for every record, on the sink thread */
    void (*watch)(const seine_record *r, void *arg);
    void (*failure)(const seine_record *r, void *arg);
    void *arg;
} outputs;

typedef struct outputs_hooks {
    void (*room)(void *arg);
    void (*failed)(seine_err e, void *arg);
    void (*watch)(const seine_record *r, void *arg);
    /* with --referrers: a URL that failed, at the end of the run */
    void (*failure)(const seine_record *r, void *arg);
    /* the sinks exist, and none is open yet; NULL: they are about to be freed */
    void (*made)(seine_sinks *sinks, void *arg);
    void *arg;
    const char *user_agent;        /* which archives record … */
    bool obeys;                    /* … together with whether robots.txt is obeyed */
    struct seine_durable_job *job; /* with which records are durable; NULL: none */
    struct seine_metrics *metrics; /* where outputs count; NULL: nowhere */
    const char *const *data;       /* names of values that get a column; NULL: none */
    /* Opens one output, NULL: standard output, in place of a sink of records; NULL */
    int (*open)(seine_sinks *sinks, const char *name, const seine_sink_opts *base,
                void *arg);
    void *open_arg;
} outputs_hooks;

/* Opens a sink. SAY_DONE, or the exit code after an error message about `name`. */
int outputs_open_sink(seine_sinks *sinks, const seine_sink_opts *opts, const char *name);

/* The error for an errno of the terminal; ETIMEDOUT: nobody reads it. */
seine_err outputs_err_of(int number);

/* Counts a record of an earlier run. */
void outputs_count(outputs *o, const seine_record *r);

/* Checks what is asked of the outputs, before a job is begun or replaced for them.
 * `has_own`: outputs_hooks.open has checked the formats. SAY_DONE, or the exit code after
 * an error message. */
int outputs_check(const args *a, bool has_own);

/* Opens all outputs, which outputs_check has passed, before the first request. SAY_DONE;
 * or the exit code after an error message, with nothing to free. */
int outputs_open(const args *a, const seine_members *fields, terminal *b,
                 const outputs_hooks *hooks, outputs *out);
void outputs_free(outputs *o);

/* Whether an output is a web archive. */
bool outputs_has_archive(const fetch_settings *set);
bool outputs_has_database(const fetch_settings *set);

/* Whether an output makes a copy of each body while it writes it: a database does. */
bool outputs_copy_bodies(const fetch_settings *set);

/* The part of --max-memory that the outputs keep for themselves. */
uint64_t outputs_memory(const fetch_settings *set);

/* The form that standard output will have. */
outputs_form outputs_form_of(const fetch_settings *set);

/* The lower edge of a bin. */
seine_span outputs_bin(size_t i);

#endif
