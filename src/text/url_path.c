/* SPDX-License-Identifier: Apache-2.0 */
#include "text/url.h"

static void
escape_byte(sn_url_build *b, char c)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)c;
    char escape[3] = {'%', digits[byte >> 4], digits[byte & 15]};

    sn_url_add(b, escape, sizeof escape);
}

/* Returns how many bytes of an invalid character are replaced together (the UTF-8 decoder
 * of the Encoding Standard). */
static size_t
broken(const char *at, const char *end)
{
    unsigned char first = (unsigned char)at[0];
    size_t most = first < 0xc2 || first > 0xf4 ? 1
                  : first < 0xe0               ? 2
                  : first < 0xf0               ? 3
                                               : 4;
    unsigned char low = 0x80, high = 0xbf;
    size_t n = 1;

    if (first == 0xe0 || first == 0xf0) /* excludes overlong forms */
        low = first == 0xe0 ? 0xa0 : 0x90;
    if (first == 0xed || first == 0xf4) /* no surrogates, none above U+10FFFF */
        high = first == 0xed ? 0x9f : 0x8f;
    for (; n < most && at + n < end; n++) {
        unsigned char byte = (unsigned char)at[n];

        if (byte < low || byte > high)
            break;
        low = 0x80;
        high = 0xbf;
    }
    return n;
}

/* Escapes all bytes of one character. */
static const char *
escape_one(sn_url_build *b, const char *at, const char *end)
{
    uint32_t c;
    size_t n = sn_utf8_decode((sn_str){at, (size_t)(end - at)}, &c);

    if (n == 0) {
        sn_url_add(b, "%EF%BF%BD", 9);
        return at + broken(at, end);
    }
    for (size_t i = 0; i < n; i++)
        escape_byte(b, at[i]);
    return at + n;
}

/* Finds the first byte in `bits`, four at a time, because few bytes are. */
static const char *
find_class(const char *at, const char *end, unsigned bits)
{
    for (; end - at >= 4; at += 4)
        if ((sn_url_is(at[0], bits) | sn_url_is(at[1], bits) | sn_url_is(at[2], bits) |
             sn_url_is(at[3], bits)) != 0)
            break;
    while (at < end && !sn_url_is(*at, bits))
        at++;
    return at;
}

const char *
sn_url_escape(sn_url_build *b, const char *at, const char *end, unsigned set,
              unsigned stop)
{
    while (at < end) {
        const char *run = at;

        at = find_class(at, end, set | stop);
        sn_url_add(b, run, (size_t)(at - run));
        b->steps += (size_t)(at - run) + 1;
        if (at == end || sn_url_is(*at, stop))
            break;
        at = escape_one(b, at, end);
    }
    return at;
}

bool
sn_url_is_drive(const char *at, size_t len)
{
    return len == 2 && sn_is_alpha(at[0]) && (at[1] == ':' || at[1] == '|');
}

bool
sn_url_starts_drive(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);

    return left >= 2 && sn_url_is_drive(at, 2) &&
           (left == 2 || sn_url_is(at[2], SN_URL_STOP));
}

void
sn_url_shorten(sn_url_build *b)
{
    const seine_url *u = b->u;
    size_t len = b->len;

    if (u->scheme == SN_SCHEME_FILE && len == u->path_at + 3u &&
        sn_url_is_drive(b->out + u->path_at + 1, 2))
        return;
    while (len > u->path_at && b->out[len - 1] != '/')
        len--;
    b->steps += b->len - len;
    b->len = len > u->path_at ? len - 1 : len;
}

/* Returns the length of a dot or its escape, or 0. */
static size_t
dot(const char *at, size_t len)
{
    if (len >= 1 && at[0] == '.')
        return 1;
    return len >= 3 && at[0] == '%' && at[1] == '2' && (at[2] | 0x20) == 'e' ? 3 : 0;
}

/* Returns 1 for ".", 2 for "..", 0 for a name. */
static int
dots(const char *at, size_t len)
{
    size_t first = dot(at, len), second;

    if (first == 0)
        return 0;
    if (first == len)
        return 1;
    second = dot(at + first, len - first);
    return second > 0 && first + second == len ? 2 : 0;
}

/* Writes one segment; true if a slash follows. */
static bool
write_segment(sn_url_build *b)
{
    for (;;) {
        b->at = sn_url_escape(b, b->at, b->end, SN_URL_PATH, SN_URL_STOP);
        if (b->at == b->end)
            return false;
        if (*b->at != '\\' || b->special)
            return *b->at == '/' || *b->at == '\\';
        sn_url_put(b, *b->at++);
    }
}

void
sn_url_write_path(sn_url_build *b)
{
    const seine_url *u = b->u;
    bool more;

    do {
        size_t start = b->len;

        sn_url_put(b, '/');
        more = write_segment(b);
        b->at += more;
        if (b->full)
            return;

        char *segment = b->out + start + 1;
        size_t len = b->len - start - 1;
        int up = dots(segment, len);

        if (up > 0) {
            b->len = start;
            if (up == 2)
                sn_url_shorten(b);
            if (!more)
                sn_url_put(b, '/');
        } else if (u->scheme == SN_SCHEME_FILE && start == u->path_at &&
                   sn_url_is_drive(segment, len)) {
            segment[1] = ':';
        }
    } while (more);
}
