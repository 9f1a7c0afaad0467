/* SPDX-License-Identifier: Apache-2.0 */
/* http_exchange.c - one request from its first line to the last byte of its response. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/access.h"
#include "console/http_daemon_parts.h"
#include "console/response_fields.h"
#include "console/traceparent.h"
#include "engine/otlp.h"
#include "engine/visit_spans.h"

enum { PIECE = 16384 };

static sn_mhd_request *
of_call(sn_call *call)
{
    return (sn_mhd_request *)(void *)((char *)call - offsetof(sn_mhd_request, call));
}

/* The first line of a request is there, not yet taken apart. */
void *
sn_mhd_on_target(void *cls, const char *target, struct MHD_Connection *of)
{
    sn_http_daemon *d = cls;
    sn_mhd_request *r = sn_zalloc(sizeof *r);
    size_t n = strlen(target);

    if (!r)
        return NULL;
    sn_call_init(&r->call);
    r->daemon = d;
    r->of = of;
    r->on = sn_mhd_connection_of(of);
    if (r->on && r->on->began == SEINE_NEVER)
        r->on->began = d->console->loop.now;
    r->call.console = d->console;
    r->call.at = d->console->loop.now;
    r->call.on_reply = sn_mhd_resume;
    r->call.on_resume = sn_mhd_resume;
    r->has_long_target = n > SN_TARGET_MOST;
    r->target =
        sn_arena_text(&r->call.arena, (sn_str){target, r->has_long_target ? 0 : n});
    sn_buf_init(&r->body, 0);
    sn_ulid_new(sn_console_wall(d->console), r->call.id);
    return r;
}

static void
end_stream(sn_mhd_request *r)
{
    sn_mhd_stream *link = r->stream;

    if (!link)
        return;
    link->r = NULL;
    r->stream = NULL;
    link->stream.end(link->stream.arg);
}

static void
unlink_waiting(sn_mhd_request *r)
{
    if (!r->is_suspended)
        return;
    r->is_suspended = false;
    if (r->prev)
        r->prev->next = r->next;
    else
        r->daemon->waiting = r->next;
    if (r->next)
        r->next->prev = r->prev;
    r->next = r->prev = NULL;
}

static unsigned
number_of(const seine_console *c, const sn_route *route)
{
    size_t n;
    const sn_route *first = sn_route_all(&n);

    return route ? c->route_number[route - first] : SN_ROUTES_MOST;
}

/* The span of a request that was answered. */
static void
trace_call(const sn_call *call)
{
    seine_console *c = call->console;
    seine_clock *clock = c->loop.clock;
    int64_t wall = sn_console_wall(c);
    char name[40];
    uint8_t ids[24];
    sn_span s;

    if (!c->opts.traces || !call->route)
        return;
    snprintf(name, sizeof name, "%s %s", sn_method_name(call->method), call->route->path);
    sn_span_begin(&s, name, SN_SPAN_SERVER, wall - (c->loop.now - call->at), wall);
    sn_visit_tracer_ids(clock->dice(clock), ids, sizeof ids);
    memcpy(s.trace, ids, sizeof s.trace);
    memcpy(s.id, ids + sizeof s.trace, sizeof s.id);
    (void)sn_traceparent_read(call->traceparent, s.trace, s.parent);
    sn_span_text(&s, "http.request.method", sn_str_of(sn_method_name(call->method)));
    sn_span_text(&s, "http.route", sn_str_of(call->route->path));
    sn_span_int(&s, "http.response.status_code", call->reply.status);
    s.error = call->reply.status >= 500 ? "http_server" : NULL;
    sn_otlp_put(c->opts.traces, &s);
}

void
sn_mhd_on_completed(void *cls, struct MHD_Connection *of, void **con_cls,
                    enum MHD_RequestTerminationCode how)
{
    static const unsigned methods[] = {SEINE_HTTP_GET, SEINE_HTTP_POST, SEINE_HTTP_PATCH,
                                       SEINE_HTTP_DELETE};
    sn_mhd_request *r = *con_cls;

    (void)cls, (void)of, (void)how;
    if (!r)
        return;
    if (r->call.reply.status)
        seine_http_record(r->daemon->console->http_metrics, methods[r->call.method],
                          number_of(r->daemon->console, r->call.route),
                          r->call.reply.status,
                          r->daemon->console->loop.now - r->call.at);
    if (r->call.reply.status)
        trace_call(&r->call);
    if (r->on)
        sn_mhd_idle(r->on);
    end_stream(r);
    unlink_waiting(r);
    sn_buf_fini(&r->body);
    sn_call_fini(&r->call);
    sn_free(r);
    *con_cls = NULL;
}

/* Responses. */

static void
free_text(void *cls)
{
    sn_free(cls);
}

static void
free_stream(void *cls)
{
    sn_mhd_stream *link = cls;

    if (link->r)
        end_stream(link->r);
    sn_free(link);
}

/* Until somebody answers, or has more of a stream. */
static void
suspend(sn_mhd_request *r)
{
    sn_http_daemon *d = r->daemon;

    r->is_suspended = true;
    r->prev = NULL;
    r->next = d->waiting;
    if (r->next)
        r->next->prev = r;
    d->waiting = r;
    MHD_suspend_connection(r->of);
}

