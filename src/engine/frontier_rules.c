/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/frontier_parts.h"

/* What waits at a host behind its rules: pages, sitemaps, given URLs. */
static uint32_t
behind(const sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    return f->hosts.all[host].chain.n + x->first.n + x->n_held;
}

/* Visits of our own. */

static bool
keep_url(sn_visit *v, const seine_url *url)
{
    seine_view href = seine_url_href(url);
    char *mem = SN_ARENA_ARRAY(&v->arena, char, href.len + 1);

    if (!mem)
        return false;
    seine_url_init(&v->first, mem, href.len + 1);
    if (seine_url_copy(&v->first, url) != SEINE_OK)
        return false;
    v->url = v->first;
    v->input = seine_url_href(&v->first);
    return true;
}

static bool
keep_key(sn_frontier *f, sn_visit *v)
{
    char key[SEINE_URL_ROOM];
    size_t len;

    if (seine_url_key(&v->first, f->shared->opts.strip_params, key, sizeof key, &len) !=
        SEINE_OK)
        return false;
    if (sn_str_eq((sn_str){key, len}, v->input)) {
        v->key = v->input;
        return true;
    }
    char *copy = sn_arena_text(&v->arena, (sn_str){key, len});
    v->key = (sn_str){copy, len};
    return copy != NULL;
}

sn_visit *
sn_frontier_make(sn_frontier *f, const seine_url *url, sn_visit_kind kind, seine_time now)
{
    const seine_fetch_opts *o = &f->shared->opts;
    sn_visit *v = sn_visits_take_own(f->shared->visits);

    if (!v)
        return NULL;
    if (!keep_url(v, url) || !keep_key(f, v)) {
        sn_visits_give(f->shared->visits, v);
        return NULL;
    }
    v->kind = (uint8_t)kind;
    v->method = SN_STR("GET");
    v->timeout = o->timeout;
    v->retry.opts = &o->retry;
    v->retry.deadline = SEINE_NEVER;
    v->retry.idempotent = true;
    v->lane = 1;
    v->home = f->index;
    v->admitted_at = now;
    sn_visit_step(v, SN_ADMITTED);
    return v;
}

/* Who names a host says how far its robots.txt may reach. */
static sn_address_zone
ceiling_of(sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (x->held)
        return x->held->ceiling;
    return sn_frontier_look(f, host) ? (sn_address_zone)f->ahead.ceiling
                                     : SN_ADDRESS_PUBLIC;
}

static sn_visit *
ask_robots(sn_frontier *f, uint32_t host, seine_url *url, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (!sn_frontier_url(f, host, SN_STR("/robots.txt"), url))
        return NULL;
    sn_visit *v = sn_frontier_make(f, url, SN_KIND_ROBOTS, now);
    if (!v)
        return NULL;
    v->ceiling = ceiling_of(f, host);
    v->lane = 0;
    x->is_wanted = false;
    x->robots.state = SN_ROBOTS_ASKED;
    return v;
}

/* The sitemap in `ahead`. */
static sn_visit *
ask_map(sn_frontier *f, uint32_t host, seine_url *url, seine_time now)
{
    if (!sn_frontier_url(f, host, f->ahead.target, url))
        return NULL;
    sn_visit *v = sn_frontier_make(f, url, SN_KIND_SITEMAP, now);
    if (!v)
        return NULL;
    v->ceiling = (sn_address_zone)f->ahead.ceiling;
    v->moved = f->ahead.moved;
    v->lane = 0;
    sn_frontier_pop(f, host);
    sn_crawl_hosts_state(&f->hosts, host)->maps_out++;
    return v;
}

sn_visit *
sn_frontier_ask(sn_frontier *f, uint32_t host, seine_time now)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    sn_visit *v =
        x->is_wanted ? ask_robots(f, host, &url, now) : ask_map(f, host, &url, now);
    if (v) {
        v->home_host = host;
        v->at_home = (f->hosts.all[host].flags & SN_CRAWL_HOST_GIVEN) != 0;
    }
    return v;
}

/* Sitemaps. */

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

static void
add_map(sn_frontier *f, const seine_url *from, sn_str text, sn_address_zone ceiling,
        uint8_t level, seine_time now)
{
    static const char mark[] = "sitemap ";
    char mem[SEINE_URL_ROOM], key[sizeof mark + SEINE_URL_ROOM];
    bool is_new = false;
    seine_url url;
    size_t len;

    seine_url_init(&url, mem, sizeof mem);
    if (level > 5 || seine_url_resolve(&url, from, text.ptr, text.len, NULL) != SEINE_OK)
        return;
    sn_str scheme = seine_url_scheme(&url);
    if ((!sn_str_eq(scheme, SN_STR("http")) && !sn_str_eq(scheme, SN_STR("https"))) ||
        !is_near(f, from, &url))
        return;
    seine_url_drop_fragment(&url);
    seine_url_drop_user(&url);
    memcpy(key, mark, sizeof mark - 1);
    if (seine_url_key(&url, NULL, key + sizeof mark - 1, SEINE_URL_ROOM, &len) !=
            SEINE_OK ||
        seine_seen_add(f->shared->seen, key, sizeof mark - 1 + len, &is_new) !=
            SEINE_OK ||
        !is_new)
        return;
    sn_frontier_route(f,
                      &(sn_link){.url = seine_url_href(&url),
                                 .moved = level,
                                 .ceiling = (uint8_t)ceiling,
                                 .kind = SN_KIND_SITEMAP},
                      &url, now);
}

