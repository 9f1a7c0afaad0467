/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.h - may this URL be fetched, and which line of robots.txt says so?
 *
 * The parser follows RFC 9309 and is as lenient as Google's parser: it accepts misspelled
 * field names, a missing colon, and any line ends. All groups that name the agent apply
 * together; if there is none, those for "*" apply. The longest matching pattern wins;
 * between equal lengths Allow wins. "*" in a pattern matches any bytes, "$" at its end
 * matches the end of the URL. Patterns and URLs are compared in one spelling: "/~a",
 * "/%7ea" and "/%7Ea" are the same. /robots.txt itself is always allowed.
 *
 *     seine_robots *r;
 *     seine_robots_verdict v;
 *     e = seine_robots_new(text, len, &r);
 *     e = seine_robots_check(r, "seine", "https://e.example/cgi/x", 23, &v);
 *     if (e == SEINE_OK && !v.allowed)
 *         explain(v.rule, v.line, v.group);        "Disallow: /cgi", 14, "*"
 *     seine_robots_free(r);
 *
 * The first 512 KiB count, up to the last complete line.
 *
 * Time    plays no part. A check has a million steps: a step is a rule, or a byte that
 *         the search for a piece behind a star passes. What needs more is not allowed.
 * Memory  the lines that count and 44 bytes for each; patterns that needed escaping.
 * Threads any thread: a parsed robots.txt does not change.
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

/* Views point into the robots; if no rule matched, line is 0 and the rule absent. */
typedef struct seine_robots_verdict {
    bool allowed;
    bool is_over;     /* the steps did not suffice: not allowed, and no rule says so */
    seine_view rule;  /* the line that decided, without comment and outer blanks */
    uint32_t line;    /* its number, from 1 */
    seine_view group; /* agent as in the file, or "*"; absent: no group applies */
} seine_robots_verdict;

typedef enum seine_robots_kind {
    SEINE_ROBOTS_AGENT, /* a User-agent line of a group that applies */
    SEINE_ROBOTS_ALLOW,
    SEINE_ROBOTS_DISALLOW,
    SEINE_ROBOTS_DELAY,
    SEINE_ROBOTS_SITEMAP /* belongs to no group */
} seine_robots_kind;

/* A line that applies; views point into the robots. */
typedef struct seine_robots_line {
    seine_robots_kind kind;
    seine_view text; /* without comment and outer blanks; of a Sitemap line the value */
    uint32_t line;   /* from 1 */
    int64_t delay;   /* ns; -1: none, or not a number */
} seine_robots_line;

typedef void (*seine_robots_fn)(const seine_robots_line *line, void *arg);

SEINE_BEGIN

/* Parses a robots.txt; any bytes are valid. NOMEM. */
SEINE_MUST_CHECK seine_err seine_robots_new(const char *text, size_t len,
                                            seine_robots **out_robots);

/* The same for one agent: the groups of others are not kept, and `agent` is not looked
 * at in the calls below. NOMEM. */
SEINE_MUST_CHECK seine_err seine_robots_new_for(const char *text, size_t len,
                                                const char *agent,
                                                seine_robots **out_robots);
void seine_robots_free(seine_robots *r); /* NULL is fine */

/* `agent` is a product token, "seine", without case, or a User-Agent header: the token
 * of "Mozilla/5.0 (compatible; seine/1)" is seine, too. `url` is an http or https URL, or
 * the target of one, "/cgi/x?q". BAD_URL: it is neither; nothing is written. */
SEINE_MUST_CHECK seine_err seine_robots_check(const seine_robots *r, const char *agent,
                                              const char *url, size_t len,
                                              seine_robots_verdict *out_verdict);

/* Returns the longest Crawl-delay of the groups that apply, in ns, or -1. Crawl-delay is
 * not part of the RFC: one belongs to the agents that stand above it, up to the line
 * before them that is no agent, and does not end their group. */
int64_t seine_robots_delay(const seine_robots *r, const char *agent);

/* Calls `fn` for every line that applies to the agent, in file order. */
void seine_robots_each(const seine_robots *r, const char *agent, seine_robots_fn fn,
                       void *arg);

/* Writes the value of the i-th Sitemap line, which belongs to no group. False if there
 * are fewer. */
bool seine_robots_sitemap(const seine_robots *r, size_t i, seine_view *out_url);

SEINE_END

#endif
