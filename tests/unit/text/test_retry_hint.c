/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/retry_hint.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "base/time.h"
#include "check.h"

#define NOW   INT64_C(784111777) /* 1994-11-06 08:49:37 */
#define TODAY SEINE_SECS(NOW)
#define NONE  INT64_MIN

static int64_t
date_at(const char *text, int64_t wall)
{
    int64_t got = NONE;

    if (seine_retry_hint_date(text, strlen(text), wall, &got) != SEINE_OK)
        CHECK_EQ(got, NONE);
    return got;
}

static bool
feed(seine_retry_hint *h, const char *name, const char *value)
{
    return seine_retry_hint_feed(h, name, strlen(name), value, strlen(value));
}

static seine_retry_hint
fresh(void)
{
    seine_retry_hint h;

    seine_retry_hint_init(&h, TODAY);
    return h;
}

/* Returns the pause of a response with one or two fields. */
static seine_span
pause_of(const char *name, const char *value, const char *name2, const char *value2)
{
    seine_retry_hint h = fresh(), turned = fresh();

    feed(&h, name, value);
    if (name2) {
        feed(&h, name2, value2);
        feed(&turned, name2, value2);
    }
    feed(&turned, name, value);
    CHECK_EQ(seine_retry_hint_pause(&h),
             seine_retry_hint_pause(&turned)); /* in any order */
    return seine_retry_hint_pause(&h);
}

/* Dates. */

TEST(retry_hint_date_reads_the_three_forms_of_http)
{
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", NOW},
        {"Sunday, 06-Nov-94 08:49:37 GMT", NOW},
        {"Sun Nov  6 08:49:37 1994", NOW},
        {"Sun Nov 06 08:49:37 1994", NOW}, /* two digits are in the grammar */
        {"Sun Nov 13 08:49:37 1994", NOW + 7 * 86400},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Tue, 29 Feb 2000 23:59:59 GMT", 951868799},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800}, /* a leap second */
        {"Monday, 07-Nov-94 08:49:37 GMT", NOW + 86400},
        {"Tuesday, 08-Nov-94 08:49:37 GMT", NOW + 2 * 86400},
        {"Wednesday, 09-Nov-94 08:49:37 GMT", NOW + 3 * 86400},
        {"Thursday, 10-Nov-94 08:49:37 GMT", NOW + 4 * 86400},
        {"Friday, 11-Nov-94 08:49:37 GMT", NOW + 5 * 86400},
        {"Saturday, 12-Nov-94 08:49:37 GMT", NOW + 6 * 86400},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(date_at(rows[i].text, TODAY), rows[i].want);
}

TEST(retry_hint_date_refuses_everything_else)
{
    static const char *const rows[] = {
        "",
        "Sun",
        "Sun,",
        "Sunday",
        "now",
        "784111777",
        "sun, 06 Nov 1994 08:49:37 GMT", /* case counts */
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sun, 06 Nov 1994 08:49:37 UTC", /* GMT is a word, not a zone */
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT ", /* nothing after it */
        " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",   /* two digits */
        "Sun, 06  Nov 1994 08:49:37 GMT", /* one blank */
        "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", /* a mixture */
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08*49:37 GMT",
        "Sun, 06 Nov +994 08:49:37 GMT",
        "Mon, 06 Nov 1994 08:49:37 GMT", /* it was a Sunday */
        "Monday, 06-Nov-94 08:49:37 GMT",
        "Mon Nov  6 08:49:37 1994",
        "Sunnday, 06-Nov-94 08:49:37 GMT",
        "Tueday, 08-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06 Nov 94 08:49:37 GMT",
        "Sunday 06-Nov-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov   6 08:49:37 1994",
        "Sun Nov  6 08:49:37 94",
        "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov  6 08:49:37 19941",
        "Sun, 00 Nov 1994 08:49:37 GMT", /* days and hours that are not */
        "Thu, 31 Nov 1994 08:49:37 GMT",
        "Wed, 30 Feb 1994 08:49:37 GMT",
        "Tue, 29 Feb 1994 08:49:37 GMT",
        "Mon, 29 Feb 2100 08:49:37 GMT", /* no leap year */
        "Sun, 32 Jan 1995 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT", /* leap seconds end a day */
        "Sun, 06 Nov 1994 23:59:61 GMT",
        "Wed, 31 Dec 1969 23:59:59 GMT", /* before all time */
        "Sun Nov 10 08:00:00 1000",
        "Mon, 10 Nov 0000 08:00:00 GMT",
    };

    EACH_ROW(i, rows)
        CHECK_EQ(date_at(rows[i], TODAY), NONE);
    CHECK_EQ(seine_retry_hint_date(NULL, 0, TODAY, NULL), SEINE_E_PARSE);
    int64_t got;
    CHECK_EQ(seine_retry_hint_date("Sun\0 06 Nov 1994 08:49:37 GMT", 29, TODAY, &got),
             SEINE_E_PARSE);
    CHECK_EQ(seine_retry_hint_date("Sun, 06 Nov 1994 08:49:37 GMT", 28, TODAY, &got),
             SEINE_E_PARSE);
}

static int64_t
wall_of(const char *imf)
{
    return SEINE_SECS(date_at(imf, 0));
}

