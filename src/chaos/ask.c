/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/ask.h"

#include <string.h>

static snc_ask_got
bad(snc_ask *ask, const char *why)
{
    ask->why = why;
    return SNC_ASK_BAD;
}

/* RFC 9110, 5.6.2. */
static bool
is_token(sn_str s)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_digit(s.ptr[i]) && !sn_is_alpha(s.ptr[i]) &&
            !memchr(marks, s.ptr[i], sizeof marks - 1))
            return false;
    return s.len > 0;
}

/* Visible ASCII alone. */
static bool
is_visible(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= 0x20 || s.ptr[i] >= 0x7f)
            return false;
    return true;
}

/* Field values: anything but control bytes; a tab is fine. */
static bool
is_value(sn_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* RFC 9112, 3.2.3: HOST:PORT and nothing else. */
static bool
read_authority(snc_ask *ask)
{
    sn_str host = ask->target;
    size_t colon = host.len;

    while (colon > 0 && sn_is_digit(host.ptr[colon - 1]))
        colon--;
    ask->connect = true;
    ask->host = host;
    return colon > 1 && colon < host.len && host.len - colon <= 5 &&
           host.ptr[colon - 1] == ':' && sn_str_find(host, '/') == host.len &&
           sn_str_find(host, '@') == host.len;
}

/* http://host:1/path?query becomes its parts. */
static bool
read_target(snc_ask *ask)
{
    sn_str rest = ask->target;

    if (sn_str_eq(ask->method, SN_STR("CONNECT")))
        return read_authority(ask);
    if (sn_str_starts_nocase(rest, SN_STR("http://"))) {
        rest = sn_str_slice(rest, 7, rest.len);
        size_t slash = sn_str_find(rest, '/'), mark = sn_str_find(rest, '?');
        size_t end = slash < mark ? slash : mark;

        ask->host = sn_str_slice(rest, 0, end);
        ask->absolute = true;
        rest = sn_str_slice(rest, end, rest.len);
        if (ask->host.len == 0)
            return false;
    } else if (sn_str_eq(rest, SN_STR("*"))) {
        ask->path = rest;
        return sn_str_eq(ask->method, SN_STR("OPTIONS"));
    } else if (rest.len == 0 || rest.ptr[0] != '/') {
        return false;
    }
    sn_str_cut(rest, '?', &ask->path, &ask->query);
    if (ask->path.len == 0)
        ask->path = SN_STR("/");
    return true;
}

static snc_ask_got
read_line(snc_ask *ask, sn_str line)
{
    sn_str rest, version;

    if (!sn_str_cut(line, ' ', &ask->method, &rest) ||
        !sn_str_cut(rest, ' ', &ask->target, &version))
        return bad(ask, "request line is not METHOD TARGET VERSION");
    if (!is_token(ask->method))
        return bad(ask, "method is no token");
    if (!is_visible(ask->target) || sn_str_find(ask->target, '#') < ask->target.len)
        return bad(ask, "target holds a byte it may not hold");
    if (version.len != 8 || memcmp(version.ptr, "HTTP/1.", 7) != 0 ||
        (version.ptr[7] != '0' && version.ptr[7] != '1'))
        return bad(ask, "version is not HTTP/1.0 or HTTP/1.1");
    ask->minor = (unsigned)(version.ptr[7] - '0');
    return read_target(ask) ? SNC_ASK_OK : bad(ask, "target is neither a path nor a URL");
}

static snc_ask_got
read_length(snc_ask *ask, sn_str value, bool *has_length)
{
    uint64_t n;

    if (sn_str_u64(value, &n) != SEINE_OK || n > INT64_MAX)
        return bad(ask, "Content-Length is no number");
    if (*has_length && n != ask->length)
        return bad(ask, "two Content-Length fields differ");
    *has_length = true;
    ask->length = n;
    return SNC_ASK_OK;
}

static void
read_connection(snc_ask *ask, sn_str value)
{
    sn_str option;

    while (sn_str_next(&value, ',', &option)) {
        option = sn_str_trim(option);
        if (sn_str_eq_nocase(option, SN_STR("close")))
            ask->keep_alive = false;
        else if (ask->minor == 0 && sn_str_eq_nocase(option, SN_STR("keep-alive")))
            ask->keep_alive = true;
    }
}

static snc_ask_got
read_fields(snc_ask *ask)
{
    bool has_host = false, has_length = false;

    for (size_t i = 0; i < ask->count; i++) {
        sn_str name = ask->fields[i].name, value = ask->fields[i].value;

        if (sn_str_eq_nocase(name, SN_STR("host"))) {
            if (has_host)
                return bad(ask, "two Host fields");
            if (!is_visible(value))
                return bad(ask, "Host holds a byte it may not hold");
            has_host = true;
            if (!ask->absolute && !ask->connect)
                ask->host = value;
        } else if (sn_str_eq_nocase(name, SN_STR("content-length"))) {
            if (read_length(ask, value, &has_length) != SNC_ASK_OK)
                return SNC_ASK_BAD;
        } else if (sn_str_eq_nocase(name, SN_STR("transfer-encoding"))) {
            if (ask->chunked || !sn_str_eq_nocase(value, SN_STR("chunked")))
                return bad(ask, "Transfer-Encoding is not chunked");
            ask->chunked = true;
        } else if (sn_str_eq_nocase(name, SN_STR("connection"))) {
            read_connection(ask, value);
        } else if (sn_str_eq_nocase(name, SN_STR("expect"))) {
            ask->continues = sn_str_eq_nocase(value, SN_STR("100-continue"));
        }
    }
    if (ask->minor > 0 && !has_host)
        return bad(ask, "no Host field");
    if (ask->chunked && has_length)
        return bad(ask, "Content-Length and Transfer-Encoding together");
    if (ask->chunked && ask->minor == 0)
        return bad(ask, "Transfer-Encoding in HTTP/1.0");
    return SNC_ASK_OK;
}

static snc_ask_got
add_field(snc_ask *ask, sn_str line)
{
    sn_str name, value;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return bad(ask, "folded line");
    if (!sn_str_cut(line, ':', &name, &value))
        return bad(ask, "field without a colon");
    if (!is_token(name))
        return bad(ask, "field name is no token");
    value = sn_str_trim(value);
    if (!is_value(value))
        return bad(ask, "control byte in a field");
    if (ask->count == SNC_ASK_FIELDS)
        return bad(ask, "too many fields");
    ask->fields[ask->count++] = (snc_ask_field){name, value};
    return SNC_ASK_OK;
}

/* The next line without its CRLF. A line feed alone, or a carriage return inside
 * of a line, is no line end here. */
static snc_ask_got
next_line(snc_ask *ask, sn_str *rest, sn_str *out_line)
{
    size_t at = sn_str_find(*rest, '\n');

    if (at == rest->len)
        return SNC_ASK_MORE;
    if (at == 0 || rest->ptr[at - 1] != '\r')
        return bad(ask, "line does not end in CRLF");
    *out_line = sn_str_slice(*rest, 0, at - 1);
    *rest = sn_str_slice(*rest, at + 1, rest->len);
    if (sn_str_find(*out_line, '\r') < out_line->len)
        return bad(ask, "carriage return inside of a line");
    return SNC_ASK_OK;
}

snc_ask_got
snc_ask_head(snc_ask *ask, sn_str bytes)
{
    sn_str rest = bytes, line;
    snc_ask_got got;

    memset(ask, 0, offsetof(snc_ask, fields));
    got = next_line(ask, &rest, &line);
    if (got == SNC_ASK_OK) {
        got = read_line(ask, line);
        ask->keep_alive = ask->minor > 0;
    }
    while (got == SNC_ASK_OK && (got = next_line(ask, &rest, &line)) == SNC_ASK_OK &&
           line.len > 0)
        got = add_field(ask, line);
    if (got == SNC_ASK_MORE && bytes.len >= SNC_ASK_HEAD)
        return bad(ask, "head is too large");
    if (got != SNC_ASK_OK)
        return got;
    ask->head_len = bytes.len - rest.len;
    return read_fields(ask);
}

sn_str
snc_ask_field_of(const snc_ask *ask, sn_str name)
{
    for (size_t i = 0; i < ask->count; i++)
        if (sn_str_eq_nocase(ask->fields[i].name, name))
            return ask->fields[i].value;
    return (sn_str){NULL, 0};
}

sn_str
snc_ask_cookie(const snc_ask *ask, sn_str name)
{
    for (size_t i = 0; i < ask->count; i++) {
        sn_str rest = ask->fields[i].value, pair, key, value;

        if (!sn_str_eq_nocase(ask->fields[i].name, SN_STR("cookie")))
            continue;
        while (sn_str_next(&rest, ';', &pair))
            if (sn_str_cut(sn_str_trim(pair), '=', &key, &value) && sn_str_eq(key, name))
                return value;
    }
    return (sn_str){NULL, 0};
}

sn_str
snc_ask_host_name(const snc_ask *ask)
{
    sn_str host = ask->host;
    size_t end = host.len;

    while (end > 0 && sn_is_digit(host.ptr[end - 1]))
        end--;
    return end > 0 && host.ptr[end - 1] == ':' ? sn_str_slice(host, 0, end - 1) : host;
}
