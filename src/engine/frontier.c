/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/frontier_parts.h"

#include <assert.h>

#include "base/alloc.h"

static seine_err
make_parts(sn_frontier *f, const sn_store_ops *back_end)
{
    seine_err e = sn_frontier_open_store(f, back_end);

    f->posts = sn_calloc(f->n, sizeof(sn_post *));
    f->memory = sn_alloc((size_t)SN_BATCH * 2 * SEINE_URL_ROOM);
    if (e == SEINE_OK && (!f->posts || !f->memory))
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = sn_known_links_init(&f->known, f->shared->secret);
    sn_link_prints_init(&f->links);
    for (size_t i = 0; e == SEINE_OK && i < SN_BATCH; i++) {
        f->batch[i].href_mem = f->memory + 2 * i * SEINE_URL_ROOM;
        f->batch[i].key_mem = f->batch[i].href_mem + SEINE_URL_ROOM;
    }
    return e;
}

seine_err
sn_frontier_new(sn_shared_state *c, const sn_frontier_opts *o, const sn_frontier_ops *ops,
                sn_frontier **out_frontier)
{
    sn_frontier *f = sn_zalloc(sizeof *f);

    if (!f)
        return SEINE_E_NOMEM;
    f->shared = c;
    f->host_table = o->hosts;
    f->clock = o->clock;
    f->reading.at = SIZE_MAX;
    f->ops = *ops;
    f->index = o->index;
    f->n = o->n;
    f->late = SN_URL_LIST;
    f->parent_number = SN_JOB_NONE;
    f->paused = f->first_room = f->last_room = SN_NONE;
    f->max_robots = sn_frontier_max_robots(f);
    sn_crawl_hosts_init(&f->hosts);
    sn_heap_init(&f->again, UINT32_MAX);
    seine_err e = make_parts(f, o->store);
    if (e != SEINE_OK) {
        sn_frontier_free(f);
        return e;
    }
    *out_frontier = f;
    return SEINE_OK;
}

void
sn_frontier_free(sn_frontier *f)
{
    if (!f)
        return;
    assert(!f->store || f->store->figures.done + f->n_done + f->n_left == f->n_taken);
    for (uint32_t i = 0; f->posts && i < f->n; i++)
        sn_mail_free(f->posts[i]);
    sn_free(f->posts);
    sn_free(f->memory);
    sn_known_links_fini(&f->known);
    sn_link_prints_fini(&f->links);
    (void)!sn_store_close(f->store, true);
    sn_crawl_hosts_fini(&f->hosts);
    sn_heap_fini(&f->again);
    sn_free(f);
}

/* Hosts. */

static uint8_t
flags_of(const sn_frontier *f, uint32_t host, bool is_given)
{
    const seine_fetch_opts *o = &f->shared->opts;
    uint8_t flags = is_given ? SN_CRAWL_HOST_GIVEN : 0;

    if (sn_frontier_obey(f, host) == SEINE_OBEY_OFF ||
        (is_given && o->mine && !o->robots_on_mine))
        flags |= SN_CRAWL_HOST_FREE;
    return flags;
}

seine_err
sn_frontier_host(sn_frontier *f, const seine_url *url, bool is_given, seine_time now,
                 uint32_t *out_host, sn_crawl_host **out_ch)
{
    uint32_t host;
    sn_crawl_state *x;
    seine_err e = sn_hosts_find(f->host_table, url, now, &host);

    if (e == SEINE_OK && is_given)
        sn_hosts_set_given(f->host_table, host, now);
    if (e == SEINE_OK)
        e = sn_crawl_hosts_make_state(&f->hosts, host, &x);
    if (e == SEINE_OK)
        e = sn_crawl_hosts_at(&f->hosts, host, out_ch);
    if (e != SEINE_OK)
        return e;
    (*out_ch)->flags |= flags_of(f, host, is_given);
    *out_host = host;
    return SEINE_OK;
}

uint32_t
sn_frontier_behind(const sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    return f->hosts.all[host].chain.n + x->first.n + x->n_held;
}

/* URLs of the host that may be asked for: robots.txt, and once it is known all others. */
static uint32_t
count_work(const sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    uint32_t n = x->is_wanted;

    if (sn_frontier_is_open(f, host))
        n += f->hosts.all[host].chain.n + x->first.n;
    return n;
}

void
sn_frontier_say(sn_frontier *f, uint32_t host, seine_span delay)
{
    sn_work work = {.host = host, .n = count_work(f, host), .delay = delay};

    f->ops.work(&work, f->ops.arg);
}

/* The next URL of a host. */

static bool
has_levels(const sn_frontier *f)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;

    return o && o->depth != UINT32_MAX;
}

/* While the depth is limited, nothing of a level starts before all that is less deep has
 * ended; what goes first is of no new level. */
static uint32_t
deepest_of(const sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    bool is_bound = has_levels(f) && x->first.n == 0 &&
                    (sn_hosts_busy(f->host_table, host) > 0 || x->maps_out > 0);

    return is_bound ? f->hosts.all[host].level : SN_STORE_ANY;
}

/* The page begins its level, if it is the first of it. */
static void
begin_level(sn_frontier *f, uint32_t host, uint32_t depth)
{
    sn_crawl_host *ch = &f->hosts.all[host];

    if (has_levels(f) && depth > ch->level)
        ch->level = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
}

