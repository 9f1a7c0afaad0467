/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gather.h"
#include "script.h"

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    seine_fetch *f;
    gather g;
} fixture;

static fixture *
set_up(void)
{
    fixture *t = calloc(1, sizeof *t);

    t->s = script_new(NULL);
    t->opts = script_opts(t->s);
    t->opts.on_record = gather_record;
    t->opts.arg = &t->g;
    return t;
}

static void
run(fixture *t, const seine_ask *ask)
{
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), NULL, &t->f), SEINE_OK);
    CHECK_EQ(seine_fetch_add(t->f, ask, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
}

static void
run_url(fixture *t, const char *url)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    run(t, &ask);
}

static void
tear_down(fixture *t)
{
    script_free(t->s);
    free(t);
}

#define CODINGS "Accept-Encoding: gzip, deflate, br, zstd\n"
#define PLAIN   "User-Agent: test\nAccept: */*\n" CODINGS

TEST(a_request_says_who_asks)
{
    fixture *t = set_up();

    t->opts.from = "me@a.test";
    run_url(t, "http://a.test/");
    const asked *a = script_request(t->s, 0);
    CHECK_STR(a->fields, "User-Agent: test\nFrom: me@a.test\nAccept: */*\n" CODINGS);
    CHECK_STR(a->method, "GET");
    CHECK(!a->conditional && !a->range && !a->fresh);
    CHECK_EQ(a->ceiling, SN_ADDRESS_LOCAL);
    tear_down(t);
    t = set_up();
    t->opts.user_agent = "";
    run_url(t, "http://a.test/");
    CHECK_STR(script_request(t->s, 0)->fields, "Accept: */*\n" CODINGS);
    tear_down(t);
}

TEST(what_a_user_adds_stays_with_the_origin_of_its_url)
{
    static const seine_field fields[] = {{{"X-Key", 5}, {"k", 1}},
                                         {{"Accept-Language", 15}, {"de", 2}}};
    fixture *t = set_up();

    t->opts.fields = fields;
    t->opts.n_fields = 2;
    script_on(t->s, "http://a.test/", &(answer){.status = 302, .fields = "Location: /b"});
    script_on(t->s, "http://a.test/b",
              &(answer){.status = 302, .fields = "Location: http://b.test/c"});
    script_on(t->s, "http://b.test/c",
              &(answer){.status = 302, .fields = "Location: http://a.test:81/d"});
    script_on(t->s, "http://a.test:81/d",
              &(answer){.status = 302, .fields = "Location: http://a.test/e"});
    run_url(t, "http://a.test/");
    const char *with = PLAIN "X-Key: k\nAccept-Language: de\n";
    const char *without = PLAIN "Accept-Language: de\n";
    CHECK_EQ(script_requests(t->s), 5);
    CHECK_STR(script_request(t->s, 0)->fields, with);
    CHECK_STR(script_request(t->s, 1)->fields, with);
    CHECK_STR(script_request(t->s, 2)->fields, without); /* another host */
    CHECK_STR(script_request(t->s, 3)->fields, without); /* another port */
    CHECK_STR(script_request(t->s, 4)->fields, with);    /* home again */
    CHECK_EQ(t->g.all[0].n_hops, 4);
    CHECK_STR(t->g.all[0].final_url, "http://a.test/e");
    tear_down(t);
}

TEST(fields_of_one_url_replace_those_of_all_and_these_our_own)
{
    static const seine_field all[] = {{{"accept", 6}, {"text/html", 9}},
                                      {{"X-A", 3}, {"all", 3}},
                                      {{"X-A", 3}, {"twice", 5}},
                                      {{"X-B", 3}, {"all", 3}}};
    static const seine_field own[] = {{{"x-a", 3}, {"own", 3}}};
    fixture *t = set_up();
    seine_ask ask = SEINE_ASK;

    t->opts.fields = all;
    t->opts.n_fields = 4;
    ask.url = (seine_view){"http://a.test/", 14};
    ask.fields = own;
    ask.n_fields = 1;
    run(t, &ask);
    CHECK_STR(script_request(t->s, 0)->fields,
              "User-Agent: test\n" CODINGS "accept: text/html\nX-B: all\nx-a: own\n");
    tear_down(t);
    t = set_up();
    t->opts.fields = all;
    t->opts.n_fields = 4;
    run_url(t, "http://a.test/");
    CHECK_STR(script_request(t->s, 0)->fields,
              "User-Agent: test\n" CODINGS
              "accept: text/html\nX-A: all\nX-A: twice\nX-B: all\n");
    tear_down(t);
}

