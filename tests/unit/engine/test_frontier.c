/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/frontier.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "failing.h"
#include "script.h"

enum { MOST = 400 };

/* What a record said. */
typedef struct told {
    bool is_skip;
    seine_fate fate;
    seine_skip reason;
    seine_err code;
    uint16_t status;
    uint32_t depth, line;
    char url[128], parent[128], final_url[128], rule[96], tag[16];
} told;

typedef struct world {
    script *s;
    seine_crawl_opts crawl;
    seine_fetch_opts o;
    seine_fetch *f;
    seine_fetch_stats stats;
    char last_event[32];
    unsigned n, traps; /* records; events of that name */
    told all[MOST];
} world;

static void
keep(char *out, size_t cap, seine_view v)
{
    snprintf(out, cap, "%.*s", (int)v.len, v.ptr ? v.ptr : "");
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    world *w = arg;

    (void)shard;
    if (w->n >= MOST)
        return;
    told *t = &w->all[w->n++];
    *t = (told){.is_skip = r->type == SEINE_RECORD_SKIP,
                .fate = r->fate,
                .reason = r->reason,
                .code = r->fault->code,
                .status = r->status,
                .depth = r->depth,
                .line = r->via.line};
    keep(t->url, sizeof t->url, r->url.ptr ? r->url : r->input);
    keep(t->parent, sizeof t->parent, r->parent);
    keep(t->final_url, sizeof t->final_url, r->final_url);
    keep(t->rule, sizeof t->rule, r->rule);
    keep(t->tag, sizeof t->tag, r->via.tag);
}

static void
on_event(const seine_event *e, unsigned shard, void *arg)
{
    world *w = arg;

    (void)shard;
    snprintf(w->last_event, sizeof w->last_event, "%s", e->name);
    if (strcmp(e->name, "robots.unreachable") == 0) /* and why */
        CHECK(e->cause != SEINE_OK);
    w->traps += strcmp(e->name, "trap") == 0;
}

/* A crawl without limits that matter: tests set those they are about. */
static world *
prepare(void)
{
    static world w;

    memset(&w, 0, sizeof w);
    w.s = script_new(NULL);
    w.crawl = seine_crawl_defaults();
    w.crawl.sitemaps = SEINE_SITEMAPS_OFF;
    w.o = script_opts(w.s);
    w.o.mine = false;
    w.o.adaptive = false;
    w.o.host_rate.count = 0;
    w.o.per_ip = 0;
    w.o.crawl = &w.crawl;
    w.o.robots = SEINE_OBEY_ON;
    w.o.on_record = on_record;
    w.o.on_event = on_event;
    w.o.arg = &w;
    script_on(w.s, "http://a.test/robots.txt", &(answer){.status = 404});
    return &w;
}

static void
page(world *w, const char *url, const char *body)
{
    script_on(w->s, url, &(answer){.fields = "Content-Type: text/html", .body = body});
}

static void
text(world *w, const char *url, const char *body)
{
    script_on(w->s, url, &(answer){.fields = "Content-Type: text/plain", .body = body});
}

static void
moves(world *w, const char *url, const char *location)
{
    static char fields[8][128];
    static unsigned at;
    char *mem = fields[at++ % 8];

    snprintf(mem, sizeof fields[0], "Location: %s", location);
    script_on(w->s, url, &(answer){.status = 302, .fields = mem});
}

static void
open(world *w)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_fetch_open(&w->o, script_net(w->s), &w->f, &diag), SEINE_OK);
}

static void
give(world *w, const char *url)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(w->f, &ask, NULL), SEINE_OK);
}

/* Given + found = admitted + refused, and each has one record. */
static void
close_world(world *w)
{
    CHECK_EQ(seine_fetch_finish(w->f, NULL), SEINE_OK);
    seine_fetch_stats_get(w->f, &w->stats);
    CHECK_EQ(w->stats.admitted + w->stats.refused, w->n);
    CHECK_EQ(w->stats.done, w->stats.admitted);
    CHECK_EQ(w->stats.waiting + w->stats.in_flight, 0);
    CHECK_EQ(w->stats.unread, 0);
    for (unsigned i = 0; i < w->n; i++)
        for (unsigned j = i + 1; j < w->n; j++)
            CHECK(strcmp(w->all[i].url, w->all[j].url) != 0);
    seine_fetch_free(w->f);
}

static void
crawl(world *w, const char *seed)
{
    open(w);
    give(w, seed);
    close_world(w);
}

static const told *
told_of(const world *w, const char *url)
{
    static const told none = {.url = "no record", .reason = SEINE_SKIP_ROOM};

    for (unsigned i = 0; i < w->n; i++)
        if (strcmp(w->all[i].url, url) == 0)
            return &w->all[i];
    return &none;
}

static bool
is_ok(const world *w, const char *url)
{
    const told *t = told_of(w, url);

    return strcmp(t->url, url) == 0 && !t->is_skip && t->fate == SEINE_FATE_OK;
}

static bool
is_skipped(const world *w, const char *url, seine_skip reason)
{
    const told *t = told_of(w, url);

    return t->is_skip && t->reason == reason;
}

#define BYE(w) script_free((w)->s)

TEST(frontier_follows_links_and_says_where_they_were)
{
    world *w = prepare();

    page(w, "http://a.test/",
         "<a href=b>B</a>\n\n<a href='/c?x#frag'>C</a><a href=b#again>B</a>");
    page(w, "http://a.test/b", "<a href=/>home</a><link rel=next href=d>");
    crawl(w, "http://a.test/");
    CHECK_EQ(w->n, 4);
    CHECK(is_ok(w, "http://a.test/") && is_ok(w, "http://a.test/b"));
    CHECK(is_ok(w, "http://a.test/c?x") && is_ok(w, "http://a.test/d"));
    CHECK_EQ(told_of(w, "http://a.test/")->depth, 0);
    CHECK_STR(told_of(w, "http://a.test/")->parent, "");
    CHECK_EQ(told_of(w, "http://a.test/c?x")->depth, 1);
    CHECK_EQ(told_of(w, "http://a.test/c?x")->line, 3);
    CHECK_STR(told_of(w, "http://a.test/c?x")->parent, "http://a.test/");
    CHECK_STR(told_of(w, "http://a.test/c?x")->tag, "a");
    CHECK_EQ(told_of(w, "http://a.test/d")->depth, 2);
    CHECK_STR(told_of(w, "http://a.test/d")->tag, "link");
    CHECK_EQ(w->stats.duplicates, 2);
    CHECK_EQ(script_asked(w->s, "http://a.test/b"), 1);
    BYE(w);
}

