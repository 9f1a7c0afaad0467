/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn_key.h"

#include <assert.h>
#include <string.h>

#include "net/proxy.h"

enum { INSECURE = 1, IDENTIFY = 2, PROXY = 4, TRUST = 8 };

/* Returns scheme, host and port as in the href, without user information and a trailing
 * dot of the name. */
static sn_str
place_of(const seine_url *u, char mem[SEINE_URL_ROOM])
{
    seine_view scheme = seine_url_scheme(u), at = seine_url_host_port(u);
    seine_view host = seine_url_host(u);

    if (at.ptr == scheme.ptr + scheme.len + 3 && host.ptr[host.len - 1] != '.')
        return (sn_str){scheme.ptr, scheme.len + 3 + at.len};
    return (sn_str){mem, seine_url_authority(u, mem, SEINE_URL_ROOM)};
}

static unsigned
policy_of(const sn_request *q)
{
    unsigned policy = q->proxy ? PROXY : 0;

    if (seine_url_scheme(q->url).len < sizeof "https" - 1)
        return policy;
    return policy | (q->insecure ? INSECURE : 0) | (q->identify ? IDENTIFY : 0) |
           (q->trust ? TRUST : 0);
}

sn_str
sn_conn_key(const sn_request *q, char mem[SN_CONN_KEY_ROOM])
{
    unsigned policy = policy_of(q);
    sn_str place = place_of(q->url, mem + 1);

    if (policy == 0)
        return place;
    size_t first = policy & TRUST ? 1 + sizeof q->trust : 1, n = first + place.len;
    sn_str way = q->proxy ? q->proxy->key : SN_STR("");
    assert(n + 1 + way.len <= SN_CONN_KEY_ROOM);
    memmove(mem + first, place.ptr, place.len);
    mem[0] = (char)policy;
    if (policy & TRUST)
        memcpy(mem + 1, &q->trust, sizeof q->trust);
    mem[n++] = '\0';
    memcpy(mem + n, way.ptr, way.len);
    return (sn_str){mem, n + way.len};
}
