/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - bring these URLs home: all of them, politely, each ending in one record.
 *
 * Three forms of the same engine. The blocking one, with results in the order of the
 * URLs and a summary, never fails as a whole:
 *
 *     const char *urls[] = {"http://a.example/", "http://b.example/"};
 *     seine_fetch_opts o = SEINE_FETCH_OPTS;
 *     seine_fetched got[2];
 *     seine_summary sum;
 *     e = seine_fetch_all(&o, ctx, urls, 2, got, &sum);
 *     puts(seine_fetched_is_ok(&got[0]) ? got[0].body.bytes : got[0].error);
 *     seine_fetched_free(got, 2);
 *
 * The streaming one takes URLs while it runs and calls back once per URL. It has
 * `threads` shards; a host belongs to one of them, and so does its limiter, breaker,
 * queue and connections:
 *
 *     o.on_record = print;
 *     e = seine_fetch_new(&o, &f, &diag);
 *     while (next_line(&ask))
 *         e = seine_fetch_add(f, &ask, ctx);         waits while the queue is full
 *     e = seine_fetch_finish(f, ctx);                until all are done
 *     seine_fetch_free(f);
 *
 * With `threads` = 0 nothing runs by itself: the caller has a loop of its own, watches
 * seine_fetch_fd and calls seine_fetch_step when it is readable.
 *
 * Every host gets at most `host_rate` requests a second, `per_host` at a time; failures
 * that may pass are tried again; a host that keeps failing is left alone. Defaults are
 * those of a good guest; `mine` lifts them for hosts that are yours.
 *
 * Time    through the clock of the options.
 * Memory  bounded by `max_memory` and by `queue`, never by the web.
 * Threads add, finish, stop, stats: any thread. on_record: on the thread of a shard,
 *         from several at once when there are several. step: one owner.
 */
#ifndef SEINE_FETCH_H
#define SEINE_FETCH_H

#include <stddef.h>

#include "seine/alloc.h"
#include "seine/breaker.h"
#include "seine/cookie_jar.h"
#include "seine/crawl.h"
#include "seine/ctx.h"
#include "seine/diag.h"
#include "seine/family.h"
#include "seine/input.h"
#include "seine/limiter.h"
#include "seine/log.h"
#include "seine/metrics.h"
#include "seine/record.h"
#include "seine/retry.h"
#include "seine/revisit.h"
#include "seine/secret.h"
#include "seine/status_set.h"
#include "seine/summary.h"
#include "seine/tally.h"

typedef struct seine_fetch seine_fetch;

enum { /* what of an answer is kept for the record */
       SEINE_KEEP_TITLE = 1,
       SEINE_KEEP_FIELDS = 2,
       SEINE_KEEP_BODY = 4,
       SEINE_KEEP_SHA256 = 8,
       SEINE_KEEP_WIRE = 16,  /* record.captures */
       SEINE_KEEP_LINKS = 32, /* n_links, lang, canonical, meta_robots, charset_from; a
                                 crawl keeps them unasked */
       SEINE_KEEP_COPY = 64,  /* somebody copies the body, as SQLite does: a body that is
                                 kept counts twice for max_memory */
       SEINE_KEEP_TARGETS = 128 /* of a crawl: seine_record_links, all links of a page */
};

/* Called once per URL; the record is gone when it returns. */
typedef void (*seine_record_fn)(const seine_record *r, unsigned shard, void *arg);

/* Something happened to a host: "breaker.open", "host.parked", "rate.changed" … */
typedef struct seine_event {
    const char *name;
    seine_view host;
    seine_err cause;
    seine_time until;  /* NEVER: not said */
    int64_t from, to;  /* of rate.changed, in us; of breaker.*, seine_breaker_state */
    seine_view detail; /* of trap: the path pattern; absent: none */
} seine_event;
typedef void (*seine_event_fn)(const seine_event *e, unsigned shard, void *arg);

/* What happened on the way of one URL, as text for people: "resolve", "connect", "tls",
 * "request", "response", "retry", "wait". Lines end in LF; known secrets are REDACTED;
 * what the web has sent is as it came. */
typedef struct seine_trace {
    const char *what;
    seine_view url;
    seine_view text;
} seine_trace;
typedef void (*seine_trace_fn)(const seine_trace *t, void *arg);

/* `park`: one failed probe, three in a crawl. A host that has responded, but never well,
 * is given up after ten failures, one that has answered well after five failed probes. */
#define SEINE_PARK_AUTO UINT32_MAX

