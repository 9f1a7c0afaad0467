/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/robots_fetch.h"
#include "engine/fetch_opts.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

enum { HOPS = 5, AUTHORITY = 320 };

typedef struct entry {
    seine_robots_answer answer;
    char *source;
    char authority[AUTHORITY];
} entry;

struct seine_robots_book {
    size_t count;
    entry entries[];
};

/* False: the URL is not http or https. */
static bool
read_authority(const char *url, char out[AUTHORITY])
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) != SEINE_OK)
        return false;
    seine_view scheme = seine_url_scheme(&u);
    bool is_web = (scheme.len == 4 && memcmp(scheme.ptr, "http", 4) == 0) ||
                  (scheme.len == 5 && memcmp(scheme.ptr, "https", 5) == 0);
    return is_web && seine_url_authority(&u, out, AUTHORITY) < AUTHORITY;
}

static const entry *
find_entry(const seine_robots_book *b, const char *authority)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->entries[i].authority, authority) == 0)
            return &b->entries[i];
    return NULL;
}

/* Adds a host that has not answered yet; the book has room. */
static entry *
add_entry(seine_robots_book *b, const char *authority)
{
    entry *e = &b->entries[b->count++];

    e->answer = (seine_robots_answer){.state = SEINE_ROBOTS_UNREACHABLE,
                                      .err = SEINE_E_CANCELED,
                                      .authority = e->authority};
    snprintf(e->authority, sizeof e->authority, "%s", authority);
    return e;
}

static seine_robots_book *
new_book(size_t n)
{
    return sn_zalloc(sizeof(seine_robots_book) + n * sizeof(entry));
}

static bool
set_source(entry *e, const char *bytes, size_t len)
{
    e->source = sn_alloc(len + 1);
    if (!e->source)
        return false;
    memcpy(e->source, bytes, len);
    e->source[len] = '\0';
    e->answer.source = e->source;
    return true;
}

/* Why there is no answer; a host that was not even asked is a skip. */
static seine_err
error_of(const seine_record *r)
{
    if (r->type != SEINE_RECORD_SKIP)
        return r->fault->code;
    return r->reason == SEINE_SKIP_SCHEME ? SEINE_E_BLOCKED_SCHEME : SEINE_E_BAD_URL;
}

/* The number of the line is that of the host, from 1. */
static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    seine_robots_book *b = arg;

    (void)shard;
    if (r->line == 0 || r->line > b->count)
        return;
    entry *e = &b->entries[r->line - 1];
    seine_explain_robots(r->fault, r->body, &e->answer.state, &e->answer.robots);
    e->answer.status = r->status;
    e->answer.err = error_of(r);
    e->answer.wall = r->wall;
    seine_view source = r->final_url.ptr ? r->final_url : r->url;
    if (source.ptr && !set_source(e, source.ptr, source.len))
        e->answer.err = SEINE_E_NOMEM;
}

/* Without threads nobody but the caller makes room in the queue. */
static seine_err
ask_host(seine_fetch *f, const seine_ask *ask, seine_ctx *ctx)
{
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_err e = SEINE_OK, added = SEINE_E_FULL;

    while (e == SEINE_OK && (added = seine_fetch_add(f, ask, ctx)) == SEINE_E_FULL) {
        sn_fetch_turn(f, seine_ctx_deadline(ctx));
        e = seine_ctx_err(ctx, clock->now(clock));
    }
    return e == SEINE_OK ? added : e;
}

static seine_err
ask_hosts(seine_fetch *f, const seine_robots_book *b, seine_ctx *ctx)
{
    for (size_t i = 0; i < b->count; i++) {
        char url[AUTHORITY + 16];
        seine_ask ask = SEINE_ASK;
        int n = snprintf(url, sizeof url, "%s/robots.txt", b->entries[i].authority);

        ask.url = (seine_view){url, (size_t)n};
        ask.line = i + 1;
        seine_err e = ask_host(f, &ask, ctx);
        if (e != SEINE_OK)
            return e == SEINE_E_NOMEM ? e : SEINE_OK; /* the ctx has ended */
    }
    (void)!seine_fetch_finish(f, ctx); /* the book says what became of each host */
    return SEINE_OK;
}

