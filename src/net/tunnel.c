/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tunnel.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 255
#define OUT_MOST  4096

enum {
    AT_CONNECT, /* reading the head of the reply */
    AT_METHOD,
    AT_LOGIN,
    AT_REPLY,
    AT_OPEN,
    AT_FAILED,
};

enum { VERSION = 5, LOGIN_VERSION = 1, NO_LOGIN = 0, BY_LOGIN = 2, NO_METHOD = 0xff };
enum { CONNECT = 1, IS_IPV4 = 1, IS_NAME = 3, IS_IPV6 = 4 };

static sn_tunnel_event
fail_tunnel(sn_tunnel *t, seine_err e, const char *what)
{
    t->state = AT_FAILED;
    t->err = e;
    sn_proxy_tell(t->proxy, what, t->text);
    return SN_TUNNEL_FAIL;
}

static sn_tunnel_event
open_it(sn_tunnel *t, sn_str rest)
{
    if (t->said < t->out.len)
        return fail_tunnel(t, SEINE_E_PROXY_ERROR, "answered before it was asked");
    if (rest.len > 0)
        return fail_tunnel(t, SEINE_E_PROXY_ERROR, "bytes behind its answer");
    t->state = AT_OPEN;
    t->answered = true;
    return SN_TUNNEL_OPEN;
}

/* CONNECT. */

static seine_err
say_connect(sn_tunnel *t)
{
    const sn_proxy *p = t->proxy;
    char at[NAME_MOST + 16];
    bool v6 = sn_str_find(t->to.name, ':') < t->to.name.len;
    int n = snprintf(at, sizeof at, "%s%.*s%s:%u", v6 ? "[" : "", SN_FMT(t->to.name),
                     v6 ? "]" : "", t->to.port);

    return sn_h1_write(&(sn_h1_request){.method = SN_STR("CONNECT"),
                                        .form = SN_H1_AUTHORITY,
                                        .host = {at, (size_t)n},
                                        .authorization = p->authorization},
                       &t->out);
}

/* The reply is invalid; local errors stay as they are. */
static sn_tunnel_event
fail_head(sn_tunnel *t, seine_err e)
{
    char what[64];

    if (seine_err_class(e) == SEINE_LOCAL) {
        t->state = AT_FAILED;
        t->err = e;
        return SN_TUNNEL_FAIL;
    }
    snprintf(what, sizeof what, "%s", seine_err_text(e));
    return fail_tunnel(t, SEINE_E_PROXY_ERROR, what);
}

/* Statuses that may be others at the next attempt: the proxy could not reach the host, or
 * is busy. */
static bool
may_pass(uint16_t status)
{
    return status == 408 || status == 429 || status == 500 ||
           (status >= 502 && status <= 504);
}

static sn_tunnel_event
judge_status(sn_tunnel *t)
{
    char what[32];

    t->status = t->head.status;
    if (t->status == 407)
        return fail_tunnel(t, SEINE_E_PROXY_AUTH,
                           t->proxy->authorization.len > 0 ? "refuses the login (407)"
                                                           : "wants a login (407)");
    t->answered = true;
    snprintf(what, sizeof what, "answered %u", t->status);
    return fail_tunnel(
        t, may_pass(t->status) ? SEINE_E_PROXY_ERROR : SEINE_E_PROXY_REFUSED, what);
}

static sn_tunnel_event
receive_connect(sn_tunnel *t, sn_str in)
{
    sn_str piece;

    switch (sn_h1_next(&t->h1, &in, &piece)) {
    case SN_H1_MORE:
        return SN_TUNNEL_MORE;
    case SN_H1_FAIL:
        return fail_head(t, t->h1.err);
    default:
        break;
    }
    if (t->head.status / 100 != 2)
        return judge_status(t);
    t->status = t->head.status;
    return open_it(t, in);
}

/* SOCKS. */

/* Starts the next message; all earlier ones are sent. */
static void
begin_message(sn_tunnel *t)
{
    sn_buf_reset(&t->out);
    t->said = t->n_in = 0;
}

