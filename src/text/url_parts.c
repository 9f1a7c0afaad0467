/* SPDX-License-Identifier: Apache-2.0 */
#include "text/url.h"

static seine_view
part(const seine_url *u, size_t from, size_t to)
{
    if (from >= to)
        return (seine_view){"", 0};
    return (seine_view){u->href + from, to - from};
}

static bool
has_host(const seine_url *u)
{
    return u->host != SEINE_HOST_NONE;
}

void
seine_url_init(seine_url *u, char *mem, size_t size)
{
    if (!u)
        return;
    *u = (seine_url){.href = mem, .port = -1};
    u->room = (uint32_t)(size < SEINE_URL_ROOM ? size : SEINE_URL_ROOM);
    if (size > 0)
        mem[0] = '\0';
}

seine_err
seine_url_copy(seine_url *u, const seine_url *from)
{
    if (!u || !from)
        return SEINE_E_INVAL;
    char *mem = u->href;
    uint32_t room = u->room;

    if (u == from)
        return SEINE_OK;
    if (from->len >= room)
        return SEINE_E_RANGE;
    memmove(mem, from->href, from->len + (size_t)1);
    *u = *from;
    u->href = mem;
    u->room = room;
    return SEINE_OK;
}

seine_view
seine_url_href(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, 0, u->len);
}

seine_view
seine_url_scheme(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, 0, u->scheme_end);
}

seine_view
seine_url_username(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->scheme_end + (size_t)3, u->user_end);
}

seine_view
seine_url_password(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->user_end + (size_t)1, u->password_end);
}

seine_view
seine_url_host(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->host_at, u->host_end);
}

seine_view
seine_url_host_port(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->host_at, u->port < 0 ? u->host_end : u->path_at);
}

seine_view
seine_url_port_text(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->host_end + (size_t)1, u->port < 0 ? 0 : u->path_at);
}

seine_view
seine_url_path(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->path_at, u->path_end);
}

seine_view
seine_url_query(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->path_end + (size_t)1, u->query_end);
}

seine_view
seine_url_fragment(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->query_end + (size_t)1, u->len);
}

seine_view
seine_url_target(const seine_url *u)
{
    if (!u)
        return (seine_view){0};
    return part(u, u->path_at, u->query_end);
}

seine_url_host_kind
seine_url_host_is(const seine_url *u)
{
    if (!u)
        return SEINE_HOST_NONE;
    return (seine_url_host_kind)u->host;
}

int
seine_url_port(const seine_url *u)
{
    if (!u)
        return -1;
    return u->port >= 0 ? u->port : sn_url_default_port((sn_url_scheme)u->scheme);
}

bool
seine_url_is_special(const seine_url *u)
{
    if (!u)
        return false;
    return u->scheme != SN_SCHEME_OTHER;
}

bool
seine_url_is_opaque(const seine_url *u)
{
    if (!u)
        return false;
    return u->opaque;
}

/* Removes the bytes from `from` to `to`, which lie before the host. */
static void
cut(seine_url *u, uint32_t from, uint32_t to)
{
    uint32_t n = to - from;

    memmove(u->href + from, u->href + to, u->len - to + (size_t)1);
    u->len -= n;
    u->host_at -= n;
    u->host_end -= n;
    u->path_at -= n;
    u->path_end -= n;
    u->query_end -= n;
}

void
seine_url_drop_user(seine_url *u)
{
    if (!u)
        return;
    uint32_t start = u->scheme_end + 3;

    if (!has_host(u) || u->host_at == start)
        return;
    cut(u, start, u->host_at);
    u->user_end = u->password_end = start;
}

void
seine_url_drop_fragment(seine_url *u)
{
    if (!u)
        return;
    if (u->len > 0)
        u->href[u->query_end] = '\0';
    u->len = u->query_end;
}

/* True if all labels are 1 to 63 letters, digits, "-" and "_". */
static bool
is_dns_name(seine_view name)
{
    size_t label = 0;

    if (name.len == 0 || name.len > 253)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (c == '.' && label == 0)
            return false;
        label = c == '.' ? 0 : label + 1;
        if (label > 63)
            return false;
        if (c != '.' && c != '-' && c != '_' && !sn_is_alpha(c) && !sn_is_digit(c))
            return false;
    }
    return label > 0;
}

seine_err
seine_url_name(const seine_url *u, seine_view *out_name)
{
    if (!u || !out_name)
        return SEINE_E_INVAL;
    seine_view name = seine_url_host(u);

    if (u->host == SEINE_HOST_NAME || u->host == SEINE_HOST_OPAQUE) {
        if (name.len > 0 && name.ptr[name.len - 1] == '.')
            name.len--;
        if (!is_dns_name(name))
            return SEINE_E_DNS_BAD_NAME;
    }
    if (name.len == 0)
        return SEINE_E_DNS_BAD_NAME;
    *out_name = name;
    return SEINE_OK;
}
