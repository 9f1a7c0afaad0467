/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scope.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "engine/host_list.h"
#include "engine/scope_set.h"
#include "engine/url_filter.h"
#include "seine/psl.h"

enum { SITES = 1024 /* names whose registrable domain is remembered */ };

struct sn_scope {
    seine_scope kind;
    bool is_crawl;
    size_t offsite_len;
    char offsite[64]; /* the rule of a link that is */
    sn_scope_set seeds;
    sn_scope_set targets;  /* of redirects of seeds, with their paths */
    sn_host_list *named;   /* `domains`; NULL: none */
    sn_url_filter *filter; /* NULL: no patterns */
    seine_psl *psl;
    uint64_t secret[2];
    _Atomic uint64_t sites[SITES]; /* 56 bits of the name's hash, 8 of length */
};

/* "scope host", once: most links of a crawl may be offsite. */
static void
write_offsite(sn_scope *s, const seine_diag_name *names)
{
    snprintf(s->offsite, sizeof s->offsite, "%.48s %s", sn_diag_shown(names, "scope"),
             seine_scope_name(s->kind));
    s->offsite_len = strlen(s->offsite);
}

static seine_err
fill_scope(sn_scope *s, const seine_fetch_opts *o, seine_diag *diag)
{
    bool has_patterns = (o->include && *o->include) || (o->exclude && *o->exclude);
    seine_err e = SEINE_OK;

    if (has_patterns)
        e = sn_url_filter_new(o->include, o->exclude, o->names, &s->filter, diag);
    if (e != SEINE_OK || !o->crawl)
        return e;
    if ((unsigned)o->crawl->scope > SEINE_SCOPE_ANY)
        return sn_diag_option(diag, "scope", "host, domain, prefix or any");
    s->is_crawl = true;
    s->kind = o->crawl->scope;
    write_offsite(s, o->names);
    e = seine_psl_new(NULL, &s->psl);
    if (e == SEINE_OK && o->crawl->domains && *o->crawl->domains)
        e = sn_host_list_new(o->crawl->domains, &s->named, diag);
    return e;
}

seine_err
sn_scope_new(const seine_fetch_opts *o, sn_scope **out, seine_diag *diag)
{
    sn_scope *s = sn_zalloc(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    sn_scope_set_init(&s->seeds);
    sn_scope_set_init(&s->targets);
    memcpy(s->secret, s->seeds.secret, sizeof s->secret);
    seine_err e = fill_scope(s, o, diag);
    if (e == SEINE_OK)
        *out = s;
    else
        sn_scope_free(s);
    return e;
}

void
sn_scope_free(sn_scope *s)
{
    if (!s)
        return;
    sn_scope_set_fini(&s->seeds);
    sn_scope_set_fini(&s->targets);
    sn_host_list_free(s->named);
    sn_url_filter_free(s->filter);
    seine_psl_free(s->psl);
    sn_free(s);
}

/* How many bytes at the end of the name, of at most 253, are its registrable domain; all
 * of them where it has none. Asking the list costs more than all the rest: answers are
 * remembered. */
static size_t
site_of(const sn_scope *s, sn_str name)
{
    uint64_t hash = sn_siphash(s->secret, name.ptr, name.len);
    _Atomic uint64_t *slot = &((sn_scope *)s)->sites[hash % SITES];
    uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);

    if (known >> 8 == hash >> 8 && (known & 0xff) != 0)
        return known & 0xff;
    size_t len = seine_psl_site(s->psl, name.ptr, name.len);
    if (len == 0)
        len = name.len;
    atomic_store_explicit(slot, (hash >> 8) << 8 | len, memory_order_relaxed);
    return len;
}

static sn_str
domain_of(const sn_scope *s, const seine_url *u, sn_str name)
{
    if (seine_url_host_is(u) != SEINE_HOST_NAME)
        return name;
    return sn_str_slice(name, name.len - site_of(s, name), name.len);
}

static bool
name_of(const seine_url *u, sn_str *out_name)
{
    return seine_url_name(u, out_name) == SEINE_OK;
}

/* The path as it stands in the key of the URL: escapes that mean the same are equal.
 * `mem`: SEINE_URL_ROOM bytes, for a path that has one. */
static sn_str
path_of(const seine_url *u, char *mem)
{
    seine_view path = seine_url_path(u);
    size_t len;

    if (path.len == 0 || !memchr(path.ptr, '%', path.len))
        return path;
    if (seine_url_key(u, NULL, mem, SEINE_URL_ROOM, &len) != SEINE_OK)
        return path;
    sn_str rest = sn_str_slice((sn_str){mem, len}, u->path_at, len);
    return sn_str_slice(rest, 0, sn_str_find(rest, '?'));
}

