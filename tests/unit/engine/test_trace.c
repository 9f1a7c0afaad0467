/* SPDX-License-Identifier: Apache-2.0 */
/* What happens on the way of a URL, as text for people. */
#include "engine/trace.h"

#include "one_url.h"

static struct {
    char what[16], url[64], text[512];
} told[16];
static unsigned n_told;

static void
on_trace(const seine_trace *t, void *arg)
{
    (void)arg;
    if (n_told == 16)
        return;
    snprintf(told[n_told].what, sizeof told->what, "%s", t->what);
    gather_view(told[n_told].url, sizeof told->url, t->url);
    gather_view(told[n_told++].text, sizeof told->text, t->text);
}

/* The n-th text of a kind; "" if there are fewer. */
static const char *
text_of(const char *what, unsigned n)
{
    for (unsigned i = 0; i < n_told; i++)
        if (strcmp(told[i].what, what) == 0 && n-- == 0)
            return told[i].text;
    return "";
}

static fixture *
begin(void)
{
    fixture *t = set_up();

    n_told = 0;
    t->opts.on_trace = on_trace;
    t->opts.retry.max_attempts = 2;
    t->opts.retry.jitter = SEINE_JITTER_NONE;
    t->opts.retry.base = SEINE_MS(250);
    return t;
}

TEST(trace_shows_a_request_line_by_line_without_its_secrets)
{
    static const seine_field fields[] = {{{"Authorization", 13}, {"hush", 4}},
                                         {{"X-Key", 5}, {"hush", 4}},
                                         {{"Referer", 7}, {"http://r.test/", 14}}};
    fixture *t = begin();
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){"http://a.test/1?x", 17};
    ask.fields = fields;
    ask.n_fields = 3;
    script_on(t->s, "http://a.test/1?x", &(answer){.body = "x"});
    run_ask(t, &ask);
    const char *text = text_of("request", 0);
    CHECK(strncmp(text, "GET /1?x HTTP/1.1\nHost: a.test\n", 31) == 0);
    CHECK(strstr(text, "\nAuthorization: REDACTED\n") != NULL);
    CHECK(strstr(text, "\nX-Key: REDACTED\n") != NULL);
    CHECK(strstr(text, "\nReferer: http://r.test/\n") != NULL);
    CHECK(!strstr(text, "hush") && !strchr(text, '\r') && !strstr(text, "\n\n"));
    CHECK_EQ(text[strlen(text) - 1], '\n');
    CHECK_STR(told[0].url, "http://a.test/1?x");
    CHECK_STR(text_of("request", 1), "");
    tear_down(t);
}

TEST(trace_shows_a_response_without_what_is_given_to_us_alone)
{
    fixture *t = begin();

    script_on(t->s, "http://a.test/",
              &(answer){.status = 404,
                        .fields = "X-A: 1\nSet-Cookie: k=hush\nSet-Cookie2: k=hush\n"
                                  "Authentication-Info: hush\n"
                                  "Proxy-Authentication-Info: hush\nX-B: 2"});
    run_url(t, "http://a.test/");
    const char *text = text_of("response", 0);
    CHECK(strncmp(text, "HTTP/1.1 404 ", 13) == 0);
    CHECK_STR(strchr(text, '\n'),
              "\nX-A: 1\nSet-Cookie: REDACTED\nSet-Cookie2: REDACTED\n"
              "Authentication-Info: REDACTED\n"
              "Proxy-Authentication-Info: REDACTED\nX-B: 2\n");
    tear_down(t);
}

TEST(trace_tells_of_a_retry_and_of_the_wait_for_it)
{
    fixture *t = begin();

    script_on(t->s, "http://a.test/", &(answer){.status = 503}, &(answer){.body = "x"});
    run_url(t, "http://a.test/");
    CHECK_STR(text_of("retry", 0),
              "server said to come back later: trying again in 250 ms (backoff)\n");
    CHECK_STR(text_of("retry", 1), "");
    CHECK(strncmp(text_of("request", 1), "GET / ", 6) == 0);
    tear_down(t);
}

/* Both want the host at once, whose pace lets one of them in every two seconds. */
TEST(trace_tells_how_long_a_url_waited_for_its_host)
{
    fixture *t = begin();
    seine_ask ask = SEINE_ASK;

    t->opts.mine = t->opts.adaptive = false;
    t->opts.host_rate = (seine_rate){1, SEINE_SECS(2), 1};
    script_on(t->s, "http://a.test/1", &(answer){.body = "x"});
    script_on(t->s, "http://a.test/2", &(answer){.body = "x"});
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/1", 15};
    CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/2", 15};
    CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
    CHECK(strncmp(text_of("wait", 0), "waited 2000 ms for ", 19) == 0);
    CHECK_STR(text_of("wait", 1), "");
    tear_down(t);
}
