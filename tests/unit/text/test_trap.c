/* SPDX-License-Identifier: Apache-2.0 */
#include "text/trap.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static const char *
shape(const char *path)
{
    const char *rule = sn_trap_shape(sn_str_of(path));

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
        /* a last slash is no segment, doubled ones repeat nothing */
        "/a/////b/",
    };

    EACH_ROW(i, paths)
        CHECK_STR(shape(paths[i]), "");
}

TEST(trap_shape_names_what_is_odd)
{
    static const struct {
        const char *path, *rule;
    } rows[] = {
        {"/a/x/a/y/a/z/a", "a path segment 4 times"},
        {"/a/a/a", "a path that goes round 3 times"},
        {"/p/a/b/a/b/a/b/q", "a path that goes round 3 times"},
        {"/a/b/c/a/b/c/a/b/c", "a path that goes round 3 times"},
        {"/a/b/c/d/a/b/c/d/a/b/c/d", "a path that goes round 3 times"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(shape(rows[i].path), rows[i].rule);
}

static sn_trap_excess
excess(const char *path, const char *query)
{
    sn_trap_kind kind;

    pattern_of(path, query, &kind);
    return sn_trap_excess_of(sn_str_of(path), sn_str_of(query), &kind);
}

/* The parts one after the other, % replaced by a number. */
static const char *
times(const char *part, unsigned n)
{
    static char out[1024];
    size_t at = 0, split = strcspn(part, "%");

    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%.*s%u%s", (int)split, part, i,
                               part + split + 1);
    return out;
}

TEST(trap_excess_counts_segments_and_parameters_to_the_one)
{
    CHECK_EQ(excess("/", ""), SN_TRAP_WITHIN);
    CHECK_EQ(excess(times("/s%", 24), ""), SN_TRAP_WITHIN);
    CHECK_EQ(excess(times("/s%", 25), ""), SN_TRAP_NEAR);
    CHECK_EQ(excess(times("/s%", 32), ""), SN_TRAP_NEAR);
    CHECK_EQ(excess(times("/s%", 33), ""), SN_TRAP_OVER);
    /* empty ones count, or a site could make up more for ever; the last slash does not */
    CHECK_EQ(excess("/a////////////////////////////////b", ""), SN_TRAP_OVER);
    CHECK_EQ(excess(times("s%/", 32), ""), SN_TRAP_NEAR);
    CHECK_EQ(excess("/", times("k%=1&", 24)), SN_TRAP_WITHIN);
    CHECK_EQ(excess("/", times("k%=1&", 25)), SN_TRAP_NEAR);
    CHECK_EQ(excess("/", times("k%=1&", 33)), SN_TRAP_OVER);
    CHECK_EQ(excess("/", times("k=%&", 6)), SN_TRAP_WITHIN);
    CHECK_EQ(excess("/", times("k=%&", 8)), SN_TRAP_NEAR);
    CHECK_EQ(excess("/", times("k=%&", 9)), SN_TRAP_OVER);
}

TEST(trap_pattern_replaces_what_varies)
{
    static const struct {
        const char *path, *query, *want;
        bool varies;
    } rows[] = {
        {"/cal/2026/11/15", "view=day&tz=1", "/cal/#/#/#?*", true},
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
        /* identifiers inside of a segment, and parameters of a path */
        {"/(S(lit3py55t21z5v55vlm25s55))/a", "", "/(s(%t))/a", true},
        {"/x-deadbee1.html", "", "/x-%x.html", true},
        {"/about;jsessionid=0A1B2C", "", "/about;jsessionid", true},
        {"/s/k3j9x2ab/a", "", "/s/%t/a", true},
        {"/a1b2c/h264x", "", "/a#b#c/h#x", true},
        {"/sony-tv-ab-123.html", "", "/sony-tv-ab-#.html", true},
        {"/a/", "b=1&b=2&a", "/a/?*", true},
        {"/a", "b=1", "/a?b", true},
        {"/a/", "C=N;O=D", "/a/?*", true},
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
    CHECK_EQ(kind.params, 5);
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

static const char *
family_of(const char *path, const char *query)
{
    static char out[SN_TRAP_ROOM + 1];
    sn_trap_kind kind;
    size_t n;

    sn_str pattern = sn_str_of(pattern_of(path, query, &kind));
    sn_trap_family family = sn_trap_family_of(sn_str_of(path), pattern, &kind, out, &n);
    CHECK(n <= SN_TRAP_ROOM);
    out[n] = '\0';
    CHECK_EQ(family == SN_TRAP_WORDS, strcmp(out, "/**") == 0);
    return out;
}

TEST(trap_family_spans_the_paths_of_a_site)
{
    static const struct {
        const char *path, *query, *want;
    } rows[] = {
        {"/about", "", "/**"},
        {"/cal/2026/11", "", "/**"},
        {"/about", "page=3", "/**?page"},
        {"/list", "a=1&b=2", "/**?*"},
        /* a session stands for all its URLs, whatever else they have */
        {"/about", "sid=17", "/**?sid"},
        {"/list", "a=1&PHPSESSID=x&b=2", "/**?PHPSESSID"},
        {"/list", "a=1&t=9f86d081884c7d65", "/**?t"},
        {"/about;jsessionid=1", "", "/**;jsessionid"},
        {"/s/9f86d081884c7d65/about", "", "/s/%x"},
        {"/s/9f86d081884c7d65/list", "page=2", "/s/%x"},
        {"/about/9f86d081884c7d65", "", "/**/%"},
        {"/a/b/a/b/a/b", "", "/**/"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(family_of(rows[i].path, rows[i].query), rows[i].want);
}

/* The residue of that number; 0: there is none. */
static uint64_t
residue_of(const char *path, const char *query, unsigned i)
{
    sn_trap_residue all[SN_TRAP_RESIDUES];
    sn_trap_kind kind;

    pattern_of(path, query, &kind);
    unsigned n = sn_trap_residues(sn_str_of(path), sn_str_of(query), &kind, all);
    CHECK(n <= SN_TRAP_RESIDUES);
    return i < n ? all[i].hash : 0;
}

TEST(trap_residue_is_the_url_without_its_session)
{
    static const struct {
        const char *path, *query, *same_path, *same_query, *other_path, *other_query;
    } rows[] = {
        {"/a/17", "sid=1", "/a/17", "sid=2", "/a/18", "sid=1"},
        {"/v", "id=1&sid=1", "/v", "id=1&sid=2", "/v", "id=2&sid=1"},
        {"/v", "a=1", "/v", "b=2", "/w", "a=1"}, /* of one parameter: the path */
        {"/s/9f86d081884c7d65/a", "", "/s/0f86d081884c7d65/a", "",
         "/s/9f86d081884c7d65/b", ""},
        {"/a;jsessionid=1", "", "/a;jsessionid=2", "", "/b;jsessionid=1", ""},
    };

    CHECK_EQ(residue_of("/about/17", "", 0), 0);
    EACH_ROW(i, rows) {
        uint64_t got = residue_of(rows[i].path, rows[i].query, 0);

        CHECK(got != 0);
        CHECK_EQ(got, residue_of(rows[i].same_path, rows[i].same_query, 0));
        CHECK(got != residue_of(rows[i].other_path, rows[i].other_query, 0));
        CHECK_EQ(residue_of(rows[i].path, rows[i].query, 1), 0);
    }
}

TEST(trap_residues_are_the_url_without_each_of_its_parameters)
{
    CHECK_EQ(residue_of("/v", "id=1&u=7", 0), residue_of("/v", "id=2&u=7", 0));
    CHECK(residue_of("/v", "id=1&u=7", 0) != residue_of("/v", "id=1&u=8", 0));
    CHECK_EQ(residue_of("/v", "id=1&u=7", 1), residue_of("/v", "id=1&u=8", 1));
    CHECK(residue_of("/v", "id=1&u=7", 1) != residue_of("/v", "id=2&u=7", 1));
    CHECK_EQ(residue_of("/v", "id=1&u=7", 2), 0);
}

static uint64_t
rest(const sn_trap_child *c)
{
    return sn_trap_without(c).hash;
}

TEST(trap_segment_tells_a_directory_from_the_rest)
{
    sn_trap_child a, b;

    CHECK(!sn_trap_segment(sn_str_of("/a"), 0, &a));
    CHECK(!sn_trap_segment(sn_str_of("/a/"), 0, &a));
    CHECK(!sn_trap_segment(sn_str_of("/a/b"), 1, &a));
    CHECK(sn_trap_segment(sn_str_of("/x/a/p"), 1, &a));
    CHECK(sn_trap_segment(sn_str_of("/x/b/p"), 1, &b));
    CHECK(a.parent == b.parent && a.child != b.child && rest(&a) == rest(&b));
    CHECK(sn_trap_segment(sn_str_of("/y/b/p"), 1, &b));
    CHECK(a.parent != b.parent && a.child != b.child && rest(&a) != rest(&b));
    CHECK(sn_trap_segment(sn_str_of("/x/a/q"), 1, &b));
    CHECK(a.parent == b.parent && a.child == b.child && rest(&a) != rest(&b));
}

TEST(trap_names_are_segments_and_parts_joined_by_a_plus)
{
    uint64_t a[SN_TRAP_SEGMENTS], b[SN_TRAP_SEGMENTS];

    CHECK_EQ(sn_trap_names(SN_STR("/"), a), 0);
    CHECK_EQ(sn_trap_names(SN_STR("/shop//red/"), a), 2);
    CHECK_EQ(sn_trap_names(SN_STR("/shop+red,shop%2bblue%2Cred"), b), 3); /* each once */
    CHECK(a[0] == b[0] && a[1] == b[1]);
    CHECK_EQ(sn_trap_names(SN_STR("/a%2"), a), 1);
    CHECK_EQ(
        sn_trap_names(SN_STR("/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/"
                             "22/23/24/25/26/27/28/29/30/31/32/33"),
                      a),
        SN_TRAP_SEGMENTS);
}

TEST(trap_residue_of_names_in_any_order_is_one)
{
    uint64_t one = sn_trap_unordered(SN_STR("/shop/red/tiny")).hash;

    CHECK_EQ(one, sn_trap_unordered(SN_STR("/tiny/shop/red/")).hash);
    CHECK_EQ(one, sn_trap_unordered(SN_STR("/shop/tiny+red")).hash);
    CHECK(one != sn_trap_unordered(SN_STR("/shop/red")).hash);
    CHECK(one != sn_trap_unordered(SN_STR("/shop/red/huge")).hash);
}
