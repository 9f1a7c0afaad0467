/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a crawl: the walk over the graph that says which records there must be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "oracle_parts.h"

/* The walk. */

static bool
is_ok(const site_node *node)
{
    return node->records == 1 && node->type == SEINE_RECORD_RESULT &&
           node->fate == SEINE_FATE_OK && node->extract == SEINE_OK;
}

/* Was this read for its links, for sure? */
static bool
is_source(const sim_world *w, const site_node *node)
{
    if (!node->whole)
        return false;
    if (node->kind == SITE_MAP)
        return true;
    return is_ok(node) &&
           (w->site->crawl.sitemaps != SEINE_SITEMAPS_ONLY || node->status >= 300);
}

/* Is it a link at all, and one to follow? */
static bool
counts(const sim_world *w, const site_link *link)
{
    return !(link->nofollow && w->site->crawl.nofollow) &&
           !(link->moved && w->opts.max_redirects == 0);
}

static void
lead_to(sim_world *w, const site_node *from, const site_link *link)
{
    site_node *to = &w->site->nodes[link->node];
    uint32_t depth = from->kind == SITE_MAP ? MAP_DEPTH : from->depth + !link->moved;

    if (link->is_map || (link->moved && w->opts.max_redirects == 0))
        return;
    to->may = true;
    if (!is_source(w, from))
        return;
    to->need = true;
    if (depth < to->near_at_all)
        to->near_at_all = depth;
    if (counts(w, link) && depth < to->near)
        to->near = depth;
}

static void
walk(sim_world *w)
{
    site *s = w->site;

    for (uint32_t i = 0; i < s->n; i++) {
        s->nodes[i].near = s->nodes[i].near_at_all = s->nodes[i].level = UINT32_MAX;
        s->nodes[i].need = s->nodes[i].may = s->nodes[i].given;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->nodes[i].whole)
            continue;
        const site_answer *a = site_answer_of(s, i);
        for (uint32_t k = 0; k < a->n_links; k++)
            lead_to(w, &s->nodes[i], &a->links[k]);
    }
}

/* Patterns that have had their share. */

/* More segments than the crawl looks at without asking the budget. */
static bool
is_in_excess(const char *path)
{
    uint32_t n = 0;

    for (; *path && *path != '?'; path++)
        n += *path == '/';
    return n > 32;
}

/* What a host has brought. */
typedef struct fetched {
    uint32_t pages, traps[SITE_JUNK + 1];
} fetched;

/* No URL is a trap before its host has had a budget of pages and 200 more, and an endless
 * part of a site ends within a few hundred pages beyond its budget. */
static void
judge_traps(sim_world *w)
{
    site *s = w->site;
    fetched *of = calloc(s->n_hosts + 1, sizeof *of);
    uint32_t budget = s->crawl.pattern_budget;

    for (uint32_t i = 0; i < s->n; i++) {
        const site_node *node = &s->nodes[i];
        if (node->records == 0 || node->host == SITE_NONE ||
            node->type == SEINE_RECORD_SKIP)
            continue;
        of[node->host].pages++;
        of[node->host].traps[node->kind]++;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const site_node *node = &s->nodes[i];
        if (node->records == 0 || node->host == SITE_NONE ||
            node->type != SEINE_RECORD_SKIP || node->reason != SEINE_SKIP_TRAP)
            continue;
        if (s->crawl.max_subdomains == 0 && !is_in_excess(node->url + node->path) &&
            of[node->host].pages < budget + 200)
            sim_broken(w, "5.2", "%s is a trap after %u", node->url,
                       of[node->host].pages);
    }
    for (uint32_t i = 0; i < s->n_hosts; i++)
        for (uint32_t kind = SITE_CAL; budget > 0 && kind <= SITE_SPIRAL; kind++)
            if (of[i].traps[kind] > 3 * (budget + 200) + 700 && !w->was_killed)
                sim_broken(w, "5.2", "%s: %u pages of a trap", s->hosts[i].name,
                           of[i].traps[kind]);
    free(of);
}