/* What stands in front of the last slash, with it. */
static sn_str
dir_of(const seine_url *u, char *mem)
{
    sn_str path = path_of(u, mem);
    const char *slash = path.len > 0 ? memrchr(path.ptr, '/', path.len) : NULL;

    return slash ? sn_str_slice(path, 0, (size_t)(slash - path.ptr) + 1) : SN_STR("/");
}

static seine_err
add_seed(sn_scope *s, const seine_url *u, sn_str dir)
{
    sn_scope_place place = {.port = u->port};

    if (!name_of(u, &place.name))
        return SEINE_OK;
    switch (s->kind) {
    case SEINE_SCOPE_ANY:
        return SEINE_OK;
    case SEINE_SCOPE_DOMAIN:
        place = (sn_scope_place){domain_of(s, u, place.name), {0}, SN_PORT_ANY};
        break;
    case SEINE_SCOPE_PREFIX:
        place.dir = dir;
        break;
    case SEINE_SCOPE_HOST:
        break;
    }
    return sn_scope_set_add(&s->seeds, &place);
}

seine_err
sn_scope_seed(sn_scope *s, const seine_url *seed)
{
    char mem[SEINE_URL_ROOM];

    return s->is_crawl ? add_seed(s, seed, dir_of(seed, mem)) : SEINE_OK;
}

static bool
is_same_domain(const sn_scope *s, const seine_url *a, const seine_url *b)
{
    sn_str first, second;

    return name_of(a, &first) && name_of(b, &second) &&
           sn_str_eq(domain_of(s, a, first), domain_of(s, b, second));
}

/* The very URL, whether http or https. */
static bool
place_of(const seine_url *u, sn_scope_place *out)
{
    *out = (sn_scope_place){.dir = seine_url_target(u), .port = u->port};
    return name_of(u, &out->name);
}

seine_err
sn_scope_widen(sn_scope *s, const seine_url *from, const seine_url *to)
{
    char mem[SEINE_URL_ROOM], mem_to[SEINE_URL_ROOM];

    if (!s->is_crawl || !is_same_domain(s, from, to))
        return SEINE_OK;
    sn_str given = dir_of(from, mem), target = dir_of(to, mem_to);
    seine_err e = add_seed(s, to, sn_str_starts(given, target) ? given : target);
    sn_scope_place place;
    if (e == SEINE_OK && place_of(to, &place))
        e = sn_scope_set_add(&s->targets, &place);
    return e;
}

bool
sn_scope_was_target(const sn_scope *s, const seine_url *url)
{
    sn_scope_place place;

    return place_of(url, &place) && sn_scope_set_has(&s->targets, &place);
}

/* By itself: the other scopes need no room for a path. */
static __attribute__((noinline)) bool
is_below(const sn_scope *s, const seine_url *u, sn_str name)
{
    char mem[SEINE_URL_ROOM];
    sn_scope_place place = {name, path_of(u, mem), u->port};

    return sn_scope_set_has_above(&s->seeds, &place);
}

static bool
is_seeded(const sn_scope *s, const seine_url *u, sn_str name)
{
    sn_scope_place place = {name, {0}, u->port};

    if (s->kind == SEINE_SCOPE_PREFIX)
        return is_below(s, u, name);
    if (s->kind == SEINE_SCOPE_DOMAIN)
        place = (sn_scope_place){domain_of(s, u, name), {0}, SN_PORT_ANY};
    return sn_scope_set_has(&s->seeds, &place);
}

static bool
is_in_scope(const sn_scope *s, const seine_url *u)
{
    sn_str name;

    if (s->kind == SEINE_SCOPE_ANY)
        return true;
    if (!name_of(u, &name))
        return false;
    return is_seeded(s, u, name) ||
           (s->named && sn_host_list_has(s->named, name, seine_url_port(u)));
}

static void
set_refusal(sn_scope_verdict *out, seine_skip reason, sn_str rule)
{
    out->in = false;
    out->reason = reason;
    out->len = (uint16_t)rule.len;
    memcpy(out->rule, rule.ptr, rule.len);
    out->rule[rule.len] = '\0';
}

void
sn_scope_judge(const sn_scope *s, const seine_url *url, bool is_given,
               sn_scope_verdict *out)
{
    sn_str text = {url->href, url->query_end};
    const char *rule = NULL;

    out->in = true;
    out->len = 0;
    out->rule[0] = '\0';
    if (s->is_crawl && !is_given && !is_in_scope(s, url)) {
        set_refusal(out, SEINE_SKIP_OFFSITE, (sn_str){s->offsite, s->offsite_len});
        return;
    }
    if (!s->filter)
        return;
    rule = sn_url_filter_exclude(s->filter, text);
    if (!rule && !(s->is_crawl && is_given))
        rule = sn_url_filter_include(s->filter, text);
    if (rule)
        set_refusal(out, SEINE_SKIP_PATTERN, sn_str_of(rule));
}
