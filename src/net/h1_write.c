/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/h1_parts.h"

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
    static const char *const own[] = {
        "host",       "content-length", "transfer-encoding",
        "connection", "keep-alive",     "proxy-connection",
        "te",         "trailer",        "upgrade",
        "expect",
    };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (sn_str_eq_nocase(name, sn_str_of(own[i])))
            return true;
    return false;
}

/* Printable ASCII without blanks: what a parsed URL has. */
static bool
is_plain(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= 0x20 || s.ptr[i] >= 0x7f)
            return false;
    return true;
}

static bool
is_target(const sn_h1_request *r)
{
    if (r->form == SN_H1_AUTHORITY)
        return r->target.len == 0;
    if (r->form == SN_H1_ORIGIN && sn_str_eq(r->target, SN_STR("*")))
        return sn_str_eq(r->method, SN_STR("OPTIONS"));
    return r->target.len > 0 && r->target.ptr[0] == '/' && is_plain(r->target);
}

static bool
is_sound(const sn_h1_request *r)
{
    if (!sn_h1_is_name(r->method) || r->host.len == 0 || !is_plain(r->host) ||
        memchr(r->host.ptr, '/', r->host.len) || !is_target(r))
        return false;
    for (size_t i = 0; i < r->n_fields; i++)
        if (!sn_h1_is_name(r->fields[i].name) || !sn_h1_is_value(r->fields[i].value) ||
            sn_h1_is_own_field(r->fields[i].name))
            return false;
    return true;
}

/* These say how long nothing is; others have no body unless there is one. */
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

seine_err
sn_h1_write(const sn_h1_request *r, sn_buf *out)
{
    size_t before = out->len;

    if (!is_sound(r))
        return SEINE_E_INVAL;
    write_line(r, out);
    for (size_t i = 0; i < r->n_fields; i++)
        write_field(r->fields[i].name, r->fields[i].value, out);
    if (r->close)
        write_field(SN_STR("Connection"), SN_STR("close"), out);
    if (has_length(r)) {
        sn_buf_str(out, SN_STR("Content-Length: "));
        sn_buf_u64(out, r->body.len);
        sn_buf_str(out, SN_STR("\r\n"));
    }
    sn_buf_str(out, SN_STR("\r\n"));
    sn_buf_str(out, r->body);
    seine_err e = sn_buf_done(out);
    if (e != SEINE_OK)
        sn_buf_truncate(out, before);
    return e;
}
