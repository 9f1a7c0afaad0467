/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "engine/admit.h"
#include "engine/frontier_parts.h"
#include "engine/url_rules.h"
#include "store/job_page.h"

/* What waits. */

/* The first given URL that waits for robots.txt; there is one. */
static sn_visit *
take_held(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_visit *v = x->held;

    x->held = v->next;
    x->n_held--;
    f->waiting--;
    return v;
}

/* The next page of the host as a visit; sitemaps that nobody asked for yet have no record
 * and are gone, and so is a page for which there is no memory. */
static sn_visit *
take_page(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_visit *v = NULL;
    sn_waiting_url u;

    while (!v && sn_frontier_take(f, host, SN_STORE_AT_ONCE, &u) == SEINE_OK) {
        if (u.kind == SN_KIND_PAGE)
            v = sn_frontier_visit_page(f, host, &u, now);
        if (!v && u.kind == SN_KIND_PAGE)
            sn_frontier_refuse_waiting(f, host, &u, SEINE_SKIP_BUDGET,
                                       SN_STR("no memory"));
        else if (!v)
            sn_frontier_end_sitemap(f, u.number);
    }
    return v;
}

/* What waits at a host, as a visit to be ended. */
static sn_visit *
drain_host(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (!x)
        return NULL;
    uint32_t before = sn_frontier_behind(f, host);
    if (before == 0 && !x->is_wanted)
        return NULL;
    if (x->is_wanted) {
        x->is_wanted = false;
        sn_frontier_end_reserve(f, host);
        sn_shared_state_end_work(f->shared, 1);
    }
    sn_visit *v = x->held ? take_held(f, host) : take_page(f, host, now);
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_end_stuck(f->shared, before - sn_frontier_behind(f, host));
    sn_frontier_say(f, host, SN_SAME_DELAY);
    return v;
}

sn_visit *
sn_frontier_drain(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_visit *v;

    if (host != SN_NO_HOST)
        return drain_host(f, host, now);
    for (; f->drain_at < f->hosts.n; f->drain_at++)
        if ((v = drain_host(f, f->drain_at, now)))
            return v;
    f->drain_at = 0;
    return NULL;
}

void
sn_frontier_park(sn_frontier *f, uint32_t host)
{
    sn_crawl_host *ch;

    if (sn_crawl_hosts_at(&f->hosts, host, &ch) == SEINE_OK)
        ch->flags |= SN_CRAWL_HOST_PARKED;
}

sn_visit *
sn_frontier_stuck(sn_frontier *f, seine_time now)
{
    for (; f->stuck_at < f->hosts.n; f->stuck_at++) {
        sn_crawl_host *ch = &f->hosts.all[f->stuck_at];
        if (!(ch->flags & SN_CRAWL_HOST_STUCK))
            continue;
        sn_visit *v = drain_host(f, f->stuck_at, now);
        if (v) {
            sn_admit_refuse(v, SEINE_SKIP_ROBOTS_UNREACHABLE,
                            SN_STR("robots.txt could not be read"));
            return v;
        }
        ch->flags &= (uint8_t)~SN_CRAWL_HOST_STUCK;
    }
    f->stuck_at = 0;
    return NULL;
}

/* What is told at the end. */

/* Why a link that was put off is not followed at the end, either; false: a given URL that
 * came later brought it into scope, and it is followed. */
static bool
stays_refused(sn_frontier *f, const sn_waiting_url *u, const seine_url *url,
              sn_url_verdict *o)
{
    const sn_shared_state *c = f->shared;
    seine_skip reason = (seine_skip)(u->flags & ~SN_PUT_NOFOLLOW);

    if (reason == SEINE_SKIP_OFFSITE) {
        if (sn_url_rules_refuse(&c->opts, c->scope, url, false, o))
            return true;
        reason = u->depth > c->opts.crawl->depth     ? SEINE_SKIP_DEPTH
                 : u->flags & SN_PUT_NOFOLLOW        ? SEINE_SKIP_NOFOLLOW
                 : atomic_load(&c->stop) != SN_GOING ? SEINE_SKIP_OFFSITE
                                                     : SEINE_SKIP_ROOM;
    }
    o->reason = reason;
    o->rule = reason == SEINE_SKIP_DEPTH      ? c->shown.depth
              : reason == SEINE_SKIP_NOFOLLOW ? c->shown.nofollow
                                              : c->shown.scope;
    return reason != SEINE_SKIP_ROOM;
}

/* True: it is work after all. */
static bool
tell_late(sn_frontier *f, const sn_waiting_url *u, const seine_url *url, seine_time now)
{
    sn_shared_state *c = f->shared;
    sn_link link = sn_frontier_link_of(u, url);
    sn_url_verdict o = {0};

    link.number = f->lane ? u->number : sn_frontier_number(f);
    if (!stays_refused(f, u, url, &o)) {
        sn_frontier_route(f, &link, url, now);
        return true;
    }
    if (c->opts.crawl->skips || o.reason != SEINE_SKIP_OFFSITE ||
        sn_frontier_is_seed_target(&link))
        sn_frontier_refuse(f, &link, url, o.reason, o.rule);
    else
        sn_frontier_keep_ended(f, u->number);
    return false;
}

