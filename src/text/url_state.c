/* SPDX-License-Identifier: Apache-2.0 */
#include "text/url.h"

struct known {
    char name[6];
    uint8_t len;
    int32_t port;
};

static const struct known known[] = {
    [SN_SCHEME_HTTP] = {"http", 4, 80}, [SN_SCHEME_HTTPS] = {"https", 5, 443},
    [SN_SCHEME_WS] = {"ws", 2, 80},     [SN_SCHEME_WSS] = {"wss", 3, 443},
    [SN_SCHEME_FTP] = {"ftp", 3, 21},   [SN_SCHEME_FILE] = {"file", 4, -1},
    [SN_SCHEME_OTHER] = {"", 0, -1},
};

int
sn_url_default_port(sn_url_scheme scheme)
{
    return known[scheme].port;
}

static bool
next_is(const sn_url_build *b, char c)
{
    return b->at < b->end && *b->at == c;
}

static bool
next_is_slash(const sn_url_build *b)
{
    return b->at < b->end && sn_url_is_slash(b, *b->at);
}

/* The states of the standard's parser (4.4). Each function is one state, or a few that
 * follow each other; it starts at `at` and ends with a call of the next state. */

static bool
fragment(sn_url_build *b)
{
    if (!next_is(b, '#'))
        return true;
    sn_url_put(b, '#');
    sn_url_escape(b, b->at + 1, b->end, SN_URL_FRAGMENT, 0);
    return true;
}

static bool
query(sn_url_build *b)
{
    seine_url *u = b->u;

    u->path_end = (uint32_t)b->len;
    if (next_is(b, '?')) {
        size_t left = (size_t)(b->end - b->at);
        const char *hash = memchr(b->at, '#', left);

        sn_url_put(b, '?');
        b->at = sn_url_escape(b, b->at + 1, hash ? hash : b->end,
                              b->special ? SN_URL_SPECIAL : SN_URL_QUERY, 0);
    }
    u->query_end = (uint32_t)b->len;
    return fragment(b);
}

static bool
opaque_path(sn_url_build *b)
{
    const char *end = b->at;

    b->u->opaque = true;
    while (end < b->end && *end != '?' && *end != '#')
        end++;
    /* A trailing blank before ? or # would be lost if the path stood alone. */
    bool blank = end < b->end && end > b->at && end[-1] == ' ';
    sn_url_escape(b, b->at, end - blank, SN_URL_C0, 0);
    if (blank)
        sn_url_add(b, "%20", 3);
    b->at = end;
    return query(b);
}

static bool
path(sn_url_build *b)
{
    sn_url_write_path(b);
    return query(b);
}

static bool
path_start(sn_url_build *b)
{
    b->u->path_at = (uint32_t)b->len;
    if (b->special || !(b->at == b->end || *b->at == '?' || *b->at == '#')) {
        b->at += next_is_slash(b);
        return path(b);
    }
    return query(b);
}

/* Reads digits up to `end`; the colon is at b->at. */
static bool
port(sn_url_build *b, const char *end)
{
    const char *start = ++b->at;
    int32_t n = 0;

    for (; b->at < end; b->at++) {
        if (!sn_is_digit(*b->at))
            return sn_url_flawed(b, SEINE_URL_BAD_PORT, b->at);
        n = n * 10 + (*b->at - '0');
        if (n > 65535)
            return sn_url_flawed(b, SEINE_URL_BAD_PORT, start);
    }
    if (b->at == start || n == known[b->u->scheme].port)
        return true;

    sn_url_put(b, ':');
    sn_url_put_number(b, (uint32_t)n);
    b->u->port = n;
    return true;
}

static bool
host(sn_url_build *b, const char *end)
{
    seine_url *u = b->u;
    const char *start = b->at;
    bool inside = false; /* of brackets */

    u->host_at = (uint32_t)b->len;
    for (; b->at < end && (inside || *b->at != ':'); b->at++)
        inside = *b->at == '[' || (inside && *b->at != ']');
    b->steps += (size_t)(b->at - start);
    if (b->at == start && (b->special || b->at < end))
        return sn_url_flawed(b, SEINE_URL_NO_HOST, start);
    if (!sn_url_write_host(b, (sn_str){start, (size_t)(b->at - start)}))
        return false;
    u->host_end = (uint32_t)b->len;
    if (b->at < end && !port(b, end))
        return false;
    return path_start(b);
}