/* No memory for the visit: the URL ends here, or a crawl might not. */
static void
lose_url(sn_frontier *f, uint32_t host, const sn_waiting_url *u)
{
    if (u->kind == SN_KIND_PAGE)
        sn_frontier_refuse_waiting(f, host, u, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    else
        sn_frontier_end_sitemap(f, u->number);
}

/* A URL that has left its list, as a visit. */
static sn_visit *
visit_waiting(sn_frontier *f, uint32_t host, const sn_waiting_url *u, seine_time now)
{
    sn_visit *v;

    if (u->kind == SN_KIND_PAGE) {
        begin_level(f, host, u->depth);
        v = sn_frontier_visit_page(f, host, u, now);
        if (v)
            sn_frontier_count_page(f, host, v);
    } else {
        v = sn_frontier_visit_sitemap(f, host, u, now);
    }
    if (!v)
        lose_url(f, host, u);
    else if (f->shared->fleet)
        sn_fleet_asked(f->shared->fleet, u->number);
    return v;
}

/* In a fleet: the URL came with an earlier tenure of its partition, and is known anew. */
static bool
drop_lost(sn_frontier *f, const sn_waiting_url *u)
{
    if (!f->shared->fleet || !sn_fleet_is_lost(f->shared->fleet, u->number))
        return false;
    if (u->kind == SN_KIND_PAGE) {
        sn_frontier_finish(f, u->number);
        sn_depth_counts_end(&f->shared->depths, u->depth);
        atomic_fetch_sub(&f->shared->admitted, 1);
    }
    sn_shared_state_end_work(f->shared, 1);
    return true;
}

/* The first that is not refused after all; *out_lost: there was no memory for it. */
static sn_visit *
next_waiting(sn_frontier *f, uint32_t host, seine_time now, bool *out_lost)
{
    sn_skip_why why;
    sn_waiting_url u;

    for (uint32_t n = 0;; n++) {
        if (n == SN_REFUSED_TURN || !sn_frontier_has_steps(f)) {
            sn_frontier_pause(f, host);
            return NULL;
        }
        if (sn_frontier_take(f, host, deepest_of(f, host), &u) != SEINE_OK)
            return NULL;
        if (drop_lost(f, &u))
            continue;
        if (!sn_frontier_refuses_late(f, host, &u, &why)) {
            sn_visit *v = visit_waiting(f, host, &u, now);
            *out_lost = !v;
            return v;
        }
        if (u.kind == SN_KIND_PAGE)
            sn_frontier_refuse_waiting(f, host, &u, why.reason, why.rule);
        else
            sn_frontier_end_sitemap(f, u.number);
    }
}

sn_offer
sn_frontier_next(sn_frontier *f, uint32_t host, seine_time now)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_offer offer = {0};

    if (!x)
        return offer;
    sn_standing is =
        f->shared->fleet ? sn_frontier_enter_tenure(f, host, now) : SN_STANDING_HELD;
    if (is == SN_STANDING_LOST)
        sn_frontier_leave_lost(f, host);
    if (is == SN_STANDING_NEW)
        sn_frontier_pause(f, host); /* it is asked about again at its time */
    if (is != SN_STANDING_HELD) {
        offer.left = count_work(f, host);
        return offer;
    }
    bool is_open = sn_frontier_check_robots(f, host, now);
    if (f->err != SEINE_OK) {
        offer.visit = NULL; /* nothing more is asked */
    } else if (x->is_wanted) {
        offer.visit = sn_frontier_visit_robots(f, host, now);
        offer.is_no_memory = !offer.visit;
        if (!offer.visit)
            sn_frontier_robots_lost(f, host, now);
    } else if (is_open) {
        offer.visit = next_waiting(f, host, now, &offer.is_no_memory);
    }
    offer.left = count_work(f, host);
    return offer;
}

bool
sn_frontier_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    if (v->kind != SN_KIND_ROBOTS)
        return sn_frontier_sitemap_back(f, v, now);
    sn_frontier_robots_back(f, v, now);
    return true;
}

/* The end of a turn. */

bool
sn_frontier_is_quiet(uint32_t host, void *arg)
{
    const sn_frontier *f = arg;
    const sn_crawl_host *ch = &f->hosts.all[host];
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    return ch->chain.n == 0 && x->first.n == 0 && x->maps_out == 0 && x->n_held == 0 &&
           !x->is_wanted && !x->is_paused && !x->waits_room &&
           x->robots.state != SN_ROBOTS_ASKED && !(ch->flags & SN_CRAWL_HOST_STUCK) &&
           sn_hosts_busy(f->host_table, host) == 0;
}

static bool
is_idle(uint32_t host, void *arg)
{
    const sn_frontier *f = arg;
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    const sn_visit *looked_at = f->looking.visit; /* its links are still being read */

    return (x->patterns.n == 0 || f->hosts.all[host].n_pages < 100) &&
           !(looked_at && looked_at->home_host == host) &&
           sn_frontier_is_quiet(host, arg);
}

void
sn_frontier_end_turn(sn_frontier *f)
{
    f->robots_steps = 0;
    f->reading.since = 0;
    sn_frontier_find_room(f);
    sn_frontier_commit(f);
    sn_crawl_hosts_evict(&f->hosts, is_idle, f);
}

void
sn_frontier_left(sn_frontier *f, const sn_visit *v)
{
    f->n_left++;
    sn_depth_counts_end(&f->shared->depths, v->depth);
}

uint32_t
sn_frontier_n_hosts(const sn_frontier *f)
{
    return f->hosts.n;
}

uint64_t
sn_frontier_admitted(const sn_frontier *f)
{
    return f->admitted;
}

uint64_t
sn_frontier_allowed(const sn_frontier *f)
{
    return f->allowed;
}

uint64_t
sn_frontier_waiting(const sn_frontier *f)
{
    return f->waiting;
}

seine_err
sn_frontier_err(const sn_frontier *f)
{
    return f->err;
}
