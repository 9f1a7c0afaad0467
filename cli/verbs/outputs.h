/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs.h - where the records of a run go: files, standard output as lines for
 * machines, or standard output as text for people.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <seine/sink.h>
#include <seine/tally.h>

#include "options/fetch_settings.h"
#include "screen/record_table.h"
#include "screen/template.h"
#include "screen/terminal.h"

enum { OUTPUTS_BINS = 40 }; /* of half a power of two each, from 1/16 ms on */

typedef enum outputs_form {
    FORM_SILENT,  /* standard output is not used */
    FORM_ROWS,    /* text for people */
    FORM_PATTERN, /* --write-out */
    FORM_SINK     /* JSON lines, CSV or bodies, by the library */
} outputs_form;

typedef struct outputs {
    seine_sinks *sinks;
    bool ordered;    /* records leave in the order of the input … */
    uint32_t window; /* … of which so many may wait */
    seine_tally *tally;
    terminal *terminal;
    outputs_form form;
    bool skips, is_crawl;
    record_table table;
    template pattern;
    uint64_t bins[OUTPUTS_BINS]; /* how long requests took; after drain */
    pthread_mutex_t lock;
    char host[128]; /* of a record; guarded */
    /* told of every record, on the sink thread */
    void (*watch)(const seine_record *r, void *arg);
    void *arg;
} outputs;

typedef struct outputs_hooks {
    void (*room)(void *arg);
    void (*failed)(seine_err e, void *arg);
    void (*watch)(const seine_record *r, void *arg);
    void *arg;
    const char *user_agent; /* what is sent, for archives … */
    bool obeys;             /* … and that robots.txt is obeyed */
} outputs_hooks;

/* Opens everything, so that mistakes are told before the first request. SAY_DONE, or it
 * was said what is wrong and there is nothing to free. */
int outputs_open(const args *a, const seine_fields *fields, terminal *b,
                 const outputs_hooks *hooks, outputs *out);
void outputs_free(outputs *o);

/* Is one of them a web archive? */
bool outputs_has_archive(const fetch_settings *set);

/* What standard output is, before it is opened. */
outputs_form outputs_form_of(const fetch_settings *set);

/* The lowest time of a bin. */
seine_span outputs_bin(size_t i);

#endif