/* The first sitemaps of a host: those its robots.txt names; of a given one the usual one
 * besides. */
static void
begin_maps(sn_frontier *f, uint32_t host, sn_address_zone ceiling, seine_time now)
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
        add_map(f, &root, named, ceiling, 0, now);
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_GIVEN)
        add_map(f, &root, SN_STR("/sitemap.xml"), ceiling, 0, now);
    for (uint32_t i = 0; i < f->n; i++)
        sn_frontier_send(f, i);
}

/* Of a host whose robots.txt does not count they are asked for when it has shown that it
 * is there: one that is dead is not asked twice as often. */
void
sn_frontier_answered(sn_frontier *f, const sn_visit *v, seine_time now)
{
    if (v->host < f->hosts.n && f->hosts.all[v->host].flags & SN_CRAWL_HOST_FREE &&
        sn_crawl_hosts_state(&f->hosts, v->host))
        begin_maps(f, v->host, sn_address_zone_ceiling(v->end.zone), now);
}

/* What a sitemap leads to further ones. */
void
sn_frontier_map(sn_frontier *f, const sn_visit *v, sn_str value, seine_time now)
{
    add_map(f, &v->url, value, sn_address_zone_ceiling(v->end.zone),
            (uint8_t)(v->moved < 200 ? v->moved + 1 : 200), now);
}

/* The rules of a host. */

static void
want(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    x->is_wanted = true;
    x->robots.state = SN_ROBOTS_UNKNOWN;
    sn_shared_state_add_work(f->shared, 1);
    sn_scheduler_put(f->scheduler, host, 1, now);
}

bool
sn_frontier_is_open(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_host *ch = &f->hosts.all[host];
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (ch->flags & SN_CRAWL_HOST_FREE)
        return true;
    if (x->is_wanted || !sn_robots_cache_expire(&x->robots, now))
        return x->robots.state == SN_ROBOTS_PARSED || x->robots.state == SN_ROBOTS_ABSENT;
    want(f, host, now);
    return false;
}

seine_err
sn_frontier_obey(sn_frontier *f, uint32_t host, sn_str target,
                 seine_robots_verdict *out_verdict)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (f->hosts.all[host].flags & SN_CRAWL_HOST_FREE ||
        f->shared->opts.robots != SEINE_OBEY_ON)
        return SEINE_OK;
    return sn_robots_cache_allow(&x->robots, f->shared->agent, target, out_verdict)
               ? SEINE_OK
               : SEINE_E_ROBOTS;
}

/* Given URLs go on, or are refused, now that the rules are known. */
static void
release(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_visit *v = x->held, *next;

    f->waiting -= x->n_held;
    x->held = x->last_held = NULL;
    x->n_held = 0;
    for (; v; v = next) {
        next = v->next;
        v->host = SN_NO_HOST;
        seine_err e = sn_frontier_visit(f, v, now);
        if (e == SEINE_OK)
            continue;
        if (e != SEINE_E_ROBOTS)
            sn_admit_refuse(v, SEINE_SKIP_BUDGET, SN_STR("no memory"));
        atomic_fetch_sub(&f->shared->admitted, 1);
        f->ops.end(v, f->ops.arg);
    }
}

static void
obey_delay(sn_frontier *f, uint32_t host, const sn_robots_cache *rules, seine_time now)
{
    const seine_fetch_opts *o = &f->shared->opts;
    bool cut;
    seine_span delay =
        sn_robots_cache_delay(rules, f->shared->agent, o->max_crawl_delay, &cut);
    sn_str name = sn_scheduler_name(f->scheduler, host);

    if (delay > 0 && o->robots == SEINE_OBEY_ON)
        sn_scheduler_delay(f->scheduler, host, delay, now);
    if (!cut)
        return;
    SN_LOG(o->log, INFO, "crawl_delay.clamped", SN_S("host", name), SN_T("delay", delay));
    f->ops.tell(&(seine_event){.name = "crawl_delay.clamped",
                               .host = {name.ptr, name.len},
                               .until = SEINE_NEVER,
                               .to = delay / 1000},
                f->ops.arg);
}

/* The rules are known: what waits behind them may go. */
static void
open(sn_frontier *f, uint32_t host, sn_address_zone ceiling, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    uint32_t n = f->hosts.all[host].chain.n + x->first.n;

    obey_delay(f, host, &x->robots, now);
    if (n > 0)
        sn_scheduler_put(f->scheduler, host, n, now);
    begin_maps(f, host, ceiling, now);
    release(f, host, now);
}

