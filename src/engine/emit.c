/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/redact.h"
#include "base/time.h"
#include "engine/capture.h"
#include "engine/page.h"
#include "text/html.h"

static seine_view
view_href(const seine_url *u)
{
    seine_view p = seine_url_href(u);

    return p;
}

/* Messages. */

/* "250 ms", "5 s", "2 h". */
static void
span_text(int64_t ms, char out[24])
{
    if (ms < 1000)
        snprintf(out, 24, "%" PRId64 " ms", ms);
    else if (ms % 3600000 == 0)
        snprintf(out, 24, "%" PRId64 " h", ms / 3600000);
    else if (ms % 60000 == 0)
        snprintf(out, 24, "%" PRId64 " min", ms / 60000);
    else if (ms % 1000 == 0)
        snprintf(out, 24, "%" PRId64 " s", ms / 1000);
    else
        snprintf(out, 24, "%" PRId64 ".%03" PRId64 " s", ms / 1000, ms % 1000);
}

static const char *
what_took_long(seine_err code)
{
    switch (code) {
    case SEINE_E_DNS_TIMEOUT:
        return "no address";
    case SEINE_E_CONNECT_TIMEOUT:
        return "no connection";
    case SEINE_E_TLS_TIMEOUT:
        return "no TLS session";
    case SEINE_E_SEND_TIMEOUT:
        return "request not taken";
    case SEINE_E_HEADER_TIMEOUT:
        return "no answer";
    case SEINE_E_STALLED:
        return "too few bytes";
    default:
        return "not done";
    }
}

static int
timeout_text(const seine_fault *f, char *buf, size_t cap)
{
    char span[24];

    span_text(f->timeout_ms, span);
    if (f->code == SEINE_E_TIMEOUT && f->phase != SEINE_PHASE_NONE)
        return snprintf(buf, cap, "not done within %s (%s)", span,
                        seine_phase_name(f->phase));
    return snprintf(buf, cap, "%s within %s", what_took_long(f->code), span);
}

static int
status_text(const seine_fault *f, char *buf, size_t cap)
{
    char span[24];

    if (f->retry_after < 0)
        return snprintf(buf, cap, "HTTP %u", f->status);
    span_text(f->retry_after / SEINE_MS(1), span);
    return snprintf(buf, cap, "HTTP %u, asks to wait %s", f->status, span);
}

size_t
sn_emit_message(const seine_fault *f, char *buf, size_t cap)
{
    char span[24];
    int n;

    switch (f->code) {
    case SEINE_E_HTTP:
    case SEINE_E_HTTP_BUSY:
        n = status_text(f, buf, cap);
        break;
    case SEINE_E_RETRY_AFTER_TOO_LONG:
        span_text(f->retry_after / SEINE_MS(1), span);
        n = f->retry_after < 0
                ? snprintf(buf, cap, "%s", seine_err_text(f->code))
                : snprintf(buf, cap, "asks to wait %s, longer than allowed", span);
        break;
    case SEINE_E_PROXY_ERROR:
    case SEINE_E_PROXY_REFUSED:
    case SEINE_E_PROXY_AUTH:
    case SEINE_E_TLS_CERT_EXPIRED:
    case SEINE_E_TLS_HOST_MISMATCH: /* the text is the whole of it */
        n = snprintf(buf, cap, "%s", f->text[0] ? f->text : seine_err_text(f->code));
        break;
    default:
        if (seine_err_group(f->code) == SEINE_E_TIMEOUT && f->timeout_ms > 0)
            n = timeout_text(f, buf, cap);
        else if (f->code == SEINE_E_BREAKER && f->text[0])
            n = snprintf(buf, cap, "%s (%s)", seine_err_text(f->code), f->text);
        else if (f->text[0])
            n = snprintf(buf, cap, "%s: %s", seine_err_text(f->code), f->text);
        else
            n = snprintf(buf, cap, "%s", seine_err_text(f->code));
    }
    if (n < 0)
        return 0;
    return (size_t)n < cap ? (size_t)n : cap - 1;
}

/* The beginning of a URL, where there is no room for all of it. */
static void
put_url(char *buf, size_t cap, size_t *at, seine_view url)
{
    enum { LONGEST = 100 };
    int n = snprintf(buf + *at, cap - *at, "%.*s%s",
                     (int)(url.len < LONGEST ? url.len : LONGEST), url.ptr,
                     url.len > LONGEST ? "\xe2\x80\xa6" : "");

    *at += n > 0 && (size_t)n < cap - *at ? (size_t)n : 0;
}

static void
put_words(char *buf, size_t cap, size_t *at, const char *before, const char *word,
          const char *behind)
{
    int n = snprintf(buf + *at, cap - *at, "%s%s%s", before, word, behind);

    *at += n > 0 && (size_t)n < cap - *at ? (size_t)n : 0;
}

