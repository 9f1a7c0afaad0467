/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/status_set.h"

#include <limits.h>

#include <string.h>

#include "check.h"

/* Each status but those of the range is what it was before. */
static void
check_only(const seine_status_set *set, unsigned first, unsigned last)
{
    for (unsigned s = 0; s < 1100; s++)
        CHECK_EQ(seine_status_set_has(set, s), s >= first && s <= last);
}

TEST(status_set_holds_what_was_added_and_no_more)
{
    static const unsigned rows[][2] = {
        {200, 299}, {404, 404}, {100, 599}, {0, 0}, {639, 639}, {63, 64}, {127, 192},
    };

    EACH_ROW(i, rows) {
        seine_status_set set = {{0}};

        seine_status_set_add(&set, rows[i][0], rows[i][1]);
        check_only(&set, rows[i][0], rows[i][1]);
        seine_status_set_remove(&set, rows[i][0], rows[i][1]);
        check_only(&set, 1, 0);
    }
}

TEST(status_set_2xx_is_200_to_299)
{
    seine_status_set set = SEINE_STATUS_2XX;

    check_only(&set, 200, 299);
}

TEST(status_set_loses_only_what_is_removed)
{
    seine_status_set set = SEINE_STATUS_2XX;

    seine_status_set_remove(&set, 201, 299);
    check_only(&set, 200, 200);
}

TEST(status_set_never_holds_640_or_more)
{
    struct {
        seine_status_set set;
        uint64_t behind;
    } s = {{{0}}, UINT64_C(0x5555555555555555)};

    seine_status_set_add(&s.set, 638, UINT_MAX);
    check_only(&s.set, 638, 639);
    CHECK(!seine_status_set_has(&s.set, UINT_MAX));
    seine_status_set_remove(&s.set, 639, UINT_MAX);
    check_only(&s.set, 638, 638);
    CHECK(s.behind == UINT64_C(0x5555555555555555));
}

static seine_err
parse(const char *text, seine_status_set *out)
{
    seine_view bad;

    return seine_status_set_parse(text, NULL, out, NULL, &bad);
}

TEST(status_set_reads_codes_ranges_and_classes)
{
    static const struct {
        const char *text;
        unsigned first, last;
    } rows[] = {
        {"200", 200, 200},
        {"200-299", 200, 299},
        {"2xx", 200, 299},
        {"2XX", 200, 299},
        {"100", 100, 100},
        {"599", 599, 599},
        {"200-203,204,205-299", 200, 299},
        {"2xx,3xx,!3xx", 200, 299}, /* from left to right */
        {"!404,404", 404, 404},
    };

    EACH_ROW(i, rows) {
        seine_status_set set;

        CHECK_EQ(parse(rows[i].text, &set), SEINE_OK);
        check_only(&set, rows[i].first, rows[i].last);
    }
}

TEST(status_set_names_the_word_that_is_no_status)
{
    static const struct {
        const char *text, *bad;
    } rows[] = {
        {"", ""},
        {"200,", ""},
        {"200,,300", ""},
        {"99", "99"},
        {"099", "099"},
        {"600", "600"},
        {"0xx", "0xx"},
        {"6xx", "6xx"},
        {"300-200", "300-200"},
        {"200-600", "200-600"},
        {"200 - 299", "200 - 299"},
        {"200,!okay,300", "okay"},
        {"20x", "20x"},
        {"net", "net"},
    };

    EACH_ROW(i, rows) {
        seine_status_set set = SEINE_STATUS_2XX;
        seine_view bad = {NULL, 0};

        CHECK_EQ(seine_status_set_parse(rows[i].text, NULL, &set, NULL, &bad),
                 SEINE_E_PARSE);
        CHECK(bad.ptr && bad.len == strlen(rows[i].bad) &&
              memcmp(bad.ptr, rows[i].bad, bad.len) == 0);
        check_only(&set, 200, 299); /* untouched */
    }
}

TEST(status_set_reads_other_words_beside_statuses)
{
    static const char *const also[] = {"net", "timeout", NULL};
    seine_status_set set;
    seine_view bad;
    uint32_t bits = 9;

    CHECK_EQ(seine_status_set_parse("timeout,429", also, &set, &bits, &bad), SEINE_OK);
    CHECK_EQ(bits, 2);
    check_only(&set, 429, 429);
    CHECK_EQ(seine_status_set_parse("net,timeout,!timeout,503", also, &set, &bits, &bad),
             SEINE_OK);
    CHECK_EQ(bits, 1);
    CHECK_EQ(seine_status_set_parse("503", also, &set, &bits, &bad), SEINE_OK);
    CHECK_EQ(bits, 0);
}
