/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/frontier_parts.h"
#include "text/html.h"

bool
sn_frontier_url(const sn_frontier *f, uint32_t host, sn_str target, seine_url *out)
{
    char text[SEINE_URL_ROOM + SN_HOST_NAME];
    sn_str name = sn_hosts_name(f->host_table, host);

    memcpy(text, name.ptr, name.len);
    memcpy(text + name.len, target.ptr, target.len);
    return seine_url_parse(out, text, name.len + target.len, NULL) == SEINE_OK;
}

static bool
keep_url(sn_visit *v, const seine_url *url)
{
    seine_view href = seine_url_href(url);
    char *mem = SN_ARENA_ARRAY(&v->arena, char, href.len + 1);

    if (!mem)
        return false;
    seine_url_init(&v->url, mem, href.len + 1);
    (void)!seine_url_copy(&v->url, url); /* there is room for it */
    v->input = seine_url_href(&v->url);
    return true;
}

static bool
keep_key(sn_frontier *f, sn_visit *v)
{
    char key[SEINE_URL_ROOM];
    size_t len = 0;

    /* A key is never longer than its URL. */
    (void)!seine_url_key(v->first, f->shared->opts.strip_params, key, sizeof key, &len);
    if (sn_str_eq((sn_str){key, len}, v->input)) {
        v->key = v->input;
        return true;
    }
    char *copy = sn_arena_text(&v->arena, (sn_str){key, len});
    v->key = (sn_str){copy, len};
    return copy != NULL;
}

/* A visit of our own for a target of the host. */
static sn_visit *
make_visit(sn_frontier *f, uint32_t host, sn_str target, sn_visit_kind kind,
           seine_time now)
{
    const seine_fetch_opts *o = &f->shared->opts;
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    sn_visit *v = sn_frontier_url(f, host, target, &url)
                      ? sn_visits_take_own(f->shared->visits)
                      : NULL;
    if (!v)
        return NULL;
    if (!keep_url(v, &url) || !keep_key(f, v)) {
        sn_visits_give(f->shared->visits, v);
        return NULL;
    }
    v->kind = (uint8_t)kind;
    v->method = SN_STR("GET");
    v->timeout = o->timeout;
    v->retry.opts = &o->retry;
    v->retry.deadline = SEINE_NEVER;
    v->retry.idempotent = true;
    v->home = f->index;
    v->home_host = host;
    v->at_home = (f->hosts.all[host].flags & SN_CRAWL_HOST_GIVEN) != 0;
    v->admitted_at = now;
    sn_visit_step(v, SN_ADMITTED);
    return v;
}

/* Which page led here, and which element of it. Without memory the record lacks them. */
static void
keep_found(sn_visit *v, const sn_waiting_url *u)
{
    if (u->parent.len == 0)
        return;
    sn_referrer *r = SN_ARENA_NEW(&v->arena, sn_referrer);
    const char *parent = r ? sn_arena_text(&v->arena, u->parent) : NULL;
    if (!parent)
        return;
    r->url = (sn_str){parent, u->parent.len};
    r->found.line = u->line;
    if (u->tag > 0) {
        r->found.tag = sn_str_of(sn_html_tag_name((sn_html_tag)u->tag));
        r->found.attr = sn_str_of(sn_html_attr_name((sn_html_attr)u->attr));
    }
    v->referrer = r;
}

sn_visit *
sn_frontier_visit_page(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                       seine_time now)
{
    sn_visit *v = make_visit(f, host, u->target, SN_KIND_PAGE, now);

    if (!v)
        return NULL;
    v->is_stored = true;
    v->number = u->number;
    sn_tried_urls_begin(&f->shared->tried, u->number, &v->retry, now);
    v->depth = u->depth;
    v->moved = u->moved;
    v->ceiling = (sn_address_zone)u->ceiling;
    v->leader = u->flags;
    keep_found(v, u);
    return v;
}

/* Whoever names a host says how far its robots.txt may reach. */
static sn_address_zone
robots_ceiling(const sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (x->held)
        return x->held->ceiling;
    return sn_frontier_behind(f, host) > 0 ? (sn_address_zone)x->ceiling
                                           : SN_ADDRESS_PUBLIC;
}

sn_visit *
sn_frontier_visit_robots(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_visit *v = make_visit(f, host, SN_STR("/robots.txt"), SN_KIND_ROBOTS, now);

    if (!v)
        return NULL;
    v->ceiling = robots_ceiling(f, host);
    x->is_wanted = false;
    x->robots.state = SN_ROBOTS_ASKED;
    return v;
}

sn_visit *
sn_frontier_visit_sitemap(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                          seine_time now)
{
    sn_visit *v = make_visit(f, host, u->target, SN_KIND_SITEMAP, now);

    if (!v)
        return NULL;
    v->number = u->number;
    sn_tried_urls_begin(&f->shared->tried, u->number, &v->retry, now);
    v->ceiling = (sn_address_zone)u->ceiling;
    v->moved = u->moved;
    sn_crawl_hosts_state(&f->hosts, host)->maps_out++;
    return v;
}