typedef struct seine_fetch_opts {
    size_t size; /* of this struct: SEINE_FETCH_OPTS sets it */
    /* how much at once */
    uint32_t concurrency; /* 64 requests in flight in all */
    uint32_t per_host;    /* 4 */
    uint32_t per_ip;      /* 8; 0: off */
    uint32_t threads;     /* 1; 0: the caller steps */
    uint32_t queue;       /* 1000 URLs admitted and not done; above concurrency by an
                           eighth, or by 512, at least */
    seine_rate rate;      /* over all hosts; count 0: off */
    seine_rate host_rate; /* {5, 1 s, 1}; count 0: off */
    bool adaptive;        /* true: slower when the host is, never above host_rate */
    bool mine; /* host_rate, per_host, per_ip, adaptive off: the hosts are mine */
    uint64_t max_memory; /* 512 MiB: bodies and buffers */
    uint64_t max_pages;  /* 0: off; the rest is skipped with reason budget */

    /* how long */
    seine_span timeout;         /* 30 s: one attempt */
    seine_span connect_timeout; /* 10 s: dns, tcp and tls together */
    seine_span dns_timeout, tcp_timeout, tls_timeout; /* 5 s each */
    seine_span head_timeout;                          /* 20 s */
    uint64_t speed_bytes;                             /* 100 in … ; 0: off */
    seine_span speed_span;                            /* … 20 s */
    seine_span grace;                                 /* 10 s to drain after a stop */

    /* again */
    seine_retry_opts retry;               /* 6 attempts, jitter MINUS */
    seine_retry_budget_opts retry_budget; /* ratio_milli UINT32_MAX: off */
    seine_breaker_opts breaker;           /* failure_threshold and failure_pct 0: off */
    uint32_t park; /* AUTO; so many failed probes in a row: host given up; 0: never */
    seine_span max_retry_after; /* 5 min; longer: host parked */

    /* what is sent */
    const char *method;        /* "GET" */
    const char *user_agent;    /* "seine/VERSION" */
    const char *from;          /* contact; NULL */
    const seine_field *fields; /* to the origins of the given URLs alone */
    size_t n_fields;
    seine_view body;

    /* what is taken */
    seine_status_set accept; /* statuses that are ok; 200-299 */
    uint32_t max_redirects;  /* 10; 0: not followed, 3xx is ok */
    bool follow_body;        /* a body goes to another origin on 307, 308 */
    bool https_only;
    uint64_t max_body, max_wire; /* 16 MiB each */
    uint64_t max_ratio;          /* 200: a coded body may grow so often; 0: any … */
    uint64_t ratio_from;         /* … once it is larger than 8 MiB */
    uint32_t keep;               /* SEINE_KEEP_TITLE */
    bool dedup;                  /* true: a URL whose key was given before is counted */
    const char *strip_params;    /* left out of keys: "utm_*,fbclid" */
    bool raw_encoding;           /* bodies that cannot be decoded are taken as they are */

    /* which URLs */
    const char *const *include; /* patterns; one of them is in the URL; NULL ends */
    const char *const *exclude; /* none of them is; they win */
    const char *accept_type;    /* "text/html,text/plain": other bodies are not taken, and
                                   the URL is skipped with reason mime; NULL: all are */
    uint64_t max_bytes;         /* of bodies in all; 0: off; the rest is skipped */
    seine_obey robots;          /* OFF */
    bool robots_on_mine;        /* it counts on hosts that are mine, too */
    seine_span max_crawl_delay; /* 60 s: a longer Crawl-delay is cut to it */
    const seine_crawl_opts *crawl; /* links are followed; NULL: they are not */

    /* trust */
    const char *cacert;                /* PEM; NULL: the system's */
    const char *cert, *cert_key;       /* of this client, PEM; NULL: none */
    uint8_t tls_min;                   /* 12 or 13; 0: 12 */
    bool insecure;                     /* no certificate of a given host is checked … */
    const char *const *insecure_hosts; /* … or of exactly these; NULL ends; NULL: none */

    /* on behalf of */
    const char *proxy;    /* for all, "off": none; NULL: as `proxy_env` says */
    const char *no_proxy; /* "localhost,.example,10.0.0.0/8,*"; NULL: likewise */
    char *(*proxy_env)(const char *name); /* getenv: http_proxy and its kin count, read
                                             once by new; NULL: they do not */
    seine_cookie_jar *jar;                /* cookies; NULL: none are taken or sent */

    /* where */
    seine_family family;
    const char *dns;            /* "127.0.0.1:53"; NULL: the system's */
    const char *const *resolve; /* "host:port:addr", NULL ends; NULL: none */
    const char *const *allow_net, *const *deny_net, *const *zones; /* likewise */
    bool untrusted; /* given URLs reach public addresses only */

    /* who is told */
    seine_record_fn on_record;
    bool (*ready)(unsigned shard,
                  void *arg);   /* false: no new request, outputs are full; NULL */
    uint64_t (*due)(void *arg); /* outputs in order: the number they wait for, as of
                                   seine_sinks_due; NULL: in any order */
    seine_event_fn on_event;    /* NULL */
    void *arg;
    const seine_diag_name *names; /* how rules and hints of records call options, outlives
                                     it; NULL: by the members of this struct */
    const seine_secrets *secrets; /* in no message of a record; outlive it; NULL: none;
                                     learns the cookies of `jar` */
    seine_log *log;               /* NULL: none */
    seine_metrics *metrics;       /* counts of one fetch after the other; NULL: none */
    seine_clock *clock;           /* NULL: the system's */

    const char *robots_agent; /* whom robots.txt is read for, a product token, "seine";
                                 NULL: that of `user_agent` */
    uint64_t output_memory;   /* 0: what outputs of the caller keep for themselves; taken
                                 off max_memory, up to half of it */
    struct seine_durable_job *job; /* job.h: the run is durable; NULL: it is not */
    /* With a job, called by new for each record of earlier runs, with its counts alone,
     * and the first 200 that failed with their URLs; NULL. */
    void (*on_earlier)(const seine_record *r, void *arg);
    /* With a job and a crawl: it is incremental, see revisit.h; NULL: it is not. */
    const seine_revisit_opts *revisit;
    /* Called on the threads of the fetch; NULL: nothing is traced. */
    seine_trace_fn on_trace;
    /* Regular expressions: a body whose URL matches one is taken, whatever `accept_type`
     * says; ended by NULL. NULL: none. */
    const char *const *accept_urls;
    /* Of a crawl: the parts of a page, too, pictures, style sheets, scripts and fonts; of
     * any host, and no deeper than their page. `exclude` and robots.txt apply to them. */
    bool requisites;
    /* Bytes that are read in a second, over all connections; 0: as fast as they come.
     * Time limits do not count while reading waits. */
    uint64_t limit_rate;
    /* The values that pages are read for, see extract.h; seine_record_data has them. The
     * body of such a page is kept while it is read, whatever `keep` says. Outlives it;
     * NULL: none. */
    const struct seine_extract *extract;
    /* With a job, called by new: what was kept with the record of a page
     * (seine_record_items_keep), its key absent, and the texts of seine_job_note; NULL.
     */
    void (*on_kept)(seine_view key, seine_view bytes, void *arg);
    /* With a job: neither fields nor the body of a URL are written to it, and this is
     * called by resume for each that is given again, to put them in anew. NULL: the job
     * keeps both. */
    void (*on_again)(seine_ask *io_ask, void *arg);
    /* Keeps slices of the run for seine_fetch_timeline; with a job they are kept in any
     * case. */
    bool timeline;
    /* `rate` is that of each value: "host", or a JSON Pointer into the lines of the
     * input, /id, /url, /method or /tags/NAME. "none": of all together. NULL: the same,
     * and `max_wait` does not count. */
    const char *rate_key;
    /* With `rate_key`: a request that would have to wait longer for its token is given up
     * and takes none; SEINE_NEVER. */
    seine_span max_wait;
    /* Settings of single hosts, and limits of several together: host_opts.h. They are
     * copied; NULL: none. */
    const struct seine_host_opts *hosts;
    size_t n_hosts;
    const struct seine_group_opts *groups;
    size_t n_groups;
    /* Where traces go: otlp.h. Outlives it; NULL: nowhere. */
    struct seine_otlp *traces;
} seine_fetch_opts;

