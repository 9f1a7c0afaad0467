/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/log.h"
#include "engine/frontier_parts.h"
#include "engine/url_rules.h"

/* Writes down which budget is spent. */
static bool
skip_spent(sn_skip_why *why, seine_skip reason, const char *what, sn_str name,
           uint64_t limit)
{
    int n = snprintf(why->mem, sizeof why->mem, "%s%.*s %llu", what, SN_FMT(name),
                     (unsigned long long)limit);

    return sn_skip_for(why, reason, (sn_str){why->mem, (size_t)n});
}

/* `max_subdomains`: the first page of a host counts the host against its domain. */
bool
sn_frontier_spend_domain(sn_frontier *f, const seine_url *url, const sn_crawl_host *ch,
                         sn_skip_why *why)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    sn_str name = seine_url_host(url);
    uint32_t hosts;

    if (ch->n_pages > 0 || ch->flags & SN_CRAWL_HOST_GIVEN || o->max_subdomains == 0 ||
        seine_url_host_is(url) != SEINE_HOST_NAME)
        return false;
    size_t len = seine_psl_site(f->shared->psl, name.ptr, name.len);
    sn_str domain = len > 0 ? sn_str_slice(name, name.len - len, name.len) : name;
    if (sn_crawl_hosts_domain(&f->hosts, domain, &hosts) != SEINE_OK)
        return sn_skip_for(why, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    return hosts > o->max_subdomains &&
           skip_spent(why, SEINE_SKIP_TRAP, "hosts of ", domain, o->max_subdomains);
}

/* The event is told once, when the first URL of a pattern is refused. */
static void
tell_trap(sn_frontier *f, const seine_url *url, sn_str pattern)
{
    seine_view host = seine_url_host_port(url);

    SN_SAY(f->shared->opts.log, WARN, "trap", "a path pattern has had its share",
           SN_S("host", host), SN_S("pattern", pattern));
    f->ops.tell(
        &(seine_event){
            .name = "trap", .host = host, .until = SEINE_NEVER, .detail = pattern},
        f->ops.arg);
}

/* Its path has a pattern of which there are many: is there room for one more? */
static bool
spend_pattern(sn_frontier *f, uint32_t host, const seine_url *url, sn_skip_why *why)
{
    uint32_t count;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    char text[SN_TRAP_ROOM];
    sn_trap_kind kind;

    size_t n = sn_trap_pattern(seine_url_path(url), seine_url_query(url), text, &kind);
    sn_str pattern = {text, n};
    uint32_t budget = sn_url_rules_budget(f->shared->opts.crawl, &kind);
    if (budget == 0)
        return false;
    if (!x->trap && !(x->trap = sn_trap_tree_new()))
        return sn_skip_for(why, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    uint32_t before = sn_trap_counted(x->trap, pattern);
    /* The first that is refused is counted, so that it is told once. */
    if (before <= budget && sn_trap_count(x->trap, pattern, &count) != SEINE_OK)
        return sn_skip_for(why, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    if (before < budget)
        return false;
    if (before == budget)
        tell_trap(f, url, pattern);
    return skip_spent(why, SEINE_SKIP_TRAP, "pattern ", pattern, budget);
}

bool
sn_frontier_spend_page(sn_frontier *f, uint32_t host, const seine_url *url,
                       const sn_crawl_host *ch, sn_skip_why *why)
{
    uint64_t max = f->shared->opts.crawl->max_per_host;

    if (max > 0 && ch->n_pages >= max)
        return skip_spent(why, SEINE_SKIP_BUDGET, "max-pages-per-host", (sn_str){0}, max);
    if (spend_pattern(f, host, url, why))
        return true;
    return !sn_shared_state_admit(f->shared) &&
           sn_skip_for(why, SEINE_SKIP_BUDGET, SN_STR("max_pages"));
}

bool
sn_frontier_is_over_bytes(const sn_frontier *f)
{
    uint64_t max = f->shared->opts.max_bytes;

    return max > 0 &&
           atomic_load_explicit(&f->shared->bytes_body, memory_order_relaxed) >= max;
}
