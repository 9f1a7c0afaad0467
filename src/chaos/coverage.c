/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/coverage.h"

#include "base/alloc.h"

#define HITS   63 /* low bits: number of requests */
#define SERVED 64

void
snc_coverage_reset(snc_coverage *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->sites[i].pages)
            sn_pages_free(l->sites[i].pages, (size_t)l->sites[i].site.pages);
    *l = (snc_coverage){.count = 0};
}

static bool
same_site(const snc_site *a, const snc_site *b)
{
    return a->seed == b->seed && a->pages == b->pages && a->fan == b->fan &&
           a->hosts == b->hosts && a->dead == b->dead && a->dup == b->dup &&
           a->broken == b->broken && a->redir == b->redir && a->robots == b->robots &&
           a->fail == b->fail && a->flaky == b->flaky && a->sitemap == b->sitemap &&
           a->trap == b->trap;
}

snc_site_pages *
snc_coverage_site(snc_coverage *l, const snc_site *s)
{
    for (size_t i = 0; i < l->count; i++)
        if (same_site(&l->sites[i].site, s))
            return &l->sites[i];
    if (l->count == SNC_COVERAGE_SITES) {
        l->dropped++;
        return NULL;
    }
    snc_site_pages *asked = &l->sites[l->count++];
    *asked = (snc_site_pages){.site = *s};
    if (s->pages <= SNC_COVERAGE_BYTES - l->bytes)
        asked->pages = sn_pages((size_t)s->pages);
    if (asked->pages)
        l->bytes += s->pages;
    else
        l->dropped++;
    return asked;
}

uint64_t
snc_site_pages_hit(snc_site_pages *asked, uint64_t n)
{
    if (!asked || !asked->pages)
        return 1;
    asked->hits++;
    if (asked->pages[n] & SERVED)
        asked->again++;
    if ((asked->pages[n] & HITS) < HITS)
        asked->pages[n]++;
    return asked->pages[n] & HITS;
}

void
snc_site_pages_served(snc_site_pages *asked, uint64_t n)
{
    if (!asked || !asked->pages || asked->pages[n] & SERVED)
        return;
    asked->pages[n] |= SERVED;
    asked->served++;
}

snc_site_pages_sum
snc_site_pages_sum_up(const snc_site_pages *asked)
{
    snc_site_pages_sum sum = {.total = 0};

    for (uint64_t n = 0; n < asked->site.pages; n++) {
        snc_fate fate = snc_site_page(&asked->site, n).fate;

        if (fate != SNC_FATE_PAGE && fate != SNC_FATE_DUPLICATE)
            continue;
        sum.total++;
        if (asked->pages && asked->pages[n] & SERVED)
            sum.served++;
        else if (sum.missing_count < 10)
            sum.missing[sum.missing_count++] = n;
    }
    return sum;
}
