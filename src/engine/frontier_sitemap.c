/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/log.h"
#include "engine/frontier_parts.h"

enum { DEEPEST = 5 }; /* sitemap indexes that name each other */

/* May a sitemap be asked of that host? Those of one domain speak for each other. */
static bool
is_near(const sn_frontier *f, const seine_url *from, const seine_url *to)
{
    sn_str a = seine_url_host(from), b = seine_url_host(to);
    size_t n = seine_psl_site(f->shared->psl, a.ptr, a.len);
    size_t m = seine_psl_site(f->shared->psl, b.ptr, b.len);
    sn_scope_verdict verdict;

    if (sn_str_eq(a, b) ||
        (n > 0 && n == m && memcmp(a.ptr + a.len - n, b.ptr + b.len - m, n) == 0))
        return true;
    sn_scope_judge(f->shared->scope, to, false, &verdict);
    return verdict.in;
}

/* The whole URL of a sitemap that `from` names; false: it is none that is asked for. */
static bool
resolve_sitemap(const sn_frontier *f, const seine_url *from, sn_str text, seine_url *out)
{
    if (seine_url_resolve(out, from, text.ptr, text.len, NULL) != SEINE_OK)
        return false;
    sn_str scheme = seine_url_scheme(out);
    if ((!sn_str_eq(scheme, SN_STR("http")) && !sn_str_eq(scheme, SN_STR("https"))) ||
        !is_near(f, from, out))
        return false;
    seine_url_drop_fragment(out);
    seine_url_drop_user(out);
    return true;
}

/* A sitemap is asked for once, also when its URL is a page as well. */
static bool
add_to_seen(sn_frontier *f, const seine_url *url)
{
    static const char mark[] = "sitemap ";
    char key[sizeof mark + SEINE_URL_ROOM];
    bool is_new = false;
    size_t len;

    memcpy(key, mark, sizeof mark - 1);
    return seine_url_key(url, NULL, key + sizeof mark - 1, SEINE_URL_ROOM, &len) ==
               SEINE_OK &&
           seine_seen_add(f->shared->seen, key, sizeof mark - 1 + len, &is_new) ==
               SEINE_OK &&
           is_new;
}

static void
add_sitemap(sn_frontier *f, const seine_url *from, sn_str text, sn_address_zone ceiling,
            uint8_t level, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (!resolve_sitemap(f, from, text, &url))
        return;
    if (level > DEEPEST)
        atomic_fetch_add(&f->shared->sitemaps_cut, 1);
    if (level > DEEPEST || !add_to_seen(f, &url))
        return;
    sn_frontier_route(f,
                      &(sn_link){.url = seine_url_href(&url),
                                 .moved = level,
                                 .ceiling = (uint8_t)ceiling,
                                 .kind = SN_KIND_SITEMAP},
                      &url, now);
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
    seine_url_init(&root, mem, sizeof mem);
    if (!sn_frontier_url(f, host, SN_STR("/robots.txt"), &root))
        return;
    for (size_t i = 0; x->robots.robots && i < SN_CRAWL_HOST_MAPS &&
                       seine_robots_sitemap(x->robots.robots, i, &named);
         i++)
        add_sitemap(f, &root, named, ceiling, 0, now);
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_GIVEN)
        add_sitemap(f, &root, SN_STR("/sitemap.xml"), ceiling, 0, now);
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
                (uint8_t)(v->moved < 200 ? v->moved + 1 : 200), now);
}

static bool
is_over_limit(seine_err e)
{
    return e == SEINE_E_BODY_TOO_LARGE || e == SEINE_E_NOMEM;
}

void
sn_frontier_sitemap_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, v->home_host);
    sn_str url = seine_url_href(&v->first);

    SN_LOG(f->shared->opts.log, DEBUG, "sitemap", SN_URL("url", url),
           SN_E("err", v->fault.code), SN_U("status", v->fault.status));
    if (v->fault.code == SEINE_OK)
        sn_frontier_page(f, v, now);
    else if (is_over_limit(v->fault.code))
        atomic_fetch_add(&f->shared->sitemaps_cut, 1);
    x->maps_out--;
    sn_frontier_say(f, v->home_host, SN_SAME_DELAY); /* the next level may begin */
}
