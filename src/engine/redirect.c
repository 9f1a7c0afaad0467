/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/redirect.h"

#include <string.h>

#include "base/redact.h"
#include "net/address_guard.h"

bool
sn_redirect_is(uint16_t status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static bool
is_part(seine_view part, sn_str text)
{
    return sn_str_eq(part, text);
}

bool
sn_redirect_is_same_origin(const seine_url *a, const seine_url *b)
{
    seine_view scheme = seine_url_scheme(b), host = seine_url_host(b);

    return is_part(seine_url_scheme(a), scheme) && is_part(seine_url_host(a), host) &&
           seine_url_port(a) == seine_url_port(b);
}

/* The Fetch standard, "HTTP-redirect fetch", 11: HEAD stays HEAD. */
static bool
becomes_get(uint16_t status, sn_str method)
{
    if (status == 303)
        return !sn_str_eq(method, SN_STR("GET")) && !sn_str_eq(method, SN_STR("HEAD"));
    return (status == 301 || status == 302) && sn_str_eq(method, SN_STR("POST"));
}

/* May the target be asked, by its text? Its address is judged when it is known. */
static seine_err
judge_target(const sn_redirect *r, const seine_url *to, bool keeps_body)
{
    bool https = is_part(seine_url_scheme(to), SN_STR("https"));

    if (!https && !is_part(seine_url_scheme(to), SN_STR("http")))
        return SEINE_E_BLOCKED_SCHEME;
    if (r->https_only && !https)
        return SEINE_E_REDIRECT_REFUSED;
    if (keeps_body && !r->follow_body && !sn_redirect_is_same_origin(r->from, to))
        return SEINE_E_REDIRECT_REFUSED;
    /* Somebody else named the port, unless it is the one we are at already. */
    if (seine_url_port(to) != seine_url_port(r->from) &&
        sn_address_guard_blocks_port((uint16_t)seine_url_port(to)))
        return SEINE_E_BLOCKED_PORT;
    return SEINE_OK;
}

seine_err
sn_redirect_next(const sn_redirect *r, seine_url *out_url, bool *out_get)
{
    bool as_get = becomes_get(r->status, r->method);

    if (r->hops >= r->max)
        return SEINE_E_TOO_MANY_REDIRECTS;
    if (r->location.len == 0 || r->n_locations > 1)
        return SEINE_E_BAD_REDIRECT;
    seine_err e =
        seine_url_resolve(out_url, r->from, r->location.ptr, r->location.len, NULL);
    if (e != SEINE_OK)
        return e == SEINE_E_NOMEM ? e : SEINE_E_BAD_REDIRECT;
    e = judge_target(r, out_url, r->has_body && !as_get);
    if (e != SEINE_OK)
        return e;
    seine_url_drop_user(out_url);
    seine_url_drop_fragment(out_url);
    *out_get = as_get;
    return SEINE_OK;
}

static bool
is_one_of(sn_str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sn_str_eq_nocase(name, sn_str_of(list[i])))
            return true;
    return false;
}

sn_reach
sn_redirect_reach(sn_str field)
{
    static const char *const all[] = {"User-Agent", "From", "Accept", "Accept-Language",
                                      "Accept-Encoding"};
    static const char *const url[] = {"If-None-Match", "If-Modified-Since",   "If-Match",
                                      "If-Range",      "If-Unmodified-Since", "Range"};

    if (is_one_of(field, all, sizeof all / sizeof *all))
        return SN_REACH_ALL;
    if (is_one_of(field, url, sizeof url / sizeof *url))
        return SN_REACH_URL;
    if (sn_str_starts_nocase(field, SN_STR("Content-")))
        return SN_REACH_BODY;
    if (sn_str_eq_nocase(field, SN_STR("Referer")))
        return SN_REACH_REFERER;
    return SN_REACH_ORIGIN;
}

static bool
is_https(const seine_url *u)
{
    return is_part(seine_url_scheme(u), SN_STR("https"));
}

sn_str
sn_redirect_referer(sn_str referer, const seine_url *to, char *mem)
{
    seine_url from;

    seine_url_init(&from, mem, SEINE_URL_ROOM);
    if (seine_url_parse(&from, referer.ptr, referer.len, NULL) != SEINE_OK ||
        (!is_https(&from) && !is_part(seine_url_scheme(&from), SN_STR("http"))) ||
        (is_https(&from) && !is_https(to)))
        return (sn_str){0};
    seine_url_drop_user(&from);
    seine_url_drop_fragment(&from);
    seine_view href = seine_url_href(&from);
    if (sn_redirect_is_same_origin(&from, to))
        return href;
    seine_view path = seine_url_path(&from);
    return (sn_str){href.ptr, (size_t)(path.ptr - href.ptr) + 1};
}

size_t
sn_redirect_bare(char *referer, size_t n)
{
    sn_str user = sn_redact_user((sn_str){referer, n});

    if (user.len > 0) {
        char *at = referer + (user.ptr - referer);

        memmove(at, at + user.len, n - (size_t)(at - referer) - user.len);
        n -= user.len;
    }
    return sn_str_find((sn_str){referer, n}, '#');
}
