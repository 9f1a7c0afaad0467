/* SPDX-License-Identifier: Apache-2.0 */
/* A crawl with a job that is stopped after every number of records, and goes on: nobody
 * can tell from records, requests and figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "engine/fetch_job.h"
#include "script.h"

enum { MOST = 64, TEXT = 2048 };

#define V(view) (int)(view).len, (view).ptr ? (view).ptr : ""

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    seine_crawl_opts crawl;
    char dir[64];
    seine_durable_job *job;
    seine_fetch *f;
    uint64_t seq;
    unsigned n, records, stop_after; /* records of all parts; of this one; 0: none */
    unsigned at_requests;            /* stops after so many requests; 0: never */
    char text[MOST][TEXT];
    const char *second; /* a seed that is given besides; NULL: none */
    unsigned
        earlier[2]; /* skips that an earlier run has told: found, and by their text */
    bool is_late;   /* what is left of given URLs comes when nothing else is left */
    seine_fetch_stats stats;
    seine_fetch_left left;
} fixture;

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    fixture *t = arg;

    (void)shard;
    CHECK(t->n < MOST);
    if (t->n == MOST)
        return;
    snprintf(t->text[t->n++], TEXT,
             "%s %.*s input %.*s to %.*s depth %u of %.*s by %.*s %.*s line %u: %s "
             "%.*s, status %u, fate %d, links %u, title %.*s",
             r->type == SEINE_RECORD_SKIP ? "skip" : "result", V(r->url), V(r->input),
             V(r->final_url), r->depth, V(r->parent), V(r->via.tag), V(r->via.attr),
             r->via.line, seine_skip_name(r->reason), V(r->rule), r->status, r->fate,
             r->n_links, V(r->title));
    CHECK_EQ(sn_job_result(t->job, r, ++t->seq), SEINE_OK);
    if (++t->records == t->stop_after)
        seine_fetch_stop(t->f, SEINE_E_CANCELED);
}

static void
page(fixture *t, const char *url, const char *body)
{
    script_on(t->s, url, &(answer){.fields = "Content-Type: text/html", .body = body});
}

#define LONG_LABEL \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* No name that DNS allows, and no host in a job. */
#define LONG_NAME LONG_LABEL LONG_LABEL LONG_LABEL LONG_LABEL LONG_LABEL

/* All that a crawl has to do with: rules, sitemaps, redirects, depth, nofollow, other
 * hosts, other sites, links that are none. */
static void
teach(fixture *t, uint16_t status)
{
    script_on(
        t->s, "http://a.test/robots.txt",
        &(answer){.status = status,
                  .fields = "Content-Type: text/plain",
                  .body = "User-agent: *\nDisallow: /private\nSitemap: /map.xml\n"});
    script_on(t->s, "http://a.test/map.xml",
              &(answer){.body = "<sitemapindex><sitemap><loc>http://a.test/map2.xml</loc>"
                                "</sitemap></sitemapindex>"});
    script_on(t->s, "http://a.test/map2.xml",
              &(answer){.body = "<urlset><url><loc>http://a.test/m1</loc></url>"
                                "<url><loc>http://a.test/m2</loc></url></urlset>"});
    script_on(t->s, "http://a.test/sitemap.xml", &(answer){.status = 404});
    page(t, "http://a.test/",
         "<title>Home</title><a href=/b>b</a>\n<a href=/c?x>c</a>"
         "<a rel=nofollow href=/n>n</a><a href=http://off.test/1>o</a>"
         "<a href='http://[/'>bad</a><a href=mailto:x@y.test>m</a>"
         "<a href=/private/1>p</a><a href=/moved>m</a><a href=http://s.a.test/1>s</a>"
         "<a href=http://" LONG_LABEL ".test/>l</a><a href=http://t.a.test/1>t</a>");
    page(t, "http://a.test/b",
         "<a href=/>home</a>\n\n<a href=/d2>d</a><img src=/pic>"
         "<a href=http://" LONG_NAME ".test/>no host</a>");
    page(t, "http://a.test/d2", "<a href=/d3>too deep</a><a href=/n>n</a>");
    page(t, "http://a.test/m1", "<a href=/m3>m</a><a href=/d3b>d</a>");
    page(t, "http://a.test/m3", "<a href=/m4>too deep</a>");
    script_on(t->s, "http://a.test/moved",
              &(answer){.status = 301, .fields = "Location: /target"});
    page(t, "http://a.test/target", "<a href=/from-target>f</a>");
    script_on(t->s, "http://s.a.test/robots.txt", &(answer){.status = 404});
    page(t, "http://s.a.test/1",
         "<a href=/2>2</a><a href=http://a.test/b>b</a><a href=/3>3</a>");
    page(t, "http://s.a.test/3", "<a href=/4>4</a><a href=/5>5</a>");
    script_on(t->s, "http://t.a.test/robots.txt",
              &(answer){.body = "User-agent: *\nDisallow: /\n"});
}

