/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/admit.h"
#include "engine/frontier_parts.h"

/* Refusing. */

static void
tell_refusal(sn_frontier *f, sn_refusal r, const seine_url *url)
{
    char key[SEINE_URL_ROOM];
    size_t len = 0;

    if (url && seine_url_key(url, f->shared->opts.strip_params, key, sizeof key, &len) ==
                   SEINE_OK)
        r.key = (sn_str){key, len};
    f->ops.refuse(&r, f->ops.arg);
}

void
sn_frontier_refuse(sn_frontier *f, const sn_link *link, const seine_url *url,
                   seine_skip reason, sn_str rule)
{
    tell_refusal(f, (sn_refusal){.link = link, .reason = reason, .rule = rule}, url);
}

/* A URL that was routed to its owner is refused there. */
static void
turn_away(sn_frontier *f, const sn_link *link, const seine_url *url, seine_skip reason,
          sn_str rule)
{
    sn_frontier_refuse(f, link, url, reason, rule);
    sn_shared_state_end_work(f->shared, 1);
}

sn_link
sn_frontier_link_of(const sn_waiting_url *u, const seine_url *url)
{
    return (sn_link){.url = seine_url_href(url),
                     .parent = u->parent,
                     .number = u->number,
                     .line = u->line,
                     .depth = u->depth,
                     .moved = u->moved,
                     .ceiling = u->ceiling,
                     .tag = u->tag,
                     .attr = u->attr,
                     .kind = u->kind};
}

void
sn_frontier_refuse_waiting(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                           seine_skip reason, sn_str rule)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (!sn_frontier_url(f, host, u->target, &url))
        url.len = 0;
    sn_link link = sn_frontier_link_of(u, &url);
    tell_refusal(
        f, (sn_refusal){.link = &link, .reason = reason, .rule = rule, .is_late = true},
        &url);
    sn_frontier_finish(f, u->number);
    sn_depth_counts_end(&f->shared->depths, u->depth);
    atomic_fetch_sub(&f->shared->admitted, 1);
    sn_shared_state_end_work(f->shared, 1);
}

bool
sn_frontier_refuses_late(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                         sn_skip_why *why)
{
    if (u->kind == SN_KIND_SITEMAP && sn_frontier_is_over_sitemap_bytes(f))
        return sn_skip_for(why, SEINE_SKIP_BUDGET, SN_STR("bytes of sitemaps"));
    if (sn_frontier_is_over_bytes(f))
        return sn_skip_for(why, SEINE_SKIP_BUDGET, sn_str_of(f->shared->max_bytes_rule));
    if (sn_frontier_forbids(f, host, u->target, why))
        return true;
    f->allowed += f->is_allowed;
    return sn_frontier_repeats(f, host, u, why);
}

/* Links. */

static bool
is_known(const sn_crawl_state *x)
{
    return x->robots.state == SN_ROBOTS_PARSED || x->robots.state == SN_ROBOTS_ABSENT;
}

/* Everything the owner of a host may have against a page. */
static bool
refuses_page(sn_frontier *f, uint32_t host, sn_crawl_host *ch, const seine_url *url,
             sn_skip_why *why)
{
    if (sn_frontier_spend_domain(f, url, ch, why))
        return true;
    if (is_known(sn_crawl_hosts_state(&f->hosts, host)) && sn_frontier_has_steps(f) &&
        sn_frontier_forbids(f, host, seine_url_target(url), why))
        return true;
    return sn_frontier_spend_page(f, ch, why);
}

/* One URL more waits at the host. In a fleet its partition may have gone while the URL
 * was on its way here: nobody would ask about the host any more. */
