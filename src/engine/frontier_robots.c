/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/log.h"
#include "base/time.h"
#include "engine/frontier_parts.h"

/* robots.txt is what the host is asked for next. */
static void
want_robots(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    x->is_wanted = true;
    x->robots.state = SN_ROBOTS_UNKNOWN;
    sn_shared_state_add_work(f->shared, 1);
}

static bool
has_rules(const sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    return f->hosts.all[host].flags & SN_CRAWL_HOST_FREE ||
           x->robots.state == SN_ROBOTS_PARSED || x->robots.state == SN_ROBOTS_ABSENT;
}

bool
sn_frontier_is_open(const sn_frontier *f, uint32_t host)
{
    return has_rules(f, host) && sn_frontier_has_row(f, host);
}

bool
sn_frontier_check_robots(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    bool is_free = f->hosts.all[host].flags & SN_CRAWL_HOST_FREE;

    if (!is_free && !x->is_wanted && !x->waits_room &&
        sn_robots_cache_expire(&x->robots, now))
        want_robots(f, host);
    if (f->shared->fleet && has_rules(f, host) &&
        sn_frontier_enter_tenure(f, host, now) != SN_STANDING_LOST)
        sn_frontier_want_row(f, host);
    return sn_frontier_is_open(f, host);
}

bool
sn_frontier_forbids(sn_frontier *f, uint32_t host, sn_str target, sn_skip_why *why)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    seine_robots_verdict v;

    f->is_allowed = false;
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_FREE ||
        sn_frontier_obey(f, host) != SEINE_OBEY_ON)
        return false;
    f->is_allowed =
        sn_robots_cache_allow(&x->robots, f->shared->agent, target, &v, &f->robots_steps);
    if (f->is_allowed)
        return false;
    size_t n = sn_robots_cache_rule(&v, why->mem);
    return sn_skip_for(why, SEINE_SKIP_ROBOTS, (sn_str){why->mem, n});
}

/* Slices of a turn. */

bool
sn_frontier_has_steps(const sn_frontier *f)
{
    return f->robots_steps < SN_ROBOTS_TURN;
}

void
sn_frontier_pause(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (x->is_paused)
        return;
    x->is_paused = true;
    x->next_paused = f->paused;
    f->paused = host;
}

/* Says once more what the paused hosts have to do. */
static void
say_paused(sn_frontier *f)
{
    uint32_t host = f->paused, next;

    for (f->paused = SN_NONE; host != SN_NONE; host = next) {
        sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

        next = x->next_paused;
        x->is_paused = false;
        sn_frontier_say(f, host, SN_SAME_DELAY);
    }
}

void
sn_frontier_release(sn_frontier *f, sn_visit *first, sn_visit *last)
{
    for (sn_visit *v = first; v; v = v->next)
        v->host = SN_NO_HOST;
    if (!first)
        return;
    *(f->released ? &f->last_released->next : &f->released) = first;
    f->last_released = last;
}

void
sn_frontier_release_held(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    sn_frontier_release(f, x->held, x->last_held);
    x->held = x->last_held = NULL;
    x->n_held = 0;
}

/* The Crawl-delay that is obeyed. */
static seine_span
delay_of(sn_frontier *f, uint32_t host, const sn_robots_cache *robots)
{
    const seine_fetch_opts *o = &f->shared->opts;
    const sn_host_policy *p = sn_hosts_policy(f->host_table, host);
    bool cut;
    seine_span delay = sn_robots_cache_delay(
        robots, f->shared->agent, p ? p->max_crawl_delay : o->max_crawl_delay, &cut);
    sn_str name = sn_hosts_name(f->host_table, host);

    if (cut) {
        SN_LOG(o->log, INFO, "crawl_delay.clamped", SN_S("host", name),
               SN_T("delay", delay));
        f->ops.tell(&(seine_event){.name = "crawl_delay.clamped",
                                   .host = name,
                                   .until = SEINE_NEVER,
                                   .to = delay / 1000},
                    f->ops.arg);
    }
    return delay > 0 && sn_frontier_obey(f, host) == SEINE_OBEY_ON ? delay
                                                                   : SN_SAME_DELAY;
}

void
sn_frontier_open_host(sn_frontier *f, uint32_t host, sn_address_zone ceiling,
                      seine_time now)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    sn_frontier_say(f, host, delay_of(f, host, &x->robots));
    sn_frontier_begin_sitemaps(f, host, ceiling, now);
    if (sn_frontier_check_robots(f, host, now))
        sn_frontier_release_held(f, host);
}

/* It cannot be had for now: what waits is stuck until it is asked for again. */
static void
shut_host(sn_frontier *f, uint32_t host, seine_err why, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_str name = sn_hosts_name(f->host_table, host);

    SN_SAY(f->shared->opts.log, WARN, "robots.unreachable",
           "robots.txt cannot be read: the host waits", SN_S("host", name),
           SN_E("err", why), SN_T("again", x->robots.until - now));
    f->ops.tell(&(seine_event){.name = "robots.unreachable",
                               .host = name,
                               .cause = why,
                               .until = x->robots.until},
                f->ops.arg);
    f->hosts.all[host].flags |= SN_CRAWL_HOST_STUCK;
    sn_shared_state_add_stuck(f->shared, sn_frontier_behind(f, host));
    seine_err e = sn_heap_put(&f->again, x->robots.until, host);
    if (e != SEINE_OK)
        x->robots.until = SEINE_NEVER; /* not again in this run */
}

