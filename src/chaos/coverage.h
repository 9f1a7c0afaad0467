/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - which pages of a site were asked for, and which were served.
 *
 * A byte per page of every visited site holds the number of requests (up to 63) and
 * whether the page was served whole. Faults of a site depend on it, and the report lists
 * the missing pages.
 *
 *     snc_site_pages *asked = snc_coverage_site(&coverage, &site);
 *     uint64_t hit = snc_site_pages_hit(asked, n);
 *     snc_site_pages_served(asked, n);
 *
 * Time    plays no part.
 * Memory  a byte per page, 64 MiB and 64 sites in all; without room every request counts
 *         as the first one, and the site is counted as dropped.
 * Threads one owner.
 */
#ifndef SNC_COVERAGE_H
#define SNC_COVERAGE_H

#include "chaos/site.h"

#define SNC_COVERAGE_SITES 64
#define SNC_COVERAGE_BYTES ((uint64_t)64 << 20)

typedef struct snc_site_pages {
    snc_site site;
    uint8_t *pages; /* NULL: too many pages */
    uint64_t served, hits, again;
} snc_site_pages;

typedef struct snc_coverage {
    snc_site_pages sites[SNC_COVERAGE_SITES];
    size_t count;
    uint64_t bytes, dropped;
} snc_coverage;

void snc_coverage_reset(snc_coverage *l); /* also frees all */

/* NULL: there are too many sites. */
snc_site_pages *snc_coverage_site(snc_coverage *l, const snc_site *s);

/* Counts a request or a served page; `asked` may be NULL. */
uint64_t snc_site_pages_hit(snc_site_pages *asked, uint64_t n);
void snc_site_pages_served(snc_site_pages *asked, uint64_t n);

/* Pages that a polite crawler gets, how many of them were served, and the first missing
 * ones. Looks at every page. */
typedef struct snc_site_pages_sum {
    uint64_t total, served;
    uint64_t missing[10];
    size_t missing_count;
} snc_site_pages_sum;

snc_site_pages_sum snc_site_pages_sum_up(const snc_site_pages *asked);

#endif
