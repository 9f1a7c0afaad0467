/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/capture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/redact.h"
#include "engine/emit.h"
#include "net/h1.h"
#include "store/warc_http.h"

#define KEPT 4096 /* a buffer up to here stays with its visit, and is not counted */

/* Where the parts of a capture stand in the buffer, which moves as it grows. */
typedef struct taken {
    size_t url, request, response, end;
    int64_t wall;
    seine_cut cut;
    uint32_t head_len;
    char ip[48];
} taken;

struct sn_captures {
    sn_buf bytes; /* URL, request, response; URL, request … */
    taken *list;
    seine_capture *views;
    uint32_t n, room; /* kept; of both lists */
    bool has_last;    /* list[n] is in the making, or made */
    bool is_short;    /* there was no room for its response */
};

static seine_err
make_captures(sn_visit *v)
{
    if (!v->captures)
        v->captures = sn_zalloc(sizeof *v->captures);
    if (!v->captures)
        return SEINE_E_NOMEM;
    v->captures->bytes.cap = SIZE_MAX / 2;
    return SEINE_OK;
}

/* Makes room for one more capture in the list. */
static seine_err
grow_list(sn_captures *c)
{
    uint32_t room = c->room ? c->room * 2 : 2;

    if (c->n < c->room)
        return SEINE_OK;
    taken *list = sn_realloc(c->list, room * sizeof *list);
    c->list = list ? list : c->list;
    seine_capture *views = list ? sn_realloc(c->views, room * sizeof *views) : NULL;
    c->views = views ? views : c->views;
    if (!views)
        return SEINE_E_NOMEM;
    c->room = room;
    return SEINE_OK;
}

/* Makes room for `more` bytes. */
static seine_err
grow_bytes(sn_captures *c, size_t more)
{
    size_t least = c->bytes.room > 0 ? 0 : KEPT;

    if (!sn_buf_reserve(&c->bytes, more > least ? more : least)) {
        c->bytes.err = SEINE_OK; /* whoever asks again may find some */
        return SEINE_E_NOMEM;
    }
    return SEINE_OK;
}

/* Writes the request as it was sent; secrets are REDACTED. */
static seine_err
write_request(sn_captures *c, sn_visit *v, const sn_request *request)
{
    sn_field *fields = SN_ARENA_ARRAY(&v->arena, sn_field, request->n_fields + 1);
    seine_view host = seine_url_host_port(request->url);
    seine_view target = seine_url_target(request->url);
    size_t room = 512 + host.len + target.len + request->body.len;

    if (!fields)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < request->n_fields; i++) {
        fields[i] = request->fields[i];
        if (sn_redact_field(fields[i].name))
            fields[i].value = SN_STR("REDACTED");
        room += fields[i].name.len + fields[i].value.len + 4;
    }
    seine_err e = grow_bytes(c, room);
    if (e != SEINE_OK)
        return e;
    return sn_h1_write(&(sn_h1_request){.method = request->method,
                                        .host = host,
                                        .target = target,
                                        .fields = fields,
                                        .n_fields = request->n_fields,
                                        .body = request->body},
                       &c->bytes);
}

/* Without its fragment, which nobody was told. */
static seine_err
write_url(sn_captures *c, const seine_url *url)
{
    seine_view href = seine_url_href(url);
    size_t n = sn_str_find(href, '#');
    seine_err e = grow_bytes(c, n);

    if (e == SEINE_OK)
        sn_buf_add(&c->bytes, href.ptr, n);
    return e;
}

seine_err
sn_capture_begin(sn_visit *v, const sn_request *request, int64_t wall)
{
    seine_err e = make_captures(v);

    if (e != SEINE_OK)
        return e;
    sn_capture_back(v);
    sn_captures *c = v->captures;
    e = grow_list(c);
    if (e != SEINE_OK)
        return e;
    taken *t = &c->list[c->n];
    *t = (taken){.url = c->bytes.len, .wall = wall};
    c->is_short = false;
    e = write_url(c, request->url);
    t->request = c->bytes.len;
    if (e == SEINE_OK)
        e = write_request(c, v, request);
    t->response = t->end = c->bytes.len;
    c->has_last = e == SEINE_OK;
    return e;
}

void
sn_capture_wire(sn_visit *v, sn_str bytes)
{
    sn_captures *c = v->captures;

    if (!c || !c->has_last || c->is_short)
        return;
    seine_err e = grow_bytes(c, bytes.len);
    if (e != SEINE_OK) {
        c->is_short = true;
        v->kept.err = e;
        return;
    }
    sn_buf_add(&c->bytes, bytes.ptr, bytes.len);
}

