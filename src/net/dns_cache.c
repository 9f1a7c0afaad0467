/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

typedef struct sn_dns_entry {
    struct sn_dns_entry *newer, *older;
    sn_str name; /* stored after the addresses */
    seine_time until;
    seine_err e;
    uint8_t n4, n6;
    uint8_t bytes[];
} entry;

_Static_assert(sizeof(entry) == 48, "dns_cache.h says so");

void
sn_dns_cache_init(sn_dns_cache *c, uint32_t max)
{
    *c = (sn_dns_cache){0};
    sn_map_init(&c->names, max);
}

static void
unlink_entry(sn_dns_cache *c, entry *n)
{
    *(n->newer ? &n->newer->older : &c->newest) = n->older;
    *(n->older ? &n->older->newer : &c->oldest) = n->newer;
}

static void
link_entry(sn_dns_cache *c, entry *n)
{
    n->newer = NULL;
    n->older = c->newest;
    *(n->older ? &n->older->newer : &c->oldest) = n;
    c->newest = n;
}

static void
drop_entry(sn_dns_cache *c, entry *n)
{
    sn_map_take(&c->names, n->name);
    unlink_entry(c, n);
    sn_free(n);
}

void
sn_dns_cache_fini(sn_dns_cache *c)
{
    while (c->oldest)
        drop_entry(c, c->oldest);
    sn_map_fini(&c->names);
}

static entry *
make_entry(sn_str name, seine_err e, const sn_dns_answer *answer, seine_time until)
{
    uint8_t n4 = e == SEINE_OK ? answer->n4 : 0, n6 = e == SEINE_OK ? answer->n6 : 0;
    size_t addresses = (size_t)n4 * 4 + (size_t)n6 * 16;
    entry *n = sn_alloc(sizeof *n + addresses + name.len);

    if (!n)
        return NULL;
    uint8_t *at = n->bytes;
    for (uint8_t i = 0; i < n4; i++, at += 4)
        memcpy(at, answer->v4[i].bytes, 4);
    for (uint8_t i = 0; i < n6; i++, at += 16)
        memcpy(at, answer->v6[i].bytes, 16);
    memcpy(at, name.ptr, name.len);
    n->name = (sn_str){(char *)at, name.len};
    n->until = until;
    n->e = e;
    n->n4 = n4;
    n->n6 = n6;
    return n;
}

void
sn_dns_cache_put(sn_dns_cache *c, sn_str name, seine_err e, const sn_dns_answer *answer,
                 seine_time until)
{
    entry *old = sn_map_get(&c->names, name), *n = make_entry(name, e, answer, until);

    if (old)
        drop_entry(c, old);
    else if (n && c->names.count == c->names.max && c->oldest)
        drop_entry(c, c->oldest);
    if (!n)
        return;
    if (sn_map_add(&c->names, n->name, n) == SEINE_OK)
        link_entry(c, n);
    else
        sn_free(n);
}

static void
unpack(const entry *n, sn_dns_answer *out)
{
    const uint8_t *at = n->bytes;

    *out = (sn_dns_answer){.n4 = n->n4, .n6 = n->n6};
    for (uint8_t i = 0; i < n->n4; i++, at += 4) {
        out->v4[i].v = 4;
        memcpy(out->v4[i].bytes, at, 4);
    }
    for (uint8_t i = 0; i < n->n6; i++, at += 16) {
        out->v6[i].v = 6;
        memcpy(out->v6[i].bytes, at, 16);
    }
}

bool
sn_dns_cache_get(sn_dns_cache *c, sn_str name, seine_time now, seine_err *out_e,
                 sn_dns_answer *out_answer)
{
    entry *n = sn_map_get(&c->names, name);

    if (!n)
        return false;
    if (n->until <= now) {
        drop_entry(c, n);
        return false;
    }
    unlink_entry(c, n);
    link_entry(c, n);
    *out_e = n->e;
    if (n->e == SEINE_OK)
        unpack(n, out_answer);
    return true;
}

seine_span
sn_dns_keep(seine_err e, int64_t ttl_seconds)
{
    switch (e) {
    case SEINE_OK:
        return SEINE_SECS(sn_time_min(sn_time_max(ttl_seconds, 1), 3600));
    case SEINE_E_DNS_NXDOMAIN:
        return SEINE_SECS(60);
    case SEINE_E_DNS_SERVFAIL:
    case SEINE_E_DNS_ERROR:
    case SEINE_E_DNS_TIMEOUT:
        return SEINE_SECS(1);
    default:
        return 0;
    }
}
