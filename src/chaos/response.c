/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/response.h"

#include <stdio.h>

#include "chaos/body.h"
#include "chaos/body_coding.h"

const char *
snc_response_reason(unsigned status)
{
    static const struct {
        unsigned status;
        const char *reason;
    } rows[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {407, "Proxy Authentication Required"},
        {408, "Request Timeout"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {416, "Range Not Satisfiable"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].reason;
    return "Status";
}

sn_str
snc_response_retry_after(const snc_plan *p)
{
    for (size_t i = 0; i < p->line_count; i++)
        if (sn_str_eq_nocase(p->lines[i].name, SN_STR("retry-after")))
            return p->lines[i].value;
    return (sn_str){NULL, 0};
}

static bool
may_have_body(unsigned status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* The choices that are made before a byte is written. */
typedef struct shape {
    const snc_plan *p;
    const snc_stage *st;
    sn_buf *text;
    unsigned status;
    bool body;       /* the response has a body */
    bool chunked;    /* the body goes in chunks */
    uint64_t length; /* of the body, or SNC_WIRE_ENDLESS */
    snc_framing framing;
    bool keep;
} shape;

static const char *
line_end(const snc_plan *p)
{
    return p->lf ? "\n" : "\r\n";
}

static void
status_line(const shape *s)
{
    const snc_plan *p = s->p;

    if (p->status_line.ptr) {
        sn_buf_str(s->text, p->status_line);
    } else {
        sn_buf_printf(s->text, "HTTP/1.%d %u", p->http10 ? 0 : 1, s->status);
        if (p->reason.len > 0)
            sn_buf_printf(s->text, " %.*s", SN_FMT(p->reason));
        else if (!p->no_reason)
            sn_buf_printf(s->text, " %s", snc_response_reason(s->status));
    }
    sn_buf_text(s->text, line_end(p));
}

static void
field(const shape *s, const char *name, const char *value)
{
    sn_buf_printf(s->text, "%s: %s%s", name, value, line_end(s->p));
}

static void
length_fields(const shape *s)
{
    const snc_plan *p = s->p;
    const char *end = line_end(p);
    unsigned long long n = s->length + (uint64_t)p->length_off;

    switch (p->length) {
    case SNC_LENGTH_NONE:
        break;
    case SNC_LENGTH_TEXT:
        sn_buf_printf(s->text, "Content-Length: %.*s%s", SN_FMT(p->length_text), end);
        break;
    case SNC_LENGTH_FOLD:
        sn_buf_printf(s->text, "Content-Length:%s %llu%s", end, n, end);
        break;
    case SNC_LENGTH_SPACE:
        sn_buf_printf(s->text, "Content-Length : %llu%s", n, end);
        break;
    case SNC_LENGTH_LIST:
    case SNC_LENGTH_ODD:
        sn_buf_printf(s->text, "Content-Length: %llu, %llu%s", n,
                      n + (p->length == SNC_LENGTH_ODD), end);
        break;
    default:
        sn_buf_printf(s->text, "Content-Length: %llu%s", n, end);
        if (p->length == SNC_LENGTH_TWO || p->length == SNC_LENGTH_SAME)
            sn_buf_printf(s->text, "Content-Length: %llu%s",
                          n + (p->length == SNC_LENGTH_TWO), end);
    }
}

static void
framing_fields(const shape *s)
{
    const snc_plan *p = s->p;

    if (s->framing == SNC_BY_CHUNKS) {
        sn_buf_text(s->text, "Transfer-Encoding: ");
        sn_buf_str(s->text, p->te.ptr ? p->te : SN_STR("chunked"));
        sn_buf_text(s->text, line_end(p));
    }
    if (s->length != SNC_WIRE_ENDLESS &&
        (p->both ||
         (s->framing == SNC_BY_LENGTH && (may_have_body(s->status) || p->with_body))))
        length_fields(s);
    if (!s->keep)
        field(s, "Connection", "close");
    else if (s->st->req->minor == 0)
        field(s, "Connection", "keep-alive");
}

static void
type_field(const shape *s)
{
    const snc_plan *p = s->p;
    sn_str type = p->ctype.ptr ? p->ctype : sn_str_of(snc_body_type(p));

    if (type.len == 0 || !may_have_body(s->status))
        return;
    sn_buf_text(s->text, "Content-Type: ");
    sn_buf_str(s->text, type);
    if (p->charset.ptr)
        sn_buf_printf(s->text, "; charset=%.*s", SN_FMT(p->charset));
    sn_buf_text(s->text, line_end(p));
}

static void
coding_field(const shape *s)
{
    const snc_plan *p = s->p;

    if (p->label_count == 0 || !may_have_body(s->status))
        return;
    for (size_t i = 0; i < p->label_count; i++) {
        sn_buf_text(s->text, i ? ", " : "Content-Encoding: ");
        sn_buf_str(s->text, p->labels[i]);
    }
    sn_buf_text(s->text, line_end(p));
}

static void
head(const shape *s)
{
    const snc_plan *p = s->p;

    status_line(s);
    type_field(s);
    if (s->status == 206 && s->length != SNC_WIRE_ENDLESS && s->length > 0)
        sn_buf_printf(s->text, "Content-Range: bytes 0-%llu/%llu%s",
                      (unsigned long long)s->length - 1, (unsigned long long)s->length,
                      line_end(p));
    coding_field(s);
    framing_fields(s);
    for (size_t i = 0; i < p->line_count; i++) {
        if (p->lines[i].name.len > 0) {
            sn_buf_str(s->text, p->lines[i].name);
            sn_buf_text(s->text, ": ");
        }
        sn_buf_str(s->text, p->lines[i].value);
        sn_buf_text(s->text, line_end(p));
    }
}

static void
interim(const shape *s, snc_wire *w)
{
    size_t from = s->text->len;

    if (s->p->interim == 0)
        return;
    sn_buf_printf(s->text, "HTTP/1.1 %u %s\r\n%s\r\n", s->p->interim_status,
                  s->p->interim_status == 101 ? "Switching Protocols" : "Early",
                  s->p->interim_status == 101
                      ? "Upgrade: chaos\r\nConnection: upgrade\r\n"
                  : s->p->interim_status == 100 ? ""
                                                : "Link: </style.css>; rel=preload\r\n");
    snc_wire_units(w, from, s->p->interim);
}

/* Adds the text since `from`, then `unit` repeated; returns where the next text begins.
 */
static size_t
put_units(const shape *s, snc_wire *w, size_t from, const char *unit, uint64_t count)
{
    snc_wire_text(w, from);
    from = s->text->len;
    sn_buf_text(s->text, unit);
    snc_wire_units(w, from, count);
    return s->text->len;
}

/* Fields that are too large or too many come last, generated while they are sent. */
static void
put_head(const shape *s, snc_wire *w)
{
    const snc_plan *p = s->p;
    const char *end = line_end(p);
    char unit[64];
    size_t from;

    interim(s, w);
    from = s->text->len;
    head(s);
    if (p->big_cookie > 0) {
        sn_buf_text(s->text, "Set-Cookie: big=");
        from = put_units(s, w, from, "c", p->big_cookie);
        sn_buf_text(s->text, end);
    }
    if (p->many_cookies > 0) {
        snprintf(unit, sizeof unit, "Set-Cookie: c0000000000=v; Path=/%s", end);
        from = put_units(s, w, from, unit, p->many_cookies);
    }
    if (p->big_head > 0) {
        sn_buf_text(s->text, "X-Big: ");
        from = put_units(s, w, from, "b", p->big_head);
        sn_buf_text(s->text, end);
    }
    if (p->many_head > 0) {
        snprintf(unit, sizeof unit, "X-Many-0000000000: m%s", end);
        from = put_units(s, w, from, unit, p->many_head);
    }
    sn_buf_text(s->text, end);
    snc_wire_text(w, from);
}

/* Trailers, the last chunk, and bytes behind the end. */
static void
put_tail(const shape *s, snc_wire *w)
{
    const snc_plan *p = s->p;
    size_t from = s->text->len;

    if (s->chunked && p->trailers > 0) {
        sn_buf_text(s->text, "X-Trailer-0000000000: t\r\n");
        snc_wire_units(w, from, p->trailers);
        from = s->text->len;
    }
    if (s->chunked && p->chunk_fault != SNC_CHUNK_LAST &&
        p->chunk_fault != SNC_CHUNK_NONE)
        sn_buf_text(s->text, "\r\n");
    if (p->smuggle)
        sn_buf_text(s->text, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                             "Content-Length: 9\r\n\r\nsmuggled\n");
    snc_wire_text(w, from);
    if (p->extra > 0) {
        from = s->text->len;
        sn_buf_char(s->text, 'x');
        snc_wire_units(w, from, p->extra);
    }
}

static bool
is_coded(const shape *s)
{
    const snc_body_coding *r = &s->p->coding;

    return s->p->final != SNC_FINAL_RAW &&
           (may_have_body(s->status) || s->p->with_body) &&
           (r->count > 0 || r->cut > 0 || r->flips || r->flips_end || r->members > 0 ||
            r->extra > 0);
}

/* Builds the body on a wire of its own first, because the head states its length. */
static seine_err
measure(shape *s, snc_wire *body)
{
    const snc_chunks none = {.on = false};

    snc_wire_init(body, s->text);
    snc_wire_body(body, &none);
    seine_err e = snc_body_make(body, s->p, s->st);
    snc_wire_body_end(body);
    if (e == SEINE_OK && is_coded(s)) {
        snc_body_coding how = s->p->coding;

        how.member = how.count > 0 ? how.codings[how.count - 1] : s->p->bomb;
        e = snc_body_code(body, &how, s->text);
    }
    s->length = snc_wire_body_length(body);
    return e;
}

static void
put_body(const shape *s, snc_wire *w, snc_wire *body)
{
    const snc_chunks chunks = {.on = s->chunked && s->body,
                               .fault = s->p->chunk_fault,
                               .size = s->p->chunk_size > 0 ? s->p->chunk_size : 4096,
                               .ext = s->p->chunk_ext};

    snc_wire_body(w, &chunks);
    if (s->body)
        snc_wire_move(w, body);
    snc_wire_body_end(w);
}

/* Where the bytes stop, and how the connection ends there. */
static void
set_cut(snc_response *a, const snc_plan *p)
{
    uint64_t length = snc_wire_length(&a->wire),
             head_length = snc_wire_head_length(&a->wire);

    a->cut = p->cut;
    a->cut_at = p->cut_at + (p->cut_body ? head_length : 0);
    if (p->is_short && length != SNC_WIRE_ENDLESS) {
        uint64_t end = length > p->shorter ? length - p->shorter : 0;

        if (a->cut == SNC_CUT_NONE || end < a->cut_at) {
            a->cut = SNC_CUT_FIN;
            a->cut_at = end;
        }
    }
    a->drip_from = p->drip_body ? head_length : 0;
}

static bool
is_head(const snc_request *req)
{
    return sn_str_eq(req->method, SN_STR("HEAD"));
}

static void
decide_framing(shape *s)
{
    const snc_plan *p = s->p;
    bool wants_close = p->http10 || p->http09 || p->final == SNC_FINAL_RAW ||
                       p->framing == SNC_BY_CLOSE || p->unclean ||
                       !s->st->req->keep_alive;

    s->framing = p->framing;
    if (s->framing == SNC_BY_LENGTH && s->length == SNC_WIRE_ENDLESS)
        s->framing = s->st->req->minor > 0 && !p->http10 ? SNC_BY_CHUNKS : SNC_BY_CLOSE;
    s->body = (may_have_body(s->status) && !is_head(s->st->req)) || p->with_body;
    s->chunked = s->framing == SNC_BY_CHUNKS && s->body;
    s->keep = !wants_close && s->framing != SNC_BY_CLOSE;
}

/* Bytes without a head: raw ones, or HTTP/0.9. */
static void
bare(snc_response *a, snc_wire *body)
{
    const snc_chunks none = {.on = false};

    snc_wire_body(&a->wire, &none);
    snc_wire_move(&a->wire, body);
    snc_wire_body_end(&a->wire);
}

seine_err
snc_response_make(snc_response *a, const snc_plan *p, const snc_stage *st)
{
    shape s = {.p = p, .st = st, .text = st->text, .status = p->status ? p->status : 200};
    snc_wire body;

    sn_buf_reset(st->text);
    *a = (snc_response){
        .status = s.status, .delay = p->delay, .every = p->every, .drip = p->drip};
    snc_wire_init(&a->wire, st->text);
    seine_err e = measure(&s, &body);
    decide_framing(&s);
    if (p->final == SNC_FINAL_RAW || p->http09) {
        bare(a, &body);
    } else {
        put_head(&s, &a->wire);
        put_body(&s, &a->wire, &body);
        put_tail(&s, &a->wire);
    }
    snc_wire_fini(&body);
    set_cut(a, p);
    a->mute = p->mute;
    a->unclean = p->unclean;
    /* A response that announces more than it sends closes the connection, so that the
     * client notices. */
    a->keep = s.keep && p->length_off <= 0 && p->chunk_fault != SNC_CHUNK_LAST &&
              p->chunk_fault != SNC_CHUNK_NONE;
    a->whole = !p->damaged;
    a->idle = p->idle;
    a->idle_end = p->idle_end;
    if (e == SEINE_OK)
        e = sn_buf_done(st->text);
    if (e != SEINE_OK)
        snc_response_fini(a);
    return e;
}

void
snc_response_fini(snc_response *a)
{
    snc_wire_fini(&a->wire);
}
