/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_url.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

#define MEMBER "redis"

/* Copies `from` to *at and decodes its escapes. False: a broken escape, or a zero. */
static bool
decode(sn_str from, char **at, sn_str *out_text)
{
    char *to = *at;

    for (size_t i = 0; i < from.len; i++) {
        char c = from.ptr[i];

        if (c == '%') {
            int high = i + 2 < from.len ? sn_hex_digit(from.ptr[i + 1]) : -1;
            int low = i + 2 < from.len ? sn_hex_digit(from.ptr[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0')
            return false;
        *to++ = c;
    }
    *out_text = (sn_str){*at, (size_t)(to - *at)};
    *to++ = '\0';
    *at = to;
    return true;
}

static seine_err
refuse(seine_diag *diag, const char *why)
{
    return sn_diag_option(diag, MEMBER, "%s", why);
}

/* USER:PASSWORD, either of which may be empty, but not both. */
static seine_err
read_login(sn_redis_url *u, sn_str login, char **at, seine_diag *diag)
{
    sn_str user, password;

    if (!sn_str_cut(login, ':', &user, &password) || password.len == 0)
        return refuse(diag, "a user without a password: write redis://USER:PASSWORD@HOST "
                            "or redis://:PASSWORD@HOST");
    if (!decode(user, at, &u->user) || !decode(password, at, &u->password))
        return refuse(diag, "a broken escape (%) in the user or the password");
    return SEINE_OK;
}

static seine_err
read_db(sn_redis_url *u, sn_str text, seine_diag *diag)
{
    uint64_t db;

    if (text.len == 0)
        return SEINE_OK;
    if (sn_str_u64(text, &db) != SEINE_OK || db > INT32_MAX)
        return refuse(diag, "the database is not a number from 0 on");
    u->db = (uint32_t)db;
    return SEINE_OK;
}

static bool
is_host_char(char c, bool bracketed)
{
    if (bracketed)
        return sn_hex_digit(c) >= 0 || c == ':' || c == '.';
    return sn_is_alpha(c) || sn_is_digit(c) || c == '-' || c == '_' || c == '.';
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; no host is localhost. */
static seine_err
read_host(sn_redis_url *u, sn_str text, char **at, seine_diag *diag)
{
    bool bracketed = text.len > 0 && text.ptr[0] == '[';
    sn_str host, port;
    uint64_t n = SN_REDIS_PORT;
    bool has_port;

    if (bracketed) {
        bool closed = sn_str_cut(sn_str_slice(text, 1, SIZE_MAX), ']', &host, &port);

        has_port = port.len > 0;
        if (!closed || host.len == 0 || (has_port && port.ptr[0] != ':'))
            return refuse(diag, "a host that is not understood");
        port = sn_str_slice(port, 1, SIZE_MAX);
    } else {
        has_port = sn_str_cut(text, ':', &host, &port);
    }
    if (has_port && (sn_str_u64(port, &n) != SEINE_OK || n == 0 || n > UINT16_MAX))
        return refuse(diag, "the port is not a number from 1 to 65535");
    if (host.len == 0)
        host = SN_STR("localhost");
    char *to = *at;
    for (size_t i = 0; i < host.len; i++) {
        if (!is_host_char(host.ptr[i], bracketed))
            return refuse(diag, "a host that is not understood");
        to[i] = sn_lower(host.ptr[i]);
    }
    to[host.len] = '\0';
    *at = to + host.len + 1;
    u->host = (sn_str){to, host.len};
    u->port = (uint16_t)n;
    return SEINE_OK;
}

static seine_err
read_tcp(sn_redis_url *u, sn_str text, char **at, seine_diag *diag)
{
    sn_str where, db;

    if (sn_str_find(text, '?') < text.len || sn_str_find(text, '#') < text.len)
        return refuse(diag, "nothing may follow the database");
    (void)sn_str_cut(text, '/', &where, &db);
    seine_err e = read_host(u, where, at, diag);
    return e == SEINE_OK ? read_db(u, db, diag) : e;
}

static seine_err
read_unix(sn_redis_url *u, sn_str text, char **at, seine_diag *diag)
{
    sn_str path, query;

    if (sn_str_cut(text, '?', &path, &query)) {
        if (!sn_str_starts(query, SN_STR("db=")) || query.len == 3)
            return refuse(diag, "only ?db=N may follow the path");
        seine_err e = read_db(u, sn_str_slice(query, 3, SIZE_MAX), diag);
        if (e != SEINE_OK)
            return e;
    }
    if (!decode(path, at, &u->path))
        return refuse(diag, "a broken escape (%) in the path");
    if (u->path.len == 0 || u->path.ptr[0] != '/')
        return refuse(diag, "the path of a socket begins with /: unix:///run/redis.sock");
    if (u->path.len > SN_REDIS_PATH)
        return refuse(diag, "the path of a socket has at most 107 bytes");
    return SEINE_OK;
}

/* What stands before the last @ before a / is the login. */
static sn_str
cut_login(sn_str *rest, bool *out_has)
{
    size_t end = sn_str_find(*rest, '/'), at = end;

    while (at > 0 && rest->ptr[at - 1] != '@')
        at--;
    *out_has = at > 0;
    sn_str login = sn_str_slice(*rest, 0, at > 0 ? at - 1 : 0);
    *rest = sn_str_slice(*rest, at, SIZE_MAX);
    return login;
}

static seine_err
read_url(sn_redis_url *u, sn_str rest, bool is_unix, seine_diag *diag)
{
    char *at = u->mem;
    bool has_login;
    sn_str login = cut_login(&rest, &has_login);

    if (has_login) {
        seine_err e = read_login(u, login, &at, diag);
        if (e != SEINE_OK)
            return e;
    }
    return is_unix ? read_unix(u, rest, &at, diag) : read_tcp(u, rest, &at, diag);
}

seine_err
sn_redis_url_parse(sn_str text, sn_redis_url *out_url, seine_diag *diag)
{
    static const struct {
        sn_str scheme;
        bool is_unix;
    } known[] = {{{"redis://", 8}, false}, {{"unix://", 7}, true}};
    sn_redis_url u = {0};

    sn_diag_clear(diag);
    if (text.len > SN_REDIS_BYTES)
        return refuse(diag, "longer than 1024 bytes");
    if (sn_str_starts_nocase(text, SN_STR("rediss://")))
        return refuse(diag,
                      "rediss: this client of Redis has no TLS; use redis:// through "
                      "a tunnel (stunnel, ssh)");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!sn_str_starts_nocase(text, known[i].scheme))
            continue;
        u.room = text.len + sizeof "localhost" + 4;
        u.mem = sn_zalloc(u.room);
        if (!u.mem)
            return SEINE_E_NOMEM;
        seine_err e = read_url(&u, sn_str_slice(text, known[i].scheme.len, SIZE_MAX),
                               known[i].is_unix, diag);
        if (e == SEINE_OK)
            *out_url = u;
        else
            sn_redis_url_fini(&u);
        return e;
    }
    return refuse(diag, "not a URL of Redis: redis://HOST:PORT/DB or unix:///PATH?db=N");
}

void
sn_redis_url_fini(sn_redis_url *u)
{
    if (!u)
        return;
    if (u->mem)
        explicit_bzero(u->mem, u->room);
    sn_free(u->mem);
    *u = (sn_redis_url){0};
}

void
sn_redis_url_shown(const sn_redis_url *u, char out_text[SN_REDIS_SHOWN])
{
    bool is_v6 = sn_str_find(u->host, ':') < u->host.len;

    if (u->host.len == 0)
        snprintf(out_text, SN_REDIS_SHOWN, "unix://%.*s?db=%u", SN_FMT(u->path), u->db);
    else
        snprintf(out_text, SN_REDIS_SHOWN, "redis://%s%.*s%s:%u/%u", is_v6 ? "[" : "",
                 SN_FMT(u->host), is_v6 ? "]" : "", u->port, u->db);
}
