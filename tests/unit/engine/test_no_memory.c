/* SPDX-License-Identifier: Apache-2.0 */
/* A fetch to which any piece of memory may be refused: what is told as whole is whole. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "script.h"

#define VIEW(text)                \
    {                             \
        text, sizeof(text "") - 1 \
    }

/* Without attempts, since a lack that passes is tried again, and without times: the
 * backoff of one URL depends on the dice that others have thrown. */
#define MEMBERS                                                                          \
    "type,input,line,id,tags,url,key,final_url,redirects,method,host,outcome,ok,status," \
    "error,headers,content_type,charset,charset_from,charset_errors,"                    \
    "content_length,bytes_in,bytes_body,partial,notes,sha256,title,lang,"                \
    "canonical,meta_robots,links,extract,body"

enum { URLS = 6, TEXT = 8192 };

/* The records of one round as JSON, by the place of their URL. */
typedef struct told {
    char text[URLS][TEXT];
    seine_fate fate[URLS];
    seine_record_type type[URLS];
    seine_err code[URLS];
    unsigned n[URLS];
} told;

static void
tell(const seine_record *r, unsigned shard, void *arg)
{
    told *to = arg;
    size_t i = (size_t)strtoul(r->id.ptr, NULL, 10);
    seine_members chosen = {0};

    (void)shard;
    CHECK_EQ(seine_members_parse(MEMBERS, &chosen, NULL), SEINE_OK);
    to->n[i]++;
    to->type[i] = r->type;
    to->fate[i] = r->fate;
    to->code[i] = r->fault ? r->fault->code : SEINE_OK;
    size_t len = seine_record_json(r, 1, &chosen, SEINE_BODY_TEXT, to->text[i], TEXT - 1);
    CHECK(len < TEXT);
    to->text[i][len] = '\0';
}

static const seine_field fields[] = {{VIEW("X-A"), VIEW("1")},
                                     {VIEW("Referer"), VIEW("http://r.test/#part")}};

/* One URL of each kind; all that may be asked for is. */
static const seine_ask asks[URLS] = {
    {.url = VIEW("http://me:secret@a.test/1#top"),
     .id = VIEW("0"),
     .tags = VIEW("{\"k\":1}"),
     .fields = fields,
     .n_fields = 2,
     .line = 3,
     .retries = 2},
    {.url = VIEW("http://c.test/?utm_source=x&b=2"),
     .id = VIEW("1"),
     .method = VIEW("PUT"),
     .body = VIEW("text"),
     .retries = -1,
     .timeout = SEINE_SECS(7),
     .input = VIEW("as given")},
    {.url = VIEW("bad url"), .id = VIEW("2"), .retries = -1},
    {.url = VIEW("http://d.test/no/thing"), .id = VIEW("3"), .retries = -1},
    {.url = VIEW("http://e.test/loop"), .id = VIEW("4"), .retries = 0},
    {.id = VIEW("5"),
     .is_bad = true,
     .reason = SEINE_SKIP_BAD_INPUT,
     .rule = VIEW("no object"),
     .input = VIEW("[]"),
     .retries = -1},
};

static void
teach(script *s)
{
    script_on(
        s, "http://a.test/1",
        &(answer){.status = 302, .fields = "Location: //b.test/2\nSet-Cookie: first=1"});
    script_on(s, "http://b.test/2",
              &(answer){.status = 503, .fields = "Retry-After: 1\nSet-Cookie: k=v"},
              &(answer){.status = 301, .fields = "Location: ?3"});
    script_on(s, "http://b.test/2?3",
              &(answer){.fields = "Content-Type: text/html; charset=utf-8\nX: y",
                        .body = "<html lang=de><base href=/in/><title>T &amp; U</title>"
                                "<meta name=robots content='noarchive'>"
                                "<link rel=canonical href=x><a href=y>z</a>"});
    script_on(s, "http://c.test/?utm_source=x&b=2",
              &(answer){.fields = "Content-Type: text/plain", .body = "plain"});
    script_on(s, "http://e.test/loop",
              &(answer){.status = 307, .fields = "Location: http://e.test/loop"});
}

/* What left for a URL: the fields that were asked for are on every request, those of one
 * origin on no other. */
static void
check_sent(script *s)
{
    for (unsigned i = 0; i < script_requests(s); i++) {
        const asked *q = script_request(s, i);
        bool is_first = strstr(q->url, "a.test") != NULL;

        CHECK_EQ(strstr(q->fields, "X-A: 1") != NULL, is_first);
        CHECK_EQ(strstr(q->fields, "Authorization: Basic") != NULL, is_first);
        CHECK(!is_first || strstr(q->fields, "Referer: http://r.test/\n"));
        CHECK_STR(q->method, strstr(q->url, "c.test") ? "PUT" : "GET");
        CHECK_STR(q->body, strstr(q->url, "c.test") ? "text" : "");
    }
}

static void
fetch_them(told *to)
{
    static const char *const none[] = {"/no/", NULL};
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_fetch *f = NULL;
    bool given[URLS] = {0};

    memset(to, 0, sizeof *to);
    o.on_record = tell;
    o.arg = to;
    o.keep = SEINE_KEEP_BODY | SEINE_KEEP_FIELDS | SEINE_KEEP_TITLE | SEINE_KEEP_WIRE |
             SEINE_KEEP_SHA256 | SEINE_KEEP_LINKS;
    o.exclude = none;
    o.strip_params = "utm_*";
    o.mine = o.adaptive = false;
    o.host_rate.count = 0;
    if (seine_cookie_jar_new(&o.jar) != SEINE_OK)
        o.jar = NULL;
    teach(s);
    script_tighten(s);
    seine_err e = sn_fetch_open(&o, script_net(s), &f, NULL);
    CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
    for (int i = 0; f && i < URLS; i++) {
        e = seine_fetch_add(f, &asks[i], NULL);
        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
        given[i] = e == SEINE_OK;
    }
    if (f)
        CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_free(f);
    for (int i = 0; i < URLS; i++)
        CHECK_EQ(to->n[i], given[i]);
    check_sent(s);
    seine_cookie_jar_free(o.jar);
    script_free(s);
}

/* Shows where the two differ. */
static void
check_same(const char *got, const char *want)
{
    while (*got && *got == *want)
        got++, want++;
    CHECK_STR(got, want);
}

TEST(whatever_memory_is_refused_a_record_is_the_whole_one_or_names_the_lack)
{
    told *whole = calloc(1, sizeof *whole), *got = calloc(1, sizeof *got);

    fetch_them(whole);
    CHECK_EQ(whole->fate[0], SEINE_FATE_OK);
    CHECK_EQ(whole->fate[1], SEINE_FATE_OK);
    CHECK_EQ(whole->type[2], SEINE_RECORD_SKIP);
    CHECK_EQ(whole->type[3], SEINE_RECORD_SKIP);
    CHECK_EQ(whole->code[4], SEINE_E_TOO_MANY_REDIRECTS);
    CHECK_EQ(whole->type[5], SEINE_RECORD_SKIP);
    FAIL_EACH(round)
    {
        fetch_them(got);
        for (int i = 0; i < URLS; i++) {
            bool is_lack =
                got->code[i] == SEINE_E_NOMEM ||
                strstr(got->text[i], "no memory to match a pattern") ||
                strstr(got->text[i], "\"extract\":{\"error\":{\"kind\":\"nomem\"");

            if (got->n[i] == 0 || is_lack)
                continue;
            check_same(got->text[i], whole->text[i]);
        }
    }
    free(whole);
    free(got);
}