/* They cannot be had for now: what waits is stuck until they are asked for again. */
static void
shut(sn_frontier *f, uint32_t host, seine_err why, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_str name = sn_scheduler_name(f->scheduler, host);

    SN_SAY(f->shared->opts.log, WARN, "robots.unreachable",
           "robots.txt cannot be read: the host waits", SN_S("host", name),
           SN_E("err", why), SN_T("again", x->robots.until - now));
    f->ops.tell(&(seine_event){.name = "robots.unreachable",
                               .host = {name.ptr, name.len},
                               .cause = why,
                               .until = x->robots.until},
                f->ops.arg);
    f->hosts.all[host].flags |= SN_CRAWL_HOST_STUCK;
    sn_shared_state_add_stuck(f->shared, behind(f, host));
    seine_err e = sn_heap_put(&f->again, x->robots.until, host);
    if (e != SEINE_OK)
        x->robots.until = SEINE_NEVER; /* not again in this run */
}

/* A redirect led to another host, which did not answer: that the other one is not there
 * says nothing about this one. */
static bool
is_lost(const sn_visit *v)
{
    return v->n_hops > 0 && v->fault.code != SEINE_OK && v->fault.status == 0;
}

void
sn_frontier_unasked(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    seine_fault none = SEINE_FAULT;

    none.code = SEINE_E_NOMEM;
    x->is_wanted = false;
    sn_robots_cache_settle(&x->robots, &none, (sn_str){0}, now);
    shut(f, host, none.code, now);
    sn_shared_state_end_work(f->shared, 1);
}

static void
robots_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    uint32_t host = v->home_host;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    assert(x && x->robots.state == SN_ROBOTS_ASKED);
    if (is_lost(v))
        sn_robots_cache_fail(&x->robots, now);
    else
        sn_robots_cache_settle(&x->robots, &v->fault, sn_buf_view(&v->kept), now);
    if (x->robots.state == SN_ROBOTS_UNREACHABLE &&
        f->shared->opts.robots == SEINE_OBEY_AUDIT)
        sn_robots_cache_ignore(&x->robots, now); /* nobody waits for what is not obeyed */
    if (x->robots.state == SN_ROBOTS_UNREACHABLE)
        shut(f, host, v->fault.code, now);
    else
        open(f, host, sn_address_zone_ceiling(v->end.zone), now);
}

static void
map_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, v->home_host);
    sn_str url = seine_url_href(&v->first);

    SN_LOG(f->shared->opts.log, DEBUG, "sitemap", SN_URL("url", url),
           SN_E("err", v->fault.code), SN_U("status", v->fault.status));
    if (v->fault.code == SEINE_OK)
        sn_frontier_page(f, v, now);
    x->maps_out--;
    sn_scheduler_put(f->scheduler, v->home_host, 0, now); /* the next level may begin */
}

void
sn_frontier_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    if (v->kind == SN_KIND_ROBOTS)
        robots_back(f, v, now);
    else
        map_back(f, v, now);
}

void
sn_frontier_due(sn_frontier *f, seine_time now)
{
    while (sn_heap_when(&f->again) <= now) {
        uint32_t host = (uint32_t)sn_heap_take(&f->again).item;
        sn_crawl_host *ch = &f->hosts.all[host];

        if (!(ch->flags & SN_CRAWL_HOST_STUCK) || atomic_load(&f->shared->gives_up))
            continue;
        ch->flags &= (uint8_t)~SN_CRAWL_HOST_STUCK;
        want(f, host, now);
        sn_shared_state_end_stuck(f->shared, behind(f, host));
    }
}

seine_time
sn_frontier_when(const sn_frontier *f)
{
    return sn_heap_when(&f->again);
}

/* The end of a crawl that waits for nothing else. */

static bool
refuse_next(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_str rule = SN_STR("robots.txt could not be read");
    sn_visit *v = sn_frontier_drain(f, host, now);

    if (!v)
        return false;
    sn_admit_refuse(v, SEINE_SKIP_ROBOTS_UNREACHABLE, rule);
    atomic_fetch_sub(&f->shared->admitted, 1);
    f->ops.end(v, f->ops.arg);
    return true;
}

bool
sn_frontier_stuck(sn_frontier *f, uint32_t most, seine_time now)
{
    for (; f->stuck_at < f->hosts.n; f->stuck_at++) {
        if (!(f->hosts.all[f->stuck_at].flags & SN_CRAWL_HOST_STUCK))
            continue;
        while (most > 0 && refuse_next(f, f->stuck_at, now))
            most--;
        if (most == 0)
            return true;
        f->hosts.all[f->stuck_at].flags &= (uint8_t)~SN_CRAWL_HOST_STUCK;
    }
    f->stuck_at = 0;
    return false;
}