/* One URL. */

static void
judge_result(sim_world *w, const site_node *node, unsigned why)
{
    site *s = w->site;

    if ((why & 1u << SEINE_SKIP_OFFSITE) && oracle_may_be_in_scope(s, node))
        why &= ~(1u << SEINE_SKIP_OFFSITE);
    if (why & 1u << SEINE_SKIP_ROBOTS && !s->hosts[node->host].decided)
        why &= ~(1u << SEINE_SKIP_ROBOTS); /* it was never known; and not asked for */
    if (why && node->fate != SEINE_FATE_CANCELED && node->fate != SEINE_FATE_GAVE_UP)
        sim_broken(w, "S2", "%s should be %s", node->url,
                   seine_skip_name((seine_skip)__builtin_ctz(why)));
    if (w->stopping || node->given)
        return;
    if (node->near == UINT32_MAX)
        sim_broken(w, "S2", "%s should be nofollow", node->url);
    else if (node->near > s->crawl.depth)
        sim_broken(w, "S2", "%s should be too deep", node->url);
}

static void
judge_skip(sim_world *w, const site_node *node, unsigned why)
{
    site *s = w->site;
    const site_host *h = node->host == SITE_NONE ? NULL : &s->hosts[node->host];
    bool fine = (why >> node->reason & 1) != 0;

    switch ((seine_skip)node->reason) {
    case SEINE_SKIP_NOFOLLOW:
        fine = node->near == UINT32_MAX || node->near > s->crawl.depth || w->stopping;
        break;
    case SEINE_SKIP_DEPTH:
        fine = node->near > s->crawl.depth || w->stopping;
        break;
    case SEINE_SKIP_BUDGET:
        fine =
            w->opts.max_pages > 0 || w->opts.max_bytes > 0 || s->crawl.max_per_host > 0;
        break;
    case SEINE_SKIP_TRAP: /* of the rest judge_traps knows */
        fine = h && (fine || s->crawl.pattern_budget > 0 || s->crawl.max_subdomains > 0);
        break;
    case SEINE_SKIP_MIME:
        fine = node->kind == SITE_FILE && w->opts.accept_type;
        break;
    case SEINE_SKIP_ROBOTS_UNREACHABLE:
        fine = h && !(h->decided && h->sure) && w->opts.robots == SEINE_OBEY_ON;
        break;
    default:
        break;
    }
    if (!fine)
        sim_broken(w, "S2", "%s is skipped as %s", node->url,
                   seine_skip_name((seine_skip)node->reason));
}

static bool
leads(sim_world *w, uint32_t from, uint32_t to, bool *out_moved)
{
    const site_answer *a = site_answer_of(w->site, from);

    for (uint32_t k = 0; k < a->n_links; k++)
        if (a->links[k].node == to) {
            *out_moved = a->links[k].moved;
            return true;
        }
    return false;
}

/* The page it is said to be found on leads there, and is one link nearer. */
static void
judge_parent(sim_world *w, uint32_t i)
{
    const site *s = w->site;
    const site_node *node = &s->nodes[i];
    bool moved = false;

    if (node->given || node->host == SITE_NONE)
        return;
    if (node->parent == SITE_NONE || !s->nodes[node->parent].whole ||
        !leads(w, node->parent, i, &moved)) {
        sim_broken(w, "S2", "%s was not found where its record says", node->url);
        return;
    }
    const site_node *parent = &s->nodes[node->parent];
    uint32_t depth = parent->kind == SITE_MAP ? MAP_DEPTH : parent->depth + !moved;
    if (node->depth != depth)
        sim_broken(w, "S2", "%s: depth %u, found at depth %u", node->url, node->depth,
                   depth);
}

