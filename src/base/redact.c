/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <string.h>

#define NAME 64 /* letters of a parameter's name; a longer one is taken for a secret */

/* The whole name, once only its letters and digits are left, in lower case. */
static const char *const names[] = {
    "auth", "authorization", "code", "credential", "credentials", "jwt", "key",
    "otp",  "pass",          "pin",  "pwd",        "session",     "sig", "sid",
};

/* How such a name may end: csrf_token, client-secret, user[password], JSESSIONID. */
static const char *const ends[] = {
    "token",  "secret",    "password",  "passwd",    "signature",  "apikey",
    "sessid", "accesskey", "sessionid", "secretkey", "privatekey",
};

/* How it may begin: signed requests of Amazon and Google. */
static const char *const starts[] = {"xamz", "xgoog"};

typedef struct pen {
    char *at, *end;
} pen;

static void
put(pen *p, sn_str s)
{
    size_t room = (size_t)(p->end - p->at), n = s.len < room ? s.len : room;

    if (n > 0)
        memcpy(p->at, s.ptr, n);
    p->at += n;
}

/* One character of a name, where %74 is a t; advances past it. */
static char
letter(sn_str name, size_t *at)
{
    char c = name.ptr[(*at)++];

    if (c != '%' || name.len - *at < 2)
        return c;
    int high = sn_hex_digit(name.ptr[*at]), low = sn_hex_digit(name.ptr[*at + 1]);
    if (high < 0 || low < 0)
        return c;
    *at += 2;
    return (char)(high * 16 + low);
}

static bool
is_secret(sn_str name)
{
    char bytes[NAME];
    sn_str plain = {bytes, 0};

    for (size_t at = 0; at < name.len;) {
        char c = letter(name, &at);

        if (!sn_is_alpha(c) && !sn_is_digit(c))
            continue;
        if (plain.len == NAME)
            return true;
        bytes[plain.len++] = sn_lower(c);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_str_eq(plain, sn_str_of(names[i])))
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sn_str_ends(plain, sn_str_of(ends[i])))
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (sn_str_starts(plain, sn_str_of(starts[i])))
            return true;
    return false;
}

/* Bytes of `s` before the first that is in `set`. */
static size_t
span(sn_str s, const char *set)
{
    size_t n = 0;

    while (n < s.len && (s.ptr[n] == '\0' || !strchr(set, s.ptr[n])))
        n++;
    return n;
}

static bool
is_slash(char c)
{
    return c == '/' || c == '\\'; /* browsers take one for the other */
}

/* Where user information would begin: behind "//", or at the very start. */
static size_t
authority(sn_str url)
{
    size_t n = span(url, "/?#\\");

    if (url.len - n >= 2 && is_slash(url.ptr[n]) && is_slash(url.ptr[n + 1]) &&
        (n == 0 || url.ptr[n - 1] == ':'))
        return n + 2;
    return 0;
}

static sn_str
skip(sn_str s, size_t n)
{
    return sn_str_slice(s, n, s.len);
}

/* Writes the user information, if any, as REDACTED; returns what follows. */
static sn_str
user(pen *p, sn_str url)
{
    size_t start = authority(url), host = start;

    put(p, sn_str_slice(url, 0, start));
    for (size_t i = start, end = start + span(skip(url, start), "/?#\\"); i < end; i++)
        if (url.ptr[i] == '@')
            host = i;
    if (host == start)
        return skip(url, start);
    put(p, SN_STR(SN_REDACTED));
    return skip(url, host);
}

/* A value ends where the next parameter begins; a secret may hold a slash or a
 * semicolon, except in a path, where these end it. */
static const char *
value_end(char part)
{
    switch (part) {
    case '?':
        return "&#";
    case '#':
        return "&";
    default:
        return "/?#;&";
    }
}

size_t
sn_redact(sn_str url, char *out_bytes, size_t cap)
{
    pen p = {out_bytes, out_bytes + cap};
    sn_str rest = user(&p, url);
    char part = '/'; /* path, '?' query or '#' fragment */

    while (rest.len > 0) {
        size_t n = span(rest, "?#&;");

        if (n == rest.len) {
            put(&p, rest);
            break;
        }
        if ((rest.ptr[n] == '?' && part == '/') || rest.ptr[n] == '#')
            part = rest.ptr[n];
        put(&p, sn_str_slice(rest, 0, n + 1));
        rest = skip(rest, n + 1);

        sn_str name = sn_str_slice(rest, 0, span(rest, "=?#&;"));
        if (name.len == rest.len || rest.ptr[name.len] != '=' || !is_secret(name))
            continue;
        put(&p, sn_str_slice(rest, 0, name.len + 1));
        put(&p, SN_STR(SN_REDACTED));
        rest = skip(rest, name.len + 1);
        rest = skip(rest, span(rest, value_end(part)));
    }
    return (size_t)(p.at - out_bytes);
}
