/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/log.h"
#include "engine/frontier_parts.h"
#include "net/address_guard.h"

enum { DEEPEST = 5 }; /* sitemap indexes that name each other, on any hosts */

/* Are these two names of one site? Many sites name their sitemaps with "www." or
 * without. */
static bool
is_twin(sn_str a, sn_str b)
{
    sn_str www = SN_STR("www.");
    sn_str longer = a.len > b.len ? a : b, shorter = a.len > b.len ? b : a;

    return longer.len == www.len + shorter.len && sn_str_starts(longer, www) &&
           sn_str_ends(longer, shorter);
}

/* May the host of that sitemap be asked? Of a host in scope all paths may, since a
 * sitemap stands above the directory that a scope is about. */
static bool
is_in_scope(const sn_frontier *f, const seine_url *from, const seine_url *to)
{
    seine_view a = seine_url_host_port(from), b = seine_url_host_port(to);
    sn_scope_verdict verdict;

    if (sn_str_eq(a, b) || is_twin(a, b))
        return true;
    sn_scope_judge(f->shared->scope, to, false, &verdict);
    return verdict.in || verdict.reason != SEINE_SKIP_OFFSITE;
}

/* The rules for links that hold for sitemaps, too. NULL: none refuses it. */
static const char *
find_refusal(const sn_frontier *f, const seine_url *from, const seine_url *to)
{
    sn_str scheme = seine_url_scheme(to);
    bool is_https = sn_str_eq(scheme, SN_STR("https"));
    sn_scope_verdict verdict;

    if (!is_https && (f->shared->opts.https_only || !sn_str_eq(scheme, SN_STR("http"))))
        return "scheme";
    if (sn_address_guard_blocks_port((uint16_t)seine_url_port(to)))
        return "port";
    sn_scope_judge(f->shared->scope, to, true, &verdict); /* `exclude` alone */
    if (!verdict.in)
        return "exclude";
    return is_in_scope(f, from, to) ? NULL : "scope";
}

/* The whole URL of a sitemap that `from` names; false: it is none that is asked for. */
static bool
resolve_sitemap(const sn_frontier *f, const seine_url *from, sn_str text, seine_url *out)
{
    if (seine_url_resolve(out, from, text.ptr, text.len, NULL) != SEINE_OK)
        return false;
    seine_url_drop_fragment(out);
    seine_url_drop_user(out);
    const char *refusal = find_refusal(f, from, out);
    if (refusal) {
        sn_str url = seine_url_href(out);

        SN_LOG(f->shared->opts.log, INFO, "sitemap.refused", SN_URL("url", url),
               SN_S("by", sn_str_of(refusal)));
    }
    return !refusal;
}

/* A sitemap is asked for once, also when its URL is a page as well. */
static bool
add_to_seen(sn_frontier *f, const seine_url *url, uint64_t *out_print)
{
    static const char mark[] = "sitemap ";
    char key[sizeof mark + SEINE_URL_ROOM];
    uint8_t is_new = 0;
    size_t len;

    memcpy(key, mark, sizeof mark - 1);
    if (seine_url_key(url, NULL, key + sizeof mark - 1, SEINE_URL_ROOM, &len) != SEINE_OK)
        return false;
    *out_print = seine_seen_print(f->shared->seen, key, sizeof mark - 1 + len);
    return seine_seen_add_many(f->shared->seen, out_print, 1, &is_new) == SEINE_OK &&
           is_new;
}

/* The limits of the crawl: so many sitemaps, and so many bytes of them. Beyond them
 * nothing is remembered of a sitemap either. */
static bool
is_over_limits(sn_frontier *f)
{
    uint32_t most = f->shared->opts.crawl->max_sitemaps;

    if (sn_frontier_is_over_sitemap_bytes(f))
        return true;
    if (most == 0 || atomic_load(&f->shared->sitemaps) < most)
        return false;
    atomic_fetch_add(&f->shared->sitemaps_over, 1);
    return true;
}

uint64_t
sn_frontier_sitemap_bytes(const sn_frontier *f)
{
    return f->sitemap_bytes;
}

bool
sn_frontier_is_over_sitemap_bytes(sn_frontier *f)
{
    uint64_t most = f->shared->opts.crawl->max_sitemap_bytes;

    if (most == 0 || atomic_load(&f->shared->sitemap_bytes) < most)
        return false;
    atomic_fetch_add(&f->shared->sitemap_bytes_over, 1);
    return true;
}

/* `trail` says how the sitemap was found: SN_TRAIL. */
static void
add_sitemap(sn_frontier *f, const seine_url *from, sn_str text, sn_address_zone ceiling,
            uint8_t trail, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    uint64_t print;
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (!resolve_sitemap(f, from, text, &url))
        return;
    if (SN_TRAIL_LEVEL(trail) > DEEPEST)
        atomic_fetch_add(&f->shared->sitemaps_cut, 1);
    if (SN_TRAIL_LEVEL(trail) > DEEPEST || is_over_limits(f) ||
        !add_to_seen(f, &url,
                     &print)) /* no other shard looks for sitemaps of this host */
        return;
    atomic_fetch_add(&f->shared->sitemaps, 1);
    sn_link link = {.url = seine_url_href(&url),
                    .moved = trail,
                    .ceiling = (uint8_t)ceiling,
                    .kind = SN_KIND_SITEMAP};
    if (f->lane) {
        link.number = sn_frontier_number(f);
        sn_frontier_keep_found(f, &link, &url, print);
    }
    if (!f->shared->fleet)
        sn_frontier_route(f, &link, &url, now);
}

