/* SPDX-License-Identifier: Apache-2.0 */
/* When a page is asked for again, and what became of it: rounds of a small site whose
 * server and clock are the test's own. Whole programs: tests/e2e/test_incremental.py. */
#include "engine/revisit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "engine/fetch_job.h"
#include "script.h"

enum { HOUR = 3600, DAY = 86400 };

/* From a day, half as long again while a page is the same, up to 30 days;
 * half as long when it has changed, down to an hour. */
TEST(revisit_interval_grows_while_a_page_is_the_same_and_shrinks_when_it_changes)
{
    static const seine_revisit_opts o = SEINE_REVISIT_OPTS;
    static const struct {
        int64_t before;
        seine_change change;
        int64_t after;
    } rows[] = {
        {-1, SEINE_CHANGE_NEW, DAY},
        {-1, SEINE_CHANGE_SAME, DAY}, /* of a copy that has no interval */
        {DAY, SEINE_CHANGE_SAME, DAY * 3 / 2},
        {20 * DAY, SEINE_CHANGE_SAME, 30 * DAY},
        {20 * DAY - 1, SEINE_CHANGE_SAME, 30 * DAY - 2}, /* 19 d 23:59:59 and a half */
        {20 * DAY + 1, SEINE_CHANGE_SAME, 30 * DAY},
        {30 * DAY, SEINE_CHANGE_SAME, 30 * DAY},
        {DAY, SEINE_CHANGE_CHANGED, DAY / 2},
        {2 * HOUR, SEINE_CHANGE_CHANGED, HOUR},
        {2 * HOUR - 1, SEINE_CHANGE_CHANGED, HOUR},
        {2 * HOUR + 2, SEINE_CHANGE_CHANGED, HOUR + 1},
        {HOUR, SEINE_CHANGE_GONE, 30 * DAY},
        {DAY, SEINE_CHANGE_NEW, DAY},
        {60 * DAY, SEINE_CHANGE_SAME, 30 * DAY}, /* the options were others */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(sn_revisit_every(&o, rows[i].before, rows[i].change), rows[i].after);
}

TEST(revisit_interval_that_is_given_outside_of_the_bounds_is_one_itself)
{
    seine_revisit_opts o = SEINE_REVISIT_OPTS;

    o.start = SEINE_SECS(60);
    CHECK_EQ(sn_revisit_every(&o, -1, SEINE_CHANGE_NEW), 60);
    CHECK_EQ(sn_revisit_every(&o, 60, SEINE_CHANGE_CHANGED), 60);
    o.start = SEINE_SECS(40 * DAY);
    CHECK_EQ(sn_revisit_every(&o, -1, SEINE_CHANGE_NEW), 40 * DAY);
    CHECK_EQ(sn_revisit_every(&o, 40 * DAY, SEINE_CHANGE_SAME), 40 * DAY);
    o.start = 0;
    CHECK_EQ(sn_revisit_every(&o, -1, SEINE_CHANGE_NEW), 0);
    CHECK_EQ(sn_revisit_every(&o, 0, SEINE_CHANGE_SAME), 0);
}

TEST(revisit_is_due_after_its_interval_or_what_the_server_allows)
{
    seine_revisit_opts o = SEINE_REVISIT_OPTS;

    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, -1), 5000 + 1000 * HOUR);
    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, HOUR - 1), 5000 + 1000 * HOUR);
    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, HOUR + 1), 5000 + 1000 * (HOUR + 1));
    CHECK_EQ(sn_revisit_due(&o, 5000, HOUR, INT32_MAX),
             5000 + INT64_C(1000) * 30 * DAY); /* no server keeps us away for ever */
    o.start = 0;
    CHECK_EQ(sn_revisit_due(&o, 5000, 0, DAY), 5000);
}

/* Rounds. The first one begins at 2023-11-14T22:30:00Z. */

enum { PAGES = 20 };