void
sn_frontier_robots_lost(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    seine_fault none = SEINE_FAULT;

    none.code = SEINE_E_NOMEM;
    x->is_wanted = false;
    sn_frontier_end_reserve(f, host);
    sn_robots_cache_settle(&x->robots, &none, (sn_str){0}, NULL, now);
    shut_host(f, host, none.code, now);
    sn_shared_state_end_work(f->shared, 1);
}

/* A redirect led to another host, which did not answer: that the other one is not there
 * says nothing about this one. */
static bool
is_lost(const sn_visit *v)
{
    return v->n_hops > 0 && v->fault.code != SEINE_OK && v->fault.status == 0;
}

static void
ignore_robots(sn_frontier *f, sn_crawl_state *x, seine_time now)
{
    size_t before = sn_robots_cache_bytes(&x->robots);

    sn_robots_cache_ignore(&x->robots, now);
    sn_crawl_hosts_count_robots(&f->hosts, x, before);
}

void
sn_frontier_robots_back(sn_frontier *f, sn_visit *v, seine_time now)
{
    uint32_t host = v->home_host;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    size_t before = sn_robots_cache_bytes(&x->robots);

    assert(x->robots.state == SN_ROBOTS_ASKED);
    if (f->shared->fleet &&
        !sn_fleet_holds(f->shared->fleet, sn_hosts_name(f->host_table, host))) {
        x->robots.state = SN_ROBOTS_UNKNOWN;
        sn_frontier_end_reserve(f, host);
        sn_frontier_leave_lost(f, host);
        return;
    }
    seine_fault fault;

    sn_fault_open(&v->fault, &fault);
    if (is_lost(v))
        sn_robots_cache_fail(&x->robots, now);
    else
        sn_robots_cache_settle(&x->robots, &fault, sn_buf_view(&v->kept),
                               f->shared->agent, now);
    sn_crawl_hosts_count_robots(&f->hosts, x, before);
    sn_frontier_end_reserve(f, host);
    sn_frontier_fit_robots(f, host);
    if (x->waits_room)
        return;
    if (x->robots.state == SN_ROBOTS_UNREACHABLE &&
        sn_frontier_obey(f, host) == SEINE_OBEY_AUDIT)
        ignore_robots(f, x, now); /* nobody waits for what is not obeyed */
    if (f->lane)
        sn_frontier_keep_robots(f, host, sn_visit_ceiling(v), sn_buf_view(&v->kept));
    if (x->robots.state == SN_ROBOTS_UNREACHABLE)
        shut_host(f, host, v->fault.code != SEINE_OK ? v->fault.code : SEINE_E_NOMEM,
                  now);
    else
        sn_frontier_open_host(f, host, sn_visit_ceiling(v), now);
}

void
sn_frontier_due(sn_frontier *f, seine_time now)
{
    say_paused(f);
    while (sn_heap_when(&f->again) <= now) {
        uint32_t host = (uint32_t)sn_heap_take(&f->again).item;
        sn_crawl_host *ch = &f->hosts.all[host];

        if (!(ch->flags & SN_CRAWL_HOST_STUCK) || atomic_load(&f->shared->gives_up))
            continue;
        ch->flags &= (uint8_t)~SN_CRAWL_HOST_STUCK;
        want_robots(f, host);
        sn_frontier_say(f, host, SN_SAME_DELAY);
        sn_shared_state_end_stuck(f->shared, sn_frontier_behind(f, host));
    }
}

seine_time
sn_frontier_when(const sn_frontier *f)
{
    return f->paused != SN_NONE ? 0 : sn_heap_when(&f->again);
}

uint32_t
sn_frontier_shut(const sn_frontier *f, uint32_t host, seine_time *out_until)
{
    if (host >= f->hosts.n)
        return 0;
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (!x || sn_frontier_is_open(f, host))
        return 0;
    if (x->robots.state == SN_ROBOTS_UNREACHABLE)
        *out_until = x->robots.until;
    return sn_frontier_behind(f, host);
}

const char *
sn_robots_says_name(sn_robots_says s)
{
    static const char *const names[] = {"", "asked", "allow", "deny", "unreachable"};

    return (unsigned)s < sizeof names / sizeof *names ? names[s] : "";
}

sn_robots_says
sn_frontier_robots_say(const sn_frontier *f, uint32_t host, sn_str target,
                       char rule[SN_ROBOTS_RULE])
{
    rule[0] = '\0';
    if (host >= f->hosts.n || f->hosts.all[host].flags & SN_CRAWL_HOST_FREE)
        return SN_ROBOTS_SAYS_NOTHING;
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    seine_robots_verdict v = {0};
    uint64_t steps = 0;

    if (!x)
        return SN_ROBOTS_SAYS_NOTHING;
    if (x->robots.state == SN_ROBOTS_UNREACHABLE)
        return SN_ROBOTS_SAYS_UNREACHABLE;
    if (x->robots.state != SN_ROBOTS_PARSED && x->robots.state != SN_ROBOTS_ABSENT)
        return SN_ROBOTS_SAYS_ASKED;
    bool is_allowed =
        sn_robots_cache_allow(&x->robots, f->shared->agent, target, &v, &steps);
    if (v.rule.len > 0)
        rule[sn_robots_cache_rule(&v, rule)] = '\0';
    return is_allowed ? SN_ROBOTS_SAYS_ALLOW : SN_ROBOTS_SAYS_DENY;
}
