/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/robots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "seine/time.h"
#include "text/robots.h"

static seine_robots *
robots(const char *text)
{
    seine_robots *r = NULL;

    CHECK_EQ(seine_robots_new(text, strlen(text), &r), SEINE_OK);
    return r;
}

static seine_robots_verdict
asked(const seine_robots *r, const char *agent, const char *url)
{
    seine_robots_verdict v = {.line = 99};

    seine_robots_check(r, agent, url, strlen(url), &v);
    return v;
}

static bool
allows(const char *text, const char *agent, const char *url)
{
    seine_robots *r = robots(text);
    bool allowed = asked(r, agent, url).allowed;

    seine_robots_free(r);
    return allowed;
}

static const char *
text_of(seine_view v)
{
    static char out[2][256];
    static int turn;
    char *to = out[turn ^= 1];

    snprintf(to, sizeof out[0], "%.*s", (int)v.len, v.ptr ? v.ptr : "");
    return v.ptr ? to : "-";
}

TEST(robots_say_which_line_decides)
{
    seine_robots *r = robots("# all\nUser-agent: *\nDisallow: /cgi # scripts\n\n"
                             "user-agent: Other\r\nallow: /\r\n");
    seine_robots_verdict v = asked(r, "seine", "https://e.example/cgi/x");

    CHECK(!v.allowed);
    CHECK_STR(text_of(v.rule), "Disallow: /cgi");
    CHECK_EQ(v.line, 3);
    CHECK_STR(text_of(v.group), "*");
    v = asked(r, "seine", "https://e.example/");
    CHECK(v.allowed && v.line == 0 && !v.rule.ptr);
    CHECK_STR(text_of(v.group), "*");
    v = asked(r, "oTHER/1.0", "https://e.example/cgi/x");
    CHECK(v.allowed);
    CHECK_STR(text_of(v.rule), "allow: /");
    CHECK_EQ(v.line, 6);
    CHECK_STR(text_of(v.group), "Other");
    seine_robots_free(r);
}

TEST(robots_groups_that_name_the_agent_count_together_and_alone)
{
    const char *text = "User-agent: *\nDisallow: /all\n"
                       "User-agent: seine\nDisallow: /one\n"
                       "User-agent: x\nUser-agent: SEINE\nDisallow: /two\n";

    CHECK(allows(text, "seine", "/all"));
    CHECK(!allows(text, "seine", "/one"));
    CHECK(!allows(text, "seine", "/two"));
    CHECK(!allows(text, "x", "/two"));
    CHECK(allows(text, "x", "/one"));
    CHECK(!allows(text, "y", "/all"));
    CHECK(allows(text, "y", "/one"));
    CHECK(allows("User-agent: seine\nUser-agent: *\nDisallow: /\nUser-agent: seine\n",
                 "z", "/") == false);
    /* A group without rules names the agent, too. */
    CHECK(allows("User-agent: *\nDisallow: /\n\nUser-agent: seine\n", "seine", "/"));
    CHECK(!allows("User-agent: *\nDisallow: /\n", "seine", "/"));
    CHECK(allows("User-agent: other\nDisallow: /\n", "seine", "/"));
    CHECK(allows("Disallow: /\n", "seine", "/")); /* of nobody's group */
    CHECK(allows("", "seine", "/"));
}

TEST(robots_an_agent_is_letters_and_a_star_is_everybody)
{
    CHECK(!allows("User-agent: seine/2.0 (x)\nDisallow: /\n", "seine", "/"));
    CHECK(!allows("User-agent: * x\nDisallow: /\n", "seine", "/"));
    CHECK(allows("User-agent: *x\nDisallow: /\n", "seine", "/"));
    CHECK(allows("User-agent: seinebot\nDisallow: /\n", "seine", "/"));
    CHECK(allows("User-agent: sei\nDisallow: /\n", "seine", "/"));
    CHECK(allows("User-agent:\nDisallow: /\n", "seine", "/"));
    CHECK(allows("User-agent: *\nDisallow: /\nUser-agent: *\nAllow: /\n", "a", "/"));
}

TEST(robots_the_longest_pattern_wins_and_allow_between_equals)
{
    static const struct {
        const char *rules, *url;
        bool allowed;
    } rows[] = {
        {"Disallow: /a\nAllow: /a/b\n", "/a/b/c", true},
        {"Allow: /a/b\nDisallow: /a\n", "/a/c", false},
        {"Disallow: /a\nAllow: /a\n", "/a", true},
        {"Allow: /a\nDisallow: /a\n", "/a", true},
        {"Allow: /a\nDisallow: /*b\n", "/ab", false}, /* a star counts as a byte */
        {"Disallow:\n", "/", true},                   /* nothing is forbidden */
        {"Disallow: /\nAllow:\n", "/", false},
    };

    EACH_ROW(i, rows) {
        char text[256];

        snprintf(text, sizeof text, "User-agent: *\n%s", rows[i].rules);
        CHECK_EQ(allows(text, "seine", rows[i].url), rows[i].allowed);
    }
}

