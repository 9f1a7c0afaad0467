/* SPDX-License-Identifier: Apache-2.0 */
/* A text, read as each kind of date. What is read lies within its years, ends inside of
 * the text, and a date that was read is read again from what RFC 3339 writes for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "seine/time.h"
#include "seine/timestamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* The years 1970 to 2261, and a day for the zones. */
#define LEAST (-SEINE_SECS(86400))
#define MOST  SEINE_SECS(INT64_C(9214646400) + 86400)

static void
read_again(const seine_timestamp *t)
{
    char text[64];
    seine_timestamp again;
    time_t seconds = t->wall / SEINE_SECS(1);
    struct tm tm;

    if (t->wall < 0 || seconds >= INT64_C(9214646400))
        return;
    REQUIRE(gmtime_r(&seconds, &tm));
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + len, sizeof text - len, ".%09ldZ", (long)(t->wall % SEINE_SECS(1)));
    REQUIRE(seine_timestamp_rfc3339(text, &again) == text + strlen(text));
    REQUIRE(again.wall == t->wall && again.zone == 0 && again.is_fine);
}

static void
check_one(const char *text, size_t n, const char *end, const seine_timestamp *t)
{
    if (!end)
        return;
    REQUIRE(end > text && end <= text + n);
    REQUIRE(t->wall >= LEAST && t->wall <= MOST);
    REQUIRE(t->zone > -24 * 60 && t->zone < 24 * 60);
    read_again(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    seine_timestamp t;
    int64_t from = 7, until = 7;

    if (!text)
        return 0;
    if (n > 0)
        memcpy(text, bytes, n);
    text[n] = '\0';
    check_one(text, n, seine_timestamp_rfc3339(text, &t), &t);
    check_one(text, n, seine_timestamp_access_log(text, &t), &t);
    if (seine_timestamp_sitemap(text, n, &from, &until))
        REQUIRE(from >= LEAST && until <= MOST && from < until);
    else
        REQUIRE(from == 7 && until == 7);
    free(text);
    return 0;
}