TEST(frontier_asks_for_robots_txt_before_anything_else_and_obeys)
{
    world *w = prepare();

    text(w, "http://r.test/robots.txt", "User-agent: *\nDisallow: /x\n");
    page(w, "http://r.test/", "<a href=/x/1>no</a><a href=/y>yes</a>");
    crawl(w, "http://r.test/");
    CHECK_STR(script_request(w->s, 0)->url, "http://r.test/robots.txt");
    CHECK(is_ok(w, "http://r.test/y"));
    CHECK(is_skipped(w, "http://r.test/x/1", SEINE_SKIP_ROBOTS));
    CHECK_STR(told_of(w, "http://r.test/x/1")->rule, "robots.txt:2 Disallow: /x");
    CHECK_EQ(script_asked(w->s, "http://r.test/x/1"), 0);
    CHECK_EQ(w->n, 3); /* robots.txt has no record */
    BYE(w);
}

TEST(frontier_refuses_a_seed_that_robots_txt_forbids)
{
    world *w = prepare();

    text(w, "http://r.test/robots.txt", "User-agent: *\nDisallow: /\n");
    crawl(w, "http://r.test/");
    CHECK_EQ(w->n, 1);
    CHECK(is_skipped(w, "http://r.test/", SEINE_SKIP_ROBOTS));
    CHECK_EQ(script_requests(w->s), 1);
    BYE(w);
}

TEST(hosts_that_are_mine_need_no_robots_txt_unless_it_is_said)
{
    for (int said = 0; said < 2; said++) {
        world *w = prepare();

        w->o.mine = true;
        w->o.robots_on_mine = said;
        text(w, "http://r.test/robots.txt", "User-agent: *\nDisallow: /\n");
        crawl(w, "http://r.test/");
        CHECK_EQ(script_asked(w->s, "http://r.test/robots.txt"), said);
        CHECK_EQ(is_ok(w, "http://r.test/"), !said);
        BYE(w);
    }
}

TEST(frontier_obeys_nothing_in_an_audit)
{
    world *w = prepare();

    w->o.robots = SEINE_OBEY_AUDIT;
    text(w, "http://r.test/robots.txt", "User-agent: *\nDisallow: /\n");
    crawl(w, "http://r.test/");
    CHECK(is_ok(w, "http://r.test/"));
    BYE(w);
}

TEST(frontier_gives_up_on_a_host_without_robots_txt_when_nothing_else_is_left)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_ANY;
    w->o.retry.max_attempts = 3;
    page(w, "http://a.test/", "<a href=http://bad.test/1>1</a><a href=/2>2</a>");
    script_on(w->s, "http://bad.test/robots.txt", &(answer){.status = 503});
    crawl(w, "http://a.test/");
    CHECK(is_ok(w, "http://a.test/2"));
    CHECK(is_skipped(w, "http://bad.test/1", SEINE_SKIP_ROBOTS_UNREACHABLE));
    CHECK_EQ(script_asked(w->s, "http://bad.test/1"), 0);
    CHECK_STR(w->last_event, "robots.unreachable");
    BYE(w);
}

/* One request in seven hours. /c ends 25 h after robots.txt was read, and leads to a URL
 * while others of its host wait already. */
TEST(frontier_reads_a_robots_txt_again_that_is_a_day_old)
{
    world *w = prepare();
    seine_span hour = SEINE_SECS(3600);

    w->o.host_rate = (seine_rate){1, 7 * hour, 1};
    w->o.timeout = w->o.head_timeout = w->o.retry.max_elapsed = 1000 * hour;
    page(w, "http://a.test/", "<a href=b>b</a><a href=c>c</a><a href=d>d</a>");
    script_on(w->s, "http://a.test/c",
              &(answer){.fields = "Content-Type: text/html",
                        .body = "<a href=new>new</a>",
                        .takes = 4 * hour});
    crawl(w, "http://a.test/");
    CHECK_EQ(w->n, 5);
    CHECK_EQ(script_asked(w->s, "http://a.test/robots.txt"), 2);
    CHECK_STR(script_request(w->s, 4)->url, "http://a.test/robots.txt");
    CHECK(is_ok(w, "http://a.test/d") && is_ok(w, "http://a.test/new"));
    BYE(w);
}

TEST(frontier_asks_again_for_robots_txt_while_there_is_other_work)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_ANY;
    w->o.retry.max_attempts = 1;
    page(w, "http://a.test/", "<a href=http://bad.test/1>1</a><a href=/slow>2</a>");
    w->o.timeout = SEINE_SECS(100);
    script_on(w->s, "http://a.test/slow", &(answer){.takes = SEINE_SECS(90)});
    script_on(w->s, "http://bad.test/robots.txt", &(answer){.status = 503},
              &(answer){.status = 404});
    crawl(w, "http://a.test/");
    CHECK_EQ(script_asked(w->s, "http://bad.test/robots.txt"), 2);
    for (unsigned i = 0; i < script_requests(w->s); i++) /* the other work goes on */
        CHECK(script_request(w->s, i)->at < T0 + SEINE_SECS(90));
    CHECK(is_ok(w, "http://bad.test/1"));
    BYE(w);
}

TEST(frontier_keeps_the_crawl_delay)
{
    world *w = prepare();

    text(w, "http://r.test/robots.txt", "User-agent: *\nCrawl-delay: 3\n");
    page(w, "http://r.test/", "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>");
    crawl(w, "http://r.test/");
    CHECK_EQ(script_requests(w->s), 5);
    for (unsigned i = 2; i < 5; i++)
        CHECK(script_request(w->s, i)->at - script_request(w->s, i - 1)->at >=
              SEINE_SECS(3));
    BYE(w);
}