TEST(robots_patterns_have_stars_and_an_end)
{
    static const struct {
        const char *pattern, *target;
        bool match;
    } rows[] = {
        {"/", "/x", true},
        {"/fish", "/fish.html", true},
        {"/fish", "/Fish", false},
        {"/fish*", "/fish", true},
        {"/*.php", "/a/b.php?c", true},
        {"/*.php$", "/a/b.php", true},
        {"/*.php$", "/a/b.php?c", false},
        {"/a$", "/a", true},
        {"/a$", "/ab", false},
        {"/a$b", "/a$b", true}, /* an end at the end alone */
        {"*", "/x", true},
        {"*$", "/x", true},
        {"/a*b*c", "/axbxc", true},
        {"/a*b*c", "/axcxb", false},
        {"/a**b", "/a-b", true},
        {"/*a$", "/aaa", true}, /* the last one counts */
        {"/*ab$", "/ab-ab", true},
        {"/a*a$", "/a", false},
        {"$", "/", false},
        {"/x*", "/", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_robots_match(sn_str_of(rows[i].target), sn_str_of(rows[i].pattern)),
                 rows[i].match);
}

TEST(robots_escapes_are_compared_without_regard_to_case)
{
    CHECK(!allows("User-agent: *\nDisallow: /%e3%83%84\n", "a", "/%E3%83%84"));
    CHECK(!allows("User-agent: *\nDisallow: /%E3%83%84\n", "a", "/%e3%83%84"));
    CHECK(!allows("User-agent: *\nDisallow: /\xe3\x83\x84\n", "a", "/%E3%83%84"));
    CHECK(allows("User-agent: *\nDisallow: /%62\n", "a", "/b")); /* nothing is undone */
    CHECK(!allows("User-agent: *\nDisallow: /%zz\n", "a", "/%zz"));
}

TEST(robots_forgive_what_people_write)
{
    static const char *const rows[] = {
        "User-agent: *\rDisallow: /\r",
        "user-agent:*\r\ndisallow:/\r\n",
        "\xef\xbb\xbfUser-agent: *\nDisallow: /",
        "\xef\xbbUser-agent: *\nDisallow: /",
        "User-agent *\nDisallow /\n",
        "  User-agent : *\n\tDisallow : /\n",
        "useragent: *\ndissallow: /\n",
        "User agent: *\nDisalow: /\n",
        "User-agent: *\nDisallowed: /\n",
        "User-agent: *\n\n\nDisallow: /\n",
        "User-agent: *\nNoise\nx: y\nDisallow: / # all\n",
        "User-agent: *\nSitemap: x\nDisallow: /\n",
        "User-agent: a\nUser-agent: *\nCrawl-delay: 3\nDisallow: /\n",
    };

    EACH_ROW(i, rows)
        CHECK(!allows(rows[i], "seine", "/x"));
    CHECK(allows("User-agent: *\nDisallow / x\n", "seine", "/")); /* three words */
    CHECK(allows("User-agent: *\n#Disallow: /\n", "seine", "/"));
    CHECK(allows("User-agent: *\n: /\n", "seine", "/"));
}

TEST(robots_know_delays_and_sitemaps)
{
    seine_robots *r = robots("Sitemap: https://e.example/a.xml\nUser-agent: *\n"
                             "Crawl-delay: 2\nDisallow: /x\nsite-map: /b.xml # y\n"
                             "User-agent: slow\nCrawl-delay: 0.25\nCrawl-delay: x\n"
                             "User-agent: slow\nDisallow:\nCrawl-delay: 1.5\n"
                             "User-agent: huge\nCrawl-delay: 99999999999\n"
                             "Disallow: /\nUser-agent: none\nDisallow: /\n");
    seine_view url;

    CHECK_EQ(seine_robots_delay(r, "seine"), SEINE_SECS(2));
    CHECK_EQ(seine_robots_delay(r, "slow"), SEINE_MS(1500));
    CHECK_EQ(seine_robots_delay(r, "huge"), SEINE_SECS(INT64_C(1000000000)));
    CHECK_EQ(seine_robots_delay(r, "none"), -1);
    CHECK(seine_robots_sitemap(r, 0, &url));
    CHECK_STR(text_of(url), "https://e.example/a.xml");
    CHECK(seine_robots_sitemap(r, 1, &url));
    CHECK_STR(text_of(url), "/b.xml");
    CHECK(!seine_robots_sitemap(r, 2, &url));
    seine_robots_free(r);
}

TEST(robots_target_is_what_follows_the_host)
{
    static const struct {
        const char *url, *target;
    } rows[] = {
        {"", "/"},
        {"http://www.example.com", "/"},
        {"http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"},
        {"http://www.example.com/a?b#c", "/a?b"},
        {"http://www.example.com?a", "/?a"},
        {"http://www.example.com;a", "/;a"},
        {"example.com/a", "/a"},
        {"//a/b/c", "/b/c"},
        {"/a//b", "/a//b"},
        {"/a%c3", "/a%C3"},
        {"a#b", "/"},
    };

    EACH_ROW(i, rows) {
        static char mem[SN_ROBOTS_URL + 1], got[256];
        sn_str t = sn_robots_target(sn_str_of(rows[i].url), mem);

        snprintf(got, sizeof got, "%.*s", SN_FMT(t));
        CHECK_STR(got, rows[i].target);
    }
}

TEST(robots_have_512_kib_and_no_half_a_line)
{
    size_t n = SEINE_ROBOTS_BYTES;
    char *text = malloc(n + 64);
    seine_robots *r = NULL;
    static const char last[] = "\nDisallow: /a";

    memset(text, '#', n + 64);
    memcpy(text, "User-agent: *\n", 14);
    /* The line ends with the last byte of 512 KiB: whole as long as nothing follows. */
    memcpy(text + n - 13, last, 13);
    CHECK_EQ(seine_robots_new(text, n, &r), SEINE_OK);
    CHECK(!asked(r, "x", "/a").allowed);
    seine_robots_free(r);
    memcpy(text + n, "bc\n", 3);
    CHECK_EQ(seine_robots_new(text, n + 3, &r), SEINE_OK);
    CHECK(asked(r, "x", "/a").allowed);
    seine_robots_free(r);
    /* With its end inside, it counts. */
    memcpy(text + n - 14, "\nDisallow: /a\nx", 15);
    CHECK_EQ(seine_robots_new(text, n + 1, &r), SEINE_OK);
    CHECK(!asked(r, "x", "/a").allowed);
    seine_robots_free(r);
    free(text);
}

TEST(robots_survive_any_failed_allocation)
{
    FAIL_EACH(n)
    {
        char text[2048] = "User-agent: *\n";
        seine_robots *r = NULL;

        for (int i = 0; i < 100; i++)
            memcpy(text + 14 + 13 * i, "Disallow: /x\n", 14);
        seine_err e = seine_robots_new(text, strlen(text), &r);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_robots_free(r);
    }
    seine_robots_free(NULL);
}

/* The reference: a star matches any number of bytes, tried one by one. */
static bool
plain(const char *t, const char *p)
{
    if (!*p || (p[0] == '$' && !p[1]))
        return !*p || !*t;
    if (*p == '*')
        return plain(t, p + 1) || (*t && plain(t + 1, p));
    return *t == *p && plain(t + 1, p + 1);
}

TEST(robots_match_agrees_with_the_plain_reading)
{
    static const char in_pattern[] = "ab**$", in_target[] = "ab$";
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 20000; round++) {
        char p[10] = "", t[12] = "";
        size_t n = sn_rng_below(&rng, 9), m = sn_rng_below(&rng, 11);

        for (size_t i = 0; i < n; i++)
            p[i] = in_pattern[sn_rng_below(&rng, 5)];
        for (size_t i = 0; i < m; i++)
            t[i] = in_target[sn_rng_below(&rng, 3)];
        if (sn_robots_match(sn_str_of(t), sn_str_of(p)) != plain(t, p))
            check_fail(__FILE__, __LINE__, "'%s' of '%s'", p, t);
    }
}