#define SEINE_FETCH_OPTS seine_fetch_defaults()

/* Of a job: URLs that are still to do when a run has ended. */
typedef struct seine_fetch_left {
    uint64_t urls;   /* sitemaps included */
    uint64_t parked; /* of these: at hosts that were given up … */
    uint64_t robots; /* … and at hosts whose robots.txt could not be had */
} seine_fetch_left;

typedef void (*seine_fetch_host_fn)(const seine_fetch_host *h, void *arg);

/* One result of seine_fetch_all. */
typedef struct seine_fetched {
    const char *url; /* the caller's */
    seine_fate fate;
    seine_fault fault; /* code OK: success */
    char error[160];   /* seine_fault_text; "" */
    uint16_t status;
    seine_text body; /* whole; empty on failure */
    uint64_t duration_ms;
    uint32_t attempts;
} seine_fetched;

SEINE_BEGIN

/* Writes the figures in the comments above; `size` is that of *out_opts, of which the
 * library may know less or more. */
void seine_fetch_opts_init(seine_fetch_opts *out_opts, size_t size);

static inline seine_fetch_opts
seine_fetch_defaults(void)
{
    seine_fetch_opts opts;

    seine_fetch_opts_init(&opts, sizeof opts);
    return opts;
}

/* INVAL, CONFIG (the diag says which member and how), NOMEM. */
SEINE_MUST_CHECK seine_err seine_fetch_new(const seine_fetch_opts *opts,
                                           seine_fetch **out_fetch, seine_diag *diag);
