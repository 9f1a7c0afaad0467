/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/frontier_parts.h"
#include "store/store_mem.h"

/* The host of a name, "https://e.example:443", that the store was given. */
static seine_err
find_host(sn_frontier *f, sn_str name, seine_time now, uint32_t *out_host)
{
    char mem[SN_HOST_NAME + 2];
    seine_url url;
    sn_crawl_host *ch;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, name.ptr, name.len, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    return sn_frontier_host(f, &url, false, now, out_host, &ch);
}

/* A URL that could not be taken is in memory now. */
static void
hear_ready(sn_str name, void *arg)
{
    sn_frontier *f = arg;
    uint32_t host;

    if (find_host(f, name, 0, &host) == SEINE_OK) /* which is known since long ago */
        sn_frontier_say(f, host, SN_SAME_DELAY);
}

/* A quarter of the memory holds what waits, shared by the shards. */
seine_err
sn_frontier_open_store(sn_frontier *f, const sn_store_ops *back_end)
{
    const seine_fetch_opts *o = &f->shared->opts;
    uint64_t share = o->max_memory / 4 / f->n;
    sn_store_opts opts = {.max_bytes = share < SIZE_MAX ? (size_t)share : SIZE_MAX,
                          .spill = o->crawl ? o->crawl->spill : NULL,
                          .ready = hear_ready,
                          .arg = f};

    return sn_store_open(back_end ? back_end : &sn_store_mem, &opts, &f->store);
}

/* The way of a URL through the store. */

sn_waiting_url
sn_frontier_waiting_of(const sn_link *l)
{
    return (sn_waiting_url){.parent = l->parent,
                            .number = l->number,
                            .line = l->line,
                            .depth = l->depth,
                            .moved = l->moved,
                            .kind = l->kind,
                            .ceiling = l->ceiling,
                            .tag = l->tag,
                            .attr = l->attr,
                            .flags = l->leader};
}

seine_err
sn_frontier_put(sn_frontier *f, uint32_t host, bool first, const sn_link *l,
                sn_str target)
{
    sn_url_list *chain = &f->hosts.all[host].chain;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    bool is_front = x->first.n == 0 && (first || chain->n == 0);
    sn_waiting_url u = sn_frontier_waiting_of(l);

    u.host = sn_hosts_name(f->host_table, host);
    u.target = target;
    seine_err e = sn_store_enqueue(f->store, first ? &x->first : chain, &u);

    if (e == SEINE_OK && is_front)
        x->ceiling = l->ceiling;
    return e;
}

/* What cannot be kept ends the crawl. */

void
sn_frontier_fail(sn_frontier *f, seine_err e)
{
    if (f->err == SEINE_OK)
        f->err = e;
}

void
sn_frontier_lose(sn_frontier *f, uint32_t n, seine_err e)
{
    atomic_fetch_add(&f->shared->lost, n);
    sn_frontier_fail(f, e);
}

const seine_diag *
sn_frontier_why(const sn_frontier *f)
{
    return &f->store->why;
}

void
sn_frontier_skip(sn_frontier *f, sn_url_list *list, sn_lost *out)
{
    *out = (sn_lost){0};
    if (sn_store_skip(f->store, list, out) == SEINE_OK)
        atomic_fetch_add(&f->shared->lost, out->urls);
}

/* The head of the list cannot be read: its URLs end without a record, and are counted. */
static void
lose_head(sn_frontier *f, sn_url_list *list)
{
    sn_lost lost;

    sn_frontier_skip(f, list, &lost);
    f->waiting -= lost.pages;
    atomic_fetch_sub(&f->shared->lost, lost.urls - lost.pages); /* sitemaps */
    atomic_fetch_sub(&f->shared->admitted, lost.pages);
    sn_shared_state_end_work(f->shared, lost.urls);
}

seine_err
sn_frontier_take(sn_frontier *f, uint32_t host, uint32_t deepest, sn_waiting_url *out)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    for (;;) {
        sn_url_list *list = x->first.n > 0 ? &x->first : &f->hosts.all[host].chain;
        seine_err e = sn_store_take(f->store, list, deepest, out);

        if (e == SEINE_OK) {
            x->ceiling = out->ceiling;
            f->waiting -= out->kind == SN_KIND_PAGE;
            f->n_taken += out->kind == SN_KIND_PAGE;
        }
        if (e == SEINE_OK || e == SEINE_E_CLOSED || e == SEINE_E_BUSY)
            return e;
        sn_frontier_fail(f, e);
        lose_head(f, list);
    }
}

void
sn_frontier_finish(sn_frontier *f, uint64_t number)
{
    f->done[f->n_done++] = number;
    if (f->n_done == SN_GROUP)
        sn_frontier_commit(f);
}

void
sn_frontier_commit(sn_frontier *f)
{
    sn_group group = {.done = f->done, .n_done = f->n_done};

    f->n_done = 0;
    seine_err e = sn_store_commit(f->store, &group);
    if (e != SEINE_OK)
        sn_frontier_fail(f, e);
}

/* What an earlier run has left. */

typedef struct resumed {
    sn_frontier *f;
    seine_time now;
} resumed;

/* One URL more of that host waits: it was admitted by the earlier run. */
static sn_url_list *
list_of(sn_str name, uint8_t kind, void *arg)
{
    const resumed *r = arg;
    sn_frontier *f = r->f;
    uint32_t host;

    if (find_host(f, name, r->now, &host) != SEINE_OK)
        return NULL;
    sn_shared_state_add_work(f->shared, 1);
    if (kind != SN_KIND_PAGE)
        return &sn_crawl_hosts_state(&f->hosts, host)->first;
    atomic_fetch_add(&f->shared->admitted, 1);
    f->hosts.all[host].n_pages++;
    f->waiting++;
    return &f->hosts.all[host].chain;
}

seine_err
sn_frontier_resume(sn_frontier *f, seine_time now)
{
    resumed r = {f, now};
    seine_err e = sn_store_scan(f->store, &(sn_scan){list_of, &r});

    for (uint32_t host = 0; host < f->hosts.n; host++) {
        sn_frontier_check_robots(f, host, now);
        sn_frontier_say(f, host, SN_SAME_DELAY);
    }
    return e;
}
