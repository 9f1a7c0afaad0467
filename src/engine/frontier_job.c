/* SPDX-License-Identifier: Apache-2.0 */
/* What the job of a crawl keeps of the frontier, and how it comes back. Nothing here is
 * called without a job. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "engine/frontier_parts.h"
#include "store/job_page.h"

#define ROBOTS_GOOD_MS (24 * INT64_C(3600000))

void
sn_frontier_set_lane(sn_frontier *f, sn_job_lane *lane)
{
    f->lane = lane;
}

void
sn_frontier_set_pages(sn_frontier *f, struct sn_job_reader *pages)
{
    f->pages = pages;
}

/* Keeping. */

/* What cannot be kept ends the crawl: its lane takes nothing more either. */
static void
keep(sn_frontier *f, seine_err e)
{
    if (e != SEINE_OK)
        sn_frontier_fail(f, e);
}

/* The row of a link. Its parent is named by number if the job knows it as a URL. */
static sn_job_url
row_of(const sn_frontier *f, const sn_link *l, uint64_t print)
{
    sn_job_url row = {.url = sn_frontier_waiting_of(l),
                      .print = print,
                      .parent_number = f->parent_number};

    if (f->parent_number != SN_JOB_NONE)
        row.url.parent = (sn_str){0};
    return row;
}

void
sn_frontier_keep_found(sn_frontier *f, const sn_link *l, const seine_url *url,
                       uint64_t print)
{
    char name[SN_HOST_NAME];
    size_t len = seine_url_authority(url, name, sizeof name);
    sn_job_url row = row_of(f, l, print);

    if (len > 0 && len < sizeof name) {
        row.url.host = (sn_str){name, len};
        row.url.target = seine_url_target(url);
    } else { /* no name that DNS allows: its owner refuses it */
        row.url.target = l->url;
    }
    keep(f, sn_job_found(f->lane, &row));
}

void
sn_frontier_keep_late(sn_frontier *f, const sn_link *l, uint8_t flags, uint64_t print)
{
    sn_job_url row = row_of(f, l, print);

    row.url.target = l->url;
    row.url.kind = SN_JOB_LATE;
    row.url.flags = flags;
    keep(f, sn_job_found(f->lane, &row));
}

void
sn_frontier_keep_refused(sn_frontier *f, uint64_t number, uint64_t print)
{
    keep(f, sn_job_refused(f->lane, number, print));
}

void
sn_frontier_keep_ended(sn_frontier *f, uint64_t number)
{
    if (f->lane)
        keep(f, sn_job_ended(f->lane, number));
}

void
sn_frontier_keep_robots(sn_frontier *f, uint32_t host, sn_address_zone ceiling,
                        sn_str text)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    seine_clock *clock = f->shared->opts.clock;
    bool is_parsed = x->robots.state == SN_ROBOTS_PARSED;
    sn_job_robots row = {.host = sn_hosts_name(f->host_table, host),
                         .wall_ms = clock->wall(clock) / SEINE_MS(1),
                         .state = x->robots.state | (int64_t)ceiling << 8,
                         .text = is_parsed ? text : (sn_str){0}};

    if (is_parsed || x->robots.state == SN_ROBOTS_ABSENT)
        keep(f, sn_job_robots_put(f->lane, &row));
}

void
sn_frontier_keep_widened(sn_frontier *f, const seine_url *from, const seine_url *to)
{
    if (f->lane)
        keep(f, sn_job_note_put(f->lane, SN_NOTE_WIDENED, seine_url_href(from),
                                seine_url_href(to)));
}

void
sn_frontier_keep_listed(sn_frontier *f, const seine_url *sitemap, sn_str prints)
{
    keep(f,
         sn_job_note_put(f->lane, SN_JOB_NOTE_LISTED, seine_url_href(sitemap), prints));
}

