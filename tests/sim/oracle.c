/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "seine/url.h"

#define BIT(reason) (1u << SEINE_SKIP_##reason)

static unsigned long long
ull(uint64_t n)
{
    return n;
}

/* The rules of the crawl, on the text of a URL. */

/* The length of the directory of a path: up to its last slash. */
static size_t
directory(const char *path)
{
    size_t n = strcspn(path, "?");

    while (n > 0 && path[n - 1] != '/')
        n--;
    return n;
}

static bool
has_part(const char *const *list, const char *url)
{
    for (; *list; list++)
        if (strstr(url, *list))
            return true;
    return false;
}

static bool
is_named(const site *s, const site_host *h)
{
    const char *name = s->domains[0];

    if (!name)
        return false;
    if (name[0] == '*')
        return h->domain == 1;
    return strncmp(h->name, name, strlen(name)) == 0;
}

static bool
is_around(const site *s, const site_node *node, const site_node *seed)
{
    const char *path = seed->url + seed->path;

    switch (s->crawl.scope) {
    case SEINE_SCOPE_HOST:
        return node->host == seed->host;
    case SEINE_SCOPE_DOMAIN:
        return s->hosts[node->host].domain == s->hosts[seed->host].domain;
    case SEINE_SCOPE_PREFIX:
        return node->host == seed->host &&
               strncmp(node->url + node->path, path, directory(path)) == 0;
    default:
        return true;
    }
}

static bool
is_in_scope(const site *s, const site_node *node)
{
    if (is_named(s, &s->hosts[node->host]))
        return true;
    for (uint32_t i = 0; i < s->n_seeds; i++) {
        const site_node *seed = &s->nodes[s->seeds[i]];
        bool is_out = s->exclude[0] && has_part(s->exclude, seed->url);
        if (!is_out && is_around(s, node, seed))
            return true;
    }
    return false;
}

bool
oracle_may_be_in_scope(const site *s, const site_node *node)
{
    for (uint32_t i = 0; i < s->n_seeds; i++) {
        const site_node *seed = &s->nodes[s->seeds[i]];
        if ((seed->kind == SITE_GO || seed->kind == SITE_LONG) &&
            s->hosts[node->host].domain == s->hosts[seed->host].domain)
            return true;
    }
    return is_in_scope(s, node);
}

bool
oracle_obeys(const sim_world *w, const site_host *h)
{
    return w->opts.robots == SEINE_OBEY_ON && !(w->opts.mine && h->is_given) &&
           !h->nowhere;
}

unsigned
oracle_refusals(const sim_world *w, uint32_t i)
{
    const site *s = w->site;
    const site_node *node = &s->nodes[i];
    unsigned why = 0;

    if (node->host == SITE_NONE)
        return node->skip;
    if (oracle_obeys(w, &s->hosts[node->host]) && !site_is_allowed(s, i))
        why |= BIT(ROBOTS);
    if (s->exclude[0] && has_part(s->exclude, node->url))
        why |= BIT(PATTERN);
    if (node->given)
        return why;
    if (s->include[0] && !has_part(s->include, node->url))
        why |= BIT(PATTERN);
    if (!is_in_scope(s, node))
        why |= BIT(OFFSITE);
    return why;
}

/* On the wire. */

/* Has the host said what may be asked for, within a day? */
static bool
is_known(const sim_world *w, const site_host *h)
{
    return (w->opts.mine && h->is_given) ||
           (w->opts.robots == SEINE_OBEY_AUDIT && h->robots_asked > 0) ||
           (h->decided && w->now <= h->decided_at + SEINE_SECS(24 * 3600));
}

/* One that cannot be had is asked for again after 60 s, then after twice as long, up to
 * an hour; each time with the attempts that any URL has. */