/* Writes "user:password" before the @ at `end`. */
static void
credentials(sn_url_build *b, const char *end)
{
    seine_url *u = b->u;
    const char *colon = memchr(b->at, ':', (size_t)(end - b->at));
    const char *name_end = colon ? colon : end;

    sn_url_escape(b, b->at, name_end, SN_URL_USER, 0);
    u->user_end = u->password_end = (uint32_t)b->len;
    if (colon && end - colon > 1) {
        sn_url_put(b, ':');
        sn_url_escape(b, colon + 1, end, SN_URL_USER, 0);
        u->password_end = (uint32_t)b->len;
    }
    if (name_end > b->at || (colon && end - colon > 1))
        sn_url_put(b, '@');
}

/* Starts after the slashes. */
static bool
authority(sn_url_build *b)
{
    seine_url *u = b->u;
    const char *end = b->at, *at_sign = NULL;

    sn_url_add(b, "//", 2);
    u->user_end = u->password_end = (uint32_t)b->len;
    for (; end < b->end; end++) {
        if (sn_url_is(*end, SN_URL_STOP) && (*end != '\\' || b->special))
            break;
        if (*end == '@')
            at_sign = end;
    }
    b->steps += (size_t)(end - b->at);
    if (at_sign) {
        credentials(b, at_sign);
        b->at = at_sign + 1;
        if (b->at == end)
            return sn_url_flawed(b, SEINE_URL_NO_HOST, end);
    }
    return host(b, end);
}

static bool
skip_slashes_then_authority(sn_url_build *b)
{
    while (next_is_slash(b))
        b->at++;
    return authority(b);
}

/* Copies the base up to its path. */
static void
take_front(sn_url_build *b)
{
    const seine_url *base = b->base;
    seine_url *u = b->u;

    u->user_end = base->user_end;
    u->password_end = base->password_end;
    u->host_at = base->host_at;
    u->host_end = base->host_end;
    u->port = base->port;
    u->host = base->host;
    u->path_at = base->host == SEINE_HOST_NONE ? base->scheme_end + 1 : base->path_at;
    b->len = 0;
    sn_url_add(b, base->href, u->path_at);
}

static void
take_path(sn_url_build *b)
{
    const seine_url *base = b->base;

    sn_url_add(b, base->href + base->path_at, base->path_end - base->path_at);
}

/* The reference is "", "?…" or "#…": keeps the base's path, and its query unless the
 * reference has one. */
static bool
same_path(sn_url_build *b)
{
    const seine_url *base = b->base;
    seine_url *u = b->u;

    take_path(b);
    if (next_is(b, '?'))
        return query(b);
    u->path_end = (uint32_t)b->len;
    sn_url_add(b, base->href + base->path_end, base->query_end - base->path_end);
    u->query_end = (uint32_t)b->len;
    return fragment(b);
}

static bool
at_path_end(const sn_url_build *b)
{
    return b->at == b->end || *b->at == '?' || *b->at == '#';
}

static bool
relative(sn_url_build *b)
{
    if (next_is_slash(b)) {
        b->at++;
        if (next_is_slash(b) && b->special)
            return skip_slashes_then_authority(b);
        if (next_is(b, '/')) {
            b->at++;
            return authority(b);
        }
        take_front(b);
        return path(b);
    }
    take_front(b);
    if (at_path_end(b))
        return same_path(b);
    take_path(b);
    sn_url_shorten(b);
    return path(b);
}

/* Writes "//" and an empty host after "file:". */
static void
no_host(sn_url_build *b)
{
    seine_url *u = b->u;

    sn_url_add(b, "//", 2);
    u->host = SEINE_HOST_EMPTY;
    u->user_end = u->password_end = u->host_at = u->host_end = u->path_at =
        (uint32_t)b->len;
}

static bool
file_host(sn_url_build *b)
{
    seine_url *u = b->u;
    const char *start = b->at, *end = start;

    while (end < b->end && !sn_url_is(*end, SN_URL_STOP))
        end++;
    b->steps += (size_t)(end - start);
    no_host(b);
    if (sn_url_is_drive(start, (size_t)(end - start)))
        return path(b); /* the letter is the first segment */
    if (!sn_url_write_host(b, (sn_str){start, (size_t)(end - start)}))
        return false;
    if (sn_str_eq((sn_str){b->out + u->host_at, b->len - u->host_at},
                  SN_STR("localhost"))) {
        b->len = u->host_at;
        u->host = SEINE_HOST_EMPTY;
    }
    u->host_end = (uint32_t)b->len;
    b->at = end;
    return path_start(b);
}