TEST(conditions_and_ranges_go_with_their_very_url)
{
    static const seine_field fields[] = {{{"If-None-Match", 13}, {"\"e\"", 3}},
                                         {{"Range", 5}, {"bytes=0-9", 9}}};
    fixture *t = set_up();

    t->opts.fields = fields;
    t->opts.n_fields = 2;
    script_on(t->s, "http://a.test/", &(answer){.status = 307, .fields = "Location: /b"});
    run_url(t, "http://a.test/");
    CHECK(script_request(t->s, 0)->conditional && script_request(t->s, 0)->range);
    /* A part of a packed body is of no use. */
    CHECK(!strstr(script_request(t->s, 0)->fields, "Accept-Encoding"));
    CHECK(!script_request(t->s, 1)->conditional && !script_request(t->s, 1)->range);
    CHECK_STR(script_request(t->s, 1)->fields, PLAIN);
    tear_down(t);
}

TEST(an_answer_nobody_asked_for_is_tried_without_what_provoked_it)
{
    static const seine_field fields[] = {{{"If-None-Match", 13}, {"\"e\"", 3}},
                                         {{"X-A", 3}, {"1", 1}}};
    fixture *t = set_up();

    t->opts.fields = fields;
    t->opts.n_fields = 2;
    script_on(t->s, "http://a.test/",
              &(answer){.err = SEINE_E_UNEXPECTED_206, .status = 206}, &(answer){0});
    run_url(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 2);
    CHECK(script_request(t->s, 0)->conditional);
    CHECK(!script_request(t->s, 1)->conditional);
    CHECK_STR(script_request(t->s, 1)->fields, PLAIN "X-A: 1\n");
    CHECK_EQ(t->g.all[0].fate, SEINE_FATE_OK);
    tear_down(t);
}

TEST(a_body_goes_with_its_fields_and_neither_with_a_get)
{
    static const seine_field own[] = {{{"Content-Type", 12}, {"text/x", 6}},
                                      {{"X-A", 3}, {"1", 1}}};
    fixture *t = set_up();
    seine_ask ask = SEINE_ASK;

    script_on(t->s, "http://a.test/", &(answer){.status = 307, .fields = "Location: /b"});
    script_on(t->s, "http://a.test/b",
              &(answer){.status = 303, .fields = "Location: /c"});
    ask.url = (seine_view){"http://a.test/", 14};
    ask.body = (seine_view){"data", 4};
    ask.fields = own;
    ask.n_fields = 2;
    run(t, &ask);
    CHECK_EQ(script_requests(t->s), 3);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_STR(script_request(t->s, i)->method, "POST");
        CHECK_STR(script_request(t->s, i)->body, "data");
        CHECK_STR(script_request(t->s, i)->fields,
                  PLAIN "Content-Type: text/x\nX-A: 1\n");
    }
    CHECK_STR(script_request(t->s, 2)->method, "GET");
    CHECK_STR(script_request(t->s, 2)->body, "");
    CHECK_STR(script_request(t->s, 2)->fields, PLAIN "X-A: 1\n");
    tear_down(t);
}

TEST(a_replay_uses_a_fresh_connection)
{
    fixture *t = set_up();

    script_on(t->s, "http://a.test/",
              &(answer){.err = SEINE_E_CONN_STALE, .reused = true, .replayable = true},
              &(answer){0});
    run_url(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 2);
    CHECK(!script_request(t->s, 0)->fresh && script_request(t->s, 1)->fresh);
    CHECK_EQ(t->g.all[0].attempts, 1);
    tear_down(t);
}

