/* SPDX-License-Identifier: Apache-2.0 */
/* Two hosts of one name, on ports 80 and 443: one server, most likely, so that they share
 * one `host_rate`. All else is their own: queue, breaker, pace, robots.txt. */
#include <string.h>

#include "base/time.h"
#include "engine/host.h"

/* Writes the name that the other one has: http://e.example:80, https://e.example:443.
 * False: there is none. */
static bool
name_twin(sn_str name, char out[SN_HOST_NAME], size_t *out_len)
{
    sn_str http = SN_STR("http://"), https = SN_STR("https://");
    sn_str p80 = SN_STR(":80"), p443 = SN_STR(":443");
    bool is_plain = sn_str_starts(name, http) && sn_str_ends(name, p80);

    if (!is_plain && !(sn_str_starts(name, https) && sn_str_ends(name, p443)))
        return false;
    sn_str host = sn_str_slice(name, is_plain ? http.len : https.len,
                               name.len - (is_plain ? p80.len : p443.len));
    sn_str before = is_plain ? https : http, behind = is_plain ? p443 : p80;
    size_t len = before.len + host.len + behind.len;
    if (len >= SN_HOST_NAME)
        return false;
    memcpy(out, before.ptr, before.len);
    memcpy(out + before.len, host.ptr, host.len);
    memcpy(out + before.len + host.len, behind.ptr, behind.len);
    *out_len = len;
    return true;
}

void
sn_hosts_pair(sn_hosts *hs, uint32_t host)
{
    char text[SN_HOST_NAME];
    size_t len;
    uint32_t twin;

    hs->cards[host].twin = SN_NONE;
    if (!name_twin(sn_hosts_name(hs, host), text, &len) ||
        !sn_hosts_known(hs, (sn_str){text, len}, &twin))
        return;
    hs->cards[host].twin = twin;
    hs->cards[twin].twin = host;
    hs->all[host].has_twin = hs->all[twin].has_twin = true;
}

/* Can both use one bucket? With a Crawl-delay each has its own. */
static bool
is_shared(const sn_hosts *hs, uint32_t host, uint32_t twin)
{
    return !hs->all[host].is_delayed && !hs->all[twin].is_delayed &&
           hs->all[twin].guards != SN_NONE;
}

void
sn_hosts_inherit(sn_hosts *hs, uint32_t host, sn_guards *g, seine_time now)
{
    sn_host *h = &hs->all[host];
    uint32_t twin = h->has_twin ? hs->cards[host].twin : SN_NONE;
    seine_span every = sn_hosts_rate(hs, host);

    if (twin == SN_NONE || every == 0 || hs->all[twin].guards == SN_NONE)
        return;
    const sn_guards *other = sn_hosts_guards(hs, twin);
    if (is_shared(hs, host, twin))
        g->limiter.full = sn_time_max(g->limiter.full, other->limiter.full);
    h->next = sn_time_max(h->next, seine_limiter_when(&g->limiter, now, 1));
    if (hs->host_rate.burst <= 1)
        h->next = sn_time_max(h->next, sn_time_add(other->pace.last, every));
}

void
sn_hosts_tell_twin(sn_hosts *hs, uint32_t host, bool has_left, seine_time now)
{
    uint32_t twin = hs->cards[host].twin;
    seine_span every = sn_hosts_rate(hs, twin);
    sn_host *t = &hs->all[twin];

    if (every == 0)
        return;
    if (has_left || !is_shared(hs, host, twin)) {
        t->next = sn_time_max(t->next, sn_time_add(now, every));
        return;
    }
    sn_guards *g = sn_hosts_guards(hs, twin);
    g->limiter.full =
        sn_time_max(g->limiter.full, sn_hosts_guards(hs, host)->limiter.full);
    t->next = sn_time_max(t->next, seine_limiter_when(&g->limiter, now, 1));
}
