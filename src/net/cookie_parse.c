/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/time.h"
#include "net/cidr.h"
#include "net/cookie.h"
#include "text/domain.h"
#include "text/idna.h"

#define SECOND INT64_C(1000000000)

static bool
has_control(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return true;
    return false;
}

/* A tab is white space at the ends and a forbidden control byte inside. */
static bool
has_forbidden(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (((unsigned char)s.ptr[i] < ' ' && s.ptr[i] != '\t') || s.ptr[i] == 0x7f)
            return true;
    return false;
}

/* Reads a number with or without sign, limited to 64 bits. */
static bool
seconds(sn_str s, int64_t *out_n)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    int64_t n = 0;

    s = sn_str_slice(s, negative, s.len);
    for (size_t i = 0; i < s.len; i++) {
        if (!sn_is_digit(s.ptr[i]))
            return false;
        n = n > INT64_MAX / 10 - 1 ? INT64_MAX / 10 - 1 : n * 10 + (s.ptr[i] - '0');
    }
    *out_n = negative ? -n : n;
    return s.len > 0;
}

/* Limits the expiry to 400 days from now. */
static int64_t
capped(int64_t at, int64_t wall)
{
    return sn_time_min(at, sn_time_add(wall, SN_COOKIE_LIFE));
}

static int64_t
in_seconds(int64_t n, int64_t wall)
{
    if (n <= 0)
        return INT64_MIN;
    return capped(sn_time_add(wall, sn_time_mul(SECOND, (uint64_t)n)), wall);
}

static int64_t
at_second(int64_t epoch, int64_t wall)
{
    if (epoch < 0)
        return INT64_MIN;
    return capped(sn_time_mul(SECOND, (uint64_t)epoch), wall);
}

/* The last valid attribute of a name counts. */
typedef struct reading {
    sn_set_cookie *set;
    int64_t wall, max_age, expires;
    bool has_max_age, has_expires;
} reading;

static void
take_same_site(sn_set_cookie *set, sn_str value)
{
    set->same_site = sn_str_eq_nocase(value, SN_STR("strict")) ? SN_SITE_STRICT
                     : sn_str_eq_nocase(value, SN_STR("lax"))  ? SN_SITE_LAX
                     : sn_str_eq_nocase(value, SN_STR("none")) ? SN_SITE_NONE
                                                               : SN_SITE_UNSET;
}

static void
take_attribute(reading *r, sn_str name, sn_str value)
{
    sn_set_cookie *set = r->set;
    int64_t n;

    if (value.len > SN_COOKIE_ATTR)
        return;
    if (sn_str_eq_nocase(name, SN_STR("expires"))) {
        if (sn_cookie_date(value, &n)) {
            r->has_expires = true;
            r->expires = at_second(n, r->wall);
        }
    } else if (sn_str_eq_nocase(name, SN_STR("max-age"))) {
        if (seconds(value, &n)) {
            r->has_max_age = true;
            r->max_age = in_seconds(n, r->wall);
        }
    } else if (sn_str_eq_nocase(name, SN_STR("domain"))) {
        sn_str domain =
            sn_str_slice(value, value.len > 0 && value.ptr[0] == '.', value.len);
        if (value.len > 0)
            set->domain = domain.len > 0 ? domain : value;
    } else if (sn_str_eq_nocase(name, SN_STR("path"))) {
        set->path = value.len > 0 && value.ptr[0] == '/' ? value : (sn_str){0};
    } else if (sn_str_eq_nocase(name, SN_STR("secure"))) {
        set->secure = true;
    } else if (sn_str_eq_nocase(name, SN_STR("httponly"))) {
        set->http_only = true;
    } else if (sn_str_eq_nocase(name, SN_STR("samesite"))) {
        take_same_site(set, value);
    }
}

seine_err
sn_cookie_parse(sn_str value, int64_t wall, sn_set_cookie *out_set)
{
    sn_set_cookie set = {.expires = SEINE_NEVER};
    reading r = {.set = &set, .wall = wall};
    sn_str pair, rest, name, text;

    if (has_forbidden(value))
        return SEINE_E_INVAL;
    sn_str_cut(value, ';', &pair, &rest);
    if (!sn_str_cut(pair, '=', &name, &text))
        return SEINE_E_INVAL;
    set.name = sn_str_trim(name);
    set.value = sn_str_trim(text);
    if (set.name.len == 0 || set.name.len + set.value.len > SN_COOKIE_BYTES ||
        has_control(set.name) || has_control(set.value))
        return SEINE_E_INVAL;
    for (sn_str one; sn_str_next(&rest, ';', &one);) {
        sn_str_cut(one, '=', &name, &text);
        take_attribute(&r, sn_str_trim(name), sn_str_trim(text));
    }
    if (has_control(set.path))
        return SEINE_E_INVAL;
    if (r.has_max_age)
        set.expires = r.max_age;
    else if (r.has_expires)
        set.expires = r.expires;
    *out_set = set;
    return SEINE_OK;
}

/* The host and path of a cookie. */

