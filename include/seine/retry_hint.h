/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_hint.h - how long does this answer ask us to stay away, and what may we send?
 *
 * Servers say it in Retry-After and in four dialects of RateLimit. Give every
 * header field of an answer to a hint, in any order; fields that are not about
 * this, and whatever is malformed, change nothing:
 *
 *     seine_retry_hint h;
 *     seine_retry_hint_init(&h, wall);
 *     for (each field)
 *         seine_retry_hint_feed(&h, name, name_len, value, value_len);
 *     seine_span pause = seine_retry_hint_pause(&h);      -1: nothing was asked
 *
 * `Retry-After: 120` asks for 120 s, and so does a date 120 s after the answer's
 * own Date (without one: after `wall`). `RateLimit: "default";r=0;t=30` has no
 * request left for 30 s. Retry-After wins; both are void in an answer from a cache
 * (Age above 0), which says nothing about the server now.
 *
 * Time    wall time is passed in, in Unix nanoseconds as in clock.h.
 * Memory  nothing is allocated; a hint keeps no pointer to what it was fed.
 * Threads one owner.
 */
#ifndef SEINE_RETRY_HINT_H
#define SEINE_RETRY_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/time.h"

/* No span that leaves a hint is longer; more is cut to it (RFC 9111, 1.2.2). */
#define SEINE_RETRY_HINT_MAX SEINE_SECS(INT64_C(1) << 31)

/* A quota of the server; -1 what it did not say. */
typedef struct seine_quota {
    int64_t r;    /* remaining: requests left */
    seine_span t; /* until there are more */
    int64_t q;    /* quota: requests in a window */
    seine_span w; /* the window */
} seine_quota;

typedef struct seine_retry_hint_said { /* private: as sent, in seconds; -1 none */
    uint64_t name;
    int64_t r, t, q, w;
} seine_retry_hint_said;

typedef struct seine_retry_hint { /* private */
    int64_t wall, date;
    int64_t after, after_at;
    int64_t policy_q, policy_w;
    seine_retry_hint_said said[6]; /* RateLimit-*, X-RateLimit-*, four with a name */
    uint8_t count;
    bool cached;
} seine_retry_hint;

SEINE_BEGIN

/* An answer that came at `wall`, nothing said yet. */
void seine_retry_hint_init(seine_retry_hint *h, int64_t wall);

/* Takes note of one header field; the name in any case, the value as it stands on
 * the wire. True: it was about this, and understood. Of several Retry-After the
 * longest counts, of several Date the first. */
bool seine_retry_hint_feed(seine_retry_hint *h, const char *name, size_t name_len,
                           const char *value, size_t value_len);

/* How long to stay away, 0 for a moment that is past, -1 for nothing asked: the
 * Retry-After, else the longest time of a quota of which nothing remains, if that
 * is not above 24 h. */
seine_span seine_retry_hint_pause(const seine_retry_hint *h);

/* The Retry-After alone. */
seine_span seine_retry_hint_after(const seine_retry_hint *h);

/* The quota that binds: the fewest requests per time left. Those that say both r
 * and t, with t not above 24 h, go first. False, and nothing written: none. */
bool seine_retry_hint_quota(const seine_retry_hint *h, seine_quota *out_quota);

/* One of the three dates of HTTP (RFC 9110, 5.6.7), strictly, as Unix seconds:
 * "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or
 * "Sun Nov  6 08:49:37 1994". A year of two digits is the latest that is not more
 * than 50 years after `wall`. PARSE: anything else, a day that does not exist, the
 * wrong day of the week, a year before 1970. */
SEINE_MUST_CHECK seine_err seine_retry_hint_date(const char *text, size_t len,
                                                 int64_t wall, int64_t *out_epoch);

SEINE_END

#endif
