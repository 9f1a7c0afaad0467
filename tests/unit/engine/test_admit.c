/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/admit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "script.h"

static sn_shared_state *
shared_with(void (*change)(seine_fetch_opts *o))
{
    sn_shared_state *c = malloc(sizeof *c);
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    if (change)
        change(&o);
    CHECK_EQ(sn_shared_state_init(c, &o, NULL), SEINE_OK);
    return c;
}

static void
done(sn_shared_state *c)
{
    sn_shared_state_fini(c);
    free(c);
}

static seine_ask
ask_of(const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    return a;
}

static sn_visit *
admit(sn_shared_state *c, const seine_ask *ask)
{
    sn_visit *v = NULL;

    CHECK_EQ(sn_admit(c, ask, T0, &v), SEINE_OK);
    return v;
}

static void
give(sn_shared_state *c, sn_visit *v)
{
    sn_visits_give(c->visits, v);
}

static bool
is(sn_str s, const char *text)
{
    return sn_str_eq(s, sn_str_of(text));
}

TEST(a_url_without_scheme_is_https_but_for_addresses_and_localhost)
{
    static const struct {
        const char *text, *scheme;
    } rows[] = {
        {"e.example", "https"},
        {"e.example/x", "https"},
        {"e.example:8080/x", "https"},
        {"e.example?x", "https"},
        {"//e.example/x", "https"},
        {" e.example ", "https"},
        {"xn--bcher-kva.example", "https"},
        {"user@e.example/", "https"},
        {"localhost", "http"},
        {"localhost:8080", "http"},
        {"LOCALHOST./x", "http"},
        {"a.localhost/x", "http"},
        {"notlocalhost", "https"},
        {"127.0.0.1", "http"},
        {"127.0.0.1:8080/x", "http"},
        {"0x7f.1", "http"},
        {"1.2.0x3", "http"},
        {"[::1]", "http"},
        {"[::1]:80/", "http"},
        {"1.2.3.4.example", "https"},
        {"http://e.example", ""},
        {"https:e.example", ""},
        {"mailto:a@e.example", ""},
        {"tel:123", ""},
        {"javascript:1", ""},
        {"data:,x", ""},
        {"a+b:x", ""},
        {":80", "https"},
        {"a_b:x", "https"}, /* no scheme has such a letter … */
        {"1a:x", "https"},  /* … or begins so */
        {"e.example:80x", ""},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        sn_str got = sn_admit_scheme(sn_str_of(rows[i].text));
        CHECK(is(got, rows[i].scheme));
    }
}

TEST(blanks_around_a_url_without_scheme_are_no_part_of_it)
{
    static const char *const rows[] = {"e.example/a", " e.example/a", "e.example/a \t",
                                       "\n e.example/a\n", "  //e.example/a "};

    EACH_ROW(i, rows) {
        sn_shared_state *c = shared_with(NULL);
        seine_ask ask = ask_of(rows[i]);
        sn_visit *v = admit(c, &ask);

        CHECK(!v->is_skip);
        CHECK_STR(seine_url_href(&v->url).ptr, "https://e.example/a");
        give(c, v);
        done(c);
    }
}

TEST(an_admitted_url_has_what_its_request_needs)
{
    sn_shared_state *c = shared_with(NULL);
    seine_ask ask = ask_of("HTTP://E.example:80/%7Ea?b#c");

    ask.line = 7;
    ask.id = (seine_view){"i", 1};
    ask.tags = (seine_view){"{}", 2};
    sn_visit *v = admit(c, &ask);
    CHECK(!v->is_skip);
    CHECK_EQ(v->state, SN_ADMITTED);
    CHECK_STR(seine_url_href(v->first).ptr, "http://e.example/%7Ea?b");
    CHECK_STR(seine_url_href(&v->url).ptr, "http://e.example/%7Ea?b");
    CHECK(is(v->key, "http://e.example/~a?b"));
    CHECK(is(v->input, "HTTP://E.example:80/%7Ea?b#c"));
    CHECK(is(v->id, "i") && is(v->tags, "{}"));
    CHECK(is(v->method, "GET"));
    CHECK_EQ(v->line, 7);
    CHECK_EQ(v->number, 0);
    CHECK_EQ(v->timeout, SEINE_SECS(30));
    CHECK_EQ(v->lane, 1);
    CHECK(v->retry.idempotent && v->is_typed);
    CHECK_EQ(v->ceiling, SN_ADDRESS_LOCAL);
    CHECK_EQ(v->admitted_at, T0);
    give(c, v);
    done(c);
}

