/* SPDX-License-Identifier: Apache-2.0 */
/* Where a URL stands in a fetch that runs. */
#include "engine/url_question.h"

#include <string.h>

#include "check.h"
#include "engine/fetch.h"
#include "engine/fetch_watch.h"
#include "gather.h"
#include "script.h"
#include "seine/crawl.h"

typedef struct place {
    script *script;
    seine_fetch *fetch;
    gather got;
} place;

static seine_fetch_opts
polite(const place *p)
{
    seine_fetch_opts o = script_opts(p->script);

    o.dedup = o.mine = o.adaptive = false;
    o.host_rate = (seine_rate){1, SEINE_SECS(10), 3};
    return o;
}

static void
open_fetch(place *p, seine_fetch_opts *o)
{
    seine_diag diag = SEINE_DIAG;

    o->threads = 0;
    o->on_record = gather_record;
    o->arg = &p->got;
    CHECK_EQ(sn_fetch_open(o, script_net(p->script), &p->fetch, &diag), SEINE_OK);
}

static void
add(place *p, const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(p->fetch, &a, NULL), SEINE_OK);
}

static void
pass(place *p, seine_span span)
{
    seine_time until = script_now(p->script) + span;

    while (script_now(p->script) < until)
        sn_fetch_turn(p->fetch, until);
}

static void
close_fetch(place *p)
{
    seine_fetch_free(p->fetch);
    script_free(p->script);
}

/* Asks, and lets the shard have one turn. */
static sn_url_answer
ask(place *p, const char *url)
{
    sn_url_question *q = NULL;
    sn_url_answer a;

    CHECK_EQ(sn_url_question_ask(p->fetch, url, strlen(url), &q), SEINE_OK);
    CHECK(!sn_url_question_get(q, &a));
    pass(p, SEINE_MS(1));
    CHECK(sn_url_question_get(q, &a));
    sn_url_question_drop(q);
    return a;
}

TEST(url_question_tells_what_the_limiter_of_the_host_has_left)
{
    static place p;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    open_fetch(&p, &o);
    add(&p, "http://a.test/1");
    pass(&p, SEINE_SECS(1));
    sn_url_answer a = ask(&p, "http://a.test/other");
    CHECK(a.is_known);
    CHECK_STR(a.row.wait.host, "a.test");
    CHECK_EQ(a.row.burst, 3);
    CHECK_EQ(a.row.tokens, 2);
    for (int i = 0; i < 4; i++)
        add(&p, "http://a.test/2");
    pass(&p, SEINE_SECS(1));
    a = ask(&p, "http://a.test/");
    CHECK_EQ(a.row.tokens, 0);
    CHECK(a.row.wait.is_held);
    CHECK_EQ(a.row.wait.why, SEINE_WAIT_HOST_RATE);
    CHECK(a.row.wait.until > a.now);
    CHECK_EQ(a.robots, SN_ROBOTS_SAYS_NOTHING);
    CHECK(!ask(&p, "http://b.test/").is_known);
    close_fetch(&p);
}

TEST(url_question_without_a_rate_knows_of_no_tokens)
{
    static place p;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    o.host_rate.count = 0;
    open_fetch(&p, &o);
    add(&p, "http://a.test/1");
    pass(&p, SEINE_SECS(1));
    CHECK_EQ(ask(&p, "http://a.test/").row.burst, 0);
    close_fetch(&p);
}

TEST(url_question_tells_why_a_breaker_is_open)
{
    static place p;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    o.host_rate.count = 0;
    o.mine = true;
    o.queue = 100;
    o.breaker.open_for = o.breaker.open_max = SEINE_SECS(600);
    o.park = 0;
    script_add(p.script, "http://a.test/", &(answer){.status = 503});
    open_fetch(&p, &o);
    for (int i = 0; i < 20; i++)
        add(&p, "http://a.test/");
    pass(&p, SEINE_SECS(30));
    sn_url_answer a = ask(&p, "http://a.test/x");
    CHECK_EQ(a.row.wait.breaker, SEINE_BREAKER_OPEN);
    CHECK(a.row.wait.cause != SEINE_OK);
    CHECK(a.row.wait.failures > 0);
    close_fetch(&p);
}

