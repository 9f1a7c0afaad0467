/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request.h"

#include "one_url.h"

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
    run_ask(t, &ask);
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

TEST(conditions_and_ranges_of_one_url_are_told_as_those_of_all)
{
    static const seine_field own[] = {{{"If-None-Match", 13}, {"\"e\"", 3}},
                                      {{"Range", 5}, {"bytes=0-9", 9}}};

    for (size_t i = 0; i < 2; i++) { /* one of them alone */
        fixture *t = set_up();
        seine_ask ask = SEINE_ASK;

        ask.url = (seine_view){"http://a.test/", 14};
        ask.fields = &own[i];
        ask.n_fields = 1;
        script_on(t->s, "http://a.test/",
                  &(answer){.status = 307, .fields = "Location: /b"});
        run_ask(t, &ask);
        CHECK_EQ(script_requests(t->s), 2);
        CHECK_EQ(script_request(t->s, 0)->conditional, i == 0);
        CHECK_EQ(script_request(t->s, 0)->range, i == 1);
        CHECK(!script_request(t->s, 1)->conditional && !script_request(t->s, 1)->range);
        tear_down(t);
    }
}

TEST(an_attempt_that_failed_for_another_reason_keeps_its_conditions)
{
    static const seine_field fields[] = {{{"If-None-Match", 13}, {"\"e\"", 3}}};
    fixture *t = set_up();

    t->opts.fields = fields;
    t->opts.n_fields = 1;
    script_on(t->s, "http://a.test/", &(answer){.status = 503}, &(answer){0});
    run_url(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 2);
    CHECK(script_request(t->s, 1)->conditional);
    CHECK(strstr(script_request(t->s, 1)->fields, "If-None-Match: \"e\"\n"));
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
    run_ask(t, &ask);
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

TEST(a_time_of_its_own_leaves_the_other_limits_of_a_request_as_they_are)
{
    static const seine_span timeouts[] = {0, SEINE_SECS(3)};

    EACH_ROW(i, timeouts) {
        fixture *t = set_up();
        seine_ask ask = SEINE_ASK;

        t->opts.max_body = 12345;
        t->opts.max_wire = 54321;
        t->opts.connect_timeout = SEINE_SECS(2);
        ask.url = (seine_view){"http://a.test/", 14};
        ask.timeout = timeouts[i];
        run_ask(t, &ask);
        const sn_limits *limits = &script_request(t->s, 0)->limits;
        CHECK_EQ(limits->time.attempt, timeouts[i] ? timeouts[i] : t->opts.timeout);
        CHECK_EQ(limits->time.connect, SEINE_SECS(2));
        CHECK_EQ(limits->max_body, 12345);
        CHECK_EQ(limits->max_wire, 54321);
        tear_down(t);
    }
}

/* Those that the user named, and with `insecure` the host of the URL itself. */
TEST(a_certificate_goes_unchecked_at_named_hosts_alone)
{
    static const char *const b[] = {"b.test", NULL}, *const both[] = {"x.test", "A.test",
                                                                      NULL};
    static const struct {
        bool all;
        const char *const *hosts;
        const char *to; /* https://a.test/ leads there */
        bool first, second;
    } rows[] = {
        {false, NULL, "https://a.test/2", false, false},
        {true, NULL, "https://a.test/2", true, true},
        {true, NULL, "https://a.test:8443/", true, true}, /* another port */
        {true, NULL, "https://b.test/", true, false},
        {false, b, "https://b.test/", false, true},
        {true, b, "https://b.test/", true, true},
        {false, both, "https://b.test/", true, false},
        {false, both, "https://x.test/", true, true},
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        char location[64];

        t->opts.insecure = rows[i].all;
        t->opts.insecure_hosts = rows[i].hosts;
        snprintf(location, sizeof location, "Location: %s", rows[i].to);
        script_on(t->s, "https://a.test/", &(answer){.status = 302, .fields = location});
        run_url(t, "https://a.test/");
        CHECK_EQ(script_requests(t->s), 2);
        CHECK_EQ(script_request(t->s, 0)->insecure, rows[i].first);
        CHECK_EQ(script_request(t->s, 1)->insecure, rows[i].second);
        CHECK(!script_request(t->s, 0)->identify); /* there is no certificate */
        tear_down(t);
    }
}
