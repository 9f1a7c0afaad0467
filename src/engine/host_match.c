/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_match.h"

#include <string.h>

/* The colon before the port; NULL: there is none. Those in brackets are of an address. */
static const char *
port_of(sn_str text)
{
    const char *colon = text.len > 0 ? memrchr(text.ptr, ':', text.len) : NULL;
    const char *bracket = text.len > 0 ? memrchr(text.ptr, ']', text.len) : NULL;

    return colon && (!bracket || bracket < colon) ? colon : NULL;
}

sn_host_label
sn_host_label_of(sn_str host)
{
    const char *scheme = memmem(host.ptr, host.len, "://", 3);
    sn_host_label at = {host, host};

    if (scheme) {
        size_t skip = (size_t)(scheme + 3 - host.ptr);

        at.whole = (sn_str){host.ptr + skip, host.len - skip};
    }
    const char *colon = port_of(at.whole);
    at.name =
        (sn_str){at.whole.ptr, colon ? (size_t)(colon - at.whole.ptr) : at.whole.len};
    return at;
}

bool
sn_host_match_is_pattern(sn_str pattern)
{
    return pattern.len > 0 && memchr(pattern.ptr, '*', pattern.len) != NULL;
}

bool
sn_host_match_has_port(sn_str pattern)
{
    return port_of(pattern) != NULL;
}

/* The last * takes one more character whenever the rest does not fit. */
static bool
fits(sn_str p, sn_str s)
{
    size_t i = 0, k = 0, star = SIZE_MAX, from = 0;

    while (k < s.len) {
        if (i < p.len && p.ptr[i] == '*') {
            star = i++;
            from = k;
        } else if (i < p.len && sn_lower(p.ptr[i]) == sn_lower(s.ptr[k])) {
            i++;
            k++;
        } else if (star != SIZE_MAX) {
            i = star + 1;
            k = ++from;
        } else {
            return false;
        }
    }
    while (i < p.len && p.ptr[i] == '*')
        i++;
    return i == p.len;
}

bool
sn_host_match(sn_str pattern, const sn_host_label *host)
{
    return fits(pattern, sn_host_match_has_port(pattern) ? host->whole : host->name);
}

uint32_t
sn_host_match_rank(sn_str match, bool is_weak)
{
    bool is_pattern = sn_host_match_is_pattern(match);
    uint32_t kind = is_pattern ? 0 : sn_host_match_has_port(match) ? 2 : 1;
    uint32_t len = match.len < 1000 ? (uint32_t)match.len : 1000;

    return (is_weak ? 0 : 100000) + kind * 10000 + len;
}