void seine_fetch_free(seine_fetch *f); /* stops at once what still runs */

/* One more URL. OK also for one that is refused (its record says so) and for a repeated
 * one. While the queue is full it waits, until the ctx is done; with a NULL ctx: FULL
 * at once. CLOSED: after finish or stop. NOMEM. */
SEINE_MUST_CHECK seine_err seine_fetch_add(seine_fetch *f, const seine_ask *ask,
                                           seine_ctx *ctx);

/* The same; *out_is_new is false for a repeated URL, which has no record of its own. */
SEINE_MUST_CHECK seine_err seine_fetch_add_new(seine_fetch *f, const seine_ask *ask,
                                               seine_ctx *ctx, bool *out_is_new);

/* With a job, once and before the first add: gives the URLs that earlier runs were given
 * and did not finish. What add says. */
SEINE_MUST_CHECK seine_err seine_fetch_resume(seine_fetch *f, seine_ctx *ctx);

/* No more URLs will come: `close` says so, `finish` also waits until all are done. When
 * the ctx is done before: orderly stop as by seine_fetch_stop, and its cause. Otherwise
 * what seine_fetch_err says. */
void seine_fetch_close(seine_fetch *f);
SEINE_MUST_CHECK seine_err seine_fetch_finish(seine_fetch *f, seine_ctx *ctx);

/* No new request from here on; what is in flight may end within opts.grace; the rest
 * ends with `why` (CANCELED, DEADLINE). Called again: at once. A signal handler may not:
 * it sets a flag. */
void seine_fetch_stop(seine_fetch *f, seine_err why);

/* The outputs have room again (after `ready` said false). */
void seine_fetch_wake(seine_fetch *f);

bool seine_fetch_is_done(const seine_fetch *f);

/* OK; or why a crawl ends early: the URLs it has found can no longer be kept, or not be
 * read again. DISK_FULL, NO_FILES, IO, STATE_CORRUPT, NOMEM. It ends as by a first
 * seine_fetch_stop: URLs that can be read have records, stats.lost counts the others. */
seine_err seine_fetch_err(const seine_fetch *f, seine_diag *diag);
void seine_fetch_stats_get(const seine_fetch *f, seine_fetch_stats *out_stats);
void seine_fetch_left_get(const seine_fetch *f, seine_fetch_left *out_left);

/* Of an incremental crawl: known pages that are not due in this round. */
uint64_t seine_fetch_not_due(const seine_fetch *f);

/* For how long `limit_rate` has kept a thread from reading what was there. */
seine_span seine_fetch_rate_wait(const seine_fetch *f);

/* The host that will take longest, as of an earlier call: asking makes the shards look.
 * False: nothing waits, or they have not looked yet. */
bool seine_fetch_slowest_get(const seine_fetch *f, seine_fetch_slowest *out_slowest);

/* The proxies in force, for people: "http://p.example:3128 (resolves names)", one for
 * http and another for https with what they are for, "" for none; never a login. Writes
 * at most `cap` bytes with the terminator; returns the length of the whole text. */
size_t seine_fetch_proxies(const seine_fetch *f, char *buf, size_t cap);

/* Every host; after finish, or from a step's owner. */
void seine_fetch_hosts_each(const seine_fetch *f, seine_fetch_host_fn fn, void *arg);

/* For threads = 0: readable when there is something to do, timers included. */
int seine_fetch_fd(const seine_fetch *f);
/* Does what is due and returns; does not wait. *out_again: when to call it again at the
 * latest, for loops that have timers of their own; NULL is fine. */
void seine_fetch_step(seine_fetch *f, seine_time *out_again);

/* All of them, results in the order of the URLs. OK whatever became of each; a ctx that
 * ends early makes the rest canceled. out_summary may be NULL. INVAL, CONFIG, NOMEM:
 * nothing was fetched, results are empty. The body of each is kept. */
SEINE_MUST_CHECK seine_err seine_fetch_all(const seine_fetch_opts *opts, seine_ctx *ctx,
                                           const char *const *urls, size_t n,
                                           seine_fetched *out_results,
                                           seine_summary *out_summary);
bool seine_fetched_is_ok(const seine_fetched *r);
void seine_fetched_free(seine_fetched *results, size_t n); /* what they hold */

SEINE_END

#endif
