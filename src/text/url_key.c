/* SPDX-License-Identifier: Apache-2.0 */
#include "text/url.h"

/* Returns the byte that the escape at `at` stands for, or -1. */
static int
escaped(const char *at, const char *end)
{
    int high, low;

    if (end - at < 3 || *at != '%')
        return -1;
    high = sn_hex_digit(at[1]);
    low = sn_hex_digit(at[2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static char
upper(char c)
{
    return (char)(c >= 'a' && c <= 'f' ? c - 32 : c);
}

/* A percent sign that begins no escape must not become part of one when a later escape is
 * decoded: "%%34%31" means "%41", not "A". `loose` counts the digits it lacks. */
static int
still_loose(int loose, char c)
{
    return loose > 0 && sn_hex_digit(c) >= 0 ? loose - 1 : 0;
}

/* Copies and normalizes escapes; `out` may be `at` or lie before it. */
static char *
even_escapes(const char *at, const char *end, char *out)
{
    int loose = 0;

    while (at < end) {
        const char *sign = memchr(at, '%', (size_t)(end - at));
        const char *stop = sign ? sign : end;

        /* Two bytes suffice to know whether an earlier sign became an escape. */
        for (const char *p = at; p < stop && loose > 0; p++)
            loose = still_loose(loose, *p);
        memmove(out, at, (size_t)(stop - at));
        out += stop - at;
        at = stop;
        if (at == end)
            break;

        int byte = escaped(at, end);
        bool plain = byte >= 0 && sn_url_is((char)byte, SN_URL_PLAIN);
        if (byte < 0) {
            *out++ = *at++;
            loose = 2;
        } else if (plain && !(loose > 0 && sn_hex_digit((char)byte) >= 0)) {
            *out++ = (char)byte;
            at += 3;
            loose = 0;
        } else {
            char high = upper(at[1]), low = upper(at[2]);

            *out++ = '%';
            *out++ = high;
            *out++ = low;
            at += 3;
            loose = 0;
        }
    }
    return out;
}

static bool
is_stripped(sn_str parameter, sn_str list)
{
    sn_str name, value, pattern;

    sn_str_cut(parameter, '=', &name, &value);
    while (sn_str_next(&list, ',', &pattern))
        if (sn_str_glob(sn_str_trim(pattern), name))
            return true;
    return false;
}

/* Removes parameters from the query at `at`, in place; returns its new end. */
static char *
strip(char *at, char *end, sn_str list)
{
    char *out = at;
    bool first = true;

    for (char *p = at; p <= end;) {
        char *next = memchr(p, '&', (size_t)(end - p));
        sn_str parameter = {p, (size_t)((next ? next : end) - p)};

        if (!is_stripped(parameter, list)) {
            if (!first)
                *out++ = '&';
            first = false;
            memmove(out, parameter.ptr, parameter.len);
            out += parameter.len;
        }
        p += parameter.len + 1;
    }
    return out;
}

seine_err
seine_url_key(const seine_url *u, const char *strip_list, char *buf, size_t cap,
              size_t *out_len)
{
    if (!u)
        return SEINE_E_INVAL;
    const char *href = u->href;
    size_t path_at = u->path_at, path_end = u->path_end, query_end = u->query_end;
    bool is_file = u->scheme == SN_SCHEME_FILE;
    char *out, *query;

    if (cap <= u->len)
        return SEINE_E_RANGE;
    memmove(buf, href, path_at);
    out = even_escapes(href + path_at, href + path_end, buf + path_at);
    /* Decoding an escape may have made a drive letter. */
    if (is_file && out - (buf + path_at) >= 3 && sn_url_is_drive(buf + path_at + 1, 2) &&
        (out - (buf + path_at) == 3 || buf[path_at + 3] == '/'))
        buf[path_at + 2] = ':';

    query = out;
    out = even_escapes(href + path_end, href + query_end, out);
    if (out > query && strip_list)
        out = strip(query + 1, out, sn_str_of(strip_list));
    if (out - query == 1)
        out = query;
    *out = '\0';
    *out_len = (size_t)(out - buf);
    return SEINE_OK;
}

/* An output that is cut at `cap` but counted to its end. */
struct text {
    char *buf;
    size_t cap, len;
};

static void
add_bytes(struct text *t, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, t->len++)
        if (t->len < t->cap)
            t->buf[t->len] = bytes[i];
}

static void
add_number(struct text *t, int n)
{
    char digits[12];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    add_bytes(t, digits + at, sizeof digits - at);
}

static size_t
ended(struct text *t)
{
    if (t->cap > 0)
        t->buf[t->len < t->cap ? t->len : t->cap - 1] = '\0';
    return t->len;
}

size_t
seine_url_authority(const seine_url *u, char *buf, size_t cap)
{
    if (!u)
        return 0;
    seine_view host = seine_url_host(u);
    struct text t = {buf, cap, 0};
    int port = seine_url_port(u);

    if (host.len == 0)
        return ended(&t);
    host.len -= host.len > 1 && host.ptr[host.len - 1] == '.';
    add_bytes(&t, u->href, u->scheme_end);
    add_bytes(&t, "://", 3);
    add_bytes(&t, host.ptr, host.len);
    if (port >= 0) {
        add_bytes(&t, ":", 1);
        add_number(&t, port);
    }
    return ended(&t);
}

static size_t
no_origin(char *buf, size_t cap)
{
    struct text t = {buf, cap, 0};

    add_bytes(&t, "null", 4);
    return ended(&t);
}

/* The origin of a blob URL is that of the URL in its path, if that is http or https. */
static __attribute__((noinline)) size_t
blob_origin(const seine_url *u, char *buf, size_t cap)
{
    seine_view path = seine_url_path(u);
    char mem[SEINE_URL_ROOM];
    seine_url inner;

    seine_url_init(&inner, mem, sizeof mem);
    if (seine_url_parse(&inner, path.ptr, path.len, NULL) == SEINE_OK &&
        (inner.scheme == SN_SCHEME_HTTP || inner.scheme == SN_SCHEME_HTTPS))
        return seine_url_origin(&inner, buf, cap);
    return no_origin(buf, cap);
}

size_t
seine_url_origin(const seine_url *u, char *buf, size_t cap)
{
    if (!u)
        return 0;
    seine_view scheme = seine_url_scheme(u), host = seine_url_host_port(u);
    struct text t = {buf, cap, 0};

    if (scheme.len == 4 && memcmp(scheme.ptr, "blob", 4) == 0)
        return blob_origin(u, buf, cap);
    if (u->scheme == SN_SCHEME_OTHER || u->scheme == SN_SCHEME_FILE)
        return no_origin(buf, cap);
    add_bytes(&t, scheme.ptr, scheme.len);
    add_bytes(&t, "://", 3);
    add_bytes(&t, host.ptr, host.len);
    return ended(&t);
}