static void
check_patience(sim_world *w, uint32_t host)
{
    const site_host *h = &w->site->hosts[host];
    uint32_t attempts = w->opts.retry.max_attempts * (w->hosts[host].stale ? 2 : 1);
    seine_span least = 0, wait = SEINE_SECS(60);

    for (uint32_t n = attempts; n < h->robots_since; n += attempts) {
        least += wait;
        wait = sn_time_min(2 * wait, SEINE_SECS(3600));
    }
    if (w->now < h->robots_at + least)
        sim_broken(w, "S8", "robots.txt of host %u: %u requests in %lld s", host,
                   h->robots_since, (long long)(w->now - h->robots_at) / SEINE_SECS(1));
}

static void
start_robots(sim_world *w, uint32_t i)
{
    site *s = w->site;
    const site_node *node = &s->nodes[i];
    site_host *h = &s->hosts[node->n];

    if (w->opts.robots == SEINE_OBEY_OFF)
        sim_broken(w, "S8", "robots.txt of host %u is asked for, and does not count",
                   node->n);
    if (node->url[node->path + 1] == 'm') /* a hop of it */
        return;
    if (h->decided && h->sure && w->now < h->decided_at + SEINE_SECS(24 * 3600))
        sim_broken(w, "S8", "robots.txt of host %u is asked for again after %lld s",
                   node->n, (long long)(w->now - h->decided_at) / SEINE_SECS(1));
    h->robots_asked++;
}

static void
start_map(sim_world *w, uint32_t i)
{
    site *s = w->site;
    site_node *node = &s->nodes[i];
    site_host *h = &s->hosts[node->host];

    if (s->crawl.sitemaps == SEINE_SITEMAPS_OFF)
        sim_broken(w, "S8", "%s is asked for, and nobody wants it", node->url);
    if (node->whole)
        sim_broken(w, "S3", "%s is asked for twice", node->url);
    if (oracle_obeys(w, h) && !site_is_allowed(s, i))
        sim_broken(w, "S8", "%s is asked for, and robots.txt forbids it", node->url);
    if (w->opts.robots != SEINE_OBEY_OFF && !is_known(w, h))
        sim_broken(w, "S8", "%s is asked for before robots.txt", node->url);
}

static void
start_page(sim_world *w, uint32_t i)
{
    site *s = w->site;
    site_node *node = &s->nodes[i];
    site_host *h = &s->hosts[node->host];
    unsigned why = oracle_refusals(w, i);

    if (!node->given && !node->followed)
        sim_broken(w, "S8", "%s is asked for, and nothing led there", node->url);
    if (node->records > 0)
        sim_broken(w, "S3", "%s is asked for after its record", node->url);
    if (node->whole)
        sim_broken(w, "S3", "%s is asked for twice", node->url);
    if ((why & BIT(OFFSITE)) && oracle_may_be_in_scope(s, node))
        why &= ~BIT(OFFSITE);
    if (why)
        sim_broken(w, "S8", "%s is asked for, and must not be: %s", node->url,
                   seine_skip_name((seine_skip)__builtin_ctz(why)));
    /* A retry goes on under the rules that held when its URL was first asked for. */
    if (w->opts.robots != SEINE_OBEY_OFF && node->asked == 0 && !is_known(w, h))
        sim_broken(w, "S8", "%s is asked for before robots.txt", node->url);
    if (!node->counted)
        w->pages_asked++;
    node->counted = true;
    if (w->opts.max_pages > 0 && w->pages_asked > w->opts.max_pages)
        sim_broken(w, "S8", "%llu pages are asked for", ull(w->pages_asked));
}

/* The Crawl-delay in force; 0: none. */
static seine_span
delay_of(const sim_world *w, const site_host *h)
{
    seine_span delay = h->delay_ms * SEINE_MS(1);

    if (!oracle_obeys(w, h) || !h->decided || !site_has_robots(h) || delay <= 0)
        return 0;
    return sn_time_min(delay, w->opts.max_crawl_delay);
}

/* What left before the rules were known does not count. */
static void
check_delay(sim_world *w, const site_host *h, seine_time last, seine_time left,
            const char *what)
{
    seine_span delay = delay_of(w, h);

    if (left > h->decided_at && w->now < last + delay)
        sim_broken(w, "S4", "%s: %s %lld ns before its crawl-delay is over", h->name,
                   what, (long long)(last + delay - w->now));
}

