/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - one run as the console knows it: what it was started with, where it stands,
 * what it shows.
 *
 * What is known of a run for ever stands in runs/ID/run.json of the state directory; its
 * records, its job and the text of its recipe stand beside it. While its fetch lives the
 * console looks at it four times a second (run_live.h), and people steer it.
 *
 * *     seine_fetch *f = sn_run_pin(r);               NULL: its fetch is not there
 *     …
 *     sn_run_unpin(r);
 *
 * Time    wall time in ms for people, monotonic for spans.
 * Memory  some kilobytes, and 300 KiB while it lives.
 * Threads the console's; pin, unpin and what console_run.h says: any thread.
 */
#ifndef SN_CONSOLE_RUN_H
#define SN_CONSOLE_RUN_H

#include <stdatomic.h>

#include "console/console.h"
#include "seine/console_run.h"

typedef enum sn_run_state {
    SN_RUN_WAITING, /* others run: it waits for its turn */
    SN_RUN_RUNNING,
    SN_RUN_PAUSED,
    SN_RUN_STOPPING, /* what is in flight ends */
    SN_RUN_FINISHED,
    SN_RUN_STOPPED, /* with work left */
    SN_RUN_FAILED,
    SN_RUN_STATES
} sn_run_state;

const char *sn_run_state_name(sn_run_state s); /* "running" */
bool sn_run_state_parse(sn_str word, sn_run_state *out_state);

typedef struct seine_console_run sn_console_run;

/* What a run was started with. */
typedef struct sn_run_meta {
    char id[SN_ULID];
    char doc[SN_ULID]; /* of its recipe; "": it has none */
    uint64_t version;
    char sha256[65]; /* of the text of the recipe; "" */
    char title[208];
    char by[SN_USER_NAME];
    char verb[8]; /* "run", "crawl", "fetch" */
    char concurrency[24], rate[24], host_rate[24], max_pages[24], depth[24]; /* "" */
    int64_t started_ms, ended_ms; /* 0: not yet */
    seine_span lived;             /* before the last start, and when it has ended */
    sn_run_state state;
    int code; /* its exit code */
    char message[240];
    seine_fetch_stats last; /* at its end … */
    uint64_t rows;          /* … and rows of its recipe */
    uint64_t skipped;       /* likewise */
} sn_run_meta;

struct seine_console_run {
    seine_console *console;
    sn_console_run *next; /* an older one */
    sn_run_meta meta;
    char **urls; /* ended by NULL */
    size_t n_urls;
    bool is_guest;    /* the console did not start it and keeps nothing of it */
    bool wants_pause; /* from its start on */
    bool is_canceled; /* somebody has asked for it */
    bool is_resumed;
    bool has_thread;
    pthread_t thread;
    char *dir;
    seine_time begun;         /* of this process */
    struct sn_run_live *live; /* NULL: it did not run in this process */
    _Atomic uint64_t rows;    /* of its recipe, since its first page */

    pthread_mutex_t lock; /* of what follows, and nothing else happens under it */
    pthread_cond_t is_free;
    seine_fetch *fetch;
    unsigned users;
    void (*stop)(void *arg);
    void *stop_arg;
    bool is_told; /* to stop */
    char said[240];
    seine_fetch_stats at_end;
    int code;
    sn_mail added_mail, begun_mail, done_mail;
};

/* The fetch, which stays until unpin; NULL: there is none. */
seine_fetch *sn_run_pin(sn_console_run *r);
void sn_run_unpin(sn_console_run *r);

/* Asks it to stop in order, now or when it begins. */
void sn_run_tell_stop(sn_console_run *r);

/* run_meta.c: the file of a run. */
SEINE_MUST_CHECK seine_err sn_run_meta_save(const sn_console_run *r);
/* UNKNOWN: there is none; PARSE. */
SEINE_MUST_CHECK seine_err sn_run_meta_load(sn_console_run *r);

/* How long it has run, in all. */
seine_span sn_run_elapsed(const sn_console_run *r);
bool sn_run_is_live(const sn_console_run *r); /* waiting, running, paused, stopping */

/* A copy with a terminator; NULL: no memory. */
char *sn_run_copy(const char *bytes, size_t n);

bool sn_run_path(const sn_console_run *r, const char *name, char *out, size_t cap);

#endif