TEST(a_redirect_is_a_link)
{
    world *w = prepare();

    page(w, "http://a.test/", "<a href=/old>old</a><a href=/out>out</a>");
    moves(w, "http://a.test/old", "/new");
    moves(w, "http://a.test/out", "http://other.test/");
    page(w, "http://a.test/new", "<a href=/below>x</a>");
    crawl(w, "http://a.test/");
    CHECK(is_ok(w, "http://a.test/old"));
    CHECK_EQ(told_of(w, "http://a.test/old")->status, 302);
    CHECK_STR(told_of(w, "http://a.test/old")->final_url, "http://a.test/new");
    CHECK(is_ok(w, "http://a.test/new"));
    CHECK_EQ(told_of(w, "http://a.test/new")->depth, 1); /* that of the redirect */
    CHECK_EQ(told_of(w, "http://a.test/below")->depth, 2);
    CHECK(is_ok(w, "http://a.test/out"));
    CHECK(is_skipped(w, "http://other.test/", SEINE_SKIP_OFFSITE));
    BYE(w);
}

TEST(redirects_in_a_row_have_an_end)
{
    world *w = prepare();

    w->o.max_redirects = 3;
    for (int i = 0; i < 6; i++) {
        char from[32], to[32];
        snprintf(from, sizeof from, "http://a.test/%d", i);
        snprintf(to, sizeof to, "/%d", i + 1);
        moves(w, from, to);
    }
    moves(w, "http://a.test/loop", "/loop");
    open(w);
    give(w, "http://a.test/0");
    give(w, "http://a.test/loop");
    close_world(w);
    CHECK(is_ok(w, "http://a.test/2"));
    CHECK_EQ(told_of(w, "http://a.test/3")->code, SEINE_E_TOO_MANY_REDIRECTS);
    CHECK_EQ(script_asked(w->s, "http://a.test/4"), 0);
    CHECK_EQ(script_asked(w->s, "http://a.test/loop"), 1);
    BYE(w);
}

TEST(a_seed_takes_the_scope_along_within_its_domain)
{
    world *w = prepare();

    script_on(w->s, "http://site.test/robots.txt", &(answer){.status = 404});
    moves(w, "http://site.test/", "http://www.site.test/");
    page(w, "http://www.site.test/", "<a href=/1>1</a><a href=http://x.site.test/>2</a>");
    crawl(w, "http://site.test/");
    CHECK(is_ok(w, "http://www.site.test/1"));
    CHECK(is_skipped(w, "http://x.site.test/", SEINE_SKIP_OFFSITE));
    BYE(w);
}

TEST(too_deep_is_told_at_the_end_unless_another_link_leads_there)
{
    world *w = prepare();

    w->crawl.depth = 1;
    w->crawl.scope = SEINE_SCOPE_ANY;
    page(w, "http://a.test/", "<a href=/1>1</a>");
    page(w, "http://a.test/1", "<a href=/deep>2</a><a href=http://b.test/x>3</a>");
    script_on(w->s, "http://b.test/",
              &(answer){.fields = "Content-Type: text/html",
                        .body = "<a href=/x>x</a>",
                        .takes = SEINE_SECS(9)});
    open(w);
    give(w, "http://a.test/");
    give(w, "http://b.test/");
    close_world(w);
    CHECK(is_skipped(w, "http://a.test/deep", SEINE_SKIP_DEPTH));
    CHECK_STR(told_of(w, "http://a.test/deep")->rule, "depth");
    CHECK_EQ(told_of(w, "http://a.test/deep")->depth, 2);
    CHECK(is_ok(w, "http://b.test/x"));
    BYE(w);
}

TEST(how_far_a_crawl_reaches_does_not_depend_on_slow_pages)
{
    world *w = prepare();

    /* /long/… reaches /goal at depth 3, /short at depth 2; its page is slow. */
    w->crawl.depth = 3;
    page(w, "http://a.test/", "<a href=/short>s</a><a href=/l1>l</a>");
    page(w, "http://a.test/l1", "<a href=/l2>l</a>");
    page(w, "http://a.test/l2", "<a href=/goal>l</a>");
    script_on(w->s, "http://a.test/short",
              &(answer){.fields = "Content-Type: text/html",
                        .body = "<a href=/goal>g</a>",
                        .takes = SEINE_SECS(20)});
    page(w, "http://a.test/goal", "<a href=/beyond>b</a>");
    crawl(w, "http://a.test/");
    CHECK_EQ(told_of(w, "http://a.test/goal")->depth, 2);
    CHECK(is_ok(w, "http://a.test/beyond"));
    BYE(w);
}

/* /m moves to /x, which is as deep as /m, when /deep of the next level waits already. */
TEST(a_page_of_a_level_that_has_begun_goes_before_the_next_level)
{
    world *w = prepare();

    w->crawl.depth = 3;
    page(w, "http://a.test/", "<a href=/m>m</a><a href=/s>s</a>");
    script_on(
        w->s, "http://a.test/m",
        &(answer){.status = 302, .fields = "Location: /x", .takes = SEINE_SECS(20)});
    page(w, "http://a.test/s", "<a href=/deep>d</a>");
    crawl(w, "http://a.test/");
    CHECK_EQ(script_requests(w->s), 6);
    CHECK_STR(script_request(w->s, 4)->url, "http://a.test/x");
    CHECK_STR(script_request(w->s, 5)->url, "http://a.test/deep");
    BYE(w);
}

TEST(nofollow_is_obeyed_unless_another_link_leads_there)
{
    world *w = prepare();

    page(w, "http://a.test/",
         "<a rel=nofollow href=/1>1</a><a rel='nofollow ugc' href=/2>2</a><a "
         "href=/3>3</a>");
    page(w, "http://a.test/3",
         "<meta name=robots content='noindex, nofollow'><a href=/4>4</a>");
    page(w, "http://a.test/5", "<a href=/2>2</a>");
    open(w);
    give(w, "http://a.test/");
    give(w, "http://a.test/5");
    close_world(w);
    CHECK(is_skipped(w, "http://a.test/1", SEINE_SKIP_NOFOLLOW));
    CHECK_STR(told_of(w, "http://a.test/1")->rule, "nofollow");
    CHECK(is_ok(w, "http://a.test/2"));
    CHECK(is_skipped(w, "http://a.test/4", SEINE_SKIP_NOFOLLOW));
    BYE(w);

    w = prepare();
    w->crawl.nofollow = false;
    page(w, "http://a.test/", "<a rel=nofollow href=/1>1</a>");
    crawl(w, "http://a.test/");
    CHECK(is_ok(w, "http://a.test/1"));
    BYE(w);
}

