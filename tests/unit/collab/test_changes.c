/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/changes.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "check.h"

static seine_changes *
set_of(const char *json)
{
    seine_changes *c = NULL;

    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    CHECK_EQ(seine_changes_parse(c, json, strlen(json)), SEINE_OK);
    return c;
}

static seine_changes *
map(const seine_changes *a, const seine_changes *b, bool before)
{
    seine_changes *c = NULL;

    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    CHECK_EQ(seine_changes_map(a, b, before, c), SEINE_OK);
    return c;
}

static seine_text
apply(const seine_changes *c, seine_text text)
{
    seine_text out = {0};

    CHECK_EQ(seine_changes_apply(c, text.bytes, text.len, &out), SEINE_OK);
    return out;
}

static void
check_json(const seine_changes *c, const char *want)
{
    seine_text json = {0};

    CHECK_EQ(seine_changes_print(c, &json), SEINE_OK);
    CHECK_STR(json.bytes, want);
    seine_text_free(&json);
}

TEST(changes_keep_delete_insert_and_replace)
{
    static const struct {
        const char *text, *changes, *want;
    } rows[] = {
        {"", "[]", ""},
        {"", "[[0,\"a\"]]", "a"},
        {"abc", "[3]", "abc"},
        {"abc", "[1,[1],1]", "ac"},
        {"abc", "[[3,\"x\",\"\",\"y\"]]", "x\n\ny"},
        {"abc", "[1,[0,\"\",\"\"],2]", "a\nbc"},
        {"Hello world", "[6,[5,\"sea\"]]", "Hello sea"},
        {"a\U0001f600b", "[1,[2,\"é\"],1]", "aéb"}, /* two units */
        {"é漢z", "[2,[1]]", "é漢"},
    };

    EACH_ROW(i, rows) {
        seine_changes *c = set_of(rows[i].changes);
        seine_text out = {0};

        CHECK_EQ(seine_changes_apply(c, rows[i].text, strlen(rows[i].text), &out),
                 SEINE_OK);
        CHECK_STR(out.bytes ? out.bytes : "", rows[i].want);
        check_json(c, rows[i].changes);
        seine_text_free(&out);
        seine_changes_free(c);
    }
}

TEST(changes_that_are_none_are_refused)
{
    static const char *const bad[] = {"",
                                      "{}",
                                      "[0]",
                                      "[-1]",
                                      "[1.5]",
                                      "[[0]]",
                                      "[[0,\"\"]]",
                                      "[[]]",
                                      "[[1,2]]",
                                      "[[1,\"a\",3]]",
                                      "[\"a\"]",
                                      "[[1,\"a\\nb\"]]",
                                      "[[0,\"\\r\"]]",
                                      "[[0,\"\\u0000\"]]",
                                      "[[0,\"\\ud800\"]]",
                                      "[3",
                                      "[1,null]",
                                      "[9007199254740993]",
                                      "[[2,\"a\"],[true]]"};
    seine_changes *c = NULL;

    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        seine_err e = seine_changes_parse(c, bad[i], strlen(bad[i]));

        CHECK(e == SEINE_E_INVAL || e == SEINE_E_FULL);
        CHECK_EQ(seine_changes_from(c), 0);
    }
    CHECK_EQ(seine_changes_keep(c, 0), SEINE_E_INVAL);
    CHECK_EQ(seine_changes_replace(c, 0, "", 0), SEINE_E_INVAL);
    CHECK_EQ(seine_changes_replace(c, 0, "\xff", 1), SEINE_E_INVAL);
    CHECK_EQ(seine_changes_keep(c, SEINE_CHANGES_UNITS), SEINE_OK);
    CHECK_EQ(seine_changes_keep(c, 1), SEINE_E_FULL);
    CHECK_EQ(seine_changes_from(c), SEINE_CHANGES_UNITS);
    seine_changes_free(c);
}

TEST(changes_fit_their_text_and_cut_no_character)
{
    static const struct {
        const char *text, *changes;
        seine_err want;
    } rows[] = {{"abc", "[2]", SEINE_E_RANGE},
                {"abc", "[4]", SEINE_E_RANGE},
                {"", "[1]", SEINE_E_RANGE},
                {"\U0001f600", "[1,[1]]", SEINE_E_INVAL},
                {"\U0001f600", "[1,[0,\"x\"],1]", SEINE_E_INVAL},
                {"\xff", "[1]", SEINE_E_INVAL}};

    EACH_ROW(i, rows) {
        seine_changes *c = set_of(rows[i].changes);
        seine_text out = {0};

        CHECK_EQ(seine_changes_apply(c, rows[i].text, strlen(rows[i].text), &out),
                 rows[i].want);
        CHECK(!out.bytes);
        seine_changes_free(c);
    }
}