TEST(retry_hint_date_of_two_digits_is_at_most_50_years_ahead)
{
    static const struct {
        const char *wall, *text, *means;
    } rows[] = {
        {"Sun, 15 Nov 2026 21:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
         "Sun, 06 Nov 1994 08:49:37 GMT"}, /* 2094 would be 68 years ahead */
        {"Sun, 15 Nov 2026 21:00:00 GMT", "Sunday, 15-Nov-76 21:00:00 GMT",
         "Sun, 15 Nov 2076 21:00:00 GMT"}, /* exactly 50 */
        {"Sun, 15 Nov 2026 21:00:00 GMT", "Monday, 15-Nov-76 21:00:01 GMT",
         "Mon, 15 Nov 1976 21:00:01 GMT"}, /* a second more */
        {"Sun, 15 Nov 2026 21:00:00 GMT", "Saturday, 15-Nov-25 21:00:00 GMT",
         "Sat, 15 Nov 2025 21:00:00 GMT"}, /* just past */
        {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-44 08:49:37 GMT",
         "Sun, 06 Nov 2044 08:49:37 GMT"},
        {"Sun, 06 Nov 1994 08:49:37 GMT", "Saturday, 01-Jan-00 00:00:00 GMT",
         "Sat, 01 Jan 2000 00:00:00 GMT"}, /* the next century */
        {"Thu, 01 Jan 1970 00:00:00 GMT", "Friday, 31-Dec-99 23:59:59 GMT",
         "Fri, 31 Dec 1999 23:59:59 GMT"},
        {"Fri, 01 Jan 2190 00:00:00 GMT", "Saturday, 01-Jan-00 00:00:00 GMT",
         NULL}, /* 2200, a Wednesday */
        {"Fri, 01 Jan 2190 00:00:00 GMT", "Wednesday, 01-Jan-00 00:00:00 GMT",
         "Wed, 01 Jan 2200 00:00:00 GMT"},
        {"Sun, 15 Nov 2026 21:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT",
         "Tue, 29 Feb 2000 00:00:00 GMT"},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(date_at(rows[i].text, wall_of(rows[i].wall)),
                 rows[i].means ? date_at(rows[i].means, 0) : NONE);
    /* Any wall will do. */
    CHECK_EQ(date_at("Sunday, 06-Nov-94 08:49:37 GMT", INT64_MIN), NOW);
    CHECK_EQ(date_at("Friday, 06-Nov-94 08:49:37 GMT", INT64_MAX),
             date_at("Fri, 06 Nov 2294 08:49:37 GMT", 0));
}

enum { IMF, RFC850, ASCTIME };

static size_t
print_date(int64_t epoch, int form, char *buf, size_t cap)
{
    time_t t = epoch;
    struct tm tm;

    gmtime_r(&t, &tm);
    if (form == IMF)
        return strftime(buf, cap, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (form == ASCTIME)
        return strftime(buf, cap, "%a %b %e %H:%M:%S %Y", &tm);
    size_t n = strftime(buf, cap, "%A, %d-%b-", &tm);
    n += (size_t)snprintf(buf + n, cap - n, "%02d ", tm.tm_year % 100);
    return n + strftime(buf + n, cap - n, "%H:%M:%S GMT", &tm);
}

TEST(retry_hint_date_reads_what_the_c_library_prints)
{
    sn_rng r = sn_rng_seed(check_seed());
    char text[64];

    for (int i = 0; i < 30000; i++) {
        int64_t want = (int64_t)sn_rng_below(&r, INT64_C(253402300800)), got;
        int64_t wall = SEINE_SECS((int64_t)sn_rng_below(&r, 9000000000));
        int form = (int)sn_rng_below(&r, 3);

        if (form == RFC850) { /* two digits reach 49 years either way */
            want = sn_time_max(0, wall / SEINE_SECS(1) +
                                      (int64_t)sn_rng_below(&r, 98 * 31536000u) -
                                      49 * INT64_C(31536000));
        }
        size_t n = print_date(want, form, text, sizeof text);
        CHECK_EQ(seine_retry_hint_date(text, n, wall, &got), SEINE_OK);
        CHECK_EQ(got, want);
    }
}

/* True if the text is exactly how that time is written. Two times have a second spelling:
 * "Nov 06" in the form of asctime, and a leap second. */
static bool
is_spelling(char *text, size_t n, int64_t epoch)
{
    char again[64];
    char *leap = memmem(text, n, "23:59:60", 8);

    if (leap) {
        memcpy(leap, "23:59:59", 8);
        epoch--;
    }
    if (n == 24 && text[8] == '0')
        text[8] = ' ';
    for (int form = IMF; form <= ASCTIME; form++)
        if (print_date(epoch, form, again, sizeof again) == n &&
            memcmp(text, again, n) == 0)
            return true;
    return false;
}

TEST(retry_hint_date_accepts_no_other_spelling)
{
    static const char alphabet[] = "0123456789 :-,GMTSunodayaFrinecJbc\0\xff";
    sn_rng r = sn_rng_seed(check_seed());
    int accepted = 0;

    for (int i = 0; i < 60000; i++) {
        int64_t epoch = (int64_t)sn_rng_below(&r, 4000000000), got;
        char text[64];
        size_t n = print_date(epoch, (int)sn_rng_below(&r, 3), text, sizeof text);

        for (uint64_t k = 1 + sn_rng_below(&r, 2); k > 0; k--)
            text[sn_rng_below(&r, n)] = alphabet[sn_rng_below(&r, sizeof alphabet - 1)];
        if (seine_retry_hint_date(text, n, SEINE_SECS(2000000000), &got) != SEINE_OK)
            continue;
        accepted++;
        CHECK(is_spelling(text, n, got));
    }
    CHECK(accepted > 100);
}

/* Retry-After. */

TEST(retry_hint_retry_after_is_digits_or_a_date)
{
    static const struct {
        const char *value;
        seine_span want;
    } rows[] = {
        {"120", SEINE_SECS(120)},
        {"0", 0},
        {"007", SEINE_SECS(7)},
        {" \t120 \t", SEINE_SECS(120)}, /* blanks around a value are not part of it */
        {"Sun, 06 Nov 1994 08:51:37 GMT", SEINE_SECS(120)},
        {"Sunday, 06-Nov-94 08:51:37 GMT", SEINE_SECS(120)},
        {"Sun Nov  6 08:51:37 1994", SEINE_SECS(120)},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 0}, /* now */
        {"Sun, 06 Nov 1994 08:49:36 GMT", 0}, /* past */
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"2147483647", SEINE_RETRY_HINT_MAX - SEINE_SECS(1)},
        {"2147483648", SEINE_RETRY_HINT_MAX},
        {"2147483649", SEINE_RETRY_HINT_MAX}, /* saturates */
        {"9223372036854775807", SEINE_RETRY_HINT_MAX},
        {"18446744073709551616", SEINE_RETRY_HINT_MAX},
        {"99999999999999999999", SEINE_RETRY_HINT_MAX},
        {"Fri, 31 Dec 9999 23:59:59 GMT", SEINE_RETRY_HINT_MAX},
        {"", -1},
        {"   ", -1},
        {"-5", -1},
        {"+5", -1},
        {"1.5", -1},
        {"1e3", -1},
        {"0x10", -1},
        {"1 2", -1},
        {"120s", -1},
        {"120, 60", -1},
        {"120;", -1},
        {"soon", -1},
        {"\xd9\xa1\xd9\xa2", -1}, /* digits, but not ours */
        {"Mon, 06 Nov 1994 08:51:37 GMT", -1},
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh();

        CHECK_EQ(feed(&h, "Retry-After", rows[i].value), rows[i].want >= 0);
        CHECK_EQ(seine_retry_hint_pause(&h), rows[i].want);
        CHECK_EQ(seine_retry_hint_after(&h), rows[i].want);
    }
}

