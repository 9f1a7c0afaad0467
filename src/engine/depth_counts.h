/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depth_counts.h - how much of a crawl is unread, depth by depth?
 *
 * What a page leads to is known when it was read, and pages of one depth are alike. So a
 * depth of which fewer than 20 pages have ended says nothing yet about what its other
 * URLs will bring: these are unread. The last depths share one place.
 *
 *     sn_depth_counts_add(c, depth);      a URL was found and admitted
 *     sn_depth_counts_end(c, depth);      it has its record
 *     n = sn_depth_counts_unread(c);      0: every depth was looked at
 *
 * Time    plays no part.
 * Memory  1 KiB, the owner's.
 * Threads any thread; a sum of several numbers is that of about one moment.
 */
#ifndef SN_DEPTH_COUNTS_H
#define SN_DEPTH_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

#define SN_DEPTH_COUNTS 64

typedef struct sn_depth_counts {
    _Atomic uint64_t found[SN_DEPTH_COUNTS], ended[SN_DEPTH_COUNTS];
} sn_depth_counts;

void sn_depth_counts_add(sn_depth_counts *c, uint32_t depth);
void sn_depth_counts_end(sn_depth_counts *c, uint32_t depth);
uint64_t sn_depth_counts_unread(const sn_depth_counts *c);

#endif