seine_cut
sn_capture_cut(const sn_end *end, seine_err lack)
{
    switch (end->fault.code) {
    case SEINE_OK:
        return lack == SEINE_OK ? SEINE_CUT_NONE : SEINE_CUT_LENGTH;
    case SEINE_E_CANCELED:
        return lack == SEINE_OK ? SEINE_CUT_OTHER : SEINE_CUT_LENGTH;
    case SEINE_E_BODY_TOO_LARGE:
    case SEINE_E_HEADER_TOO_LARGE:
    case SEINE_E_BUDGET:
    case SEINE_E_NOMEM:
        return SEINE_CUT_LENGTH;
    case SEINE_E_DEADLINE:
        return SEINE_CUT_TIME;
    default:
        break;
    }
    switch (seine_err_group(end->fault.code)) {
    case SEINE_E_TIMEOUT:
        return SEINE_CUT_TIME;
    case SEINE_E_RESET:
    case SEINE_E_SHORT:
        return SEINE_CUT_DISCONNECT;
    default:
        return SEINE_CUT_OTHER;
    }
}

void
sn_capture_end(sn_visit *v)
{
    sn_captures *c = v->captures;
    sn_warc_http http;
    sn_str piece;

    if (!c || !c->has_last)
        return;
    taken *t = &c->list[c->n];
    sn_str method = {c->bytes.ptr + t->request, t->response - t->request};
    sn_str in = {c->bytes.ptr + t->response, c->bytes.len - t->response};
    t->end = c->bytes.len;
    t->cut = sn_capture_cut(&v->end, c->is_short ? SEINE_E_NOMEM : v->kept.err);
    if (v->end.peer.v != 0)
        sn_emit_ip(&v->end.peer, t->ip);
    sn_warc_http_begin(&http, sn_str_starts(method, SN_STR("HEAD ")));
    /* A body that cannot be decoded may have come to its end nevertheless. */
    bool is_odd = v->end.fault.code == SEINE_E_BAD_ENCODING;
    while (in.len > 0 && (!http.has_head || is_odd) &&
           sn_warc_http_next(&http, &in, &piece))
        continue;
    t->head_len = (uint32_t)http.head_len;
    if (is_odd && http.has_head && sn_warc_http_has_ended(&http))
        t->cut = SEINE_CUT_NONE;
}

void
sn_capture_keep(sn_visit *v)
{
    sn_captures *c = v->captures;

    if (!c || !c->has_last)
        return;
    c->n++;
    c->has_last = false;
}

/* Memory that is not needed any more, but for a small buffer. */
static void
shrink_bytes(sn_captures *c, size_t len)
{
    if (len > 0 || c->bytes.room <= KEPT) {
        sn_buf_truncate(&c->bytes, len);
    } else {
        sn_buf_fini(&c->bytes);
        sn_buf_init(&c->bytes, SIZE_MAX / 2);
    }
}

size_t
sn_capture_memory(const sn_visit *v)
{
    const sn_captures *c = v->captures;

    return c && c->bytes.len > KEPT ? c->bytes.len - KEPT : 0;
}

size_t
sn_capture_free_room(const sn_visit *v)
{
    const sn_captures *c = v->captures;

    return !c ? KEPT : c->bytes.len < KEPT ? KEPT - c->bytes.len : 0;
}

void
sn_capture_take(sn_visit *v, sn_buf *out_bytes)
{
    sn_captures *c = v->captures;

    *out_bytes = c->bytes;
    sn_buf_init(&c->bytes, SIZE_MAX / 2);
}

void
sn_capture_back(sn_visit *v)
{
    sn_captures *c = v->captures;

    if (!c)
        return;
    c->has_last = false;
    shrink_bytes(c, c->n > 0 ? c->list[c->n - 1].end : 0);
}

const seine_capture *
sn_capture_list(sn_visit *v, size_t *out_n)
{
    sn_captures *c = v->captures;
    size_t n = c ? c->n + c->has_last : 0;

    *out_n = n;
    if (n == 0)
        return NULL;
    const char *bytes = c->bytes.ptr;
    for (size_t i = 0; i < n; i++) {
        taken *t = &c->list[i];

        c->views[i] = (seine_capture){
            .url = {bytes + t->url, t->request - t->url},
            .wall = t->wall,
            .ip = {t->ip[0] ? t->ip : NULL, strlen(t->ip)},
            .request = {bytes + t->request, t->response - t->request},
            .response = {t->end > t->response ? bytes + t->response : NULL,
                         t->end - t->response},
            .head_len = t->head_len,
            .cut = t->cut};
    }
    return c->views;
}

void
sn_capture_drop(sn_visit *v)
{
    sn_captures *c = v->captures;

    if (!c)
        return;
    c->n = 0;
    c->has_last = false;
    shrink_bytes(c, 0);
}

void
sn_capture_free(sn_captures *c)
{
    if (!c)
        return;
    sn_buf_fini(&c->bytes);
    sn_free(c->list);
    sn_free(c->views);
    sn_free(c);
}