/* Links of all kinds, each twice or more, on two pages. */
static void
crawl_doubles(world *w, bool is_closed)
{
    page(w, "http://a.test/",
         "<a href=/1>1</a><a href=/1#x>1</a><a rel=nofollow href=/n>n</a>"
         "<a rel=nofollow href=/n>n</a><a href=http://other.test/>o</a>"
         "<a href=http://other.test/>o</a><a href='http://a.test:99999/'>bad</a>"
         "<a href='http://a.test:99999/'>bad</a><a href=mailto:x@a.test>m</a>"
         "<a href=mailto:x@a.test>m</a><a href=/>home</a>");
    page(w, "http://a.test/1",
         "<a href=/deep>d</a><a href=/deep>d</a><a href=/n>n</a><a href=/>home</a>");
    w->crawl.depth = 1;
    open(w);
    give(w, "http://a.test/");
    for (int i = 0; !is_closed && i < 100; i++)
        sn_fetch_turn(w->f, script_now(w->s) + SEINE_MS(5));
    CHECK_EQ(w->n > 0, !is_closed); /* read while seeds may still come */
    close_world(w);
}

TEST(a_link_is_a_record_or_a_duplicate)
{
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        world *w = prepare();

        crawl_doubles(w, is_closed);
        CHECK_EQ(w->n, 7);
        CHECK_EQ(w->stats.duplicates, 1 + 11 + 4 - 7);
        CHECK(is_skipped(w, "http://a.test/n", SEINE_SKIP_NOFOLLOW));
        CHECK(is_skipped(w, "http://a.test/deep", SEINE_SKIP_DEPTH));
        CHECK(is_skipped(w, "http://other.test/", SEINE_SKIP_OFFSITE));
        BYE(w);
    }
}

/* Without skips what is offsite, and other schemes, are not even remembered. */
TEST(without_skips_a_link_of_this_site_is_a_record_or_a_duplicate)
{
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        world *w = prepare();

        w->crawl.skips = false;
        crawl_doubles(w, is_closed);
        CHECK_EQ(w->n, 5);
        CHECK(is_skipped(w, "http://a.test/n", SEINE_SKIP_NOFOLLOW));
        CHECK(is_skipped(w, "http://a.test/deep", SEINE_SKIP_DEPTH));
        BYE(w);
    }
}

static const char *const odd_page =
    "<a href=http://other.test/>o</a><a href=mailto:x@a.test>m</a>"
    "<a href='http://a.test:99999/'>bad</a><a href='http://a.test:25/'>port</a>"
    "<a href=/x/x/x/x>spiral</a>";

TEST(what_is_not_followed_has_a_record_with_its_reason)
{
    world *w = prepare();

    page(w, "http://a.test/", odd_page);
    crawl(w, "http://a.test/");
    CHECK(is_skipped(w, "http://other.test/", SEINE_SKIP_OFFSITE));
    CHECK(is_skipped(w, "mailto:x@a.test", SEINE_SKIP_SCHEME));
    CHECK(is_skipped(w, "http://a.test:99999/", SEINE_SKIP_BAD_URL));
    CHECK(is_skipped(w, "http://a.test:25/", SEINE_SKIP_OFFSITE));
    CHECK_STR(told_of(w, "http://other.test/")->rule, "scope host");
    CHECK_STR(told_of(w, "mailto:x@a.test")->rule, "neither http nor https");
    CHECK_STR(told_of(w, "http://a.test:99999/")->rule, "not a port number");
    CHECK(is_ok(w, "http://a.test/x/x/x/x")); /* its shape alone refuses nothing */
    CHECK_EQ(w->n, 6);
    BYE(w);
}

TEST(a_port_of_another_protocol_is_not_asked_wherever_a_crawl_may_go)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_ANY;
    page(w, "http://a.test/", "<a href='http://a.test:25/'>port</a>");
    crawl(w, "http://a.test/");
    CHECK(is_skipped(w, "http://a.test:25/", SEINE_SKIP_PORT));
    CHECK_STR(told_of(w, "http://a.test:25/")->rule, "a port of another protocol");
    BYE(w);
}

TEST(a_link_that_is_too_long_is_told_as_far_as_it_fits)
{
    static char body[9000];
    world *w = prepare();
    size_t n = (size_t)snprintf(body, sizeof body, "<a href=/");

    memset(body + n, 'a', sizeof body - n);
    memcpy(body + sizeof body - 8, ">x</a>", 7);
    page(w, "http://a.test/", body);
    crawl(w, "http://a.test/");
    CHECK_EQ(w->n, 2);
    for (unsigned i = 0; i < 2; i++)
        CHECK(!w->all[i].is_skip || w->all[i].reason == SEINE_SKIP_TOO_LONG);
    CHECK(w->all[0].is_skip != w->all[1].is_skip);
    BYE(w);
}

TEST(a_seed_that_comes_late_brings_its_site_into_scope)
{
    world *w = prepare();

    page(w, "http://a.test/",
         "<a href=http://b.test/1>1</a><a href=http://b.test/>b</a>"
         "<a href=http://c.test/>c</a>"
         "<a rel=nofollow href=http://b.test/no>n</a>");
    page(w, "http://b.test/1", "<a href=/2>2</a>");
    open(w);
    give(w, "http://a.test/");
    for (int i = 0; i < 40 && w->n == 0; i++)
        sn_fetch_turn(w->f, SEINE_NEVER);
    give(w, "http://b.test/");
    close_world(w);
    CHECK(is_ok(w, "http://b.test/"));
    CHECK_EQ(told_of(w, "http://b.test/")->depth, 0);
    CHECK(is_ok(w, "http://b.test/1"));
    CHECK_EQ(told_of(w, "http://b.test/1")->depth, 1);
    CHECK(is_ok(w, "http://b.test/2"));
    CHECK(is_skipped(w, "http://b.test/no", SEINE_SKIP_NOFOLLOW));
    CHECK(is_skipped(w, "http://c.test/", SEINE_SKIP_OFFSITE));
    CHECK_STR(told_of(w, "http://c.test/")->rule, "scope host");
    BYE(w);
}

