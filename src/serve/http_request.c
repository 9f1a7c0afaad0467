/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http_request.h"

#include <string.h>

#include "net/h1.h"

enum { HEAD, LENGTH, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER };
enum { SIZE_LINE = 256 }; /* bytes of a chunk's line with its extensions */

static sn_http_event
bad(sn_http_reader *r, int status)
{
    r->status = status;
    return SN_HTTP_BAD;
}

void
sn_http_reader_next(sn_http_reader *r)
{
    sn_http_limits limits = r->limits;

    *r = (sn_http_reader){.limits = limits};
}

bool
sn_http_reader_is_idle(const sn_http_reader *r, size_t n)
{
    return r->state == HEAD && r->start >= n;
}

bool
sn_http_field(const sn_http_request *req, sn_str name, unsigned nth, sn_str *out_value)
{
    for (uint32_t i = 0; i < req->n_fields; i++)
        if (sn_str_eq_nocase(req->fields[i].name, name) && nth-- == 0) {
            *out_value = req->fields[i].value;
            return true;
        }
    return false;
}

/* Moves behind the next line feed; false: there is none yet. */
static bool
find_line(sn_http_reader *r, const char *bytes, size_t n)
{
    const char *end = r->at < n ? memchr(bytes + r->at, '\n', n - r->at) : NULL;

    if (!end) {
        r->at = n;
        return false;
    }
    r->at = (size_t)(end - bytes) + 1;
    return true;
}

/* Does the line that ends at r->at end with CRLF, and hold no other CR? Lengths are
 * judged first: a line that is too long is refused as that before its end has come. */
static bool
is_line(const sn_http_reader *r, const char *bytes, size_t from)
{
    size_t len = r->at - from;

    return len >= 2 && bytes[r->at - 2] == '\r' && !memchr(bytes + from, '\r', len - 2);
}

/* Empty lines before a request are passed over (RFC 9112, 2.2). */
static sn_http_event
skip_empty(sn_http_reader *r, const char *bytes, size_t n)
{
    while (r->start + 1 < n && bytes[r->start] == '\r' && bytes[r->start + 1] == '\n')
        r->start += 2;
    if (r->start > r->limits.line)
        return bad(r, 400);
    if (r->at < r->start)
        r->at = r->start;
    return SN_HTTP_WHOLE;
}

static bool
is_target(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] <= ' ' || s.ptr[i] == 0x7f)
            return false;
    return s.len > 0;
}

/* An absolute URL becomes its path, since the gate serves every host alike. */
static bool
read_target(sn_str text, sn_http_request *out)
{
    if (!is_target(text))
        return false;
    out->target = text;
    if (text.ptr[0] == '/' || sn_str_eq(text, SN_STR("*")))
        return true;
    if (sn_str_eq(out->method, SN_STR("CONNECT")))
        return true;
    if (!sn_str_starts_nocase(text, SN_STR("http://")) &&
        !sn_str_starts_nocase(text, SN_STR("https://")))
        return false;
    size_t host = sn_str_find(text, ':') + 3, path = host;
    while (path < text.len && text.ptr[path] != '/' && text.ptr[path] != '?')
        path++;
    out->target = path < text.len && text.ptr[path] == '/'
                      ? sn_str_slice(text, path, text.len)
                      : SN_STR("/");
    return path > host;
}

static int
read_version(sn_str text, sn_http_request *out)
{
    if (text.len != 8 || !sn_str_starts(text, SN_STR("HTTP/")) ||
        !sn_is_digit(text.ptr[5]) || text.ptr[6] != '.' || !sn_is_digit(text.ptr[7]))
        return 400;
    if (text.ptr[5] != '1')
        return 505;
    out->minor = text.ptr[7] == '0' ? 0 : 1;
    return 0;
}

