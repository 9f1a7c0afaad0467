/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.h - the URLs that failed, for the end of a run: grouped by kind, the first ten
 * with the page that links to them and a hint.
 *
 *     failed: 404, 12 URLs
 *       https://e.example/gone
 *         linked from https://e.example/index.html, line 40
 *         linked from https://e.example/a.html, line 3
 *         and 12 more pages
 *       and 11 more
 *       try: check the URL, or the page that links to it
 *
 * One page is named, with --referrers up to ten. With -q each URL is one
 * line. Memory is bounded: a group keeps ten URLs, and further kinds than 32 are one
 * group.
 *
 *     failure_list f = {0};
 *     failures_add(&f, record, NULL);
 *     textbuf out = {0};
 *     failures_put(&f, &s, false, &out);
 *     failures_free(&f);
 *
 * Threads one owner: the sink thread until the run has ended, then the closing report.
 */
#ifndef CLI_FAILURES_H
#define CLI_FAILURES_H

#include <seine/record_links.h>

#include "screen/textbuf.h"

enum { FAILURES_SHOWN = 10, FAILURES_KINDS = 32, FAILURES_PAGES = 10 };

/* Pages that link to a URL: some of them, and how many there are. */
typedef struct failure_pages {
    const seine_referrer *pages;
    size_t n, count;
} failure_pages;

typedef struct failure_page {
    char *url;
    uint32_t line; /* 0: not known */
} failure_page;

typedef struct failure {
    char *url;
    failure_page
        *from; /* its parent first; NULL: it was given, and no page links there */
    size_t n_from;
    size_t more; /* pages that are not named */
} failure;

typedef struct failure_group {
    char name[32]; /* "404", "connect_refused" */
    seine_err err;
    uint64_t n;
    char *hint; /* of the first that had one; NULL: none */
    failure first[FAILURES_SHOWN];
    size_t kept;
} failure_group;

typedef struct failure_list {
    failure_group *groups;
    size_t n_groups;
} failure_list;

/* Takes a result that is not ok; passes over others, and those that were never asked
 * because the run was stopped. A record of an earlier run has no URL and is counted.
 * `pages`: further pages than its parent; NULL: nobody asked for them. */
void failures_add(failure_list *f, const seine_record *r, const failure_pages *pages);

/* Adds the list. With `few` the rows have shown the URLs, and the hints alone follow. */
void failures_put(const failure_list *f, const screen *s, bool few, textbuf *out);

/* Calls `say` for every URL of the list, one line each, and for what the list lacks. */
typedef void failures_say(seine_err e, const char *hint, const char *line, void *arg);
void failures_each(const failure_list *f, failures_say *say, void *arg);

void failures_free(failure_list *f);

#endif
