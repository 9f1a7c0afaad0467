/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that recipes are tried on: fetched once, kept for a week. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/api_docs.h"
#include "console/json_out.h"
#include "seine/fetch.h"

enum { URL_MOST = 4096, FETCH_S = 30 };

/* A call that fetches, then stores. */
typedef struct page_call {
    sn_doc_call base;
    sn_mail mail;
    char url[URL_MOST + 1];
    char page[SN_ULID];
    seine_text final_url, type, charset, body;
    int status;
    seine_err err;
    char why[200];
    int64_t ms;
    bool is_dropped;
} page_call;

static void
free_page(sn_doc_call *w)
{
    page_call *p = (page_call *)(void *)w;

    seine_text_free(&p->final_url);
    seine_text_free(&p->type);
    seine_text_free(&p->charset);
    seine_text_free(&p->body);
}

/* Fetching, on a thread of its own. */

static bool
copy_view(seine_view from, seine_text *to)
{
    char *bytes = from.ptr ? sn_alloc(from.len + 1) : NULL;

    if (!bytes)
        return !from.ptr;
    if (from.len > 0)
        memcpy(bytes, from.ptr, from.len);
    bytes[from.len] = '\0';
    seine_text_free(to);
    *to = (seine_text){bytes, from.len};
    return true;
}

/* A URL that is not asked for at all. */
static void
note_skip(page_call *p, const seine_record *r)
{
    p->err = r->reason == SEINE_SKIP_PRIVATE_ADDRESS ? SEINE_E_BLOCKED_ADDRESS
             : r->reason == SEINE_SKIP_PORT          ? SEINE_E_BLOCKED_PORT
             : r->reason == SEINE_SKIP_SCHEME        ? SEINE_E_BLOCKED_SCHEME
             : r->reason == SEINE_SKIP_ROBOTS        ? SEINE_E_ROBOTS
                                                     : SEINE_E_BAD_URL;
    snprintf(p->why, sizeof p->why, "%s", seine_err_text(p->err));
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    page_call *p = arg;

    (void)shard;
    if (r->type == SEINE_RECORD_SKIP) {
        note_skip(p, r);
        return;
    }
    p->status = r->status;
    p->err = r->fault ? r->fault->code : SEINE_OK;
    if (r->fate != SEINE_FATE_OK) {
        if (p->err == SEINE_OK)
            p->err = SEINE_E_BAD_URL;
        snprintf(p->why, sizeof p->why, "%.*s", SN_FMT(r->message));
        if (p->why[0] == '\0')
            snprintf(p->why, sizeof p->why, "%s", seine_err_text(p->err));
        return;
    }
    if (!copy_view(r->final_url.ptr ? r->final_url : r->url, &p->final_url) ||
        !copy_view(r->content_type, &p->type) || !copy_view(r->charset, &p->charset) ||
        !copy_view(r->body, &p->body))
        p->err = SEINE_E_NOMEM;
}

/* Public addresses alone, and what the configuration allows besides. */
static void
set_options(seine_fetch_opts *o, page_call *p)
{
    const seine_console *c = p->base.docs->console;

    o->threads = 1;
    o->concurrency = 1;
    o->untrusted = true;
    o->allow_net = c->opts.allow_net;
    o->deny_net = c->deny_net;
    o->proxy_env = NULL;
    o->keep = SEINE_KEEP_BODY;
    o->max_body = o->max_wire = SN_PAGE_BYTES;
    o->timeout = SEINE_SECS(FETCH_S);
    o->retry.max_attempts = 2;
    o->grace = 0;
    o->on_record = on_record;
    o->arg = p;
}

static seine_err
fetch(seine_ctx *ctx, page_call *p)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_ask ask = SEINE_ASK;
    seine_fetch *f = NULL;
    seine_ctx *limit = NULL;
    seine_diag diag;

    set_options(&o, p);
    ask.url = (seine_view){p->url, strlen(p->url)};
    seine_err e = seine_ctx_after(ctx, SEINE_SECS(FETCH_S), &limit);
    if (e == SEINE_OK)
        e = seine_fetch_new(&o, &f, &diag);
    if (e == SEINE_OK)
        e = seine_fetch_add(f, &ask, limit);
    if (e == SEINE_OK)
        e = seine_fetch_finish(f, limit);
    seine_fetch_free(f);
    seine_ctx_unref(limit);
    return e;
}

static seine_err
run_fetch(seine_ctx *ctx, void *arg)
{
    page_call *p = arg;
    seine_err e = fetch(ctx, p);

    if (e != SEINE_OK && p->err == SEINE_OK) {
        p->err = e == SEINE_E_DEADLINE ? SEINE_E_TIMEOUT : e;
        snprintf(p->why, sizeof p->why, "%s", seine_err_text(p->err));
    }
    sn_console_post(p->base.docs->console, &p->mail);
    return SEINE_OK;
}

static void
drop_fetch(void *arg)
{
    page_call *p = arg;

    p->is_dropped = true;
    sn_console_post(p->base.docs->console, &p->mail);
}

