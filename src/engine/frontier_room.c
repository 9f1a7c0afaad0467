/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the rules of robots.txt. Hosts without work lose theirs first. Then those
 * with the most rules make room for those with fewer, so that nobody is kept waiting by
 * files that are made to be large. A host without room waits for it, and its robots.txt
 * is asked for again when others are done. */
#include "base/log.h"
#include "engine/frontier_parts.h"

/* The rules of a file of 512 KiB hold at most half of it. */
#define LARGEST ((size_t)8 << 20)

size_t
sn_frontier_max_robots(const sn_frontier *f)
{
    uint64_t memory = f->shared->opts.max_memory;
    uint64_t share = memory / 8 / f->n;

    if (memory == 0 || share > SIZE_MAX)
        return SIZE_MAX;
    return share > LARGEST ? (size_t)share : LARGEST;
}

/* The host waits for so much room; it has no rules now. */
static void
queue_host(sn_frontier *f, uint32_t host, size_t bytes)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    x->needs = bytes;
    x->waits_room = true;
    x->next_room = SN_NONE;
    if (f->first_room == SN_NONE)
        f->first_room = host;
    else
        sn_crawl_hosts_state(&f->hosts, f->last_room)->next_room = host;
    f->last_room = host;
    SN_LOG(f->shared->opts.log, INFO, "robots.no_room",
           SN_S("host", sn_hosts_name(f->host_table, host)), SN_U("bytes", bytes));
}

static void
take_rules(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    size_t bytes = sn_robots_cache_bytes(&x->robots);

    sn_crawl_hosts_drop_robots(&f->hosts, x);
    queue_host(f, host, bytes);
}

void
sn_frontier_fit_robots(sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    size_t own = sn_robots_cache_bytes(&x->robots);
    uint32_t largest = host;

    if (f->hosts.robots_bytes <= f->max_robots || own == 0 ||
        sn_crawl_hosts_shrink_robots(&f->hosts, f->max_robots, sn_frontier_is_quiet, f))
        return;
    while (f->hosts.robots_bytes > f->max_robots) {
        largest = sn_crawl_hosts_largest_robots(&f->hosts, own);
        if (largest == SN_NONE)
            break;
        take_rules(f, largest);
    }
    if (largest == SN_NONE)
        take_rules(f, host);
}

void
sn_frontier_find_room(sn_frontier *f)
{
    uint32_t host = f->first_room;

    if (host == SN_NONE)
        return;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    size_t most = f->max_robots > f->reserved ? f->max_robots - f->reserved : 0;
    most = most > x->needs ? most - x->needs : 0;
    if (f->hosts.robots_bytes > most &&
        !sn_crawl_hosts_shrink_robots(&f->hosts, most, sn_frontier_is_quiet, f) &&
        f->hosts.robots_bytes > 0)
        return;
    f->first_room = x->next_room;
    x->waits_room = false;
    f->reserved += x->needs;
    x->reserved = x->needs;
    if (sn_frontier_behind(f, host) == 0)
        sn_frontier_end_reserve(f, host);
    else if (sn_frontier_check_robots(f, host, 0) || x->is_wanted)
        sn_frontier_say(f, host, SN_SAME_DELAY);
}

void
sn_frontier_end_reserve(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    f->reserved -= x->reserved;
    x->reserved = 0;
}
