/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/robots_fetch.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "script.h"

#define RULES "User-agent: *\nDisallow: /x\n"

static seine_robots_book *
fetch(script *s, const char *const *urls, size_t n)
{
    seine_fetch_opts o = script_opts(s);
    seine_robots_book *book = NULL;

    o.retry.max_attempts = 1;
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), NULL, urls, n, &book, NULL), SEINE_OK);
    return book;
}

static void
never(const seine_event *e, uint32_t shard, void *arg)
{
    (void)e;
    (void)shard;
    (void)arg;
    CHECK(false);
}

static void
never_record(const seine_record *r, unsigned shard, void *arg)
{
    (void)r;
    never(NULL, shard, arg);
}

static bool
never_ready(unsigned shard, void *arg)
{
    never(NULL, shard, arg);
    return false;
}

static uint64_t
never_due(void *arg)
{
    never(NULL, 0, arg);
    return UINT64_MAX;
}

TEST(robots_fetch_tells_the_callers_hooks_nothing)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[] = {"http://a.test/", "http://a.test:1/", "http://a.test:2/"};
    seine_robots_book *book = NULL;

    o.on_event = never;
    o.on_record = never_record;
    o.ready = never_ready;
    o.due = never_due;
    o.breaker.failure_threshold = 1;
    for (int i = 0; i < 3; i++) {
        char url[64];
        snprintf(url, sizeof url, "%srobots.txt", urls[i]);
        script_on(s, url, &(answer){.err = SEINE_E_CONNECT_REFUSED, .unsent = true});
    }
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), NULL, urls, 3, &book, NULL), SEINE_OK);
    seine_robots_book_free(book);
    script_free(s);
}

TEST(robots_fetch_asks_each_host_once_at_its_root)
{
    script *s = script_new(NULL);
    const char *urls[] = {"http://a.test/x/y?z", "http://a.test/other",
                          "http://b.test:81/"};

    script_on(s, "http://a.test/robots.txt", &(answer){.body = RULES});
    seine_robots_book *book = fetch(s, urls, 3);
    const seine_robots_answer *a = seine_robots_book_of(book, urls[0]);
    CHECK_EQ(script_requests(s), 2);
    CHECK_EQ(script_asked(s, "http://a.test/robots.txt"), 1);
    CHECK_EQ(script_asked(s, "http://b.test:81/robots.txt"), 1);
    CHECK_EQ(a->state, SEINE_ROBOTS_PARSED);
    CHECK_STR(a->source, "http://a.test/robots.txt");
    CHECK_EQ(a->status, 200);
    CHECK_EQ(a->err, SEINE_OK);
    CHECK(a->wall > 0);
    CHECK(a == seine_robots_book_of(book, urls[1]));
    CHECK(a != seine_robots_book_of(book, urls[2]));
    seine_robots_verdict v;
    CHECK_EQ(seine_robots_check(a->robots, "seine", "http://a.test/x", 15, &v), SEINE_OK);
    CHECK(!v.allowed);
    seine_robots_book_free(book);
    script_free(s);
}

/* RFC 9309, 2.3.1 */
TEST(robots_fetch_tells_absent_from_unreachable)
{
    static const struct {
        answer end;
        seine_robots_state state;
        seine_err err;
    } rows[] = {
        {{.status = 404}, SEINE_ROBOTS_ABSENT, SEINE_E_HTTP},
        {{.status = 403}, SEINE_ROBOTS_ABSENT, SEINE_E_HTTP},
        {{.status = 503}, SEINE_ROBOTS_UNREACHABLE, SEINE_E_HTTP_BUSY},
        {{.status = 429}, SEINE_ROBOTS_UNREACHABLE, SEINE_E_HTTP_BUSY},
        {{.err = SEINE_E_CONNECT_REFUSED},
         SEINE_ROBOTS_UNREACHABLE,
         SEINE_E_CONNECT_REFUSED},
    };
    const char *url = "http://a.test/";

    EACH_ROW(i, rows) {
        script *s = script_new(NULL);

        script_on(s, "http://a.test/robots.txt", &rows[i].end);
        seine_robots_book *book = fetch(s, &url, 1);
        const seine_robots_answer *a = seine_robots_book_of(book, url);
        CHECK_EQ(a->state, rows[i].state);
        CHECK_EQ(a->err, rows[i].err);
        CHECK_EQ(a->status, rows[i].end.status);
        CHECK(a->robots == NULL);
        seine_robots_book_free(book);
        script_free(s);
    }
}

