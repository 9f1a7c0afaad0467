/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/client_address.h"

#include <string.h>

static bool
is_port(sn_str s)
{
    uint64_t port;

    return s.len > 0 && s.len <= 5 && sn_str_u64(s, &port) == SEINE_OK && port <= 65535;
}

/* Cuts a port off, and the brackets. False: they are not as they should be. */
static bool
unwrap(sn_str *text)
{
    if (text->len > 0 && text->ptr[0] == '[') {
        size_t end = sn_str_find(*text, ']');
        sn_str rest = sn_str_slice(*text, end + 1, text->len);

        if (end == text->len || sn_str_find(*text, ':') > end ||
            (rest.len > 0 &&
             (rest.ptr[0] != ':' || !is_port(sn_str_slice(rest, 1, rest.len)))))
            return false;
        *text = sn_str_slice(*text, 1, end);
        return true;
    }
    size_t colon = sn_str_find(*text, ':');
    if (colon == text->len || memchr(text->ptr + colon + 1, ':', text->len - colon - 1))
        return true; /* no port: IPv4, or IPv6 without brackets */
    if (!is_port(sn_str_slice(*text, colon + 1, text->len)))
        return false;
    *text = sn_str_slice(*text, 0, colon);
    return true;
}

bool
sn_forwarded_entry(sn_str text, sn_ip *out_ip)
{
    sn_str scope;

    text = sn_str_trim(text);
    if (!unwrap(&text))
        return false;
    if (sn_str_find(text, ':') < text.len)
        sn_str_cut(text, '%', &text, &scope);
    if (sn_ip_parse(text, out_ip) != SEINE_OK)
        return false;
    sn_ip_plain(out_ip);
    return true;
}

void
sn_forwarded_begin(sn_forwarded *f, const sn_ip *peer, const sn_net_set *trusted)
{
    *f = (sn_forwarded){trusted, *peer, false};
    sn_ip_plain(&f->client);
    f->is_ended = !sn_net_set_has(trusted, &f->client);
}

/* Takes the entry that stands behind the last comma off the value. */
static sn_str
last_entry(sn_str *value)
{
    const char *comma = memrchr(value->ptr, ',', value->len);
    size_t at = comma ? (size_t)(comma - value->ptr) : 0;
    sn_str entry = comma ? sn_str_slice(*value, at + 1, value->len) : *value;

    value->len = at;
    return entry;
}

void
sn_forwarded_add(sn_forwarded *f, sn_str value)
{
    while (!f->is_ended && value.len > 0) {
        sn_str entry = sn_str_trim(last_entry(&value));
        sn_ip ip;

        if (entry.len == 0)
            continue; /* an empty element of a list counts for nothing (RFC 9110 5.6.1) */
        if (!sn_forwarded_entry(entry, &ip)) {
            f->is_ended = true;
            return;
        }
        f->client = ip;
        f->is_ended = !sn_net_set_has(f->trusted, &ip);
    }
}