/* The options in a hint are called as the caller's users know them. */
static void
fill_hint(const char *text, const seine_diag_name *names, sn_emit *out)
{
    size_t n = sn_diag_expand(names, text, out->hint, sizeof out->hint);

    out->record.hint = (seine_view){out->hint, n};
}

/* "http://10.0.0.5/ (private) found on https://a.example/ (public): not contacted",
 * and the net that would have to be allowed. */
static void
fill_blocked(const sn_visit *v, const seine_diag_name *names, sn_emit *out)
{
    char net[SN_CIDR_TEXT], text[SN_CIDR_TEXT + 80];
    size_t n = 0, cap = sizeof out->message;
    bool found = v->n_hops > 0;
    bool stepped_up =
        v->end.refused == SN_ADDRESS_FORBIDDEN || v->end.refused > v->ceiling;

    if (v->end.refused_net.net.v == 0)
        return;
    put_url(out->message, cap, &n, view_href(&v->url));
    put_words(out->message, cap, &n, " (", sn_address_zone_name(v->end.refused), ")");
    if (found) {
        put_words(out->message, cap, &n, " found on ", "", "");
        put_url(out->message, cap, &n, v->hops[v->n_hops - 1].url);
        put_words(out->message, cap, &n, " (", sn_address_zone_name(v->ceiling), ")");
    }
    put_words(out->message, cap, &n, ": not contacted", "", "");
    sn_cidr_text(&v->end.refused_net, net);
    snprintf(text, sizeof text,
             stepped_up ? "@allow_net %s if you trust %s"
                        : "@allow_net %s, unless @deny_net forbids %s",
             net, stepped_up && found ? "that page" : "it");
    out->record.message = (seine_view){out->message, n};
    fill_hint(text, names, out);
}

void
sn_emit_redact(sn_emit *e, const seine_secrets *secrets)
{
    seine_view *m = &e->record.message;
    char text[sizeof e->message];

    if (m->ptr != e->message)
        return;
    size_t n = sn_redact(secrets, *m, text, sizeof text);
    m->len = n < sizeof text ? n : sizeof text;
    memcpy(e->message, text, m->len);
}

/* The record. */

void
sn_emit_ip(const sn_ip *ip, char out[48])
{
    char text[SN_CIDR_TEXT];

    if (ip->v == 4) {
        char *to = out;

        for (int i = 0; i < 4; i++) {
            unsigned b = ip->bytes[i];
            if (b >= 100)
                *to++ = (char)('0' + b / 100);
            if (b >= 10)
                *to++ = (char)('0' + b / 10 % 10);
            *to++ = (char)('0' + b % 10);
            *to++ = i < 3 ? '.' : '\0';
        }
        return;
    }
    sn_cidr_text(&(sn_cidr){*ip, 128}, text);
    size_t len = sn_str_find(sn_str_of(text), '/');
    memcpy(out, text, len);
    out[len] = '\0';
}

static void
fill_times(const sn_visit *v, seine_record *r)
{
    const seine_span *spent = v->end.spent;

    r->queue = v->waited[SEINE_WAIT_QUEUE];
    r->retry_budget = v->waited[SEINE_WAIT_RETRY_BUDGET];
    r->backoff =
        sn_time_add(v->waited[SEINE_WAIT_BACKOFF], v->waited[SEINE_WAIT_RETRY_AFTER]);
    for (int w = 0; w < SN_WAIT_COUNT; w++)
        if (w != SEINE_WAIT_QUEUE && w != SEINE_WAIT_BACKOFF &&
            w != SEINE_WAIT_RETRY_AFTER && w != SEINE_WAIT_RETRY_BUDGET)
            r->throttle = sn_time_add(r->throttle, v->waited[w]);
    r->dns = spent[SEINE_PHASE_DNS];
    r->connect = spent[SEINE_PHASE_CONNECT] + spent[SEINE_PHASE_PROXY];
    r->tls = spent[SEINE_PHASE_TLS];
    r->ttfb = spent[SEINE_PHASE_SEND] + spent[SEINE_PHASE_HEAD];
    r->body_time = spent[SEINE_PHASE_BODY];
    /* A reader's clock may be a turn ahead of the shard's: the parts still fit. */
    r->total = sn_time_max(v->life,
                           sn_time_add(seine_record_waited(r), seine_record_latency(r)));
}

/* A hop of the chain went from https to http. */
static bool
was_downgraded(const sn_visit *v)
{
    bool https = false;

    for (uint32_t i = 0; i <= v->n_hops; i++) {
        seine_view url = i < v->n_hops ? v->hops[i].url : view_href(&v->url);
        bool now = sn_str_starts(url, SN_STR("https:"));

        if (https && !now)
            return true;
        https = now;
    }
    return false;
}

