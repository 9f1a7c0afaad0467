/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/witness.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

#define BUDGET  ((size_t)64 << 20)
#define ON_WAY  SEINE_MS(10) /* a request may have left before the response came */
#define BLURRED SEINE_MS(1)  /* precision of arrival times */

void
snc_witness_init(snc_witness *w)
{
    *w = (snc_witness){.budget = BUDGET};
    sn_map_init(&w->hosts, SNC_WITNESS_HOSTS);
    sn_map_init(&w->addresses, SNC_WITNESS_HOSTS);
    sn_map_init(&w->paths, SNC_WITNESS_PATHS);
}

static void
forget_hosts(snc_witness *w, sn_map *hosts)
{
    SN_MAP_EACH(entry, hosts) {
        snc_host *h = entry->value;

        snc_arrivals_fini(&h->arrivals, &w->budget);
        for (size_t i = 0; i < h->agent_count; i++)
            sn_free(h->agents[i]);
        sn_free(h);
    }
    sn_map_reset(hosts);
}

void
snc_witness_reset(snc_witness *w)
{
    forget_hosts(w, &w->hosts);
    forget_hosts(w, &w->addresses);
    SN_MAP_EACH(entry, &w->paths) {
        sn_free(entry->value);
    }
    sn_map_reset(&w->paths);
    snc_witness fresh = {.hosts = w->hosts,
                         .addresses = w->addresses,
                         .paths = w->paths,
                         .budget = w->budget,
                         .open = w->open,
                         .peak_open = w->open};
    *w = fresh;
}

void
snc_witness_fini(snc_witness *w)
{
    snc_witness_reset(w);
    sn_map_fini(&w->hosts);
    sn_map_fini(&w->addresses);
    sn_map_fini(&w->paths);
}

static snc_host *
find_host(snc_witness *w, sn_map *hosts, sn_str name)
{
    snc_host *h = sn_map_get(hosts, name);

    if (h)
        return h;
    h = sn_zalloc(sizeof *h + name.len + 1);
    if (h) {
        if (name.len > 0)
            memcpy(h->text, name.ptr, name.len);
        h->name = (sn_str){h->text, name.len};
        snc_arrivals_init(&h->arrivals);
    }
    if (!h || sn_map_add(hosts, h->name, h) != SEINE_OK) {
        sn_free(h);
        w->hosts_dropped++;
        return NULL;
    }
    return h;
}

snc_host *
snc_witness_host(snc_witness *w, sn_str name)
{
    return find_host(w, &w->hosts, name);
}

snc_host *
snc_witness_address(snc_witness *w, sn_str name)
{
    return find_host(w, &w->addresses, name);
}

void
snc_host_open(snc_host *h)
{
    if (!h)
        return;
    h->connections++;
    if (++h->open > h->peak_open)
        h->peak_open = h->open;
}

void
snc_host_close(snc_host *h)
{
    if (h)
        h->open--;
}

void
snc_witness_hello(snc_witness *w, snc_host *host, snc_host *address)
{
    w->hellos++;
    if (host)
        host->hellos++;
    if (address)
        address->hellos++;
}

void
snc_witness_greeted(snc_witness *w, snc_host *host, snc_host *address, bool resumed)
{
    w->handshakes++;
    w->resumed += resumed;
    if (host) {
        host->handshakes++;
        host->resumed += resumed;
    }
    if (address) {
        address->handshakes++;
        address->resumed += resumed;
    }
}

static snc_path *
find_path(snc_witness *w, const snc_host *host, sn_str target)
{
    char key[256 + SNC_WITNESS_PATH];
    size_t name = host && host->name.len < 255 ? host->name.len : 0;
    size_t len = target.len < SNC_WITNESS_PATH ? target.len : SNC_WITNESS_PATH;

    if (name > 0)
        memcpy(key, host->name.ptr, name);
    key[name] = '\0';
    if (len > 0)
        memcpy(key + name + 1, target.ptr, len);

    sn_str all = {key, name + 1 + len};
    snc_path *p = sn_map_get(&w->paths, all);
    if (p)
        return p;
    p = sn_zalloc(sizeof *p + all.len + 1);
    if (p) {
        memcpy(p->text, key, all.len);
        p->key = (sn_str){p->text, all.len};
        p->target = name + 1;
    }
    if (!p || sn_map_add(&w->paths, p->key, p) != SEINE_OK) {
        sn_free(p);
        w->paths_dropped++;
        return NULL;
    }
    return p;
}

static void
note_agent(snc_host *h, sn_str agent)
{
    size_t len = agent.len < 256 ? agent.len : 256;

    if (!agent.ptr || h->agent_count == SNC_WITNESS_AGENTS)
        return;
    /* Compares with the latest one first: the agent hardly ever changes. */
    for (size_t i = h->agent_count; i-- > 0;)
        if (strlen(h->agents[i]) == len && memcmp(h->agents[i], agent.ptr, len) == 0)
            return;
    char *copy = sn_alloc(len + 1);
    if (!copy)
        return;
    memcpy(copy, agent.ptr, len);
    copy[len] = '\0';
    h->agents[h->agent_count++] = copy;
}

static void
arrive_at(snc_witness *w, snc_host *h, const snc_arrival *a)
{
    if (!h)
        return;
    h->requests++;
    if (++h->in_flight > h->peak_in_flight)
        h->peak_in_flight = h->in_flight;
    if (h->retry_until > 0 && a->at > sn_time_add(h->retry_from, ON_WAY) &&
        sn_time_add(a->at, BLURRED) < h->retry_until)
        h->early++;
    snc_arrivals_add(&h->arrivals, a->at, &w->budget);
    note_agent(h, a->agent);
}

snc_seen
snc_witness_arrive(snc_witness *w, const snc_arrival *a)
{
    snc_seen seen = {a->host, a->address, find_path(w, a->host, a->path), true};

    w->requests++;
    if (++w->in_flight > w->peak_in_flight)
        w->peak_in_flight = w->in_flight;
    arrive_at(w, a->host, a);
    arrive_at(w, a->address, a);
    if (seen.path) {
        seen.path->hits++;
        if (seen.path->ok_hits > 0)
            seen.path->duplicates++;
    }
    return seen;
}

static void
end_at(snc_host *h, const snc_ending *e)
{
    if (!h)
        return;
    h->in_flight--;
    h->bytes_out += e->bytes;
    h->resets += e->reset;
    h->aborted += e->aborted;
}

void
snc_witness_end(snc_witness *w, snc_seen *seen, const snc_ending *e)
{
    if (!seen->counted)
        return;
    w->in_flight--;
    w->bytes_out += e->bytes;
    w->resets += e->reset;
    w->aborted += e->aborted;
    end_at(seen->host, e);
    end_at(seen->address, e);
    if (seen->path && e->whole && e->good)
        seen->path->ok_hits++;
    *seen = (snc_seen){.host = NULL};
}

static void
retry_at(snc_host *h, seine_time now, seine_span wait)
{
    seine_time until = sn_time_add(now, wait);

    if (!h || until <= h->retry_until)
        return;
    /* A wait that is extended keeps its start. */
    if (h->retry_until < now)
        h->retry_from = now;
    h->retry_until = until;
}

void
snc_witness_retry(snc_seen *seen, seine_time now, seine_span wait)
{
    if (wait > 0) {
        retry_at(seen->host, now, wait);
        retry_at(seen->address, now, wait);
    }
}