TEST(changes_are_printed_with_neighbours_joined)
{
    seine_changes *c = set_of("[1,2,[1],[2],[0,\"a\"],[0,\"b\\u2028\"],[1,\"c\"],3]");

    check_json(c, "[3,[3],[0,\"ab\\u2028\"],[1,\"c\"],3]");
    CHECK_EQ(seine_changes_from(c), 10);
    CHECK_EQ(seine_changes_to(c), 10);
    seine_changes_free(c);
}

/* What both wrote at one place, and who comes first. */
TEST(changes_mapped_over_others)
{
    static const struct {
        const char *a, *b;
        bool before;
        const char *want;
    } rows[] = {
        {"[2,[0,\"A\"],2]", "[2,[0,\"B\"],2]", false, "[3,[0,\"A\"],2]"},
        {"[2,[0,\"A\"],2]", "[2,[0,\"B\"],2]", true, "[2,[0,\"A\"],3]"},
        {"[[4]]", "[2,[0,\"B\"],2]", false, "[[2],1,[2]]"},
        {"[1,[2],1]", "[[4]]", false, "[]"},
        {"[1,[2,\"A\"],1]", "[[4,\"B\"]]", false, "[1,[0,\"A\"]]"},
        {"[1,[2,\"A\"],1]", "[1,[2,\"B\"],1]", false, "[2,[0,\"A\"],1]"},
        {"[1,[2,\"A\"],1]", "[1,[2,\"B\"],1]", true, "[1,[0,\"A\"],2]"},
        {"[1,[2,\"A\"],1]", "[1,[1],2]", false, "[1,[1,\"A\"],1]"},
        {"[4]", "[1,[2],1]", false, "[2]"},
    };

    EACH_ROW(i, rows) {
        seine_changes *a = set_of(rows[i].a), *b = set_of(rows[i].b);
        seine_changes *c = map(a, b, rows[i].before);

        check_json(c, rows[i].want);
        seine_changes_free(a);
        seine_changes_free(b);
        seine_changes_free(c);
    }
}

/* Mapping over one update at a time is not mapping over both put together. */
TEST(changes_are_mapped_stepwise)
{
    seine_changes *a = set_of("[2,[3],3]"), *b = set_of("[2,[0,\"x\"],3]");
    seine_changes *c = set_of("[2,[0,\"C\"],6]"), *both = set_of("[2,[3,\"x\"],3]");
    seine_changes *c1 = map(c, a, false), *c2 = map(c1, b, false);
    seine_changes *c12 = map(c, both, false);
    seine_text x, y, z, w;

    char text[] = "01234567";
    x = apply(a, (seine_text){text, 8});
    y = apply(b, x);
    z = apply(c2, y);
    CHECK_STR(z.bytes, "01xC567");
    w = apply(c12, y);
    CHECK_STR(w.bytes, "01Cx567");
    seine_text_free(&x);
    seine_text_free(&y);
    seine_text_free(&z);
    seine_text_free(&w);
    seine_changes *all[] = {a, b, c, both, c1, c2, c12};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        seine_changes_free(all[i]);
}

TEST(changes_of_texts_of_different_lengths_are_refused)
{
    seine_changes *a = set_of("[3]"), *b = set_of("[4]"), *out = set_of("[1]");

    CHECK_EQ(seine_changes_map(a, b, false, out), SEINE_E_RANGE);
    CHECK_EQ(seine_changes_from(out), 0);
    CHECK_EQ(seine_changes_map(a, a, false, a), SEINE_E_INVAL);
    seine_changes_free(a);
    seine_changes_free(b);
    seine_changes_free(out);
}

