/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what the frontier and the scheduler of a shard tell each other.
 *
 * The frontier keeps the URLs that a crawl has found; the scheduler knows when a host may
 * be asked. Neither stage calls the other: engine/run.c carries three messages between
 * them, and nothing else passes.
 *
 *     frontier → scheduler   sn_work    this host has so many URLs to ask for
 *     scheduler → frontier   a number   what is the next URL of this host?
 *     frontier → scheduler   sn_offer   that URL as a visit, or that there is none now
 *
 * The scheduler asks only when the request could start at once: all brakes of the host
 * agree, and its permits are held until the offer comes. So the frontier makes a visit
 * for no URL that would have to wait, and a URL costs a few dozen bytes until its turn
 * comes.
 *
 *     sn_work work = {.host = 17, .n = 40, .delay = SN_SAME_DELAY};
 *     sn_offer offer = {.visit = NULL, .left = 40};
 *
 * Time    plays no part.
 * Memory  none: messages are passed by value or borrowed for the call.
 * Threads one owner: its shard.
 */
#ifndef SN_WORK_H
#define SN_WORK_H

#include "engine/visit.h"

#define SN_SAME_DELAY INT64_C(-1) /* as was said before */

/* A host has work. The numbers replace what was said before of the same host. */
typedef struct sn_work {
    uint32_t host;
    uint32_t n;       /* URLs that may be asked for, robots.txt and sitemaps included */
    seine_span delay; /* Crawl-delay of its robots.txt; 0: none; SN_SAME_DELAY */
} sn_work;

/* The next URL of the host that was asked about. Without a visit and with something
 * `left` nothing may start yet: the scheduler asks again when a request of the host has
 * ended, or when the frontier says once more that the host has work. */
typedef struct sn_offer {
    sn_visit *visit;   /* ADMITTED; NULL: none may start now */
    uint32_t left;     /* URLs that the host has besides */
    bool is_no_memory; /* a visit could not be made: the scheduler asks again soon */
} sn_offer;

#endif
