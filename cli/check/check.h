/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what a run of `seine check` knows: documents, their links, and what the links
 * lead to.
 *
 * A page is a file or a page of a site. A target is a URL that is asked for at most once,
 * however many links lead to it. A link stands on a page; a link to a file has no target,
 * and its verdict is its own.
 *
 * A run reads the inputs, judges the links to files, crawls the sites, asks for the
 * targets that are left, settles every link and writes the outputs; verbs/check.c is that
 * order.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seine/document.h>
#include <seine/eta.h>
#include <seine/link_verdict.h>
#include <seine/plumbing.h>
#include <seine/sink.h>

#include "check/name_map.h"
#include "config/config_reload.h"
#include "jobs/control.h"
#include "options/fetch_opts.h"
#include "screen/progress.h"
#include "screen/terminal.h"
#include "screen/textbuf.h"
#include "verbs/run_job.h"
#include "verbs/run_log.h"
#include "verbs/run_metrics.h"
#include "verbs/watchdog.h"

typedef enum check_format {
    CHECK_TEXT,
    CHECK_JSONL,
    CHECK_CSV,
    CHECK_JUNIT,
    CHECK_MD,
    CHECK_GITHUB,
    CHECK_HTML, /* a page of its own: the report of seine report */
    CHECK_SINK  /* a database or packed lines, which the library writes */
} check_format;

/* How the links are written. */
typedef struct check_form {
    check_format format;
    bool colour; /* of text on a terminal */
} check_form;

typedef struct check_settings {
    fetch_settings net; /* first: its options are those of `crawl` */
    bool offline, dump, fragments, strict, overwrite, csv_raw, csv_crlf;
    int format;
    bool json;
    texts output, input;
    const char *baseline, *cache, *ignore_file;
    seine_span max_age;
} check_settings;

typedef enum check_fragment {
    FRAGMENT_NONE, /* the link has none */
    FRAGMENT_OK,
    FRAGMENT_MISSING,
    FRAGMENT_UNCHECKED
} check_fragment;

/* The names a fragment may have, as hashes in order. */
typedef struct check_anchors {
    uint64_t *all;
    size_t n;
    bool is_known;
} check_anchors;

typedef struct check_page {
    char *name; /* as it is shown: "README.md", "https://e.example/" */
    check_anchors anchors;
    bool is_site;   /* read over the network */
    bool is_extra;  /* read for its anchors alone */
    bool is_listed; /* found in a directory that was given */
} check_page;

/* The Sphinx project around a document. */
typedef struct check_sphinx {
    char *dir, *root; /* of the document; of the project; NULL: not looked at yet */
    bool is_open;     /* labels may come from other projects */
} check_sphinx;

typedef struct check_target {
    char *url;             /* without fragment */
    char *final_url, *why; /* where it led; for people: "404"; NULL */
    const char *kind;      /* of the error; NULL */
    uint32_t next;         /* the target a page of the crawl redirects to; or NONE */
    uint16_t status, hop;  /* hop: the status of that redirect */
    seine_link_verdict verdict;
    bool is_judged, is_cached, is_asked;
    bool wants_anchors; /* a link to it has a fragment, and fragments are checked */
    bool was_head;      /* its last request was a HEAD */
    bool no_head;       /* an earlier run was refused its HEAD … */
    bool is_tried;      /* … by failures that have been tried again already */
    check_anchors anchors;
} check_target;

typedef struct check_link {
    uint32_t page, target; /* target: NAME_MAP_NONE for links to files */
    uint32_t line, col;
    const char *tag;
    char *value;          /* as it is shown: where it leads, with its fragment */
    char *text;           /* NULL: none */
    const char *fragment; /* inside `value`, behind the #; NULL: none */
    char *path;           /* of a link to a file; NULL */
    char *why;            /* for people; NULL: that of the target */
    const char *since;    /* it is in the baseline; NULL */
    seine_link_verdict verdict;
    check_fragment found;
    bool is_judged;
    bool is_role;    /* :doc: or :ref: of Sphinx, by its tag */
    bool is_foreign; /* … and the label may be that of a document that was not read */
} check_link;