TEST(numbers_follow_the_order_of_the_input)
{
    sn_shared_state *c = shared_with(NULL);
    seine_ask a = ask_of("http://a.test/1"), b = ask_of("ftp://a.test/"),
              d = ask_of("http://a.test/2");
    sn_visit *v[3] = {admit(c, &a), admit(c, &b), admit(c, &d)};

    for (int i = 0; i < 3; i++) {
        CHECK_EQ(v[i]->number, (uint64_t)i);
        give(c, v[i]);
    }
    done(c);
}

static void
https_only(seine_fetch_opts *o)
{
    o->https_only = true;
    o->untrusted = true;
}

TEST(what_cannot_be_asked_is_a_skip_with_its_reason)
{
    char longest[SEINE_URL_MAX + 2], grows[SEINE_URL_MAX + 1];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "http://a.test/", 14);
    longest[SEINE_URL_MAX + 1] = '\0';
    memset(grows, '"', sizeof grows); /* three bytes each once escaped */
    memcpy(grows, "http://a.test/", 14);
    grows[4000] = '\0';
    const struct {
        const char *url;
        seine_skip reason;
        bool strict;
    } rows[] = {
        {"ftp://a.test/", SEINE_SKIP_SCHEME, false},
        {"mailto:a@b.test", SEINE_SKIP_SCHEME, false},
        {"http://a b/", SEINE_SKIP_BAD_URL, false},
        {"http://", SEINE_SKIP_BAD_URL, false},
        {"not a url", SEINE_SKIP_BAD_URL, false},
        {"", SEINE_SKIP_BAD_URL, false},
        {longest, SEINE_SKIP_TOO_LONG, false},
        {grows, SEINE_SKIP_TOO_LONG, false},
        {longest + 7, SEINE_SKIP_TOO_LONG, false}, /* without its scheme */
        {"http://a.test/", SEINE_SKIP_SCHEME, true},
        {"https://a.test:25/", SEINE_SKIP_PORT, true},
    };

    EACH_ROW(i, rows) {
        sn_shared_state *c = shared_with(rows[i].strict ? https_only : NULL);
        seine_ask ask = ask_of(rows[i].url);
        sn_visit *v = admit(c, &ask);
        CHECK(v->is_skip);
        CHECK_EQ(v->reason, rows[i].reason);
        CHECK(v->rule.len > 0);
        CHECK(is(v->input, rows[i].url));
        give(c, v);
        done(c);
    }
}

TEST(the_longest_url_is_asked)
{
    sn_shared_state *c = shared_with(NULL);
    char longest[SEINE_URL_MAX + 1];

    memset(longest, 'x', sizeof longest);
    memcpy(longest, "http://a.test/", 14);
    longest[SEINE_URL_MAX] = '\0';
    seine_ask ask = ask_of(longest);
    sn_visit *v = admit(c, &ask);
    CHECK(!v->is_skip);
    CHECK_EQ(seine_url_href(&v->url).len, SEINE_URL_MAX);
    give(c, v);
    done(c);
}

