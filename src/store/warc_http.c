/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_http.h"

#include <string.h>

enum { HEAD, LENGTH, UNTIL_END, SIZE, CHUNK, BEHIND_CHUNK, TRAILER, DONE, BAD };

void
sn_warc_http_begin(sn_warc_http *h, bool head_only)
{
    *h = (sn_warc_http){.head_only = head_only, .state = HEAD, .at_first = true};
}

/* Takes a line or a part of it; true at its end. Bytes that do not fit are dropped. */
static bool
take_line(sn_warc_http *h, sn_str *in)
{
    const char *newline = memchr(in->ptr, '\n', in->len);
    size_t n = newline ? (size_t)(newline - in->ptr) + 1 : in->len;
    size_t room = SN_WARC_LINE - (size_t)h->line_len, copied = n < room ? n : room;

    memcpy(h->line + h->line_len, in->ptr, copied);
    h->line_len = (uint16_t)(h->line_len + copied);
    h->taken += n;
    *in = (sn_str){in->ptr + n, in->len - n};
    return newline != NULL;
}

/* Returns the line without its line end. */
static sn_str
line_of(sn_warc_http *h)
{
    sn_str line = {h->line, h->line_len};

    h->line_len = 0;
    if (line.len > 0 && line.ptr[line.len - 1] == '\n')
        line.len--;
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Reads "HTTP/1.1 200 OK", or the first line of a request. */
static bool
first_line(sn_warc_http *h, sn_str line)
{
    sn_str version, rest, code;
    uint64_t status;

    if (!sn_str_starts_nocase(line, SN_STR("HTTP/"))) {
        h->is_request = memchr(line.ptr, ' ', line.len) != NULL;
        return h->is_request;
    }
    sn_str_cut(line, ' ', &version, &rest);
    rest = sn_str_trim(rest);
    sn_str_cut(rest, ' ', &code, &rest);
    if (code.len != 3 || sn_str_u64(code, &status) != SEINE_OK)
        return false;
    h->status = (uint16_t)status;
    return true;
}

static void
take_type(sn_warc_http *h, sn_str value)
{
    sn_str type, rest;

    sn_str_cut(value, ';', &type, &rest);
    type = sn_str_trim(type);
    if (type.len == 0 || type.len >= sizeof h->type || h->type[0])
        return;
    for (size_t i = 0; i < type.len; i++)
        h->type[i] = type.ptr[i] > ' ' && type.ptr[i] < 0x7f && type.ptr[i] != '"'
                         ? sn_lower(type.ptr[i])
                         : '?';
    h->type[type.len] = '\0';
}

static void
field_line(sn_warc_http *h, sn_str line)
{
    sn_str name, value;
    uint64_t n;

    if (!sn_str_cut(line, ':', &name, &value))
        return;
    name = sn_str_trim(name);
    value = sn_str_trim(value);
    if (sn_str_eq_nocase(name, SN_STR("content-type"))) {
        take_type(h, value);
    } else if (sn_str_eq_nocase(name, SN_STR("transfer-encoding"))) {
        size_t n_word = sizeof "chunked" - 1;

        h->is_chunked =
            value.len >= n_word &&
            sn_str_eq_nocase(sn_str_slice(value, value.len - n_word, value.len),
                             SN_STR("chunked"));
    } else if (sn_str_eq_nocase(name, SN_STR("content-length")) && !h->has_length &&
               sn_str_u64(value, &n) == SEINE_OK) {
        h->has_length = true;
        h->left = n;
    }
}

static void
end_head(sn_warc_http *h)
{
    if (h->status >= 100 && h->status < 200 && h->status != 101) {
        bool head_only = h->head_only;
        uint64_t taken = h->taken;

        sn_warc_http_begin(h, head_only);
        h->taken = taken;
        return;
    }
    h->has_head = true;
    h->head_len = h->taken;
    if (h->head_only || h->status == 101 || h->status == 204 || h->status == 304)
        h->state = DONE;
    else if (h->is_chunked)
        h->state = SIZE;
    else if (h->has_length)
        h->state = h->left > 0 ? LENGTH : DONE;
    else
        h->state = h->is_request ? DONE : UNTIL_END;
}

static void
head_line(sn_warc_http *h)
{
    sn_str line = line_of(h);

    if (h->at_first) {
        h->at_first = false;
        if (!first_line(h, line))
            h->state = BAD;
    } else if (line.len == 0) {
        end_head(h);
    } else {
        field_line(h, line);
    }
}

static void
size_line(sn_warc_http *h)
{
    sn_str line = line_of(h), size, rest;

    sn_str_cut(line, ';', &size, &rest);
    size = sn_str_trim(size);
    h->left = 0;
    if (size.len == 0 || size.len > 15)
        h->state = BAD;
    for (size_t i = 0; i < size.len && h->state != BAD; i++) {
        int digit = sn_hex_digit(size.ptr[i]);

        if (digit < 0)
            h->state = BAD;
        else
            h->left = h->left << 4 | (unsigned)digit;
    }
    if (h->state != BAD)
        h->state = h->left > 0 ? CHUNK : TRAILER;
}

static void
end_line(sn_warc_http *h)
{
    switch (h->state) {
    case HEAD:
        head_line(h);
        break;
    case SIZE:
        size_line(h);
        break;
    case BEHIND_CHUNK:
        h->state = line_of(h).len == 0 ? SIZE : BAD;
        break;
    default: /* TRAILER */
        if (line_of(h).len == 0)
            h->state = DONE;
    }
}

static sn_str
take_piece(sn_warc_http *h, sn_str *in)
{
    size_t n = in->len;

    if (h->state != UNTIL_END && n > h->left)
        n = (size_t)h->left;
    sn_str piece = {in->ptr, n};
    *in = (sn_str){in->ptr + n, in->len - n};
    h->taken += n;
    if (h->state == UNTIL_END)
        return piece;
    h->left -= n;
    if (h->left == 0)
        h->state = h->state == CHUNK ? BEHIND_CHUNK : DONE;
    return piece;
}

bool
sn_warc_http_next(sn_warc_http *h, sn_str *in, sn_str *out_piece)
{
    *out_piece = (sn_str){0};
    switch (h->state) {
    case DONE:
    case BAD:
        return false;
    case LENGTH:
    case UNTIL_END:
    case CHUNK:
        *out_piece = take_piece(h, in);
        return true;
    default:
        if (take_line(h, in))
            end_line(h);
        return true;
    }
}

bool
sn_warc_http_has_ended(const sn_warc_http *h)
{
    return h->state == DONE;
}

bool
sn_warc_http_is_whole(const sn_warc_http *h)
{
    return h->state == DONE || h->state == UNTIL_END;
}
