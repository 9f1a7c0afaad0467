/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_links.h - does this link lead to a URL that is known already? Asked before the
 * link is parsed.
 *
 * The pages of a site repeat their navigation. A link that was judged once and whose URL
 * is in the set of known URLs is a duplicate wherever it is found again, so its spelling
 * is remembered: a mark of 64 bits of its text and of that part of the base URL which the
 * text depends on.
 *
 *     sn_known_links_base(&k, base);                once for a page
 *     uint64_t mark = sn_known_links_mark(&k, value);
 *     if (sn_known_links_has(&k, mark))
 *         …                                         a duplicate; nothing else to do
 *     …                                             else parse it and judge it, and
 *     sn_known_links_add(&k, mark);                 once its URL is in the set
 *
 * A reference that begins with "/", "http://" or "https://" depends on scheme and host of
 * the base, one without colon that begins with a letter, a digit or a dot on its
 * directory too, and anything else on all of it. Marks are made under a secret, so nobody
 * can prepare a link that is taken for another one.
 *
 * The table forgets: a new mark takes the place of the older one of two. What is
 * forgotten is parsed and judged again, with the same result.
 *
 * Time    plays no part.
 * Memory  64 KiB.
 * Threads one owner.
 */
#ifndef SN_KNOWN_LINKS_H
#define SN_KNOWN_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "seine/url.h"

enum { SN_KNOWN_LINKS = 8192 };

typedef struct sn_known_links { /* private */
    uint64_t secret[2];
    uint64_t *marks; /* in pairs; 0: none */
    const seine_url *base;
    uint64_t host_seed, folder_seed, base_seed; /* 0: not made for this base */
} sn_known_links;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_known_links_init(sn_known_links *k,
                                               const uint64_t secret[2]);
void sn_known_links_fini(sn_known_links *k);

/* The base of the links that follow; it stays valid until the next one. */
void sn_known_links_base(sn_known_links *k, const seine_url *base);

/* The mark of a link; 0: the base is neither http nor https, and links have none. */
uint64_t sn_known_links_mark(sn_known_links *k, sn_str value);

/* Was the mark added, and not forgotten? Never of 0. */
bool sn_known_links_has(sn_known_links *k, uint64_t mark);
void sn_known_links_add(sn_known_links *k, uint64_t mark);

#endif
