/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/request.h"

#include <string.h>

static snc_parsed
bad_request(snc_request *req, const char *why)
{
    req->why = why;
    return SNC_PARSED_BAD;
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

/* Is it visible ASCII alone? */
static bool
is_visible(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= 0x20 || s.ptr[i] >= 0x7f)
            return false;
    return true;
}

/* Is it a field value: no control bytes but tabs? */
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
read_authority(snc_request *req)
{
    sn_str host = req->target;
    size_t colon = host.len;

    while (colon > 0 && sn_is_digit(host.ptr[colon - 1]))
        colon--;
    req->connect = true;
    req->host = host;
    return colon > 1 && colon < host.len && host.len - colon <= 5 &&
           host.ptr[colon - 1] == ':' && sn_str_find(host, '/') == host.len &&
           sn_str_find(host, '@') == host.len;
}

/* Splits http://host:1/path?query into its parts. */
static bool
read_target(snc_request *req)
{
    sn_str rest = req->target;

    if (sn_str_eq(req->method, SN_STR("CONNECT")))
        return read_authority(req);
    if (sn_str_starts_nocase(rest, SN_STR("http://"))) {
        rest = sn_str_slice(rest, 7, rest.len);
        size_t slash = sn_str_find(rest, '/'), mark = sn_str_find(rest, '?');
        size_t end = slash < mark ? slash : mark;

        req->host = sn_str_slice(rest, 0, end);
        req->absolute = true;
        rest = sn_str_slice(rest, end, rest.len);
        if (req->host.len == 0)
            return false;
    } else if (sn_str_eq(rest, SN_STR("*"))) {
        req->path = rest;
        return sn_str_eq(req->method, SN_STR("OPTIONS"));
    } else if (rest.len == 0 || rest.ptr[0] != '/') {
        return false;
    }
    sn_str_cut(rest, '?', &req->path, &req->query);
    if (req->path.len == 0)
        req->path = SN_STR("/");
    return true;
}

static snc_parsed
read_line(snc_request *req, sn_str line)
{
    sn_str rest, version;

    if (!sn_str_cut(line, ' ', &req->method, &rest) ||
        !sn_str_cut(rest, ' ', &req->target, &version))
        return bad_request(req, "request line is not METHOD TARGET VERSION");
    if (!is_token(req->method))
        return bad_request(req, "method is no token");
    if (!is_visible(req->target) || sn_str_find(req->target, '#') < req->target.len)
        return bad_request(req, "target holds a byte it may not hold");
    if (version.len != 8 || memcmp(version.ptr, "HTTP/1.", 7) != 0 ||
        (version.ptr[7] != '0' && version.ptr[7] != '1'))
        return bad_request(req, "version is not HTTP/1.0 or HTTP/1.1");
    req->minor = (unsigned)(version.ptr[7] - '0');
    return read_target(req) ? SNC_PARSED_OK
                            : bad_request(req, "target is neither a path nor a URL");
}

static snc_parsed
read_length(snc_request *req, sn_str value, bool *has_length)
{
    uint64_t n;

    if (sn_str_u64(value, &n) != SEINE_OK || n > INT64_MAX)
        return bad_request(req, "Content-Length is no number");
    if (*has_length && n != req->length)
        return bad_request(req, "two Content-Length fields differ");
    *has_length = true;
    req->length = n;
    return SNC_PARSED_OK;
}

static void
read_connection(snc_request *req, sn_str value)
{
    sn_str option;

    while (sn_str_next(&value, ',', &option)) {
        option = sn_str_trim(option);
        if (sn_str_eq_nocase(option, SN_STR("close")))
            req->keep_alive = false;
        else if (req->minor == 0 && sn_str_eq_nocase(option, SN_STR("keep-alive")))
            req->keep_alive = true;
    }
}

