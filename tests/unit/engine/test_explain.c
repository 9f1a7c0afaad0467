/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/explain.h"

#include <string.h>

#include "check.h"
#include "failing.h"

typedef struct asked {
    seine_fetch_opts opts;
    seine_crawl_opts crawl;
    seine_explain *x;
    seine_robots *robots;
    seine_explained got;
} asked;

/* A crawl of http://e.example/ that obeys robots.txt. */
static void
begin(asked *a)
{
    *a = (asked){.opts = SEINE_FETCH_OPTS, .crawl = SEINE_CRAWL_OPTS};
    a->opts.crawl = &a->crawl;
    a->opts.robots = SEINE_OBEY_ON;
}

static void
seed(asked *a)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_explain_new(&a->opts, &a->x, &diag), SEINE_OK);
    CHECK_EQ(seine_explain_seed(a->x, "http://e.example/#top", 21), SEINE_OK);
}

static const seine_explained *
ask(asked *a, const char *url)
{
    seine_robots_state state = a->robots ? SEINE_ROBOTS_PARSED : SEINE_ROBOTS_UNASKED;

    CHECK_EQ(seine_explain_url(a->x, url, strlen(url), state, a->robots, &a->got),
             SEINE_OK);
    return &a->got;
}

static void
rules(asked *a, const char *text)
{
    CHECK_EQ(seine_robots_new(text, strlen(text), &a->robots), SEINE_OK);
}

static void
end(asked *a)
{
    seine_explain_free(a->x);
    seine_robots_free(a->robots);
}

TEST(explain_names_the_rule_that_a_crawl_would_name)
{
    static const char *const exclude[] = {"\\.pdf$", NULL};
    static const struct {
        const char *url, *rule;
        seine_skip reason;
    } rows[] = {
        {"http://e.example/a#b", "", 0},
        {"http://o.example/", "scope host", SEINE_SKIP_OFFSITE},
        {"http://e.example/a.pdf", "exclude '\\.pdf$'", SEINE_SKIP_PATTERN},
        {"http://e.example/cgi/x", "robots.txt:2 Disallow: /cgi", SEINE_SKIP_ROBOTS},
        {"http://e.example/a/a/a/a", "", 0},
        {"mailto:x@e.example", "neither http nor https", SEINE_SKIP_SCHEME},
    };
    asked a;

    begin(&a);
    a.opts.exclude = exclude;
    seed(&a);
    rules(&a, "User-agent: *\nDisallow: /cgi\n");
    EACH_ROW(i, rows) {
        const seine_explained *got = ask(&a, rows[i].url);

        CHECK_STR(got->rule, rows[i].rule);
        CHECK_EQ(got->admitted, rows[i].rule[0] == '\0');
        if (!got->admitted)
            CHECK_EQ(got->reason, rows[i].reason);
    }
    end(&a);
}

/* As sn_admit takes it: patterns that are to be in a URL are for links. */
TEST(explain_judges_a_seed_as_one)
{
    static const char *const include[] = {"/news/", NULL};
    static const char *const exclude[] = {"e[.]example/$", NULL};
    asked a;

    begin(&a);
    a.opts.include = include;
    seed(&a);
    CHECK(ask(&a, "http://e.example/")->admitted);
    CHECK(a.got.is_given && a.got.in_scope);
    CHECK(!ask(&a, "http://e.example/other")->admitted);
    CHECK(ask(&a, "http://e.example/news/1")->admitted);
    end(&a);
    begin(&a);
    a.opts.exclude = exclude;
    seed(&a);
    CHECK(!ask(&a, "http://e.example/")->admitted);
    CHECK_EQ(a.got.reason, SEINE_SKIP_PATTERN);
    end(&a);
    begin(&a);
    a.opts.https_only = true;
    seed(&a);
    CHECK(!ask(&a, "http://e.example/")->admitted);
    CHECK_EQ(a.got.reason, SEINE_SKIP_SCHEME);
    CHECK_STR(a.got.rule, "https only");
    end(&a);
    for (int untrusted = 0; untrusted < 2; untrusted++) {
        begin(&a);
        a.opts.untrusted = untrusted;
        CHECK_EQ(seine_explain_new(&a.opts, &a.x, NULL), SEINE_OK);
        CHECK_EQ(seine_explain_seed(a.x, "http://e.example:25/", 20), SEINE_OK);
        CHECK_EQ(ask(&a, "http://e.example:25/")->admitted, !untrusted);
        CHECK(!ask(&a, "http://e.example:25/link")->admitted);
        CHECK_EQ(a.got.reason, SEINE_SKIP_PORT);
        end(&a);
    }
}