/* 0, or the status that refuses it. */
static int
read_request_line(sn_str line, sn_http_request *out)
{
    sn_str rest, target, version;

    if (!sn_str_cut(line, ' ', &out->method, &rest) ||
        !sn_str_cut(rest, ' ', &target, &version) || !sn_h1_is_name(out->method))
        return 400;
    int status = read_version(version, out);
    if (status)
        return status;
    return read_target(target, out) ? 0 : 400;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int
read_field(sn_http_reader *r, sn_str line, sn_http_request *out)
{
    sn_str name, value;

    if (!sn_str_cut(line, ':', &name, &value) || !sn_h1_is_name(name))
        return 400; /* also a folded line and a blank before the colon */
    while (value.len > 0 && is_blank(value.ptr[0]))
        value = sn_str_slice(value, 1, value.len);
    while (value.len > 0 && is_blank(value.ptr[value.len - 1]))
        value.len--;
    if (!sn_h1_is_value(value))
        return 400;
    if (out->n_fields == r->limits.fields)
        return 431;
    out->fields[out->n_fields++] = (seine_field){name, value};
    return 0;
}

/* How many fields have the name; the first one's value. */
static unsigned
find_fields(const sn_http_request *req, const char *name, sn_str *out_value)
{
    unsigned n = 0;
    sn_str unused;

    while (sn_http_field(req, sn_str_of(name), n, n == 0 ? out_value : &unused))
        n++;
    return n;
}

static void
read_connection(sn_http_request *out)
{
    sn_str value, word;

    out->keeps = out->minor > 0;
    for (unsigned i = 0; sn_http_field(out, SN_STR("connection"), i, &value); i++)
        while (sn_str_next(&value, ',', &word)) {
            word = sn_str_trim(word);
            if (sn_str_eq_nocase(word, SN_STR("close"))) {
                out->keeps = false;
                return;
            }
            if (sn_str_eq_nocase(word, SN_STR("keep-alive")))
                out->keeps = true;
        }
}

static int
read_length(sn_http_reader *r, sn_str text)
{
    uint64_t n;
    seine_err e = sn_str_u64(text, &n);

    if (e == SEINE_E_INVAL)
        return 400;
    if (e != SEINE_OK || n > r->limits.body)
        return 413;
    r->left = (size_t)n;
    return 0;
}

/* Where does the body end? Whatever two readers could answer differently is refused. */
static int
read_framing(sn_http_reader *r, const sn_http_request *req)
{
    sn_str length = {NULL, 0}, coding = {NULL, 0}, expect = {NULL, 0};
    unsigned lengths = find_fields(req, "content-length", &length);
    unsigned codings = find_fields(req, "transfer-encoding", &coding);

    if (lengths + codings > 1)
        return 400;
    if (codings && req->minor == 0)
        return 400;
    if (codings && !sn_str_eq_nocase(coding, SN_STR("chunked")))
        return 501;
    r->is_chunked = codings > 0;
    int status = lengths ? read_length(r, length) : 0;
    if (status == 0 && find_fields(req, "expect", &expect) && req->minor > 0) {
        if (!sn_str_eq_nocase(expect, SN_STR("100-continue")))
            return 417;
        r->wants_continue = r->is_chunked || r->left > 0;
    }
    return status;
}

static int
read_host(const sn_http_request *req)
{
    sn_str host;
    unsigned n = find_fields(req, "host", &host);

    return n == 1 || (n == 0 && req->minor == 0) ? 0 : 400;
}

/* All lines are there. */
static int
read_head(sn_http_reader *r, const char *bytes, sn_http_request *out)
{
    sn_str rest = {bytes + r->start, r->head_end - r->start - 2}, line;
    size_t end = sn_str_find(rest, '\n');
    int status = read_request_line((sn_str){rest.ptr, end - 1}, out);

    out->n_fields = 0;
    rest = sn_str_slice(rest, end + 1, rest.len);
    while (status == 0 && sn_str_next(&rest, '\n', &line))
        status = read_field(r, (sn_str){line.ptr, line.len - 1}, out);
    if (status == 0)
        status = read_host(out);
    if (status == 0)
        read_connection(out);
    return status;
}

/* Looks for the empty line that ends the head. */
static sn_http_event
scan_head(sn_http_reader *r, const char *bytes, size_t n)
{
    size_t from = r->head_end ? r->head_end : r->start; /* of the line being read */

    for (;;) {
        bool is_there = find_line(r, bytes, n);

        if (from == r->start && r->at - from > r->limits.line)
            return bad(r, 414);
        if (r->at - r->start > r->limits.head)
            return bad(r, 431);
        if (!is_there)
            return SN_HTTP_MORE;
        if (!is_line(r, bytes, from))
            return bad(r, 400);
        bool is_end = r->at - from == 2;
        from = r->head_end = r->at;
        if (is_end)
            return SN_HTTP_WHOLE;
    }
}

/* Bytes that no request begins with, TLS for instance, need not wait for a line end. */
static bool
is_hopeless(const sn_http_reader *r, const char *bytes, size_t n)
{
    sn_str first = {bytes + r->start, 1};

    return n > r->start && bytes[r->start] != '\r' && !sn_h1_is_name(first);
}

static sn_http_event
do_head(sn_http_reader *r, const char *bytes, size_t n, sn_http_request *out)
{
    sn_http_event e = skip_empty(r, bytes, n);

    if (e == SN_HTTP_WHOLE && is_hopeless(r, bytes, n))
        e = bad(r, 400);
    if (e == SN_HTTP_WHOLE)
        e = scan_head(r, bytes, n);
    if (e != SN_HTTP_WHOLE)
        return e;
    int status = read_head(r, bytes, out);
    r->base = bytes;
    if (status == 0)
        status = read_framing(r, out);
    if (status)
        return bad(r, status);
    r->body_end = r->head_end;
    r->state = r->is_chunked ? CHUNK_SIZE : LENGTH;
    return SN_HTTP_WHOLE;
}

static sn_http_event
do_length(sn_http_reader *r, size_t n)
{
    if (n - r->head_end < r->left)
        return SN_HTTP_MORE;
    r->body_end = r->used = r->head_end + r->left;
    return SN_HTTP_WHOLE;
}

/* "1a;name=value" CRLF. */
static sn_http_event
do_chunk_size(sn_http_reader *r, const char *bytes, size_t n, size_t from)
{
    size_t size = 0, digits = 0;

    bool is_there = find_line(r, bytes, n);
    if (r->at - from > SIZE_LINE || (is_there && !is_line(r, bytes, from)))
        return bad(r, 400);
    if (!is_there)
        return SN_HTTP_MORE;
    for (int d; (d = sn_hex_digit(bytes[from + digits])) >= 0; digits++) {
        if (digits == 8)
            return bad(r, 413);
        size = size << 4 | (size_t)d;
    }
    char next = bytes[from + digits];
    sn_str extensions = {bytes + from + digits, r->at - from - digits - 2};
    if (digits == 0 || (next != '\r' && next != ';') || !sn_h1_is_value(extensions))
        return bad(r, 400);
    if (size > r->limits.body - (r->body_end - r->head_end))
        return bad(r, 413);
    r->left = size;
    r->state = size ? CHUNK : TRAILER;
    r->trailers = r->at;
    return SN_HTTP_WHOLE;
}

/* Moves the bytes of the chunk to those before them. */
static sn_http_event
do_chunk(sn_http_reader *r, char *bytes, size_t n)
{
    size_t there = n - r->at < r->left ? n - r->at : r->left;

    memmove(bytes + r->body_end, bytes + r->at, there);
    r->body_end += there;
    r->at += there;
    r->left -= there;
    if (r->left)
        return SN_HTTP_MORE;
    r->state = CHUNK_END;
    return SN_HTTP_WHOLE;
}

static sn_http_event
do_chunk_end(sn_http_reader *r, const char *bytes, size_t n)
{
    if ((n > r->at && bytes[r->at] != '\r') ||
        (n > r->at + 1 && bytes[r->at + 1] != '\n'))
        return bad(r, 400);
    if (n < r->at + 2)
        return SN_HTTP_MORE;
    r->at += 2;
    r->state = CHUNK_SIZE;
    r->trailers = r->at;
    return SN_HTTP_WHOLE;
}

/* Trailers are checked and dropped. */
static sn_http_event
do_trailer(sn_http_reader *r, const char *bytes, size_t n)
{
    size_t from = r->trailers;

    for (;;) {
        bool is_there = find_line(r, bytes, n);
        sn_str line = {bytes + from, r->at - from - 2}, name, value;

        if (r->left + (r->at - from) > r->limits.head)
            return bad(r, 431);
        if (!is_there)
            return SN_HTTP_MORE;
        if (!is_line(r, bytes, from))
            return bad(r, 400);
        if (line.len == 0) {
            r->used = r->at;
            return SN_HTTP_WHOLE;
        }
        if (!sn_str_cut(line, ':', &name, &value) || !sn_h1_is_name(name) ||
            !sn_h1_is_value(value))
            return bad(r, 400);
        r->left += r->at - from;
        from = r->trailers = r->at;
    }
}

sn_http_event
sn_http_read(sn_http_reader *r, char *bytes, size_t n, sn_http_request *out_request)
{
    sn_http_event e = SN_HTTP_WHOLE;

    while (e == SN_HTTP_WHOLE && r->used == 0)
        switch (r->state) {
        case HEAD:
            e = do_head(r, bytes, n, out_request);
            break;
        case LENGTH:
            e = do_length(r, n);
            break;
        case CHUNK_SIZE:
            e = do_chunk_size(r, bytes, n, r->trailers ? r->trailers : r->head_end);
            break;
        case CHUNK:
            e = do_chunk(r, bytes, n);
            break;
        case CHUNK_END:
            e = do_chunk_end(r, bytes, n);
            break;
        default:
            e = do_trailer(r, bytes, n);
            break;
        }
    if (e != SN_HTTP_WHOLE)
        return e;
    r->wants_continue = false;
    if (r->base != bytes) /* the buffer has moved since the head was read */
        (void)read_head(r, bytes, out_request);
    out_request->body = (sn_str){bytes + r->head_end, r->body_end - r->head_end};
    return SN_HTTP_WHOLE;
}
