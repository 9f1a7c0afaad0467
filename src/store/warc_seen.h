/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_seen.h - the payloads already in the archive, for deduplication.
 *
 * It remembers the last 65,536 payloads by their SHA-1, with their URLs. The oldest is
 * dropped first, also when the URLs take more than 16 MiB.
 *
 *     first = sn_warc_seen_get(&s, sha1);
 *     if (!first)
 *         e = sn_warc_seen_add(&s, &(sn_warc_first){…});
 *
 * Time    plays no part.
 * Memory  4.5 MiB and the URLs when full; nothing before the first payload.
 * Threads one owner.
 */
#ifndef SN_WARC_SEEN_H
#define SN_WARC_SEEN_H

#include "base/str.h"

typedef struct sn_warc_first {
    uint8_t sha1[20];
    uint8_t id[16]; /* of its record */
    int64_t wall;
    sn_str url; /* copied */
} sn_warc_first;

typedef struct sn_warc_seen {
    struct sn_warc_item *items; /* a ring, oldest at `first` */
    uint32_t *homes;            /* index + 1 of a chain's first item; 0: none */
    uint32_t max, first, n;
    uint64_t bytes, max_bytes; /* of URLs */
    uint64_t key[2];
} sn_warc_seen;

/* Allocates nothing. `max` is a power of two; 0: remember nothing. */
void sn_warc_seen_init(sn_warc_seen *s, uint32_t max, uint64_t max_bytes);
void sn_warc_seen_fini(sn_warc_seen *s);

/* Valid until the next add. NULL: not seen, or dropped. */
const sn_warc_first *sn_warc_seen_get(const sn_warc_seen *s, const uint8_t sha1[20]);

/* Adds a payload that is not there. NOMEM: not remembered. */
SEINE_MUST_CHECK seine_err sn_warc_seen_add(sn_warc_seen *s, const sn_warc_first *first);

#endif
