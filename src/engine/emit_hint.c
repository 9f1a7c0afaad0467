/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a failure. A hint names the option that decided, and no other: each of
 * several limits is known by the figures of the visit. */
#include <string.h>

#include "engine/emit.h"

/* The limit that was hit is this option's. */
static bool
is_limit(const sn_fault *f, seine_span limit)
{
    return f->timeout_ms > 0 && f->timeout_ms == limit / SEINE_MS(1);
}

static const char *
hint_connect(const sn_fault *f, const seine_fetch_opts *o)
{
    return is_limit(f, o->tcp_timeout) && !is_limit(f, o->connect_timeout)
               ? "check the network, or raise @tcp_timeout"
               : "check the network, or raise @connect_timeout";
}

static const char *
hint_tls_timeout(const sn_fault *f, const seine_fetch_opts *o)
{
    return is_limit(f, o->tls_timeout) && !is_limit(f, o->connect_timeout)
               ? "raise @tls_timeout"
               : "raise @connect_timeout";
}

static const char *
hint_dns_timeout(const sn_fault *f, const seine_fetch_opts *o)
{
    return is_limit(f, o->connect_timeout) && !is_limit(f, o->dns_timeout)
               ? "check the name server, or raise @connect_timeout"
               : "check the name server, name another by @dns, or raise @dns_timeout";
}

static const char *
hint_head_timeout(const sn_visit *v, const seine_fetch_opts *o)
{
    return o->mine && v->at_home ? "raise @head_timeout or lower @concurrency"
                                 : "raise @head_timeout or lower @per_host";
}

/* An attempt has the time of its own line of input, or that of the options. */
static const char *
hint_timeout(const sn_visit *v, const seine_fetch_opts *o)
{
    return v->timeout != o->timeout && (v->has_timeout || !v->policy) &&
                   !is_limit(&v->fault, o->timeout)
               ? "raise the timeout that was given with this URL"
               : "raise @timeout";
}

static const char *
hint_status(const sn_visit *v, const seine_fetch_opts *o)
{
    switch (v->fault.status) {
    case 401:
        return "send an Authorization header: @fields";
    case 403:
        return "the server says no to who asks: log in, or tell it who you are: "
               "@user_agent";
    case 404:
    case 410:
        return v->referrer ? "the page that links there, or its site, must change"
                           : "check the path of the URL";
    case 429:
        return o->mine && v->at_home ? "ask more slowly: @rate, or without @mine"
                                     : "lower @host_rate";
    default:
        return NULL;
    }
}

static const char *
hint_size(const sn_visit *v, const seine_fetch_opts *o)
{
    if (v->end.wire_bytes > o->max_wire)
        return "raise @max_wire";
    uint64_t most = v->policy ? v->policy->limits.max_body : o->max_body;
    if (v->end.body_bytes >= most || v->kept.err == SEINE_E_FULL)
        return "raise @max_body";
    return "it unpacks as bombs do; raise @max_ratio if you trust it";
}

/* A chain that comes back to a URL of its own needs no larger number. */
static const char *
hint_redirects(const sn_visit *v, const seine_fetch_opts *o)
{
    seine_view last = seine_url_href(&v->url);

    for (uint32_t i = 0; i < v->n_hops; i++)
        if (v->hops[i].url.len == last.len &&
            memcmp(v->hops[i].url.ptr, last.ptr, last.len) == 0)
            return "the redirects lead in a circle: tell the site";
    return o->crawl ? "raise @max_redirects, unless they lead in a circle"
                    : "raise @max_redirects";
}

static const char *
hint_redirect_refused(const sn_visit *v, const seine_fetch_opts *o)
{
    return o->https_only && sn_str_starts(v->location, SN_STR("http:"))
               ? "it leads to http, which @https_only forbids"
               : "@follow_body sends the body on to the other origin";
}

/* The end of an attempt says whether memory was short; otherwise the run was over. */
static const char *
hint_budget(const sn_visit *v, const seine_fetch_opts *o)
{
    return o->max_bytes > 0 && v->end.fault.code != SEINE_E_BUDGET
               ? "raise @max_bytes"
               : "raise @max_memory or lower @concurrency";
}

