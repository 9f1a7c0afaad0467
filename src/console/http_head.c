/* SPDX-License-Identifier: Apache-2.0 */
/* http_head.c - a request whose head is there: who asks, for what, and may they? */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "console/access.h"
#include "console/http_daemon_parts.h"
#include "gate/client_address.h"

enum { FORWARDED = 8 };

/* The last fields of X-Forwarded-For: a proxy may append one of its own, whatever the
 * client has sent before. */
typedef struct forwarded {
    sn_str values[FORWARDED]; /* the n-th is at n % FORWARDED */
    size_t n;
} forwarded;

static enum MHD_Result
on_forwarded(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    forwarded *f = cls;

    (void)kind;
    if (sn_str_eq_nocase(sn_str_of(name), SN_STR("x-forwarded-for")) && value)
        f->values[f->n++ % FORWARDED] = sn_str_of(value);
    return MHD_YES;
}

/* Behind a proxy the client is the rightmost address that is not trusted. A proxy on a
 * Unix socket is trusted as such. */
static void
name_forwarded(sn_mhd_request *r, const struct sockaddr *at)
{
    forwarded all = {.n = 0};
    sn_forwarded f;
    sn_ip ip = {.v = 4, .bytes = {127, 0, 0, 1}};
    char text[SN_CIDR_TEXT];

    if (at && !sn_ip_of(at, &ip))
        return;
    sn_ip_plain(&ip);
    MHD_get_connection_values(r->of, MHD_HEADER_KIND, on_forwarded, &all);
    sn_forwarded_begin(&f, &ip, &r->daemon->trusted);
    for (size_t i = 0; i < FORWARDED && i < all.n; i++)
        sn_forwarded_add(&f, all.values[(all.n - 1 - i) % FORWARDED]);
    if (sn_ip_eq(&f.client, &ip))
        return;
    sn_cidr_text(&(sn_cidr){f.client, f.client.v == 4 ? 32 : 128}, text);
    text[strcspn(text, "/")] = '\0';
    snprintf(r->call.peer, SN_PEER, "%s", text);
    r->call.is_loopback = false;
}