TEST(retry_hint_retry_after_counts_from_the_date_of_the_answer)
{
    static const struct {
        const char *date;
        seine_span want; /* of 08:51:37, while our own clock says 08:49:37 */
    } rows[] = {
        {"Sun, 06 Nov 1994 08:51:07 GMT", SEINE_SECS(30)}, /* its clock is ahead */
        {"Sun Nov  6 08:51:07 1994", SEINE_SECS(30)},
        {"Sun, 06 Nov 1994 07:51:37 GMT", SEINE_SECS(3600)}, /* behind */
        {"Sun, 06 Nov 1994 08:51:37 GMT", 0},
        {"Sun, 06 Nov 1994 09:51:37 GMT", 0},
        {"Thu, 01 Jan 1970 00:00:00 GMT", SEINE_SECS(784111897)},
        {"yesterday", SEINE_SECS(120)}, /* no date: our own clock */
        {"", SEINE_SECS(120)},
    };

    EACH_ROW(i, rows) {
        CHECK_EQ(pause_of("Retry-After", "Sun, 06 Nov 1994 08:51:37 GMT", "Date",
                          rows[i].date),
                 rows[i].want);
        /* A number of seconds does not depend on Date. */
        CHECK_EQ(pause_of("Retry-After", "77", "Date", rows[i].date), SEINE_SECS(77));
    }
    seine_retry_hint h = fresh(); /* of several, the first */
    CHECK(feed(&h, "Date", "Sun, 06 Nov 1994 08:51:07 GMT"));
    CHECK(feed(&h, "Date", "Sun, 06 Nov 1994 00:00:00 GMT"));
    CHECK(feed(&h, "Retry-After", "Sun, 06 Nov 1994 08:51:37 GMT"));
    CHECK_EQ(seine_retry_hint_pause(&h), SEINE_SECS(30));
}

TEST(retry_hint_retry_after_is_exact_to_the_nanosecond_of_our_clock)
{
    static const struct {
        int64_t wall;
        seine_span want; /* until Unix second 100 */
    } rows[] = {
        {SEINE_SECS(99), SEINE_SECS(1)},
        {SEINE_SECS(99) + 1, SEINE_SECS(1) - 1},
        {SEINE_SECS(100) - 1, 1},
        {SEINE_SECS(100), 0},
        {SEINE_SECS(100) + 1, 0},
        {0, SEINE_SECS(100)},
        {-1, SEINE_SECS(100) + 1}, /* a clock before its time */
        {INT64_MIN,
         SEINE_RETRY_HINT_MAX - (SEINE_SECS(1) - (INT64_MAX % SEINE_SECS(1) + 1))},
        {INT64_MAX, 0},
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h;

        seine_retry_hint_init(&h, rows[i].wall);
        CHECK(feed(&h, "Retry-After", "Thu, 01 Jan 1970 00:01:40 GMT"));
        CHECK_EQ(seine_retry_hint_pause(&h), rows[i].want);
    }
}

