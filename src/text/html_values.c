/* SPDX-License-Identifier: Apache-2.0 */
/* Values with a grammar of their own: srcset and the refresh of a meta. */
#include "text/html.h"

/* The standard's "parse a srcset attribute", without the descriptors. */
bool
sn_html_srcset(sn_str *rest, sn_str *out_url)
{
    const char *p = rest->ptr, *end = p ? p + rest->len : p;

    while (p < end && (sn_is_space(*p) || *p == ','))
        p++;
    const char *from = p;
    while (p < end && !sn_is_space(*p))
        p++;
    *out_url = (sn_str){from, (size_t)(p - from)};
    if (p > from && p[-1] == ',') { /* a comma: no descriptors follow */
        while (out_url->len > 0 && out_url->ptr[out_url->len - 1] == ',')
            out_url->len--;
    } else {
        int depth = 0;

        for (; p < end && (*p != ',' || depth > 0); p++)
            depth = *p == '(' ? 1 : *p == ')' ? 0 : depth;
    }
    *rest = (sn_str){p, (size_t)(end - p)};
    return out_url->len > 0;
}

static sn_str
skip_blanks(sn_str s)
{
    while (s.len > 0 && sn_is_space(*s.ptr))
        s = sn_str_slice(s, 1, s.len);
    return s;
}

/* Skips an optional "url =" in front of the URL; any other text is part of the URL. */
static sn_str
behind_url(sn_str s)
{
    sn_str t;

    if (!sn_str_starts_nocase(s, SN_STR("url")))
        return s;
    t = skip_blanks(sn_str_slice(s, 3, s.len));
    if (t.len == 0 || *t.ptr != '=')
        return s;
    return skip_blanks(sn_str_slice(t, 1, t.len));
}

/* The standard's "shared declarative refresh steps". */
bool
sn_html_refresh(sn_str content, uint32_t *out_seconds, sn_str *out_url)
{
    sn_str s = skip_blanks(content);
    uint64_t seconds = 0;
    size_t digits = 0, n;

    for (; digits < s.len && sn_is_digit(s.ptr[digits]); digits++)
        seconds = seconds > UINT32_MAX ? seconds
                                       : seconds * 10 + (uint64_t)(s.ptr[digits] - '0');
    if (digits == 0 && (s.len == 0 || *s.ptr != '.'))
        return false;
    for (n = digits; n < s.len && (sn_is_digit(s.ptr[n]) || s.ptr[n] == '.'); n++)
        continue;
    s = sn_str_slice(s, n, s.len);
    if (s.len > 0 && *s.ptr != ';' && *s.ptr != ',' && !sn_is_space(*s.ptr))
        return false;
    s = skip_blanks(s);
    if (s.len > 0 && (*s.ptr == ';' || *s.ptr == ','))
        s = sn_str_slice(s, 1, s.len);
    s = behind_url(skip_blanks(s));
    if (s.len > 0 && (*s.ptr == '"' || *s.ptr == '\'')) {
        char quote = *s.ptr;

        s = sn_str_slice(s, 1, s.len);
        s.len = sn_str_find(s, quote);
    }
    *out_seconds = (uint32_t)(seconds < UINT32_MAX ? seconds : UINT32_MAX);
    *out_url = s;
    return true;
}
