/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/body.h"

#include <string.h>

#include "base/alloc.h"
#include "chaos/folder.h"
#include "chaos/page.h"
#include "chaos/quote.h"
#include "chaos/request_log.h"
#include "chaos/site_file.h"

const char *
snc_body_type(const snc_plan *p)
{
    switch (p->final) {
    case SNC_FINAL_BYTES:
    case SNC_FINAL_BOMB:
        return "application/octet-stream";
    case SNC_FINAL_HTML:
    case SNC_FINAL_CALENDAR:
        return "text/html; charset=utf-8";
    case SNC_FINAL_JSON:
    case SNC_FINAL_ECHO:
        return "application/json";
    case SNC_FINAL_SITE:
        if (sn_str_eq(p->rest, SN_STR("_list")))
            return "application/x-ndjson";
        if (sn_str_ends(p->rest, SN_STR(".xml")))
            return "application/xml";
        return sn_str_eq(p->rest, SN_STR("robots.txt")) ? "text/plain"
                                                        : "text/html; charset=utf-8";
    case SNC_FINAL_LOG:
        return "application/x-ndjson";
    case SNC_FINAL_FILE:
        return snc_folder_type(p->rest);
    case SNC_FINAL_EMPTY:
        return "";
    default:
        return "text/plain";
    }
}

/* Writes <b><b>…text…</b></b>, a tag with many attributes, and links without end. */
static void
html(snc_wire *w, const snc_plan *p, sn_buf *text)
{
    size_t from = text->len;

    sn_buf_text(text, "<!doctype html>\n<html><head><title>chaos</title></head><body>\n");
    if (p->attrs > 0) {
        sn_buf_text(text, "<p");
        snc_wire_text(w, from);
        from = text->len;
        sn_buf_text(text, " a0000000000=\"v\"");
        snc_wire_units(w, from, p->attrs);
        from = text->len;
        sn_buf_text(text, ">attributes</p>\n");
    }
    if (p->nest > 0) {
        snc_wire_text(w, from);
        from = text->len;
        sn_buf_printf(text, "<%.*s>", SN_FMT(p->nest_tag));
        snc_wire_units(w, from, p->nest);
        from = text->len;
        sn_buf_text(text, "deep");
        snc_wire_text(w, from);
        from = text->len;
        sn_buf_printf(text, "</%.*s>", SN_FMT(p->nest_tag));
        snc_wire_units(w, from, p->nest);
        from = text->len;
        sn_buf_char(text, '\n');
    }
    snc_wire_text(w, from);
    from = text->len;
    sn_buf_text(text, "<a href=\"/ok?l=0000000000\">link 0000000000</a>\n");
    snc_wire_units(w, from, p->count);
    from = text->len;
    sn_buf_text(text, "<a href=\"/ok?m=0000000000\">more</a>\n");
    snc_wire_units(w, from, p->links);
    from = text->len;
    sn_buf_text(text, "</body></html>\n");
    snc_wire_text(w, from);
}

static void
echo_tls(const snc_tls_facts *tls, sn_buf *out)
{
    if (!tls)
        return;
    sn_buf_text(out, ",\"tls\":{");
    snc_quote_member(out, "name", tls->name);
    sn_buf_char(out, ',');
    snc_quote_member(out, "version", sn_str_of(tls->version));
    sn_buf_printf(out, ",\"resumed\":%s,\"client\":", tls->resumed ? "true" : "false");
    if (tls->client)
        snc_quote(out, sn_str_of(tls->client));
    else
        sn_buf_text(out, "null");
    sn_buf_char(out, '}');
}

static void
echo(const snc_stage *st, sn_buf *out)
{
    const snc_request *req = st->req;

    sn_buf_char(out, '{');
    snc_quote_member(out, "method", req->method);
    sn_buf_char(out, ',');
    snc_quote_member(out, "target", req->target);
    sn_buf_char(out, ',');
    snc_quote_member(out, "host", req->host);
    sn_buf_printf(out, ",\"http\":\"1.%u\",\"headers\":[", req->minor);
    for (size_t i = 0; i < req->count; i++) {
        sn_buf_text(out, i ? ",[" : "[");
        snc_quote(out, req->fields[i].name);
        sn_buf_char(out, ',');
        snc_quote(out, req->fields[i].value);
        sn_buf_char(out, ']');
    }
    sn_buf_printf(out, "],\"body_bytes\":%llu,", (unsigned long long)st->body_len);
    snc_quote_member(out, "body", st->body);
    sn_buf_printf(out, ",\"connection\":%llu,\"nth\":%llu,\"hit\":%llu,",
                  (unsigned long long)st->connection, (unsigned long long)st->nth,
                  (unsigned long long)st->hit);
    snc_quote_member(out, "from", st->peer);
    echo_tls(st->tls, out);
    sn_buf_text(out, "}\n");
}

static void
roll_lines(void *self, sn_buf *out, size_t want)
{
    snc_site_file_add(self, out, want);
}