static fixture *
set_up_with(uint16_t robots_status)
{
    fixture *t = calloc(1, sizeof *t);

    snprintf(t->dir, sizeof t->dir, "/tmp/seine-crawl-job-XXXXXX");
    CHECK(mkdtemp(t->dir) != NULL);
    t->s = script_new(NULL);
    teach(t, robots_status);
    t->opts = script_opts(t->s);
    t->crawl = seine_crawl_defaults();
    t->crawl.depth = 2;
    t->crawl.scope = SEINE_SCOPE_DOMAIN;
    t->crawl.skips = true;
    t->opts.crawl = &t->crawl;
    t->opts.robots = SEINE_OBEY_ON;
    t->opts.mine = t->opts.adaptive = false;
    t->opts.host_rate.count = 0;
    t->opts.concurrency = 2;
    t->opts.keep = SEINE_KEEP_TITLE | SEINE_KEEP_LINKS;
    t->opts.on_record = on_record;
    t->opts.arg = t;
    return t;
}

static fixture *
set_up(void)
{
    return set_up_with(200);
}

static void
tear_down(fixture *t)
{
    static const char *const names[] = {"job.db", "job.db-wal", "job.db-shm", "lock",
                                        "ballast"};
    char path[128];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/job/%s", t->dir, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/job", t->dir);
    CHECK_EQ(rmdir(path), 0);
    CHECK_EQ(rmdir(t->dir), 0);
    script_free(t->s);
    free(t);
}