/* The next of those put off, with its URL. CLOSED: there is none. */
static seine_err
take_late(sn_frontier *f, seine_url *url, sn_waiting_url *out)
{
    seine_err e;
    sn_lost lost;

    while ((e = sn_store_take(f->store, &f->late, SN_STORE_AT_ONCE, out)) != SEINE_OK &&
           e != SEINE_E_CLOSED) {
        sn_frontier_fail(f, e);
        sn_frontier_skip(f, &f->late, &lost);
    }
    return e == SEINE_OK ? seine_url_parse(url, out->target.ptr, out->target.len, NULL)
                         : e;
}

/* Does a sitemap say that the page has changed since it was asked for? */
static bool
is_newer(sn_frontier *f, const sn_waiting_url *u, const seine_url *url)
{
    char key[SEINE_URL_ROOM];
    bool there = false;
    sn_job_page page;
    sn_arena mem;
    size_t len;

    if (!f->pages || atomic_load(&f->shared->stop) != SN_GOING ||
        seine_url_key(url, f->shared->opts.strip_params, key, sizeof key, &len) !=
            SEINE_OK)
        return false;
    int64_t lastmod = sn_lastmod_table_get(&f->shared->lastmods,
                                           seine_seen_print(f->shared->seen, key, len));
    if (lastmod == 0)
        return false;
    sn_arena_init(&mem, 1024, SIZE_MAX);
    seine_err e = sn_job_reader_page(f->pages, u->number, &mem, &page, &there);
    if (e != SEINE_OK)
        sn_frontier_fail(f, e);
    sn_arena_fini(&mem);
    return e == SEINE_OK && there && lastmod > page.seen_ms;
}

/* A URL of an earlier round: a budget refuses it, or it is not due. True: it is work
 * after all. */
static bool
end_known(sn_frontier *f, const sn_waiting_url *u, const seine_url *url, seine_time now)
{
    const sn_shared_state *c = f->shared;
    sn_link link = sn_frontier_link_of(u, url);
    char rule[96];

    if (!(u->flags & SN_PUT_NOT_DUE)) {
        int n = snprintf(rule, sizeof rule, "%.*s %llu", SN_FMT(c->shown.max_per_host),
                         (unsigned long long)c->opts.crawl->max_per_host);

        sn_frontier_refuse(f, &link, url, SEINE_SKIP_BUDGET,
                           u->flags & SN_PUT_NOFOLLOW ? (sn_str){rule, (size_t)n}
                                                      : sn_str_of(c->max_pages_rule));
        return false;
    }
    if (!is_newer(f, u, url))
        return false;
    atomic_fetch_sub(&f->shared->not_due, 1);
    sn_frontier_route(f, &link, url, now);
    return true;
}

/* Ends the first of those put off. CLOSED: there is none. */
static seine_err
end_late(sn_frontier *f, seine_url *url, seine_time now, bool *io_more)
{
    char key[SEINE_URL_ROOM], parent[SN_STORE_TEXT];
    sn_waiting_url u;
    bool is_new = false;
    size_t len;
    seine_err e = take_late(f, url, &u);

    if (e == SEINE_E_CLOSED)
        return e;
    /* Its texts are gone once something else is put into the store. */
    memcpy(parent, u.parent.ptr ? u.parent.ptr : "", u.parent.len);
    u.parent.ptr = parent;
    if (e == SEINE_OK && u.flags & SN_PUT_KNOWN) {
        *io_more |= end_known(f, &u, url, now);
        return SEINE_OK;
    }
    if (e == SEINE_OK)
        e = seine_url_key(url, f->shared->opts.strip_params, key, sizeof key, &len);
    if (e == SEINE_OK)
        e = seine_seen_add(f->shared->seen, key, len, &is_new);
    if (e != SEINE_OK)
        sn_frontier_lose(f, 1, e);
    else if (is_new)
        *io_more |= tell_late(f, &u, url, now);
    else {
        atomic_fetch_add_explicit(&f->shared->duplicates, 1, memory_order_relaxed);
        sn_frontier_keep_ended(f, u.number);
    }
    return SEINE_OK;
}

bool
sn_frontier_late(sn_frontier *f, uint32_t most, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    bool is_work = false;

    seine_url_init(&url, mem, sizeof mem);
    while (f->late.n > 0 && most > 0 && end_late(f, &url, now, &is_work) == SEINE_OK)
        most--;
    sn_frontier_send(f);
    if (f->late.n == 0 && f->holds_end && !is_work) {
        f->holds_end = false;
        atomic_fetch_sub(&f->shared->late, 1);
    }
    return f->late.n > 0;
}