TEST(a_line_that_could_not_be_read_is_a_skip_as_told)
{
    sn_shared_state *c = shared_with(NULL);
    seine_ask ask = ask_of("{\"url\":");

    ask.is_bad = true;
    ask.line = 3;
    ask.rule = (seine_view){"not JSON", 8};
    sn_visit *v = admit(c, &ask);
    CHECK(v->is_skip);
    CHECK_EQ(v->reason, SEINE_SKIP_BAD_INPUT);
    CHECK(is(v->rule, "not JSON") && is(v->input, "{\"url\":"));
    CHECK_EQ(v->line, 3);
    give(c, v);
    done(c);
}

TEST(a_key_that_was_here_before_is_nothing_new)
{
    sn_shared_state *c = shared_with(NULL);
    static const char *const same[] = {"http://e.example/~a", "HTTP://E.EXAMPLE:80/%7ea",
                                       "http://e.example/~a?", "http://e.example/~a#x"};
    sn_visit *first = NULL, *v;

    EACH_ROW(i, same) {
        seine_ask ask = ask_of(same[i]);
        seine_err e = sn_admit(c, &ask, T0, i == 0 ? &first : &v);
        CHECK_EQ(e, i == 0 ? SEINE_OK : SEINE_E_ALREADY);
    }
    CHECK_EQ(sn_visits_out(c->visits), 1);
    seine_ask refused = ask_of("ftp://e.example/");
    for (int i = 0; i < 2; i++) /* what is refused is not remembered */
        give(c, admit(c, &refused));
    give(c, first);
    done(c);
}

static void
crawling(seine_fetch_opts *o)
{
    static const seine_crawl_opts crawl = {.size = sizeof(seine_crawl_opts), .depth = 1};
    static const char *const exclude[] = {"/x", NULL};

    o->crawl = &crawl;
    o->exclude = exclude;
}

TEST(in_a_crawl_what_is_refused_is_remembered)
{
    sn_shared_state *c = shared_with(crawling);
    seine_ask ask = ask_of("http://e.example/x");
    sn_visit *v = admit(c, &ask), *again;

    CHECK(v->is_skip);
    CHECK_EQ(sn_admit(c, &ask, T0, &again), SEINE_E_ALREADY);
    give(c, v);
    done(c);
}

static void
no_dedup(seine_fetch_opts *o)
{
    o->dedup = false;
    o->strip_params = "utm_*";
}

TEST(without_dedup_every_url_is_new_and_keys_leave_parameters_out)
{
    sn_shared_state *c = shared_with(no_dedup);
    seine_ask ask = ask_of("http://e.example/?a=1&utm_x=2");

    for (int i = 0; i < 2; i++) {
        sn_visit *v = admit(c, &ask);
        CHECK(is(v->key, "http://e.example/?a=1"));
        CHECK_STR(seine_url_href(&v->url).ptr, "http://e.example/?a=1&utm_x=2");
        give(c, v);
    }
    done(c);
}

TEST(an_ask_may_have_a_method_body_fields_and_limits_of_its_own)
{
    sn_shared_state *c = shared_with(NULL);
    seine_field fields[] = {{{"X-A", 3}, {"1", 1}}};
    seine_ask ask = ask_of("http://a.test/");

    ask.body = (seine_view){"data", 4};
    ask.fields = fields;
    ask.n_fields = 1;
    ask.timeout = SEINE_SECS(2);
    ask.retries = 5;
    ask.priority = 3;
    sn_visit *v = admit(c, &ask);
    CHECK(is(v->method, "POST") && is(v->body, "data"));
    CHECK_EQ(v->n_own, 1);
    CHECK(is(v->own[0].name, "X-A") && is(v->own[0].value, "1"));
    CHECK(v->own[0].name.ptr != fields[0].name.ptr);
    CHECK_EQ(v->timeout, SEINE_SECS(2));
    CHECK_EQ(v->retry.opts->max_attempts, 6);
    CHECK(!v->retry.idempotent);
    CHECK_EQ(v->lane, 0);
    give(c, v);

    ask = ask_of("http://a.test/2");
    ask.timeout = 1; /* the shortest */
    ask.method = (seine_view){"PATCH", 5};
    ask.idempotent = true;
    ask.priority = -1;
    v = admit(c, &ask);
    CHECK(is(v->method, "PATCH") && v->retry.idempotent);
    CHECK_EQ(v->lane, 2);
    CHECK_EQ(v->timeout, 1);
    give(c, v);
    done(c);
}