static void
fill_notes(const sn_visit *v, uint32_t page_notes, sn_emit *out)
{
    size_t n = 0;

    for (uint32_t bits = v->end.notes; bits; bits &= bits - 1) {
        const char *name = sn_note_name(bits & -bits);
        if (name && n < SN_NOTE_COUNT)
            out->notes[n++] = name;
    }
    if (v->n_hops > 0 && was_downgraded(v))
        out->notes[n++] = "downgrade";
    for (unsigned i = 0; i < SEINE_LINKS_NOTES; i++)
        if (page_notes >> i & 1)
            out->notes[n++] = seine_links_note_name(i);
    out->record.notes = out->notes;
    out->record.n_notes = n;
}

/* A failure names the URL that was asked for last, as much of it as there is room. */
static void
fill_fault(const sn_visit *v, sn_emit *out)
{
    seine_fault *f = &out->fault;

    sn_fault_open(&v->fault, f);
    out->record.fault = f;
    if (f->code == SEINE_OK)
        return;
    snprintf(f->url, sizeof f->url, "%.*s", SN_FMT(seine_url_href(&v->url)));
    if (v->fault.text)
        snprintf(f->text, sizeof f->text, "%s", v->fault.text);
}

static void
fill_error(const sn_visit *v, const seine_fetch_opts *o, sn_emit *out)
{
    seine_record *r = &out->record;

    r->fate = seine_fate_of(v->fault.code);
    fill_fault(v, out);
    if (v->fault.code == SEINE_OK)
        return;
    size_t n = sn_emit_message(&out->fault, out->message, sizeof out->message);
    const char *hint = sn_emit_hint(v, o);
    r->message = (seine_view){out->message, n};
    if (hint)
        fill_hint(hint, o->names, out);
    if (v->fault.code == SEINE_E_BLOCKED_ADDRESS)
        fill_blocked(v, o->names, out);
    r->retryable = seine_err_class(v->fault.code) == SEINE_TRANSIENT ||
                   r->fate == SEINE_FATE_GAVE_UP;
}

/* Where it was found. */
static void
fill_found(const sn_visit *v, seine_record *r)
{
    r->is_crawled = true;
    r->depth = v->depth;
    if (!v->referrer)
        return;
    r->parent = v->referrer->url;
    r->via = v->referrer->found;
}

/* The URL the page calls its own, in the visit's arena; false: there is no memory for it.
 */
static bool
read_canonical(sn_visit *v, sn_str value, seine_view *out_url)
{
    char base_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_url base, url;

    seine_url_init(&base, base_mem, sizeof base_mem);
    seine_url_init(&url, mem, sizeof mem);
    if (!value.ptr || sn_page_base(v->page, &v->url, &base) != SEINE_OK ||
        seine_url_resolve(&url, &base, value.ptr, value.len, NULL) != SEINE_OK)
        return true;
    seine_view href = seine_url_href(&url);
    const char *copy = sn_arena_text(&v->arena, href);
    *out_url = (seine_view){copy, copy ? href.len : 0};
    return copy != NULL;
}

/* What a page says that was read for its links. */
static void
fill_page(sn_visit *v, const sn_page_facts *facts, seine_record *r)
{
    bool has_room = read_canonical(v, facts->canonical, &r->canonical);

    r->extract = facts->err == SEINE_OK && !has_room ? SEINE_E_NOMEM : facts->err;
    r->has_links = r->extract == SEINE_OK;
    r->n_links = (uint32_t)sn_page_n_links(v->page);
    r->lang = facts->lang;
    r->meta_robots = facts->meta_robots;
    if (facts->charset.ptr)
        r->charset = facts->charset;
    r->charset_from = facts->charset_from;
    r->charset_errors = facts->charset_errors;
}

static bool
is_whole(const sn_visit *v, seine_fate fate)
{
    return v->end.fault.status > 0 && !v->end.partial &&
           (fate == SEINE_FATE_OK || fate == SEINE_FATE_HTTP_ERROR);
}

/* What was made of a whole body, and the bytes as far as they came. */
static void
fill_body(const sn_visit *v, unsigned keep, sn_emit *out)
{
    seine_record *r = &out->record;
    sn_str kept = sn_buf_view(&v->kept);
    bool has_response = v->end.fault.status > 0;
    bool whole = is_whole(v, r->fate);

    r->partial = v->end.partial && r->fate != SEINE_FATE_OK;
    if (whole)
        r->title = v->title;
    if (has_response && keep & SEINE_KEEP_BODY)
        r->body = (seine_view){kept.ptr ? kept.ptr : "", kept.len};
    if (whole && keep & SEINE_KEEP_SHA256 &&
        sn_sha256(kept.ptr ? kept.ptr : "", kept.len, out->sha256) == SEINE_OK)
        r->sha256 = out->sha256;
}