TEST(without_skips_other_sites_are_not_even_remembered)
{
    world *w = prepare();

    w->crawl.skips = false;
    page(w, "http://a.test/", odd_page);
    crawl(w, "http://a.test/");
    CHECK_EQ(told_of(w, "http://other.test/")->reason, SEINE_SKIP_ROOM);
    CHECK_EQ(told_of(w, "mailto:x@a.test")->reason, SEINE_SKIP_ROOM);
    CHECK(is_ok(w, "http://a.test/x/x/x/x")); /* its shape alone refuses nothing */
    BYE(w);
}

#define XML "Content-Type: application/xml"

TEST(sitemaps_lead_to_pages_that_nothing_links_to)
{
    world *w = prepare();

    w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
    text(w, "http://r.test/robots.txt",
         "Sitemap: /map.xml\nUser-agent: *\nDisallow: /no");
    page(w, "http://r.test/", "nothing");
    script_on(w->s, "http://r.test/map.xml",
              &(answer){.fields = XML,
                        .body = "<sitemapindex><sitemap><loc>http://r.test/m2.xml</loc>"
                                "</sitemap></sitemapindex>"});
    script_on(w->s, "http://r.test/m2.xml",
              &(answer){.fields = XML,
                        .body = "<urlset><url><loc>http://r.test/hidden</loc></url>"
                                "<url><loc>http://r.test/no/1</loc></url>"
                                "<url><loc>http://far.test/</loc></url></urlset>"});
    script_on(w->s, "http://r.test/sitemap.xml", &(answer){.status = 404});
    crawl(w, "http://r.test/");
    CHECK(is_ok(w, "http://r.test/hidden"));
    CHECK_EQ(told_of(w, "http://r.test/hidden")->depth, 1);
    CHECK_STR(told_of(w, "http://r.test/hidden")->parent, "http://r.test/m2.xml");
    CHECK(is_skipped(w, "http://r.test/no/1", SEINE_SKIP_ROBOTS));
    CHECK(is_skipped(w, "http://far.test/", SEINE_SKIP_OFFSITE));
    CHECK_EQ(w->n, 4); /* no record of a sitemap */
    CHECK_EQ(script_asked(w->s, "http://r.test/sitemap.xml"), 1);
    BYE(w);
}

/* What refuses a link refuses a sitemap. */
TEST(sitemaps_pass_the_rules_for_links)
{
    static const char *const none[] = {"private", NULL};
    static const struct {
        const char *url;
        bool https_only, asked;
    } rows[] = {
        {"https://s.test/m.xml", false, true},
        {"https://s.test/m.xml", true, true},
        {"http://s.test/m.xml", false, true}, /* http and https are one host */
        {"http://s.test/m.xml", true, false},
        {"https://s.test:25/m.xml", false, false},
        {"https://s.test/private/m.xml", false, false},
        {"https://sub.s.test/m.xml", false, false},
        {"https://www.s.test/m.xml", false, true},
        {"https://wwwXs.test/m.xml", false, false},
        {"https://user:pass@s.test/m.xml#top", false, true},
        {"ftp://s.test/m.xml", false, false},
    };

    EACH_ROW(i, rows) {
        world *w = prepare();
        char robots[128], url[128];
        const char *at = strchr(rows[i].url, '@');

        w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
        w->o.https_only = rows[i].https_only;
        w->o.exclude = none;
        snprintf(robots, sizeof robots, "Sitemap: %s", rows[i].url);
        snprintf(url, sizeof url, "%s%.*s", at ? "https://" : "",
                 (int)strcspn(at ? at + 1 : rows[i].url, "#"), at ? at + 1 : rows[i].url);
        text(w, "https://s.test/robots.txt", robots);
        page(w, "https://s.test/", "nothing");
        crawl(w, "https://s.test/");
        CHECK_EQ(script_asked(w->s, url), rows[i].asked);
        BYE(w);
    }
}

/* A sitemap that has moved is another sitemap: the robots.txt of its host comes first. */
TEST(a_sitemap_that_moves_obeys_robots_txt_where_it_goes)
{
    world *w = prepare();

    w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
    w->crawl.scope = SEINE_SCOPE_ANY;
    text(w, "http://s.test/robots.txt", "Sitemap: /a.xml\nSitemap: /b.xml");
    page(w, "http://s.test/", "nothing");
    moves(w, "http://s.test/a.xml", "http://t.test/no/a.xml");
    moves(w, "http://s.test/b.xml", "http://t.test/b.xml");
    text(w, "http://t.test/robots.txt", "User-agent: *\nDisallow: /no");
    script_on(
        w->s, "http://t.test/b.xml",
        &(answer){.fields = XML,
                  .body = "<urlset><url><loc>http://t.test/listed</loc></url></urlset>"});
    crawl(w, "http://s.test/");
    CHECK_EQ(script_asked(w->s, "http://t.test/no/a.xml"), 0);
    CHECK_EQ(script_asked(w->s, "http://t.test/b.xml"), 1);
    CHECK(is_ok(w, "http://t.test/listed"));
    BYE(w);
}

TEST(a_sitemap_that_moves_for_ever_ends)
{
    world *w = prepare();

    w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
    text(w, "http://s.test/robots.txt", "Sitemap: /0.xml");
    page(w, "http://s.test/", "nothing");
    for (int i = 0; i < 20; i++) {
        static char from[20][64], to[20][64];

        snprintf(from[i], sizeof from[i], "http://s.test/%d.xml", i);
        snprintf(to[i], sizeof to[i], "Location: /%d.xml", i + 1);
        script_on(w->s, from[i], &(answer){.status = 302, .fields = to[i]});
    }
    crawl(w, "http://s.test/");
    CHECK_EQ(script_asked(w->s, "http://s.test/10.xml"), 1);
    CHECK_EQ(script_asked(w->s, "http://s.test/11.xml"), 0);
    BYE(w);
}

