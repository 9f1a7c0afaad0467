/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_counts.h - are the paths of a host made of a few names that recur?
 *
 * Facets and relative links that lack their slash combine a few names in ever new ways:
 * /shop/red/tiny/acme, /shop/acme/red. No two of these paths are alike, so no pattern of
 * them ever grows. The counts say on how many of the last pages each segment of a path
 * stands. A path recurs if it has two or more segments and each of them stands on at
 * least one of 64 pages, and on 16.
 *
 *     sn_segment_counts_add(&c, path);              of a page that is asked for
 *     if (sn_segment_counts_recur(&c, path))
 *         …                                         is judged with all such paths
 *
 * 256 segments are counted. When they are used up all counts fall by one (Misra and
 * Gries): a count is never too large, and too small by as many pages as there were new
 * segments for all 256. After 2,048 pages all counts are halved.
 *
 * Time    plays no part.
 * Memory  5 KiB from the first page on.
 * Threads one owner.
 */
#ifndef SN_SEGMENT_COUNTS_H
#define SN_SEGMENT_COUNTS_H

#include "base/str.h"

enum { SN_SEGMENTS_COUNTED = 256, SN_SEGMENT_SLOTS = 2 * SN_SEGMENTS_COUNTED };

typedef struct sn_segment_counts { /* zeroed: empty */
    struct sn_segment_slots *slots;
    uint32_t used, pages;
} sn_segment_counts;

void sn_segment_counts_fini(sn_segment_counts *c);

/* Without memory nothing is counted. */
void sn_segment_counts_add(sn_segment_counts *c, sn_str path);

bool sn_segment_counts_recur(const sn_segment_counts *c, sn_str path);

#endif
