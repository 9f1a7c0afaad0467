/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.h - may this page be asked for, and which line of robots.txt says so?
 *
 * RFC 9309, read as leniently as its authors' parser reads it: typing errors in the
 * names of fields, a missing colon, any line ends. The groups that name the agent count,
 * all of them together; where there is none, those for "*". Of the rules that match, the
 * longest pattern wins, and Allow wins between two that are equally long. "*" in a
 * pattern is any bytes, "$" at its end is the end.
 *
 *     seine_robots *r;
 *     seine_robots_verdict v;
 *     e = seine_robots_new(text, len, &r);
 *     seine_robots_check(r, "seine", "https://e.example/cgi/x", 23, &v);
 *     v.allowed is false, v.rule "Disallow: /cgi", v.line 14, v.group "*"
 *     seine_robots_free(r);
 *
 * The first 512 KiB count; a line that is cut there does not.
 *
 * Time    plays no part. A check is linear in the bytes of the rules that may apply,
 *         times the number of stars in them.
 * Memory  the text once more, and about 40 bytes a rule.
 * Threads any thread: it does not change.
 */
#ifndef SEINE_ROBOTS_H
#define SEINE_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_ROBOTS_BYTES ((size_t)512 << 10)

typedef struct seine_robots seine_robots;

/* Views into the robots; line 0 and an absent rule: no rule matched. */
typedef struct seine_robots_verdict {
    bool allowed;
    seine_view rule;  /* the line that decides, without comment and blanks at its ends */
    uint32_t line;    /* its number, from 1 */
    seine_view group; /* the agent that the file named, "*"; absent: no group applies */
} seine_robots_verdict;

typedef enum seine_robots_kind {
    SEINE_ROBOTS_AGENT, /* a User-agent line of a group that applies */
    SEINE_ROBOTS_ALLOW,
    SEINE_ROBOTS_DISALLOW,
    SEINE_ROBOTS_DELAY,
    SEINE_ROBOTS_SITEMAP /* of nobody's group */
} seine_robots_kind;

/* A line that counts; views into the robots. */
typedef struct seine_robots_line {
    seine_robots_kind kind;
    seine_view text; /* without comment and blanks at its ends; of a sitemap its value */
    uint32_t line;   /* from 1 */
    int64_t delay;   /* ns; -1: none, or no number */
} seine_robots_line;

typedef void (*seine_robots_fn)(const seine_robots_line *line, void *arg);

SEINE_BEGIN

/* Any bytes are a robots.txt. NOMEM. */
SEINE_MUST_CHECK seine_err seine_robots_new(const char *text, size_t len,
                                            seine_robots **out_robots);
void seine_robots_free(seine_robots *r); /* NULL is fine */

/* `agent` is a product token, "seine"; what follows a slash in it is ignored, as is case.
 * `url` is a URL or its target, "/cgi/x?q". */
void seine_robots_check(const seine_robots *r, const char *agent, const char *url,
                        size_t len, seine_robots_verdict *out_verdict);

/* Crawl-delay of the groups that apply, the longest, in ns; -1: none. No part of the RFC.
 */
int64_t seine_robots_delay(const seine_robots *r, const char *agent);

/* Every line that counts for the agent, in the order of the file. */
void seine_robots_each(const seine_robots *r, const char *agent, seine_robots_fn fn,
                       void *arg);

/* The i-th Sitemap line's value; of nobody's group. False: there are not so many. */
bool seine_robots_sitemap(const seine_robots *r, size_t i, seine_view *out_url);

SEINE_END

#endif