TEST(retry_hint_retry_after_said_twice_is_the_longest)
{
    CHECK_EQ(pause_of("Retry-After", "120", "Retry-After", "30"), SEINE_SECS(120));
    CHECK_EQ(pause_of("Retry-After", "120", "Retry-After", "later"), SEINE_SECS(120));
    CHECK_EQ(
        pause_of("Retry-After", "120", "Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT"),
        SEINE_SECS(120));
    CHECK_EQ(
        pause_of("Retry-After", "20", "Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT"),
        SEINE_SECS(60));
    CHECK_EQ(pause_of("Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT", "Retry-After",
                      "Sun, 06 Nov 1994 08:50:37 GMT"),
             SEINE_SECS(60));
}

TEST(retry_hint_of_a_cached_answer_says_nothing)
{
    static const struct {
        const char *age;
        bool cached;
    } rows[] = {
        {"1", true},      {"86400", true}, {"99999999999999999999999", true},
        {"1, 0", true},   {"0", false},    {"000", false},
        {"-1", false}, /* no age at all */
        {"young", false}, {"1.5", false},
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh();
        seine_quota quota;

        CHECK_EQ(pause_of("Retry-After", "5", "Age", rows[i].age),
                 rows[i].cached ? -1 : SEINE_SECS(5));
        CHECK_EQ(pause_of("RateLimit", "\"a\";r=0;t=5", "Age", rows[i].age),
                 rows[i].cached ? -1 : SEINE_SECS(5));
        CHECK(feed(&h, "RateLimit", "\"a\";r=0;t=5"));
        feed(&h, "Age", rows[i].age);
        CHECK_EQ(seine_retry_hint_quota(&h, &quota), !rows[i].cached);
    }
    seine_retry_hint h = fresh(); /* one cache is enough */
    CHECK(feed(&h, "Retry-After", "5") && feed(&h, "Age", "5") && feed(&h, "Age", "0"));
    CHECK_EQ(seine_retry_hint_pause(&h), -1);
}

/* RateLimit. */

/* Returns the quota of a response with up to four fields; r = -2: none. */
static seine_quota
quota_of(const char *const (*fields)[2])
{
    seine_quota quota = {-2, -2, -2, -2};
    seine_retry_hint h = fresh();

    for (int i = 0; i < 4 && fields[i][0]; i++)
        CHECK(feed(&h, fields[i][0], fields[i][1]));
    if (!seine_retry_hint_quota(&h, &quota))
        CHECK_EQ(quota.r, -2);
    return quota;
}

#define S(n) SEINE_SECS(n)

TEST(retry_hint_quota_reads_four_dialects)
{
    static const struct {
        const char *fields[4][2];
        seine_quota want;
    } rows[] = {
        {{{"RateLimit", "\"default\";r=50;t=30"},
          {"RateLimit-Policy", "\"default\";q=100;w=60"}},
         {50, S(30), 100, S(60)}},
        {{{"RateLimit-Policy", "\"5-in-1min\"; q=5; w=60; pk=:N2Y4Zj==:"},
          {"RateLimit", "\"5-in-1min\"; r=4; t=60; pk=:N2Y4Zj==:"}},
         {4, S(60), 5, S(60)}},
        {{{"RateLimit", "default;r=50;t=30"}, {"RateLimit-Policy", "default;q=9;w=8"}},
         {50, S(30), 9, S(8)}}, /* a token is as good a name as a string */
        {{{"RateLimit", "\"a\";r=3"}}, {3, -1, -1, -1}},
        {{{"RateLimit-Policy", "\"a\";q=3"}}, {-1, -1, 3, -1}},
        {{{"RateLimit", "limit=100, remaining=7, reset=30"},
          {"RateLimit-Policy", "100;w=60"}},
         {7, S(30), 100, S(60)}},
        {{{"RateLimit", "limit=100,remaining=7,reset=30"},
          {"RateLimit-Policy", "10;w=1;burst=1000, 100;w=60"}},
         {7, S(30), 100, -1}}, /* the window of another policy is not ours */
        {{{"RateLimit-Policy", "10;w=1"}}, {-1, -1, 10, S(1)}},
        {{{"RateLimit-Limit", "100"},
          {"RateLimit-Remaining", "7"},
          {"RateLimit-Reset", "30"}},
         {7, S(30), 100, -1}},
        {{{"RateLimit-Limit", "100, 100;w=60"},
          {"RateLimit-Remaining", "7"},
          {"RateLimit-Policy", "100;w=60"},
          {"RateLimit-Reset", "30"}},
         {7, S(30), 100, S(60)}},
        {{{"X-RateLimit-Limit", "5000"},
          {"X-RateLimit-Remaining", "4999"},
          {"X-RateLimit-Reset", "30"}},
         {4999, S(30), 5000, -1}},
        {{{"x-rate-limit-limit", "15"},
          {"x-rate-limit-remaining", "0"},
          {"x-rate-limit-reset", "100"}},
         {0, S(100), 15, -1}},
        {{{"RATELIMIT-REMAINING", "1"}}, {1, -1, -1, -1}},
        {{{"ratelimit-reset", "1"}}, {-1, S(1), -1, -1}},
        {{{"Server", "x"}}, {-2, -2, -2, -2}},
    };

    EACH_ROW(i, rows) {
        if (i == sizeof rows / sizeof *rows - 1) { /* nothing about quotas */
            seine_retry_hint h = fresh();
            seine_quota quota;

            CHECK(!feed(&h, "Server", "x"));
            CHECK(!seine_retry_hint_quota(&h, &quota));
            continue;
        }
        seine_quota got = quota_of(rows[i].fields);
        CHECK_EQ(got.r, rows[i].want.r);
        CHECK_EQ(got.t, rows[i].want.t);
        CHECK_EQ(got.q, rows[i].want.q);
        CHECK_EQ(got.w, rows[i].want.w);
    }
}