typedef struct page {
    const char *path, *body; /* path NULL: there is no page */
    uint16_t status;         /* 0: 200 */
    seine_err err;           /* of the first request of a round */
    const char *etag, *modified, *more;
    char fields[1400];
    unsigned asked; /* in this round */
    char sent[512]; /* fields of the last request */
    const char *change;
    unsigned records;
    char rule[64]; /* of a skip */
} page;

typedef struct site {
    script *s;
    seine_fetch_opts opts;
    seine_crawl_opts crawl;
    seine_revisit_opts revisit;
    char dir[64];
    seine_durable_job *job;
    uint64_t seq, not_due;
    unsigned round, items; /* records of the endless pages below /item/ */
    page pages[PAGES];
} site;

static page *
page_at(site *t, const char *url, size_t len)
{
    static const char base[] = "http://a.test";
    size_t from = sizeof base - 1;

    for (size_t i = 0; i < PAGES && len > from; i++)
        if (t->pages[i].path && strlen(t->pages[i].path) == len - from &&
            memcmp(t->pages[i].path, url + from, len - from) == 0)
            return &t->pages[i];
    return NULL;
}

static void
put_fields(page *p)
{
    const char *values[] = {p->etag, p->modified, p->more};
    static const char *const names[] = {"ETag: ", "Last-Modified: ", ""};
    bool is_page = !strchr(p->path, '.');
    size_t at = (size_t)snprintf(p->fields, sizeof p->fields, "Content-Type: text/%s",
                                 is_page ? "html" : "plain");

    for (size_t i = 0; i < 3; i++)
        if (values[i])
            at += (size_t)snprintf(p->fields + at, sizeof p->fields - at, "\n%s%s",
                                   names[i], values[i]);
    CHECK(at < sizeof p->fields);
}

/* A page that says what all of them say, and leads to the next one. */
static answer
next_item(unsigned long i)
{
    static char body[128];

    snprintf(body, sizeof body,
             "<p>all items have the same words<a href=/item/%lu>next</a>", i + 1);
    return (answer){.fields = "Content-Type: text/html", .body = body};
}

/* 304 to its own ETag, as a server does. */
static answer
serve(const asked *a, void *arg)
{
    page *p = page_at(arg, a->url, strlen(a->url));
    char condition[700] = "";

    if (!p && strstr(a->url, "/item/"))
        return next_item(strtoul(strstr(a->url, "/item/") + 6, NULL, 10));
    if (!p)
        return (answer){.status = 404};
    snprintf(p->sent, sizeof p->sent, "%s", a->fields);
    put_fields(p);
    if (++p->asked == 1 && p->err != SEINE_OK)
        return (answer){.err = p->err, .status = p->status};
    if (p->etag)
        snprintf(condition, sizeof condition, "If-None-Match: %s\n", p->etag);
    if (*condition && strstr(a->fields, condition))
        return (answer){.status = 304, .fields = p->fields};
    return (answer){.status = p->err == SEINE_OK ? p->status : 0,
                    .fields = p->fields,
                    .body = p->body};
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    site *t = arg;
    page *p = r->url.len > 0 ? page_at(t, r->url.ptr, r->url.len) : NULL;

    (void)shard;
    if (p && r->type == SEINE_RECORD_RESULT) {
        p->change = seine_change_name(seine_record_change(r));
        p->records++;
    } else if (p) {
        snprintf(p->rule, sizeof p->rule, "%.*s", (int)r->rule.len, r->rule.ptr);
    } else if (r->type == SEINE_RECORD_RESULT) {
        t->items++;
    }
    CHECK_EQ(sn_job_result(t->job, r, ++t->seq), SEINE_OK);
}