static void
name_peer(sn_mhd_request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->of, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *at = info ? info->client_addr : NULL;
    char *peer = r->call.peer;

    snprintf(peer, SN_PEER, "local");
    r->call.is_loopback = true;
    if (r->daemon->is_unix || !at) {
        if (r->daemon->console->opts.behind_proxy)
            name_forwarded(r, NULL);
        return;
    }
    socklen_t len = at->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                              : sizeof(struct sockaddr_in);
    if (getnameinfo(at, len, peer, SN_PEER, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(peer, SN_PEER, "unknown");
    r->call.is_loopback = strncmp(peer, "127.", 4) == 0 || strcmp(peer, "::1") == 0;
    if (r->daemon->console->opts.behind_proxy)
        name_forwarded(r, at);
}

/* The head. */

typedef struct head {
    sn_mhd_request *r;
    unsigned hosts, lengths, codings, origins;
    sn_str host, length, coding, origin, fetch_site, type, authorization;
} head;

static enum MHD_Result
on_field(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    head *h = cls;
    sn_call *call = &h->r->call;
    sn_str n = sn_str_of(name), v = {value ? value : "", value ? strlen(value) : 0};

    (void)kind;
#define IS(text) sn_str_eq_nocase(n, SN_STR(text))
    if (IS("host"))
        h->hosts++, h->host = v;
    else if (IS("content-length"))
        h->lengths++, h->length = v;
    else if (IS("transfer-encoding"))
        h->codings++, h->coding = v;
    else if (IS("origin"))
        h->origins++, h->origin = v;
    else if (IS("sec-fetch-site"))
        h->fetch_site = v;
    else if (IS("content-type"))
        h->type = v;
    else if (IS("authorization"))
        h->authorization = v;
    else if (IS("accept-encoding"))
        call->accept_encoding = v;
    else if (IS("accept"))
        call->accept = v;
    else if (IS("if-none-match"))
        call->if_none_match = v;
    else if (IS("traceparent"))
        call->traceparent = v;
#undef IS
    return MHD_YES;
}

sn_str
sn_call_field(const sn_call *call, const char *name)
{
    const sn_mhd_request *r =
        (const sn_mhd_request *)(const void *)((const char *)call -
                                               offsetof(sn_mhd_request, call));
    const char *value = MHD_lookup_connection_value(r->of, MHD_HEADER_KIND, name);

    return value ? sn_str_of(value) : (sn_str){NULL, 0};
}

void
sn_mhd_refuse(sn_mhd_request *r, int status, sn_api_error error, const char *why)
{
    if (r->call.reply.status)
        return;
    sn_call_fail(&r->call, error, why, NULL);
    r->call.reply.status = (uint16_t)status;
    r->call.reply.close = true;
}

/* What the library reads more kindly than a proxy in front might. */
static void
check_framing(sn_mhd_request *r, const head *h)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->of, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    uint64_t length;

    if (r->has_long_target)
        sn_mhd_refuse(r, 414, SN_API_TOO_LARGE, "the target is longer than 4 KiB");
    else if (!info || info->header_size > SN_HEAD_MOST)
        sn_mhd_refuse(r, 431, SN_API_TOO_LARGE, "the head is longer than 16 KiB");
    else if (h->hosts != 1)
        sn_mhd_refuse(r, 400, SN_API_BAD_MESSAGE, "a request has one Host field");
    else if (h->lengths > 1 || h->codings > 1 || (h->lengths && h->codings))
        sn_mhd_refuse(r, 400, SN_API_BAD_MESSAGE, "the length of the body is not clear");
    else if (h->codings && !sn_str_eq_nocase(h->coding, SN_STR("chunked")))
        sn_mhd_refuse(r, 400, SN_API_BAD_MESSAGE, "the only transfer coding is chunked");
    else if (h->lengths && sn_str_u64(h->length, &length) != SEINE_OK)
        sn_mhd_refuse(r, 400, SN_API_BAD_MESSAGE, "Content-Length is not a number");
}

static void
check_place(sn_mhd_request *r, const head *h)
{
    if (r->call.reply.status)
        return;
    if (sn_request_rules_host(&r->daemon->rules, h->host) != 0)
        sn_mhd_refuse(r, 421, SN_API_FORBIDDEN, "Host is not a name of this server");
    else if (h->origins > 1 ||
             sn_request_rules_origin(&r->daemon->rules, h->host,
                                     h->origins ? h->origin : (sn_str){NULL, 0}) != 0)
        sn_mhd_refuse(r, 403, SN_API_FORBIDDEN, "Origin is another site");
}

static void
find_route(sn_mhd_request *r, sn_str method)
{
    sn_call *call = &r->call;
    sn_route_match m = {.route = NULL};
    sn_str target = sn_str_of(r->target);
    sn_method of = SN_GET;
    bool is_known = sn_method_parse(method, &of);

    if (call->reply.status)
        return;
    call->method = of;
    sn_str_cut(target, '?', &call->path, &call->query);
    switch (sn_route_find(is_known ? of : SN_METHODS, call->path, &call->arena, &m)) {
    case SN_ROUTE_FOUND:
        call->route = m.route;
        memcpy(call->param, m.param, sizeof m.param);
        break;
    case SN_ROUTE_NO_METHOD:
        memcpy(call->reply.allow, m.allow, sizeof m.allow);
        sn_mhd_refuse(r, 405, SN_API_NO_METHOD, "this path has other methods");
        break;
    case SN_ROUTE_NOMEM:
        sn_mhd_refuse(r, 503, SN_API_UNAVAILABLE, "no memory");
        break;
    case SN_ROUTE_NOWHERE:
        sn_mhd_refuse(r, 404, SN_API_NOT_FOUND, "there is no such path");
    }
}

static void
check_unsafe(sn_mhd_request *r, const head *h)
{
    if (r->call.reply.status || r->call.method == SN_GET)
        return;
    int status = sn_request_rules_unsafe(h->type, h->fetch_site);
    if (status == 415)
        sn_mhd_refuse(r, 415, SN_API_BAD_TYPE, "send Content-Type: application/json");
    else if (status)
        sn_mhd_refuse(r, 403, SN_API_FORBIDDEN, "the request comes from another site");
}

static void
check_user(sn_mhd_request *r, const head *h)
{
    sn_call *call = &r->call;
    uint32_t retry_s = 1;

    if (call->reply.status)
        return;
    sn_str token = {NULL, 0};
    if (sn_str_starts_nocase(h->authorization, SN_STR("bearer ")))
        token = sn_str_trim(sn_str_slice(h->authorization, 7, h->authorization.len));
    if (call->route->role == SN_ROLE_NONE && !token.ptr)
        return;
    seine_err e = sn_access_login(call->console, token, call->peer, &call->user);
    if (call->route->role == SN_ROLE_NONE)
        return;
    if (e == SEINE_E_LIMITED) {
        call->reply.retry_after = 60;
        sn_mhd_refuse(r, 429, SN_API_RATE_LIMITED,
                      "too many wrong tokens from this address");
    } else if (e != SEINE_OK)
        sn_mhd_refuse(r, 401, SN_API_UNAUTHORIZED,
                      token.ptr ? "the token is wrong, expired or revoked"
                                : "send Authorization: Bearer and a token");
    else if (call->user.role < call->route->role)
        sn_mhd_refuse(r, 403, SN_API_FORBIDDEN, "the role of this token is too low");
    else if (!sn_access_spend(call->console, &call->user, &retry_s)) {
        call->reply.retry_after = retry_s;
        sn_mhd_refuse(r, 429, SN_API_RATE_LIMITED, "too many calls with this token");
    }
}

static void
check_body(sn_mhd_request *r, const head *h)
{
    uint64_t length = 0;

    if (r->call.reply.status)
        return;
    if (h->lengths && sn_str_u64(h->length, &length) != SEINE_OK)
        length = UINT64_MAX;
    if (length > r->call.route->body)
        sn_mhd_refuse(r, 413, SN_API_TOO_LARGE, "the body is too long");
    sn_buf_init(&r->body, r->call.route->body);
}

void
sn_mhd_check_head(sn_mhd_request *r, const char *method)
{
    head h = {.r = r};

    name_peer(r);
    if (!r->target) {
        sn_mhd_refuse(r, 503, SN_API_UNAVAILABLE, "no memory");
        return;
    }
    MHD_get_connection_values(r->of, MHD_HEADER_KIND, on_field, &h);
    check_framing(r, &h);
    check_place(r, &h);
    find_route(r, sn_str_of(method));
    check_unsafe(r, &h);
    check_user(r, &h);
    check_body(r, &h);
}