static void
say_hello(sn_tunnel *t)
{
    bool login = t->proxy->user.len > 0;

    sn_buf_char(&t->out, VERSION);
    sn_buf_char(&t->out, login ? 2 : 1);
    sn_buf_char(&t->out, NO_LOGIN);
    if (login)
        sn_buf_char(&t->out, BY_LOGIN);
    t->state = AT_METHOD;
}

static void
say_login(sn_tunnel *t)
{
    begin_message(t);
    sn_buf_char(&t->out, LOGIN_VERSION);
    sn_buf_char(&t->out, (char)t->proxy->user.len);
    sn_buf_str(&t->out, t->proxy->user);
    sn_buf_char(&t->out, (char)t->proxy->pass.len);
    sn_buf_str(&t->out, t->proxy->pass);
    t->state = AT_LOGIN;
}

static void
say_request(sn_tunnel *t)
{
    const sn_ip *ip = &t->to.ip;
    uint8_t port[2] = {(uint8_t)(t->to.port >> 8), (uint8_t)t->to.port};

    begin_message(t);
    sn_buf_add(&t->out, (const char[]){VERSION, CONNECT, 0}, 3);
    if (ip->v == 0) {
        sn_buf_char(&t->out, IS_NAME);
        sn_buf_char(&t->out, (char)t->to.name.len);
        sn_buf_str(&t->out, t->to.name);
    } else {
        sn_buf_char(&t->out, ip->v == 4 ? IS_IPV4 : IS_IPV6);
        sn_buf_add(&t->out, ip->bytes, ip->v == 4 ? 4 : 16);
    }
    sn_buf_add(&t->out, port, 2);
    t->state = AT_REPLY;
}

/* The reply must be one of the methods that we offered. */
static sn_tunnel_event
on_method(sn_tunnel *t)
{
    bool login = t->proxy->user.len > 0;

    if (t->in[1] == NO_METHOD)
        return fail_tunnel(t, SEINE_E_PROXY_AUTH,
                           login ? "takes no login (method 255)"
                                 : "wants a login (method 255)");
    if (t->in[1] == BY_LOGIN && login)
        say_login(t);
    else if (t->in[1] == NO_LOGIN)
        say_request(t);
    else
        return fail_tunnel(t, SEINE_E_PROXY_ERROR, "chose a method that was not offered");
    return SN_TUNNEL_MORE;
}

static sn_tunnel_event
on_login(sn_tunnel *t)
{
    if (t->in[1] != 0)
        return fail_tunnel(t, SEINE_E_PROXY_AUTH, "refuses the login");
    say_request(t);
    return SN_TUNNEL_MORE;
}

/* RFC 1928, 6. */
static sn_tunnel_event
on_refusal(sn_tunnel *t)
{
    static const struct {
        seine_err err;
        const char *what;
    } rows[] = {
        [1] = {SEINE_E_PROXY_ERROR, "general failure"},
        [2] = {SEINE_E_PROXY_REFUSED, "not allowed by its rules"},
        [3] = {SEINE_E_PROXY_ERROR, "network unreachable"},
        [4] = {SEINE_E_PROXY_ERROR, "host unreachable"},
        [5] = {SEINE_E_PROXY_ERROR, "connection refused"},
        [6] = {SEINE_E_PROXY_ERROR, "time to live expired"},
        [7] = {SEINE_E_PROXY_REFUSED, "command not supported"},
        [8] = {SEINE_E_PROXY_REFUSED, "address type not supported"},
    };
    bool known = t->in[1] < sizeof rows / sizeof *rows;
    char what[48];

    t->status = t->in[1];
    t->answered = known;
    snprintf(what, sizeof what, "%s (reply %u)",
             known ? rows[t->in[1]].what : "unknown failure", t->in[1]);
    return fail_tunnel(t, known ? rows[t->in[1]].err : SEINE_E_PROXY_ERROR, what);
}

/* Returns the length of the message, as far as the bytes so far determine it. */
static size_t
length(const sn_tunnel *t)
{
    if (t->state != AT_REPLY || t->n_in < 2)
        return 2;
    if (t->n_in < 5)
        return 5;
    return t->in[3] == IS_IPV4   ? 4 + 4 + 2
           : t->in[3] == IS_IPV6 ? 4 + 16 + 2
                                 : 4 + 1 + (size_t)t->in[4] + 2;
}

