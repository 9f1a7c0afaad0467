/* SPDX-License-Identifier: Apache-2.0 */
#include "options/option_specs.h"

#include <string.h>

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

TEST(option_quotas_of_failures_and_errors_take_their_own_words)
{
    quota q = {7, 0, false};

    CHECK_WHY(option_specs_fail_on("off", &q), "not a number of URLs");
    CHECK_WHY(option_specs_max_errors("any", &q), "not a number of errors");
    CHECK_WHY(option_specs_max_errors("all", &q), "not a number of errors");
    CHECK_WHY(option_specs_max_errors("none", &q), "not a number of errors");
    CHECK_EQ(q.count, 7); /* untouched */
    CHECK_WHY(option_specs_fail_on("any", &q), "fine");
    CHECK_EQ(q.count, 1);
    CHECK_WHY(option_specs_max_errors("20%", &q), "fine");
    CHECK_EQ(q.percent, 20);
    CHECK_WHY(option_specs_max_errors("off", &q), "fine");
    CHECK(q.count == 0 && q.percent == 0 && !q.all);
}

TEST(option_types_are_media_types_or_stars)
{
    seine_view bad = {NULL, 0};

    CHECK(option_specs_are_types("*", &bad) && option_specs_are_types("*/*", &bad));
    CHECK(option_specs_are_types("text/html, image/*,a/b+c", &bad));
    CHECK(!option_specs_are_types("text/html, x", &bad));
    CHECK(bad.len == 1 && bad.ptr[0] == 'x');
    CHECK(!option_specs_are_types("/a", &bad) && !option_specs_are_types("a/", &bad));
    CHECK(!option_specs_are_types("a/b/c", &bad) &&
          !option_specs_are_types("a/b;c", &bad));
}

TEST(option_line_has_no_control_character_and_256_bytes_at_most)
{
    char text[OPTION_LINE_MOST + 2];

    memset(text, 'a', sizeof text);
    text[OPTION_LINE_MOST + 1] = '\0';
    CHECK(!option_specs_is_line(text));
    text[OPTION_LINE_MOST] = '\0';
    CHECK(option_specs_is_line(text) && option_specs_is_line("a\tb"));
    CHECK(!option_specs_is_line("a\nb") && !option_specs_is_line("a\x7f"));
}