static void
announce_url(sn_frontier *f, uint32_t host, seine_time now)
{
    if (f->shared->fleet && sn_frontier_enter_tenure(f, host, now) == SN_STANDING_LOST)
        sn_frontier_leave_lost(f, host);
    else if (sn_frontier_check_robots(f, host, now) ||
             sn_crawl_hosts_state(&f->hosts, host)->is_wanted)
        sn_frontier_say(f, host, SN_SAME_DELAY);
    else if (f->hosts.all[host].flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_add_stuck(f->shared, 1);
}

/* A host that only a sitemap names goes on counting levels. */
static void
set_map_level(sn_crawl_host *ch, const sn_link *l)
{
    if (!(ch->flags & (SN_CRAWL_HOST_GIVEN | SN_CRAWL_HOST_MAPPED)) && ch->n_pages == 0)
        ch->map_level = (uint8_t)(SN_TRAIL_LEVEL(l->moved) + 1);
    ch->flags |= SN_CRAWL_HOST_MAPPED;
}

static void
admit_sitemap(sn_frontier *f, uint32_t host, sn_crawl_host *ch, const sn_link *l,
              const seine_url *url, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_skip_why why;

    set_map_level(ch, l);
    if (x->n_maps >= SN_CRAWL_HOST_MAPS || sn_frontier_spend_domain(f, url, ch, &why) ||
        sn_frontier_put(f, host, true, l, seine_url_target(url)) != SEINE_OK) {
        atomic_fetch_add(&f->shared->sitemaps_cut, 1);
        sn_frontier_end_sitemap(f, l->number);
        return;
    }
    x->n_maps++;
    announce_url(f, host, now);
}

/* A page of a level that has begun, or is over, goes before those of the next. */
static bool
goes_first(const sn_frontier *f, const sn_crawl_host *ch, const sn_link *l)
{
    return f->shared->opts.crawl->depth != UINT32_MAX && l->depth <= ch->level &&
           ch->chain.n > 0;
}

static void
admit_page(sn_frontier *f, uint32_t host, sn_crawl_host *ch, const sn_link *link,
           const seine_url *url, seine_time now)
{
    sn_skip_why why;

    if (refuses_page(f, host, ch, url, &why)) {
        turn_away(f, link, url, why.reason, why.rule);
        return;
    }
    seine_err e =
        sn_frontier_put(f, host, goes_first(f, ch, link), link, seine_url_target(url));
    if (e != SEINE_OK) {
        atomic_fetch_sub(&f->shared->admitted, 1);
        turn_away(f, link, url, SEINE_SKIP_BUDGET, SN_STR("no memory"));
        return;
    }
    ch->n_pages++;
    f->waiting++;
    f->admitted++;
    sn_depth_counts_add(&f->shared->depths, link->depth);
    announce_url(f, host, now);
}

void
sn_frontier_admit_link(sn_frontier *f, const sn_link *link, const seine_url *url,
                       seine_time now)
{
    sn_crawl_host *ch;
    uint32_t host;
    seine_err e = sn_frontier_host(f, url, false, now, &host, &ch);

    if (e == SEINE_E_DNS_BAD_NAME)
        turn_away(f, link, url, SEINE_SKIP_BAD_URL, SN_STR("not a host name"));
    else if (e != SEINE_OK)
        turn_away(f, link, url, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    else if (link->kind == SN_KIND_SITEMAP)
        admit_sitemap(f, host, ch, link, url, now);
    else
        admit_page(f, host, ch, link, url, now);
}

void
sn_frontier_post(sn_frontier *f, sn_post *give, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    sn_link link;

    seine_url_init(&url, mem, sizeof mem);
    for (size_t at = 0; sn_mail_read(give, &at, &link);) {
        if (link.kind == SN_JOB_LATE) {
            sn_frontier_refuse_sent(f, &link, now);
            continue;
        }
        seine_err e = seine_url_parse(&url, link.url.ptr, link.url.len, NULL);
        if (e == SEINE_OK)
            sn_frontier_admit_link(f, &link, &url, now);
        else
            turn_away(f, &link, NULL, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    }
    atomic_fetch_sub(&f->shared->mail_bytes, give->used);
    sn_mail_free(give);
}

/* Given URLs. */

/* The visit waits for the robots.txt of its host. */
static void
hold_visit(sn_frontier *f, uint32_t host, sn_visit *v)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    v->host = host;
    v->next = NULL;
    *(x->held ? &x->last_held->next : &x->held) = v;
    x->last_held = v;
    x->n_held++;
    f->waiting++;
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_add_stuck(f->shared, 1);
    if (x->is_wanted)
        sn_frontier_say(f, host, SN_SAME_DELAY);
}

/* Another worker may be asking the host that the redirect leads to. */
static bool
leaves_site(const sn_frontier *f, const sn_visit *v)
{
    return f->shared->fleet && v->n_hops > 0 &&
           !sn_fleet_is_same_site(f->shared->fleet, seine_url_href(v->first),
                                  seine_url_href(&v->url));
}

sn_admission
sn_frontier_admit(sn_frontier *f, sn_visit *v, seine_time now)
{
    sn_skip_why why;
    sn_crawl_host *ch;
    uint32_t host;

    if (leaves_site(f, v)) {
        sn_admit_refuse(v, SEINE_SKIP_OFFSITE, SN_STR("a redirect to another domain"));
        return SN_ADMISSION_REFUSED;
    }
    seine_err e =
        sn_frontier_host(f, &v->url, v->is_typed && v->n_hops == 0, now, &host, &ch);
    if (e == SEINE_E_DNS_BAD_NAME)
        return SN_ADMISSION_OK; /* the scheduler says so */
    if (e != SEINE_OK)
        return SN_ADMISSION_NO_MEMORY;
    if (f->shared->fleet && sn_frontier_enter_tenure(f, host, now) == SN_STANDING_LOST)
        return SN_ADMISSION_OK; /* it is dropped before its request */
    if (!(ch->flags & SN_CRAWL_HOST_PARKED) && !sn_frontier_check_robots(f, host, now)) {
        hold_visit(f, host, v);
        return SN_ADMISSION_HELD;
    }
    if (is_known(sn_crawl_hosts_state(&f->hosts, host)) && !sn_frontier_has_steps(f)) {
        f->waiting++;
        v->next = NULL;
        sn_frontier_release(f, v, v);
        return SN_ADMISSION_HELD;
    }
    if (is_known(sn_crawl_hosts_state(&f->hosts, host)) &&
        sn_frontier_forbids(f, host, seine_url_target(&v->url), &why)) {
        char *rule = sn_arena_text(&v->arena, why.rule);
        sn_admit_refuse(v, SEINE_SKIP_ROBOTS,
                        (sn_str){rule ? rule : "", rule ? why.rule.len : 0});
        ch->n_pages -= v->is_counted && ch->n_pages > 0;
        return SN_ADMISSION_REFUSED;
    }
    f->allowed += is_known(sn_crawl_hosts_state(&f->hosts, host)) && f->is_allowed;
    ch->n_pages += v->n_hops == 0 && !v->is_counted;
    return SN_ADMISSION_OK;
}

bool
sn_frontier_has_released(const sn_frontier *f)
{
    return f->released != NULL;
}

sn_visit *
sn_frontier_released(sn_frontier *f)
{
    sn_visit *v = f->released;

    if (!v || !sn_frontier_has_steps(f))
        return NULL;
    f->released = v->next;
    v->next = NULL;
    f->waiting--;
    return v;
}
