/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/arg.h"

#include <string.h>

#include "check.h"

TEST(sizes_are_powers_of_1024_and_nothing_else_is_a_size)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t n;
    } rows[] = {
        {"0", true, 0},
        {"1", true, 1},
        {"64k", true, 65536},
        {"1M", true, 1048576},
        {"2G", true, UINT64_C(2147483648)},
        {"1125899906842624", true, UINT64_C(1) << 50}, /* the most */
        {"1125899906842625", false, 0},
        {"1048576G", true, UINT64_C(1) << 50},
        {"1048577G", false, 0},
        {"", false, 0},
        {"k", false, 0},
        {"1K", false, 0}, /* one spelling */
        {"-1", false, 0},
        {"+1", false, 0},
        {"1.5k", false, 0},
        {"1kk", false, 0},
        {"99999999999999999999", false, 0},
    };

    EACH_ROW(i, rows) {
        uint64_t n = 77;

        CHECK_EQ(snc_arg_size(sn_str_of(rows[i].text), &n), rows[i].ok);
        CHECK_EQ(n, rows[i].ok ? rows[i].n : 77);
    }
}

TEST(times_need_a_unit_unless_they_are_nothing)
{
    static const struct {
        const char *text;
        bool ok;
        seine_span span;
    } rows[] = {
        {"0", true, 0},
        {"500ms", true, SEINE_MS(500)},
        {"2s", true, SEINE_SECS(2)},
        {"1.5s", true, SEINE_MS(1500)},
        {"3m", true, SEINE_SECS(180)},
        {"1h", true, SEINE_SECS(3600)},
        {"7us", true, SEINE_US(7)},
        {"9ns", true, 9},
        {"87672h", true, SEINE_SECS(INT64_C(87672) * 3600)}, /* 3,653 days */
        {"87673h", false, 0},
        {"5", false, 0},
        {"-1s", false, 0},
        {"s", false, 0},
        {"1 s", false, 0},
        {"", false, 0},
        {"9999999999999h", false, 0},
    };

    EACH_ROW(i, rows) {
        seine_span span = 77;

        CHECK_EQ(snc_arg_span(sn_str_of(rows[i].text), &span), rows[i].ok);
        CHECK_EQ(span, rows[i].ok ? rows[i].span : 77);
    }
}

TEST(shares_are_exact_and_at_most_one)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t ppb;
    } rows[] = {
        {"0", true, 0},          {"0.1", true, 100000000},  {"0.000000001", true, 1},
        {"1", true, 1000000000}, {"1.0", true, 1000000000}, {"1.000000001", false, 0},
        {"-0.1", false, 0},      {"x", false, 0},
    };

    EACH_ROW(i, rows) {
        uint64_t n = 77;

        CHECK_EQ(snc_arg_share(sn_str_of(rows[i].text), &n), rows[i].ok);
        CHECK_EQ(n, rows[i].ok ? rows[i].ppb : 77);
    }
}

static bool
decodes_to(const char *in, sn_str want)
{
    sn_arena arena;

    sn_arena_init(&arena, 1024, 65536);
    bool same = sn_str_eq(snc_arg_decode(sn_str_of(in), &arena), want);
    sn_arena_fini(&arena);
    return same;
}

TEST(percent_signs_are_decoded_once_and_stand_for_themselves_when_broken)
{
    CHECK(decodes_to("a/b", SN_STR("a/b")));
    CHECK(decodes_to("a%2fb%2F", SN_STR("a/b/")));
    CHECK(decodes_to("%00", SN_STR("\0")));
    CHECK(decodes_to("%2541", SN_STR("%41")));
    CHECK(decodes_to("100%", SN_STR("100%")));
    CHECK(decodes_to("%4", SN_STR("%4")));
    CHECK(decodes_to("%zz", SN_STR("%zz")));
    CHECK(decodes_to("", SN_STR("")));
}

TEST(base64_reads_what_it_writes)
{
    static const char *const plain[] = {"f", "fo", "foo", "foob", "fooba", "foobar"};
    static const char *const coded[] = {
        "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"}; /* RFC 4648, 10 */
    sn_arena arena;

    sn_arena_init(&arena, 1024, 65536);
    EACH_ROW(i, plain) {
        char out[16];
        sn_str back;
        size_t n = snc_arg_to_base64(sn_str_of(plain[i]), out);

        CHECK(sn_str_eq((sn_str){out, n}, sn_str_of(coded[i])));
        while (n > 0 && out[n - 1] == '=')
            n--;
        CHECK(snc_arg_base64((sn_str){out, n}, &arena, &back));
        CHECK(sn_str_eq(back, sn_str_of(plain[i])));
    }
    sn_str bytes;
    CHECK(snc_arg_base64(SN_STR("-_8"), &arena, &bytes)); /* the two letters of its own */
    CHECK(sn_str_eq(bytes, SN_STR("\xfb\xff")));
    CHECK(!snc_arg_base64(SN_STR("A"), &arena, &bytes));
    CHECK(!snc_arg_base64(SN_STR("AA=="), &arena, &bytes));
    CHECK(!snc_arg_base64(SN_STR("+/"), &arena, &bytes));
    sn_arena_fini(&arena);
}

TEST(dice_depend_on_all_they_are_given_and_on_nothing_else)
{
    uint64_t one = snc_dice(1, SN_STR("a"), 1, 1);

    CHECK(one == snc_dice(1, SN_STR("a"), 1, 1));
    CHECK(one != snc_dice(2, SN_STR("a"), 1, 1));
    CHECK(one != snc_dice(1, SN_STR("b"), 1, 1));
    CHECK(one != snc_dice(1, SN_STR("a"), 2, 1));
    CHECK(one != snc_dice(1, SN_STR("a"), 1, 2));
}

TEST(dice_fall_evenly)
{
    unsigned faces[6] = {0};

    for (uint64_t n = 0; n < 60000; n++)
        faces[snc_below(snc_mix(7, n, 1), 6)]++;
    for (int i = 0; i < 6; i++)
        CHECK(faces[i] > 9600 && faces[i] < 10400); /* four deviations */
    CHECK_EQ(snc_below(UINT64_MAX, 6), 5);
    CHECK_EQ(snc_below(0, 6), 0);
}