void
sn_frontier_begin_sitemaps(sn_frontier *f, uint32_t host, sn_address_zone ceiling,
                           seine_time now)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    char mem[SEINE_URL_ROOM];
    seine_url root;
    seine_view named;

    if (!o || o->sitemaps == SEINE_SITEMAPS_OFF || o->depth == 0 || x->has_maps)
        return;
    x->has_maps = true;
    f->hosts.all[host].flags |= SN_CRAWL_HOST_MAPPED;
    unsigned level = f->hosts.all[host].map_level;
    seine_url_init(&root, mem, sizeof mem);
    if (!sn_frontier_url(f, host, SN_STR("/robots.txt"), &root))
        return;
    for (size_t i = 0; x->robots.robots && i < SN_CRAWL_HOST_MAPS &&
                       seine_robots_sitemap(x->robots.robots, i, &named);
         i++)
        add_sitemap(f, &root, named, ceiling, SN_TRAIL(level, 0), now);
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_GIVEN)
        add_sitemap(f, &root, SN_STR("/sitemap.xml"), ceiling, SN_TRAIL(0, 0), now);
    sn_frontier_send(f);
}

/* Where robots.txt does not count, sitemaps are asked for once the host has shown that it
 * is there: one that is dead is not asked twice as often. */
void
sn_frontier_answered(sn_frontier *f, const sn_visit *v, seine_time now)
{
    if (v->host < f->hosts.n && f->hosts.all[v->host].flags & SN_CRAWL_HOST_FREE &&
        sn_crawl_hosts_state(&f->hosts, v->host))
        sn_frontier_begin_sitemaps(f, v->host, sn_visit_ceiling(v), now);
}

void
sn_frontier_add_sitemap(sn_frontier *f, const sn_visit *v, sn_str value, seine_time now)
{
    add_sitemap(f, &v->url, value, sn_visit_ceiling(v),
                SN_TRAIL(SN_TRAIL_LEVEL(v->moved) + 1, 0), now);
}

/* A redirect leads to another sitemap of the same level, which passes the same rules. */
static void
follow_redirect(sn_frontier *f, const sn_visit *v, seine_time now)
{
    sn_str to = seine_url_href(v->target);
    unsigned hops = SN_TRAIL_HOPS(v->moved) + 1U;

    if (hops <= SN_SITEMAP_HOPS)
        add_sitemap(f, &v->url, to, sn_visit_ceiling(v),
                    SN_TRAIL(SN_TRAIL_LEVEL(v->moved), hops), now);
    sn_frontier_send(f);
}

void
sn_frontier_end_sitemap(sn_frontier *f, uint64_t number)
{
    sn_frontier_keep_ended(f, number);
    sn_shared_state_end_work(f->shared, 1);
}

/* Does the sitemap stay with the job? The run has ended before the sitemap, or its host
 * was given up. */
static bool
is_left(const sn_frontier *f, seine_err e)
{
    bool is_stopped = atomic_load(&f->shared->stop) != SN_GOING;

    bool is_host = (e == SEINE_E_BREAKER || e == SEINE_E_RETRY_AFTER_TOO_LONG) &&
                   (is_stopped || sn_shared_state_leaves_hosts(f->shared));

    return f->lane &&
           (is_host || (is_stopped && seine_fate_of(e) == SEINE_FATE_CANCELED));
}

static bool
is_over_limit(seine_err e)
{
    return e == SEINE_E_BODY_TOO_LARGE || e == SEINE_E_NOMEM;
}

void
sn_frontier_sitemap_end(sn_frontier *f, const sn_visit *v, bool is_read)
{
    if (is_read) /* after what it led to */
        sn_frontier_keep_ended(f, v->number);
    else if (f->lane)
        atomic_fetch_add(&f->shared->left, 1);
    sn_crawl_hosts_state(&f->hosts, v->home_host)->maps_out--;
    sn_frontier_say(f, v->home_host, SN_SAME_DELAY); /* the next level may begin */
}

bool
sn_frontier_sitemap_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    sn_str url = seine_url_href(v->first);

    SN_LOG(f->shared->opts.log, DEBUG, "sitemap", SN_URL("url", url),
           SN_E("err", v->fault.code), SN_U("status", v->fault.status));
    atomic_fetch_add(&f->shared->sitemap_bytes, v->end.body_bytes);
    f->sitemap_bytes += v->end.body_bytes;
    if (v->fault.code == SEINE_OK && v->target)
        follow_redirect(f, v, now);
    else if (v->fault.code == SEINE_OK && !sn_frontier_page(f, v, now))
        return false;
    else if (is_over_limit(v->fault.code))
        atomic_fetch_add(&f->shared->sitemaps_cut, 1);
    sn_frontier_sitemap_end(f, v, !is_left(f, v->fault.code));
    return true;
}
