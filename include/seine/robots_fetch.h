/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_fetch.h - which robots.txt do the hosts of these URLs have?
 *
 * Each host is asked once, as a crawl asks: for /robots.txt at the root of the URL, with
 * at most 5 redirects, for the first 512 KiB. The state of an answer is decided by the
 * function that a crawl uses (seine_explain_robots): parsed, absent, or unreachable.
 *
 *     seine_fetch_opts opts = SEINE_FETCH_OPTS;
 *     const char *urls[] = {"https://a.example/x", "https://b.example/y"};
 *     seine_robots_book *book = NULL;
 *     seine_err e = seine_robots_fetch(&opts, NULL, urls, 2, &book, NULL);
 *     const seine_robots_answer *a = seine_robots_book_of(book, urls[0]);
 *     if (a && a->state == SEINE_ROBOTS_PARSED)
 *         puts(a->source);
 *     seine_robots_book_free(book);
 *
 * A book can also be made from a file, which then holds for all hosts.
 *
 * Time    the call blocks until all hosts have answered, within the timeouts of the
 * options. Memory  the rules of each host; the book owns them. Threads one owner; any
 * thread may read a finished book.
 */
#ifndef SEINE_ROBOTS_FETCH_H
#define SEINE_ROBOTS_FETCH_H

#include "seine/diag.h"
#include "seine/explain.h"

typedef struct seine_robots_book seine_robots_book;

/* What became of the robots.txt of one host. */
typedef struct seine_robots_answer {
    seine_robots_state state;
    seine_robots *robots;  /* of PARSED; else NULL */
    const char *source;    /* the URL that answered at last, or the name of the file */
    uint16_t status;       /* 0: none */
    seine_err err;         /* why there is no answer; OK */
    int64_t wall;          /* when the host was asked, Unix time in ns; 0: a file */
    const char *authority; /* "https://e.example"; "": of all hosts */
} seine_robots_answer;

SEINE_BEGIN

/* Asks the hosts of `n` URLs. Of the options, the callbacks, budgets, patterns and the
 * crawl are not used. OK whatever the hosts answer; a ctx that ends early (NULL: none)
 * leaves hosts unreachable. BAD_URL: `diag` names a URL that is not http or https; CONFIG
 * with `diag`; NOMEM. */
SEINE_MUST_CHECK seine_err seine_robots_fetch(const seine_fetch_opts *opts,
                                              seine_ctx *ctx, const char *const *urls,
                                              size_t n, seine_robots_book **out_book,
                                              seine_diag *diag);

/* A book of one text, which holds for all hosts; `source` is its name. NOMEM. */
SEINE_MUST_CHECK seine_err seine_robots_book_new(const char *text, size_t len,
                                                 const char *source,
                                                 seine_robots_book **out_book);
void seine_robots_book_free(seine_robots_book *book); /* NULL is fine */

/* The answer of the host of this URL; NULL: it was not asked. */
const seine_robots_answer *seine_robots_book_of(const seine_robots_book *book,
                                                const char *url);

SEINE_END

#endif