/* A note about a pattern of a host: "KEY HOST". */
static void
keep_pattern(sn_frontier *f, uint32_t host, uint64_t key, uint32_t kind, int64_t value)
{
    sn_str name = sn_hosts_name(f->host_table, host);
    char text[SN_HOST_NAME + 24];
    int n = snprintf(text, sizeof text, "%016" PRIx64 " %.*s", key, SN_FMT(name));

    keep(f, sn_job_note_put(f->lane, kind, (sn_str){text, (size_t)n},
                            (sn_str){(const char *)&value, sizeof value}));
}

void
sn_frontier_keep_trap(sn_frontier *f, uint32_t host, uint64_t key)
{
    if (f->lane)
        keep_pattern(f, host, key, SN_NOTE_TRAP, sn_job_round_of(f->shared->job)->number);
}

void
sn_frontier_keep_count(sn_frontier *f, uint32_t host, uint64_t key, uint32_t pages)
{
    if (f->lane && f->shared->fleet)
        keep_pattern(f, host, key, SN_NOTE_PAGES, pages);
}

/* Leaving. */

/* Pages and sitemaps that go before the others are told apart by taking them. */
static uint32_t
leave_first(sn_frontier *f, sn_url_list *list)
{
    sn_waiting_url u;
    uint32_t n = list->n;

    while (sn_store_take(f->store, list, SN_STORE_AT_ONCE, &u) == SEINE_OK)
        f->waiting -= u.kind == SN_KIND_PAGE;
    *list = SN_URL_LIST;
    return n;
}

