/* SPDX-License-Identifier: Apache-2.0 */
#include "text/bare_url.h"

#include <string.h>

static bool
is_alnum(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c);
}

bool
sn_bare_url_is_short(sn_str url)
{
    return sn_str_starts_nocase(url, SN_STR("www."));
}

/* Returns the length of the part before the host; 0: no URL begins here. */
static size_t
prefix_of(sn_str text)
{
    static const sn_str prefixes[] = {{"https://", 8}, {"http://", 7}, {"www.", 4}};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (sn_str_starts_nocase(text, prefixes[i]))
            return prefixes[i].len;
    return 0;
}

/* Returns where the URL ends at the latest: a bracket that it does not open ends it. */
static size_t
reach_of(sn_str text)
{
    size_t i = 0, square = 0;

    for (; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c <= ' ' || c == 0x7f || strchr("<>\"`", c))
            break;
        square += c == '[';
        if (c == ']' && square-- == 0)
            break;
    }
    return i;
}

/* Returns how many bytes at the end are a character reference such as &lt; or 0. */
static size_t
reference_at_end(sn_str url)
{
    size_t i = url.len - 1;

    while (i > 0 && is_alnum(url.ptr[i - 1]))
        i--;
    return i > 0 && i < url.len - 1 && url.ptr[i - 1] == '&' ? url.len - i + 1 : 0;
}

/* Takes off what belongs to the sentence. */
static size_t
trimmed(sn_str url)
{
    size_t opened = 0, closed = 0;

    for (size_t i = 0; i < url.len; i++) {
        opened += url.ptr[i] == '(';
        closed += url.ptr[i] == ')';
    }
    while (url.len > 0) {
        char c = url.ptr[url.len - 1];

        if (c == ')' && closed > opened) {
            closed--;
            url.len--;
        } else if (c == ';') {
            size_t n = reference_at_end(url);

            url.len -= n > 0 ? n : 1;
        } else if (memchr("?!.,:*_~'|", c, 10)) {
            url.len--;
        } else {
            break;
        }
    }
    return url.len;
}

static bool
may_begin_host(char c)
{
    return is_alnum(c) || c == '[' || (unsigned char)c >= 0x80;
}

bool
sn_bare_url(sn_str text, size_t at, sn_str *out_url)
{
    sn_str url = sn_str_slice(text, at, text.len);
    size_t prefix = prefix_of(url);

    if (prefix == 0 || prefix == url.len || (at > 0 && is_alnum(text.ptr[at - 1])) ||
        !may_begin_host(url.ptr[prefix]))
        return false;
    url.len = reach_of(url);
    if (url.len > prefix)
        url.len = trimmed(url);
    *out_url = url;
    return url.len > prefix;
}
