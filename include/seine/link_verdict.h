/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_verdict.h - what does the record of a URL say about a link to it?
 *
 *     ok          an accepted status, after temporary redirects if need be
 *     redirected  ok after a 301 or 308: the link should be changed
 *     broken      404, 410 and other refusals of the URL; no such host, a bad
 * certificate, redirects without end; 5xx and lost connections on every attempt denied
 * 401 403 407 429 451 999: the server turns the asker away, and the link may be fine
 *     timeout     a time limit was hit
 *     unknown     nobody asked: breaker, budget, canceled
 *     excluded    a pattern, the scheme, robots.txt or an address forbids to ask
 *
 *     seine_link_verdict v = seine_link_verdict_of(record);
 *     puts(seine_link_verdict_name(v));
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SEINE_LINK_VERDICT_H
#define SEINE_LINK_VERDICT_H

#include "seine/record.h"

/* clang-format off */
#define SEINE_LINK_VERDICTS(X) \
    X(OK,         "ok") \
    X(REDIRECTED, "redirected") \
    X(BROKEN,     "broken") \
    X(DENIED,     "denied") \
    X(TIMEOUT,    "timeout") \
    X(UNKNOWN,    "unknown") \
    X(EXCLUDED,   "excluded")
/* clang-format on */

typedef enum seine_link_verdict {
#define X(id, name) SEINE_LINK_##id,
    SEINE_LINK_VERDICTS(X)
#undef X
} seine_link_verdict;

#define SEINE_LINK_VERDICT_ROOM 16 /* the enum may grow up to it */

SEINE_BEGIN

seine_link_verdict seine_link_verdict_of(const seine_record *r);
const char *seine_link_verdict_name(seine_link_verdict v); /* "broken"; NULL: no such */

SEINE_END

#endif