static snc_parsed
read_fields(snc_request *req)
{
    bool has_host = false, has_length = false;

    for (size_t i = 0; i < req->count; i++) {
        sn_str name = req->fields[i].name, value = req->fields[i].value;

        if (sn_str_eq_nocase(name, SN_STR("host"))) {
            if (has_host)
                return bad_request(req, "two Host fields");
            if (!is_visible(value))
                return bad_request(req, "Host holds a byte it may not hold");
            has_host = true;
            if (!req->absolute && !req->connect)
                req->host = value;
        } else if (sn_str_eq_nocase(name, SN_STR("content-length"))) {
            if (read_length(req, value, &has_length) != SNC_PARSED_OK)
                return SNC_PARSED_BAD;
        } else if (sn_str_eq_nocase(name, SN_STR("transfer-encoding"))) {
            if (req->chunked || !sn_str_eq_nocase(value, SN_STR("chunked")))
                return bad_request(req, "Transfer-Encoding is not chunked");
            req->chunked = true;
        } else if (sn_str_eq_nocase(name, SN_STR("connection"))) {
            read_connection(req, value);
        } else if (sn_str_eq_nocase(name, SN_STR("expect"))) {
            req->continues = sn_str_eq_nocase(value, SN_STR("100-continue"));
        }
    }
    if (req->minor > 0 && !has_host)
        return bad_request(req, "no Host field");
    if (req->chunked && has_length)
        return bad_request(req, "Content-Length and Transfer-Encoding together");
    if (req->chunked && req->minor == 0)
        return bad_request(req, "Transfer-Encoding in HTTP/1.0");
    return SNC_PARSED_OK;
}

static snc_parsed
add_field(snc_request *req, sn_str line)
{
    sn_str name, value;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return bad_request(req, "folded line");
    if (!sn_str_cut(line, ':', &name, &value))
        return bad_request(req, "field without a colon");
    if (!is_token(name))
        return bad_request(req, "field name is no token");
    value = sn_str_trim(value);
    if (!is_value(value))
        return bad_request(req, "control byte in a field");
    if (req->count == SNC_REQUEST_FIELDS)
        return bad_request(req, "too many fields");
    req->fields[req->count++] = (snc_request_field){name, value};
    return SNC_PARSED_OK;
}

/* The next line without its CRLF. A bare line feed, or a carriage return inside a line,
 * ends no line here. */
static snc_parsed
next_line(snc_request *req, sn_str *rest, sn_str *out_line)
{
    size_t at = sn_str_find(*rest, '\n');

    if (at == rest->len)
        return SNC_PARSED_MORE;
    if (at == 0 || rest->ptr[at - 1] != '\r')
        return bad_request(req, "line does not end in CRLF");
    *out_line = sn_str_slice(*rest, 0, at - 1);
    *rest = sn_str_slice(*rest, at + 1, rest->len);
    if (sn_str_find(*out_line, '\r') < out_line->len)
        return bad_request(req, "carriage return inside of a line");
    return SNC_PARSED_OK;
}

snc_parsed
snc_request_head(snc_request *req, sn_str bytes)
{
    sn_str rest = bytes, line;
    snc_parsed got;

    memset(req, 0, offsetof(snc_request, fields));
    got = next_line(req, &rest, &line);
    if (got == SNC_PARSED_OK) {
        got = read_line(req, line);
        req->keep_alive = req->minor > 0;
    }
    while (got == SNC_PARSED_OK &&
           (got = next_line(req, &rest, &line)) == SNC_PARSED_OK && line.len > 0)
        got = add_field(req, line);
    if (got == SNC_PARSED_MORE && bytes.len >= SNC_REQUEST_HEAD)
        return bad_request(req, "head is too large");
    if (got != SNC_PARSED_OK)
        return got;
    req->head_len = bytes.len - rest.len;
    return read_fields(req);
}

sn_str
snc_request_field_of(const snc_request *req, sn_str name)
{
    for (size_t i = 0; i < req->count; i++)
        if (sn_str_eq_nocase(req->fields[i].name, name))
            return req->fields[i].value;
    return (sn_str){NULL, 0};
}

sn_str
snc_request_cookie(const snc_request *req, sn_str name)
{
    for (size_t i = 0; i < req->count; i++) {
        sn_str rest = req->fields[i].value, pair, key, value;

        if (!sn_str_eq_nocase(req->fields[i].name, SN_STR("cookie")))
            continue;
        while (sn_str_next(&rest, ';', &pair))
            if (sn_str_cut(sn_str_trim(pair), '=', &key, &value) && sn_str_eq(key, name))
                return value;
    }
    return (sn_str){NULL, 0};
}

sn_str
snc_request_host_name(const snc_request *req)
{
    sn_str host = req->host;
    size_t end = host.len;

    while (end > 0 && sn_is_digit(host.ptr[end - 1]))
        end--;
    return end > 0 && host.ptr[end - 1] == ':' ? sn_str_slice(host, 0, end - 1) : host;
}