TEST(retry_hint_quota_that_binds_has_the_fewest_requests_per_time)
{
    static const struct {
        const char *fields[4][2];
        seine_quota want;
    } rows[] = {
        {{{"RateLimit", "\"burst\";r=10;t=1, \"daily\";r=1000;t=3600"},
          {"RateLimit-Policy", "\"burst\";q=20;w=1, \"daily\";q=5000;w=86400"}},
         {1000, S(3600), 5000, S(86400)}},
        {{{"RateLimit", "\"a\";r=0;t=10,\"b\";r=0;t=20,\"c\";r=1;t=3600"}},
         {0, S(20), -1, -1}}, /* of two with nothing left the longer */
        {{{"RateLimit", "\"a\";r=5;t=0, \"b\";r=100;t=1"}}, {100, S(1), -1, -1}},
        {{{"RateLimit", "\"a\";r=0, \"b\";r=100;t=1"}}, {100, S(1), -1, -1}},
        {{{"RateLimit", "\"month\";r=1;t=86401, \"b\";r=100;t=1"}},
         {100, S(1), -1, -1}}, /* a month away is no pace for today */
        {{{"RateLimit", "\"day\";r=1;t=86400, \"b\";r=100;t=1"}}, {1, S(86400), -1, -1}},
        {{{"RateLimit", "\"a\";r=9;t=3"}, {"RateLimit", "\"a\";r=2;t=3"}},
         {2, S(3), -1, -1}}, /* the same name twice */
        {{{"RateLimit", "\"a\";r=2;t=3"}, {"RateLimit", "\"a\";r=9;t=3"}},
         {2, S(3), -1, -1}},
        {{{"RateLimit", "\"a\";r=9;t=3"}, {"RateLimit", "\"a\";r=0"}},
         {9, S(3), -1, -1}}, /* without a time it says less */
        {{{"RateLimit", "\"a\";r=2"}, {"RateLimit", "\"a\";r=9;t=3"}}, {9, S(3), -1, -1}},
        {{{"RateLimit-Remaining", "5"},
          {"RateLimit-Remaining", "3"},
          {"RateLimit-Reset", "5"},
          {"RateLimit-Reset", "9"}},
         {3, S(9), -1, -1}},
        {{{"X-RateLimit-Remaining", "5"},
          {"X-RateLimit-Reset", "50"},
          {"RateLimit", "\"proxy\";r=10;t=5"}},
         {5, S(50), -1, -1}}, /* two servers, two quotas */
        {{{"X-RateLimit-Reset", "50"}, {"RateLimit-Remaining", "5"}},
         {5, -1, -1, -1}}, /* and not half of each */
        {{{"RateLimit-Reset", "50"}, {"X-RateLimit-Remaining", "5"}}, {5, -1, -1, -1}},
        {{{"RateLimit-Policy", "\"a\";q=5;w=6,\"a\";q=1;w=2"}}, {-1, -1, 5, S(6)}},
        {{{"RateLimit-Policy", "\"a\\\"\\\\\";q=5"}, {"RateLimit", "\"a\\\"\\\\\";r=1"}},
         {1, -1, 5, -1}}, /* escapes in a name */
    };

    EACH_ROW(i, rows) {
        seine_quota got = quota_of(rows[i].fields);

        CHECK_EQ(got.r, rows[i].want.r);
        CHECK_EQ(got.t, rows[i].want.t);
        CHECK_EQ(got.q, rows[i].want.q);
        CHECK_EQ(got.w, rows[i].want.w);
    }
}

TEST(retry_hint_quota_needs_to_say_what_remains)
{
    seine_retry_hint h = fresh();
    seine_quota quota;

    CHECK(feed(&h, "RateLimit", "\"a\";t=30"));
    CHECK(feed(&h, "RateLimit", "12, \"b\""));
    CHECK(!seine_retry_hint_quota(&h, &quota));
}