static site *
set_up(const page *pages, size_t n)
{
    site *t = calloc(1, sizeof *t);

    snprintf(t->dir, sizeof t->dir, "/tmp/seine-revisit-XXXXXX");
    CHECK(mkdtemp(t->dir) != NULL);
    CHECK(n <= PAGES);
    memcpy(t->pages, pages, n * sizeof *pages);
    t->s = script_new(NULL);
    script_by(t->s, serve, t);
    t->opts = script_opts(t->s);
    t->crawl = seine_crawl_defaults();
    t->crawl.sitemaps = SEINE_SITEMAPS_OFF;
    t->revisit = (seine_revisit_opts)SEINE_REVISIT_OPTS;
    t->revisit.start = 0;
    t->opts.crawl = &t->crawl;
    t->opts.revisit = &t->revisit;
    t->opts.robots = SEINE_OBEY_OFF;
    t->opts.retry.max_attempts = 1;
    t->opts.on_record = on_record;
    t->opts.arg = t;
    return t;
}

static void
tear_down(site *t)
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

static void
run_round(site *t)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_ask ask = SEINE_ASK;
    seine_fetch *f;

    o.state = t->dir;
    o.name = "job";
    o.durability = SEINE_DURABILITY_FAST;
    o.is_remote_ok = true;
    o.next_round = t->round++ > 0;
    for (size_t i = 0; i < PAGES; i++) {
        t->pages[i].asked = t->pages[i].records = 0;
        t->pages[i].change = NULL;
        t->pages[i].sent[0] = t->pages[i].rule[0] = '\0';
    }
    t->items = 0;
    CHECK_EQ(seine_job_open(&o, &t->job, NULL), SEINE_OK);
    t->opts.job = t->job;
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &f, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_resume(f, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(seine_fetch_add(f, &ask, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    t->not_due = seine_fetch_not_due(f);
    seine_fetch_free(f);
    CHECK_EQ(sn_job_commit(t->job, NULL), SEINE_OK);
    CHECK_EQ(seine_job_close(t->job, true), SEINE_OK);
}

static page *
at(site *t, const char *path)
{
    char url[128];
    int n = snprintf(url, sizeof url, "http://a.test%s", path);

    return page_at(t, url, (size_t)n);
}

/* NULL: the record says nothing of a change. */
static void
check_change(site *t, const char *path, const char *want)
{
    const page *p = at(t, path);
    const char *got = p->change ? p->change : "none";

    CHECK_EQ(p->records, 1);
    if (strcmp(got, want ? want : "none") != 0)
        printf("in round %u, %s\n", t->round, path);
    CHECK_STR(got, want ? want : "none");
}

TEST(revisit_a_record_says_what_became_of_its_page)
{
    static const page pages[] = {
        {.path = "/",
         .body = "<a href=/304>1</a><a href=/tagged>2</a><a href=/plain>3</a><a "
                 "href=/text>4</a>"
                 "<a href=/gone>5</a><a href=/fails>6</a><a href=/moved>7</a>"
                 "<a href=/stays>8</a><a href=/never>9</a><a href=/410>10</a>"},
        {.path = "/304", .body = "one", .etag = "\"1\""},
        {.path = "/tagged", .body = "two", .etag = "\"2\""},
        {.path = "/plain", .body = "three"},
        {.path = "/text", .body = "four"},
        {.path = "/gone", .body = "five"},
        {.path = "/fails", .body = "six"},
        {.path = "/moved", .status = 302, .more = "Location: /304"},
        {.path = "/stays", .status = 302, .more = "Location: /304"},
        {.path = "/never", .status = 404},
        {.path = "/410", .body = "seven"},
    };
    static const struct {
        const char *path, *changes[5];
    } rows[] = {
        {"/", {"new", "same", "same", "same", "same"}},
        {"/304", {"new", "same", "same", "same", "same"}},
        {"/tagged", {"new", "changed", "same", "same", "same"}},
        {"/plain", {"new", "same", "same", "same", "same"}},
        {"/text", {"new", "changed", "same", "same", "same"}},
        {"/gone", {"new", "gone", NULL, "new", "same"}},
        {"/fails", {"new", NULL, NULL, "same", "changed"}},
        {"/moved", {"new", "changed", "same", "same", "same"}},
        {"/stays", {"new", "same", "same", "same", "changed"}}, /* a page instead */
        {"/never", {NULL, NULL, NULL, NULL, NULL}},
        {"/410", {"new", "gone", NULL, NULL, NULL}},
    };
    site *t = set_up(pages, sizeof pages / sizeof *pages);

    for (unsigned round = 0; round < 5; round++) {
        if (round == 1) {
            at(t, "/tagged")->body = "two!";
            at(t, "/tagged")->etag = "\"2b\"";
            at(t, "/text")->body = "four!";
            at(t, "/gone")->status = 404;
            at(t, "/410")->status = 410;
            at(t, "/fails")->status = 503;
            at(t, "/moved")->more = "Location: /plain";
        } else if (round == 3) {
            at(t, "/gone")->status = 0;
            at(t, "/fails")->status = 0;
        } else if (round == 4) {
            at(t, "/fails")->body = "six!";
            at(t, "/stays")->status = 0;
            at(t, "/stays")->body = "http://a.test/304"; /* what its target was */
        }
        run_round(t);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            check_change(t, rows[i].path, rows[i].changes[round]);
        script_jump(t->s, SEINE_SECS(10));
    }
    tear_down(t);
}

/* How long an ETag is that is kept. */
#define TEN(x)      x x x x x x x x x x
#define LETTERS_510 TEN(TEN("abcde")) "abcdefghij"

TEST(revisit_sends_the_validators_that_stand_for_one_copy)
{
    static const page pages[] = {
        {.path = "/",
         .body =
             "<a href=/tag>1</a><a href=/both>2</a><a href=/old>3</a><a href=/young>4</a>"
             "<a href=/undated>5</a><a href=/future>6</a><a href=/odd>7</a>"
             "<a href=/longest>8</a><a href=/long>9</a><a href=/missing>10</a>"},
        {.path = "/tag",
         .etag = "W/\"a b\"",
         .more = "Date: Tue, 14 Nov 2023 22:00:00 GMT"},
        {.path = "/both",
         .etag = "\"2\"",
         .modified = "Tue, 14 Nov 2023 22:00:00 GMT",
         .more = "Date: Tue, 14 Nov 2023 22:00:00 GMT"},
        {.path = "/old",
         .modified = "Tue, 14 Nov 2023 22:00:00 GMT",
         .more = "Date: Tue, 14 Nov 2023 22:00:02 GMT"},
        {.path = "/young",
         .modified = "Tue, 14 Nov 2023 22:00:00 GMT",
         .more = "Date: Tue, 14 Nov 2023 22:00:01 GMT"},
        {.path = "/undated", .modified = "Tue, 14 Nov 2023 22:29:00 GMT"},
        {.path = "/future", .modified = "Tue, 14 Nov 2023 22:31:00 GMT"},
        {.path = "/odd", .modified = "yesterday"},
        {.path = "/longest", .etag = "\"" LETTERS_510 "\""},
        {.path = "/long", .etag = "\"" LETTERS_510 "x\""},
        {.path = "/missing", .status = 404, .etag = "\"3\""},
    };
    static const struct {
        const char *path, *tag, *date;
    } rows[] = {
        {"/", NULL, NULL},
        {"/tag", "If-None-Match: W/\"a b\"\n", NULL},
        {"/both", "If-None-Match: \"2\"\n",
         "If-Modified-Since: Tue, 14 Nov 2023 22:00:00 GMT\n"},
        {"/old", NULL, "If-Modified-Since: Tue, 14 Nov 2023 22:00:00 GMT\n"},
        {"/young", NULL, NULL},
        {"/undated", NULL, "If-Modified-Since: Tue, 14 Nov 2023 22:29:00 GMT\n"},
        {"/future", NULL, NULL},
        {"/odd", NULL, NULL},
        {"/longest", "If-None-Match: \"abcde", NULL},
        {"/long", NULL, NULL},
        {"/missing", NULL, NULL},
    };
    site *t = set_up(pages, sizeof pages / sizeof *pages);

    for (unsigned round = 0; round < 3; round++) {
        run_round(t);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *sent = at(t, rows[i].path)->sent;
            const char *tag = round > 0 ? rows[i].tag : NULL;
            const char *date = round > 0 ? rows[i].date : NULL;
            bool is_right =
                (tag ? !!strstr(sent, tag) : !strstr(sent, "If-None-Match")) &&
                (date ? !!strstr(sent, date) : !strstr(sent, "If-Modified"));

            if (!is_right)
                printf("in round %u, %s sent\n%s\n", t->round, rows[i].path, sent);
            CHECK(is_right);
        }
    }
    tear_down(t);
}

/* They belong to a request with the same method, headers and user agent. */
TEST(revisit_sends_no_validators_of_another_request)
{
    static const page pages[] = {{.path = "/", .body = "one", .etag = "\"1\""}};
    seine_field fields[] = {{{"Accept-Language", 15}, {"de", 2}}};
    site *t = set_up(pages, 1);
    const page *home = at(t, "/");

    for (unsigned round = 0; round < 12; round++) {
        bool is_other = false;

        t->opts.fields = fields;
        switch (round) {
        case 2:
            t->revisit.refresh = true;
            break;
        case 3:
            t->revisit.refresh = false;
            break;
        case 4:
            t->opts.user_agent = "other/1.0";
            is_other = true;
            break;
        case 6:
            t->opts.n_fields = 1;
            is_other = true;
            break;
        case 8:
            fields[0].value = (seine_view){"en", 2};
            is_other = true;
            break;
        case 10:
            fields[0].name = (seine_view){"X-Language-Odd", 14};
            is_other = true;
            break;
        default:
            break;
        }
        run_round(t);
        bool is_asked = strstr(home->sent, "If-None-Match: \"1\"\n") != NULL;
        if (is_asked != (round > 0 && round != 2 && !is_other))
            printf("in round %u\n", round);
        CHECK_EQ(is_asked, round > 0 && round != 2 && !is_other);
        CHECK_EQ(home->asked, 1);
        check_change(t, "/", round > 0 ? "same" : "new");
    }
    tear_down(t);
}

TEST(revisit_leaves_a_condition_of_the_user_alone)
{
    static const page pages[] = {{.path = "/", .body = "one", .etag = "\"1\""}};
    seine_field fields[] = {{{"If-None-Match", 13}, {"\"mine\"", 6}}};
    site *t = set_up(pages, 1);

    t->opts.fields = fields;
    t->opts.n_fields = 1;
    for (unsigned round = 0; round < 2; round++) {
        run_round(t);
        CHECK(strstr(at(t, "/")->sent, "If-None-Match: \"mine\"\n") != NULL);
        CHECK(!strstr(at(t, "/")->sent, "\"1\""));
    }
    tear_down(t);
}

TEST(revisit_asks_without_conditions_after_an_answer_that_nobody_asked_for)
{
    static const page pages[] = {{.path = "/", .body = "one", .etag = "\"1\""}};
    site *t = set_up(pages, 1);

    t->opts.retry.max_attempts = 2;
    run_round(t);
    at(t, "/")->err = SEINE_E_UNEXPECTED_206;
    at(t, "/")->status = 206;
    run_round(t);
    CHECK_EQ(at(t, "/")->asked, 2);
    CHECK(!strstr(at(t, "/")->sent, "If-None-Match"));
    check_change(t, "/", "same");
    tear_down(t);
}

/* From a day on, and how the interval then moves. */
TEST(revisit_leaves_pages_alone_that_are_not_due)
{
    static const page pages[] = {
        {.path = "/",
         .body = "<a href=/same>1</a><a href=/changes>2</a><a href=/fresh>3</a>"
                 "<a href=/stale>4</a><a href=/ever>5</a><a href=/gone>6</a>"},
        {.path = "/same", .body = "one"},
        {.path = "/changes", .body = "two"},
        {.path = "/fresh",
         .body = "three",
         .more = "Cache-Control: public, Max-Age = 172800"},
        {.path = "/stale",
         .body = "four",
         .more = "Cache-Control: max-age=60, s-maxage=864000"},
        {.path = "/ever", .body = "five", .more = "Cache-Control: max-age=99999999999"},
        {.path = "/gone", .body = "six"},
    };
    static const struct {
        int64_t hours; /* since the round before */
        const char *asked;
    } rounds[] = {
        {0, "/ /same /changes /fresh /stale /ever /gone "},
        {1, ""},
        {22, ""},
        {2,
         "/ /same /changes /stale /gone "}, /* hour 25: two days, 30 days are to come */
        {11, ""},                           /* 36 */
        {2, "/changes "},       /* 38: half as long, then half as long again */
        {9, ""},                /* 47 */
        {2, "/fresh "},         /* 49 */
        {5, ""},                /* 54 */
        {6, "/changes "},       /* 60 */
        {2, "/ /same /stale "}, /* 62: half as long again */
    };
    enum { ROUNDS = sizeof rounds / sizeof *rounds };
    site *t = set_up(pages, sizeof pages / sizeof *pages);

    t->revisit.start = SEINE_SECS(DAY);
    for (size_t round = 0; round < ROUNDS; round++) {
        char told[256] = "";
        size_t len = 0, known = sizeof pages / sizeof *pages;

        script_jump(t->s, SEINE_SECS(rounds[round].hours * HOUR));
        if (round == 3) {
            at(t, "/changes")->body = "two!";
            at(t, "/gone")->status = 404;
        }
        run_round(t);
        for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
            if (t->pages[i].records > 0) {
                len += (size_t)snprintf(told + len, sizeof told - len, "%s ",
                                        t->pages[i].path);
                known--;
            }
        CHECK_STR(told, rounds[round].asked);
        CHECK_EQ(t->not_due, known);
    }
    tear_down(t);
}

TEST(revisit_asks_at_once_for_what_a_sitemap_calls_newer)
{
    static const page pages[] = {
        {.path = "/robots.txt", .body = "Sitemap: /map.xml\n"},
        {.path = "/map.xml",
         .body = "<urlset><url><loc>http://a.test/newer</loc>"
                 "<lastmod>2023-11-14T23:00:00Z</lastmod></url>"
                 "<url><loc>http://a.test/older</loc>"
                 "<lastmod>2023-11-14T22:00:00Z</lastmod></url>"
                 "<url><loc>http://a.test/undated</loc></url></urlset>"},
        {.path = "/", .body = "home"},
        {.path = "/newer", .body = "one"},
        {.path = "/older", .body = "two"},
        {.path = "/undated", .body = "three"},
    };
    site *t = set_up(pages, sizeof pages / sizeof *pages);

    t->revisit.start = SEINE_SECS(DAY);
    t->crawl.sitemaps = seine_crawl_defaults().sitemaps;
    t->opts.robots = SEINE_OBEY_ON;
    t->opts.mine = t->opts.adaptive = false;
    t->opts.host_rate.count = 0;
    run_round(t);
    CHECK_EQ(at(t, "/map.xml")->asked, 1);
    CHECK_EQ(at(t, "/newer")->records, 1);
    CHECK_EQ(at(t, "/older")->records, 1);
    CHECK_EQ(at(t, "/undated")->records, 1);
    CHECK_EQ(t->not_due, 0);
    script_jump(t->s, SEINE_SECS(HOUR));
    run_round(t);
    check_change(t, "/newer", "same");
    CHECK_EQ(at(t, "/older")->records, 0);
    CHECK_EQ(at(t, "/undated")->records, 0);
    CHECK_EQ(at(t, "/")->records, 0);
    CHECK_EQ(t->not_due, 3);
    script_jump(t->s, SEINE_SECS(HOUR));
    run_round(t); /* it was seen since then */
    CHECK_EQ(at(t, "/newer")->records, 0);
    CHECK_EQ(t->not_due, 4);
    tear_down(t);
}

/* Only words count, and numbers do not. */
TEST(revisit_by_content_compares_the_words_of_a_page)
{
    static const page pages[] = {
        {.path = "/",
         .body = "<a href=/clock>1</a><a href=/news>2</a><a href=/markup>3</a><a "
                 "href=/empty>4</a>"},
        {.path = "/clock", .body = "<p>it is 17 o'clock in the old town"},
        {.path = "/news", .body = "<p>it rains in the old town today"},
        {.path = "/markup", .body = "<p>a heading and some more words"},
        {.path = "/empty", .body = "<i></i>"},
    };
    static const struct {
        const char *path, *body, *by_bytes, *by_content;
    } rows[] = {
        {"/clock", "<p>it is 18 o'clock in the old town", "changed", "same"},
        {"/news", "<p>it snows in the old town today", "changed", "changed"},
        {"/markup", "<div><b>a heading</b> and some more words</div>", "changed", "same"},
    };

    for (unsigned by_content = 0; by_content < 2; by_content++) {
        site *t = set_up(pages, sizeof pages / sizeof *pages);

        t->revisit.by_content = by_content;
        run_round(t);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            at(t, rows[i].path)->body = rows[i].body;
        run_round(t);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            check_change(t, rows[i].path,
                         by_content ? rows[i].by_content : rows[i].by_bytes);
        check_change(t, "/empty", "same");
        tear_down(t);
    }
}

/* The seed comes first, and all else in the order in which it was found. */
TEST(revisit_budgets_count_each_round_anew)
{
    static const page pages[] = {
        {.path = "/",
         .body = "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href=/4>4</a>"},
        {.path = "/1", .body = "one"},
        {.path = "/2", .body = "two"},
        {.path = "/3", .body = "three"},
        {.path = "/4", .body = "four"},
    };
    enum { KNOWN = sizeof pages / sizeof *pages };
    static const struct {
        unsigned budget, n_new, n_same;
    } rounds[] = {{3, 3, 0}, {3, 0, 3}, {0, 2, 3}, {2, 0, 2}, {4, 0, 4}, {0, 0, 5}};

    for (unsigned by_host = 0; by_host < 2; by_host++) {
        site *t = set_up(pages, KNOWN);

        t->crawl.skips = true;
        for (size_t round = 0; round < sizeof rounds / sizeof *rounds; round++) {
            unsigned n[2] = {0}, skipped = 0;
            char rule[32];

            snprintf(rule, sizeof rule, "max_%s %u", by_host ? "per_host" : "pages",
                     rounds[round].budget);
            t->opts.max_pages = by_host ? 0 : rounds[round].budget;
            t->crawl.max_per_host = by_host ? rounds[round].budget : 0;
            run_round(t);
            for (size_t i = 0; i < KNOWN; i++) {
                const page *p = &t->pages[i];

                if (p->change)
                    n[strcmp(p->change, "same") == 0]++;
                if (*p->rule) {
                    CHECK_STR(p->rule, rule);
                    skipped++;
                }
                CHECK_EQ(p->records + (*p->rule != 0), 1);
            }
            CHECK_EQ(n[0], rounds[round].n_new);
            CHECK_EQ(n[1], rounds[round].n_same);
            CHECK_EQ(skipped, KNOWN - n[0] - n[1]);
        }
        tear_down(t);
    }
}

/* A pattern that brought nothing new is left alone in three more rounds. Its pages that
 * are known are asked for all the same. */
TEST(revisit_looks_anew_at_a_trap_in_the_fifth_round)
{
    static const page pages[] = {{.path = "/", .body = "<a href=/item/0>first</a>"}};
    site *t = set_up(pages, 1);
    unsigned first;

    t->crawl.depth = UINT32_MAX;
    t->crawl.pattern_budget = 10;
    run_round(t);
    first = t->items;
    CHECK(first >= 200 && first < 300);
    for (unsigned round = 2; round <= 4; round++) {
        run_round(t);
        CHECK_EQ(t->items, first);
    }
    run_round(t);
    CHECK(t->items > first);
    CHECK(t->items < 2 * first + 300);
    tear_down(t);
}