TEST(of_sitemaps_alone_links_are_not_followed)
{
    world *w = prepare();

    w->crawl.sitemaps = SEINE_SITEMAPS_ONLY;
    page(w, "http://a.test/", "<a href=/linked>l</a>");
    script_on(
        w->s, "http://a.test/sitemap.xml",
        &(answer){.fields = XML,
                  .body = "<urlset><url><loc>http://a.test/listed</loc></url></urlset>"});
    crawl(w, "http://a.test/");
    CHECK(is_ok(w, "http://a.test/listed"));
    CHECK_EQ(script_asked(w->s, "http://a.test/linked"), 0);
    BYE(w);
}

TEST(a_dead_host_of_mine_is_not_asked_for_sitemaps)
{
    for (int dead = 0; dead < 2; dead++) {
        world *w = prepare();

        w->o.mine = true;
        w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
        script_on(w->s, "http://a.test/",
                  &(answer){.err = dead ? SEINE_E_CONNECT_REFUSED : SEINE_OK,
                            .unsent = dead,
                            .status = dead ? 0 : 404});
        crawl(w, "http://a.test/");
        CHECK_EQ(script_asked(w->s, "http://a.test/sitemap.xml"), !dead);
        BYE(w);
    }
}

/* A page with so many links; % in `to` is their number. */
static void
many(world *w, const char *url, const char *to, int n)
{
    static char body[65536];
    size_t at = 0, split = strcspn(to, "%");

    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(body + at, sizeof body - at, "<a href='%.*s%d%s'>x</a>",
                               (int)split, to, i, to + split + 1);
    page(w, url, body);
}

static unsigned
count(const world *w, bool is_skip, seine_skip reason)
{
    unsigned n = 0;

    for (unsigned i = 0; i < w->n; i++)
        n += w->all[i].is_skip == is_skip && (!is_skip || w->all[i].reason == reason);
    return n;
}

TEST(budgets_are_kept_to_the_page)
{
    static const struct {
        uint64_t max_pages, per_host;
        const char *format; /* of 100 links */
        unsigned results;
        seine_skip reason;
        const char *rule;
    } rows[] = {
        {10, 0, "/p%", 10, SEINE_SKIP_BUDGET, "max_pages 10"},
        {0, 7, "/p%", 7, SEINE_SKIP_BUDGET, "max_per_host 7"},
    };

    EACH_ROW(i, rows) {
        world *w = prepare();
        w->o.max_pages = rows[i].max_pages;
        w->crawl.max_per_host = rows[i].per_host;
        many(w, "http://a.test/", rows[i].format, 100);
        crawl(w, "http://a.test/");
        CHECK_EQ(count(w, false, 0), rows[i].results);
        CHECK_EQ(count(w, true, rows[i].reason), 101 - rows[i].results);
        CHECK_STR(w->all[w->n > 1].is_skip ? w->all[1].rule : w->all[0].rule,
                  rows[i].rule);
        BYE(w);
    }
}

/* A calendar without an end: each day says the same and leads to the next ones. */
TEST(a_trap_is_told_once)
{
    enum { DAYS = 300 };
    static char bodies[DAYS][200];
    world *w = prepare();
    char url[64];

    w->crawl.pattern_budget = 5;
    w->o.max_pages = 350;
    many(w, "http://a.test/", "/calendar?day=%", DAYS);
    for (int i = 0; i < DAYS; i++) {
        snprintf(url, sizeof url, "http://a.test/calendar?day=%d", i);
        snprintf(bodies[i], sizeof bodies[i],
                 "<title>Calendar</title><p>There is nothing to be seen on this day, and "
                 "nobody will come here for a while.</p>");
        page(w, url, bodies[i]);
    }
    crawl(w, "http://a.test/");
    CHECK(count(w, true, SEINE_SKIP_TRAP) > 50);
    CHECK_EQ(w->traps, 1);
    BYE(w);
}

TEST(a_domain_has_so_many_hosts)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_DOMAIN;
    w->crawl.max_subdomains = 5;
    many(w, "http://a.test/", "http://h%.a.test/", 20);
    crawl(w, "http://a.test/");
    CHECK_EQ(count(w, false, 0), 6);
    CHECK_EQ(count(w, true, SEINE_SKIP_TRAP), 15);
    BYE(w);
}

TEST(a_host_of_a_domain_is_one_host_however_many_pages_it_has)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_DOMAIN;
    w->crawl.max_subdomains = 2;
    page(w, "http://a.test/",
         "<a href='http://x.a.test/1'>1</a><a href='http://x.a.test/2'>2</a>"
         "<a href='http://x.a.test/3'>3</a><a href='http://y.a.test/'>y</a>"
         "<a href='http://z.a.test/'>z</a>");
    crawl(w, "http://a.test/");
    CHECK(is_ok(w, "http://x.a.test/3"));
    CHECK(is_ok(w, "http://y.a.test/"));
    CHECK(is_skipped(w, "http://z.a.test/", SEINE_SKIP_TRAP));
    CHECK_STR(told_of(w, "http://z.a.test/")->rule, "max_subdomains 2: hosts of a.test");
    BYE(w);
}

/* Sitemaps 1 to 4 of robots.txt, each of them with one page. */
static world *
four_sitemaps(void)
{
    static char bodies[4][80];
    world *w = prepare();
    char url[64];

    w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
    w->o.concurrency = 1;
    text(w, "http://r.test/robots.txt",
         "Sitemap: /1.xml\nSitemap: /2.xml\nSitemap: /3.xml\nSitemap: /4.xml\n");
    script_on(w->s, "http://r.test/sitemap.xml", &(answer){.status = 404});
    page(w, "http://r.test/", "nothing");
    for (int i = 0; i < 4; i++) {
        snprintf(url, sizeof url, "http://r.test/%d.xml", i + 1);
        snprintf(bodies[i], sizeof bodies[i],
                 "<urlset><url><loc>http://r.test/p%d</loc></url></urlset>", i + 1);
        script_on(w->s, url, &(answer){.fields = XML, .body = bodies[i]});
    }
    return w;
}