seine_err
sn_cookie_place_of(const seine_url *url, sn_cookie_place *out_place)
{
    sn_str scheme = seine_url_scheme(url);
    seine_url_host_kind kind = seine_url_host_is(url);
    seine_view name;

    out_place->secure = sn_str_eq(scheme, SN_STR("https"));
    if (!out_place->secure && !sn_str_eq(scheme, SN_STR("http")))
        return SEINE_E_INVAL;
    if (seine_url_name(url, &name) != SEINE_OK)
        return SEINE_E_INVAL;
    out_place->host = name;
    out_place->path = seine_url_path(url);
    out_place->is_address = kind == SEINE_HOST_IPV4 || kind == SEINE_HOST_IPV6;
    return SEINE_OK;
}

/* RFC 6265, 5.1.4: the path up to its last slash, without that slash unless it is the
 * first. */
static sn_str
default_path(sn_str path)
{
    size_t end = path.len;

    while (end > 0 && path.ptr[end - 1] != '/')
        end--;
    return end <= 1 ? SN_STR("/") : sn_str_slice(path, 0, end - 1);
}

bool
sn_cookie_path_matches(sn_str request, sn_str cookie)
{
    return sn_str_starts(request, cookie) &&
           (request.len == cookie.len || cookie.ptr[cookie.len - 1] == '/' ||
            request.ptr[cookie.len] == '/');
}

/* Converts to lower case and A-labels. INVAL: not a host name. */
static seine_err
canonical(sn_str domain, char mem[SN_COOKIE_DOMAIN], sn_str *out_domain)
{
    size_t len = SN_COOKIE_DOMAIN;
    bool ascii = true;

    for (size_t i = 0; i < domain.len; i++)
        ascii = ascii && (unsigned char)domain.ptr[i] < 0x80;
    if (domain.len >= SN_COOKIE_DOMAIN)
        return SEINE_E_INVAL;
    if (!ascii) {
        seine_err e = sn_idna_to_ascii(domain.ptr, domain.len, mem, &len);
        if (e != SEINE_OK)
            return e == SEINE_E_NOMEM ? e : SEINE_E_INVAL;
        *out_domain = (sn_str){mem, len};
        return SEINE_OK;
    }
    for (size_t i = 0; i < domain.len; i++)
        mem[i] = sn_lower(domain.ptr[i]);
    *out_domain = (sn_str){mem, domain.len};
    return SEINE_OK;
}

/* Is this the address of the host, in brackets or not? */
static bool
is_own_address(sn_str domain, const sn_cookie_place *from)
{
    sn_str host = from->host;
    sn_ip a, b;

    if (!from->is_address)
        return false;
    if (sn_str_eq(domain, host))
        return true;
    if (host.ptr[0] == '[')
        host = sn_str_slice(host, 1, host.len - 1);
    return sn_ip_parse(host, &a) == SEINE_OK && sn_ip_parse(domain, &b) == SEINE_OK &&
           sn_ip_eq(&a, &b);
}

/* Decides whether the cookie is for a whole domain or for the host alone. A host may name
 * itself, be it an address or a public suffix (localhost is one): RFC 6265bis, 5.7. */
static seine_err
scope_domain(sn_str said, const sn_cookie_place *from, const seine_psl *psl,
             char mem[SN_COOKIE_DOMAIN], sn_cookie_view *c)
{
    sn_str domain;

    c->domain = from->host;
    c->host_only = true;
    if (said.len == 0)
        return SEINE_OK;
    seine_err e = canonical(said, mem, &domain);
    if (e != SEINE_OK)
        return e;
    if (is_own_address(domain, from))
        return SEINE_OK;
    if (from->is_address || !sn_domain_has(domain, from->host))
        return SEINE_E_INVAL;
    if (!psl)
        return SEINE_OK;
    if (seine_psl_site(psl, domain.ptr, domain.len) == 0)
        return sn_str_eq(domain, from->host) ? SEINE_OK : SEINE_E_INVAL;
    c->domain = domain;
    c->host_only = false;
    return SEINE_OK;
}

bool
sn_cookie_prefix_holds(const sn_cookie_view *c)
{
    if (sn_str_starts_nocase(c->name, SN_STR("__Secure-")))
        return c->secure;
    if (sn_str_starts_nocase(c->name, SN_STR("__Host-")))
        return c->secure && c->host_only && sn_str_eq(c->path, SN_STR("/"));
    return true;
}

seine_err
sn_cookie_scope(const sn_set_cookie *set, const sn_cookie_place *from,
                const seine_psl *psl, char mem[SN_COOKIE_DOMAIN],
                sn_cookie_view *out_cookie)
{
    sn_cookie_view c = {.name = set->name,
                        .value = set->value,
                        .path = set->path.len > 0 ? set->path : default_path(from->path),
                        .expires = set->expires,
                        .secure = set->secure,
                        .http_only = set->http_only,
                        .plain = !from->secure,
                        .same_site = set->same_site};

    if (set->secure && !from->secure)
        return SEINE_E_INVAL;
    seine_err e = scope_domain(set->domain, from, psl, mem, &c);
    if (e != SEINE_OK)
        return e;
    if (!sn_cookie_prefix_holds(&c))
        return SEINE_E_INVAL;
    /* __Host- requires a Path and forbids a Domain, even one that is ignored. */
    if (sn_str_starts_nocase(c.name, SN_STR("__Host-")) &&
        (set->path.len == 0 || set->domain.len > 0))
        return SEINE_E_INVAL;
    *out_cookie = c;
    return SEINE_OK;
}