static ssize_t
read_stream(void *cls, uint64_t at, char *out, size_t cap)
{
    sn_mhd_stream *link = cls;

    (void)at;
    if (!link->r)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    int64_t n = link->stream.read(link->stream.arg, out, cap);
    if (n > 0)
        return (ssize_t)n;
    if (n == SN_STREAM_WAIT) {
        suspend(link->r);
        return 0;
    }
    return n == SN_STREAM_END ? MHD_CONTENT_READER_END_OF_STREAM
                              : MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *
make_stream(sn_mhd_request *r)
{
    sn_mhd_stream *link = sn_zalloc(sizeof *link);

    if (!link)
        return NULL;
    link->stream = r->call.reply.stream;
    link->r = r;
    struct MHD_Response *made = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, PIECE, read_stream, link, free_stream);
    if (!made) {
        sn_free(link);
        return NULL;
    }
    r->stream = link;
    r->call.reply.stream = (sn_stream){.read = NULL};
    return made;
}

static struct MHD_Response *
make_body(sn_mhd_request *r)
{
    sn_reply *reply = &r->call.reply;

    if (r->upgrade)
        return SN_STEAL(r->upgrade);
    if (reply->stream.read)
        return make_stream(r);
    if (!reply->text.bytes)
        return MHD_create_response_from_buffer(reply->fixed.len,
                                               (void *)(uintptr_t)reply->fixed.ptr,
                                               MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *made = MHD_create_response_from_buffer_with_free_callback_cls(
        reply->text.len, reply->text.bytes, free_text, reply->text.bytes);
    if (made)
        reply->text = (seine_text){.bytes = NULL};
    return made;
}

static void
add_field(void *arg, const char *name, const char *value)
{
    MHD_add_response_header(arg, name, value);
}

static enum MHD_Result
send_response(sn_mhd_request *r)
{
    sn_reply *reply = &r->call.reply;
    struct MHD_Response *made = make_body(r);

    if (!made)
        return MHD_NO;
    if (r->daemon->is_stopped)
        reply->close = true;
    if (reply->status != 101)
        sn_response_fields(&r->call, add_field, made);
    if (!r->is_audited && r->call.route && r->call.method != SN_GET)
        sn_access_audit(&r->call);
    r->is_audited = true;
    enum MHD_Result sent = MHD_queue_response(r->of, reply->status, made);
    MHD_destroy_response(made);
    return sent;
}

void
sn_mhd_resume(sn_call *call)
{
    sn_mhd_request *r = of_call(call);

    if (!r->is_suspended)
        return; /* the library is about to ask */
    unlink_waiting(r);
    MHD_resume_connection(r->of);
    sn_mhd_run_soon(r->daemon);
}

static void
take_body(sn_mhd_request *r, const char *bytes, size_t n)
{
    if (r->is_too_large || n > r->call.route->body - r->body.len) {
        r->is_too_large = true;
        return;
    }
    sn_buf_add(&r->body, bytes, n);
}

static void
handle(sn_mhd_request *r)
{
    sn_call *call = &r->call;

    r->is_handled = true;
    sn_mhd_whole(r->on);
    call->at = r->daemon->console->loop.now;
    if (r->is_too_large) {
        sn_mhd_refuse(r, 413, SN_API_TOO_LARGE, "the body is too long");
        return;
    }
    if (sn_buf_done(&r->body) != SEINE_OK) {
        sn_mhd_refuse(r, 503, SN_API_UNAVAILABLE, "no memory for the body");
        return;
    }
    call->body = sn_buf_view(&r->body);
    call->route->handle(call);
}

enum MHD_Result
sn_mhd_on_request(void *cls, struct MHD_Connection *of, const char *url,
                  const char *method, const char *version, const char *upload, size_t *n,
                  void **con_cls)
{
    sn_mhd_request *r = *con_cls;

    (void)cls, (void)of, (void)url, (void)version;
    if (!r || !r->on)
        return MHD_NO;
    if (!r->is_checked) {
        r->is_checked = true;
        sn_mhd_check_head(r, method);
        return r->call.reply.status ? send_response(r) : MHD_YES;
    }
    if (*n > 0) {
        take_body(r, upload, *n);
        *n = 0;
        return MHD_YES;
    }
    if (!r->is_handled)
        handle(r);
    if (r->call.reply.status)
        return send_response(r);
    suspend(r);
    return MHD_YES;
}

/* Upgrades. */

static void
close_upgraded(void *handle)
{
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

static void
on_upgrade(void *cls, struct MHD_Connection *of, void *con_cls, const char *early,
           size_t n, MHD_socket fd, struct MHD_UpgradeResponseHandle *handle)
{
    sn_mhd_request *r = con_cls;
    sn_upgrade u = {fd, {early, n}, close_upgraded, handle};

    (void)cls, (void)of;
    r->on->is_upgraded = true;
    r->take(&r->call, &u);
}

void
sn_call_upgrade(sn_call *call, const char *accept_key, const char *protocol,
                void (*take)(sn_call *call, const sn_upgrade *u))
{
    sn_mhd_request *r = of_call(call);

    if (call->reply.status)
        return;
    r->upgrade = MHD_create_response_for_upgrade(on_upgrade, NULL);
    if (!r->upgrade) {
        sn_call_fail(call, SN_API_UNAVAILABLE, "no memory", NULL);
        return;
    }
    r->take = take;
    MHD_add_response_header(r->upgrade, "Upgrade", "websocket");
    MHD_add_response_header(r->upgrade, "Sec-WebSocket-Accept", accept_key);
    if (protocol)
        MHD_add_response_header(r->upgrade, "Sec-WebSocket-Protocol", protocol);
    sn_call_empty(call, 101);
}