static const char *
hint_network(const sn_visit *v, const seine_fetch_opts *o)
{
    const sn_fault *f = &v->fault;

    switch (f->code) {
    case SEINE_E_DNS_NXDOMAIN:
    case SEINE_E_DNS_BAD_NAME:
        return "check the host name";
    case SEINE_E_DNS_TIMEOUT:
        return hint_dns_timeout(f, o);
    case SEINE_E_DNS_SERVFAIL:
    case SEINE_E_DNS_ERROR:
        return "check the name server, or name another: @dns ADDR";
    case SEINE_E_CONNECT_REFUSED:
        return "nothing listens there: check host and port";
    case SEINE_E_CONNECT_TIMEOUT:
        return hint_connect(f, o);
    case SEINE_E_CONNECT_UNREACHABLE:
        return "check the network";
    case SEINE_E_TLS_TIMEOUT:
        return hint_tls_timeout(f, o);
    case SEINE_E_TLS_ERROR:
        return o->tls_min == 13 ? "the server may have TLS 1.2 alone: @tls_min"
                                : "if that port speaks plain HTTP, ask with http://";
    case SEINE_E_TLS_CERT_EXPIRED:
    case SEINE_E_TLS_HOST_MISMATCH:
        return "tell the site; for this host alone: @insecure_hosts=HOST";
    case SEINE_E_TLS_UNTRUSTED:
        return "@cacert FILE if you know who signed it, or @insecure_hosts=HOST";
    case SEINE_E_PROXY_ERROR:
        return o->proxy ? "check @proxy" : "check http_proxy, https_proxy, all_proxy";
    case SEINE_E_PROXY_REFUSED:
        return "the proxy says no; straight there: @no_proxy HOST";
    case SEINE_E_PROXY_AUTH:
        return "@proxy http://USER:PASSWORD@HOST:PORT";
    default:
        return NULL;
    }
}

static const char *
hint_response(const sn_visit *v, const seine_fetch_opts *o)
{
    switch (v->fault.code) {
    case SEINE_E_HEADER_TIMEOUT:
        return hint_head_timeout(v, o);
    case SEINE_E_TIMEOUT:
        return hint_timeout(v, o);
    case SEINE_E_STALLED:
        return "lower @speed_bytes, or off";
    case SEINE_E_HTTP:
    case SEINE_E_HTTP_BUSY:
        return hint_status(v, o);
    case SEINE_E_BAD_ENCODING:
        return "@raw_encoding takes the bytes as they are";
    case SEINE_E_BODY_TOO_LARGE:
        return hint_size(v, o);
    case SEINE_E_TOO_MANY_REDIRECTS:
        return hint_redirects(v, o);
    case SEINE_E_REDIRECT_REFUSED:
        return hint_redirect_refused(v, o);
    default:
        return NULL;
    }
}

/* Our own limits and rules. */
static const char *
hint_local(const sn_visit *v, const seine_fetch_opts *o)
{
    switch (v->fault.code) {
    case SEINE_E_BLOCKED_ADDRESS:
        return "@allow_net CIDR if you trust who named it";
    case SEINE_E_RETRY_AFTER_TOO_LONG:
        return "try later, or raise @max_retry_after";
    case SEINE_E_BREAKER:
        return "the host kept failing: try later, or @breaker off";
    case SEINE_E_BUDGET:
        return hint_budget(v, o);
    case SEINE_E_NOMEM:
        return "this machine has no more: lower @concurrency or @max_memory";
    case SEINE_E_NO_FILES:
        return "ulimit -n, or lower @concurrency";
    case SEINE_E_NO_PORTS:
        return "lower @concurrency";
    default:
        return NULL;
    }
}

const char *
sn_emit_hint(const sn_visit *v, const seine_fetch_opts *o)
{
    const char *hint = hint_network(v, o);

    if (!hint)
        hint = hint_response(v, o);
    return hint ? hint : hint_local(v, o);
}