static seine_err
fetch_book(const seine_fetch_opts *opts, const sn_net *net, seine_ctx *ctx,
           seine_robots_book *b, seine_diag *diag)
{
    seine_fetch_opts o = *opts;
    seine_fetch *f = NULL;

    o.threads = o.threads > 0;
    o.on_record = on_record;
    o.on_event = NULL;
    o.on_trace = NULL;
    o.ready = NULL;
    o.due = NULL;
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
    seine_err e = sn_fetch_open(&o, net, &f, diag);
    if (e == SEINE_OK)
        e = ask_hosts(f, b, ctx);
    seine_fetch_free(f);
    return e;
}

/* Collects the hosts of the URLs, each once. */
static seine_err
collect_hosts(seine_robots_book *b, const char *const *urls, size_t n, seine_diag *diag)
{
    for (size_t i = 0; i < n; i++) {
        char authority[AUTHORITY];

        if (!read_authority(urls[i], authority)) {
            sn_diag_value(diag, "", sn_str_of(urls[i]), "not an http or https URL");
            return SEINE_E_BAD_URL;
        }
        if (!find_entry(b, authority))
            add_entry(b, authority);
    }
    return SEINE_OK;
}

seine_err
sn_robots_fetch(const seine_fetch_opts *opts, const sn_net *net, seine_ctx *ctx,
                const char *const *urls, size_t n, seine_robots_book **out_book,
                seine_diag *diag)
{
    seine_clock *clock = opts->clock ? opts->clock : seine_clock_system();
    seine_robots_book *b = new_book(n);
    seine_ctx *own = NULL;

    sn_diag_clear(diag);
    seine_err e = b ? collect_hosts(b, urls, n, diag) : SEINE_E_NOMEM;
    if (e == SEINE_OK && !ctx)
        e = seine_ctx_root(clock, &own);
    if (e == SEINE_OK)
        e = fetch_book(opts, net, ctx ? ctx : own, b, diag);
    seine_ctx_unref(own);
    for (size_t i = 0; e == SEINE_OK && i < b->count; i++)
        if (b->entries[i].answer.err == SEINE_E_NOMEM)
            e = SEINE_E_NOMEM;
    if (e != SEINE_OK) {
        seine_robots_book_free(b);
        return e;
    }
    *out_book = b;
    return SEINE_OK;
}

seine_err
seine_robots_fetch(const seine_fetch_opts *opts, seine_ctx *ctx, const char *const *urls,
                   size_t n, seine_robots_book **out_book, seine_diag *diag)
{
    seine_fetch_opts own;

    if (!opts || !out_book || (n > 0 && !urls))
        return SEINE_E_INVAL;
    for (size_t i = 0; i < n; i++)
        if (!urls[i])
            return SEINE_E_INVAL;
    seine_err e = sn_fetch_opts_read(&own, opts, diag);
    return e == SEINE_OK
               ? sn_robots_fetch(&own, &sn_net_sockets, ctx, urls, n, out_book, diag)
               : e;
}

seine_err
seine_robots_book_new(const char *text, size_t len, const char *source,
                      seine_robots_book **out_book)
{
    if (!source || !out_book)
        return SEINE_E_INVAL;
    seine_robots_book *b = new_book(1);

    if (!b)
        return SEINE_E_NOMEM;
    entry *one = add_entry(b, "");
    seine_err e = seine_robots_new(text, len, &one->answer.robots);
    if (e == SEINE_OK && !set_source(one, source, strlen(source)))
        e = SEINE_E_NOMEM;
    if (e != SEINE_OK) {
        seine_robots_book_free(b);
        return e;
    }
    one->answer.state = SEINE_ROBOTS_PARSED;
    one->answer.err = SEINE_OK;
    *out_book = b;
    return SEINE_OK;
}

void
seine_robots_book_free(seine_robots_book *b)
{
    for (size_t i = 0; b && i < b->count; i++) {
        seine_robots_free(b->entries[i].answer.robots);
        sn_free(b->entries[i].source);
    }
    sn_free(b);
}

const seine_robots_answer *
seine_robots_book_of(const seine_robots_book *book, const char *url)
{
    if (!book || !url)
        return NULL;
    char authority[AUTHORITY];
    const entry *e = find_entry(book, "");

    if (!e && read_authority(url, authority))
        e = find_entry(book, authority);
    return e ? &e->answer : NULL;
}
