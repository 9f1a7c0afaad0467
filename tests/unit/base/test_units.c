/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/units.h"

#include <string.h>

#include "check.h"

#define HOUR SEINE_SECS(INT64_C(3600))

/* Which of two texts came back; NULL has a name. */
#define CHECK_WHY(got, want) CHECK_STR((got) ? (got) : "fine", (want))

TEST(units_span_is_a_sum_of_numbers_with_units)
{
    static const struct {
        const char *text;
        seine_span want;
    } rows[] = {
        {"0", 0},
        {"5", SEINE_SECS(5)}, /* bare: seconds */
        {"1.5", SEINE_MS(1500)},
        {"1ns", 1},
        {"1us", 1000},
        {"250ms", SEINE_MS(250)},
        {"90s", SEINE_SECS(90)},
        {"1m", SEINE_SECS(60)},
        {"1h30m", HOUR + HOUR / 2},
        {"1d", 24 * HOUR},
        {"1w", 168 * HOUR},
        {"0.5h", HOUR / 2},
        {"1h0.5s", HOUR + SEINE_MS(500)},
        {"0.0000000014", 1}, /* to the nearest nanosecond */
        {"0.0000000015", 2},
        {"3652.5d", SEINE_UNITS_TEN_YEARS}, /* the longest */
    };

    EACH_ROW(i, rows) {
        seine_span span = -1;

        CHECK_WHY(seine_units_span(rows[i].text, &span), "fine");
        CHECK_EQ(span, rows[i].want);
    }
}

TEST(units_span_refuses_the_rest_and_says_why)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "not a duration"},
        {"s", "not a duration"},
        {"5x", "not a duration"},
        {"5 s", "not a duration"},
        {"5.", "not a duration"},
        {".5", "not a duration"},
        {"1h30", "not a duration"}, /* behind a unit a bare number is unclear */
        {"0s30", "not a duration"}, /* behind nothing, too */
        {"5mss", "not a duration"},
        {"1_000s", "not a duration"},
        {"-5s", "a duration must not be negative"},
        {"3652.5d1ns", "a duration must not be longer than 10 years"},
        {"99999999999w", "a duration must not be longer than 10 years"},
    };

    EACH_ROW(i, rows) {
        seine_span span = -1;

        CHECK_WHY(seine_units_span(rows[i].text, &span), rows[i].why);
        CHECK_EQ(span, -1); /* untouched */
    }
}

TEST(units_rate_is_exact_in_the_smallest_whole_numbers)
{
    static const struct {
        const char *text;
        uint64_t count;
        seine_span per;
    } rows[] = {
        {"5/s", 1, SEINE_MS(200)},
        {"5", 1, SEINE_MS(200)}, /* bare: per second */
        {"0.3/s", 3, SEINE_SECS(10)},
        {"30/m", 1, SEINE_SECS(2)},
        {"3/4h", 1, HOUR + HOUR / 3},
        {"7/4h", 7, 4 * HOUR},
        {"1/d", 1, 24 * HOUR},
        {"1_000/s", 1, SEINE_MS(1)},
        {"2k/s", 1, SEINE_US(500)},
        {"1M/s", 1, 1000},
        {"3G/s", 3, 1},
        {"off", 0, SEINE_SECS(1)},
    };

    EACH_ROW(i, rows) {
        seine_frequency f = {9, 9};

        CHECK_WHY(seine_units_rate(rows[i].text, &f), "fine");
        /* The same ratio, and nothing divides both numbers. */
        CHECK_EQ(f.count * (uint64_t)rows[i].per, rows[i].count * (uint64_t)f.per);
        for (uint64_t d = 2; d <= 10; d++)
            CHECK(f.count == 0 || f.count % d != 0 || (uint64_t)f.per % d != 0);
    }
}

TEST(units_rate_refuses_the_rest_and_says_why)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "not a rate"},
        {"5/", "not a rate"},
        {"5/x", "not a rate"},
        {"5/ms", "not a rate"},
        {"5/0s", "not a rate"},
        {"5/1.5s", "not a rate"},
        {"5/100001s", "not a rate"},
        {"5/s ", "not a rate"},
        {"OFF", "not a rate"},
        {"0", "a rate must be above 0"},
        {"0/s", "a rate must be above 0"},
        {"-1", "a rate must be above 0"},
        {"0.000000000001/100000d", "a rate must be above one in 290 years"},
        {"999999999999999999G", "a rate must be below 10^18"},
    };

    EACH_ROW(i, rows) {
        seine_frequency f = {9, 9};

        CHECK_WHY(seine_units_rate(rows[i].text, &f), rows[i].why);
        CHECK(f.count == 9 && f.per == 9);
    }
}

