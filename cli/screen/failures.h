/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.h - the URLs that failed, for the end of a run: grouped by kind, the first ten
 * with the page that links to them and a hint.
 *
 *     failed: 404, 12 URLs
 *       https://e.example/gone
 *         linked from https://e.example/index.html, line 40
 *       and 11 more
 *       try: check the URL, or the page that links to it
 *
 * With -q each is one line. Memory is bounded: a group keeps ten URLs, and further kinds
 * than 32 are one group.
 *
 *     failure_list f = {0};
 *     failures_add(&f, record);
 *     textbuf out = {0};
 *     failures_put(&f, &s, false, &out);
 *     failures_free(&f);
 *
 * Threads one owner: the sink thread until the run has ended, then the closing report.
 */
#ifndef CLI_FAILURES_H
#define CLI_FAILURES_H

#include <seine/record.h>

#include "screen/textbuf.h"

enum { FAILURES_SHOWN = 10, FAILURES_KINDS = 32 };

typedef struct failure {
    char *url, *parent; /* parent NULL: it was given */
    uint32_t line;      /* on the parent; 0: not known */
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
 * because the run was stopped. A record of an earlier run has no URL and is counted. */
void failures_add(failure_list *f, const seine_record *r);

/* Adds the list. With `few` the rows have shown the URLs, and the hints alone follow. */
void failures_put(const failure_list *f, const screen *s, bool few, textbuf *out);

/* Calls `say` for every URL of the list, one line each, and for what the list lacks. */
typedef void failures_say(seine_err e, const char *hint, const char *line, void *arg);
void failures_each(const failure_list *f, failures_say *say, void *arg);

void failures_free(failure_list *f);

#endif
