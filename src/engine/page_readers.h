/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_readers.h - who reads a page when the shard that fetched it has other work?
 *
 * A few threads of the fetch, which start with the first page that is given to them. A
 * visit goes to them with all it holds: page, body, charge of memory. It belongs to its
 * reader until the reader gives it back to its shard, read or not. The line is short:
 * when it is full the shard reads the page itself, so that nobody waits for readers and
 * what they hold is bounded.
 *
 *     e = sn_page_readers_new(&opts, &p);
 *     if (sn_page_readers_give(p, visit, shard) != SEINE_OK)
 *         …                                       the visit is still ours: read it here
 *     sn_page_readers_hurry(p);                   what waits comes back unread
 *     sn_page_readers_free(p);                    all visits are back
 *
 * Time    plays no part; readers park through the clock of the options.
 * Memory  one allocation, and what a reader makes for itself.
 * Threads any thread gives; one frees it, after the last who gives.
 */
#ifndef SN_PAGE_READERS_H
#define SN_PAGE_READERS_H

#include "engine/visit.h"

enum { SN_PAGE_READERS_LINE = 128 }; /* visits that wait */

typedef struct sn_page_readers sn_page_readers;

typedef struct sn_page_readers_opts {
    seine_clock *clock;
    uint32_t n; /* threads, at most; one at least */
    /* On a reader's thread: reads the visit, with what the reader keeps from one page to
     * the next (*own, NULL at first). */
    void (*read)(sn_visit *v, void **own, void *arg);
    void (*drop_own)(void *own); /* not called with NULL */
    /* On a reader's thread: the visit goes back to its shard. */
    void (*back)(sn_visit *v, void *shard);
    void *arg;
} sn_page_readers_opts;

/* INVAL: no thread. NOMEM. */
SEINE_MUST_CHECK seine_err sn_page_readers_new(const sn_page_readers_opts *opts,
                                               sn_page_readers **out_readers);
void sn_page_readers_free(sn_page_readers *p); /* NULL is fine */

/* FULL: the line is full. NOMEM: no thread can be started. The visit stays with the
 * caller then. */
SEINE_MUST_CHECK seine_err sn_page_readers_give(sn_page_readers *p, sn_visit *give,
                                                void *shard);

/* From now on visits come back as they went; one that is being read may end early. */
void sn_page_readers_hurry(sn_page_readers *p);
bool sn_page_readers_is_hurried(const sn_page_readers *p);

#endif