TEST(a_crawl_reads_so_many_sitemaps_and_counts_the_others)
{
    world *w = four_sitemaps();

    w->crawl.max_sitemaps = 2;
    crawl(w, "http://r.test/");
    CHECK(is_ok(w, "http://r.test/p1"));
    CHECK(is_ok(w, "http://r.test/p2"));
    CHECK_EQ(script_asked(w->s, "http://r.test/3.xml"), 0);
    CHECK_EQ(w->stats.sitemaps_over, 3); /* with that of the usual place */
    CHECK_EQ(w->stats.sitemap_bytes_over, 0);
    CHECK_EQ(w->stats.sitemaps_cut, 0);
    CHECK_EQ(w->n, 3);
    BYE(w);
}

TEST(a_crawl_reads_so_many_bytes_of_sitemaps_and_counts_the_others)
{
    world *w = four_sitemaps();

    w->crawl.max_sitemap_bytes = 60; /* the first has less, both have more */
    crawl(w, "http://r.test/");
    CHECK(is_ok(w, "http://r.test/p1"));
    CHECK(is_ok(w, "http://r.test/p2"));
    CHECK_EQ(script_asked(w->s, "http://r.test/3.xml"), 0);
    CHECK_EQ(script_asked(w->s, "http://r.test/4.xml"), 0);
    CHECK_EQ(w->stats.sitemap_bytes_over, 3);
    CHECK_EQ(w->stats.sitemaps_over, 0);
    CHECK_EQ(w->n, 3);
    BYE(w);
}

/* The index has all the bytes, and names three more. */
TEST(a_sitemap_beyond_the_bytes_is_counted_once)
{
    world *w = prepare();

    w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
    w->crawl.max_sitemap_bytes = 60;
    w->o.concurrency = 1;
    text(w, "http://r.test/robots.txt", "Sitemap: /i.xml\n");
    script_on(w->s, "http://r.test/i.xml",
              &(answer){.fields = XML,
                        .body = "<sitemapindex><sitemap><loc>http://r.test/1.xml</loc>"
                                "</sitemap><sitemap><loc>http://r.test/2.xml</loc>"
                                "</sitemap></sitemapindex>"});
    crawl(w, "http://r.test/");
    CHECK_EQ(script_asked(w->s, "http://r.test/1.xml"), 0);
    CHECK_EQ(w->stats.sitemap_bytes_over, 3); /* with that of the usual place */
    BYE(w);
}

/* A host that was found may have thousands of siblings: its usual place is not tried. */
TEST(a_host_that_was_found_is_asked_for_the_sitemaps_it_names_alone)
{
    world *w = prepare();

    w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
    w->crawl.scope = SEINE_SCOPE_DOMAIN;
    page(w, "http://a.test/", "<a href=http://b.a.test/>b</a>");
    text(w, "http://b.a.test/robots.txt", "Sitemap: /named.xml\n");
    crawl(w, "http://a.test/");
    CHECK_EQ(script_asked(w->s, "http://a.test/sitemap.xml"), 1);
    CHECK_EQ(script_asked(w->s, "http://b.a.test/named.xml"), 1);
    CHECK_EQ(script_asked(w->s, "http://b.a.test/sitemap.xml"), 0);
    BYE(w);
}

TEST(a_budget_of_bytes_skips_the_rest)
{
    world *w = prepare();

    w->o.max_bytes = 1;
    w->o.concurrency = 1;
    many(w, "http://a.test/", "/p%", 10);
    crawl(w, "http://a.test/");
    CHECK_EQ(count(w, false, 0), 1);
    CHECK_EQ(count(w, true, SEINE_SKIP_BUDGET), 10);
    BYE(w);
}

TEST(a_budget_of_bytes_counts_for_a_list_too)
{
    world *w = prepare();

    w->o.crawl = NULL;
    w->o.robots = SEINE_OBEY_OFF;
    w->o.max_bytes = 5;
    w->o.concurrency = 1;
    page(w, "http://a.test/0", "12345");
    open(w);
    give(w, "http://a.test/0");
    give(w, "http://a.test/1");
    give(w, "http://a.test/2");
    close_world(w);
    CHECK(is_ok(w, "http://a.test/0"));
    CHECK_EQ(count(w, true, SEINE_SKIP_BUDGET), 2);
    CHECK_EQ(script_requests(w->s), 1);
    BYE(w);
}

TEST(a_stop_in_the_middle_ends_every_url_that_waits)
{
    world *w = prepare();

    w->o.host_rate = (seine_rate){1, SEINE_SECS(1), 1};
    many(w, "http://a.test/", "/p%", 50);
    open(w);
    give(w, "http://a.test/");
    for (int i = 0; i < 40 && w->n < 3; i++)
        sn_fetch_turn(w->f, SEINE_NEVER);
    seine_fetch_stop(w->f, SEINE_E_CANCELED);
    close_world(w);
    CHECK_EQ(w->n, 51);
    unsigned canceled = 0;
    for (unsigned i = 0; i < w->n; i++)
        canceled += w->all[i].fate == SEINE_FATE_CANCELED;
    CHECK(canceled >= 47);
    BYE(w);
}

TEST(what_waits_at_a_host_that_is_given_up_ends_with_it)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_ANY;
    w->o.retry.max_attempts = 1;
    w->o.breaker.failure_threshold = 2;
    w->o.breaker.open_for = SEINE_SECS(1);
    w->o.park = 1;
    w->o.concurrency = 1;
    script_on(w->s, "http://dead.test/robots.txt", &(answer){.status = 404});
    many(w, "http://a.test/", "http://dead.test/%", 30);
    for (int i = 0; i < 30; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://dead.test/%d", i);
        script_on(w->s, url, &(answer){.err = SEINE_E_CONNECT_REFUSED, .unsent = true});
    }
    crawl(w, "http://a.test/");
    CHECK_EQ(w->n, 31);
    unsigned gave_up = 0;
    for (unsigned i = 0; i < w->n; i++)
        gave_up += w->all[i].fate == SEINE_FATE_GAVE_UP;
    CHECK(gave_up >= 15);
    BYE(w);
}