TEST(explain_tells_key_pattern_and_pace)
{
    asked a;

    begin(&a);
    a.opts.strip_params = "utm_*";
    seed(&a);
    rules(&a, "User-agent: seine\nCrawl-delay: 2\nDisallow: /x\n");
    const seine_explained *got =
        ask(&a, "HTTP://u:p@E.example:80/a/7?utm_x=1&b=%7e2&c=3#f");

    CHECK_STR(got->url, "http://e.example/a/7?utm_x=1&b=%7e2&c=3");
    CHECK_STR(got->key, "http://e.example/a/7?b=~2&c=3");
    CHECK_STR(got->pattern, "/a/#?*");
    CHECK_EQ(got->budget, 1000);
    CHECK_EQ(got->delay, SEINE_SECS(2));
    CHECK_EQ(got->every, SEINE_SECS(2));
    CHECK(!got->delay_is_cut && !got->is_given && got->admitted);
    CHECK_STR(seine_explain_agent(a.x), "seine");
    a.opts.max_crawl_delay = SEINE_SECS(1);
    CHECK_EQ(ask(&a, "http://e.example/")->every, SEINE_SECS(1));
    CHECK(a.got.delay_is_cut && a.got.is_given);
    a.opts.robots = SEINE_OBEY_AUDIT; /* its delay is not obeyed either */
    CHECK_EQ(ask(&a, "http://e.example/x")->every, SEINE_MS(200));
    CHECK(a.got.admitted && !a.got.verdict.allowed);
    a.opts.robots = SEINE_OBEY_OFF;
    CHECK_EQ(ask(&a, "http://e.example/x")->robots, SEINE_ROBOTS_UNASKED);
    a.opts.robots = SEINE_OBEY_ON;
    a.opts.mine = true; /* the hosts that are given, and no others */
    CHECK_EQ(ask(&a, "http://e.example/x")->every, 0);
    CHECK_EQ(a.got.robots, SEINE_ROBOTS_UNASKED);
    CHECK_EQ(ask(&a, "http://o.example/x")->every, SEINE_SECS(1));
    end(&a);
}

TEST(explain_takes_an_answer_as_a_crawl_does)
{
    static const struct {
        seine_err code;
        uint16_t status;
        seine_robots_state want;
    } rows[] = {
        {SEINE_OK, 200, SEINE_ROBOTS_PARSED},
        {SEINE_E_HTTP, 404, SEINE_ROBOTS_ABSENT},
        {SEINE_E_HTTP, 429, SEINE_ROBOTS_UNREACHABLE},
        {SEINE_E_HTTP, 503, SEINE_ROBOTS_UNREACHABLE},
        {SEINE_E_TOO_MANY_REDIRECTS, 302, SEINE_ROBOTS_ABSENT},
        {SEINE_E_CONNECT_REFUSED, 0, SEINE_ROBOTS_UNREACHABLE},
    };

    EACH_ROW(i, rows) {
        seine_fault f = SEINE_FAULT;
        seine_robots_state state;
        seine_robots *r = NULL;

        f.code = rows[i].code;
        f.status = rows[i].status;
        seine_explain_robots(&f, (seine_view){"User-agent: *\n", 14}, &state, &r);
        CHECK_EQ(state, rows[i].want);
        CHECK_EQ(r != NULL, state == SEINE_ROBOTS_PARSED);
        seine_robots_free(r);
    }
    CHECK_STR(seine_robots_state_name(SEINE_ROBOTS_UNREACHABLE), "unreachable");
    CHECK_STR(seine_robots_state_name((seine_robots_state)9), "?");
}

TEST(explain_says_that_nothing_is_allowed_while_rules_cannot_be_had)
{
    asked a;

    begin(&a);
    seed(&a);
    CHECK_EQ(seine_explain_url(a.x, "http://e.example/", 17, SEINE_ROBOTS_UNREACHABLE,
                               NULL, &a.got),
             SEINE_OK);
    CHECK(!a.got.admitted);
    CHECK_EQ(a.got.reason, SEINE_SKIP_ROBOTS_UNREACHABLE);
    end(&a);
}

TEST(explain_refuses_what_nobody_crawls)
{
    asked a;

    begin(&a);
    seed(&a);
    CHECK_EQ(seine_explain_seed(a.x, "mailto:a@e.example", 18), SEINE_E_BLOCKED_SCHEME);
    CHECK_EQ(seine_explain_seed(a.x, "nowhere", 7), SEINE_E_BAD_URL);
    CHECK_EQ(seine_explain_seed(NULL, "http://e.example/", 17), SEINE_E_INVAL);
    CHECK_EQ(seine_explain_url(NULL, "http://e.example/", 17, SEINE_ROBOTS_UNASKED, NULL,
                               &a.got),
             SEINE_E_INVAL);
    CHECK_EQ(seine_explain_url(a.x, "nowhere", 7, SEINE_ROBOTS_UNASKED, NULL, &a.got),
             SEINE_E_BAD_URL);
    end(&a);
    a.opts.crawl = NULL;
    CHECK_EQ(seine_explain_new(&a.opts, &a.x, NULL), SEINE_E_INVAL);
}

TEST(explain_survives_every_allocation_that_fails)
{
    FAIL_EACH(r)
    {
        asked a;

        begin(&a);
        seine_err e = seine_explain_new(&a.opts, &a.x, NULL);
        if (e == SEINE_OK)
            e = seine_explain_seed(a.x, "http://e.example/", 17);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_explain_free(a.x);
    }
}
