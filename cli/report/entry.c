/* SPDX-License-Identifier: Apache-2.0 */
#include "report/entry.h"

#include <stdio.h>
#include <string.h>

seine_span
entry_sum(seine_span a, seine_span b)
{
    seine_span sum;

    return __builtin_add_overflow(a, b, &sum) ? SEINE_NEVER : sum;
}

seine_span
entry_latency(const entry *e)
{
    seine_span sum = 0;

    for (int i = SPAN_DNS; i <= SPAN_BODY; i++)
        sum = entry_sum(sum, e->spans[i]);
    return sum;
}

entry_name
entry_word(seine_view text)
{
    entry_name out;
    size_t n = text.len < sizeof out.text ? text.len : sizeof out.text - 1;

    for (size_t i = 0; i < n; i++)
        out.text[i] = text.ptr[i] > ' ' && text.ptr[i] < 0x7f ? text.ptr[i] : '?';
    out.text[n] = '\0';
    return out;
}

static seine_view
word_of(const char *word)
{
    return (seine_view){word, word ? strlen(word) : 0};
}

entry_name
entry_failure(const entry *e)
{
    entry_name out;

    if (e->status > 0 && (e->fate == SEINE_FATE_HTTP_ERROR || e->error.len == 0)) {
        snprintf(out.text, sizeof out.text, "%u", e->status);
        return out;
    }
    return entry_word(e->error.len > 0 ? e->error : word_of(seine_fate_name(e->fate)));
}

/* "e.example:8080" of "https://user@e.example:8080/a". */
static seine_view
host_of(seine_view url)
{
    const char *at = url.ptr, *end = at + url.len, *from;

    while (at < end && *at != ':' && *at != '/')
        at++;
    if (end - at < 3 || memcmp(at, "://", 3) != 0)
        return (seine_view){NULL, 0};
    at += 3;
    for (from = at; at < end && *at != '/' && *at != '?' && *at != '#'; at++)
        if (*at == '@')
            from = at + 1;
    return (seine_view){from, (size_t)(at - from)};
}

void
entry_name_host(entry *e)
{
    seine_view host = e->url.len > 0 ? host_of(e->url) : (seine_view){NULL, 0};

    e->host = host.len > 0 ? host : e->host;
}

static void
copy_times(const seine_record *r, entry *out)
{
    const seine_span spans[SPANS] = {
        r->queue,   r->throttle, r->backoff, r->retry_budget, r->dns,
        r->connect, r->tls,      r->ttfb,    r->body_time,    r->total};

    memcpy(out->spans, spans, sizeof spans);
    out->has_times = true;
    for (size_t i = 0; i < r->n_tries; i++)
        if (r->tries[i].wait > 0 && r->tries[i].wait_reason < SEINE_WAIT_ROOM)
            out->waits[r->tries[i].wait_reason] =
                entry_sum(out->waits[r->tries[i].wait_reason], r->tries[i].wait);
}

void
entry_of_record(const seine_record *r, entry *out)
{
    bool is_skip = r->type == SEINE_RECORD_SKIP;

    *out = (entry){
        .kind = is_skip ? ENTRY_SKIP : ENTRY_RESULT,
        .wall = r->wall,
        .url = r->url.len ? r->url : r->input,
        .key = r->key,
        .final_url = r->final_url,
        .host = r->host,
        .parent = r->parent,
        .line = r->via.line,
    };
    entry_name_host(out);
    if (is_skip) {
        out->error = word_of(seine_skip_name(r->reason));
        out->message = r->rule;
        return;
    }
    out->fate = r->fate;
    out->is_ok = r->fate == SEINE_FATE_OK;
    if (!out->is_ok && r->fault)
        out->error = word_of(seine_err_name(r->fault->code));
    out->message = r->message;
    out->hint = r->hint;
    out->status = r->status;
    out->attempts = r->attempts;
    out->bytes_in = r->bytes_in;
    out->bytes_body = r->bytes_body;
    out->has_bytes = r->status > 0;
    out->content_type = r->content_type;
    out->title = r->title;
    out->n_redirects = (uint32_t)r->n_hops;
    out->redirect = r->n_hops ? r->hops[0].status : 0;
    copy_times(r, out);
}

void
entry_of_kept(const seine_record *r, entry *out)
{
    entry_of_record(r, out);
    out->spans[SPAN_TOTAL] = 0;
}
