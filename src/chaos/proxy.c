/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/proxy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "chaos/quote.h"

/* What a port leads to. */
typedef enum port_kind {
    PORT_HTTP,
    PORT_HTTPS,
    PORT_DEAD,
    PORT_HOLE,
    PORT_ALIEN
} port_kind;

static port_kind
kind_of(const snc_world *w, unsigned port)
{
    if (port == w->dead_port)
        return PORT_DEAD;
    if (port == w->hole_port)
        return PORT_HOLE;
    if (port == w->port || port == 80)
        return PORT_HTTP;
    return w->tls_port > 0 && (port == w->tls_port || port == 443) ? PORT_HTTPS
                                                                   : PORT_ALIEN;
}

sn_str
snc_proxy_origin(snc_world *w, const snc_visitor *v, const char *scheme, uint16_t port)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%s://%.*s:%u", scheme, SN_FMT(v->own), port);
    char *copy = sn_arena_text(&w->arena, (sn_str){text, (size_t)n});

    return (sn_str){copy, copy ? (size_t)n : 0};
}

/* A client's request for a tunnel. */
typedef struct wish {
    snc_world *w;
    const snc_visitor *v;
    const snc_request *req; /* the CONNECT; an empty request for SOCKS */
    const char *how;        /* "connect", "socks" */
    sn_str host, login;
    unsigned port;
    uint64_t hit;
    seine_time now;
} wish;

static uint64_t
count_host(snc_world *w, sn_str host)
{
    char name[300];
    int n = snprintf(name, sizeof name, "proxy %.*s", SN_FMT(host));
    const snc_key *key = snc_hit_counter_hit(&w->counter, (sn_str){name, (size_t)n});

    return key ? key->hits : 1;
}

/* Applies the script's words on top of the plan. */
static void
lie(const wish *x, snc_plan *p)
{
    snc_scene scene = {.req = x->req,
                       .added = &x->w->added,
                       .arena = &x->w->arena,
                       .seed = x->w->seed,
                       .key = x->host,
                       .login = x->login,
                       .hit = x->hit,
                       .nth = x->v->nth};
    const snc_rule *r = snc_script_find(&x->w->script, SNC_RULE_PROXY, x->host,
                                        SN_STR(""), SN_STR(""), x->hit);
    snc_plan before = *p;
    snc_wrong wrong;

    if (r && !snc_url_words_apply(r->fault, &scene, p, &wrong))
        *p = before; /* an added word that is wrong here */
}

static void
note_passage(const wish *x, unsigned status)
{
    sn_buf *line = &x->w->line;

    sn_buf_reset(line);
    sn_buf_printf(line,
                  "{\"t_us\":%lld,\"proxy\":\"%s\",\"host\":", (long long)(x->now / 1000),
                  x->how);
    snc_quote(line, x->host);
    sn_buf_printf(line,
                  ",\"port\":%u,\"status\":%u,\"connection\":%llu,\"from\":", x->port,
                  status, (unsigned long long)x->v->connection);
    snc_quote(line, x->v->peer);
    sn_buf_text(line, "}\n");
    snc_request_log_add(&x->w->request_log, sn_buf_view(line));
}

static seine_err
make_response(const wish *x, const snc_plan *p, snc_response *out_response)
{
    snc_stage stage = {.req = x->req,
                       .text = &x->w->text,
                       .request_log = &x->w->request_log,
                       .seed = x->w->seed,
                       .hit = x->hit,
                       .key = x->host,
                       .peer = x->v->peer};

    return snc_response_make(out_response, p, &stage);
}

static void
lead_tunnel(const wish *x, port_kind kind, snc_passage *out_to)
{
    struct in_addr address;
    char text[16];

    out_to->way = kind == PORT_HTTPS ? SNC_WAY_HTTPS : SNC_WAY_HTTP;
    if (x->host.len >= sizeof text)
        return;
    memcpy(text, x->host.ptr, x->host.len);
    text[x->host.len] = '\0';
    if (inet_pton(AF_INET, text, &address) == 1)
        memcpy(out_to->address, text, sizeof text);
}

static void
look_for_leaks(const wish *x, sn_str origin)
{
    char where[80];

    for (size_t i = 0; i < x->req->count && x->w->leaks.secret_count > 0; i++) {
        snprintf(where, sizeof where, "connect header %.*s",
                 SN_FMT(x->req->fields[i].name));
        for (char *c = where; *c; c++)
            *c = sn_lower(*c);
        snc_secret_leaks_search(&x->w->leaks, origin, x->req->target, where,
                                x->req->fields[i].value);
    }
}

/* RFC 9110, 9.3.6: a successful response has no body and no length. */
static void
plan_connect(const wish *x, port_kind kind, snc_plan *p)
{
    *p = (snc_plan){.final = SNC_FINAL_EMPTY};
    lie(x, p);
    if (p->has_final)
        return;
    if (kind == PORT_HOLE) {
        p->mute = true;
    } else if (kind == PORT_DEAD || kind == PORT_ALIEN) {
        p->status = kind == PORT_DEAD ? 502 : 403;
        p->final = SNC_FINAL_STATUS;
    } else {
        p->length = SNC_LENGTH_NONE;
        if (!p->reason.ptr)
            p->reason = SN_STR("Connection established");
    }
}