TEST(retry_hint_quota_keeps_four_names)
{
    seine_retry_hint h = fresh();
    seine_quota quota;

    CHECK(feed(&h, "RateLimit", "a;r=9;t=1, b;r=8;t=1, c;r=7;t=1, d;r=6;t=1, e;r=0;t=1"));
    CHECK(seine_retry_hint_quota(&h, &quota));
    CHECK_EQ(quota.r, 6);
    CHECK_EQ(seine_retry_hint_pause(&h), -1);
}

TEST(retry_hint_pauses_when_nothing_remains)
{
    static const struct {
        const char *name, *value, *name2, *value2;
        seine_span want;
    } rows[] = {
        {"RateLimit", "\"default\";r=0;t=30", NULL, NULL, S(30)},
        {"RateLimit", "\"default\";r=1;t=30", NULL, NULL, -1},
        {"RateLimit", "\"default\";r=0", NULL, NULL, -1}, /* for how long? */
        {"RateLimit", "\"default\";t=30", NULL, NULL, -1},
        {"RateLimit", "\"default\";r=0;t=0", NULL, NULL, 0},
        {"RateLimit", "\"a\";r=0;t=30, \"b\";r=5;t=90, \"c\";r=0;t=60", NULL, NULL,
         S(60)},
        {"RateLimit", "limit=100, remaining=0, reset=30", NULL, NULL, S(30)},
        {"RateLimit-Remaining", "0", "RateLimit-Reset", "30", S(30)},
        {"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "30", S(30)},
        {"X-RateLimit-Remaining", "0", "RateLimit-Reset", "30", -1},
        {"X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "30", -1},
        {"RateLimit", "\"a\";r=0;t=30", "Retry-After", "5", S(5)}, /* it wins */
        {"RateLimit", "\"a\";r=0;t=30", "Retry-After", "0", 0},
        {"RateLimit", "\"a\";r=0;t=30", "Retry-After", "soon", S(30)},
        {"RateLimit", "\"a\";r=0;t=86400", NULL, NULL, S(86400)},
        {"RateLimit", "\"a\";r=0;t=86401", NULL, NULL, -1}, /* above a day: ignored */
        {"RateLimit", "\"a\";r=0;t=999999999999999", NULL, NULL, -1},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(pause_of(rows[i].name, rows[i].value, rows[i].name2, rows[i].value2),
                 rows[i].want);
}

TEST(retry_hint_reset_above_a_thousand_million_is_a_moment)
{
    static const int64_t limit = 1000000000;
    static const struct {
        int64_t wall_s; /* of our clock */
        const char *date, *reset;
        seine_span want;
    } rows[] = {
        {limit - 50, NULL, "1000000000", -1}, /* still a span, and above a day */
        {limit - 50, NULL, "1000000001", S(51)},
        {limit + 1, NULL, "1000000001", 0},
        {limit + 2, NULL, "1000000001", 0},
        {limit - 86399, NULL, "1000000001", S(86400)},
        {limit - 86400, NULL, "1000000001", -1},
        {0, "Sun, 09 Sep 2001 01:46:40 GMT", "1000000007", S(7)}, /* Date is 10^9 */
        {limit, NULL, "99999999999999999999", -1},
    };

    EACH_ROW(i, rows) {
        static const char *const family[] = {"", "X-"};

        for (int k = 0; k < 2; k++) {
            seine_retry_hint h;
            char name[32];

            seine_retry_hint_init(&h, SEINE_SECS(rows[i].wall_s));
            if (rows[i].date)
                CHECK(feed(&h, "Date", rows[i].date));
            snprintf(name, sizeof name, "%sRateLimit-Remaining", family[k]);
            CHECK(feed(&h, name, "0"));
            snprintf(name, sizeof name, "%sRateLimit-Reset", family[k]);
            CHECK(feed(&h, name, rows[i].reset));
            CHECK_EQ(seine_retry_hint_pause(&h), rows[i].want);
        }
    }
    /* The `t` of a name is a span, whatever its size. */
    seine_retry_hint h;
    seine_retry_hint_init(&h, SEINE_SECS(limit));
    CHECK(feed(&h, "RateLimit", "\"a\";r=0;t=1000000001"));
    CHECK_EQ(seine_retry_hint_pause(&h), -1);
}

TEST(retry_hint_ignores_a_field_that_is_damaged_anywhere)
{
    static const char *const rows[] = {
        "",
        ",",
        ",,,,",
        "\"a\";r=0;t=30,",
        ",\"a\";r=0;t=30",
        "\"a\";r=0;t=30,,\"b\";r=1;t=1",
        "\"a\";r=0;t=30 \"b\";r=1;t=1",
        "\"a;r=0;t=30",
        "\"a\\x\";r=0;t=30", /* only quote and backslash are escaped */
        "\"a\\",
        "\"a\x7f\";r=0;t=30",
        "\"\xc3\xa4\";r=0;t=30", /* strings are ASCII */
        "\"a\"r=0;t=30",
        "\"a\";;r=0;t=30",
        "\"a\";r=;t=30",
        "\"a\";r=0;t",
        "\"a\";r=-1;t=30", /* none of these is a count */
        "\"a\";r=0;t=-30",
        "\"a\";r=0;t=30.5",
        "\"a\";r=0;t=\"30\"",
        "\"a\";r=0;t=?1",
        "\"a\";r=0;t=@30",
        "\"a\";r=0;T=30",
        "\"a\";r=0;t=30;",
        "\"a\";r=0;t=30;x=",
        "\"a\";r=0;t=30;x=:abc",
        "\"a\";r=0;t=30;x=?2",
        "\"a\";r=0;t=30;x=%a",
        "\"a\";r=0;t=30;x=%\"a",
        "\"a\";r=0;t=30;x=-",
        "\"a\";r=0;t=30;x=1.",
        "\"a\";r=0;t=30;x=(1 2)",
        "\"a\";r=0;t=0000000000000000000000030", /* more than 15 digits */
        "\"a\";r=0;t=1000000000000000",
        "\"a\";r=0;t=30;x=:a:",
        "\"a\";r=0;t=30;x=%\"%c3\"",
        "\"a\";r=0;t=30, (1",
        "limit=100, remaining=, reset=30",
        "limit=100, remaining=0, reset=\"30\"",
        "limit=100 remaining=0",
        "remaining=0;x==1, reset=30",
        "\"a\";r=0;t=30, =",
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh(), untouched = fresh();

        CHECK(!feed(&h, "RateLimit", rows[i]));
        CHECK(memcmp(&h, &untouched, sizeof h) == 0);
        CHECK_EQ(seine_retry_hint_pause(&h), -1);
    }
}

TEST(retry_hint_ignores_a_policy_that_is_damaged_anywhere)
{
    static const char *const rows[] = {
        ",",
        "\"a\";q=5,",
        "\"a\";q=5;w=-1",
        "\"a\";q=5;w",
        "\"a\";q=x, \"b\";q=1",
        "10;w=?1",
        "10 20",
        "a=5",
        "10;",
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh(), untouched = fresh();

        CHECK(!feed(&h, "RateLimit-Policy", rows[i]));
        CHECK(memcmp(&h, &untouched, sizeof h) == 0);
    }
}

TEST(retry_hint_skips_parameters_it_does_not_know)
{
    static const char *const rows[] = {
        "\"a\";x;r=0;t=30",
        "\"a\";x=1;r=0;t=30",
        "\"a\";x=-1.5;r=0;t=30",
        "\"a\";x=\"r=9;t=9\";r=0;t=30",
        "\"a\";x=tok/en:*;r=0;t=30",
        "\"a\";x=:TWFu+/==:;r=0;t=30",
        "\"a\";x=?0;*y=?1;r=0;t=30",
        "\"a\";x=@-1659578233;y=@5;r=0;t=30",
        "\"a\";x=%\"f%c3%bc\";r=0;t=30",
        "\"a\";  r=0;   t=30",
        "\"a\";r=0;t=30;rr=7;tt=9;r2=1",
        "\"a\";r=5;t=1;r=0;t=30", /* the last one counts */
        "\"a\";r=0;t=30\t,\t 12, ?1;x, \"b\"",
        "\"a\";r=00;t=000000000000030",
        "(\"a\" b);r=1;t=9, \"a\";r=0;t=30", /* an inner list is no name */
        "\"a\";r=1.5;r=0;t=x;t=30", /* the last one counts, whatever came before */
        "*a;r=0;t=30",
        "\"\";r=0;t=30",
        "remaining=0, reset=30, limits=\"x\", limi=4, window=?0",
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh();

        CHECK(feed(&h, "RateLimit", rows[i]));
        CHECK_EQ(seine_retry_hint_pause(&h), S(30));
    }
}

TEST(retry_hint_ignores_counts_that_are_none)
{
    static const char *const rows[] = {"",    "-1",  "+1",    "1.5", "1 2",
                                       "0x1", "one", "\"1\"", ";",   ",1"};

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh();

        CHECK(!feed(&h, "X-RateLimit-Remaining", rows[i]));
        CHECK(!feed(&h, "RateLimit-Limit", rows[i]));
        CHECK(!feed(&h, "RateLimit-Reset", rows[i]));
    }
}

TEST(retry_hint_knows_its_fields_in_any_case_and_no_others)
{
    static const struct {
        const char *name;
        bool ours;
    } rows[] = {
        {"retry-after", true},
        {"RETRY-AFTER", true},
        {"Retry-After", true},
        {"rEtRy-AfTeR", true},
        {"x-ratelimit-limit", true},
        {"Retry-Afte", false},
        {"Retry-After2", false},
        {"Retry_After", false},
        {"", false},
        {"X", false},
        {"Retry\rAfter", false},
        {"X-RateLimit-Limits", false},
        {"X-RateLimit-Remaining-Requests", false},
        {"A", false},
        {"RateLimit-", false},
    };

    EACH_ROW(i, rows) {
        seine_retry_hint h = fresh();

        CHECK_EQ(feed(&h, rows[i].name, "5"), rows[i].ours);
    }
    seine_retry_hint h = fresh();
    CHECK(!seine_retry_hint_feed(&h, "Retry-After\0", 12, "5", 1));
    CHECK(!seine_retry_hint_feed(&h, "Retry-After", 11, "5\0", 2));
    CHECK(!seine_retry_hint_feed(&h, NULL, 0, NULL, 0));
    CHECK(!seine_retry_hint_feed(&h, "Age", 3, NULL, 0));
    CHECK_EQ(seine_retry_hint_pause(&h), -1);
}

/* A hostile server sends a long value; each byte is read once. */
TEST(retry_hint_reads_a_long_value_of_anything)
{
    static const char *const patterns[] = {
        ",",          ", ",       ";",       "9",      " ",
        "\"",         "\\",       "a",       "=",      "a;r=1,",
        "\"a\";r=1,", ";x=:a:",   "a;b=?0,", "(",      "\xff",
        "a=1,",       "1;",       "1,",      "a;t=1;", "\"\\\\\"",
        "%\"",        "a;x=1.1,", "*;",      "\t",     "Sun, 06 Nov 1994 08:49:37 GMT",
    };
    static const char *const names[] = {
        "Retry-After",      "Date", "Age", "RateLimit", "RateLimit-Policy",
        "X-RateLimit-Reset"};
    const size_t n = 1 << 16;
    char *value = malloc(n);

    EACH_ROW(i, patterns) {
        for (size_t k = 0, m = strlen(patterns[i]); k < n; k++)
            value[k] = patterns[i][k % m];
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            seine_retry_hint h = fresh();
            seine_quota quota;

            seine_retry_hint_feed(&h, names[k], strlen(names[k]), value, n);
            seine_span pause = seine_retry_hint_pause(&h);
            CHECK(pause >= -1 && pause <= SEINE_RETRY_HINT_MAX);
            seine_retry_hint_quota(&h, &quota);
        }
    }
    free(value);
}

/* Any number of honest quotas, printed and read back, against a plain search. */
TEST(retry_hint_quota_is_that_of_an_obvious_search)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 5000; round++) {
        char limits[256] = "", policies[256] = "";
        int n = 1 + (int)sn_rng_below(&r, 4), best = 0;
        int64_t left[4], reset[4], quota[4], window[4];
        seine_span pause = -1;

        for (int i = 0; i < n; i++) {
            left[i] = (int64_t)sn_rng_below(&r, 4);
            reset[i] = 1 + (int64_t)sn_rng_below(&r, 4);
            quota[i] = (int64_t)sn_rng_below(&r, 100);
            window[i] = (int64_t)sn_rng_below(&r, 100);
            size_t at = strlen(limits);
            snprintf(limits + at, sizeof limits - at, "%s\"%d\";r=%lld;t=%lld",
                     i ? ", " : "", i, (long long)left[i], (long long)reset[i]);
            at = strlen(policies);
            snprintf(policies + at, sizeof policies - at, "%s\"%d\";q=%lld;w=%lld",
                     i ? "," : "", i, (long long)quota[i], (long long)window[i]);

            /* Twelfths of a second per request left: whole for 1 to 4. */
            int64_t mine = left[i] * 12 / reset[i], his = left[best] * 12 / reset[best];
            if (mine < his || (mine == his && reset[i] > reset[best]))
                best = i;
            if (left[i] == 0)
                pause = sn_time_max(pause, S(reset[i]));
        }
        seine_retry_hint h = fresh();
        seine_quota got = {0};
        bool first = sn_rng_below(&r, 2) == 0;

        CHECK(feed(&h, first ? "RateLimit" : "RateLimit-Policy",
                   first ? limits : policies));
        CHECK(feed(&h, first ? "RateLimit-Policy" : "RateLimit",
                   first ? policies : limits));
        CHECK(seine_retry_hint_quota(&h, &got));
        CHECK_EQ(got.r, left[best]);
        CHECK_EQ(got.t, S(reset[best]));
        CHECK_EQ(got.q, quota[best]);
        CHECK_EQ(got.w, S(window[best]));
        CHECK_EQ(seine_retry_hint_pause(&h), pause);
    }
}

