/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine/frontier_parts.h"

/* `max_subdomains`: the first URL of a host counts the host against its domain. */
bool
sn_frontier_spend_domain(sn_frontier *f, const seine_url *url, sn_crawl_host *ch,
                         sn_skip_why *why)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    sn_str name = seine_url_host(url);
    uint32_t hosts;

    if (ch->flags & (SN_CRAWL_HOST_COUNTED | SN_CRAWL_HOST_GIVEN) ||
        o->max_subdomains == 0 || seine_url_host_is(url) != SEINE_HOST_NAME)
        return false;
    size_t len = seine_psl_site(f->shared->psl, name.ptr, name.len);
    sn_str domain = len > 0 ? sn_str_slice(name, name.len - len, name.len) : name;
    if (sn_crawl_hosts_domain(&f->hosts, domain, &hosts) != SEINE_OK)
        return sn_skip_for(why, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    if (hosts <= o->max_subdomains) {
        ch->flags |= SN_CRAWL_HOST_COUNTED;
        return false;
    }
    int n = snprintf(why->mem, sizeof why->mem, "%.*s %u: hosts of %.*s",
                     SN_FMT(f->shared->shown.max_subdomains), o->max_subdomains,
                     SN_FMT(domain));
    return sn_skip_for(why, SEINE_SKIP_TRAP, (sn_str){why->mem, (size_t)n});
}

bool
sn_frontier_spend_page(sn_frontier *f, const sn_crawl_host *ch, sn_skip_why *why)
{
    uint64_t max = f->shared->opts.crawl->max_per_host;

    if (max > 0 && ch->n_pages >= max) {
        int n = snprintf(why->mem, sizeof why->mem, "%.*s %llu",
                         SN_FMT(f->shared->shown.max_per_host), (unsigned long long)max);

        return sn_skip_for(why, SEINE_SKIP_BUDGET, (sn_str){why->mem, (size_t)n});
    }
    return !sn_shared_state_admit(f->shared) &&
           sn_skip_for(why, SEINE_SKIP_BUDGET, sn_str_of(f->shared->max_pages_rule));
}

bool
sn_frontier_is_over_bytes(const sn_frontier *f)
{
    uint64_t max = f->shared->opts.max_bytes;

    return max > 0 &&
           atomic_load_explicit(&f->shared->bytes_body, memory_order_relaxed) >= max;
}