void
oracle_arrive(sim_world *w, uint32_t i)
{
    const site_node *node = &w->site->nodes[i];
    site_host *h = &w->site->hosts[node->host];

    check_delay(w, h, h->seen, h->seen_left, "one arrives");
    h->seen = w->now;
    h->seen_left = node->left;
    if (node->kind != SITE_ROBOTS || node->url[node->path + 1] == 'm')
        return;
    if (h->robots_since++ == 0)
        h->robots_at = w->now;
    check_patience(w, node->host);
}

void
oracle_start(sim_world *w, uint32_t i, sn_address_zone ceiling)
{
    site *s = w->site;
    site_node *node = &s->nodes[i];

    if (node->host == SITE_NONE) {
        sim_broken(w, "S8", "%s is asked for", node->url);
        return;
    }
    if (node->kind == SITE_NEVER)
        sim_broken(w, "S8", "%s is asked for, and is no link", node->url);
    if (node->flying && node->kind != SITE_ROBOTS && node->kind != SITE_MAP)
        sim_broken(w, "S3", "%s is asked for twice at once", node->url);
    if (!node->given && node->found && ceiling > node->zone &&
        node->kind != SITE_ROBOTS && node->kind != SITE_MAP)
        sim_broken(w, "S9", "%s: ceiling %d, found in zone %d", node->url, (int)ceiling,
                   (int)node->zone);
    site_host *h = &s->hosts[node->host];
    check_delay(w, h, h->last, h->last, "one leaves");
    if (delay_of(w, h) > 0 && h->last > h->decided_at &&
        w->hosts[node->host].in_flight > 0)
        sim_broken(w, "S4", "%s: two at a time under a crawl-delay", h->name);
    h->last = w->now - w->stalled; /* as the engine knows it; arrivals are exact */
    node->left = h->last;
    h->asked = true;
    if (node->kind == SITE_ROBOTS)
        start_robots(w, i);
    else if (node->kind == SITE_MAP)
        start_map(w, i);
    else
        start_page(w, i);
    node->flying = true;
    node->asked++;
}

/* There is no such host, or none we may speak to: its pages will fail by themselves. */
static bool
is_nowhere(seine_err code)
{
    return code == SEINE_E_DNS_NXDOMAIN || code == SEINE_E_BLOCKED_ADDRESS;
}

/* A robots.txt, or one of the hops that lead to it, has ended. */
static void
end_robots(sim_world *w, uint32_t i, bool whole, uint16_t status, seine_err code)
{
    site *s = w->site;
    const site_node *node = &s->nodes[i];
    site_host *h = &s->hosts[node->n];
    bool known = (whole && status >= 200 && status < 300) ||
                 (status >= 400 && status < 500 && status != 429);
    const char *hop = strrchr(node->url, '/') + 1;

    bool has_moved = status == 302 && (whole || code == SEINE_E_BODY_TRUNCATED);
    if (h->robots == ROBOTS_CIRCLE && has_moved)
        known = hop[0] == '4'; /* the fifth hop is the last, whole or cut */
    if (node->n == node->host && is_nowhere(code))
        known = h->nowhere = true;
    if (known) {
        h->decided = true;
        h->sure = whole; /* a cut one may be asked for again */
        h->decided_at = w->now;
        h->robots_since = 0;
    } else if (!whole || status != 302) {
        h->decided = false;
    }
}

/* Where it leads is known from here on. */
static void
note_links(sim_world *w, uint32_t i)
{
    site *s = w->site;
    uint8_t zone = (uint8_t)w->hosts[s->nodes[i].host].zone;
    const site_answer *a = site_answer_of(s, i);

    for (uint32_t k = 0; k < a->n_links; k++) {
        site_node *to = &s->nodes[a->links[k].node];

        to->zone = to->found && to->zone > zone ? to->zone : zone;
        to->found = true;
        to->followed = to->followed || !a->links[k].nofollow || !s->crawl.nofollow;
    }
}