typedef void (*check_take_fn)(const seine_record *r, void *arg);

/* The durable job of the run. */
typedef struct check_job {
    run_job run;                  /* run.job NULL: there is none */
    seine_sinks *pages;           /* of the crawl while it runs; NULL */
    int answers;                  /* the file of single links; -1 */
    control *control;             /* NULL */
    check_take_fn take;           /* gets records of this run and of earlier ones */
    void *arg;                    /* of take */
    _Atomic(seine_fetch *) fetch; /* that runs; NULL */
    atomic_int failed;            /* a seine_err of its files */
    atomic_bool is_told;          /* to stop, through the socket */
} check_job;

typedef struct check {
    const args *args;
    const check_settings *set;
    fetch_plan plan;
    check_page *pages;
    size_t n_pages, cap_pages;
    check_target *targets;
    size_t n_targets, cap_targets;
    check_link *links;
    size_t n_links, cap_links;
    name_map files, urls, stats; /* pages by path, targets by key, what stat has said */
    char **stat_names;
    size_t n_stats, cap_stats;
    name_map listed, cases; /* directories looked into, and their files in lower case */
    char **case_names;      /* both, as keys; a file in its own case behind it */
    size_t n_cases, cap_cases;
    name_map unreadable; /* paths of files that have no anchors to tell */
    char **unreadable_names;
    size_t n_unreadable, cap_unreadable;
    char **sites; /* URLs to crawl */
    size_t n_sites, cap_sites;
    const char *root; /* of the directory being read: links that begin with / */
    char *real_root;  /* the same without symbolic links */
    char **globs;     /* of the ignore file */
    size_t n_globs, cap_globs;
    char *globs_text;
    check_sphinx sphinx;  /* of the last document that has roles */
    check_anchors labels; /* of all documents together */
    seine_document *document;
    size_t counts[SEINE_LINK_VERDICT_ROOM];
    size_t n_files, n_crawled, n_unread;
    size_t n_known;             /* bad links that the baseline has */
    size_t held;                /* bytes of pages, targets and links */
    size_t n_left;              /* links that --max-memory has no room for */
    bool is_cut;                /* a document has more links than are read */
    int signal;                 /* that ended the run; 0 */
    bool is_late;               /* --max-time is over */
    bool is_parked;             /* a typed site was given up with links left */
    bool too_many;              /* --max-errors is reached … */
    uint64_t answers, failures; /* … by so many of all */
    seine_time start;
    seine_filter *include, *exclude; /* of links to files; NULL: none */

    check_job job;

    /* what the run shows and hears: check_run.c */
    terminal terminal;
    run_log log;
    run_metrics metrics;
    watchdog watchdog;
    config_reload reload; /* limits after HUP; args NULL: there was none */
    screen screen;        /* of standard error */
    progress_kind progress;
    seine_time next_line;
    bool has_begun;               /* the start was told */
    _Atomic(seine_sinks *) sinks; /* of outputs that the library writes; NULL */
    _Atomic uint64_t steps;       /* of the outputs */
} check;

/* What a fetch has done so far, for the progress. */
typedef struct check_phase {
    seine_fetch *fetch;
    seine_eta *eta;
    const char *name; /* of a crawl: the host it started at */
    uint64_t ok, bad, total;
    bool is_crawl, is_stopping;
} check_phase;

/* check_links.c */
uint32_t check_add_page(check *c, const char *name);
void check_note_cut(check *c, const char *name); /* the document was not read whole */
bool check_is_full(const check *c); /* --max-memory has no room for more links */
void check_take_anchors(check *c, check_anchors *out);
bool check_has_anchor(const check_anchors *a, const char *fragment);
void check_join_anchors(check *c, check_anchors *out);    /* those of all documents */
uint32_t check_target_of(check *c, const seine_url *url); /* by its key */
void check_add_link(check *c, uint32_t page, const seine_document_link *d,
                    const seine_url *base, const char *dir);