TEST(units_count_takes_whole_numbers_with_thousands)
{
    static const struct {
        const char *text;
        uint64_t want;
    } rows[] = {
        {"0", 0},          {"10", 10},
        {"10_000", 10000}, {"10k", 10000},
        {"3M", 3000000},   {"2G", 2000000000},
        {"007", 7},        {"999999999999999999", UINT64_C(999999999999999999)},
    };
    static const char *const bad[] = {"",    "-1", "1.5", "1.0",
                                      "10K", "1_", "_1",  "10T",
                                      "x",   "1 ", "1e3", "1000000000000000000000"};

    EACH_ROW(i, rows) {
        uint64_t n = 99;

        CHECK_WHY(seine_units_count(rows[i].text, &n), "fine");
        CHECK_EQ(n, rows[i].want);
    }
    EACH_ROW(i, bad) {
        uint64_t n = 99;

        CHECK_WHY(seine_units_count(bad[i], &n), "not a whole number");
        CHECK_EQ(n, 99);
    }
}

TEST(units_size_takes_powers_of_1024)
{
    static const struct {
        const char *text;
        uint64_t want;
    } rows[] = {
        {"0", 0},
        {"512", 512},
        {"512B", 512},
        {"64k", 65536},
        {"64K", 65536},
        {"64KiB", 65536},
        {"1.5M", 1572864},
        {"2GB", UINT64_C(2) << 30},
        {"1T", UINT64_C(1) << 40},
        {"1_024", 1024},
    };
    static const char *const bad[] = {"",   "k",   "1.5", "1.5B", "5iB",
                                      "1m", "1kb", "1 k", "-1"};

    EACH_ROW(i, rows) {
        uint64_t n = 99;

        CHECK_WHY(seine_units_size(rows[i].text, &n), "fine");
        CHECK_EQ(n, rows[i].want);
    }
    EACH_ROW(i, bad) {
        uint64_t n = 99;

        CHECK_WHY(seine_units_size(bad[i], &n), "not a size");
        CHECK_EQ(n, 99);
    }
    uint64_t n;
    CHECK_WHY(seine_units_size("9999999999T", &n), "too large");
}

TEST(units_share_is_a_whole_percentage_within_its_bound)
{
    uint32_t percent = 9;

    CHECK_WHY(seine_units_share("20%", 100, &percent), "fine");
    CHECK_EQ(percent, 20);
    CHECK_WHY(seine_units_share("100%", 100, &percent), "fine");
    CHECK_EQ(percent, 100);
    CHECK_WHY(seine_units_share("101%", 100, &percent), "a share must not be above 100%");
    CHECK_WHY(seine_units_share("101%", 1000, &percent), "fine");
    CHECK_WHY(seine_units_share("1001%", 1000, &percent), "too large");
    CHECK_WHY(seine_units_share("20", 100, &percent), "not a share");
    CHECK_WHY(seine_units_share("1.5%", 100, &percent), "not a share");
    CHECK_WHY(seine_units_share("%", 100, &percent), "not a share");
    CHECK_EQ(percent, 101);
}

TEST(units_decimal_is_a_number_of_units_to_the_nearest_nanosecond)
{
    static const struct {
        const char *text;
        seine_span want; /* of seconds */
    } rows[] = {
        {"12.345", SEINE_MS(12345)},
        {"1e-3", SEINE_MS(1)},
        {"1.5e3", SEINE_SECS(1500)},
        {"2E+2", SEINE_SECS(200)},
        {"1763234401.5", INT64_C(1763234401500000000)}, /* beyond ten years */
    };
    static const char *const bad[] = {"",   "-1",   "x",    "1x",  "1e",
                                      "e3", "1e99", "1e30", "0x10"};
    seine_span span;

    EACH_ROW(i, rows) {
        CHECK(seine_units_decimal(rows[i].text, strlen(rows[i].text), SEINE_SECS(1),
                                  &span));
        CHECK_EQ(span, rows[i].want);
    }
    EACH_ROW(i, bad)
        CHECK(!seine_units_decimal(bad[i], strlen(bad[i]), SEINE_SECS(1), &span));
    CHECK(seine_units_decimal("7]", 1, SEINE_SECS(1), &span)); /* up to its length */
    CHECK_EQ(span, SEINE_SECS(7));
}

TEST(units_rate_of_a_decimal_is_per_second)
{
    seine_frequency f;

    CHECK_WHY(seine_units_rate_decimal("2.5", 3, &f), "fine");
    CHECK_EQ(f.count, 1);
    CHECK_EQ(f.per, SEINE_MS(400));
    CHECK(seine_frequency_per_second(f) > 2.499 && seine_frequency_per_second(f) < 2.501);
    CHECK_WHY(seine_units_rate_decimal("0", 1, &f), "a rate must be above 0");
    CHECK_WHY(seine_units_rate_decimal("-1", 2, &f), "a rate must be above 0");
    CHECK_WHY(seine_units_rate_decimal("x", 1, &f), "not a rate");
}