TEST(places_move_with_their_text)
{
    static const struct {
        const char *changes;
        uint64_t place;
        int side;
        uint64_t want;
    } rows[] = {
        {"[2,[0,\"xyz\"],2]", 1, 1, 1},
        {"[2,[0,\"xyz\"],2]", 2, -1, 2},
        {"[2,[0,\"xyz\"],2]", 2, 1, 5},
        {"[2,[0,\"xyz\"],2]", 3, -1, 6},
        {"[1,[2],1]", 2, -1, 1},
        {"[1,[2],1]", 2, 1, 1},
        {"[1,[2,\"abc\"],1]", 1, 1, 1},
        {"[1,[2,\"abc\"],1]", 2, 1, 4},
        {"[1,[2,\"abc\"],1]", 2, -1, 1},
        {"[1,[2,\"abc\"],1]", 3, -1, 4},
        {"[4]", 4, 1, 4},
        {"[4]", 9, 1, 4},
        {"[4,[0,\"é\"]]", 4, 1, 5},
        {"[4,[0,\"é\"]]", 4, -1, 4},
    };

    EACH_ROW(i, rows) {
        seine_changes *c = set_of(rows[i].changes);

        CHECK_EQ(seine_changes_move(c, rows[i].place, rows[i].side), rows[i].want);
        seine_changes_free(c);
    }
}

/* Random texts of all planes, and two people. */

static void
draw_text(sn_rng *dice, size_t most, sn_buf *out)
{
    static const char *const letters[] = {
        "a", "b", "\n", "é", "漢", "\U0001f600", "\U0010ffff", "e\u0301", " ", "\u2028"};

    for (uint64_t n = sn_rng_below(dice, most); n > 0; n--)
        sn_buf_text(out, letters[sn_rng_below(dice, sizeof letters / sizeof *letters)]);
}

/* Whole characters of the text, one to five of them, as units. */
static uint64_t
draw_units(sn_rng *dice, sn_str *rest)
{
    uint64_t units = 0;

    for (uint64_t n = 1 + sn_rng_below(dice, 5); n > 0 && rest->len > 0; n--) {
        uint32_t character;
        size_t len = sn_utf8_decode(*rest, &character);

        units += character > 0xffff ? 2 : 1;
        *rest = sn_str_slice(*rest, len, rest->len);
    }
    return units;
}

static seine_changes *
draw_changes(sn_rng *dice, seine_text text)
{
    seine_changes *c = NULL;
    sn_str rest = {text.bytes, text.len};
    sn_buf fresh;

    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    sn_buf_init(&fresh, 1000);
    do {
        sn_buf_reset(&fresh);
        uint64_t what = sn_rng_below(dice, 4);
        uint64_t units = what == 0 ? 0 : draw_units(dice, &rest);

        if (what % 2 == 0)
            draw_text(dice, 4, &fresh);
        if (what == 1 && units > 0)
            CHECK_EQ(seine_changes_keep(c, units), SEINE_OK);
        else if (units > 0 || fresh.len > 0)
            CHECK_EQ(seine_changes_replace(c, units, fresh.ptr, fresh.len), SEINE_OK);
    } while (rest.len > 0 || sn_rng_below(dice, 2) == 0);
    sn_buf_fini(&fresh);
    return c;
}

/* The text, one way round and the other. */
static void
check_meeting(sn_rng *dice)
{
    sn_buf drawn;
    seine_text text = {0};

    sn_buf_init(&drawn, 1000);
    draw_text(dice, 30, &drawn);
    CHECK_EQ(sn_buf_take(&drawn, &text), SEINE_OK);
    seine_changes *a = draw_changes(dice, text), *b = draw_changes(dice, text);
    seine_changes *b_after = map(b, a, false), *a_after = map(a, b, true);
    seine_text with_a = apply(a, text), with_b = apply(b, text);
    seine_text ab = apply(b_after, with_a), ba = apply(a_after, with_b);

    CHECK_EQ(ab.len, ba.len);
    CHECK(ab.len != ba.len || ab.len == 0 || memcmp(ab.bytes, ba.bytes, ab.len) == 0);
    CHECK(sn_utf8_valid((sn_str){ab.bytes, ab.len}));
    CHECK_EQ(seine_changes_from(a_after), seine_changes_to(b));
    CHECK_EQ(seine_changes_to(a_after), seine_changes_to(b_after));
    seine_text texts[] = {text, with_a, with_b, ab, ba};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        seine_text_free(&texts[i]);
    seine_changes *sets[] = {a, b, a_after, b_after};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        seine_changes_free(sets[i]);
    sn_buf_fini(&drawn);
}

TEST(changes_of_two_people_lead_to_one_text)
{
    sn_rng dice = sn_rng_seed(20261117);

    for (int i = 0; i < 100000; i++)
        check_meeting(&dice);
}
