/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/timestamp.h"

#include <string.h>

#include "check.h"
#include "seine/time.h"

/* `date -u -d '2026-11-15 19:20:01' +%s` prints 1794770401. */
#define NOVEMBER INT64_C(1794770401)

TEST(timestamp_of_rfc_3339_has_its_zone_and_fraction)
{
    static const struct {
        const char *text;
        int64_t seconds, nanos;
        int zone;
        bool is_fine;
        const char *rest;
    } rows[] = {
        {"2026-11-15T19:20:01Z", NOVEMBER, 0, 0, false, ""},
        {"2026-11-15t19:20:01z", NOVEMBER, 0, 0, false, ""},
        {"2026-11-15 19:20:01", NOVEMBER, 0, 0, false, ""}, /* a blank, and no zone */
        {"2026-11-15T20:20:01+01:00", NOVEMBER, 0, 60, false, ""},
        {"2026-11-15T12:20:01-0700", NOVEMBER, 0, -420, false, ""},
        {"2026-11-15T19:20:01.5Z", NOVEMBER, 500000000, 0, true, ""},
        {"2026-11-15T19:20:01.123456789Z", NOVEMBER, 123456789, 0, true, ""},
        {"2026-11-15T19:20:01.1234567899Z", NOVEMBER, 123456789, 0, true, ""}, /* cut */
        {"2026-11-15T19:20:01Z ok 80ms", NOVEMBER, 0, 0, false, " ok 80ms"},
        {"2026-11-15T19:20:01.", NOVEMBER, 0, 0, false, "."}, /* no digit follows */
        {"1970-01-01T00:00:00Z", 0, 0, 0, false, ""},
        {"2024-02-29T00:00:00Z", INT64_C(1709164800), 0, 0, false, ""},
        {"2016-12-31T23:59:60Z", INT64_C(1483228800), 0, 0, false, ""}, /* leap second */
    };

    EACH_ROW(i, rows) {
        seine_timestamp t = {-1, -1, false};
        const char *end = seine_timestamp_rfc3339(rows[i].text, &t);

        CHECK(end != NULL);
        CHECK_STR(end ? end : "NULL", rows[i].rest);
        CHECK_EQ(t.wall, SEINE_SECS(rows[i].seconds) + rows[i].nanos);
        CHECK_EQ(t.zone, rows[i].zone);
        CHECK_EQ(t.is_fine, rows[i].is_fine);
    }
}

TEST(timestamp_refuses_what_is_no_rfc_3339)
{
    static const char *const rows[] = {
        "",
        "x",
        "2026-11-15",
        "2026-11-15T",
        "2026-11-15T19:20",
        "2026-13-15T19:20:01Z",
        "2026-00-15T19:20:01Z",
        "2026-11-31T19:20:01Z", /* November has 30 days */
        "2023-02-29T19:20:01Z", /* 2023 has no leap day */
        "2026-11-00T19:20:01Z",
        "2026-11-15T24:20:01Z",
        "2026-11-15T19:60:01Z",
        "2026-11-15T19:20:61Z",
        "2026-11-15T19:20:01+24:00",
        "2026-11-15T19:20:01+01",
        "1969-12-31T23:59:59Z",
        "2262-01-01T00:00:00Z", /* int64 nanoseconds end in April 2262 */
        "26-11-15T19:20:01Z",
    };

    EACH_ROW(i, rows) {
        seine_timestamp t = {7, 7, true};

        CHECK(seine_timestamp_rfc3339(rows[i], &t) == NULL);
        CHECK_EQ(t.wall, 7); /* untouched */
    }
}

TEST(timestamp_of_an_access_log)
{
    seine_timestamp t;
    const char *end = seine_timestamp_access_log("10/Oct/2000:13:55:36 -0700] \"GET", &t);

    CHECK_STR(end ? end : "NULL", "] \"GET");
    CHECK_EQ(t.wall, SEINE_SECS(INT64_C(971211336))); /* 20:55:36 UTC */
    CHECK_EQ(t.zone, -420);
    CHECK(seine_timestamp_access_log("10/Okt/2000:13:55:36 -0700", &t) == NULL);
    CHECK(seine_timestamp_access_log("10/Oct/2000:13:55:36", &t) == NULL);
    CHECK(seine_timestamp_access_log("1/Oct/2000:13:55:36 -0700", &t) == NULL);
    CHECK(seine_timestamp_access_log("10/", &t) == NULL);
}