static void
fill_result(sn_visit *v, const seine_fetch_opts *o, sn_emit *out)
{
    seine_record *r = &out->record;
    seine_view host = seine_url_host(&v->url);
    sn_page_facts facts = {0};

    if (v->target)
        r->final_url = view_href(v->target);
    else if (v->n_hops > 0 || v->end.fault.status > 0)
        r->final_url = view_href(&v->url);
    r->hops = v->hops;
    r->n_hops = v->n_hops;
    r->method = v->method;
    r->host = host;
    if (v->end.peer.v != 0) {
        sn_emit_ip(&v->end.peer, out->ip);
        r->ip = sn_str_of(out->ip);
    }
    r->http =
        v->end.fault.status == 0 || v->end.http == 255 ? 0 : (uint8_t)(10 + v->end.http);
    r->status = v->end.fault.status;
    r->attempts = v->retry.attempts;
    r->tries = v->tries;
    r->n_tries = v->n_tries;
    r->content_type = v->content_type;
    r->charset = v->charset;
    r->content_length = v->content_length;
    r->bytes_in = v->end.wire_bytes;
    r->bytes_body = v->end.body_bytes;
    r->secure = v->end.secure;
    r->fields = v->fields;
    r->n_fields = v->n_fields;
    fill_error(v, o, out);
    fill_times(v, r);
    if (v->page && is_whole(v, r->fate))
        sn_page_facts_get(v->page, &facts);
    if (facts.has_links)
        fill_page(v, &facts, r);
    fill_notes(v, facts.has_links ? facts.notes : 0, out);
    fill_body(v, o->keep, out);
}

/* The media type of the response is not in `accept_type`: the visit is a skip. */
static void
refuse_type(sn_visit *v, const seine_fetch_opts *o)
{
    enum { LONGEST = 160 };
    char rule[LONGEST];
    int n = snprintf(rule, sizeof rule, "%.*s is not in %s %s", SN_FMT(v->content_type),
                     sn_diag_shown(o->names, "accept_type"),
                     o->accept_type ? o->accept_type : "");
    size_t len = n < 0 ? 0 : (size_t)n < sizeof rule ? (size_t)n : sizeof rule - 1;
    const char *copy = sn_arena_text(&v->arena, (sn_str){rule, len});

    v->is_skip = true;
    v->reason = SEINE_SKIP_MIME;
    v->rule = copy ? (sn_str){copy, len} : (sn_str){0};
}

void
sn_emit_record(sn_visit *v, const seine_fetch_opts *o, int64_t wall, sn_emit *out)
{
    seine_record *r = &out->record;

    if (v->not_wanted && v->fault.code == SEINE_OK)
        refuse_type(v, o);
    *r = (seine_record){.type = v->is_skip ? SEINE_RECORD_SKIP : SEINE_RECORD_RESULT,
                        .wall = wall,
                        .number = v->number,
                        .input = v->input,
                        .line = v->line,
                        .id = v->id,
                        .tags = v->tags,
                        .content_length = -1};
    if (seine_url_href(v->first).len > 0) {
        r->url = view_href(v->first);
        r->key = v->key;
    }
    if (o->crawl)
        fill_found(v, r);
    if (v->is_skip) {
        fill_fault(v, out);
        r->reason = v->reason;
        r->rule = v->rule;
        return;
    }
    fill_result(v, o, out);
    if (o->keep & SEINE_KEEP_WIRE)
        r->captures = sn_capture_list(v, &r->n_captures);
}

void
sn_emit_skip(const sn_link *link, sn_str key, seine_skip reason, sn_str rule,
             int64_t wall, sn_emit *out)
{
    static const seine_fault none = SEINE_FAULT;
    seine_record *r = &out->record;

    *r = (seine_record){.type = SEINE_RECORD_SKIP,
                        .wall = wall,
                        .number = link->number,
                        .input = link->url,
                        .fault = &none,
                        .reason = reason,
                        .rule = rule,
                        .is_crawled = true,
                        .depth = link->depth,
                        .content_length = -1};
    if (key.len > 0) {
        r->url = link->url;
        r->key = key;
    }
    if (link->parent.len == 0)
        return;
    r->parent = link->parent;
    r->via.line = link->line;
    if (link->tag > 0) {
        r->via.tag = sn_str_of(sn_html_tag_name((sn_html_tag)link->tag));
        r->via.attr = sn_str_of(sn_html_attr_name((sn_html_attr)link->attr));
    }
}