static void
write_line(const seine_robots_line *line, void *arg)
{
    char *out = arg;

    snprintf(out + strlen(out), 400 - strlen(out), "%u %d %.*s|", line->line, line->kind,
             (int)line->text.len, line->text.ptr);
    if (line->kind == SEINE_ROBOTS_DELAY)
        CHECK_EQ(line->delay, SEINE_MS(1500));
}

TEST(robots_show_every_line_that_counts_for_an_agent)
{
    static const char text[] = "Sitemap: /s.xml\n"      /* 1 */
                               "User-agent: seine\n"    /* 2 */
                               "User-agent: other\n"    /* 3 */
                               "Crawl-delay: 1.5 # s\n" /* 4 */
                               "Disallow: /a\n"         /* 5 */
                               "User-agent: *\n"        /* 6 */
                               "Disallow: /\n"          /* 7 */
                               "User-agent: SEINE/2\n"  /* 8 */
                               "Allow: /a/b\n"          /* 9 */
                               "Nonsense: x\n";         /* 10 */
    static const struct {
        const char *agent, *want;
    } rows[] = {
        {"seine",
         "1 4 /s.xml|2 0 User-agent: seine|4 3 Crawl-delay: 1.5|5 2 Disallow: /a|"
         "8 0 User-agent: SEINE/2|9 1 Allow: /a/b|"},
        {"Other/1.0", "1 4 /s.xml|3 0 User-agent: other|4 3 Crawl-delay: 1.5|"
                      "5 2 Disallow: /a|"},
        {"nobody", "1 4 /s.xml|6 0 User-agent: *|7 2 Disallow: /|"},
    };

    EACH_ROW(i, rows) {
        char got[400] = "";
        seine_robots *r = robots(text);

        seine_robots_each(r, rows[i].agent, write_line, got);
        CHECK_STR(got, rows[i].want);
        seine_robots_free(r);
    }
}
