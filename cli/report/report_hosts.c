/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

enum { SLOTS = 4 * REPORT_HOSTS, LONGEST = 200 };

/* FNV-1a; a flood of names that collide makes the report slow and nothing else. */
static uint64_t
hash_of(seine_view name)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)name.ptr[i]) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}

static size_t
slot_of(const report *r, seine_view name, uint64_t hash)
{
    size_t at = hash % SLOTS;

    while (r->slots[at]) {
        const report_host *h = r->hosts[r->slots[at] - 1];

        if (h->hash == hash && json_is(name, h->name))
            break;
        at = (at + 1) % SLOTS;
    }
    return at;
}

static void
fold(report_host *to, report_host *from)
{
    to->urls += from->urls;
    to->requests += from->requests;
    to->ok += from->ok;
    to->failed += from->failed;
    to->skipped += from->skipped;
    to->bytes += from->bytes;
    latency_merge(&to->latency, &from->latency);
    free(from->name);
    free(from);
}

static int
by_requests(const void *a, const void *b)
{
    const report_host *x = *(report_host *const *)a, *y = *(report_host *const *)b;

    if (x->requests != y->requests)
        return x->requests < y->requests ? 1 : -1;
    if (x->urls != y->urls)
        return x->urls < y->urls ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void
index_hosts(report *r)
{
    memset(r->slots, 0, SLOTS * sizeof *r->slots);
    for (size_t i = 0; i < r->n_hosts; i++) {
        const report_host *h = r->hosts[i];
        seine_view name = {h->name, strlen(h->name)};

        r->slots[slot_of(r, name, h->hash)] = (uint32_t)(i + 1);
    }
}

/* Counts the quieter half as other hosts. */
static void
make_room(report *r)
{
    qsort(r->hosts, r->n_hosts, sizeof *r->hosts, by_requests);
    while (r->n_hosts > REPORT_HOSTS / 2)
        fold(&r->others, r->hosts[--r->n_hosts]);
    r->has_others = true;
    index_hosts(r);
}

report_host *
report_host_of(report *r, seine_view name)
{
    if (!r->hosts) {
        r->hosts = xalloc_zeroed(REPORT_HOSTS, sizeof *r->hosts);
        r->slots = xalloc_zeroed(SLOTS, sizeof *r->slots);
    }
    name = name.len > 0 ? name : (seine_view){"(no host)", 9};
    name.len = strnlen(name.ptr, name.len > LONGEST ? LONGEST : name.len);
    uint64_t hash = hash_of(name);
    size_t at = slot_of(r, name, hash);
    if (r->slots[at])
        return r->hosts[r->slots[at] - 1];
    if (r->n_hosts == REPORT_HOSTS) {
        make_room(r);
        at = slot_of(r, name, hash);
    }
    report_host *h = r->hosts[r->n_hosts++] = xalloc_zeroed(1, sizeof *h);
    h->name = xalloc_copy(name.ptr, name.len);
    h->hash = hash;
    r->slots[at] = (uint32_t)r->n_hosts;
    return h;
}

void
report_hosts_rank(report *r)
{
    if (r->n_hosts < 2)
        return;
    qsort(r->hosts, r->n_hosts, sizeof *r->hosts, by_requests);
    index_hosts(r);
}

void
report_hosts_free(report *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        fold(&r->others, r->hosts[i]);
    free(r->hosts);
    free(r->slots);
}
