/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chaos/quote.h"
#include "chaos/world.h"

/* All values of a map, sorted. NULL: no memory, or an empty map. */
static void **
sorted(const sn_map *m, int (*order)(const void *a, const void *b))
{
    void **all = sn_calloc(m->count + 1, sizeof *all);
    size_t n = 0;

    if (!all)
        return NULL;
    SN_MAP_EACH(entry, m) {
        all[n++] = entry->value;
    }
    qsort(all, n, sizeof *all, order);
    return all;
}

static int
by_name(const void *a, const void *b)
{
    return sn_str_cmp((*(snc_host *const *)a)->name, (*(snc_host *const *)b)->name);
}

static sn_str
path_target(const snc_path *p)
{
    return sn_str_slice(p->key, p->target, p->key.len);
}

static int
by_target(const void *a, const void *b)
{
    return sn_str_cmp(path_target(*(snc_path *const *)a),
                      path_target(*(snc_path *const *)b));
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
put_number(sn_buf *out, const char *name, uint64_t n)
{
    sn_buf_printf(out, "\"%s\":%llu,", name, (unsigned long long)n);
}

static void
add_agents(snc_host *h, sn_buf *out)
{
    qsort(h->agents, h->agent_count, sizeof *h->agents, by_text);
    sn_buf_text(out, "\"user_agents\":[");
    for (size_t i = 0; i < h->agent_count; i++) {
        sn_buf_text(out, i ? "," : "");
        snc_quote(out, sn_str_of(h->agents[i]));
    }
    sn_buf_char(out, ']');
}

static void
add_host(snc_host *h, sn_buf *out)
{
    snc_quote(out, h->name);
    sn_buf_text(out, ":{");
    put_number(out, "requests", h->requests);
    put_number(out, "connections", h->connections);
    put_number(out, "peak_connections", h->peak_open);
    put_number(out, "in_flight", h->in_flight);
    put_number(out, "peak_in_flight", h->peak_in_flight);
    if (h->arrivals.min_gap == SEINE_NEVER)
        sn_buf_text(out, "\"min_gap_us\":null,");
    else
        put_number(out, "min_gap_us", (uint64_t)h->arrivals.min_gap / 1000);
    put_number(out, "max_in_1s", h->arrivals.max_1s);
    put_number(out, "max_in_10s", h->arrivals.max_10s);
    if (h->arrivals.capped)
        sn_buf_text(out, "\"capped\":true,");
    put_number(out, "bytes_out", h->bytes_out);
    put_number(out, "resets", h->resets);
    put_number(out, "aborted_by_client", h->aborted);
    put_number(out, "early_after_retry", h->early);
    put_number(out, "disallowed_hits", h->disallowed);
    put_number(out, "proxied", h->proxied);
    put_number(out, "tls_hellos", h->hellos);
    put_number(out, "tls_handshakes", h->handshakes);
    put_number(out, "tls_resumed", h->resumed);
    add_agents(h, out);
    sn_buf_char(out, '}');
}

static void
add_hosts(const sn_map *hosts, const char *name, sn_buf *out)
{
    void **all SN_AUTOFREE = sorted(hosts, by_name);

    sn_buf_printf(out, ",\"%s\":{", name);
    for (size_t i = 0; all && all[i]; i++) {
        sn_buf_text(out, i ? "," : "");
        add_host(all[i], out);
    }
    sn_buf_char(out, '}');
}

/* A path on several hosts is one line: the sum over the hosts. */
static void
add_paths(const sn_map *paths, sn_buf *out)
{
    void **all SN_AUTOFREE = sorted(paths, by_target);
    bool first = true;

    sn_buf_text(out, ",\"paths\":{");
    for (size_t i = 0; all && all[i];) {
        sn_str name = path_target(all[i]);
        uint64_t hits = 0, ok = 0, again = 0;

        for (; all[i] && sn_str_eq(path_target(all[i]), name); i++) {
            const snc_path *p = all[i];

            hits += p->hits;
            ok += p->ok_hits;
            again += p->duplicates;
        }
        sn_buf_text(out, first ? "" : ",");
        first = false;
        snc_quote(out, name);
        sn_buf_printf(out, ":{\"hits\":%llu,\"ok_hits\":%llu,\"duplicates\":%llu}",
                      (unsigned long long)hits, (unsigned long long)ok,
                      (unsigned long long)again);
    }
    sn_buf_char(out, '}');
}

static void
add_book(const snc_site_pages *asked, sn_buf *out)
{
    snc_site_pages_sum sum = snc_site_pages_sum_up(asked);

    sn_buf_text(out, "{\"site\":\"");
    snc_site_spell(&asked->site, out);
    sn_buf_text(out, "\",");
    put_number(out, "pages_total", sum.total);
    put_number(out, "pages_served", sum.served);
    put_number(out, "pages_missing", sum.total - sum.served);
    put_number(out, "requests", asked->hits);
    put_number(out, "duplicates", asked->again);
    sn_buf_text(out, "\"missing_first\":[");
    for (size_t i = 0; i < sum.missing_count; i++)
        sn_buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)sum.missing[i]);
    sn_buf_text(out, "]}");
}

