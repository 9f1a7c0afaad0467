/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timestamp.h - which moment does a date in a log, a record or a sitemap mean?
 *
 * Three forms are read, each with the offset from UTC that it is written with:
 *
 *     2026-11-15T19:20:01.5+01:00          RFC 3339
 *     10/Oct/2000:13:55:36 -0700           an access log
 *     2026-11, Mon, 03 Nov 2026 18:00 GMT  a sitemap or a feed
 *
 * A date of a sitemap may mean a whole year; it is read as the first moment that it may
 * mean and the first moment behind it:
 *
 *     seine_timestamp t;
 *     const char *end = seine_timestamp_rfc3339("2026-11-15T19:20:01.5Z", &t);
 *     int64_t from, until;
 *     bool is_date = seine_timestamp_sitemap("2026-11", 7, &from, &until);  true
 *
 * Years are 1970 to 2261, which Unix time in int64 nanoseconds can hold.
 *
 * Time    all is Unix time in nanoseconds; no clock is read.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SEINE_TIMESTAMP_H
#define SEINE_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"

typedef struct seine_timestamp {
    int64_t wall; /* Unix time in nanoseconds */
    int zone;     /* minutes east of UTC, as written */
    bool is_fine; /* the text has fractions of a second */
} seine_timestamp;

SEINE_BEGIN

/* Reads a date at the beginning of a terminated text. The T may be a blank, and a missing
 * zone is UTC. Returns the first byte behind the date; NULL, and nothing written: the
 * text begins with no date. */
const char *seine_timestamp_rfc3339(const char *text, seine_timestamp *out);

/* The same for 10/Oct/2000:13:55:36 -0700. */
const char *seine_timestamp_access_log(const char *text, seine_timestamp *out);

/* Reads all of `text` as a date of a sitemap or a feed: the W3C's profile of ISO 8601
 * from the year to fractions of a second, or RFC 822 with a year of four digits. A
 * missing zone is UTC. False, and nothing written: `text` is no date. */
bool seine_timestamp_sitemap(const char *text, size_t len, int64_t *out_from,
                             int64_t *out_until);

SEINE_END

#endif
