/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/h1_parts.h"
#include "net/h1_scan.h"

/* clang-format off */
const uint8_t sn_h1_token[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1,
    ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1, ['~'] = 1,
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
    ['8'] = 1, ['9'] = 1,
    ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1,
    ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1,
    ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1,
    ['Y'] = 1, ['Z'] = 1,
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,
    ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1,
    ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
    ['y'] = 1, ['z'] = 1,
};
/* clang-format on */

bool
sn_h1_is_name(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_h1_token[(unsigned char)s.ptr[i]])
            return false;
    return s.len > 0;
}

bool
sn_h1_is_value(sn_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

bool
sn_h1_is_own_field(sn_str name)
{
    static const sn_str own[] = {
        {"te", 2},
        {"host", 4},
        {"expect", 6},
        {"trailer", 7},
        {"upgrade", 7},
        {"connection", 10},
        {"keep-alive", 10},
        {"content-length", 14},
        {"proxy-connection", 16},
        {"transfer-encoding", 17},
        {"proxy-authorization", 19},
    };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (name.len == own[i].len && sn_str_eq_nocase(name, own[i]))
            return true;
    return false;
}

/* Printable ASCII without blanks, as in a parsed URL, and no fragment, which is never
 * sent. Bytes from 0x80 on are below a blank as signed numbers. */
static bool
is_plain_byte(char c)
{
    return (signed char)c > ' ' && c != 0x7f && c != '#';
}

/* The same of eight bytes at once. */
typedef signed char eight __attribute__((vector_size(8)));

static bool
are_plain(const char *bytes)
{
    eight b;
    uint64_t bad;

    memcpy(&b, bytes, sizeof b);
    b = (b <= ' ') | (b == 0x7f) | (b == '#');
    memcpy(&bad, &b, sizeof bad);
    return bad == 0;
}

static bool
is_plain(sn_str s)
{
    size_t i = 0;

    for (; i + 8 <= s.len; i += 8)
        if (!are_plain(s.ptr + i))
            return false;
    if (s.len >= 8)
        return i == s.len || are_plain(s.ptr + s.len - 8); /* overlaps plain bytes */
    for (; i < s.len; i++)
        if (!is_plain_byte(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* True if no byte would end the host in the absolute form. */
static bool
is_host(sn_str s)
{
    static const uint8_t ends[256] = {['/'] = 1, ['?'] = 1, ['@'] = 1, ['\\'] = 1};

    for (size_t i = 0; i < s.len; i++)
        if (ends[(unsigned char)s.ptr[i]])
            return false;
    return is_plain(s);
}

static bool
is_target(const sn_h1_request *r)
{
    if (r->form == SN_H1_AUTHORITY)
        return r->target.len == 0 && r->body.len == 0;
    if (r->form == SN_H1_ORIGIN && sn_str_eq(r->target, SN_STR("*")))
        return sn_str_eq(r->method, SN_STR("OPTIONS"));
    return is_plain(r->target) && r->target.ptr[0] == '/';
}

static bool
are_sound(const sn_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!sn_h1_is_name(fields[i].name) || !sn_h1_is_value(fields[i].value) ||
            sn_h1_is_own_field(fields[i].name))
            return false;
    return true;
}

static bool
is_sound(const sn_h1_request *r)
{
    bool connects = sn_str_eq(r->method, SN_STR("CONNECT"));

    return sn_h1_is_value(r->authorization) && sn_h1_is_name(r->method) &&
           is_host(r->host) && is_target(r) && connects == (r->form == SN_H1_AUTHORITY) &&
           (r->written.len > 0 || are_sound(r->fields, r->n_fields));
}

/* These methods send Content-Length: 0 without a body; others send nothing. */
static bool
has_length(const sn_h1_request *r)
{
    return r->body.len > 0 || sn_str_eq(r->method, SN_STR("POST")) ||
           sn_str_eq(r->method, SN_STR("PUT")) || sn_str_eq(r->method, SN_STR("PATCH"));
}

static void
write_line(const sn_h1_request *r, sn_buf *out)
{
    sn_buf_str(out, r->method);
    sn_buf_char(out, ' ');
    if (r->form == SN_H1_ABSOLUTE)
        sn_buf_str(out, SN_STR("http://"));
    if (r->form != SN_H1_ORIGIN)
        sn_buf_str(out, r->host);
    sn_buf_str(out, r->target);
    sn_buf_str(out, SN_STR(" HTTP/1.1\r\nHost: "));
    sn_buf_str(out, r->host);
    sn_buf_str(out, SN_STR("\r\n"));
}

static void
write_field(sn_str name, sn_str value, sn_buf *out)
{
    sn_buf_str(out, name);
    sn_buf_str(out, SN_STR(": "));
    sn_buf_str(out, value);
    sn_buf_str(out, SN_STR("\r\n"));
}

static void
write_fields(const sn_field *fields, size_t n, sn_buf *out)
{
    for (size_t i = 0; i < n; i++)
        write_field(fields[i].name, fields[i].value, out);
}

static seine_err
done_or_nothing(sn_buf *out, size_t before)
{
    seine_err e = sn_buf_done(out);

    if (e != SEINE_OK)
        sn_buf_truncate(out, before);
    return e;
}

seine_err
sn_h1_write_fields(const sn_field *fields, size_t n, sn_buf *out)
{
    size_t before = out->len;

    if (!are_sound(fields, n))
        return SEINE_E_INVAL;
    write_fields(fields, n, out);
    return done_or_nothing(out, before);
}

/* A GET as nearly all are: of the origin form, without a body, with fields that were
 * written before. */
static bool
is_usual(const sn_h1_request *r)
{
    return r->form == SN_H1_ORIGIN && r->written.len > 0 && r->authorization.len == 0 &&
           !r->close && r->body.len == 0 && r->method.len == 3 &&
           memcmp(r->method.ptr, "GET", 3) == 0 && r->target.len > 0 &&
           r->target.ptr[0] == '/';
}

static char *
put(char *to, sn_str s)
{
    memcpy(to, s.ptr, s.len);
    return to + s.len;
}

#define PUT(to, text) put(to, SN_STR(text))

/* Writes it in one step. */
static seine_err
write_usual(const sn_h1_request *r, sn_buf *out)
{
    static const char words[] = "GET  HTTP/1.1\r\nHost: \r\n\r\n";
    size_t n = sizeof words - 1, more;

    if (!is_host(r->host) || !is_plain(r->target))
        return SEINE_E_INVAL;
    if (__builtin_add_overflow(r->target.len, r->host.len, &more) ||
        __builtin_add_overflow(more, r->written.len, &more) ||
        __builtin_add_overflow(n, more, &n))
        return SEINE_E_FULL;
    char *to = sn_buf_reserve(out, n);
    if (!to)
        return sn_buf_done(out);
    to = PUT(to, "GET ");
    to = put(to, r->target);
    to = PUT(to, " HTTP/1.1\r\nHost: ");
    to = put(to, r->host);
    to = PUT(to, "\r\n");
    to = put(to, r->written);
    PUT(to, "\r\n");
    sn_buf_commit(out, n);
    return SEINE_OK;
}

seine_err
sn_h1_write(const sn_h1_request *r, sn_buf *out)
{
    size_t before = out->len;

    if (is_usual(r))
        return write_usual(r, out);

    if (!is_sound(r))
        return SEINE_E_INVAL;
    write_line(r, out);
    if (r->written.len > 0)
        sn_buf_str(out, r->written);
    else
        write_fields(r->fields, r->n_fields, out);
    if (r->authorization.len > 0)
        write_field(SN_STR("Proxy-Authorization"), r->authorization, out);
    if (r->close)
        write_field(SN_STR("Connection"), SN_STR("close"), out);
    if (has_length(r)) {
        sn_buf_str(out, SN_STR("Content-Length: "));
        sn_buf_u64(out, r->body.len);
        sn_buf_str(out, SN_STR("\r\n"));
    }
    sn_buf_str(out, SN_STR("\r\n"));
    sn_buf_str(out, r->body);
    return done_or_nothing(out, before);
}
