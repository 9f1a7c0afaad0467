/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "engine/request.h"
#include "failing.h"
#include "gather.h"
#include "script.h"
#include "seine/secret.h"
#include "wiped.h"

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
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
    CHECK_EQ(seine_cookie_jar_new(&t->opts.jar), SEINE_OK);
    return t;
}

static void
run(fixture *t, const char *url)
{
    seine_ask ask = SEINE_ASK;
    seine_fetch *f = NULL;

    ask.url = (seine_view){url, strlen(url)};
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &f, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_add(f, &ask, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_free(f);
}

static void
tear_down(fixture *t)
{
    seine_cookie_jar_free(t->opts.jar);
    script_free(t->s);
    free(t);
}

/* The cookies of a request; "-": no such field. */
static const char *
cookies(fixture *t, unsigned i)
{
    static char text[512];
    const char *at = strstr(script_request(t->s, i)->fields, "Cookie: ");

    if (!at)
        return "-";
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
    CHECK(!strstr(at + 8, "Cookie: ")); /* one field */
    return text;
}

/* A request without the cookies that belong to it would be another one. */
TEST(a_request_whose_cookies_found_no_memory_is_not_sent)
{
    static char cookie[3000]; /* an allocation of its own */

    memset(cookie, 'v', sizeof cookie - 1);
    memcpy(cookie, "k=", 2);
    FAIL_EACH(round)
    {
        fixture *t = calloc(1, sizeof *t);
        seine_ask ask = SEINE_ASK;
        char mem[64];
        seine_url url;
        seine_fetch *f = NULL;

        t->s = script_new(NULL);
        t->opts = script_opts(t->s);
        t->opts.on_record = gather_record;
        t->opts.arg = &t->g;
        t->opts.retry.max_attempts = 1;
        ask.url = (seine_view){"http://a.test/", 14};
        seine_url_init(&url, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&url, ask.url.ptr, ask.url.len, NULL), SEINE_OK);
        if (seine_cookie_jar_new(&t->opts.jar) == SEINE_OK &&
            seine_cookie_jar_take(t->opts.jar, &url, cookie, sizeof cookie - 1, 0) ==
                SEINE_OK &&
            sn_fetch_open(&t->opts, script_net(t->s), &f, NULL) == SEINE_OK) {
            if (seine_fetch_add(f, &ask, NULL) == SEINE_OK)
                CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
            if (script_requests(t->s) > 0)
                CHECK(strstr(script_request(t->s, 0)->fields, "Cookie: k=v"));
        }
        seine_fetch_free(f);
        tear_down(t);
    }
}

TEST(a_hop_carries_the_cookies_of_its_own_host)
{
    fixture *t = set_up();

    script_on(t->s, "http://a.test/",
              &(answer){.status = 302,
                        .fields = "Set-Cookie: k=a\nset-cookie: evil=1; Domain=b.test\n"
                                  "Location: http://b.test/"});
    script_on(t->s, "http://b.test/",
              &(answer){.status = 301,
                        .fields = "Set-Cookie: k=b\nSET-COOKIE: p=q; Path=/not\n"
                                  "Location: http://a.test/again"});
    script_on(t->s, "http://a.test/again",
              &(answer){.status = 307, .fields = "Location: http://b.test:81/x"});
    run(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 4);
    CHECK_STR(cookies(t, 0), "-");
    CHECK_STR(cookies(t, 1), "-");
    CHECK_STR(cookies(t, 2), "k=a");
    CHECK_STR(cookies(t, 3), "k=b"); /* ports are one host to cookies */
    CHECK_EQ(seine_cookie_jar_count(t->opts.jar), 3);
    tear_down(t);
}

TEST(cookies_of_the_user_go_with_those_of_the_jar_at_home_alone)
{
    static const seine_field fields[] = {{{"cookie", 6}, {"u=1; v=2", 8}},
                                         {{"X-A", 3}, {"x", 1}}};
    fixture *t = set_up();

    t->opts.fields = fields;
    t->opts.n_fields = 2;
    script_on(t->s, "http://a.test/",
              &(answer){.status = 302, .fields = "Set-Cookie: k=a\nLocation: /b"});
    script_on(t->s, "http://a.test/b",
              &(answer){.status = 302, .fields = "Location: http://b.test/"});
    script_on(
        t->s, "http://b.test/",
        &(answer){.status = 302, .fields = "Set-Cookie: k=b\nLocation: http://b.test/c"});
    script_on(t->s, "http://b.test/c",
              &(answer){.status = 302, .fields = "Location: https://a.test/d"});
    run(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 5);
    CHECK(strstr(script_request(t->s, 0)->fields, "cookie: u=1; v=2\n"));
    CHECK_STR(cookies(t, 1), "k=a; u=1; v=2");
    CHECK(strstr(script_request(t->s, 1)->fields, "\nX-A: x\n"));
    CHECK_STR(cookies(t, 2), "-"); /* neither to another host */
    CHECK_STR(cookies(t, 3), "k=b");
    CHECK_STR(cookies(t, 4), "k=a"); /* another scheme: not the user's */
    tear_down(t);
}