/* Storing. */

static seine_err
run_put(sn_docstore *s, sn_store_job *job)
{
    page_call *p = (page_call *)(void *)job;
    sn_page_row row = {.url = p->url,
                       .final_url = p->final_url.bytes,
                       .content_type = p->type.bytes,
                       .charset = p->charset.bytes,
                       .status = p->status,
                       .body = {p->body.bytes, p->body.len},
                       .fetched_ms = p->ms};

    memcpy(row.id, p->page, sizeof row.id);
    return sn_docstore_put_page(s, &row);
}

static void
put_meta(sn_buf *b, const sn_page_row *p)
{
    sn_buf_char(b, '{');
    sn_json_out_text(b, "id", p->id);
    sn_json_out_text(b, "url", p->url);
    sn_json_out_text(b, "final_url", p->final_url);
    sn_json_out_int(b, "status", p->status);
    sn_json_out_text(b, "content_type", p->content_type);
    sn_json_out_text(b, "charset", p->charset);
    sn_json_out_int(b, "bytes", (int64_t)p->body.len);
    sn_json_out_time(b, "fetched", p->fetched_ms);
    sn_buf_char(b, '}');
}

static void
answer_failure(page_call *p)
{
    bool is_ours = p->err == SEINE_E_BLOCKED_ADDRESS ||
                   p->err == SEINE_E_BLOCKED_SCHEME || p->err == SEINE_E_BLOCKED_PORT;

    if (p->is_dropped)
        sn_call_fail(p->base.call, SN_API_UNAVAILABLE, "the server stops", NULL);
    else
        sn_call_fail_cause(p->base.call, is_ours ? SN_API_FORBIDDEN : SN_API_FETCH_FAILED,
                           p->why, seine_err_name(p->err));
    sn_doc_call_free(p);
}

static void
done_fetch(sn_mail *m, seine_console *c)
{
    page_call *p = (page_call *)(void *)((char *)m - offsetof(page_call, mail));
    sn_page_row row = {.url = p->url,
                       .final_url = p->final_url.bytes,
                       .content_type = p->type.bytes,
                       .charset = p->charset.bytes,
                       .status = p->status,
                       .body = {p->body.bytes, p->body.len}};

    if (p->is_dropped || p->err != SEINE_OK) {
        answer_failure(p);
        return;
    }
    p->ms = row.fetched_ms = sn_console_wall_ms(c);
    sn_ulid_new(sn_console_wall(c), p->page);
    memcpy(row.id, p->page, sizeof row.id);
    p->base.status = 201;
    put_meta(&p->base.out, &row);
    sn_doc_call_write(p, run_put);
}

static bool
is_web(sn_str url)
{
    return sn_str_starts_nocase(url, SN_STR("http://")) ||
           sn_str_starts_nocase(url, SN_STR("https://"));
}

void
sn_api_pages_add(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    page_call *p = object ? sn_doc_call_new(call, sizeof *p) : NULL;
    sn_str url = {NULL, 0};

    if (!p)
        return;
    p->base.fini = free_page;
    if (!sn_call_member_text(call, object, "url", true, URL_MOST, &url)) {
        sn_doc_call_free(p);
        return;
    }
    if (!is_web(url)) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "url: http:// or https://", NULL);
        sn_doc_call_free(p);
        return;
    }
    snprintf(p->url, sizeof p->url, "%.*s", SN_FMT(url));
    p->mail.deliver = done_fetch;
    if (seine_pool_try_submit(p->base.docs->fetches, run_fetch, p, drop_fetch) ==
        SEINE_OK)
        return;
    sn_call_fail_after(call, SN_API_UNAVAILABLE, "other pages are being fetched", 1);
    sn_doc_call_free(p);
}

/* Reading. */

static void
see_meta(const sn_page_row *p, void *arg)
{
    put_meta(arg, p);
}

static seine_err
run_meta(sn_docstore *s, sn_store_job *job)
{
    sn_doc_call *w = (sn_doc_call *)(void *)job;

    return sn_docstore_get_page(s, w->id, see_meta, &w->out);
}

void
sn_api_stored_page(sn_call *call)
{
    sn_doc_call *w = sn_doc_call_new(call, sizeof *w);

    if (!w)
        return;
    w->unknown = "no such page";
    sn_doc_call_read(w, run_meta);
}

static void
see_source(const sn_page_row *p, void *arg)
{
    sn_buf_str(arg, p->body);
}

static seine_err
run_source(sn_docstore *s, sn_store_job *job)
{
    sn_doc_call *w = (sn_doc_call *)(void *)job;

    return sn_docstore_get_page(s, w->id, see_source, &w->out);
}

void
sn_api_stored_source(sn_call *call)
{
    sn_doc_call *w = sn_doc_call_new(call, sizeof *w);

    if (!w)
        return;
    w->unknown = "no such page";
    w->type = "text/plain; charset=utf-8";
    sn_doc_call_read(w, run_source);
}