TEST(what_may_not_be_sent_is_refused_at_the_door)
{
    static const struct {
        const char *name, *value, *method;
    } rows[] = {
        {"X-A", "a\r\nB: c", NULL},
        {"X A", "1", NULL},
        {"", "1", NULL},
        {"Host", "b.test", NULL},
        {"Content-Length", "1", NULL},
        {"X-A", "1", "CONNECT"},
        {"X-A", "1", "G T"},
    };

    EACH_ROW(i, rows) {
        sn_shared_state *c = shared_with(NULL);
        seine_field field = {{rows[i].name, strlen(rows[i].name)},
                             {rows[i].value, strlen(rows[i].value)}};
        seine_ask ask = ask_of("http://a.test/");
        ask.fields = &field;
        ask.n_fields = 1;
        if (rows[i].method)
            ask.method = (seine_view){rows[i].method, strlen(rows[i].method)};
        sn_visit *v = admit(c, &ask);
        CHECK(v->is_skip);
        CHECK_EQ(v->reason, SEINE_SKIP_BAD_INPUT);
        give(c, v);
        done(c);
    }
}

TEST(a_user_in_a_url_becomes_a_field_and_leaves_no_trace)
{
    sn_shared_state *c = shared_with(NULL);
    seine_ask ask = ask_of("http://Aladdin:open%20sesame@a.test/x");
    sn_visit *v = admit(c, &ask);

    CHECK_STR(seine_url_href(&v->url).ptr, "http://a.test/x");
    CHECK(is(v->key, "http://a.test/x") && is(v->input, "http://a.test/x"));
    CHECK_EQ(v->n_own, 1);
    CHECK(is(v->own[0].name, "Authorization"));
    CHECK(is(v->own[0].value, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")); /* RFC 7617, 2 */
    give(c, v);
    ask = ask_of("http://a@a.test/y");
    v = admit(c, &ask);
    CHECK(is(v->own[0].value, "Basic YTo="));
    give(c, v);
    done(c);
}

/* What is refused is shown as given, too. */
TEST(a_user_in_what_is_no_url_is_not_shown_either)
{
    static const struct {
        const char *text, *input;
    } rows[] = {
        {"http://joe:pw@a.test:99999/x", "http://a.test:99999/x"},
        {"http://joe:pw@/", "http:///"},
        {"ftp://joe:pw@a.test/x", "ftp://a.test/x"},
        {" http://joe:pw@[::1/", " http://[::1/"},
        {"http://a b/", "http://a b/"},
    };

    EACH_ROW(i, rows) {
        sn_shared_state *c = shared_with(NULL);
        seine_ask ask = ask_of(rows[i].text);
        sn_visit *v = admit(c, &ask);

        CHECK(v->is_skip);
        CHECK(is(v->input, rows[i].input));
        give(c, v);
        done(c);
    }
}

static void
small(seine_fetch_opts *o)
{
    o->concurrency = 1;
    o->queue = 2;
}

TEST(a_referer_of_an_ask_loses_its_user_and_its_fragment)
{
    sn_shared_state *c = shared_with(NULL);
    seine_ask ask = ask_of("http://e.example/");
    seine_field fields[] = {{{"Referer", 7}, {"http://u:p@r.example/x#top", 26}},
                            {{"X-Own", 5}, {"http://u:p@r.example/x#top", 26}}};

    ask.fields = fields;
    ask.n_fields = 2;
    sn_visit *v = admit(c, &ask);
    CHECK_EQ(v->n_own, 2);
    CHECK(is(v->own[0].value, "http://r.example/x"));
    CHECK(
        is(v->own[1].value, "http://u:p@r.example/x#top")); /* what it is nobody knows */
    give(c, v);
    done(c);
}

TEST(no_more_are_admitted_than_the_queue_holds)
{
    sn_shared_state *c = shared_with(small);
    seine_ask a = ask_of("http://a.test/1"), b = ask_of("http://a.test/2"),
              d = ask_of("http://a.test/3");
    sn_visit *first = admit(c, &a), *second = admit(c, &b), *third;

    CHECK_EQ(sn_admit(c, &d, T0, &third), SEINE_E_FULL);
    give(c, first);
    third = admit(c, &d); /* what was refused for want of room is still new */
    give(c, second);
    give(c, third);
    done(c);
}

TEST(idempotent_are_get_head_put_delete_options_and_trace)
{
    static const char *const yes[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};

    EACH_ROW(i, yes)
        CHECK(sn_admit_is_idempotent(sn_str_of(yes[i])));
    CHECK(!sn_admit_is_idempotent(SN_STR("POST")));
    CHECK(!sn_admit_is_idempotent(SN_STR("PATCH")));
    CHECK(!sn_admit_is_idempotent(SN_STR("get")));
}

/* Admits it while each allocation fails in turn. */
static void
admit_without_memory(const seine_fetch_opts *o, const seine_ask *ask)
{
    FAIL_EACH(round)
    {
        sn_shared_state *c = malloc(sizeof *c);
        sn_visit *v = NULL;
        seine_err e = sn_shared_state_init(c, o, NULL);

        if (e == SEINE_OK) {
            e = sn_admit(c, ask, T0, &v);
            CHECK((e == SEINE_OK) == (v != NULL));
            if (v) {
                CHECK_EQ(v->is_skip, o->exclude != NULL);
                give(c, v);
            }
            CHECK_EQ(sn_visits_out(c->visits), 0);
            sn_shared_state_fini(c);
        }
        CHECK(e == (fail_hit() ? SEINE_E_NOMEM : SEINE_OK) ||
              (o->exclude && e == SEINE_OK)); /* a pattern is found without its cache */
        free(c);
    }
}

TEST(admission_without_memory_admits_nothing)
{
    static char longer[3000], url[3100]; /* each is an allocation of its own */
    static const char *const all[] = {"a.test", NULL};
    seine_field fields[40];
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_ask ask = ask_of(url);

    memset(longer, 'x', sizeof longer - 1);
    snprintf(url, sizeof url, "http://u:p@a.test/%%7e%s", longer);
    ask.url.len = strlen(url);
    for (int i = 0; i < 40; i++)
        fields[i] = (seine_field){{"X-A", 3}, {longer, sizeof longer - 1}};
    ask.fields = fields;
    ask.n_fields = 40;
    ask.retries = 1;
    ask.body = ask.id = ask.tags = ask.method = (seine_view){longer, sizeof longer - 1};
    admit_without_memory(&o, &ask);
    /* Small pieces share an allocation of 1 KiB: each of them is the one that needs more.
     */
    for (size_t pad = 0; pad < 1000; pad += 4) {
        seine_ask small =
            ask_of("http://u:p@a.test/%7e/a-path-of-a-hundred-letters-or-so/"
                   "that-leaves-less-of-the-first-allocation/");

        size_t left = pad;
        seine_view *texts[] = {&small.id, &small.tags, &small.input, &small.body};

        EACH_ROW(i, texts) {
            size_t n = left < 250 ? left : 250; /* larger ones have one of their own */

            *texts[i] = (seine_view){longer, n};
            left -= n;
        }
        small.fields = fields;
        small.n_fields = 1;
        fields[0].value.len = 1;
        small.retries = 1;
        o.exclude = pad % 8 ? all : NULL;
        admit_without_memory(&o, &small);
    }
}
