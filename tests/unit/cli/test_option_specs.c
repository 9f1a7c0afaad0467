/* SPDX-License-Identifier: Apache-2.0 */
#include "options/option_specs.h"

#include <seine/time.h>

#include "check.h"

#define CHECK_WHY(got, want) CHECK_STR((got) ? (got) : "fine", (want))

TEST(option_range_is_two_durations_in_order)
{
    seine_span first = -1, last = -1;

    CHECK_WHY(option_specs_range("1s..30s", &first, &last), "fine");
    CHECK(first == SEINE_SECS(1) && last == SEINE_SECS(30));
    CHECK_WHY(option_specs_range("1s..1s", &first, &last), "fine");
    CHECK_WHY(option_specs_range("2s..1s", &first, &last),
              "the second is shorter than the first");
    CHECK_WHY(option_specs_range("1s", &first, &last), "not two durations");
    CHECK_WHY(option_specs_range("x..1s", &first, &last), "not a duration");
    CHECK_WHY(option_specs_range("1s..", &first, &last), "not a duration");
    CHECK(first == SEINE_SECS(1) && last == SEINE_SECS(1)); /* untouched */
}

TEST(option_ratio_is_a_number_and_a_size_or_off)
{
    uint64_t ratio = 7, from = 9;

    CHECK_WHY(option_specs_ratio("500", &ratio, &from), "fine");
    CHECK(ratio == 500 && from == 9);
    CHECK_WHY(option_specs_ratio("100:2M", &ratio, &from), "fine");
    CHECK(ratio == 100 && from == 2 << 20);
    CHECK_WHY(option_specs_ratio("100:0", &ratio, &from), "fine");
    CHECK(ratio == 100 && from == 0);
    CHECK_WHY(option_specs_ratio("0", &ratio, &from), "must be above 0");
    CHECK(option_specs_ratio("x", &ratio, &from));
    CHECK(option_specs_ratio("5:", &ratio, &from));
    CHECK(option_specs_ratio("5:x", &ratio, &from));
    CHECK(ratio == 100 && from == 0);
    CHECK_WHY(option_specs_ratio("off", &ratio, &from), "fine");
    CHECK_EQ(ratio, 0);
}

TEST(option_speed_is_bytes_in_a_time_or_off)
{
    uint64_t bytes = 9;
    seine_span span = 9;

    CHECK_WHY(option_specs_speed("2k/20s", &bytes, &span), "fine");
    CHECK(bytes == 2048 && span == SEINE_SECS(20));
    CHECK_WHY(option_specs_speed("100", &bytes, &span), "not SIZE/DURATION");
    CHECK_WHY(option_specs_speed("0/20s", &bytes, &span), "must be above 0");
    CHECK_WHY(option_specs_speed("100/0s", &bytes, &span), "must be above 0");
    CHECK_WHY(option_specs_speed("x/20s", &bytes, &span), "not a size");
    CHECK_EQ(bytes, 2048);
    CHECK_WHY(option_specs_speed("off", &bytes, &span), "fine");
    CHECK_EQ(bytes, 0);
}

TEST(option_quota_says_how_many_are_too_many)
{
    static const struct {
        const char *text;
        uint64_t n, of;
        bool reached;
    } rows[] = {
        {"none", 1000, 1000, false}, {"off", 1000, 1000, false}, {"any", 0, 10, false},
        {"any", 1, 10, true},        {"all", 9, 10, false},      {"all", 10, 10, true},
        {"5", 4, 10, false},         {"5", 5, 10, true},         {"20%", 19, 100, false},
        {"20%", 20, 100, true},      {"20%", 0, 0, false},
    };

    EACH_ROW(i, rows) {
        quota q;

        CHECK_WHY(option_specs_quota(rows[i].text, &q), "fine");
        CHECK_EQ(quota_is_reached(&q, rows[i].n, rows[i].of), rows[i].reached);
    }
    quota q;
    CHECK_WHY(option_specs_quota("0", &q), "must be above 0");
    CHECK_WHY(option_specs_quota("0%", &q), "must be above 0");
    CHECK_WHY(option_specs_quota("some", &q), "not a whole number");
}
