/* SPDX-License-Identifier: Apache-2.0 */
#include "text/trap.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

static const char *
shape(const char *path, const char *query)
{
    const char *rule = sn_trap_shape(sn_str_of(path), sn_str_of(query));

    return rule ? rule : "";
}

static const char *
pattern_of(const char *path, const char *query, sn_trap_kind *kind)
{
    static char out[SN_TRAP_ROOM + 1];
    size_t n = sn_trap_pattern(sn_str_of(path), sn_str_of(query), out, kind);

    CHECK(n <= SN_TRAP_ROOM);
    out[n] = '\0';
    return out;
}

TEST(trap_shape_lets_honest_urls_pass)
{
    static const char *const paths[] = {
        "/",
        "/a/b/c/d/e/f",
        "//",
        "/a//b/",
        "/a/b/a/b",
        "/x/x",
        "/a/b/a/c/a",
        "/2026/11/11",
        "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w",
        /* a last slash is no segment, doubled ones repeat nothing */
        "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/",
        "/a/////b",
    };

    EACH_ROW(i, paths)
        CHECK_STR(shape(paths[i], ""), "");
    CHECK_STR(shape("/", "a=1&b=2&a=3&a=4&a=5&a=6&a=7&a=8&a=9"), "");
}

TEST(trap_shape_names_what_is_odd)
{
    static const struct {
        const char *path, *query, *rule;
    } rows[] = {
        {"/a/x/a/y/a/z/a", "", "a path segment 4 times"},
        {"/a/a/a", "", "a path that goes round 3 times"},
        {"/p/a/b/a/b/a/b/q", "", "a path that goes round 3 times"},
        {"/a/b/c/a/b/c/a/b/c", "", "a path that goes round 3 times"},
        {"/a/b/c/d/a/b/c/d/a/b/c/d", "", "a path that goes round 3 times"},
        {"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29"
         "/30/31/32/33",
         "", "more than 32 path segments"},
        /* empty ones count, or a site could make up more for ever */
        {"/a///////////////////////////////b", "", ""},
        {"/a////////////////////////////////b", "", "more than 32 path segments"},
        {"/", "a&a&a&a&a&a&a&a&a", "a query parameter more than 8 times"},
        {"/",
         "1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17&18&19&20&21&22&23&24&25&26&27&28&29&"
         "30"
         "&31&32&33",
         "more than 32 query parameters"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(shape(rows[i].path, rows[i].query), rows[i].rule);
}

TEST(trap_shape_counts_parameters_to_the_one)
{
    char query[512];
    size_t n = 0;

    for (int i = 0; i < 32; i++)
        n += (size_t)snprintf(query + n, sizeof query - n, "&k%d=%d", i % 8, i);
    CHECK_STR(shape("/", query), "");
    snprintf(query + n, sizeof query - n, "&z");
    CHECK_STR(shape("/", query), "more than 32 query parameters");
}

TEST(trap_pattern_replaces_what_varies)
{
    static const struct {
        const char *path, *query, *want;
        bool varies;
    } rows[] = {
        {"/cal/2026/11/15", "view=day&tz=1", "/cal/#/#/#?tz&view", true},
        {"/news/page-17.html", "", "/news/page-#.html", true},
        {"/p/9f86d081884c7d65/edit", "", "/p/%x/edit", true},
        {"/docs/intro", "", "/docs/intro", false},
        /* an escape is a letter of another script: titles of a wiki are no pattern */
        {"/wiki/%E3%81%82", "", "/wiki/%e3%81%82", false},
        {"/wiki/%C3%A47%201", "", "/wiki/%c3%a4#%20#", true},
        {"/100%25", "", "/#%25", true},
        {"/1%2", "", "/#%#", true}, /* that is none */
        {"/Docs/Intro", "", "/docs/intro", false},
        {"/2026-11-15/1.2.3/12:30", "", "/#/#/#", true},
        {"/-1/1-/1--2", "", "/-#/#-/#--#", true},
        {"/123e4567-e89b-12d3-a456-426614174000", "", "/%x", true},
        {"/deadbeef/deadbee1/12345678", "", "/deadbeef/%x/#", true},
        {"/abcdefghij0123456789", "", "/%t", true},
        {"/abcdefghij012345678", "", "/abcdefghij#", true},
        {"/abcdefghijklmnopqrstuvwxyz", "", "/abcdefghijklmnopqrstuvwxyz", false},
        {"/", "", "/", false},
        {"/a/", "b=1&b=2&a", "/a/?a&b", true},
        {"/a", "&&=x", "/a?", true},
        {"/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g", "", "/#/#/#/#/#/#/#/#/#/a/b/c/d/e/f/g",
         true},
        {"/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i", "",
         "/#/#/#/#/#/#/#/#/#/a/b/c/d/e/f/g/**", true},
    };
    sn_trap_kind kind;

    EACH_ROW(i, rows) {
        CHECK_STR(pattern_of(rows[i].path, rows[i].query, &kind), rows[i].want);
        CHECK_EQ(kind.varies, rows[i].varies);
    }
    pattern_of("/a", "d=1&c=1&b=1&a=1&a=2", &kind);
    CHECK_EQ(kind.params, 4);
}

TEST(trap_pattern_of_a_long_path_is_cut)
{
    char path[SN_TRAP_ROOM * 2];
    sn_trap_kind kind;

    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    const char *got = pattern_of(path, "", &kind);
    CHECK(strlen(got) <= SN_TRAP_ROOM);
    CHECK_STR(got + strlen(got) - 2, "**");
    CHECK(kind.varies);
}

static uint32_t
count(sn_trap_tree *t, const char *pattern)
{
    uint32_t n = 0;

    CHECK_EQ(sn_trap_count(t, sn_str_of(pattern), &n), SEINE_OK);
    CHECK_EQ(sn_trap_counted(t, sn_str_of(pattern)), n);
    return n;
}

TEST(trap_tree_counts_each_pattern_apart)
{
    sn_trap_tree *t = sn_trap_tree_new();

    CHECK_EQ(sn_trap_counted(t, SN_STR("/a")), 0);
    CHECK_EQ(count(t, "/a"), 1);
    CHECK_EQ(count(t, "/a/#"), 1);
    CHECK_EQ(count(t, "/a/#"), 2);
    CHECK_EQ(count(t, "/a?x"), 1);
    CHECK_EQ(count(t, "/a?x&y"), 1);
    CHECK_EQ(count(t, "/a"), 2);
    CHECK_EQ(count(t, "/"), 1);
    CHECK_EQ(sn_trap_counted(t, SN_STR("/b")), 0);
    CHECK_EQ(sn_trap_counted(t, SN_STR("/a/#/b")), 0);
    sn_trap_tree_free(t);
}

TEST(trap_tree_folds_the_65th_literal_name)
{
    sn_trap_tree *t = sn_trap_tree_new();
    char text[32];

    for (int i = 0; i < 64; i++) {
        snprintf(text, sizeof text, "/w/n%c%c/#", 'a' + i / 8, 'a' + i % 8);
        CHECK_EQ(count(t, text), 1);
    }
    CHECK_EQ(count(t, "/w/#"), 1);
    /* The sum of the 64 and this one; variable names stay apart. */
    CHECK_EQ(count(t, "/w/zz/#"), 65);
    CHECK_EQ(count(t, "/w/naa/#"), 66);
    CHECK_EQ(count(t, "/w/#"), 2);
    CHECK_EQ(count(t, "/w/another?q"), 1);
    CHECK_EQ(count(t, "/w/other?q"), 2);
    sn_trap_tree_free(t);
}

TEST(trap_tree_never_grows_beyond_its_nodes)
{
    sn_trap_tree *t = sn_trap_tree_new();
    sn_rng rng = sn_rng_seed(check_seed());
    uint32_t all = 0, n;
    char text[64];

    for (int i = 0; i < 20000; i++) {
        uint64_t r = sn_rng_next(&rng);
        snprintf(text, sizeof text, "/%c%c/%c%c/x%c%s", (char)('a' + r % 26),
                 (char)('a' + (r >> 8) % 26), (char)('a' + (r >> 16) % 26),
                 (char)('a' + (r >> 24) % 26), (char)('a' + (r >> 32) % 26),
                 r >> 40 & 1 ? "?q" : "");
        CHECK_EQ(sn_trap_count(t, sn_str_of(text), &n), SEINE_OK);
        CHECK(n >= 1 && n <= ++all);
        CHECK_EQ(sn_trap_counted(t, sn_str_of(text)), n);
    }
    sn_trap_tree_free(t);
}

TEST(trap_tree_survives_every_allocation_that_fails)
{
    FAIL_EACH(r)
    {
        sn_trap_tree *t = sn_trap_tree_new();
        uint32_t n;

        for (int i = 0; t && i < 10; i++) {
            char text[] = "/aa/#?b";
            text[1] = (char)('a' + i);
            seine_err e = sn_trap_count(t, sn_str_of(text), &n);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        }
        sn_trap_tree_free(t);
    }
}