bool check_is_ignored(const check *c, const char *value);
void check_settle(check *c); /* gives every link its verdict, and counts */
void check_free(check *c);

/* check_files.c: SAY_DONE, or the exit code after an error message */
int check_read_inputs(check *c);
int check_read_ignore_file(check *c);
/* Reads a file for its anchors; NONE: it is none that can be read. */
uint32_t check_read_extra(check *c, const char *path);
char *check_join(const char *dir, const char *path);      /* "a/b/../c" as "a/c" */
char *check_decode(const char *text, size_t n);           /* %-escapes */
char *check_read_file(const char *path, size_t *out_len); /* NULL: errno */

/* check_local.c */
void check_judge_local(check *c);

/* check_sphinx.c: where a role leads, relative to the directory of its document, and
 * whether something is there. */
void check_point_at_role(check *c, check_link *l, const char *dir);
void check_judge_role(check *c, check_link *l);
void check_sphinx_free(check_sphinx *p);

/* check_run.c: opens log and metrics, and hears signals from here on. SAY_DONE, or the
 * exit code after an error message. */
int check_run_open(check *c);
int check_run_close(check *c, int code); /* returns the exit code */
int check_run_begin(check *c);           /* requests begin: a signal ends in order */
void check_run_show(check *c, const check_phase *p);
bool check_run_hear(check *c, const check_phase *p); /* a signal ends the run */
/* Limits as the configuration has them since HUP, for a fetch that begins later. */
void check_run_keep_limits(check *c, seine_fetch *f);

/* check_remote.c */
int check_crawl(check *c);
int check_ask(check *c);
bool check_say_parked(check *c); /* names hosts that were given up; true: a typed one */

/* check_job.c: what a run keeps so that the same command can go on. SAY_DONE, or the exit
 * code after an error message. `take` gets what earlier runs have kept before begin
 * returns. */
int check_job_open(check *c);
bool check_job_is_on(const check *c);
int check_job_begin_pages(check *c, unsigned threads, check_take_fn take, void *arg);
void check_job_put(check *c, unsigned shard, const seine_record *r);
bool check_job_has_room(const check *c, unsigned shard);
int check_job_end_pages(check *c); /* all of them are on disk */
int check_job_begin_answers(check *c, check_take_fn take, void *arg);
void check_job_keep_answer(check *c, const seine_record *r, bool with_body);
void check_job_end_answers(check *c);
void check_job_listen(check *c, seine_fetch *fetch); /* for `seine jobs` */
void check_job_hang_up(check *c);
int check_job_close(check *c, bool is_finished);

/* check_cache.c, check_baseline.c */
int check_cache_load(check *c);
int check_cache_save(const check *c);
typedef struct check_baseline check_baseline;
int check_baseline_load(check *c, check_baseline **out_baseline);
void check_baseline_mark(check *c, const check_baseline *b);
void check_baseline_free(check_baseline *b);

/* check_report.c */
void check_render(check *c, check_form form, textbuf *out, int code);
void check_put_totals(const check *c, textbuf *out); /* "1 broken, 212 ok of …" */
void check_put_summary(const check *c, textbuf *out, int code, const char *when);
bool check_has_summary(const check *c);
void check_set_link(seine_json *r, const check *c, const check_link *l, const char *when);
void check_set_summary(seine_json *r, const check *c, int code);
void check_dump(const check *c);
bool check_is_bad(const check *c, const check_link *l); /* it fails the run */

/* check_outputs.c: refuses what it could not write before anything is asked for */
int check_outputs_plan(check *c);
int check_outputs_write(check *c, int code);

#endif