static bool
is_read(const sim_world *w, const site_node *node, uint16_t status)
{
    bool moved = status >= 300 && status < 400;

    (void)w;
    return (status >= 200 && status < 300) ||
           (moved && (node->kind == SITE_GO || node->kind == SITE_LONG));
}

/* The head of what is no page says all there is to know, unless we broke off. */
static bool
is_head_enough(const sim_world *w, uint16_t status, seine_err code)
{
    return status >= 300 && w->opts.max_redirects > 0 &&
           seine_err_class(code) != SEINE_LOCAL && code != SEINE_E_CONN_STALE;
}

void
oracle_end(sim_world *w, uint32_t i, bool whole, uint16_t status, seine_err code)
{
    site_node *node = &w->site->nodes[i];

    if (node->host == SITE_NONE)
        return;
    whole = whole || is_head_enough(w, status, code);
    node->flying = false;
    node->status = whole ? status : 0;
    if (node->kind == SITE_ROBOTS) {
        end_robots(w, i, whole, status, code);
        return;
    }
    node->whole = whole && is_read(w, node, status);
    if (node->whole)
        note_links(w, i);
}

/* Records. */

static uint32_t
node_of_record(const site *s, const seine_record *r)
{
    const seine_view names[] = {r->key, r->url, r->input};

    for (size_t i = 0; i < 3; i++)
        if (names[i].ptr) {
            uint32_t found = site_find(s, names[i]);
            if (found != SITE_NONE)
                return found;
        }
    for (uint32_t i = 0; i < s->n && r->input.len > 100; i++) /* it is shown in part */
        if (s->nodes[i].len > SEINE_URL_MAX && s->nodes[i].url && r->input.ptr &&
            memcmp(s->nodes[i].url, r->input.ptr, 100) == 0)
            return i;
    return SITE_NONE;
}

void
oracle_record(sim_world *w, const seine_record *r)
{
    site *s = w->site;
    uint32_t i = node_of_record(s, r);

    if (i == SITE_NONE) {
        sim_broken(w, "S2", "a record of nothing: %.*s %.*s",
                   (int)(r->url.len < 80 ? r->url.len : 80), r->url.ptr,
                   (int)(r->input.len < 80 ? r->input.len : 80), r->input.ptr);
        return;
    }
    site_node *node = &s->nodes[i];
    sim_note(w, r->type == SEINE_RECORD_SKIP ? "skip" : "record", i,
             r->type == SEINE_RECORD_SKIP ? (uint64_t)r->reason : (uint64_t)r->fate);
    if (w->trace)
        printf("                    %s %s depth %u%s%s\n", node->url,
               r->type == SEINE_RECORD_SKIP ? seine_skip_name(r->reason)
                                            : seine_fate_name(r->fate),
               r->depth, r->rule.len ? " by " : "", r->rule.len ? r->rule.ptr : "");
    if (++node->records > 1)
        sim_broken(w, "S3", "%s has two records", node->url);
    node->type = (uint8_t)r->type;
    node->fate = (uint8_t)r->fate;
    node->reason = (uint8_t)r->reason;
    node->extract = r->extract;
    node->depth = r->depth;
    node->parent = r->parent.ptr ? site_find(s, r->parent) : SITE_NONE;
    if (node->kind == SITE_NEVER || (!node->given && !node->found))
        sim_broken(w, "S2", "%s has a record, and nothing led there", node->url);
    if (r->type == SEINE_RECORD_SKIP)
        return;
    if (r->fate == SEINE_FATE_OK && !node->whole)
        sim_broken(w, "P3", "%s is ok and its last answer was not", node->url);
    if (r->fate == SEINE_FATE_OK && r->partial)
        sim_broken(w, "P3", "%s is ok and partial", node->url);
    if (r->depth > s->crawl.depth)
        sim_broken(w, "S2", "%s is %u links away", node->url, r->depth);
    if (r->attempts > w->opts.retry.max_attempts)
        sim_broken(w, "S0-11", "%s had %u attempts", node->url, r->attempts);
    sim_judge_attempts(w, r);
}
