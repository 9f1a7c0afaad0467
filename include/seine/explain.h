/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h - what would become of this URL in a crawl, and by which rule?
 *
 * The same functions that decide in a crawl, asked about one URL: its key, scope and
 * patterns, the shape and the pattern of its path, robots.txt, how often its host would
 * be asked. Nothing is fetched: what robots.txt says comes from the caller.
 *
 *     e = seine_explain_new(&opts, &x, &diag);                opts.crawl is set
 *     e = seine_explain_seed(x, "https://e.example/", 18);
 *     seine_explain_robots(&fault, body, &state, &robots);
 *     seine_explain_url(x, url, strlen(url), state, robots, &got);
 *     puts(got.admitted ? "in" : got.rule);
 *     seine_robots_free(robots);
 *     seine_explain_free(x);
 *
 * What it cannot know: how many links away from a seed the URL is, how often its pattern
 * has been seen, and what budgets are left.
 *
 * Time    plays no part.
 * Memory  what the patterns need; answers are the caller's, 18 KiB each.
 * Threads any thread, once seeded.
 */
#ifndef SEINE_EXPLAIN_H
#define SEINE_EXPLAIN_H

#include "seine/fetch.h"
#include "seine/robots.h"
#include "seine/url.h"

typedef struct seine_explain seine_explain;

/* What is known of a robots.txt (RFC 9309, 2.3.1). */
typedef enum seine_robots_state {
    SEINE_ROBOTS_UNASKED,
    SEINE_ROBOTS_PARSED,
    SEINE_ROBOTS_ABSENT,     /* 4xx but 429, too many redirects: all is allowed */
    SEINE_ROBOTS_UNREACHABLE /* 5xx, 429, no answer: nothing is, for now */
} seine_robots_state;

typedef struct seine_explained {
    char url[SEINE_URL_ROOM]; /* as it would be asked for */
    char key[SEINE_URL_ROOM]; /* by which it is fetched once */
    bool is_given;            /* it is one of the seeds */

    bool in_scope; /* and passes the patterns */
    seine_skip scope_reason;
    char scope_rule[160];

    const char *shape;      /* what is odd about its path; NULL: nothing */
    char pattern[1024 + 1]; /* of its path and query */
    uint32_t budget; /* pages of that pattern before they are looked at; 0: never */

    seine_robots_state robots; /* UNASKED also where a crawl would not ask */
    seine_robots_verdict verdict;
    seine_span delay;  /* Crawl-delay, as a crawl takes it; 0: none */
    bool delay_is_cut; /* the file asks for more */
    seine_span every;  /* one request in so much time, at most; 0: no limit */

    bool admitted;     /* as far as is known */
    seine_skip reason; /* else why not … */
    char rule[400];    /* … and by which rule */
} seine_explained;

SEINE_BEGIN

/* CONFIG: the diag says which member and how; INVAL: opts.crawl is not set; NOMEM.
 * The options stay the caller's and outlive it. */
SEINE_MUST_CHECK seine_err seine_explain_new(const seine_fetch_opts *opts,
                                             seine_explain **out_explain,
                                             seine_diag *diag);
void seine_explain_free(seine_explain *x); /* NULL is fine */

/* A URL that would be given. BAD_URL, BLOCKED_SCHEME: nobody crawls that; NOMEM. */
SEINE_MUST_CHECK seine_err seine_explain_seed(seine_explain *x, const char *url,
                                              size_t len);

/* The product token that robots.txt is asked about: "seine" of "seine/1.0". */
const char *seine_explain_agent(const seine_explain *x);

/* What the end of a request for robots.txt means, and the text, if it was parsed. A body
 * that was cut at SEINE_ROBOTS_BYTES is whole. */
void seine_explain_robots(const seine_fault *end, seine_view body,
                          seine_robots_state *out_state, seine_robots **out_robots);
const char *seine_robots_state_name(seine_robots_state s); /* "parsed" */

/* BAD_URL: it is none. NOMEM. */
SEINE_MUST_CHECK seine_err seine_explain_url(const seine_explain *x, const char *url,
                                             size_t len, seine_robots_state state,
                                             const seine_robots *robots,
                                             seine_explained *out);

SEINE_END

#endif