/* The span of each is as long as what it does not say. */
TEST(timestamp_of_a_sitemap_is_the_time_that_it_may_mean)
{
    static const struct {
        const char *text;
        int64_t from, seconds;
    } rows[] = {
        {"2026", INT64_C(1767225600), INT64_C(365) * 86400},
        {"2024", INT64_C(1704067200), INT64_C(366) * 86400},
        {"2026-02", INT64_C(1769904000), INT64_C(28) * 86400},
        {"2026-12", INT64_C(1796083200), INT64_C(31) * 86400},
        {"2026-11-15", INT64_C(1794700800), 86400},
        {"2026-11-15T19:20Z", NOVEMBER - 1, 60},
        {"2026-11-15T20:20+01:00", NOVEMBER - 1, 60},
        {"2026-11-15T19:20:01Z", NOVEMBER, 1},
        {"Sun, 15 Nov 2026 19:20:01 GMT", NOVEMBER, 1},
        {"Sun, 15 Nov 2026 20:20:01 +0100", NOVEMBER, 1},
        {"15 Nov 2026 19:20:01", NOVEMBER, 1},
        {"Sun, 15 Nov 2026 14:20:01 EST", NOVEMBER, 1},
        {"Sun, 15 Nov 2026 12:20:01 PDT", NOVEMBER, 1},
        {"Sun, 15 Nov 2026 19:20 UT", NOVEMBER - 1, 1},
        {"2261", INT64_C(9183110400), INT64_C(365) * 86400}, /* the last year */
    };

    EACH_ROW(i, rows) {
        int64_t from = -1, until = -1;

        CHECK(seine_timestamp_sitemap(rows[i].text, strlen(rows[i].text), &from, &until));
        CHECK_EQ(from, SEINE_SECS(rows[i].from));
        CHECK_EQ(until - from, SEINE_SECS(rows[i].seconds));
    }
}

TEST(timestamp_with_a_fraction_means_one_nanosecond)
{
    int64_t from = -1, until = -1;

    CHECK(seine_timestamp_sitemap("2026-11-15T19:20:01.25Z", 23, &from, &until));
    CHECK_EQ(from, SEINE_SECS(NOVEMBER) + SEINE_MS(250));
    CHECK_EQ(until, from + 1);
}

TEST(timestamp_of_a_sitemap_is_the_whole_text_or_none)
{
    static const char *const rows[] = {
        "",
        "yesterday",
        "2026-11-15x",
        "2026-1-15",
        "2026-13",
        "2026-00",
        "2026-11-31",
        "1969",
        "2262",
        "20261115",
        "2026-11-15T19:20:01Z and more",
        "Sun, 15 Nov 26 19:20:01 GMT", /* two digits: 1926 or 2026? */
        "Sun, 15 Foo 2026 19:20:01 GMT",
        "Sun, 15 Nov 2026",
        "2026-11-15T19:20:01+01:00 and a text that is much longer than any date could be",
    };

    EACH_ROW(i, rows) {
        int64_t from = 7, until = 7;

        CHECK(!seine_timestamp_sitemap(rows[i], strlen(rows[i]), &from, &until));
        CHECK(from == 7 && until == 7);
    }
}

TEST(timestamp_of_a_sitemap_ends_at_its_length_and_holds_no_zero_byte)
{
    int64_t from, until;

    CHECK(seine_timestamp_sitemap("2026-11</lastmod>", 7, &from, &until));
    CHECK(!seine_timestamp_sitemap("2026\0-11", 8, &from, &until));
    CHECK(!seine_timestamp_sitemap(NULL, 0, &from, &until));
}
