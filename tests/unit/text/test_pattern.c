/* SPDX-License-Identifier: Apache-2.0 */
#include "text/pattern.h"

#include <string.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"

static bool
matches(const char *pattern, sn_str text)
{
    sn_pattern *p = NULL;
    sn_matcher m;
    seine_diag diag = SEINE_DIAG;
    bool found = false;

    CHECK_EQ(sn_pattern_new(sn_str_of(pattern), &p, &diag), SEINE_OK);
    CHECK_EQ(sn_matcher_init(&m), SEINE_OK);
    CHECK_EQ(sn_pattern_match(p, &m, text, &found), SEINE_OK);
    sn_matcher_fini(&m);
    sn_pattern_free(p);
    return found;
}

TEST(pattern_matches_anywhere_in_a_text)
{
    static const struct {
        const char *pattern, *text;
        bool found;
    } rows[] = {
        {"^/docs/.*\\.html$", "/docs/a/b.html", true},
        {"^/docs/.*\\.html$", "/x/docs/a.html", false},
        {"b+", "aabba", true},
        {"^b", "ab", false},
        {"", "", true},
        {"", "x", true},
        {"(?i)LOGOUT", "/a/logout?x", true},
        {"LOGOUT", "/a/logout?x", false},
        {"^.$", "\xc3\xa4", true},
        {"(?<year>\\d{4})/\\d\\d$", "/2026/11", true},
        {"(?=a)b", "ab", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(matches(rows[i].pattern, sn_str_of(rows[i].text)), rows[i].found);
}

TEST(pattern_takes_any_bytes_for_a_text)
{
    CHECK(!matches("^.$", (sn_str){"\xff", 1}));
    CHECK(matches("b$", (sn_str){"\xff\x80"
                                 "b",
                                 3}));
    CHECK(matches("a\\x00b", (sn_str){"a\0b", 3}));
    CHECK(matches("^$", (sn_str){NULL, 0}));
}

TEST(pattern_says_what_is_wrong_and_where)
{
    static const struct {
        const char *pattern, *why;
    } rows[] = {
        {"a(b", "missing closing parenthesis (at byte 3)"},
        {"a[", "missing terminating ] for character class (at byte 2)"},
        {"*", "quantifier does not follow a repeatable item (at byte 0)"},
        {"(a)\\1", "back-references are not allowed (at byte 5)"},
        {"(?<n>a)\\k<n>", "back-references are not allowed (at byte 12)"},
    };
    seine_diag diag = SEINE_DIAG;
    sn_pattern *p;

    EACH_ROW(i, rows) {
        CHECK_EQ(sn_pattern_new(sn_str_of(rows[i].pattern), &p, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag_line(&diag), rows[i].why);
    }
    CHECK_EQ(sn_pattern_new(SN_STR("("), &p, NULL), SEINE_E_CONFIG);
}

TEST(pattern_is_at_most_1024_bytes_long)
{
    seine_diag diag = SEINE_DIAG;
    char text[SN_PATTERN_MAX + 1];
    sn_pattern *p;

    memset(text, 'a', sizeof text);
    CHECK_EQ(sn_pattern_new((sn_str){text, SN_PATTERN_MAX}, &p, &diag), SEINE_OK);
    sn_pattern_free(p);
    CHECK_EQ(sn_pattern_new((sn_str){text, sizeof text}, &p, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "longer than 1024 bytes (at byte 1024)");
}

TEST(pattern_that_explodes_runs_out_of_steps)
{
    static const char *const bombs[] = {"(a+)+$", "(a|a)*b$", "^(([a-z])+.)+[A-Z]$",
                                        "(?:a?){30}a{30}b"};
    char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    sn_matcher m;

    CHECK_EQ(sn_matcher_init(&m), SEINE_OK);
    EACH_ROW(i, bombs) {
        sn_pattern *p = NULL;
        bool found;

        CHECK_EQ(sn_pattern_new(sn_str_of(bombs[i]), &p, NULL), SEINE_OK);
        seine_err e = sn_pattern_match(p, &m, sn_str_of(text), &found);
        CHECK(e == SEINE_E_PATTERN_BUDGET || (e == SEINE_OK && !found));
        if (i == 0)
            CHECK_EQ(e, SEINE_E_PATTERN_BUDGET);
        sn_pattern_free(p);
    }
    sn_matcher_fini(&m);
}

/* Fills a text with `unit` and ends it with `end`. */
static sn_str
filled(char *text, size_t len, const char *unit, const char *end)
{
    for (size_t i = 0; i < len; i++)
        text[i] = unit[i % strlen(unit)];
    memcpy(text + len - strlen(end), end, strlen(end));
    return (sn_str){text, len};
}

/* From each of its beginnings the match takes few steps, but there are 8,000 of them. */
TEST(pattern_has_one_budget_for_all_beginnings)
{
    static const struct {
        const char *pattern, *unit, *end;
        seine_err err;
        bool found;
    } rows[] = {
        {"[^x]*y", "a", "xy", SEINE_E_PATTERN_BUDGET, false},
        {"/.*x.*y\\d", "////////////////x", "y", SEINE_E_PATTERN_BUDGET, false},
        {"\\d++x", "1", "y", SEINE_OK, false}, /* an x that is not there is looked for */
        {"\\d++[xz]", "1", "y", SEINE_E_PATTERN_BUDGET, false}, /* 32 million bytes */
        {"\\.pdf$", "/a.pd", ".pdf", SEINE_OK, true},
        {"\\.pdf$", "/a.pd", ".pdx", SEINE_OK, false},
        {"^/.*/.*\\.pdf$", "/ab", ".pdf", SEINE_OK, true},
    };
    static char text[8000];
    sn_matcher m;

    CHECK_EQ(sn_matcher_init(&m), SEINE_OK);
    EACH_ROW(i, rows) {
        sn_pattern *p = NULL;
        bool found = false;
        sn_str s = filled(text, sizeof text, rows[i].unit, rows[i].end);

        CHECK_EQ(sn_pattern_new(sn_str_of(rows[i].pattern), &p, NULL), SEINE_OK);
        CHECK_EQ(sn_pattern_match(p, &m, s, &found), rows[i].err);
        CHECK_EQ(found, rows[i].found);
        sn_pattern_free(p);
    }
    sn_matcher_fini(&m);
}

TEST(pattern_that_needs_all_its_steps_at_one_place_has_them)
{
    static char text[200];

    CHECK(matches("(a|b)+c$", filled(text, sizeof text, "ab", "c")));
    CHECK(!matches("^(a|b)+c$", filled(text, sizeof text, "ab", "d")));
    CHECK(matches("(?C1)(a|b)+c$", filled(text, sizeof text, "ab", "c")));
    CHECK(matches("(?C1)b", SN_STR("ab")));
}

TEST(pattern_survives_every_allocation_that_fails)
{
    FAIL_EACH(r)
    {
        sn_pattern *p = NULL;
        sn_matcher m;
        bool found;
        seine_err e = sn_pattern_new(SN_STR("^(a|b)*c"), &p, NULL);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK && sn_matcher_init(&m) == SEINE_OK) {
            e = sn_pattern_match(p, &m, SN_STR("abababc"), &found);
            CHECK(e == SEINE_E_NOMEM || (e == SEINE_OK && found));
            sn_matcher_fini(&m);
        }
        if (e == SEINE_OK || p)
            sn_pattern_free(p);
    }
}

TEST(pattern_finds_where_and_what_its_first_group_holds)
{
    static const struct {
        const char *pattern, *text;
        size_t from;
        bool found;
        size_t at, end;
        const char *group;
    } rows[] = {
        {"b+", "abba", 0, true, 1, 3, "bb"}, /* no group: the whole match */
        {"b+", "abba", 2, true, 2, 3, "b"},  /* from there on */
        {"b+", "abba", 3, false, 0, 0, NULL},
        {"^a", "aa", 1, false, 0, 0, NULL}, /* the beginning is that of the text */
        {"(\\d+) EUR", "is 12 EUR", 0, true, 3, 9, "12"},
        {"a(x)?b", "ab", 0, true, 0, 2, ""},      /* the group took no part */
        {"(a)(b)(c)", "abc", 0, true, 0, 3, "a"}, /* more groups than pairs */
        {"", "ab", 2, true, 2, 2, ""},
        {"a\\Kb", "ab", 0, true, 1, 2, "b"},
    };

    EACH_ROW(i, rows) {
        sn_pattern *p = NULL;
        sn_matcher m;
        sn_match got = {0};
        bool found = false;
        sn_str text = sn_str_of(rows[i].text);
        sn_pattern_how how = {rows[i].from, sn_pattern_steps(text.len), true};

        CHECK_EQ(sn_pattern_new(sn_str_of(rows[i].pattern), &p, NULL), SEINE_OK);
        CHECK_EQ(sn_matcher_init(&m), SEINE_OK);
        CHECK_EQ(sn_pattern_find(p, &m, text, how, &got, &found), SEINE_OK);
        CHECK_EQ(found, rows[i].found);
        CHECK_EQ(got.at, rows[i].at);
        CHECK_EQ(got.end, rows[i].end);
        if (rows[i].group)
            CHECK(sn_str_eq(got.group, sn_str_of(rows[i].group)));
        how.steps = 1;
        if (rows[i].pattern[0] == '(' && rows[i].pattern[1] == '\\')
            CHECK_EQ(sn_pattern_find(p, &m, text, how, &got, &found),
                     SEINE_E_PATTERN_BUDGET);
        sn_matcher_fini(&m);
        sn_pattern_free(p);
    }
}
