/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_prints.h - where does a page lead? The prints of its links, for the job.
 *
 * An incremental crawl keeps with every page which known URLs it names. A later round in
 * which the page is unchanged, fails or is not due still knows them
 * (store/job_orphans.c).
 *
 *     sn_link_prints_reset(&p);                       a page begins
 *     sn_link_prints_add(&p, print);                  one of its links, perhaps again
 *     sn_str bytes = sn_link_prints_end(&p, own, 4096);
 *
 * Time    plays no part.
 * Memory  8 bytes a link, 65,536 links at most; more are left out.
 * Threads one owner.
 */
#ifndef SN_LINK_PRINTS_H
#define SN_LINK_PRINTS_H

#include "base/buf.h"

#define SN_LINK_PRINTS_MOST 65536

typedef struct sn_link_prints {
    sn_buf bytes;
} sn_link_prints;

void sn_link_prints_init(sn_link_prints *p);
void sn_link_prints_fini(sn_link_prints *p);
void sn_link_prints_reset(sn_link_prints *p);
void sn_link_prints_add(sn_link_prints *p, uint64_t print);

/* Each print once, in order, but for the page's own: at most `most` of them, 8 bytes
 * each. Valid until the next call. */
sn_str sn_link_prints_end(sn_link_prints *p, uint64_t own, size_t most);

#endif