TEST(a_content_type_is_a_media_type_and_perhaps_a_charset)
{
    static const struct {
        const char *value, *type, *charset;
    } rows[] = {
        {"text/html", "text/html", NULL},
        {"Text/HTML; Charset=UTF-8", "text/html", "utf-8"},
        {"text/html;charset=\"iso-8859-1\"", "text/html", "iso-8859-1"},
        {"text/html; x=y; charset=a; charset=b", "text/html", "a"},
        {"text/html;", "text/html", NULL},
        {"text/html; charset", "text/html", NULL},
        {"text/html; charset=", "text/html", NULL},
        {" application/json ", "application/json", NULL},
        {"text", NULL, NULL},
        {"/x", NULL, NULL},
        {"x/", NULL, NULL},
        {"a b/c", NULL, NULL},
        {"", NULL, NULL},
    };

    EACH_ROW(i, rows) {
        sn_arena arena;
        sn_str type, charset;
        sn_arena_init(&arena, 256, 1 << 16);
        sn_requests_content_type(&arena, sn_str_of(rows[i].value), &type, &charset);
        CHECK(sn_str_eq(type, sn_str_of(rows[i].type)));
        CHECK(sn_str_eq(charset, sn_str_of(rows[i].charset)));
        CHECK_EQ(type.ptr != NULL, rows[i].type != NULL);
        CHECK_EQ(charset.ptr != NULL, rows[i].charset != NULL);
        sn_arena_fini(&arena);
    }
}

TEST(of_an_answer_is_kept_what_was_asked_for)
{
    fixture *t = set_up();

    script_on(t->s, "http://a.test/",
              &(answer){.fields = "Content-Type: text/html\nX-A: 1\nContent-Length: 23",
                        .body = "<title>A page</title>…!"});
    run_url(t, "http://a.test/");
    CHECK_STR(t->g.all[0].title, "A page");
    CHECK_STR(t->g.all[0].body, "");
    CHECK_EQ(t->g.all[0].n_fields, 0);
    CHECK_EQ(t->g.all[0].content_length, 23);
    t->opts.keep = SEINE_KEEP_BODY | SEINE_KEEP_FIELDS | SEINE_KEEP_SHA256;
    run_url(t, "http://a.test/");
    CHECK_STR(t->g.all[1].title, "");
    CHECK_STR(t->g.all[1].body, "<title>A page</title>…!");
    CHECK_EQ(t->g.all[1].n_fields, 3);
    CHECK(t->g.all[1].has_sha256);
    tear_down(t);
}

TEST(a_page_cut_off_has_no_title)
{
    fixture *t = set_up();

    t->opts.retry.max_attempts = 1;
    script_on(t->s, "http://a.test/",
              &(answer){.err = SEINE_E_BODY_TRUNCATED,
                        .status = 200,
                        .partial = true,
                        .fields = "Content-Type: text/html",
                        .body = "<title>A page</title>"});
    run_url(t, "http://a.test/");
    CHECK_STR(t->g.all[0].title, "");
    CHECK(t->g.all[0].partial);
    tear_down(t);
}

#define PAGE                                                                   \
    "<html lang=de><base href=/b/><title>T</title><link rel=canonical href=c>" \
    "<meta name=robots content=noindex><a href=1>x</a><a href=2>y</a>"