/* Refused without a record, as was asked for. */
static bool
is_untold(const sim_world *w, unsigned why)
{
    return !w->site->crawl.skips &&
           (why & (1u << SEINE_SKIP_OFFSITE | 1u << SEINE_SKIP_SCHEME)) != 0;
}

static void
judge_node(sim_world *w, uint32_t i)
{
    const site_node *node = &w->site->nodes[i];
    unsigned why = oracle_refusals(w, i);

    if (node->kind == SITE_ROBOTS && node->records == 0)
        return;
    if (node->records == 0) {
        w->missing += node->need && !is_untold(w, why);
        if (node->need && !is_untold(w, why) && !w->has_left &&
            sim_disk_err(w) == SEINE_OK)
            sim_broken(w, "S2", "%s has no record", node->url);
        if (node->asked > 0 && node->kind != SITE_MAP && !w->was_killed)
            sim_broken(w, "S2", "%s was asked for and has no record", node->url);
        return;
    }
    if (!node->may)
        sim_broken(w, "S2", "%s has a record, and nothing led there", node->url);
    judge_parent(w, i);
    if (node->type == SEINE_RECORD_RESULT)
        judge_result(w, node, why);
    else
        judge_skip(w, node, why);
}

/* How far everything is over the graph as it was served, where a redirect is as far as a
 * link or no way at all. */
static void
measure(sim_world *w, uint32_t redirect)
{
    site *s = w->site;
    uint32_t *now = malloc(2 * (s->n + 1) * sizeof *now), n = 0;
    uint32_t *then = malloc(2 * (s->n + 1) * sizeof *then), m = 0;

    for (uint32_t i = 0; i < s->n; i++)
        s->nodes[i].level = UINT32_MAX;
    for (uint32_t i = 0; i < s->n_seeds; i++) {
        s->nodes[s->seeds[i]].level = 0;
        now[n++] = s->seeds[i];
    }
    for (uint32_t level = 0; n > 0; level++) {
        for (uint32_t i = 0; i < n; i++) {
            const site_node *node = &s->nodes[now[i]];
            if (node->level != level || !node->whole || !is_source(w, node))
                continue; /* a redirect was shorter; or it leads nowhere */
            const site_answer *a = site_answer_of(s, now[i]);
            for (uint32_t k = 0; k < a->n_links; k++) {
                site_node *to = &s->nodes[a->links[k].node];
                uint32_t step = a->links[k].moved ? redirect : 1;
                if (to->level <= level + step || !counts(w, &a->links[k]))
                    continue;
                to->level = level + step;
                if (step == 0)
                    now[n++] = a->links[k].node;
                else
                    then[m++] = a->links[k].node;
            }
        }
        uint32_t *swap = now;
        now = then;
        then = swap;
        n = m;
        m = 0;
    }
    free(now);
    free(then);
}

/* One host is asked level by level: nothing is recorded as deeper than it is, but what a
 * page of a level and a redirect to the same level both lead to. */
static void
judge_levels(sim_world *w)
{
    site *s = w->site;

    for (uint32_t redirect = 0; redirect < 2; redirect++) {
        measure(w, redirect);
        for (uint32_t i = 0; i < s->n; i++) {
            const site_node *node = &s->nodes[i];
            if (!is_ok(node) || node->level == UINT32_MAX)
                continue;
            if (redirect ? node->depth > node->level : node->depth < node->level)
                sim_broken(w, "S2", "%s is %u links away, and recorded as %u", node->url,
                           node->level, node->depth);
        }
    }
}

static uint32_t
hosts_asked(const site *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        n += s->hosts[i].asked;
    return n;
}

void
oracle_judge(sim_world *w)
{
    site *s = w->site;

    walk(w);
    for (uint32_t i = 0; i < s->n; i++)
        judge_node(w, i);
    judge_traps(w);
    if (!w->stopping && s->crawl.depth != UINT32_MAX && hosts_asked(s) <= 1 &&
        s->crawl.sitemaps == SEINE_SITEMAPS_OFF)
        judge_levels(w);
}