/* True if the last byte is valid. */
static bool
is_sound(const sn_tunnel *t)
{
    size_t at = t->n_in - 1;
    uint8_t c = t->in[at];

    if (at == 0)
        return c == (t->state == AT_LOGIN ? LOGIN_VERSION : VERSION);
    if (t->state == AT_REPLY && at == 2)
        return c == 0;
    if (t->state == AT_REPLY && at == 3)
        return c == IS_IPV4 || c == IS_NAME || c == IS_IPV6;
    return true;
}

/* A message is complete, or the last byte is already a refusal. */
static sn_tunnel_event
on_message(sn_tunnel *t, sn_str rest)
{
    if (t->state == AT_REPLY)
        return open_it(t, rest);
    sn_tunnel_event event = t->state == AT_METHOD ? on_method(t) : on_login(t);
    if (event == SN_TUNNEL_MORE && rest.len > 0)
        return fail_tunnel(t, SEINE_E_PROXY_ERROR, "answered before it was asked");
    return event;
}

static sn_tunnel_event
receive_socks(sn_tunnel *t, sn_str in)
{
    if (t->said < t->out.len)
        return fail_tunnel(t, SEINE_E_PROXY_ERROR, "answered before it was asked");
    for (size_t i = 0; i < in.len; i++) {
        t->in[t->n_in++] = (uint8_t)in.ptr[i];
        if (!is_sound(t))
            return fail_tunnel(t, SEINE_E_PROXY_ERROR, "does not speak SOCKS5");
        if (t->state == AT_REPLY && t->n_in == 2 && t->in[1] != 0)
            return on_refusal(t);
        if (t->n_in == length(t))
            return on_message(t, sn_str_slice(in, i + 1, in.len));
    }
    return SN_TUNNEL_MORE;
}

/* Both protocols. */

seine_err
sn_tunnel_init(sn_tunnel *t, const sn_proxy *proxy, const sn_tunnel_to *to,
               seine_held *held)
{
    bool socks = proxy->kind == SN_PROXY_SOCKS5 || proxy->kind == SN_PROXY_SOCKS5H;
    seine_err e = SEINE_OK;

    *t = (sn_tunnel){.proxy = proxy, .to = *to, .state = AT_CONNECT};
    if (to->name.len > NAME_MOST || (to->name.len == 0 && (!socks || to->ip.v == 0)))
        return SEINE_E_INVAL;
    sn_buf_init_secret(&t->out, OUT_MOST);
    sn_head_init(&t->head, held);
    if (socks) {
        say_hello(t);
        /* Reserves room for all later messages, so that nothing can fail from here on. */
        if (sn_buf_reserve(&t->out, 3 + 2 * NAME_MOST))
            sn_buf_commit(&t->out, 0);
        e = sn_buf_done(&t->out);
    } else {
        sn_h1_begin(&t->h1, &t->head,
                    &(sn_h1_ask){.tunnel = true, .conditional = true, .range = true});
        e = say_connect(t);
    }
    if (e != SEINE_OK)
        sn_tunnel_fini(t);
    return e;
}

void
sn_tunnel_fini(sn_tunnel *t)
{
    sn_buf_fini(&t->out);
    sn_head_fini(&t->head);
}

sn_str
sn_tunnel_output(const sn_tunnel *t)
{
    return t->state < AT_OPEN ? sn_str_slice(sn_buf_view(&t->out), t->said, t->out.len)
                              : (sn_str){0};
}

void
sn_tunnel_sent(sn_tunnel *t, size_t n)
{
    t->said += n;
}

sn_tunnel_event
sn_tunnel_receive(sn_tunnel *t, sn_str in)
{
    if (t->state >= AT_OPEN)
        return t->state == AT_OPEN ? SN_TUNNEL_OPEN : SN_TUNNEL_FAIL;
    if (in.len == 0)
        return SN_TUNNEL_MORE;
    return t->state == AT_CONNECT ? receive_connect(t, in) : receive_socks(t, in);
}

sn_tunnel_event
sn_tunnel_lost(sn_tunnel *t)
{
    return t->state == AT_FAILED
               ? SN_TUNNEL_FAIL
               : fail_tunnel(t, SEINE_E_PROXY_ERROR, "closed the connection");
}
