/* SPDX-License-Identifier: Apache-2.0 */
#include "console/request_rules.h"

#include <stdio.h>
#include <string.h>

static void
add_host(sn_request_rules *r, sn_str host)
{
    char *to = r->hosts[r->n_hosts];

    if (r->n_hosts == sizeof r->hosts / sizeof *r->hosts || host.len >= sizeof *r->hosts)
        return;
    for (size_t i = 0; i < host.len; i++)
        to[i] = sn_lower(host.ptr[i]);
    to[host.len] = '\0';
    r->n_hosts++;
}

/* scheme://host[:port] and nothing behind it. */
static bool
read_origin(sn_request_rules *r, sn_str origin)
{
    sn_str host;

    if (sn_str_starts(origin, SN_STR("https://")))
        host = sn_str_slice(origin, 8, origin.len);
    else if (sn_str_starts(origin, SN_STR("http://")))
        host = sn_str_slice(origin, 7, origin.len);
    else
        return false;
    if (host.len == 0 || host.len >= sizeof r->origin_host)
        return false;
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];

        if (!sn_is_digit(c) && !(c >= 'a' && c <= 'z') && !memchr(".-:[]", c, 5))
            return false;
    }
    snprintf(r->origin, sizeof r->origin, "%.*s", SN_FMT(origin));
    snprintf(r->origin_host, sizeof r->origin_host, "%.*s", SN_FMT(host));
    return true;
}

static void
add_address(sn_request_rules *r, sn_str where)
{
    const char *colon = memrchr(where.ptr, ':', where.len);
    sn_str port = sn_str_slice(where, (size_t)(colon - where.ptr) + 1, where.len);
    char local[24];

    add_host(r, where);
    snprintf(local, sizeof local, "localhost:%.*s", SN_FMT(port));
    add_host(r, sn_str_of(local));
    if (sn_str_eq(port, SN_STR("80"))) { /* browsers leave the usual port out */
        add_host(r, sn_str_slice(where, 0, (size_t)(colon - where.ptr)));
        add_host(r, SN_STR("localhost"));
    }
}

seine_err
sn_request_rules_init(sn_request_rules *r, const char *where, const char *origin)
{
    sn_str at = sn_str_of(where);

    *r = (sn_request_rules){.n_hosts = 0};
    if (origin && !read_origin(r, sn_str_of(origin)))
        return SEINE_E_CONFIG;
    if (sn_str_starts(at, SN_STR("unix:"))) {
        add_host(r, SN_STR("localhost"));
        return SEINE_OK;
    }
    if (at.len == 0 || !memrchr(at.ptr, ':', at.len))
        return SEINE_E_CONFIG;
    if (sn_str_starts(at, SN_STR("0.0.0.0:")) || sn_str_starts(at, SN_STR("[::]:")))
        return origin ? SEINE_OK : SEINE_E_UNKNOWN;
    add_address(r, at);
    return SEINE_OK;
}

int
sn_request_rules_host(const sn_request_rules *r, sn_str host)
{
    if (r->origin_host[0] && sn_str_eq_nocase(host, sn_str_of(r->origin_host)))
        return 0;
    for (size_t i = 0; i < r->n_hosts; i++)
        if (sn_str_eq_nocase(host, sn_str_of(r->hosts[i])))
            return 0;
    return 421;
}

int
sn_request_rules_origin(const sn_request_rules *r, sn_str host, sn_str origin)
{
    char own[120];

    if (!origin.ptr)
        return 0;
    if (r->origin_host[0] && sn_str_eq_nocase(host, sn_str_of(r->origin_host)))
        return sn_str_eq(origin, sn_str_of(r->origin)) ? 0 : 403;
    snprintf(own, sizeof own, "http://%.*s", SN_FMT(host));
    return sn_str_eq(origin, sn_str_of(own)) ? 0 : 403;
}

int
sn_request_rules_unsafe(sn_str content_type, sn_str fetch_site)
{
    sn_str type, rest;

    if (fetch_site.ptr && !sn_str_eq(fetch_site, SN_STR("same-origin")) &&
        !sn_str_eq(fetch_site, SN_STR("none")))
        return 403;
    sn_str_cut(content_type, ';', &type, &rest);
    rest = sn_str_trim(rest);
    if (!sn_str_eq_nocase(sn_str_trim(type), SN_STR("application/json")))
        return 415;
    return rest.len == 0 || sn_str_eq_nocase(rest, SN_STR("charset=utf-8")) ? 0 : 415;
}