TEST(url_question_of_a_crawl_names_the_line_of_robots_txt)
{
    static const struct {
        const char *url;
        sn_robots_says says;
        const char *rule;
    } rows[] = {{"http://a.test/x/1", SN_ROBOTS_SAYS_DENY, "robots.txt:2 Disallow: /x"},
                {"http://a.test/x/ok", SN_ROBOTS_SAYS_ALLOW, "robots.txt:3 Allow: /x/ok"},
                {"http://a.test/y", SN_ROBOTS_SAYS_ALLOW, ""}};
    static place p;
    seine_crawl_opts c = SEINE_CRAWL_OPTS;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    o.crawl = &c;
    o.robots = SEINE_OBEY_ON;
    script_on(p.script, "http://a.test/robots.txt",
              &(answer){.body = "User-agent: *\nDisallow: /x\nAllow: /x/ok\n"});
    open_fetch(&p, &o);
    add(&p, "http://a.test/");
    pass(&p, SEINE_SECS(30));
    EACH_ROW(i, rows) {
        sn_url_answer a = ask(&p, rows[i].url);

        CHECK_EQ(a.robots, rows[i].says);
        CHECK_STR(a.rule, rows[i].rule);
        CHECK_EQ(a.row.robots, SN_ROBOTS_SAYS_ALLOW); /* of its front page */
    }
    close_fetch(&p);
}

TEST(url_question_of_a_crawl_knows_a_robots_txt_that_cannot_be_had)
{
    static place p;
    seine_crawl_opts c = SEINE_CRAWL_OPTS;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    o.crawl = &c;
    o.robots = SEINE_OBEY_ON;
    script_on(p.script, "http://a.test/robots.txt",
              &(answer){.status = 500, .takes = SEINE_SECS(3)});
    open_fetch(&p, &o);
    add(&p, "http://a.test/");
    pass(&p, SEINE_SECS(1));
    CHECK_EQ(ask(&p, "http://a.test/").robots, SN_ROBOTS_SAYS_ASKED);
    sn_url_answer a = ask(&p, "http://a.test/");
    for (int i = 0; i < 600 && a.robots == SN_ROBOTS_SAYS_ASKED; i++) { /* retries */
        pass(&p, SEINE_SECS(1));
        a = ask(&p, "http://a.test/");
    }
    CHECK_EQ(a.robots, SN_ROBOTS_SAYS_UNREACHABLE);
    CHECK(a.row.wait.is_robots);
    close_fetch(&p);
}

TEST(url_question_outlives_the_fetch_and_the_fetch_outlives_it)
{
    static place p;
    sn_url_question *kept = NULL, *dropped = NULL;
    sn_url_answer a;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    open_fetch(&p, &o);
    CHECK_EQ(sn_url_question_ask(p.fetch, "http://a.test/", 14, &kept), SEINE_OK);
    CHECK_EQ(sn_url_question_ask(p.fetch, "http://a.test/", 14, &dropped), SEINE_OK);
    sn_url_question_drop(dropped);
    close_fetch(&p);
    CHECK(sn_url_question_get(kept, &a)); /* answered at the end */
    CHECK(!a.is_known);
    sn_url_question_drop(kept);
    sn_url_question_drop(NULL);
}

TEST(url_question_refuses_what_has_no_host)
{
    static place p;
    sn_url_question *q = NULL;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    open_fetch(&p, &o);
    CHECK_EQ(sn_url_question_ask(p.fetch, "a.test", 6, &q), SEINE_E_BAD_URL);
    CHECK_EQ(sn_url_question_ask(p.fetch, "data:x", 6, &q), SEINE_E_BAD_URL);
    CHECK(!q);
    close_fetch(&p);
}

TEST(url_question_rows_of_hosts_have_tokens_too)
{
    static place p;
    static sn_host_row rows[4];
    size_t n = 0;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = polite(&p);
    open_fetch(&p, &o);
    add(&p, "http://a.test/1");
    pass(&p, SEINE_SECS(1));
    uint64_t ticket =
        seine_fetch_waits_look(p.fetch, &(seine_fetch_look){.is_all = true});
    CHECK(!sn_fetch_rows(p.fetch, ticket, rows, 4, &n));
    pass(&p, SEINE_MS(1));
    CHECK(sn_fetch_rows(p.fetch, ticket, rows, 4, &n));
    CHECK_EQ(n, 1);
    CHECK_EQ(rows[0].tokens, 2);
    CHECK_EQ(rows[0].burst, 3);
    close_fetch(&p);
}