static int
by_spelling(const void *a, const void *b)
{
    const snc_site *x = &(*(const snc_site_pages *const *)a)->site;
    const snc_site *y = &(*(const snc_site_pages *const *)b)->site;

    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    if (x->pages != y->pages)
        return x->pages < y->pages ? -1 : 1;
    return memcmp(&x->fan, &y->fan,
                  offsetof(snc_site, sitemap) - offsetof(snc_site, fan));
}

static void
add_sites(const snc_coverage *l, sn_buf *out)
{
    const snc_site_pages *sites[SNC_COVERAGE_SITES];

    for (size_t i = 0; i < l->count; i++)
        sites[i] = &l->sites[i];
    qsort(sites, l->count, sizeof(void *), by_spelling);
    sn_buf_text(out, ",\"sites\":[");
    for (size_t i = 0; i < l->count; i++) {
        sn_buf_text(out, i ? "," : "");
        add_book(sites[i], out);
    }
    sn_buf_char(out, ']');
}

static void
add_totals(const snc_world *w, sn_buf *out)
{
    const snc_witness *t = &w->witness;
    uint64_t hits = 0, ok = 0, again = 0;

    SN_MAP_EACH(entry, &t->paths) {
        const snc_path *p = entry->value;

        hits += p->hits;
        ok += p->ok_hits;
        again += p->duplicates;
    }
    sn_buf_text(out, ",\"totals\":{");
    put_number(out, "requests", t->requests);
    put_number(out, "connections", t->connections);
    put_number(out, "refused_connections", t->refused);
    put_number(out, "peak_connections", t->peak_open);
    put_number(out, "in_flight", t->in_flight);
    put_number(out, "peak_in_flight", t->peak_in_flight);
    put_number(out, "bytes_out", t->bytes_out);
    put_number(out, "resets", t->resets);
    put_number(out, "aborted_by_client", t->aborted);
    put_number(out, "proxied", t->proxied);
    put_number(out, "proxy_connects", t->connects);
    put_number(out, "socks_requests", t->socks);
    put_number(out, "socks_names", t->socks_names);
    put_number(out, "tunnels", t->tunnels);
    put_number(out, "tls_hellos", t->hellos);
    put_number(out, "tls_handshakes", t->handshakes);
    put_number(out, "tls_resumed", t->resumed);
    put_number(out, "hits", hits);
    put_number(out, "ok_hits", ok);
    put_number(out, "duplicates", again);
    put_number(out, "control", w->control);
    put_number(out, "dns_queries", w->queries);
    sn_buf_printf(out, "\"bad_requests\":%llu}", (unsigned long long)w->bad_requests);
}

static void
add_bad(const snc_world *w, sn_buf *out)
{
    const char *first = "";

    sn_buf_text(out, ",\"bad_requests\":{");
    for (size_t i = 0; i < sizeof w->bad / sizeof *w->bad && w->bad[i].why; i++) {
        sn_buf_text(out, first);
        first = ",";
        snc_quote(out, sn_str_of(w->bad[i].why));
        sn_buf_printf(out, ":%llu", (unsigned long long)w->bad[i].count);
    }
    sn_buf_char(out, '}');
}

void
snc_world_report(snc_world *w, sn_buf *out)
{
    sn_buf_printf(out, "{\"seed\":%llu", (unsigned long long)w->seed);
    add_totals(w, out);
    add_hosts(&w->witness.hosts, "hosts", out);
    add_hosts(&w->witness.addresses, "addresses", out);
    add_paths(&w->witness.paths, out);
    sn_buf_text(out, ",\"leaks\":");
    snc_secret_leaks_report(&w->leaks, out);
    add_sites(&w->coverage, out);
    add_bad(w, out);
    sn_buf_text(out, ",\"dropped\":{");
    put_number(out, "hosts", w->witness.hosts_dropped);
    put_number(out, "paths", w->witness.paths_dropped);
    put_number(out, "keys", w->counter.dropped);
    put_number(out, "sites", w->coverage.dropped);
    put_number(out, "leaks", w->leaks.dropped);
    sn_buf_printf(out, "\"log_lines\":%llu}}\n",
                  (unsigned long long)w->request_log.dropped);
}