uint32_t
sn_frontier_leave(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (!x)
        return 0;
    sn_crawl_host *ch = &f->hosts.all[host];
    uint32_t n = ch->chain.n;

    f->waiting -= n;
    ch->chain = SN_URL_LIST; /* their memory goes with the store */
    n += leave_first(f, &x->first);
    if (ch->flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_end_stuck(f->shared, n);
    atomic_fetch_add(&f->shared->left, n);
    uint32_t work = n + (x->is_wanted ? 1 : 0);
    if (x->is_wanted) {
        x->is_wanted = false;
        sn_frontier_end_reserve(f, host);
    }
    if (work > 0)
        sn_frontier_say(f, host, SN_SAME_DELAY);
    sn_shared_state_end_work(f->shared, work);
    return n;
}

void
sn_frontier_leave_late(sn_frontier *f)
{
    if (!f->holds_end)
        return;
    atomic_fetch_add(&f->shared->left, f->late.n);
    f->late = SN_URL_LIST;
    f->holds_end = false;
    atomic_fetch_sub(&f->shared->late, 1);
}

/* Coming back. */

static seine_err
find_name(sn_frontier *f, sn_str name, bool is_given, seine_time now, uint32_t *out_host)
{
    char mem[SN_HOST_NAME + 2];
    seine_url url;
    sn_crawl_host *ch;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, name.ptr, name.len, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    return sn_frontier_host(f, &url, is_given, now, out_host, &ch);
}

seine_err
sn_frontier_find_name(sn_frontier *f, sn_str name, seine_time now, uint32_t *out_host)
{
    return find_name(f, name, false, now, out_host);
}

seine_err
sn_frontier_restore_host(sn_frontier *f, sn_str name, bool is_given, seine_time now)
{
    uint32_t host;

    return find_name(f, name, is_given, now, &host);
}

seine_err
sn_frontier_restore_pages(sn_frontier *f, sn_str name, const sn_job_standing *n,
                          seine_time now)
{
    char mem[SN_HOST_NAME + 2];
    seine_url url;
    sn_crawl_host *ch;
    sn_skip_why why;
    uint32_t host;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, name.ptr, name.len, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = sn_frontier_host(f, &url, false, now, &host, &ch);
    if (e != SEINE_OK)
        return e;
    ch->n_pages += (uint32_t)(n->done < UINT32_MAX - ch->n_pages ? n->done : 0);
    if (n->sitemaps > 0) {
        sn_crawl_hosts_state(&f->hosts, host)->n_maps += (uint32_t)n->sitemaps;
        ch->flags |= SN_CRAWL_HOST_MAPPED;
        atomic_fetch_add(&f->shared->sitemaps, n->sitemaps);
    }
    if (ch->n_pages > 0 && f->shared->opts.crawl)
        (void)!sn_frontier_spend_domain(f, &url, ch, &why);
    return SEINE_OK;
}

seine_err
sn_frontier_restore_robots(sn_frontier *f, const sn_job_robots *row, int64_t wall_ms,
                           seine_time now)
{
    seine_fault good = SEINE_FAULT;
    int64_t age = wall_ms - row->wall_ms;
    uint32_t host;

    if (age < 0 || age >= ROBOTS_GOOD_MS || f->hosts.robots_bytes >= f->max_robots)
        return SEINE_OK; /* it is asked for again */
    seine_err e = find_name(f, row->host, false, now, &host);
    if (e != SEINE_OK)
        return e;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    size_t before = sn_robots_cache_bytes(&x->robots);
    good.status = 200;
    if ((row->state & 0xff) == SN_ROBOTS_PARSED)
        sn_robots_cache_settle(&x->robots, &good, row->text, f->shared->agent,
                               now - SEINE_MS(age));
    else
        sn_robots_cache_ignore(&x->robots, now - SEINE_MS(age));
    sn_crawl_hosts_count_robots(&f->hosts, x, before);
    x->ceiling = (uint8_t)(row->state >> 8 & 3);
    return SEINE_OK;
}

/* One that was put off, and is still to be told. */
static seine_err
restore_late(sn_frontier *f, const sn_job_url *u)
{
    sn_waiting_url late = u->url;
    uint8_t is_new;

    late.kind = SN_KIND_PAGE;
    seine_err e = seine_seen_add_many(f->shared->late_seen, &u->print, 1, &is_new);
    if (e == SEINE_OK)
        e = sn_store_enqueue(f->store, &f->late, &late);
    if (e != SEINE_OK)
        return e;
    if (!f->holds_end)
        atomic_fetch_add(&f->shared->late, 1);
    f->holds_end = true;
    return SEINE_OK;
}

/* A URL of an earlier round that is not work now: what becomes of it is told at the end.
 * Its target is a whole URL there. */
static seine_err
put_off_known(sn_frontier *f, const sn_job_url *u, unsigned flags)
{
    char text[SEINE_URL_ROOM + SN_HOST_NAME], mem[SEINE_URL_ROOM];
    sn_waiting_url late = u->url;
    seine_url url;
    int n = snprintf(text, sizeof text, "%.*s%.*s", SN_FMT(u->url.host),
                     SN_FMT(u->url.target));

    seine_url_init(&url, mem, sizeof mem);
    if (n < 0 || (size_t)n >= sizeof text ||
        seine_url_parse(&url, text, (size_t)n, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    late.host = (sn_str){0};
    late.target = seine_url_href(&url);
    late.kind = SN_KIND_PAGE;
    late.flags = (uint8_t)(SN_PUT_KNOWN | flags);
    seine_err e = sn_store_enqueue(f->store, &f->late, &late);
    if (e != SEINE_OK)
        return e;
    if (!f->holds_end)
        atomic_fetch_add(&f->shared->late, 1);
    f->holds_end = true;
    return SEINE_OK;
}

seine_err
sn_frontier_restore_not_due(sn_frontier *f, const sn_job_url *u)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;

    if (!o || o->sitemaps == SEINE_SITEMAPS_OFF)
        return SEINE_OK; /* nothing can make it due */
    return put_off_known(f, u, SN_PUT_NOT_DUE);
}

/* Budgets count anew in every round. */
static bool
is_over_budget(sn_frontier *f, uint32_t host, unsigned *out_flags)
{
    const seine_fetch_opts *o = &f->shared->opts;
    uint64_t per_host = o->crawl->max_per_host;

    if (!o->revisit || sn_job_round_of(f->shared->job)->number == 1)
        return false;
    bool is_host = per_host > 0 && f->hosts.all[host].n_pages >= per_host;
    *out_flags = SEINE_SKIP_BUDGET | (is_host ? SN_PUT_NOFOLLOW : 0u);
    return is_host ||
           (o->max_pages > 0 && atomic_load(&f->shared->admitted) >= o->max_pages);
}

/* A link to a name that is none: its owner refuses it once more. */
static seine_err
restore_nameless(sn_frontier *f, const sn_job_url *u, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, u->url.target.ptr, u->url.target.len, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    sn_link link = sn_frontier_link_of(&u->url, &url);
    sn_shared_state_add_work(f->shared, 1);
    sn_frontier_admit_link(f, &link, &url, now);
    return SEINE_OK;
}

static void
count_restored(sn_frontier *f, uint32_t host, const sn_waiting_url *u)
{
    sn_crawl_host *ch = &f->hosts.all[host];

    sn_shared_state_add_work(f->shared, 1);
    if (u->kind == SN_KIND_SITEMAP) {
        sn_crawl_hosts_state(&f->hosts, host)->n_maps++;
        ch->flags |= SN_CRAWL_HOST_MAPPED;
        atomic_fetch_add(&f->shared->sitemaps, 1);
        return;
    }
    atomic_fetch_add(&f->shared->admitted, 1);
    ch->n_pages++;
    f->waiting++;
    f->admitted++;
    sn_depth_counts_add(&f->shared->depths, u->depth);
}

/* A page that is less deep than one before it goes first. While URLs come back, the level
 * of a host is that of its deepest one. */
static sn_url_list *
list_for(sn_frontier *f, uint32_t host, const sn_waiting_url *u)
{
    sn_crawl_host *ch = &f->hosts.all[host];

    if (u->kind == SN_KIND_SITEMAP || u->depth < ch->level)
        return &sn_crawl_hosts_state(&f->hosts, host)->first;
    ch->level = u->depth < UINT16_MAX ? (uint16_t)u->depth : UINT16_MAX;
    return &ch->chain;
}

static seine_err
restore_waiting(sn_frontier *f, const sn_job_url *u, seine_time now)
{
    sn_str name = u->url.host;
    seine_err e = SEINE_OK;

    /* Most URLs follow one of their own host; its name stays where it is meanwhile. */
    if (name.ptr != f->restored_name.ptr || name.len != f->restored_name.len)
        e = find_name(f, name, false, now, &f->restored_host);
    f->restored_name = e == SEINE_OK ? name : (sn_str){0};
    if (e != SEINE_OK)
        return e;
    uint32_t host = f->restored_host;
    unsigned flags = 0;
    if (u->url.kind == SN_KIND_PAGE && is_over_budget(f, host, &flags))
        return put_off_known(f, u, flags);
    e = sn_store_enqueue(f->store, list_for(f, host, &u->url), &u->url);
    if (e == SEINE_OK)
        count_restored(f, host, &u->url);
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    if (x->robots.state == SN_ROBOTS_UNKNOWN && sn_frontier_behind(f, host) == 1)
        x->ceiling = u->url.ceiling;
    return e;
}

seine_err
sn_frontier_restore_url(sn_frontier *f, const sn_job_url *u, seine_time now)
{
    if (u->url.kind == SN_JOB_LATE)
        return restore_late(f, u);
    return u->url.host.len == 0 ? restore_nameless(f, u, now)
                                : restore_waiting(f, u, now);
}

void
sn_frontier_restored(sn_frontier *f, seine_time now)
{
    f->restored_name = (sn_str){0};
    for (uint32_t host = 0; host < f->hosts.n; host++) {
        const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

        f->hosts.all[host].level = 0;
        if (!x)
            continue;
        if (x->robots.state == SN_ROBOTS_PARSED || x->robots.state == SN_ROBOTS_ABSENT)
            sn_frontier_open_host(f, host, (sn_address_zone)x->ceiling, now);
        else if (sn_frontier_behind(f, host) > 0) {
            sn_frontier_check_robots(f, host, now);
            sn_frontier_say(f, host, SN_SAME_DELAY);
        }
    }
}