TEST(a_page_says_of_itself_what_is_asked_for)
{
    fixture *t = set_up();
    static const char html[] = "Content-Type: text/html";

    t->opts.retry.max_attempts = 1;
    script_on(t->s, "http://a.test/", &(answer){.fields = html, .body = PAGE});
    script_on(t->s, "http://a.test/no",
              &(answer){.status = 404, .fields = html, .body = PAGE});
    script_on(t->s, "http://a.test/cut",
              &(answer){.err = SEINE_E_BODY_TRUNCATED,
                        .status = 200,
                        .partial = true,
                        .fields = html,
                        .body = PAGE});
    run_url(t, "http://a.test/");
    CHECK(!t->g.all[0].has_links);
    CHECK_STR(t->g.all[0].canonical, "");
    t->opts.keep |= SEINE_KEEP_LINKS;
    run_url(t, "http://a.test/");
    const gathered *r = &t->g.all[1];
    CHECK(r->has_links && r->n_links == 3); /* the canonical one is a link, too */
    CHECK_STR(r->title, "T");
    CHECK_STR(r->lang, "de");
    CHECK_STR(r->canonical, "http://a.test/b/c");
    CHECK_STR(r->meta_robots, "noindex");
    run_url(t, "http://a.test/no"); /* of an answer that is none, the title */
    CHECK(!t->g.all[2].has_links);
    CHECK_STR(t->g.all[2].title, "T");
    CHECK_STR(t->g.all[2].lang, "");
    run_url(t, "http://a.test/cut"); /* and of one that is not whole nothing */
    CHECK(!t->g.all[3].has_links);
    CHECK_STR(t->g.all[3].title, "");
    CHECK_STR(t->g.all[3].lang, "");
    tear_down(t);
}

TEST(a_type_that_is_not_accepted_is_a_skip_and_its_body_stays_where_it_is)
{
    static const struct {
        uint16_t status;
        const char *fields;
        seine_record_type type;
    } rows[] = {
        {200, "Content-Type: image/png", SEINE_RECORD_SKIP},
        {200, "Content-Type: text/HTML; charset=x", SEINE_RECORD_RESULT},
        {200, "Content-Type: text/plain", SEINE_RECORD_RESULT},
        {200, "Content-Type: text/plainer", SEINE_RECORD_SKIP},
        {200, "Content-Type: video/mp4", SEINE_RECORD_RESULT},
        {200, "X: y", SEINE_RECORD_RESULT}, /* nobody knows */
        {404, "Content-Type: image/png", SEINE_RECORD_RESULT},
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        t->opts.accept_type = "text/html, text/plain,video/*";
        t->opts.keep = SEINE_KEEP_BODY;
        t->opts.retry.max_attempts = 1;
        script_on(t->s, "http://a.test/",
                  &(answer){.status = rows[i].status,
                            .fields = rows[i].fields,
                            .body = "body"});
        run_url(t, "http://a.test/");
        CHECK_EQ(t->g.n, 1);
        CHECK_EQ(t->g.all[0].type, rows[i].type);
        CHECK_STR(t->g.all[0].body, rows[i].type == SEINE_RECORD_SKIP ? "" : "body");
        if (rows[i].type == SEINE_RECORD_SKIP) {
            CHECK_EQ(t->g.all[0].reason, SEINE_SKIP_MIME);
            CHECK(strstr(t->g.all[0].rule, " is not in --accept-type text/html,"));
        }
        tear_down(t);
    }
}

TEST(s0_27_bytes_are_kept_only_while_there_is_room)
{
    static const struct {
        size_t bytes;
        uint64_t memory, max_body;
        seine_err kind;
    } rows[] = {
        {100000, UINT64_C(1) << 20, 1 << 20, SEINE_OK},
        {100000, 1025 << 7, 1 << 20, SEINE_OK}, /* pieces of 1 KiB, doubled */
        {100000, (1025 << 7) - 1, 1 << 20, SEINE_E_BUDGET},
        {100000, 50000, 1 << 20, SEINE_E_BUDGET},
        {100000, 100001, 100000, SEINE_OK}, /* never more than the cap */
        {100001, 1 << 20, 100000, SEINE_E_BODY_TOO_LARGE},
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        t->opts.keep = SEINE_KEEP_BODY;
        t->opts.retry.max_attempts = 1;
        t->opts.max_memory = rows[i].memory;
        t->opts.max_body = rows[i].max_body;
        script_on(t->s, "http://a.test/", &(answer){.fill = rows[i].bytes});
        run_url(t, "http://a.test/");
        CHECK_EQ(t->g.all[0].code, rows[i].kind);
        CHECK_EQ(t->g.all[0].partial, rows[i].kind != SEINE_OK);
        tear_down(t);
    }
}

