/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_state.h - the state of a run of a recipe, which its files share:
 *
 *     recipe_run.c    opens, judges, says
 *     recipe_give.c   start pages and leads; the thread of the feed
 *     recipe_page.c   a page; the thread of the fetch
 *     recipe_past.c   what the job knows of earlier runs
 *     recipe_share.c  a job in Redis: its start pages and leads
 */
#ifndef CLI_RECIPE_STATE_H
#define CLI_RECIPE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <seine/seen.h>

#include "recipes/expectations.h"
#include "recipes/item_out.h"
#include "recipes/recipe_run.h"
#include "recipes/recipe_target.h"
#include "verbs/run_source.h"

/* A host that leads may go to. */
typedef struct known_host {
    char *name;
    bool is_start;  /* the recipe names it: it gets the headers … */
    bool is_secure; /* … over https alone: so it was named */
} known_host;

enum { DEAD_LOOKS = 20 }; /* pages that are searched for selectors that find nothing */

typedef struct recipe_state {
    const recipe_run_opts *o;
    run_source source;
    seine_text vars;
    char *spec;
    seine_secrets *secrets; /* of the plan */
    seine_fetch_opts fetch; /* as planned, for sitemaps */
    const char *strip_params;
    item_out out;
    char run_date[16];
    int64_t run;       /* of the job, from 1; 0: there is none */
    bool keeps_known;  /* `dedup: job` */
    bool has_start;    /* `start` has named a page */
    bool is_shared;    /* the job is in Redis … */
    bool is_joined;    /* … and has its start pages */
    seine_seen *known; /* pages of earlier runs, by key */
    seine_seen *rows;  /* by kind and key */

    /* requests */
    seine_json *request;
    seine_field fields[64];
    size_t n_fields;
    const char *method, *body;
    bytes *files;
    size_t n_files, cap_files;

    /* counts: of the thread of the fetch while it runs */
    expectations *all, *page; /* page: the one that is being read */
    past_run *past;
    size_t n_past;
    uint64_t ok, failed;       /* pages */
    uint64_t skipped;          /* not asked for: robots.txt, --max-pages */
    char first_skip[240];      /* the first of them, and why */
    _Atomic uint64_t off_site; /* leads that were not followed */
    unsigned dead_looks;
    char first_flaw[240]; /* of a page that was had and could not be read */
    seine_json *unmet;    /* at the end */
    int code;             /* of the feed: a start that is wrong */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    recipe_target *first, *last; /* leads that wait */
    size_t given;                /* given and not ended */
    known_host *hosts;
    size_t n_hosts, cap_hosts;
} recipe_state;

/* Is this one of the hosts, of those that the recipe names or of all? A host that is
 * named by https is not named by http. */
bool recipe_knows_host(recipe_state *s, const char *url, bool named);
void recipe_know_host(recipe_state *s, const char *url, bool is_start);

void recipe_push(recipe_state *s, recipe_target *give); /* a lead */

/* Of a job in Redis. Collects the start pages, as leads, before the job is made.
 * SAY_DONE, or the exit code after an error message. */
int recipe_collect(recipe_state *s);
int recipe_check_shared(const recipe_target *t);          /* likewise: has it a secret? */
void recipe_give_shared(recipe_state *s, struct feed *f); /* … what was collected */
/* A lead of a page; it is given together with the items. */
void recipe_share(recipe_state *s, recipe_target *t, seine_record_items *items);
/* `why` NULL: its record says it. */
void recipe_fail_page(recipe_state *s, const char *url, const char *why);

/* The page that is being read goes into the counts of the run. */
void recipe_count_rows(recipe_state *s);

/* The key of a URL. False: it has none. */
bool recipe_key(const recipe_state *s, const char *url, char *out, size_t cap,
                size_t *out_len);

/* Hooks of run_source.h. */
void recipe_join(seine_fleet *fleet, void *arg);
void recipe_give(struct feed *f, void *arg);
void recipe_again(seine_ask *io_ask, void *arg);
seine_err recipe_read(seine_sinks *sinks, unsigned shard, const seine_record *r,
                      void *arg);
void recipe_kept(seine_view key, seine_view text, void *arg);
void recipe_earlier(const seine_record *r, void *arg);
void recipe_finish(seine_durable_job *job, void *arg);

/* A page that was read, for the job; the caller frees the text. `keys` and `leads`: lists
 * of JSON, taken over. */
char *recipe_page_kept(const recipe_state *s, const recipe_target *t, const char *final,
                       seine_json *give_keys, seine_json *give_leads, const char *flaw);

#endif