/* Vectors. */

static json_t *
vectors(const char *name)
{
    const char *home = check_vectors();
    char path[1024];

    if (!home)
        return NULL;
    snprintf(path, sizeof path, "%s/http-dates/%s", home, name);
    json_t *rows = json_load_file(path, 0, NULL);
    CHECK(json_array_size(rows) > 0);
    return rows;
}

TEST(retry_hint_date_agrees_with_the_vectors)
{
    json_t *rows = vectors("http-date.json"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *epoch = json_object_get(row, "epoch");

        CHECK(check_row(i));
        CHECK_EQ(date_at(json_string_value(json_object_get(row, "in")), TODAY),
                 json_is_null(epoch) ? NONE : json_integer_value(epoch));
    }
    json_decref(rows);
}

TEST(retry_hint_retry_after_agrees_with_the_vectors)
{
    json_t *rows = vectors("retry-after.json"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *want = json_object_get(row, "delay_s");
        seine_retry_hint h;

        CHECK(check_row(i));
        seine_retry_hint_init(
            &h, SEINE_SECS(json_integer_value(json_object_get(row, "now"))));
        feed(&h, "Retry-After", json_string_value(json_object_get(row, "retry_after")));
        CHECK_EQ(seine_retry_hint_pause(&h), json_is_null(want) ? -1
                                             : json_is_string(want)
                                                 ? SEINE_RETRY_HINT_MAX
                                                 : S(json_integer_value(want)));
    }
    json_decref(rows);
}