/* The rest of it is not even taken, and that is no failure. */
TEST(robots_txt_is_read_up_to_512_kib)
{
    enum { MOST = 512 * 1024 };
    static const char rule[] = "Disallow: /x\n";
    static const struct {
        size_t at; /* where the rule begins */
        seine_record_type type;
    } rows[] = {
        {100, SEINE_RECORD_SKIP},
        {MOST - sizeof rule + 1, SEINE_RECORD_SKIP}, /* its last byte is the last */
        {MOST, SEINE_RECORD_RESULT},
    };
    static char file[MOST + 100000];

    EACH_ROW(i, rows) {
        fixture *t = set_up();

        memset(file, '\n', sizeof file - 1);
        memcpy(file, "User-agent: *", 13);
        memcpy(file + rows[i].at, rule, sizeof rule - 1);
        t->opts.mine = false;
        t->opts.max_body = MOST; /* a byte more would be too large */
        t->opts.robots = SEINE_OBEY_ON;
        t->opts.retry.max_attempts = 1;
        script_on(t->s, "http://a.test/robots.txt",
                  &(answer){.fields = "Content-Type: text/plain", .body = file});
        run_url(t, "http://a.test/x");
        CHECK_EQ(t->g.n, 1);
        CHECK_EQ(t->g.all[0].type, rows[i].type);
        CHECK_EQ(script_asked(t->s, "http://a.test/robots.txt"), 1);
        tear_down(t);
    }
}

/* Links are memory, too. */
TEST(a_page_of_many_links_is_read_while_there_is_room)
{
    static char page[400000];
    static const struct {
        uint64_t memory;
        seine_err kind;
    } rows[] = {{UINT64_C(8) << 20, SEINE_OK}, {200000, SEINE_E_BUDGET}};

    for (size_t i = 0; i + 12 < sizeof page; i += 12)
        memcpy(page + i, "<a href=xy>\n", 12);
    EACH_ROW(i, rows) {
        fixture *t = set_up();
        t->opts.keep = SEINE_KEEP_LINKS;
        t->opts.retry.max_attempts = 1;
        t->opts.max_memory = rows[i].memory;
        script_on(t->s, "http://a.test/",
                  &(answer){.fields = "Content-Type: text/html", .body = page});
        run_url(t, "http://a.test/");
        CHECK_EQ(t->g.all[0].code, rows[i].kind);
        CHECK_EQ(t->g.all[0].n_links, rows[i].kind == SEINE_OK ? 33333 : 0);
        tear_down(t);
    }
}

TEST(a_location_said_twice_is_one_and_two_are_none)
{
    static const struct {
        const char *fields;
        seine_err kind;
    } rows[] = {
        {"Location: /b\nLocation: /b", SEINE_OK},
        {"Location: /b\nlocation: /c", SEINE_E_BAD_REDIRECT},
        {"X: y", SEINE_E_BAD_REDIRECT},
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        script_on(t->s, "http://a.test/",
                  &(answer){.status = 301, .fields = rows[i].fields, .body = "moved"});
        run_url(t, "http://a.test/");
        CHECK_EQ(t->g.all[0].code, rows[i].kind);
        tear_down(t);
    }
}

TEST(a_request_that_cannot_begin_has_ended)
{
    static const struct {
        seine_err why, kind;
        unsigned requests;
    } rows[] = {{SEINE_E_NOMEM, SEINE_OK, 1}, {SEINE_E_INVAL, SEINE_E_BAD_URL, 0}};

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        script_refuse_starts(t->s, rows[i].why, 1);
        run_url(t, "http://a.test/");
        CHECK_EQ(t->g.n, 1);
        CHECK_EQ(t->g.all[0].code, rows[i].kind);
        CHECK_EQ(script_requests(t->s), rows[i].requests);
        tear_down(t);
    }
}