TEST(a_list_obeys_robots_txt_when_it_is_told_to)
{
    world *w = prepare();

    w->o.crawl = NULL;
    text(w, "http://r.test/robots.txt", "User-agent: *\nDisallow: /x\n");
    moves(w, "http://a.test/to", "http://r.test/x");
    open(w);
    give(w, "http://r.test/x");
    give(w, "http://r.test/y");
    give(w, "http://a.test/to");
    CHECK_EQ(seine_fetch_finish(w->f, NULL), SEINE_OK);
    CHECK_EQ(w->n, 3);
    CHECK(is_skipped(w, "http://r.test/x", SEINE_SKIP_ROBOTS));
    CHECK(is_ok(w, "http://r.test/y"));
    CHECK_EQ(script_asked(w->s, "http://r.test/x"),
             0); /* not through a redirect either */
    seine_fetch_free(w->f);
    BYE(w);
}

TEST(a_header_of_the_user_reaches_no_host_that_was_found)
{
    static const seine_field secret = {{"X-Key", 5}, {"sesame", 6}};
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_ANY;
    w->o.fields = &secret;
    w->o.n_fields = 1;
    page(w, "http://a.test/", "<a href=http://b.test/>b</a><a href=/1>1</a>");
    crawl(w, "http://a.test/");
    for (unsigned i = 0; i < script_requests(w->s); i++) {
        const asked *a = script_request(w->s, i);
        bool is_home = strncmp(a->url, "http://a.test/", 14) == 0;
        CHECK_EQ(strstr(a->fields, "sesame") != NULL, is_home);
    }
    BYE(w);
}

TEST(a_found_url_reaches_no_higher_than_the_page_it_stands_on)
{
    world *w = prepare();

    w->crawl.scope = SEINE_SCOPE_ANY;
    script_on(w->s, "http://a.test/",
              &(answer){.fields = "Content-Type: text/html",
                        .body = "<a href=http://b.test/>b</a>",
                        .zone = SN_ADDRESS_PUBLIC});
    crawl(w, "http://a.test/");
    for (unsigned i = 0; i < script_requests(w->s); i++) {
        const asked *a = script_request(w->s, i);
        bool is_found = strncmp(a->url, "http://b.test/", 14) == 0;
        CHECK_EQ(a->ceiling, is_found ? SN_ADDRESS_PUBLIC : SN_ADDRESS_LOCAL);
    }
    BYE(w);
}

TEST(urls_of_a_depth_are_unread_until_some_of_them_were_read)
{
    world *w = prepare();
    char links[1024] = "";
    size_t n = 0;

    for (int i = 0; i < 30; i++)
        n += (size_t)snprintf(links + n, sizeof links - n, "<a href=/%d>x</a>", i);
    page(w, "http://a.test/", links);
    w->o.concurrency = 1;
    open(w);
    give(w, "http://a.test/");
    while (w->n < 30) {
        sn_fetch_turn(w->f, SEINE_NEVER);
        seine_fetch_stats_get(w->f, &w->stats);
        uint64_t want = w->n == 0 || w->n > 20 ? 0 : 30 - (w->n - 1);
        CHECK_EQ(w->stats.unread, want);
    }
    close_world(w);
    BYE(w);
}

/* A link that is put off to the end has a record then, or is counted as lost. */
TEST(links_that_cannot_be_put_off_are_lost_and_counted)
{
    uint64_t lost = 0;

    FAIL_EACH(r)
    {
        if (r.rest) { /* memory that never comes back is waited for */
            for (long i = 0; i < r.n; i++)
                sn_free(sn_alloc(1));
            continue;
        }
        world *w = prepare();
        seine_ask ask = SEINE_ASK;

        w->crawl.depth = 0;
        page(w, "http://a.test/", "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>");
        ask.url = (seine_view){"http://a.test/", 14};
        if (sn_fetch_open(&w->o, script_net(w->s), &w->f, NULL) == SEINE_OK) {
            (void)!seine_fetch_add(w->f, &ask, NULL);
            (void)!seine_fetch_finish(w->f, NULL);
            seine_fetch_stats_get(w->f, &w->stats);
            if (is_ok(w, "http://a.test/") && w->stats.lost > 0) {
                CHECK_EQ(w->n + w->stats.lost, 4);
                lost += w->stats.lost;
            }
            seine_fetch_free(w->f);
        }
        BYE(w);
    }
    CHECK(lost > 0);
}

TEST(a_crawl_stands_a_lack_of_memory)
{
    static char rules[6000]; /* with a sitemap whose URL does not fit into used memory */
    size_t n = (size_t)snprintf(rules, sizeof rules,
                                "User-agent: *\nDisallow: /x\nSitemap: http://r.test/");

    memset(rules + n, 'm', 5000);
    FAIL_EACH(r)
    {
        if (r.rest) { /* memory that never comes back is waited for */
            for (long i = 0; i < r.n; i++)
                sn_free(sn_alloc(1));
            continue;
        }
        world *w = prepare();
        seine_ask ask = SEINE_ASK;

        w->crawl.sitemaps = SEINE_SITEMAPS_AUTO;
        text(w, "http://r.test/robots.txt", rules);
        page(w, "http://r.test/", "<a href=/x>1</a><a href=/2>2</a><a href=/3>3</a>");
        moves(w, "http://r.test/2", "/4");
        ask.url = (seine_view){"http://r.test/", 14};
        if (sn_fetch_open(&w->o, script_net(w->s), &w->f, NULL) == SEINE_OK) {
            (void)!seine_fetch_add(w->f, &ask, NULL);
            (void)!seine_fetch_finish(w->f, NULL);
            seine_fetch_stats_get(w->f, &w->stats);
            CHECK_EQ(w->stats.admitted + w->stats.refused, w->n);
            CHECK_STR(told_of(w, "http://r.test/sitemap.xml")->url, "no record");
            CHECK_STR(told_of(w, "http://r.test/robots.txt")->url, "no record");
            seine_fetch_free(w->f);
        }
        BYE(w);
    }
}
