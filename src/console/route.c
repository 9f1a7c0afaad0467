/* SPDX-License-Identifier: Apache-2.0 */
#include "console/route.h"

#include <stdio.h>
#include <string.h>

#include "console/ulid.h"

static const sn_route routes[] = {
#define ROW(method, path, role, handle, body) \
    {SN_##method, path, SN_ROLE_##role, handle, body},
    SN_ROUTES(ROW)
#undef ROW
};

#define ROW(method, path, role, handle, body)                                          \
    _Static_assert(SN_ROLE_##role != SN_ROLE_UNSET, "the route " path " has no role"); \
    _Static_assert((body) == 0 || SN_##method != SN_GET, path " takes no body");
SN_ROUTES(ROW)
#undef ROW

static const char *const method_names[] = {"GET", "POST", "PATCH", "DELETE"};
static const char *const role_names[] = {"", "none", "viewer", "editor", "admin"};

const sn_route *
sn_route_all(size_t *out_n)
{
    *out_n = sizeof routes / sizeof *routes;
    return routes;
}

bool
sn_method_parse(sn_str word, sn_method *out_method)
{
    if (sn_str_eq(word, SN_STR("HEAD"))) {
        *out_method = SN_GET;
        return true;
    }
    for (sn_method m = 0; m < SN_METHODS; m++)
        if (sn_str_eq(word, sn_str_of(method_names[m]))) {
            *out_method = m;
            return true;
        }
    return false;
}

const char *
sn_method_name(sn_method method)
{
    return method < SN_METHODS ? method_names[method] : "";
}

const char *
sn_role_name(sn_role role)
{
    return role <= SN_ROLE_ADMIN ? role_names[role] : "";
}

bool
sn_role_parse(sn_str word, sn_role *out_role)
{
    for (sn_role r = SN_ROLE_VIEWER; r <= SN_ROLE_ADMIN; r++)
        if (sn_str_eq(word, sn_str_of(role_names[r]))) {
            *out_role = r;
            return true;
        }
    return false;
}

/* The byte at *i, which may be an escape; -1: half an escape. Moves *i behind it. */
static int
next_byte(sn_str raw, bool is_query, size_t *i)
{
    char c = raw.ptr[(*i)++];

    if (c == '+' && is_query)
        return ' ';
    if (c != '%')
        return (unsigned char)c;
    if (raw.len - *i < 2)
        return -1;
    int high = sn_hex_digit(raw.ptr[*i]), low = sn_hex_digit(raw.ptr[*i + 1]);
    *i += 2;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

seine_err
sn_route_decode(sn_str raw, bool is_query, sn_arena *arena, sn_str *out_text)
{
    char *text = sn_arena_get(arena, raw.len + 1, 1, 1);
    size_t n = 0;

    if (!text)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < raw.len;) {
        int byte = next_byte(raw, is_query, &i);

        if (byte < 0)
            return SEINE_E_INVAL;
        text[n++] = (char)byte;
    }
    sn_str all = {text, n};
    if (!sn_utf8_valid(all))
        return SEINE_E_INVAL;
    *out_text = all;
    return SEINE_OK;
}

typedef struct segments {
    sn_str at[SN_ROUTE_SEGMENTS];
    size_t n;
} segments;

/* A decoded segment that means something to a file system means nothing here. */
static bool
is_plain(sn_str s)
{
    if (s.len == 0 || sn_str_eq(s, SN_STR(".")) || sn_str_eq(s, SN_STR("..")))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '/' || s.ptr[i] == '\\' || (unsigned char)s.ptr[i] < 0x20 ||
            s.ptr[i] == 0x7f)
            return false;
    return true;
}

/* "/" has no segment. UNKNOWN: a path that no route can have; NOMEM. */
static seine_err
split(sn_str path, sn_arena *arena, segments *out)
{
    sn_str rest = sn_str_slice(path, 1, path.len), part;

    out->n = 0;
    if (path.len == 0 || path.ptr[0] != '/')
        return SEINE_E_UNKNOWN;
    if (rest.len > 0 && rest.ptr[rest.len - 1] == '/')
        return SEINE_E_UNKNOWN;
    while (sn_str_next(&rest, '/', &part)) {
        if (out->n == SN_ROUTE_SEGMENTS)
            return SEINE_E_UNKNOWN;
        seine_err e = sn_route_decode(part, false, arena, &out->at[out->n]);
        if (e == SEINE_E_NOMEM)
            return e;
        if (e != SEINE_OK || !is_plain(out->at[out->n++]))
            return SEINE_E_UNKNOWN;
    }
    return SEINE_OK;
}

static bool
fits(sn_str name, sn_str value)
{
    uint64_t n;

    if (sn_str_eq(name, SN_STR("{id}")))
        return sn_ulid_is(value);
    if (sn_str_eq(name, SN_STR("{seq}")))
        return sn_str_u64(value, &n) == SEINE_OK && n <= INT64_MAX;
    return value.len <= 256;
}

static bool
is_match(const sn_route *r, const segments *s, sn_str param[SN_ROUTE_PARAMS])
{
    sn_str rest = sn_str_of(r->path + 1), part;
    size_t i = 0, n = 0;

    for (; sn_str_next(&rest, '/', &part); i++) {
        if (i == s->n)
            return false;
        if (part.ptr[0] != '{') {
            if (!sn_str_eq(part, s->at[i]))
                return false;
        } else if (n == SN_ROUTE_PARAMS || !fits(part, s->at[i]))
            return false;
        else
            param[n++] = s->at[i];
    }
    return i == s->n;
}

static void
add_allowed(char allow[40], const char *name)
{
    size_t n = strlen(allow);

    snprintf(allow + n, 40 - n, "%s%s", n ? ", " : "", name);
}

sn_route_status
sn_route_find(sn_method method, sn_str path, sn_arena *arena, sn_route_match *out_match)
{
    segments s;
    sn_route_match m = {.route = NULL};
    seine_err e = split(path, arena, &s);

    if (e != SEINE_OK)
        return e == SEINE_E_NOMEM ? SN_ROUTE_NOMEM : SN_ROUTE_NOWHERE;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!is_match(&routes[i], &s, m.param))
            continue;
        if (routes[i].method == method) {
            m.route = &routes[i];
            *out_match = m;
            return SN_ROUTE_FOUND;
        }
        add_allowed(m.allow, method_names[routes[i].method]);
        if (routes[i].method == SN_GET)
            add_allowed(m.allow, "HEAD");
    }
    *out_match = m;
    return m.allow[0] ? SN_ROUTE_NO_METHOD : SN_ROUTE_NOWHERE;
}