TEST(robots_fetch_follows_five_redirects_and_no_more)
{
    script *s = script_new(NULL);
    const char *urls[] = {"http://a.test/", "http://b.test/"};

    script_on(s, "http://a.test/robots.txt",
              &(answer){.status = 301, .fields = "Location: /1"});
    script_on(s, "http://a.test/1", &(answer){.status = 301, .fields = "Location: /2"});
    script_on(s, "http://a.test/2", &(answer){.status = 301, .fields = "Location: /3"});
    script_on(s, "http://a.test/3", &(answer){.status = 301, .fields = "Location: /4"});
    script_on(s, "http://a.test/4", &(answer){.status = 301, .fields = "Location: /5"});
    script_on(s, "http://a.test/5", &(answer){.body = RULES});
    script_on(s, "http://b.test/robots.txt",
              &(answer){.status = 301, .fields = "Location: http://a.test/robots.txt"});
    seine_robots_book *book = fetch(s, urls, 2);
    CHECK_EQ(seine_robots_book_of(book, urls[0])->state, SEINE_ROBOTS_PARSED);
    CHECK_STR(seine_robots_book_of(book, urls[0])->source, "http://a.test/5");
    CHECK_EQ(seine_robots_book_of(book, urls[1])->state, SEINE_ROBOTS_ABSENT);
    seine_robots_book_free(book);
    script_free(s);
}

TEST(robots_fetch_refuses_what_is_no_web_url_and_asks_nobody)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[] = {"http://a.test/", "ftp://b.test/"};
    seine_robots_book *book = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_robots_fetch(&o, script_net(s), NULL, urls, 2, &book, &diag),
             SEINE_E_BAD_URL);
    CHECK(book == NULL);
    CHECK_STR(diag.text, "'ftp://b.test/': not an http or https URL");
    CHECK_EQ(script_requests(s), 0);
    script_free(s);
}

TEST(robots_fetch_that_is_canceled_leaves_hosts_unreachable)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *url = "http://a.test/";
    seine_robots_book *book = NULL;
    seine_ctx *root, *ctx;

    script_on(s, "http://a.test/robots.txt", &(answer){.takes = SEINE_SECS(60)});
    o.grace = SEINE_MS(100);
    CHECK_EQ(seine_ctx_root(script_clock(s), &root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(root, T0 + SEINE_SECS(1), &ctx), SEINE_OK);
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), ctx, &url, 1, &book, NULL), SEINE_OK);
    CHECK_EQ(seine_robots_book_of(book, url)->state, SEINE_ROBOTS_UNREACHABLE);
    CHECK_EQ(script_now(s), T0 + SEINE_MS(1100));
    seine_robots_book_free(book);
    seine_ctx_unref(ctx);
    seine_ctx_unref(root);
    script_free(s);
}

/* The queue is smaller, and without threads nobody else empties it. */
TEST(robots_fetch_asks_all_hosts_however_many)
{
    enum { HOSTS = 40 };
    static char urls[HOSTS][32];
    const char *all[HOSTS];
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_robots_book *book = NULL;

    o.concurrency = 4;
    o.queue = 5;
    for (int i = 0; i < HOSTS; i++) {
        snprintf(urls[i], sizeof urls[i], "http://h%d.test/", i);
        all[i] = urls[i];
    }
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), NULL, all, HOSTS, &book, NULL), SEINE_OK);
    CHECK_EQ(script_requests(s), HOSTS);
    for (int i = 0; i < HOSTS; i++) {
        CHECK_EQ(seine_robots_book_of(book, urls[i])->state, SEINE_ROBOTS_PARSED);
        CHECK_EQ(seine_robots_book_of(book, urls[i])->err, SEINE_OK);
    }
    seine_robots_book_free(book);
    script_free(s);
}

TEST(robots_fetch_stops_asking_when_its_ctx_ends)
{
    enum { HOSTS = 20 };
    static char urls[HOSTS][32];
    const char *all[HOSTS];
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_robots_book *book = NULL;
    seine_ctx *root, *ctx;

    o.concurrency = 4;
    o.queue = 5;
    o.grace = SEINE_MS(100);
    for (int i = 0; i < HOSTS; i++) {
        char url[48];

        snprintf(urls[i], sizeof urls[i], "http://h%d.test/", i);
        snprintf(url, sizeof url, "%srobots.txt", urls[i]);
        script_on(s, url, &(answer){.takes = SEINE_SECS(4)});
        all[i] = urls[i];
    }
    CHECK_EQ(seine_ctx_root(script_clock(s), &root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(root, T0 + SEINE_SECS(6), &ctx), SEINE_OK);
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), ctx, all, HOSTS, &book, NULL), SEINE_OK);
    CHECK(script_now(s) <= T0 + SEINE_SECS(7));
    CHECK_EQ(seine_robots_book_of(book, all[0])->state, SEINE_ROBOTS_PARSED);
    CHECK_EQ(seine_robots_book_of(book, all[HOSTS - 1])->state, SEINE_ROBOTS_UNREACHABLE);
    CHECK_EQ(seine_robots_book_of(book, all[HOSTS - 1])->err, SEINE_E_CANCELED);
    seine_robots_book_free(book);
    seine_ctx_unref(ctx);
    seine_ctx_unref(root);
    script_free(s);
}

