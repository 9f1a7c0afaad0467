/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/redact.h"
#include "net/h1.h"

enum { HEAD_MOST = 256 << 10 };

void
sn_trace_text(const sn_shared_state *s, const sn_visit *v, const char *what, sn_str text)
{
    seine_trace t = {.what = what, .url = seine_url_href(&v->url), .text = text};

    s->opts.on_trace(&t, s->opts.arg);
}

/* Tells a head whose lines end in CR LF, up to its blank line. */
static void
tell_head(const sn_shared_state *s, const sn_visit *v, const char *what, sn_buf *b)
{
    char *end = b->len > 0 ? memmem(b->ptr, b->len, "\r\n\r\n", 4) : NULL;
    size_t len = end ? (size_t)(end - b->ptr) + 2 : b->len, n = 0;

    for (size_t i = 0; i < len; i++)
        if (b->ptr[i] != '\r')
            b->ptr[n++] = b->ptr[i];
    sn_trace_text(s, v, what, (sn_str){b->ptr, n});
}

void
sn_trace_request(const sn_shared_state *s, sn_visit *v, const sn_request *request)
{
    sn_field *fields = SN_ARENA_ARRAY(&v->arena, sn_field, request->n_fields + 1);
    sn_buf text;

    if (!fields)
        return;
    for (size_t i = 0; i < request->n_fields; i++) {
        fields[i] = request->fields[i];
        if (sn_redact_field(fields[i].name))
            fields[i].value = SN_STR("REDACTED");
    }
    sn_buf_init(&text, HEAD_MOST + request->body.len);
    if (sn_h1_write(&(sn_h1_request){.method = request->method,
                                     .host = seine_url_host_port(request->url),
                                     .target = seine_url_target(request->url),
                                     .fields = fields,
                                     .n_fields = request->n_fields,
                                     .body = request->body},
                    &text) == SEINE_OK)
        tell_head(s, v, "request", &text);
    sn_buf_fini(&text);
}

/* What a server gives to us alone. */
static bool
is_secret(sn_str name)
{
    return sn_str_eq_nocase(name, SN_STR("set-cookie")) ||
           sn_str_eq_nocase(name, SN_STR("set-cookie2")) ||
           sn_str_eq_nocase(name, SN_STR("authentication-info")) ||
           sn_str_eq_nocase(name, SN_STR("proxy-authentication-info"));
}

void
sn_trace_head(const sn_shared_state *s, sn_visit *v, const sn_head *head)
{
    sn_buf text;
    char line[64];

    sn_buf_init(&text, HEAD_MOST);
    snprintf(line, sizeof line, "HTTP/1.%u %u ", head->minor, head->status);
    sn_buf_text(&text, line);
    sn_buf_add(&text, head->text + head->reason, head->reason_len);
    sn_buf_text(&text, "\n");
    for (uint32_t i = 0; i < head->n_fields; i++) {
        sn_field f = sn_head_field_of(head, i);

        sn_buf_str(&text, f.name);
        sn_buf_text(&text, ": ");
        sn_buf_str(&text, is_secret(f.name) ? SN_STR("REDACTED") : f.value);
        sn_buf_text(&text, "\n");
    }
    if (text.err == SEINE_OK)
        sn_trace_text(s, v, "response", (sn_str){text.ptr, text.len});
    sn_buf_fini(&text);
}

void
sn_trace_retry(const sn_shared_state *s, const sn_visit *v, seine_wait why,
               seine_span wait)
{
    char text[160];
    int n =
        snprintf(text, sizeof text, "%s: trying again in %lld ms (%s)\n",
                 seine_err_text(v->end.fault.code),
                 (long long)(wait > 0 ? wait / SEINE_MS(1) : 0), seine_wait_name(why));

    sn_trace_text(s, v, "retry", (sn_str){text, (size_t)n});
}

void
sn_trace_wait(const sn_shared_state *s, const sn_visit *v, seine_wait why,
              seine_span waited)
{
    char text[160];

    if (waited < SEINE_MS(1))
        return;
    const char *what = why == SEINE_WAIT_QUEUE
                           ? "others of its host"
                           : sn_diag_shown(s->opts.names, seine_wait_name(why));
    int n = snprintf(text, sizeof text, "waited %lld ms for %.80s\n",
                     (long long)(waited / SEINE_MS(1)), what);
    sn_trace_text(s, v, "wait", (sn_str){text, (size_t)n});
}
