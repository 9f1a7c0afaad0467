/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/response.h"

#include "failing.h"
#include "one_url.h"

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
        CHECK(
            sn_response_content_type(&arena, sn_str_of(rows[i].value), &type, &charset));
        CHECK(sn_str_eq(type, sn_str_of(rows[i].type)));
        CHECK(sn_str_eq(charset, sn_str_of(rows[i].charset)));
        CHECK_EQ(type.ptr != NULL, rows[i].type != NULL);
        CHECK_EQ(charset.ptr != NULL, rows[i].charset != NULL);
        sn_arena_fini(&arena);
    }
}

/* A fetch remembers what it read last of a Content-Type. */
TEST(content_types_that_begin_alike_are_read_each_for_itself)
{
    static const struct {
        const char *fields, *type, *charset;
    } rows[] = {
        {"Content-Type: text/html; charset=iso-8859-1", "text/html", "iso-8859-1"},
        {"Content-Type: text/html; charset=iso-8859-1", "text/html", "iso-8859-1"},
        {"Content-Type: text/html", "text/html", ""},
        {"Content-Type: text/html; charset=iso-8859-15", "text/html", "iso-8859-15"},
        {"Content-Type: text/html; charset=iso-8859-1", "text/html", "iso-8859-1"},
        {"Content-Type: text/htmx; charset=iso-8859-1", "text/htmx", "iso-8859-1"},
    };
    fixture *t = set_up();
    seine_ask ask = SEINE_ASK;
    char url[32];

    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    EACH_ROW(i, rows) {
        int n = snprintf(url, sizeof url, "http://a.test/%u", (unsigned)i);

        script_on(t->s, url, &(answer){.fields = rows[i].fields, .body = "x"});
        ask.url = (seine_view){url, (size_t)n};
        CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
        while (t->g.n <= i)
            sn_fetch_turn(t->f, SEINE_NEVER);
        CHECK_STR(t->g.all[i].content_type, rows[i].type);
        CHECK_STR(t->g.all[i].charset, rows[i].charset);
    }
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
    tear_down(t);
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
            CHECK(strstr(t->g.all[0].rule, " is not in accept_type text/html,"));
        }
        tear_down(t);
    }
}

/* Over the memory limit: said so, no attempt, and not asked for again. */
TEST(s0_10_s0_27_a_body_over_the_memory_limit_is_no_attempt_and_not_retried)
{
    enum { BODY = SEINE_KEEP_BODY, COPY = SEINE_KEEP_COPY, HASH = SEINE_KEEP_SHA256 };
    static const struct {
        uint32_t keep;
        size_t bytes;
        uint64_t memory, max_body;
        seine_err kind;
    } rows[] = {
        {BODY, 100000, UINT64_C(1) << 20, 1 << 20, SEINE_OK},
        {BODY, 100000, 100000 - 4096, 1 << 20, SEINE_OK}, /* 4 KiB are not counted */
        {BODY, 100000, 100000 - 4097, 1 << 20, SEINE_E_BUDGET},
        {BODY, 100000, 50000, 1 << 20, SEINE_E_BUDGET},
        {BODY, 100001, 1 << 20, 100000, SEINE_E_BODY_TOO_LARGE},
        {BODY | COPY, 100000, 2 * (100000 - 4096), 1 << 20, SEINE_OK},
        {BODY | COPY, 100000, 2 * (100000 - 4096) - 1, 1 << 20, SEINE_E_BUDGET},
        {HASH | COPY, 100000, 100000 - 4096, 1 << 20, SEINE_OK}, /* nothing to copy */
        {0, 100000, 5000, 1 << 20, SEINE_OK},                    /* nothing is kept */
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        bool is_over = rows[i].kind == SEINE_E_BUDGET;

        t->opts.keep = rows[i].keep;
        t->opts.retry.max_attempts = 5;
        t->opts.max_memory = rows[i].memory;
        t->opts.max_body = rows[i].max_body;
        script_on(t->s, "http://a.test/", &(answer){.fill = rows[i].bytes});
        run_url(t, "http://a.test/");
        CHECK_EQ(t->g.n, 1);
        CHECK_EQ(t->g.all[0].code, rows[i].kind);
        CHECK_EQ(t->g.all[0].partial, rows[i].kind != SEINE_OK);
        CHECK_EQ(t->g.all[0].attempts, is_over ? 0 : 1);
        CHECK_EQ(script_asked(t->s, "http://a.test/"), 1);
        if (is_over)
            CHECK(strstr(t->g.all[0].message, "memory limit reached"));
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

TEST(a_record_counts_the_bytes_of_a_page_that_are_no_characters)
{
    fixture *t = set_up();

    t->opts.keep = SEINE_KEEP_LINKS;
    script_on(t->s, "http://a.test/",
              &(answer){.fields = "Content-Type: text/html; charset=utf-8",
                        .body = "<title>\xff</title>a\xc3\xa4\xfe"});
    run_url(t, "http://a.test/");
    CHECK_EQ(t->g.all[0].charset_errors, 2);
    tear_down(t);
}

/* The response is fine then; what was to be read of the page is missing. */
TEST(a_page_that_was_not_read_for_want_of_memory_says_so)
{
    unsigned unread = 0;

    FAIL_EACH(round)
    {
        fixture *t = set_up();
        seine_ask ask = SEINE_ASK;

        t->opts.keep = SEINE_KEEP_LINKS;
        t->opts.retry.max_attempts = 1;
        script_on(t->s, "http://a.test/",
                  &(answer){.fields = "Content-Type: text/html", .body = PAGE});
        ask.url = (seine_view){"http://a.test/", 14};
        if (sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL) == SEINE_OK) {
            (void)!seine_fetch_add(t->f, &ask, NULL);
            (void)!seine_fetch_finish(t->f, NULL);
            seine_fetch_free(t->f);
        }
        if (t->g.n > 0 && t->g.all[0].fate == SEINE_FATE_OK) {
            CHECK_EQ(t->g.all[0].extract,
                     t->g.all[0].has_links ? SEINE_OK : SEINE_E_NOMEM);
            unread += !t->g.all[0].has_links;
        }
        tear_down(t);
    }
    CHECK(unread > 0);
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