TEST(robots_fetch_says_why_a_host_was_not_asked)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[] = {"http://a.test/", "https://a.test:22/"};
    static const seine_err why[] = {SEINE_E_BLOCKED_SCHEME, SEINE_E_BAD_URL};
    seine_robots_book *book = NULL;

    o.https_only = true;
    o.untrusted = true; /* no port of another protocol */
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), NULL, urls, 2, &book, NULL), SEINE_OK);
    for (int i = 0; i < 2; i++) {
        const seine_robots_answer *a = seine_robots_book_of(book, urls[i]);

        CHECK_EQ(a->state, SEINE_ROBOTS_UNREACHABLE);
        CHECK_EQ(a->err, why[i]);
        CHECK_EQ(a->status, 0);
    }
    CHECK_EQ(script_requests(s), 0);
    seine_robots_book_free(book);
    script_free(s);
}

TEST(robots_fetch_with_bad_options_says_so)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *url = "http://a.test/";
    seine_diag diag = SEINE_DIAG;
    seine_robots_book *book = NULL;

    o.proxy = "gopher://p.test";
    CHECK_EQ(sn_robots_fetch(&o, script_net(s), NULL, &url, 1, &book, &diag),
             SEINE_E_CONFIG);
    CHECK(!book && diag.text[0] != '\0');
    script_free(s);
}

TEST(robots_book_of_a_text_holds_for_all_hosts)
{
    seine_robots_book *book = NULL;

    CHECK_EQ(seine_robots_book_new(RULES, strlen(RULES), "robots.txt", &book), SEINE_OK);
    const seine_robots_answer *a = seine_robots_book_of(book, "https://any.test/");
    CHECK_EQ(a->state, SEINE_ROBOTS_PARSED);
    CHECK_STR(a->source, "robots.txt");
    CHECK_STR(a->authority, "");
    CHECK_EQ(a->wall, 0);
    CHECK(a == seine_robots_book_of(book, "not a URL"));
    seine_robots_book_free(book);
    seine_robots_book_free(NULL);
}

TEST(robots_fetch_without_memory_says_so)
{
    const char *url = "http://a.test/";

    FAIL_EACH(n)
    {
        script *s = script_new(NULL);
        seine_fetch_opts o = script_opts(s);
        seine_robots_book *book = NULL;

        o.retry.max_attempts = 1;
        script_on(s, "http://a.test/robots.txt", &(answer){.body = RULES});
        seine_err e = sn_robots_fetch(&o, script_net(s), NULL, &url, 1, &book, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(book != NULL, e == SEINE_OK);
        if (book) /* rules that are not there must not look as if all were allowed */
            CHECK(seine_robots_book_of(book, url)->state != SEINE_ROBOTS_PARSED ||
                  seine_robots_book_of(book, url)->robots != NULL);
        seine_robots_book_free(book);
        script_free(s);
        book = NULL;
        e = seine_robots_book_new(RULES, strlen(RULES), "robots.txt", &book);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(book != NULL, e == SEINE_OK);
        seine_robots_book_free(book);
    }
}

TEST(robots_book_of_a_text_answers_for_every_host)
{
    FAIL_EACH(n)
    {
        seine_robots_verdict verdict = {.allowed = true};
        seine_robots_book *book = NULL;
        seine_err e =
            seine_robots_book_new("User-agent: *\nDisallow: /no", 27, "here", &book);

        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
        CHECK_EQ(book != NULL, e == SEINE_OK);
        const seine_robots_answer *a =
            book ? seine_robots_book_of(book, "http://any.test/") : NULL;
        if (a) {
            CHECK_EQ(a->state, SEINE_ROBOTS_PARSED);
            CHECK_EQ(a->err, SEINE_OK);
            CHECK_STR(a->source, "here");
            CHECK_EQ(seine_robots_check(a->robots, "x", "/no", 3, &verdict), SEINE_OK);
            CHECK(!verdict.allowed); /* also where memory for less room was short */
        }
        CHECK_EQ(a != NULL, e == SEINE_OK);
        seine_robots_book_free(book);
    }
    seine_robots_book *book = NULL;
    CHECK_EQ(seine_robots_book_new("", 0, NULL, &book), SEINE_E_INVAL);
    CHECK_EQ(seine_robots_book_new("", 0, "here", NULL), SEINE_E_INVAL);
}

TEST(robots_fetch_refuses_what_is_missing)
{
    static const char *const urls[] = {"http://a.test/", NULL};
    const seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_robots_book *book = NULL;

    CHECK_EQ(seine_robots_fetch(NULL, NULL, urls, 1, &book, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_robots_fetch(&o, NULL, urls, 1, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_robots_fetch(&o, NULL, NULL, 1, &book, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_robots_fetch(&o, NULL, urls, 2, &book, NULL), SEINE_E_INVAL);
    CHECK(!book);
}
