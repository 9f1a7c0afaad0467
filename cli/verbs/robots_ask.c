/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/robots_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/url.h>

#include "options/option_names.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { HOPS = 5 };

static bool
authority_of(const char *url, char *out, size_t cap)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) != SEINE_OK)
        return false;
    seine_view scheme = seine_url_scheme(&u);
    bool is_web = (scheme.len == 4 && memcmp(scheme.ptr, "http", 4) == 0) ||
                  (scheme.len == 5 && memcmp(scheme.ptr, "https", 5) == 0);
    return is_web && seine_url_authority(&u, out, cap) < cap;
}

static robots_answer *
entry(robots_book *b, const char *authority)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->all[i].authority, authority) == 0)
            return &b->all[i];
    b->all = xalloc_room(b->all, b->count, &b->cap, sizeof *b->all);
    robots_answer *a = &b->all[b->count++];
    *a = (robots_answer){.state = SEINE_ROBOTS_UNREACHABLE, .err = SEINE_E_CANCELED};
    snprintf(a->authority, sizeof a->authority, "%s", authority);
    return a;
}

const robots_answer *
robots_of(const robots_book *b, const char *url)
{
    char authority[320];

    for (size_t i = 0; i < b->count; i++)
        if (!b->all[i].authority[0])
            return &b->all[i];
    if (!authority_of(url, authority, sizeof authority))
        return NULL;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->all[i].authority, authority) == 0)
            return &b->all[i];
    return NULL;
}

void
robots_book_free(robots_book *b)
{
    for (size_t i = 0; i < b->count; i++) {
        seine_robots_free(b->all[i].robots);
        free(b->all[i].source);
    }
    free(b->all);
    *b = (robots_book){.all = NULL};
}

/* The number of the line is that of the host. */
static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    robots_book *b = arg;
    seine_fault none = SEINE_FAULT;

    (void)shard;
    if (r->line == 0 || r->line > b->count)
        return;
    robots_answer *a = &b->all[r->line - 1];
    const seine_fault *end = r->fault;
    if (!end) {
        none.code = SEINE_E_BAD_URL;
        end = &none;
    }
    seine_explain_robots(end, r->body, &a->state, &a->robots);
    seine_view source = r->final_url.ptr ? r->final_url : r->url;
    a->source = source.ptr ? xalloc_copy(source.ptr, source.len) : NULL;
    a->status = r->status;
    a->err = end->code;
    a->wall = r->wall;
}

static int
ask_all(seine_fetch *f, const robots_book *b, seine_ctx *ctx)
{
    for (size_t i = 0; i < b->count; i++) {
        char url[360];
        seine_ask ask = SEINE_ASK;
        int n = snprintf(url, sizeof url, "%s/robots.txt", b->all[i].authority);

        ask.url = (seine_view){url, (size_t)n};
        ask.line = i + 1;
        seine_err e = seine_fetch_add(f, &ask, ctx);
        if (e != SEINE_OK)
            return say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
    }
    (void)!seine_fetch_finish(f, ctx); /* what became of each stands in the book */
    return SAY_DONE;
}

static int
run(const seine_fetch_opts *opts, robots_book *b)
{
    seine_fetch_opts o = *opts;
    seine_diag diag = SEINE_DIAG;
    seine_fetch *f = NULL;
    seine_ctx *ctx = NULL;

    o.threads = 1;
    o.on_record = on_record;
    o.arg = b;
    o.keep = SEINE_KEEP_BODY;
    o.dedup = false;
    o.crawl = NULL;
    o.robots = SEINE_OBEY_OFF;
    o.include = o.exclude = NULL;
    o.accept_type = NULL;
    o.max_pages = o.max_bytes = 0;
    o.max_redirects = HOPS;
    o.max_body = SEINE_ROBOTS_BYTES;
    seine_err e = seine_fetch_new(&o, &f, &diag);
    if (e == SEINE_OK)
        e = seine_ctx_root(seine_clock_system(), &ctx);
    int bad = e == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE;
    int code = e == SEINE_OK ? ask_all(f, b, ctx)
                             : option_names_fail(o.names, bad, NULL, &diag, e);
    seine_fetch_free(f);
    seine_ctx_unref(ctx);
    return code;
}

int
robots_ask(const seine_fetch_opts *opts, char *const *urls, size_t count,
           robots_book *out_book)
{
    *out_book = (robots_book){.all = NULL};
    for (size_t i = 0; i < count; i++) {
        char authority[320];

        if (!authority_of(urls[i], authority, sizeof authority)) {
            robots_book_free(out_book);
            return say_fail(SAY_USAGE, "https://e.example/page, or --robots FILE",
                            "'%s' is no http or https URL", show(urls[i]).text);
        }
        entry(out_book, authority);
    }
    int code = run(opts, out_book);
    if (code != SAY_DONE)
        robots_book_free(out_book);
    return code;
}

/* The first 512 KiB and a byte more, to know of the cut. */
int
robots_load(const char *path, robots_book *out_book)
{
    size_t cap = SEINE_ROBOTS_BYTES + 1;
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    int why = errno;

    *out_book = (robots_book){.all = NULL};
    if (!in)
        return say_fail(SAY_USAGE, "another name", "cannot open '%s': %s",
                        show(path).text, show_errno(why).text);
    char *text = xalloc_zeroed(cap, 1);
    size_t n = fread(text, 1, cap, in);
    bool bad = ferror(in) != 0;
    if (in != stdin)
        fclose(in);
    robots_answer *a = entry(out_book, "");
    a->err = bad ? SEINE_E_IO : seine_robots_new(text, n, &a->robots);
    free(text);
    if (a->err == SEINE_OK) {
        a->state = SEINE_ROBOTS_PARSED;
        a->source = xalloc_copy(path, strlen(path));
        return SAY_DONE;
    }
    robots_book_free(out_book);
    return say_fail(bad ? SAY_USAGE : SAY_MACHINE, bad ? "another name" : NULL,
                    bad ? "cannot read '%s'" : "no memory for '%s'", show(path).text);
}

robots_why
robots_why_of(const robots_answer *a)
{
    robots_why w = {""};

    if (a->state == SEINE_ROBOTS_PARSED)
        return w;
    if (a->status >= 400 || a->err == SEINE_OK)
        snprintf(w.text, sizeof w.text, "status %u", a->status);
    else
        snprintf(w.text, sizeof w.text, "%s", seine_err_text(a->err));
    return w;
}
