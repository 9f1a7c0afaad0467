/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - what a crawl has found and not asked for yet: millions of URLs in lists,
 * first in, first out, a list per host.
 *
 * The URLs of a list stand in chunks of up to 1 KiB. What the links of one page have in
 * common (the page, its depth, the kind of link) is said once for all of them, and of a
 * path that begins like another one only the rest is kept. A list of one URL takes just
 * the bytes it needs; a longer one grows its last chunk by half. Chunks are freed as they
 * are read. Over 20,000 hosts with 50 URLs each a URL of 40 bytes, its page and its place
 * included, costs less than 64 bytes.
 *
 * Above max_bytes chunks in the middle of lists, those that came last first, go to a file
 * without a name and come back when they are at the head of their list. The file is made
 * when the first of them goes, its space is used again, and its bytes are checked. The
 * first and the last chunk of every list stay.
 *
 *     sn_chain host = SN_CHAIN;
 *     e = sn_queue_put(q, &host, &(sn_queued){.target = path, .parent = page, …});
 *     …
 *     while (sn_queue_head(q, &host, &u) == SEINE_OK) {
 *         visit(&u);
 *         sn_queue_pop(q, &host);
 *     }
 *
 * Time    plays no part.
 * Memory  16 KiB for an empty one, 16 KiB more with the first URL; a list of one URL
 *         takes about 56 bytes and its texts, in steps of 16.
 * Threads one owner.
 */
#ifndef SN_QUEUE_H
#define SN_QUEUE_H

#include "base/str.h"

enum { SN_QUEUED_MOST = 8192 }; /* bytes of a target, and of a parent */

/* A list; the caller's. It may be moved and copied, but is one list: whoever uses the
 * copy never uses the other again. */
typedef struct sn_chain {
    uint32_t first, last; /* chunks; 0: none */
    uint32_t n;           /* URLs */
} sn_chain;

#define SN_CHAIN ((sn_chain){0})

typedef struct sn_queued {
    sn_str target; /* "/path?query", or a whole URL */
    sn_str parent; /* URL of the page it was found on; empty: none */
    uint64_t number;
    uint32_t line, depth;
    uint8_t moved;
    uint8_t kind;    /* < 8 */
    uint8_t ceiling; /* < 4 */
    uint8_t tag;     /* < 64 */
    uint8_t attr;    /* < 16 */
    uint8_t flags;
} sn_queued;

typedef struct sn_queue_opts {
    size_t max_bytes;  /* in memory; 0: no limit */
    const char *spill; /* directory, copied; NULL: /tmp */
} sn_queue_opts;

typedef struct sn_queue_figures {
    uint64_t urls;
    uint64_t bytes;   /* in memory, what the heap adds included */
    uint64_t spilled; /* bytes that are in the file and not in memory */
} sn_queue_figures;

typedef struct sn_queue sn_queue;

SEINE_MUST_CHECK seine_err sn_queue_new(const sn_queue_opts *o, sn_queue **out);
void sn_queue_free(sn_queue *q); /* with all lists; NULL is fine */

/* Adds at the end; everything is copied. NOMEM, DISK_FULL, NO_FILES, IO: it was not put,
 * and list and queue are as before. RANGE: a text is longer than SN_QUEUED_MOST; INVAL:
 * a member is beyond its bound. */
SEINE_MUST_CHECK seine_err sn_queue_put(sn_queue *q, sn_chain *c, const sn_queued *u);

/* The first one, which stays; its texts are valid until the next call. CLOSED: the list
 * is empty. When its chunk is in the file: NOMEM, IO; STATE_CORRUPT: what is read is not
 * what was written. The list is as before and can be dropped. */
SEINE_MUST_CHECK seine_err sn_queue_head(sn_queue *q, const sn_chain *c, sn_queued *out);

/* Shows the first one and removes it, unless it is deeper than `deepest`: BUSY. Otherwise
 * as sn_queue_head. */
SEINE_MUST_CHECK seine_err sn_queue_take(sn_queue *q, sn_chain *c, uint32_t deepest,
                                         sn_queued *out);

/* Removes the first one, which sn_queue_head has shown. */
void sn_queue_pop(sn_queue *q, sn_chain *c);

/* Removes all of them, also those that cannot be read. */
void sn_queue_drop(sn_queue *q, sn_chain *c);

void sn_queue_stats(const sn_queue *q, sn_queue_figures *out);

#endif