TEST(a_head_that_came_whole_sets_cookies_whatever_came_behind_it)
{
    fixture *t = set_up();

    t->opts.retry.max_attempts = 4;
    script_on(t->s, "http://a.test/",
              &(answer){.status = 503, .fields = "Set-Cookie: one=1"},
              &(answer){.err = SEINE_E_BODY_TRUNCATED,
                        .phase = SEINE_PHASE_BODY,
                        .status = 200,
                        .partial = true,
                        .fields = "Set-Cookie: two=2"},
              &(answer){.status = 503, .fields = "Set-Cookie: one=; Max-Age=0"},
              &(answer){.status = 200});
    run(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 4);
    CHECK_STR(cookies(t, 0), "-");
    CHECK_STR(cookies(t, 1), "one=1");
    CHECK_STR(cookies(t, 2), "one=1; two=2");
    CHECK_STR(cookies(t, 3), "two=2");
    tear_down(t);
}

TEST(of_one_answer_50_cookies_count)
{
    static char fields[8192];
    fixture *t = set_up();
    size_t n = 0;

    /* Thirty of the host and thirty of its parent: 50 of a host are no bound here. */
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(fields + n, sizeof fields - n, "%sSet-Cookie: c%d=1%s",
                              i > 0 ? "\n" : "", i, i % 2 ? "; Domain=example.com" : "");
    script_on(t->s, "http://a.example.com/", &(answer){.fields = fields});
    run(t, "http://a.example.com/");
    CHECK_EQ(seine_cookie_jar_count(t->opts.jar), 50);
    tear_down(t);
}

TEST(without_a_jar_no_cookie_is_taken_or_sent)
{
    fixture *t = set_up();

    seine_cookie_jar_free(t->opts.jar);
    t->opts.jar = NULL;
    script_on(t->s, "http://a.test/",
              &(answer){.status = 302, .fields = "Set-Cookie: k=a\nLocation: /b"});
    run(t, "http://a.test/");
    CHECK_EQ(script_requests(t->s), 2);
    CHECK_STR(cookies(t, 1), "-");
    tear_down(t);
}

TEST(cookies_fill_8_kib_with_those_of_the_user)
{
    static char value[8200], fields[4200];
    seine_field own = {{"Cookie", 6}, {value, 8192 - 2 - 3}};
    fixture *t = set_up();

    memset(value, 'u', sizeof value);
    t->opts.fields = &own;
    t->opts.n_fields = 1;
    snprintf(fields, sizeof fields, "Set-Cookie: k=a\nSet-Cookie: z=b\nLocation: /b");
    script_on(t->s, "http://a.test/", &(answer){.status = 302, .fields = fields});
    run(t, "http://a.test/");
    /* The script keeps 512 bytes of fields: enough to see the one that fits. */
    const char *at = strstr(script_request(t->s, 1)->fields, "Cookie: ");
    CHECK(at && strncmp(at, "Cookie: z=b; uuu", 16) == 0);
    tear_down(t);
    t = set_up();
    own.value.len = 8192 - 2;
    t->opts.fields = &own;
    t->opts.n_fields = 1;
    script_on(t->s, "http://a.test/", &(answer){.status = 302, .fields = fields});
    run(t, "http://a.test/");
    at = strstr(script_request(t->s, 1)->fields, "Cookie: ");
    CHECK(at && strncmp(at, "Cookie: uuu", 11) == 0);
    tear_down(t);
}

TEST(no_memory_with_a_cookie_in_it_is_given_back)
{
    static const char set[] = "sid=s3cret-of-the-jar; Path=/";
    char mem[64];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, "http://a.example/", 17, NULL), SEINE_OK);
    wiped_begin("s3cret-of-the-jar", NULL);
    fixture *t = set_up();
    CHECK_EQ(seine_secrets_new((seine_secrets **)&t->opts.secrets), SEINE_OK);
    seine_clock *clock = t->opts.clock;
    CHECK_EQ(
        seine_cookie_jar_take(t->opts.jar, &url, set, strlen(set), clock->wall(clock)),
        SEINE_OK);
    run(t, "http://a.example/");
    CHECK_STR(cookies(t, 0), "sid=s3cret-of-the-jar");
    seine_secrets_free((seine_secrets *)t->opts.secrets);
    tear_down(t);
    CHECK_EQ(wiped_end(), 0);
}