/* Reads "/x" of a file URL: host and drive letter of the base stay. */
static bool
file_slash(sn_url_build *b)
{
    const seine_url *base = b->base;

    if (next_is_slash(b)) {
        b->at++;
        return file_host(b);
    }
    if (!base) {
        no_host(b);
        return path(b);
    }
    take_front(b);
    const char *first = base->href + base->path_at + 1;
    size_t len = base->path_end - base->path_at;
    if (!sn_url_starts_drive(b->at, b->end) && len >= 3 && sn_url_is_drive(first, 2) &&
        (len == 3 || first[2] == '/'))
        sn_url_add(b, first - 1, 3);
    return path(b);
}

static bool
file(sn_url_build *b)
{
    b->special = true;
    if (b->base && b->base->scheme != SN_SCHEME_FILE)
        b->base = NULL;
    if (next_is_slash(b)) {
        b->at++;
        return file_slash(b);
    }
    if (!b->base) {
        no_host(b);
        return path(b);
    }
    take_front(b);
    if (at_path_end(b))
        return same_path(b);
    if (!sn_url_starts_drive(b->at, b->end)) {
        take_path(b);
        sn_url_shorten(b);
    }
    return path(b);
}

static void
set_scheme(sn_url_build *b, sn_url_scheme scheme, size_t end)
{
    seine_url *u = b->u;

    u->scheme = (uint8_t)scheme;
    u->scheme_end = (uint32_t)end;
    u->user_end = u->password_end = u->host_at = u->host_end = u->path_at =
        (uint32_t)end + 1;
    b->special = scheme != SN_SCHEME_OTHER;
}

static bool
no_scheme(sn_url_build *b)
{
    const seine_url *base = b->base;

    if (!base)
        return sn_url_flawed(b, SEINE_URL_NO_BASE, b->at);
    if (base->opaque && !next_is(b, '#'))
        return sn_url_flawed(b, SEINE_URL_NO_PATH, b->at);
    set_scheme(b, (sn_url_scheme)base->scheme, base->scheme_end);
    sn_url_add(b, base->href, base->scheme_end + 1);
    b->u->opaque = base->opaque;
    return base->scheme == SN_SCHEME_FILE ? file(b) : relative(b);
}

static sn_url_scheme
which_scheme(const char *name, size_t len)
{
    for (size_t i = SN_SCHEME_HTTP; i < sizeof known / sizeof *known; i++)
        if (known[i].len == len && known[i].name[0] == name[0] &&
            memcmp(known[i].name, name, len) == 0)
            return (sn_url_scheme)i;
    return SN_SCHEME_OTHER;
}

static bool
scheme(sn_url_build *b)
{
    const char *colon = b->at;

    if (colon < b->end && sn_is_alpha(*colon))
        while (colon < b->end && sn_url_is(*colon, SN_URL_IN_SCHEME))
            colon++;
    b->steps += (size_t)(colon - b->at);
    if (colon == b->at || colon == b->end || *colon != ':')
        return no_scheme(b);

    for (const char *at = b->at; at <= colon; at++)
        sn_url_put(b, sn_lower(*at));
    size_t len = (size_t)(colon - b->at);
    set_scheme(b, which_scheme(b->out, len), len);
    b->at = colon + 1;
    if (b->u->scheme == SN_SCHEME_FILE)
        return file(b);
    if (b->special && b->base && b->base->scheme == b->u->scheme &&
        !(next_is(b, '/') && b->end - b->at > 1 && b->at[1] == '/'))
        return relative(b);
    if (b->special)
        return skip_slashes_then_authority(b);
    if (!next_is(b, '/'))
        return opaque_path(b);
    b->at++;
    if (!next_is(b, '/'))
        return path(b);
    b->at++;
    return authority(b);
}

/* Without a host a path "//x" would read as a host, so the standard writes "/.//x". */
static void
guard_path(sn_url_build *b)
{
    seine_url *u = b->u;

    if (u->host != SEINE_HOST_NONE || u->opaque || u->path_end - u->path_at < 2 ||
        b->out[u->path_at] != '/' || b->out[u->path_at + 1] != '/')
        return;
    if (b->max - b->len < 2) {
        b->full = true;
        return;
    }
    char *at = b->out + u->path_at;
    memmove(at + 2, at, b->len - u->path_at);
    at[0] = '/';
    at[1] = '.';
    b->steps += b->len - u->path_at;
    b->len += 2;
    u->path_at += 2;
    u->path_end += 2;
    u->query_end += 2;
}

bool
sn_url_walk(sn_url_build *b)
{
    if (!scheme(b))
        return false;
    if (!b->full)
        guard_path(b);
    return !b->full;
}
