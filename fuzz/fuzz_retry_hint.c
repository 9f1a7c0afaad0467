/* SPDX-License-Identifier: Apache-2.0 */
/* Header fields, one "Name: value" a line, fed to a hint; each value is tried as a
 * date too. The first line is our wall time in seconds. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "seine/retry_hint.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_date(const char *value, size_t n, int64_t wall)
{
    char again[64];
    int64_t epoch;
    struct tm tm;

    if (seine_retry_hint_date(value, n, wall, &epoch) != SEINE_OK)
        return;
    REQUIRE(epoch >= 0 && epoch <= INT64_C(253402300800));

    /* Strict: the form of 29 bytes has one spelling, but for a leap second. */
    time_t t = epoch;
    REQUIRE(gmtime_r(&t, &tm));
    if (n == 29 && value[3] == ',' && memcmp(value + 23, "60", 2) != 0)
        REQUIRE(strftime(again, sizeof again, "%a, %d %b %Y %H:%M:%S GMT", &tm) == 29 &&
                memcmp(again, value, 29) == 0);
}

static void
check_hint(const seine_retry_hint *h)
{
    seine_span pause = seine_retry_hint_pause(h), wish = seine_retry_hint_after(h);
    seine_quota quota = {-9, -9, -9, -9};

    REQUIRE(pause >= -1 && pause <= SEINE_RETRY_HINT_MAX);
    REQUIRE(wish >= -1 && wish <= SEINE_RETRY_HINT_MAX);
    REQUIRE(wish < 0 || pause == wish);
    if (!seine_retry_hint_quota(h, &quota)) {
        REQUIRE(quota.r == -9 && pause == wish);
        return;
    }
    REQUIRE(quota.r >= -1 && quota.q >= -1);
    REQUIRE(quota.t >= -1 && quota.t <= SEINE_RETRY_HINT_MAX);
    REQUIRE(quota.w >= -1 && quota.w <= SEINE_RETRY_HINT_MAX);
    REQUIRE(quota.r >= 0 || quota.t >= 0 || quota.q >= 0);
    /* Nothing left somewhere is nothing left where it binds. */
    REQUIRE(wish >= 0 || pause <= 0 || quota.r == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *at = (const char *)bytes, *end = at + n;
    int64_t wall = 0;
    seine_retry_hint h;

    for (; at < end && *at != '\n'; at++)
        wall = (int64_t)((uint64_t)wall * 10 + (uint64_t)(*at - '0'));
    wall = (int64_t)((uint64_t)wall * 1000000000u);
    seine_retry_hint_init(&h, wall);

    while (at < end) {
        at++; /* the line end */
        const char *line_end = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!line_end)
            line_end = end;
        const char *colon =
            at < line_end ? memchr(at, ':', (size_t)(line_end - at)) : NULL;
        if (colon) {
            seine_retry_hint before = h;
            size_t len = (size_t)(line_end - colon - 1);

            if (!seine_retry_hint_feed(&h, at, (size_t)(colon - at), colon + 1, len))
                REQUIRE(memcmp(&before, &h, sizeof h) == 0);
            if (len > 1)
                check_date(colon + 2, len - 1, wall);
        }
        at = line_end;
    }
    check_hint(&h);
    return 0;
}
