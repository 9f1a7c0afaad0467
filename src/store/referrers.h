/* SPDX-License-Identifier: Apache-2.0 */
/*
 * referrers.h - which pages link to a URL that failed?
 *
 * The sinks show every record to the table. Pages that link to a URL are kept until its
 * own record comes: when the URL is fine they are forgotten, and so is every later link
 * to it. So the table holds the links to URLs that wait, and to those that failed. Links
 * to a redirect are links to where it leads.
 *
 *     sn_referrers_init(&t, 10);
 *     sn_referrers_see(&t, record);                  each one
 *     n = sn_referrers_get(&t, key, pages, &count);  at the end: 10 of 57 pages
 *     sn_referrers_fini(&t);
 *
 * A page counts once for a URL, however often it links there; its line is that of the
 * first link.
 *
 * A job keeps what the table has heard, a packed text for each record. A table with the
 * same secret that reads these texts, in whatever order, knows the same pages:
 *
 *     sn_referrers_secret(&t, secret);               before the first record
 *     …  sn_referrers_see(&t, record); keep(sn_referrers_news(&t));
 *     ok = sn_referrers_learn(&t, kept);             in another process
 *
 * Time    plays no part.
 * Memory  16 to 32 bytes a URL; for one that is not fine 16 bytes a page more, up to
 *         `most` pages, and the URLs of these pages. At SN_REFERRERS_BYTES in all
 *         further pages are left out.
 * Threads one owner.
 */
#ifndef SN_REFERRERS_H
#define SN_REFERRERS_H

#include "base/buf.h"
#include "seine/record_links.h"

#define SN_REFERRERS_BYTES (64u << 20)

typedef struct sn_referrers { /* private */
    uint32_t most;
    uint64_t secret[2];
    struct sn_referred *slots;
    size_t room, used;
    size_t bytes, max_bytes;
    uint64_t n_pages; /* whose links were read */
    sn_buf news;      /* of the last record, packed */
} sn_referrers;

void sn_referrers_init(sn_referrers *t, uint32_t most); /* pages of a URL */
void sn_referrers_fini(sn_referrers *t);

/* Of the hash of keys. Without this call every table has its own. */
void sn_referrers_secret(sn_referrers *t, const uint64_t secret[2]);

void sn_referrers_see(sn_referrers *t, const seine_record *r);

/* What the record told; empty: there was no memory. Valid until the next `see`. */
sn_str sn_referrers_news(const sn_referrers *t);
/* False: nobody has packed that; nothing was changed. */
bool sn_referrers_learn(sn_referrers *t, sn_str packed);

/* Writes the pages that link to the URL with that key, at most `most`; returns their
 * number. *out_count: how many there are. Valid until the next `see`. */
size_t sn_referrers_get(const sn_referrers *t, sn_str key, seine_referrer *out_pages,
                        size_t *out_count);

#endif