seine_err
snc_proxy_connect(snc_world *w, const snc_visitor *v, const snc_request *req,
                  seine_time now, snc_response *out_response, snc_passage *out_to)
{
    wish x = {.w = w, .v = v, .req = req, .how = "connect", .now = now};
    snc_plan p;
    uint64_t port = 0;

    sn_arena_reset(&w->arena);
    *out_to = (snc_passage){SNC_WAY_NONE, ""};
    x.host = snc_request_host_name(req);
    if (sn_str_u64(sn_str_slice(req->host, x.host.len + 1, req->host.len), &port) ==
        SEINE_OK)
        x.port = port <= UINT16_MAX ? (unsigned)port : 0;
    x.hit = count_host(w, x.host);
    w->witness.connects++;
    look_for_leaks(&x, snc_proxy_origin(w, v, v->tls ? "https" : "http",
                                        v->tls ? w->tls_port : w->port));
    /* A tunnel inside of a tunnel leads nowhere. */
    port_kind kind = v->tunnelled ? PORT_ALIEN : kind_of(w, x.port);
    plan_connect(&x, kind, &p);
    unsigned status = p.status ? p.status : 200;
    note_passage(&x, status);
    seine_err e = make_response(&x, &p, out_response);
    if (e == SEINE_OK && status / 100 == 2 && kind <= PORT_HTTPS) {
        lead_tunnel(&x, kind, out_to);
        w->witness.tunnels++;
        if (p.final != SNC_FINAL_RAW) /* whatever the client says about its connection */
            out_response->keep = true;
    }
    return e;
}

/* The right reply to the message, or what the words make of it. */
static seine_err
reply(const wish *x, snc_plan *p, sn_str right, bool goes_on, snc_response *out_response)
{
    if (!p->has_final || p->final != SNC_FINAL_RAW) {
        p->final = SNC_FINAL_RAW;
        p->raw = right;
    } else {
        goes_on = false;
    }
    p->has_final = true;
    seine_err e = make_response(x, p, out_response);
    if (e == SEINE_OK)
        out_response->keep = goes_on;
    return e;
}

static seine_err
answer_hello(wish *x, snc_socks *socks, snc_response *out_response)
{
    snc_plan p = {.count = 0};
    char right[2] = {5, 0};

    lie(x, &p);
    bool login = p.login.ptr;
    unsigned method = login                ? (socks->offers_login ? 2 : 255)
                      : socks->offers_none ? 0
                                           : 255;
    if (p.has_method)
        method = p.method;
    right[1] = (char)method;
    socks->at = method == 2 ? SNC_SOCKS_LOGIN : SNC_SOCKS_REQUEST;
    return reply(x, &p, (sn_str){right, 2}, method != 255, out_response);
}

static seine_err
answer_login(wish *x, snc_socks *socks, snc_response *out_response)
{
    snc_plan p = {.count = 0};
    char right[2] = {1, 0};

    lie(x, &p);
    bool fine = !p.login.ptr || sn_str_eq(p.login, x->login);
    right[1] = !fine;
    socks->at = SNC_SOCKS_REQUEST;
    return reply(x, &p, (sn_str){right, 2}, fine, out_response);
}

/* RFC 1928, 6: 0 succeeded, 1 failed, 2 forbidden, 5 refused, 7 no such command, 8 no
 * such address type. */
static unsigned
code_of(const snc_socks *socks, port_kind kind)
{
    if (socks->command != 1)
        return 7;
    if (socks->type == 4)
        return 8;
    return kind <= PORT_HTTPS ? 0 : kind == PORT_DEAD ? 5 : 2;
}

static seine_err
answer_request(wish *x, const snc_socks *socks, snc_response *out_response,
               snc_passage *out_to)
{
    snc_plan p = {.count = 0};
    port_kind kind = kind_of(x->w, x->port);
    char right[10] = {5, 0, 0, 1, 127, 0, 0, 1, 0, 0};

    x->w->witness.socks++;
    x->w->witness.socks_names += socks->type == 3;
    lie(x, &p);
    unsigned code = p.has_reply                      ? p.reply
                    : p.has_final && p.status >= 400 ? 1
                                                     : code_of(socks, kind);
    p.mute |= kind == PORT_HOLE && code == 2;
    right[1] = (char)code;
    note_passage(x, code);
    seine_err e = reply(x, &p, (sn_str){right, sizeof right}, code == 0, out_response);
    if (e == SEINE_OK && out_response->keep && kind <= PORT_HTTPS) {
        lead_tunnel(x, kind, out_to);
        x->w->witness.tunnels++;
    }
    return e;
}

seine_err
snc_proxy_socks(snc_world *w, const snc_visitor *v, snc_socks *socks, seine_time now,
                snc_response *out_response, snc_passage *out_to)
{
    static const snc_request nothing = {
        .method = {"SOCKS", 5}, .target = {"/", 1}, .path = {"/", 1}, .keep_alive = true};
    wish x = {.w = w, .v = v, .req = &nothing, .how = "socks", .now = now};

    sn_arena_reset(&w->arena);
    *out_to = (snc_passage){SNC_WAY_NONE, ""};
    if (socks->login_len > 0)
        x.login = (sn_str){socks->login, socks->login_len};
    if (socks->at == SNC_SOCKS_HELLO) {
        x.hit = count_host(w, SN_STR("greeting"));
        return answer_hello(&x, socks, out_response);
    }
    if (socks->at == SNC_SOCKS_LOGIN) {
        x.hit = count_host(w, SN_STR("login"));
        snc_secret_leaks_search(&w->leaks,
                                snc_proxy_origin(w, v, "socks5", w->socks_port),
                                SN_STR(""), "socks login", x.login);
        return answer_login(&x, socks, out_response);
    }
    x.host = sn_str_of(socks->host);
    x.port = socks->port;
    x.hit = count_host(w, x.host);
    return answer_request(&x, socks, out_response, out_to);
}
