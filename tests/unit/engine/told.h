/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.h - six URLs, one of each kind, and their records as text: two runs that should
 * tell the same are compared whole.
 *
 *     told *a = calloc(1, sizeof *a);
 *     told_teach(s);
 *     opts.on_record = told_record;
 *     opts.arg = a;
 *     … seine_fetch_add(f, &told_asks[i], NULL) …
 *     told_check_sent(s);
 *     told_check_same(a->text[i], b->text[i]);
 */
#ifndef TOLD_H
#define TOLD_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "script.h"

enum { TOLD_URLS = 6, TOLD_TEXT = 8192 };

/* Without attempts, since a lack that passes is tried again, and without times: the
 * backoff of one URL depends on the dice that others have thrown. */
#define TOLD_MEMBERS                                                                     \
    "type,input,line,id,tags,url,key,final_url,redirects,method,host,outcome,ok,status," \
    "error,headers,content_type,charset,charset_from,charset_errors,"                    \
    "content_length,bytes_in,bytes_body,partial,notes,sha256,title,lang,"                \
    "canonical,meta_robots,links,extract,body"

#define TOLD_KEEP                                                                 \
    (SEINE_KEEP_BODY | SEINE_KEEP_FIELDS | SEINE_KEEP_TITLE | SEINE_KEEP_SHA256 | \
     SEINE_KEEP_LINKS)

/* The records of one run by the ids of their URLs. */
typedef struct told {
    char text[TOLD_URLS][TOLD_TEXT];
    seine_fate fate[TOLD_URLS];
    seine_record_type type[TOLD_URLS];
    seine_err code[TOLD_URLS];
    uint32_t attempts[TOLD_URLS];
    unsigned n[TOLD_URLS];
} told;

static inline void
told_record(const seine_record *r, unsigned shard, void *arg)
{
    told *to = arg;
    size_t i = (size_t)strtoul(r->id.ptr, NULL, 10);
    seine_members chosen = {0};

    (void)shard;
    CHECK_EQ(seine_members_parse(TOLD_MEMBERS, &chosen, NULL), SEINE_OK);
    to->n[i]++;
    to->type[i] = r->type;
    to->fate[i] = r->fate;
    to->code[i] = r->fault ? r->fault->code : SEINE_OK;
    to->attempts[i] = r->attempts;
    size_t len =
        seine_record_json(r, 1, &chosen, SEINE_BODY_TEXT, to->text[i], TOLD_TEXT - 1);
    CHECK(len < TOLD_TEXT);
    to->text[i][len] = '\0';
}

#define TOLD_VIEW(text)           \
    {                             \
        text, sizeof(text "") - 1 \
    }

static const seine_field told_fields[] = {
    {TOLD_VIEW("X-A"), TOLD_VIEW("1")},
    {TOLD_VIEW("Referer"), TOLD_VIEW("http://r.test/#part")}};

/* All that may be asked for is. `exclude` is "/no/", `strip_params` is "utm_*". */
static const seine_ask told_asks[TOLD_URLS] = {
    {.url = TOLD_VIEW("http://me:secret@a.test/1#top"),
     .id = TOLD_VIEW("0"),
     .tags = TOLD_VIEW("{\"k\":1}"),
     .fields = told_fields,
     .n_fields = 2,
     .line = 3,
     .retries = 2},
    {.url = TOLD_VIEW("http://c.test/?utm_source=x&b=2"),
     .id = TOLD_VIEW("1"),
     .method = TOLD_VIEW("PUT"),
     .body = TOLD_VIEW("text"),
     .retries = -1,
     .timeout = SEINE_SECS(7),
     .input = TOLD_VIEW("as given")},
    {.url = TOLD_VIEW("bad url"), .id = TOLD_VIEW("2"), .retries = -1},
    {.url = TOLD_VIEW("http://d.test/no/thing"), .id = TOLD_VIEW("3"), .retries = -1},
    {.url = TOLD_VIEW("http://e.test/loop"), .id = TOLD_VIEW("4"), .retries = 0},
    {.id = TOLD_VIEW("5"),
     .is_bad = true,
     .reason = SEINE_SKIP_BAD_INPUT,
     .rule = TOLD_VIEW("no object"),
     .input = TOLD_VIEW("[]"),
     .retries = -1},
};

static inline void
told_teach(script *s)
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

/* The options that these URLs need; the caller frees the jar. */
static inline void
told_set(seine_fetch_opts *o, told *to)
{
    static const char *const none[] = {"/no/", NULL};

    o->on_record = told_record;
    o->arg = to;
    o->keep = TOLD_KEEP;
    o->exclude = none;
    o->strip_params = "utm_*";
    o->mine = o->adaptive = false;
    o->host_rate.count = 0;
    if (seine_cookie_jar_new(&o->jar) != SEINE_OK)
        o->jar = NULL;
}

/* What left: fields that were asked for are on every request to their origin and on no
 * other. */
static inline void
told_check_sent(script *s)
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

/* Shows where the two differ. */
static inline void
told_check_same(const char *got, const char *want)
{
    while (*got && *got == *want)
        got++, want++;
    CHECK_STR(got, want);
}

#endif
