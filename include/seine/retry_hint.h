/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_hint.h - how long does this response ask clients to wait?
 *
 * Servers use Retry-After and four dialects of RateLimit headers. Feed every header field
 * of a response to a hint, in any order; the hint ignores other fields and malformed
 * values:
 *
 *     seine_retry_hint h;
 *     seine_retry_hint_init(&h, wall);
 *     while (next_field(&name, &name_len, &value, &value_len))
 *         seine_retry_hint_feed(&h, name, name_len, value, value_len);
 *     seine_span pause = seine_retry_hint_pause(&h);      below 0: nothing was asked
 *
 * `Retry-After: 120` asks for 120 s, and so does a date 120 s after the response's own
 * Date (without Date: after `wall`). `RateLimit: "default";r=0;t=30` allows no request
 * for 30 s. Retry-After wins over RateLimit. Both are ignored in a response from a cache
 * (Age above 0), which says nothing about the server now.
 *
 * Time    wall time is passed in, in Unix nanoseconds as in clock.h.
 * Memory  nothing is allocated; a hint keeps no pointer to its input.
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

/* Longer times are cut to this one (RFC 9111, 1.2.2). */
#define SEINE_RETRY_HINT_MAX SEINE_SECS(INT64_C(1) << 31)

/* A quota of the server; -1 for a value that the server did not send. */
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

/* Starts a hint for a response that arrived at `wall`. */
void seine_retry_hint_init(seine_retry_hint *h, int64_t wall);

/* Reads one header field: the name in any case, the value as received. True if the field
 * is about waiting and valid. The longest Retry-After and the first Date count. */
bool seine_retry_hint_feed(seine_retry_hint *h, const char *name, size_t name_len,
                           const char *value, size_t value_len);

/* Returns how long to wait, 0 for a time in the past, -1 if nothing was asked: the
 * Retry-After, else the longest time of an empty quota, if that is at most 24 h. */
seine_span seine_retry_hint_pause(const seine_retry_hint *h);

/* Returns the Retry-After alone. */
seine_span seine_retry_hint_after(const seine_retry_hint *h);

/* Writes the strictest quota: the fewest requests left per time. Quotas with both r
 * and t, and t at most 24 h, come first. False if there is none; out_quota is then
 * unchanged. */
bool seine_retry_hint_quota(const seine_retry_hint *h, seine_quota *out_quota);

/* Parses one of the three date forms of HTTP (RFC 9110, 5.6.7), strictly, to Unix
 * seconds: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or "Sun Nov
 * 6 08:49:37 1994". A two-digit year is the latest one not more than 50 years after
 * `wall`. PARSE: any other form, a day that does not exist, a wrong day of the week, or a
 * year before 1970. */
SEINE_MUST_CHECK seine_err seine_retry_hint_date(const char *text, size_t len,
                                                 int64_t wall, int64_t *out_epoch);

SEINE_END

#endif
