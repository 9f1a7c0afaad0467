/* SPDX-License-Identifier: Apache-2.0 */
#include "text/idna.h"
#include "text/url.h"

/* Decodes percent escapes; writes at most text.len bytes. */
static size_t
decode(sn_str text, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        int high = -1, low = -1;

        if (text.ptr[i] == '%' && text.len - i > 2) {
            high = sn_hex_digit(text.ptr[i + 1]);
            low = sn_hex_digit(text.ptr[i + 2]);
        }
        if (high >= 0 && low >= 0) {
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = text.ptr[i];
        }
    }
    return n;
}

/* Returns the first ASCII byte that no name may hold, or NULL. */
static const char *
forbidden(const char *at, size_t len)
{
    for (const char *end = at + len; at < end; at++)
        if ((unsigned char)*at < 0x80 && sn_url_is(*at, SN_URL_NO_NAME))
            return at;
    return NULL;
}

static bool
is_ascii(const char *at, size_t len)
{
    unsigned all = 0;

    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)at[i];
    return all < 0x80;
}

/* Writes an ASCII name in lower case; true if no byte is forbidden. */
static bool
write_lower(sn_url_build *b, const char *at, size_t len)
{
    unsigned all = 0;

    if (len > b->max - b->len) {
        b->full = true;
        return true;
    }
    for (size_t i = 0; i < len; i++) {
        all |= sn_url_class[(unsigned char)at[i]];
        b->out[b->len + i] = sn_lower(at[i]);
    }
    b->len += len;
    b->steps += len;
    return (all & SN_URL_NO_NAME) == 0;
}

/* Writes a name with escapes or bytes above 0x7f; noinline keeps the buffer off the usual
 * stack. */
static __attribute__((noinline)) bool
write_unusual(sn_url_build *b, sn_str text)
{
    char plain[SEINE_URL_MAX];
    size_t len = decode(text, plain), start = b->len;

    b->steps += 3 * text.len;
    const char *bad = forbidden(plain, len);
    if (bad) /* its position is unknown after an escape: report the host's start */
        return sn_url_flawed(b, SEINE_URL_BAD_CHAR,
                             text.ptr + (len == text.len ? bad - plain : 0));
    if (is_ascii(plain, len))
        return write_lower(b, plain, len);

    size_t room = b->max - b->len;
    switch (sn_idna_to_ascii(plain, len, b->out + b->len, &room)) {
    case SEINE_OK:
        break;
    case SEINE_E_FULL:
        b->full = true;
        return true;
    case SEINE_E_NOMEM:
        return sn_url_flawed(b, SEINE_URL_NONE, text.ptr);
    default:
        return sn_url_flawed(b, SEINE_URL_BAD_NAME, text.ptr);
    }
    b->len += room;
    b->steps += room;
    if (forbidden(b->out + start, room)) /* U+FF05 becomes a percent sign */
        return sn_url_flawed(b, SEINE_URL_BAD_CHAR, text.ptr);
    return room > 0 || sn_url_flawed(b, SEINE_URL_NO_HOST, text.ptr);
}

static bool
write_name(sn_url_build *b, sn_str text)
{
    size_t start = b->len;
    bool is_ipv4;

    if (!write_lower(b, text.ptr, text.len)) {
        b->len = start;
        if (!write_unusual(b, text))
            return false;
    }
    if (b->full)
        return true;
    if (!sn_url_rewrite_ipv4(b, start, &is_ipv4))
        return sn_url_flawed(b, SEINE_URL_BAD_IPV4, text.ptr);
    b->u->host = is_ipv4 ? SEINE_HOST_IPV4 : SEINE_HOST_NAME;
    return true;
}

static bool
write_opaque(sn_url_build *b, sn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (sn_url_is(text.ptr[i], SN_URL_NO_HOST))
            return sn_url_flawed(b, SEINE_URL_BAD_CHAR, text.ptr + i);
    sn_url_escape(b, text.ptr, text.ptr + text.len, SN_URL_C0, 0);
    b->u->host = SEINE_HOST_OPAQUE;
    return true;
}

bool
sn_url_write_host(sn_url_build *b, sn_str text)
{
    b->u->host = SEINE_HOST_EMPTY;
    if (text.len == 0)
        return true;
    if (text.ptr[0] == '[') {
        b->u->host = SEINE_HOST_IPV6;
        return sn_url_write_ipv6(b, text);
    }
    return b->special ? write_name(b, text) : write_opaque(b, text);
}