/* Ten hops over scheme, host and port: each sees exactly what the table allows. */
TEST(fields_cross_ten_hops_as_the_table_says)
{
    static const seine_field fields[] = {
        {{"Authorization", 13}, {"Bearer t", 8}},
        {{"X-Key", 5}, {"k", 1}},
        {{"Cookie", 6}, {"c=1", 3}},
        {{"Referer", 7}, {"http://u:p@a.test/r?q#f", 23}},
        {{"If-None-Match", 13}, {"\"e\"", 3}},
        {{"Range", 5}, {"bytes=0-9", 9}},
        {{"Accept-Language", 15}, {"de", 2}},

    };
    static const struct {
        const char *url;
        bool home, conditional;
        const char *referer; /* "": none */
    } rows[] = {
        {"http://a.test/", true, true, "http://a.test/r?q"},
        {"http://a.test/1", true, false, "http://a.test/r?q"},
        {"https://a.test/2", false, false, "http://a.test/"},
        {"http://b.test/3", false, false,
         "http://a.test/"}, /* a downgrade of the chain */
        {"http://a.test:81/4", false, false, "http://a.test/"},
        {"http://a.test/5", true, false, "http://a.test/r?q"},
        {"http://x.a.test/6", false, false, "http://a.test/"},
        {"https://b.test/7", false, false, "http://a.test/"},
        {"https://b.test:81/8", false, false, "http://a.test/"},
        {"http://test/9", false, false, "http://a.test/"},
        {"http://a.test/10", true, false, "http://a.test/r?q"},
    };
    enum { N = sizeof rows / sizeof *rows };
    char locations[N][80];
    fixture *t = set_up();

    t->opts.fields = fields;
    t->opts.n_fields = sizeof fields / sizeof *fields;
    for (size_t i = 0; i + 1 < N; i++) {
        char *location = locations[i];

        /* who redirects may name a user; nobody is sent there as him */
        snprintf(location, 80, "Location: %.*s//eve:pw@%s",
                 (int)strcspn(rows[i + 1].url, "/"), rows[i + 1].url,
                 strstr(rows[i + 1].url, "//") + 2);
        script_on(t->s, rows[i].url, &(answer){.status = 302, .fields = location});
    }
    run_url(t, rows[0].url);
    CHECK_EQ(script_requests(t->s), N);
    EACH_ROW(i, rows) {
        const asked *a = script_request(t->s, (unsigned)i);
        char want[400];

        snprintf(want, sizeof want, "User-Agent: test\nAccept: */*\n%s%s%s%s%s%s%s",
                 rows[i].conditional ? "" : CODINGS, /* a range is of bytes as they are */
                 rows[i].home ? "Authorization: Bearer t\nX-Key: k\nCookie: c=1\n" : "",
                 rows[i].referer[0] ? "Referer: " : "", rows[i].referer,
                 rows[i].referer[0] ? "\n" : "",
                 rows[i].conditional ? "If-None-Match: \"e\"\nRange: bytes=0-9\n" : "",
                 "Accept-Language: de\n");
        CHECK_STR(a->fields, want);
        CHECK_STR(a->url, rows[i].url);
        CHECK_EQ(a->conditional, rows[i].conditional);
    }
    CHECK_EQ(t->g.all[0].n_hops, N - 1);
    tear_down(t);
}

TEST(a_user_in_a_url_stays_with_its_origin)
{
    fixture *t = set_up();

    script_on(t->s, "http://a.test/",
              &(answer){.status = 302, .fields = "Location: http://b.test/"});
    script_on(t->s, "http://b.test/",
              &(answer){.status = 302, .fields = "Location: http://a.test/x"});
    run_url(t, "http://joe:pw@a.test/");
    CHECK_STR(script_request(t->s, 0)->fields, PLAIN "Authorization: Basic am9lOnB3\n");
    CHECK_STR(script_request(t->s, 1)->fields, PLAIN);
    CHECK_STR(script_request(t->s, 2)->fields, PLAIN "Authorization: Basic am9lOnB3\n");
    tear_down(t);
}