/* The file outlives the request, so its texts are copied behind it. */
static seine_err
put_file(snc_wire *w, const snc_site_file *file)
{
    size_t origin = file->base.origin.len, prefix = file->base.prefix.len;
    snc_site_file *copy = sn_alloc(sizeof *copy + origin + prefix + 1);

    if (!copy)
        return SEINE_E_NOMEM;
    *copy = *file;
    char *text = (char *)(copy + 1);
    if (origin > 0)
        memcpy(text, file->base.origin.ptr, origin);
    if (prefix > 0)
        memcpy(text + origin, file->base.prefix.ptr, prefix);
    copy->base.origin = (sn_str){text, origin};
    copy->base.prefix = (sn_str){text + origin, prefix};
    snc_wire_lines(w, roll_lines, NULL, copy);
    return SEINE_OK;
}

/* The end of the log now; lines written during the read come with the next one. */
typedef struct reading {
    const snc_request_log *request_log;
    uint64_t at, end;
} reading;

static void
request_log_lines(void *self, sn_buf *out, size_t want)
{
    reading *r = self;

    if (r->at < r->end)
        snc_request_log_read(r->request_log, &r->at, out, want);
}

static seine_err
put_diary(snc_wire *w, const snc_request_log *request_log)
{
    reading *r = sn_alloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    *r = (reading){request_log, 0, request_log->end};
    snc_wire_lines(w, request_log_lines, NULL, r);
    return SEINE_OK;
}

/* decide_site.c has handled unknown paths: every path here exists. */
static seine_err
site(snc_wire *w, const snc_plan *p, const snc_stage *st)
{
    snc_site_base base = snc_body_base(p, st);
    uint32_t host = snc_site_host(&p->site, snc_request_host_name(st->req));
    size_t from = st->text->len;
    snc_page page;
    snc_site_file file;

    host = host < p->site.hosts ? host : 0;
    if (snc_site_find(&p->site, p->rest, &page)) {
        snc_page_html(&p->site, &base, &page, st->text);
    } else if (sn_str_eq(p->rest, SN_STR("_list"))) {
        file = snc_site_file_list(&p->site, &base);
        return put_file(w, &file);
    } else if (snc_site_file_sitemap(&p->site, &base, host, p->rest, &file)) {
        return put_file(w, &file);
    } else if (sn_str_starts(p->rest, SN_STR("cal/"))) {
        sn_buf prefix;

        sn_buf_init(&prefix, 4096);
        sn_buf_str(&prefix, p->prefix);
        sn_buf_text(&prefix, "/cal");
        snc_calendar_html(sn_buf_view(&prefix), sn_str_slice(p->rest, 4, p->rest.len),
                          st->text);
        sn_buf_fini(&prefix);
    } else {
        snc_site_file_robots(&p->site, &base, host, st->text);
    }
    snc_wire_text(w, from);
    return SEINE_OK;
}

/* Builds a wire of three pieces, however large the body becomes. */
static seine_err
bomb(snc_wire *w, const snc_plan *p, sn_buf *text)
{
    size_t from = text->len;
    snc_bomb b;
    seine_err e = snc_coder_bomb(p->bomb, p->count, text, &b);

    if (e != SEINE_OK)
        return e;
    snc_wire_repeat(w, from, b.unit_at - from, 1);
    snc_wire_repeat(w, b.unit_at, b.tail_at - b.unit_at, b.count);
    snc_wire_text(w, b.tail_at);
    return SEINE_OK;
}

snc_site_base
snc_body_base(const snc_plan *p, const snc_stage *st)
{
    sn_str host = snc_request_host_name(st->req);

    return (snc_site_base){.origin = st->origin,
                           .prefix = p->prefix,
                           .names = sn_str_ends(host, SN_STR(".test")),
                           .tls = st->secure,
                           .port = st->port,
                           .dead_port = st->dead_port};
}

seine_err
snc_body_make(snc_wire *w, const snc_plan *p, const snc_stage *st)
{
    sn_buf *text = st->text;
    size_t from = text->len;

    switch (p->final) {
    case SNC_FINAL_EMPTY:
        return SEINE_OK;
    case SNC_FINAL_OK:
        sn_buf_text(text, "ok\n");
        break;
    case SNC_FINAL_BYTES:
        snc_wire_bytes(w, st->seed, p->count);
        return SEINE_OK;
    case SNC_FINAL_TEXT:
        snc_page_words(st->seed, p->count, text);
        sn_buf_char(text, '\n');
        break;
    case SNC_FINAL_HTML:
        html(w, p, text);
        return SEINE_OK;
    case SNC_FINAL_JSON:
        sn_buf_text(text, "{\"ok\":true,");
        snc_quote_member(text, "key", st->key);
        sn_buf_printf(text, ",\"hit\":%llu}\n", (unsigned long long)st->hit);
        break;
    case SNC_FINAL_ECHO:
        echo(st, text);
        break;
    case SNC_FINAL_STATUS:
        sn_buf_printf(text, "%u %s\n", p->status, snc_response_reason(p->status));
        break;
    case SNC_FINAL_RAW:
    case SNC_FINAL_SAID:
    case SNC_FINAL_FILE:
        sn_buf_str(text, p->raw);
        break;
    case SNC_FINAL_SITE:
        return site(w, p, st);
    case SNC_FINAL_BOMB:
        return bomb(w, p, text);
    case SNC_FINAL_LOG:
        return put_diary(w, st->request_log);
    case SNC_FINAL_CALENDAR:
        snc_calendar_html(p->prefix, p->rest, text);
        break;
    }
    snc_wire_text(w, from);
    return SEINE_OK;
}
