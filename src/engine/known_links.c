/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/known_links.h"

#include "base/alloc.h"
#include "base/hash.h"

seine_err
sn_known_links_init(sn_known_links *k, const uint64_t secret[2])
{
    *k = (sn_known_links){.secret = {secret[0], secret[1]}};
    k->marks = sn_calloc(SN_KNOWN_LINKS, sizeof *k->marks);
    return k->marks ? SEINE_OK : SEINE_E_NOMEM;
}

void
sn_known_links_fini(sn_known_links *k)
{
    sn_free(k->marks);
    *k = (sn_known_links){0};
}

static bool
is_web(const seine_url *base)
{
    sn_str scheme = seine_url_scheme(base);

    return sn_str_eq(scheme, SN_STR("http")) || sn_str_eq(scheme, SN_STR("https"));
}

void
sn_known_links_base(sn_known_links *k, const seine_url *base)
{
    k->base = is_web(base) ? base : NULL;
    k->host_seed = k->folder_seed = k->base_seed = 0;
}

/* The seed of the first `len` bytes of the base, made when it is first needed. */
static uint64_t
seed_of(const sn_known_links *k, uint64_t *seed, size_t len)
{
    if (*seed == 0)
        *seed = sn_siphash(k->secret, seine_url_href(k->base).ptr, len) | 1;
    return *seed;
}

static size_t
host_len(const seine_url *base)
{
    return (size_t)(seine_url_path(base).ptr - seine_url_href(base).ptr);
}

/* Up to the last slash of the path, which every URL of the web has. */
static size_t
folder_len(const seine_url *base)
{
    sn_str path = seine_url_path(base);

    while (path.len > 0 && path.ptr[path.len - 1] != '/')
        path.len--;
    return host_len(base) + path.len;
}

static bool
is_absolute(sn_str value)
{
    return value.ptr[0] == '/' || sn_str_starts(value, SN_STR("http://")) ||
           sn_str_starts(value, SN_STR("https://"));
}

/* A reference such as "http:" or "http:?x" is the page itself. */
static bool
has_colon(sn_str value)
{
    return sn_str_find(value, ':') < value.len;
}

static uint64_t
seed_for(sn_known_links *k, sn_str value)
{
    char first = value.len > 0 ? value.ptr[0] : '\0';

    if (value.len > 0 && is_absolute(value))
        return seed_of(k, &k->host_seed, host_len(k->base));
    if ((sn_is_alpha(first) || sn_is_digit(first) || first == '.') && !has_colon(value))
        return seed_of(k, &k->folder_seed, folder_len(k->base));
    return seed_of(k, &k->base_seed, seine_url_href(k->base).len);
}

uint64_t
sn_known_links_mark(sn_known_links *k, sn_str value)
{
    if (!k->base)
        return 0;
    uint64_t secret[2] = {k->secret[0] ^ seed_for(k, value), k->secret[1]};

    return sn_siphash(secret, value.ptr, value.len) | 1;
}

static uint64_t *
pair_of(const sn_known_links *k, uint64_t mark)
{
    return k->marks + 2 * (mark >> 32) % SN_KNOWN_LINKS;
}

bool
sn_known_links_has(sn_known_links *k, uint64_t mark)
{
    uint64_t *pair = pair_of(k, mark);

    if (mark == 0)
        return false;
    if (pair[0] != mark && pair[1] != mark)
        return false;
    if (pair[1] == mark) { /* the one that is met again stays longer */
        pair[1] = pair[0];
        pair[0] = mark;
    }
    return true;
}

void
sn_known_links_add(sn_known_links *k, uint64_t mark)
{
    uint64_t *pair = pair_of(k, mark);

    if (mark == 0 || pair[0] == mark || pair[1] == mark)
        return;
    pair[1] = pair[0];
    pair[0] = mark;
}
