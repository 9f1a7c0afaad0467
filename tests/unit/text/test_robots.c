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

    CHECK_EQ(seine_robots_check(r, agent, url, strlen(url), &v), SEINE_OK);
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

static void
write_line(const seine_robots_line *line, void *arg)
{
    char *out = arg;

    snprintf(out + strlen(out), 400 - strlen(out), "%u %d %.*s|", line->line, line->kind,
             (int)line->text.len, line->text.ptr);
    if (line->kind == SEINE_ROBOTS_DELAY)
        snprintf(out + strlen(out), 400 - strlen(out), "%lld ms|",
                 (long long)(line->delay / SEINE_MS(1)));
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

TEST(robots_an_agent_is_a_product_token_and_a_star_is_everybody)
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

/* Both are normalised, as the parser and the judge do. */
static bool
matches(const char *target, const char *pattern)
{
    static char mem[2][SN_ROBOTS_TARGET];
    sn_str t = {mem[0], sn_robots_normal_target(sn_str_of(target), mem[0])};
    sn_str p = {mem[1], sn_robots_normal_pattern(sn_str_of(pattern), false, mem[1])};
    uint32_t steps = 0;

    return sn_robots_match(t, p, &steps);
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
        CHECK_EQ(matches(rows[i].target, rows[i].pattern), rows[i].match);
}

/* RFC 9309, 2.2.2 and 2.2.3: a rule and a URL are compared in one spelling. */
TEST(robots_compare_both_sides_in_one_spelling)
{
    static const struct {
        const char *pattern, *url;
        bool match;
    } rows[] = {
        /* the RFC's own examples */
        {"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
        {"/path/file-with-a-%2a.html", "/path/file-with-a-%2A.html", true},
        {"/path/file-with-a-%2A.html", "/path/file-with-a-b.html", false},
        {"/path/foo-%24", "/path/foo-$", true},
        {"/path/foo-%24", "/path/foo-%24", true},
        {"/path/foo-%24", "/path/foo-", false},
        {"/path/foo-$", "/path/foo-$", false}, /* an end */
        {"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
        {"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true},
        {"/foo/bar?baz=https%3a%2f%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
        {"/foo/bar/\xe3\x83\x84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%E3%83%84", "/foo/bar/\xe3\x83\x84", true},
        {"/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
        {"/foo/bar/baz", "/foo/bar/%62%61%7a", true},
        /* characters that need no escape, in both directions */
        {"/~joe", "/%7Ejoe/", true},
        {"/%7ejoe/", "/~joe/x", true},
        {"/%2D%2E%5F%7E", "/-._~", true},
        /* those that do */
        {"/a<b", "/a%3Cb", true},
        {"/a%3cb", "/a<b", true},
        {"/a b", "/a%20b", true},
        {"/a%20b", "/a b", true},
        {"/{x}", "/%7Bx%7D", true},
        {"/%7Bx%7D", "/{x}", true},
        {"/a^b", "/a%5Eb", true},
        {"/a%5eb", "/a^b", true},
        {"/a|b", "/a%7Cb", true},
        {"/a\"b", "/a%22b", true},
        {"/a`b", "/a%60b", true},
        {"/a[b]", "/a%5Bb%5D", true}, /* RFC 3986 has no brackets in a path or a query */
        {"/a?b[]=1", "/a?b%5B%5D=1", true},
        {"/a%5bb%5d", "/a[b]", true},
        {"/\xc3\xa9t\xc3\xa9", "/%C3%A9t%C3%A9", true},
        /* reserved ones keep what they mean */
        {"/b%2Fc", "/b/c", false},
        {"/b/c", "/b%2Fc", false},
        {"/b%2Fc", "/b%2fc", true},
        {"/b%3Fc", "/b?c", false},
        {"/b?c", "/b%3Fc", false},
        {"/b%3Bc", "/b;c", false},
        {"/b?x%3Dy", "/b?x=y", false},
        {"/b?x%26y", "/b?x&y", false},
        {"/b%2Bc", "/b+c", false},
        {"/b%3Ac", "/b:c", false},
        {"/b?u=%2Fc", "/b?u=/c", true}, /* but in a query a slash is a slash */
        {"/b?u=/c", "/b?u=%2fc", true},
        {"/b?u=%40", "/b?u=@", true},
        {"/b?u=%3F", "/b?u=?", true},
        /* behind a star nobody knows where the query begins */
        {"/*/print", "/a?u=/print", true},
        {"/*/print", "/a?u=%2Fprint", true},
        {"/*%2Fprint", "/a?u=%2Fprint", true},
        {"/*%2Fprint", "/a?u=/print", true},
        {"/*%2Fprint", "/a%2Fprint", true},
        {"/*%2Fprint", "/a/print", false}, /* in a path they differ */
        {"/*%2Fprint$", "/a?u=/print", true},
        {"/a%2F*%3Ac", "/a%2Fb?x:c", true},
        {"/a%2F*%3Ac", "/a/b?x:c", false},
        {"/a$*%3Ac", "/a$b?x:c", true},
        /* what is no escape is itself */
        {"/%zz", "/%zz", true},
        {"/%zz", "/%25zz", true},
        {"/100%", "/100%", true},
        {"/100%", "/100%25", true},
        {"/%", "/%41", false}, /* half an escape matches none */
        {"/%4", "/A", false},
        {"/%41", "/%2541", false}, /* escapes are undone once */
        {"/a$b", "/a$b", true},
        {"/a$b", "/a%24b", true},
        {"/a$b$", "/a$b", true},
        {"/a$$", "/a$", true},
        {"/a$$", "/a$b", false},
        {"/a?", "/a?b", true},
        {"/a?", "/a", false},
    };

    EACH_ROW(i, rows) {
        char text[256];

        snprintf(text, sizeof text, "User-agent: *\nDisallow: %s\n", rows[i].pattern);
        CHECK_EQ(!allows(text, "seine", rows[i].url), rows[i].match);
    }
}

TEST(robots_a_raw_star_or_end_of_a_url_is_no_sign)
{
    CHECK(!allows("User-agent: *\nDisallow: /a*c\n", "s", "/a*c"));
    CHECK(!allows("User-agent: *\nDisallow: /a*c$\n", "s", "/a$c"));
    CHECK(allows("User-agent: *\nDisallow: /a%2Ac\n", "s", "/abc"));
}

TEST(robots_txt_itself_is_always_allowed)
{
    static const char text[] = "User-agent: *\nDisallow: /\nDisallow: /robots.txt\n";
    seine_robots *r = robots(text);
    seine_robots_verdict v = asked(r, "seine", "https://e.example/robots.txt");

    CHECK(v.allowed && v.line == 0);
    CHECK_STR(text_of(v.group), "*");
    CHECK(asked(r, "seine", "/%72obots.txt").allowed);
    CHECK(!asked(r, "seine", "/robots.txt?x").allowed);
    CHECK(!asked(r, "seine", "/robots.txt/").allowed);
    CHECK(!asked(r, "seine", "/a/robots.txt").allowed);
    CHECK(!asked(r, "seine", "/Robots.txt").allowed);
    seine_robots_free(r);
}

TEST(robots_product_tokens_have_digits)
{
    static const char text[] = "User-agent: MJ12bot\nDisallow: /a\n"
                               "User-agent: 008/1.0\nDisallow: /b\n"
                               "User-agent: MJ\nDisallow: /c\n";

    CHECK(!allows(text, "MJ12bot", "/a"));
    CHECK(!allows(text, "mj12BOT/v1.4.8", "/a"));
    CHECK(allows(text, "MJ12bot", "/c"));
    CHECK(!allows(text, "MJ", "/c"));
    CHECK(allows(text, "MJ", "/a"));
    CHECK(!allows(text, "008", "/b"));
    CHECK(allows(text, "MJ12", "/a"));
}

TEST(robots_the_token_of_a_header_is_that_of_the_crawler)
{
    static const struct {
        const char *header, *token;
    } rows[] = {
        {"mybot", "mybot"},
        {"mybot/1.0 (+https://e.example)", "mybot"},
        {"Mozilla/5.0 (compatible; mybot/1)", "mybot"},
        {"Mozilla/5.0 (compatible;mybot)", "mybot"},
        {"Mozilla/5.0 (Compatible;  MJ12bot/v1.4.8; http://e.example/)", "MJ12bot"},
        {"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; "
         "+http://e.example) Chrome/1.2 Safari/537.36",
         "bingbot"},
        {"Mozilla/5.0 (Linux; Android 6) Chrome/1 (compatible; Google-bot/2.1)",
         "Google-bot"},
        {"Mozilla/5.0 (X11; Linux x86_64) Firefox/120.0", "Mozilla"},
        {"Mozilla/5.0 (compatible; )", "Mozilla"},
        {"Mozilla/5.0 (compatible", "Mozilla"},
        {"other (compatible; mybot/1)", "other"},
        {"  mybot", "mybot"},
        {"(x)", ""},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        sn_str got = sn_robots_agent(sn_str_of(rows[i].header));
        char name[SN_ROBOTS_AGENT_ROOM];

        CHECK(sn_str_eq(got, sn_str_of(rows[i].token)));
        sn_robots_name_agent(NULL, rows[i].header, name);
        CHECK_STR(name, rows[i].token);
        sn_robots_name_agent("given", rows[i].header, name);
        CHECK_STR(name, "given");
    }
    CHECK(!allows("User-agent: mybot\nDisallow: /\n", rows[2].header, "/"));
    CHECK(allows("User-agent: mozilla\nDisallow: /\n", rows[2].header, "/"));
}

TEST(robots_a_delay_belongs_to_the_agents_above_it)
{
    static const char text[] = "User-agent: a\nCrawl-delay: 1\n"
                               "User-agent: b\nCrawl-delay: 10\nDisallow: /x\n"
                               "User-agent: c\nUser-agent: d\nCrawl-delay: 3\n"
                               "User-agent: e\nDisallow: /y\nCrawl-delay: 4\n"
                               "User-agent: f\nDisallow: /z\n";
    static const struct {
        const char *agent;
        int64_t delay;
        bool x, y;
    } rows[] = {
        {"a", SEINE_SECS(1), false, true}, /* a delay does not end a group: 2.2.4 */
        {"b", SEINE_SECS(10), false, true},
        {"c", SEINE_SECS(3), true, false},
        {"d", SEINE_SECS(3), true, false},
        {"e", SEINE_SECS(4), true, false},
        {"f", -1, true, true},
        {"g", -1, true, true},
    };
    seine_robots *r = robots(text);

    EACH_ROW(i, rows) {
        CHECK_EQ(seine_robots_delay(r, rows[i].agent), rows[i].delay);
        CHECK_EQ(asked(r, rows[i].agent, "/x").allowed, rows[i].x);
        CHECK_EQ(asked(r, rows[i].agent, "/y").allowed, rows[i].y);
    }
    seine_robots_free(r);
}

TEST(robots_a_delay_is_a_number_of_seconds)
{
    static const struct {
        const char *text;
        int64_t delay;
    } rows[] = {
        {"2", SEINE_SECS(2)},
        {".5", SEINE_MS(500)},
        {"1.", SEINE_SECS(1)},
        {"0.25", SEINE_MS(250)},
        {"0", 0},
        {"0.0", 0},
        {"1.5009", SEINE_MS(1500)},
        {"1000000000", SEINE_SECS(1000000000)},
        {"99999999999999999999999", SEINE_SECS(1000000000)},
        {"1000000000.999", SEINE_SECS(1000000000)},
        {"", -1},
        {".", -1},
        {"x", -1},
        {"1.2.3", -1},
        {"-1", -1},
        {"+1", -1},
        {"1s", -1},
        {"1e3", -1},
        {"1 2", -1},
        {"1,5", -1},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_robots_seconds(sn_str_of(rows[i].text)), rows[i].delay);
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

TEST(robots_judge_what_follows_the_host)
{
    static const struct {
        const char *url, *pattern;
    } rows[] = {
        {"http://www.example.com", "/$"},
        {"http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/$"},
        {"https://www.example.com/a?b#c", "/a?b$"},
        {"HTTP://u:p@www.example.com:8080?a", "/?a$"},
        {"/a//b", "/a//b$"},
        {"//a/b/c", "//a/b/c$"}, /* a target, not a host */
        {"http://www.example.com//a/b", "//a/b$"},
        {"/a/./b/../c", "/a/c$"}, /* as a crawl asks for it */
        {"http://www.example.com/a\\b", "/a/b$"},
        {"/a#b", "/a$"},
    };

    EACH_ROW(i, rows) {
        char text[128];

        snprintf(text, sizeof text, "User-agent: *\nDisallow: %s\n", rows[i].pattern);
        CHECK(!allows(text, "seine", rows[i].url));
    }
}

TEST(robots_what_is_no_url_is_never_allowed)
{
    static const char *const rows[] = {
        "",        "x",        "e.example/a", "mailto:a@e.example", "ftp://e.example/",
        "http://", "?a",       "http://a b/", "javascript:x",       "*",
        "#a",      "http:///", "\\a",
    };
    seine_robots *r = robots("");
    static char longest[SEINE_URL_MAX + 2];

    EACH_ROW(i, rows) {
        seine_robots_verdict v = {.line = 7};

        CHECK_EQ(seine_robots_check(r, "s", rows[i], strlen(rows[i]), &v),
                 SEINE_E_BAD_URL);
        CHECK_EQ(v.line, 7);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[0] = '/';
    CHECK_EQ(
        seine_robots_check(r, "s", longest, strlen(longest), &(seine_robots_verdict){0}),
        SEINE_E_BAD_URL);
    seine_robots_free(r);
}

TEST(robots_an_empty_sitemap_is_none)
{
    seine_robots *r = robots("Sitemap:\nSitemap: # x\nSitemap: /a.xml\n");
    seine_view url;

    CHECK(seine_robots_sitemap(r, 0, &url));
    CHECK_STR(text_of(url), "/a.xml");
    CHECK(!seine_robots_sitemap(r, 1, &url));
    seine_robots_free(r);
}

/* The rules of one agent, and all rules asked by that agent, say the same. */
TEST(robots_for_one_agent_keep_its_groups_and_answer_alike)
{
    static const char many[] =
        "User-agent: *\nDisallow: /all\nCrawl-delay: 5\nSitemap: /s\n"
        "User-agent: seine\nDisallow: /one\nAllow: /one/x\n"
        "User-agent: other\nDisallow: /\nCrawl-delay: 9\n"
        "User-agent: x\nUser-agent: Seine/2\nDisallow: /two\nCrawl-delay: 2\n";
    static const char *const texts[] = {
        many,
        "User-agent: *\nDisallow: /all\nUser-agent: other\nDisallow: /\n",
        "User-agent: seine\nUser-agent: *\n",
        "Disallow: /\n",
        "",
    };
    static const char *const urls[] = {"/",      "/all", "/one",
                                       "/one/x", "/two", "/robots.txt"};

    EACH_ROW(i, texts) {
        seine_robots *all = robots(texts[i]), *one = NULL;
        char got[2][400] = {"", ""};

        CHECK_EQ(seine_robots_new_for(texts[i], strlen(texts[i]), "SEINE/1 (x)", &one),
                 SEINE_OK);
        for (size_t k = 0; k < sizeof urls / sizeof *urls; k++) {
            seine_robots_verdict a = asked(all, "seine", urls[k]);
            seine_robots_verdict b = asked(one, NULL, urls[k]);

            CHECK_EQ(a.allowed, b.allowed);
            CHECK_EQ(a.line, b.line);
            CHECK_STR(text_of(a.group), text_of(b.group));
            CHECK_STR(text_of(a.rule), text_of(b.rule));
        }
        CHECK_EQ(seine_robots_delay(all, "seine"), seine_robots_delay(one, NULL));
        seine_robots_each(all, "seine", write_line, got[0]);
        seine_robots_each(one, "other", write_line, got[1]); /* it is not looked at */
        CHECK_STR(got[0], got[1]);
        CHECK(sn_robots_bytes(one) <= sn_robots_bytes(all));
        seine_robots_free(all);
        seine_robots_free(one);
    }
}

TEST(robots_for_one_agent_do_not_hold_the_rules_of_others)
{
    size_t n = SEINE_ROBOTS_BYTES, at = 0;
    char *text = malloc(n);
    seine_robots *r = NULL;

    while (at + 40 < n)
        at += (size_t)snprintf(text + at, n - at, "User-agent: o%zu\nDisallow: /%zu\n",
                               at, at);
    CHECK_EQ(seine_robots_new_for(text, at, "seine", &r), SEINE_OK);
    CHECK(sn_robots_bytes(r) < 1024);
    seine_robots_free(r);
    CHECK_EQ(seine_robots_new(text, at, &r), SEINE_OK);
    CHECK(sn_robots_bytes(r) < 4 * n);
    CHECK(!asked(r, "o0", "/0").allowed);
    seine_robots_free(r);
    free(text);
}

/* 32,000 rules that each pass over all of a long URL. */
TEST(robots_rules_that_take_too_many_steps_refuse)
{
    size_t n = SEINE_ROBOTS_BYTES, at = 14;
    char *text = malloc(n);
    static char url[8001];
    seine_robots *r = NULL;
    seine_robots_verdict v;

    memcpy(text, "User-agent: *\n", 14);
    for (; at + 16 <= n; at += 16)
        memcpy(text + at, "disallow:*aaaab\n", 16);
    memset(url, 'a', sizeof url - 1);
    url[0] = '/';
    CHECK_EQ(seine_robots_new_for(text, at, "seine", &r), SEINE_OK);
    uint32_t steps = sn_robots_judge(r, NULL, sn_str_of(url), &v);
    CHECK(!v.allowed && v.is_over && v.line == 0 && !v.rule.ptr);
    CHECK(steps > SN_ROBOTS_STEPS && steps <= SN_ROBOTS_STEPS + 8002 + 8000 / 8 + 1);
    sn_robots_judge(r, NULL, SN_STR("/aaaab"), &v); /* what a rule says, it says */
    CHECK(!v.allowed && !v.is_over && v.line == 2);
    steps = sn_robots_judge(r, NULL, SN_STR("/x"), &v);
    CHECK(v.allowed && steps < 100000);
    seine_robots_free(r);
    free(text);
}

/* A turn pays for what the rules alone do not count. */
TEST(robots_long_targets_and_late_groups_cost_steps)
{
    enum { GROUPS = 10000 };
    static const char group[] = "User-agent: *\nDisallow: /00000\n";
    char *text = malloc(GROUPS * sizeof group + 1);
    static char url[8001];
    size_t at = 0;
    seine_robots *r = NULL;
    seine_robots_verdict v;

    for (int i = 0; i < GROUPS; i++)
        at += (size_t)snprintf(text + at, sizeof group,
                               "User-agent: *\nDisallow: /%05d\n", i);
    memset(url, 'a', sizeof url - 1);
    url[0] = '/';
    CHECK_EQ(seine_robots_new_for(text, at, "seine", &r), SEINE_OK);
    CHECK(sn_robots_judge(r, NULL, sn_str_of(url), &v) >= GROUPS + 1000);
    CHECK(v.allowed);
    CHECK(sn_robots_judge(r, NULL, SN_STR("/09999"), &v) >= 2 * GROUPS);
    CHECK(!v.allowed && v.line == 2 * GROUPS);
    seine_robots_free(r);
    free(text);
}

/* Stars without anything between them cost steps, too. */
TEST(robots_stars_in_a_row_cost_steps)
{
    char pattern[1001];
    uint32_t steps = 0;

    memset(pattern, '*', 1000);
    pattern[1000] = '\0';
    CHECK(sn_robots_match(SN_STR("/x"), sn_str_of(pattern), &steps));
    CHECK(steps >= 1000);
}

TEST(robots_lines_have_any_bytes_and_any_length)
{
    size_t n = 40000;
    char *text = malloc(n);
    seine_robots *r = NULL;

    memset(text, 'x', n);
    memcpy(text, "User-agent: *\n", 14);
    memcpy(text + 14, "Disallow: /", 11); /* 20,000 bytes: cut at 16,663 */
    memcpy(text + 20000, "\nDisallow: /y\n", 14);
    CHECK_EQ(seine_robots_new(text, n, &r), SEINE_OK);
    CHECK(!asked(r, "s", "/y").allowed && asked(r, "s", "/x").allowed);
    seine_robots_free(r);
    free(text);
    static const char nul[] =
        "\0\0\nUser-agent: *\n\0Disallow: /a\nDisallow: /b\0c\nDisallow: /d\n";
    CHECK_EQ(seine_robots_new(nul, sizeof nul - 1, &r), SEINE_OK);
    CHECK(asked(r, "s", "/a").allowed && asked(r, "s", "/b").allowed);
    CHECK(!asked(r, "s", "/b%00c").allowed && !asked(r, "s", "/d").allowed);
    seine_robots_free(r);
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
        if (matches(t, p) != plain(t, p))
            check_fail(__FILE__, __LINE__, "'%s' of '%s'", p, t);
    }
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
         "1 4 /s.xml|2 0 User-agent: seine|4 3 Crawl-delay: 1.5|1500 ms|5 2 Disallow: /a|"
         "8 0 User-agent: SEINE/2|9 1 Allow: /a/b|"},
        {"Other/1.0", "1 4 /s.xml|3 0 User-agent: other|4 3 Crawl-delay: 1.5|1500 ms|"
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