/* One run of the job: what earlier ones have left, and the seed once more. */
static void
run_part(fixture *t, unsigned stop_after)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_ask ask = SEINE_ASK;

    o.state = t->dir;
    o.name = "job";
    o.durability = SEINE_DURABILITY_FAST;
    o.is_remote_ok = true;
    CHECK_EQ(seine_job_open(&o, &t->job, NULL), SEINE_OK);
    t->opts.job = t->job;
    t->records = 0;
    t->stop_after = stop_after;
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    for (unsigned turn = 0; t->is_late && turn < 500; turn++)
        sn_fetch_turn(t->f, script_now(t->s) + SEINE_MS(5));
    CHECK_EQ(seine_fetch_resume(t->f, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    if (t->second) {
        ask.url = (seine_view){t->second, strlen(t->second)};
        CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    }
    unsigned until = script_requests(t->s) + t->at_requests;
    for (unsigned turn = 0; turn < 200 && script_requests(t->s) < until; turn++)
        sn_fetch_turn(t->f, script_now(t->s) + SEINE_MS(5));
    if (t->at_requests > 0)
        seine_fetch_stop(t->f, SEINE_E_CANCELED);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_stats_get(t->f, &t->stats);
    seine_fetch_left_get(t->f, &t->left);
    seine_fetch_free(t->f);
    CHECK_EQ(sn_job_commit(t->job, NULL), SEINE_OK);
    CHECK_EQ(seine_job_close(t->job, false), SEINE_OK);
}

static int
compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Shows where the two differ. */
static void
check_same_text(const char *got, const char *want)
{
    const char *begin = got;

    while (*got && *got == *want)
        got++, want++;
    if (*got || *want)
        printf("in %s\n", begin);
    CHECK_STR(got, want);
}

static void
check_same(fixture *t, const fixture *whole)
{
    CHECK_EQ(t->left.urls, 0);
    CHECK_EQ(t->n, whole->n);
    qsort(t->text, t->n, sizeof *t->text, compare);
    for (unsigned i = 0; i < t->n && t->n == whole->n; i++)
        check_same_text(t->text[i], whole->text[i]);
    CHECK_EQ(t->stats.admitted, whole->stats.admitted);
    CHECK_EQ(t->stats.refused, whole->stats.refused);
    CHECK_EQ(t->stats.done, whole->stats.done);
    CHECK_EQ(t->stats.ok, whole->stats.ok);
    CHECK_EQ(t->stats.waiting + t->stats.in_flight + t->stats.unread, 0);
}

static void
run_whole(fixture *t)
{
    run_part(t, 0);
    CHECK_EQ(t->left.urls, 0);
    CHECK_EQ(t->stats.admitted + t->stats.refused, t->n);
    qsort(t->text, t->n, sizeof *t->text, compare);
}

TEST(frontier_job_a_crawl_that_was_stopped_goes_on_as_if_it_had_not_been)
{
    fixture *whole = set_up();

    run_whole(whole);
    CHECK(whole->n > 15);
    for (unsigned after = 1; after <= whole->n; after += 1 + after / 2) {
        fixture *t = set_up();
        unsigned parts = 0;

        do {
            run_part(t, after);
        } while (t->left.urls > 0 && ++parts < 2 * MOST);
        check_same(t, whole);
        CHECK_EQ(script_asked(t->s, "http://a.test/robots.txt"), 1); /* it is kept */
        CHECK_EQ(script_asked(t->s, "http://a.test/private/1"), 0);
        CHECK_EQ(script_asked(t->s, "http://t.a.test/1"), 0);
        tear_down(t);
    }
    tear_down(whole);
}

/* A link that is refused by its text alone has no row of its own. */
static void
on_earlier(const seine_record *r, void *arg)
{
    fixture *t = arg;
    bool is_skip = r->type == SEINE_RECORD_SKIP;
    bool by_text =
        is_skip && (r->reason == SEINE_SKIP_BAD_URL || r->reason == SEINE_SKIP_SCHEME ||
                    r->reason == SEINE_SKIP_OFFSITE);

    CHECK_EQ(r->parent.len, by_text);
    if (by_text && r->parent.len == 1)
        CHECK_EQ(r->parent.ptr[0], '-');
    t->earlier[by_text] += is_skip;
}

TEST(frontier_job_a_skip_of_an_earlier_run_says_that_it_was_found)
{
    fixture *t = set_up();

    run_part(t, 0);
    t->opts.on_earlier = on_earlier;
    run_part(t, 0);
    CHECK_EQ(t->earlier[0] + t->earlier[1], t->stats.refused);
    CHECK(t->earlier[0] > 0);
    CHECK_EQ(t->earlier[1], 5); /* mailto:, what is no URL, and three other sites */
    tear_down(t);
}

/* Also while robots.txt and sitemaps are under way, and while seeds may still come. */
TEST(frontier_job_a_crawl_may_be_stopped_after_any_request)
{
    fixture *whole = set_up();

    run_whole(whole);
    for (unsigned requests = 1; requests <= script_requests(whole->s);
         requests += 1 + requests / 2) {
        fixture *t = set_up();
        unsigned parts = 0;

        t->at_requests = requests;
        for (unsigned before = 0; parts == 0 || before < script_requests(t->s); parts++) {
            before = script_requests(t->s);
            run_part(t, 0);
        }
        t->at_requests = 0; /* what was put off is told at the end */
        run_part(t, 0);
        check_same(t, whole);
        CHECK(script_requests(t->s) <= script_requests(whole->s) + parts * 3);
        tear_down(t);
    }
    tear_down(whole);
}

/* A host of its own domain that a seed redirects to belongs to the crawl from then on, in
 * every run. */
TEST(frontier_job_a_scope_that_a_redirect_has_widened_stays_wide)
{
    fixture *all[MOST];
    unsigned n = 1;

    for (unsigned i = 0; i < n && i < MOST; i++) {
        fixture *t = all[i] = set_up();
        unsigned parts = 0;

        t->crawl.scope = SEINE_SCOPE_HOST;
        t->second = "http://m.test/";
        script_on(t->s, "http://m.test/robots.txt", &(answer){.status = 404});
        script_on(t->s, "http://www.m.test/robots.txt", &(answer){.status = 404});
        script_on(t->s, "http://m.test/",
                  &(answer){.status = 301, .fields = "Location: http://www.m.test/"});
        page(t, "http://www.m.test/", "<a href=/1>1</a><a href=http://off.test/1>o</a>");
        page(t, "http://www.m.test/1", "<a href=http://m.test/2>2</a><a href=/3>3</a>");
        do {
            run_part(t, i);
        } while (t->left.urls > 0 && ++parts < 2 * MOST);
        if (i == 0) {
            n = 1 + t->n / 3;
            qsort(t->text, t->n, sizeof *t->text, compare);
        }
        CHECK_EQ(script_asked(t->s, "http://www.m.test/1"), 1);
        CHECK_EQ(script_asked(t->s, "http://m.test/2"), 1);
        CHECK_EQ(script_asked(t->s, "http://off.test/1"), 0);
        if (i > 0) {
            check_same(t, all[0]);
            tear_down(t);
        }
    }
    tear_down(all[0]);
}

static bool
has_record(const fixture *t, const char *begin)
{
    unsigned n = 0;

    for (unsigned i = 0; i < t->n; i++)
        n += strncmp(t->text[i], begin, strlen(begin)) == 0;
    CHECK(n <= 1);
    return n == 1;
}

/* Until then the link was put off. */
TEST(frontier_job_a_seed_of_the_next_run_brings_its_site_into_scope)
{
    fixture *t = set_up();

    t->at_requests = 5; /* the first page was read */
    run_part(t, 0);
    CHECK(has_record(t, "result http://a.test/ "));
    CHECK(!has_record(t, "skip http://off.test/1 "));
    CHECK(t->left.urls > 0);
    t->at_requests = 0;
    t->second = "http://off.test/";
    run_part(t, 0);
    CHECK(has_record(t, "result http://off.test/1 "));
    CHECK(has_record(t, "result http://off.test/ "));
    CHECK_EQ(t->left.urls, 0);
    tear_down(t);
}

static unsigned
count_results(const fixture *t)
{
    unsigned n = 0;

    for (unsigned i = 0; i < t->n; i++)
        n += strncmp(t->text[i], "result http://a.test/", 21) == 0;
    return n;
}

/* Those that were found are asked for while the given one is still on its way. */
TEST(frontier_job_a_given_url_that_is_left_counts_before_it_comes_again)
{
    fixture *t = set_up();

    t->opts.concurrency = 1;
    t->crawl.max_per_host = 9;
    t->second = "http://a.test/late";
    run_part(t, 1);
    CHECK(t->left.urls > 2);
    CHECK_EQ(script_asked(t->s, t->second), 0);
    t->is_late = true;
    run_part(t, 0);
    CHECK_EQ(t->left.urls, 0);
    CHECK_EQ(count_results(t), 9);
    tear_down(t);
}

TEST(frontier_job_a_given_url_that_is_left_and_then_refused_costs_no_page)
{
    fixture *t = set_up();

    t->crawl.max_per_host = 9;
    t->second = "http://a.test/private/late";
    t->at_requests = 1; /* robots.txt */
    run_part(t, 0);
    CHECK(t->left.urls >= 2);
    t->at_requests = 0;
    run_part(t, 0);
    CHECK_EQ(t->left.urls, 0);
    CHECK(has_record(t, "skip http://a.test/private/late "));
    CHECK_EQ(count_results(t), 9);
    tear_down(t);
}

TEST(frontier_job_keeps_robots_txt_for_a_day)
{
    static const struct {
        seine_span later;
        unsigned asked;
    } rows[] = {{SEINE_SECS(23 * 3600), 1}, {SEINE_SECS(24 * 3600), 2}};

    EACH_ROW(i, rows) {
        fixture *t = set_up();

        run_part(t, 1);
        CHECK(t->left.urls > 0);
        CHECK_EQ(script_asked(t->s, "http://a.test/robots.txt"), 1);
        script_jump(t->s, rows[i].later);
        run_part(t, 0);
        CHECK_EQ(script_asked(t->s, "http://a.test/robots.txt"), rows[i].asked);
        CHECK_EQ(script_asked(t->s, "http://a.test/private/1"), 0);
        CHECK_EQ(t->left.urls, 0);
        tear_down(t);
    }
}

/* Its age counts from when it was read, not from when the run began. */
TEST(frontier_job_a_kept_robots_txt_gets_old_in_the_next_run)
{
    for (int is_absent = 0; is_absent < 2; is_absent++) {
        fixture *t = set_up_with(is_absent ? 404 : 200);

        run_part(t, 1);
        script_jump(t->s, SEINE_SECS(24 * 3600 - 60));
        t->opts.host_rate = (seine_rate){1, SEINE_SECS(50), 1};
        t->opts.timeout = t->opts.retry.max_elapsed = SEINE_SECS(100000);
        run_part(t, 0);
        CHECK_EQ(script_asked(t->s, "http://a.test/robots.txt"), 2);
        CHECK_EQ(t->left.urls, 0);
        tear_down(t);
    }
}

/* The next run asks for it again. */
TEST(frontier_job_leaves_what_waits_for_a_robots_txt_that_cannot_be_had)
{
    fixture *t = set_up();

    t->opts.retry.max_attempts = 1;
    script_on(t->s, "http://u.a.test/robots.txt", &(answer){.status = 503},
              &(answer){.status = 404});
    page(t, "http://a.test/m2", "<a href=http://u.a.test/1>u</a>");
    t->at_requests = 18;
    run_part(t, 0);
    CHECK_EQ(script_asked(t->s, "http://u.a.test/robots.txt"), 1);
    CHECK(!has_record(t, "result http://u.a.test/1 "));
    t->at_requests = 0;
    run_part(t, 0);
    CHECK_EQ(t->left.urls, 0);
    CHECK_EQ(script_asked(t->s, "http://u.a.test/robots.txt"), 2);
    CHECK(has_record(t, "result http://u.a.test/1 "));
    tear_down(t);
}

/* Pages of earlier runs count. */
TEST(frontier_job_keeps_the_budget_of_a_host_across_runs)
{
    for (unsigned after = 0; after < 4; after++) {
        fixture *t = set_up();
        unsigned parts = 0;

        t->crawl.max_per_host = 3;
        t->crawl.depth = 5;
        do {
            run_part(t, after);
        } while (t->left.urls > 0 && ++parts < MOST);
        unsigned pages = 0;
        for (unsigned i = 0; i < t->n; i++)
            pages += strncmp(t->text[i], "result http://s.a.test/", 23) == 0;
        CHECK_EQ(pages, 3);
        tear_down(t);
    }
}

TEST(frontier_job_keeps_the_hosts_of_a_domain_across_runs)
{
    for (unsigned after = 1; after < 4; after++) {
        fixture *t = set_up();
        unsigned parts = 0;

        t->crawl.max_subdomains = 1;
        do {
            run_part(t, after);
        } while (t->left.urls > 0 && ++parts < MOST);
        CHECK_EQ(script_asked(t->s, "http://s.a.test/1"), 1);
        CHECK(has_record(t, "skip http://t.a.test/1 "));
        CHECK_EQ(script_asked(t->s, "http://t.a.test/robots.txt"), 0);
        tear_down(t);
    }
}
