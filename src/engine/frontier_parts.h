/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frontier_parts.h - the frontier as its own files see it: admission and the queue
 * (frontier.c), robots.txt and sitemaps (frontier_rules.c), the links of a page
 * (frontier_links.c).
 *
 * Time    is passed in.
 * Memory  of the frontier.
 * Threads one owner.
 */
#ifndef SN_FRONTIER_PARTS_H
#define SN_FRONTIER_PARTS_H

#include "base/heap.h"
#include "engine/crawl_host.h"
#include "engine/frontier.h"
#include "engine/scope.h"

enum {
    SN_BATCH = 32,       /* links judged together */
    SN_PUT_NOFOLLOW = 64 /* with the reason of one that was put off: and a nofollow */
};

/* A link while it is judged. */
typedef struct sn_candidate {
    sn_link link;
    seine_url url;
    sn_str key;
    sn_str bad; /* no URL: why */
    bool is_too_long;
    bool nofollow; /* asked not to */
    char *href_mem, *key_mem;
} sn_candidate;

struct sn_frontier {
    sn_shared_state *shared;
    sn_scheduler *scheduler;
    sn_frontier_ops ops;
    uint32_t index, n;
    sn_queue *queue;
    sn_crawl_hosts hosts;
    sn_chain late;     /* too deep, nofollow, offsite while seeds still come */
    bool holds_end;    /* counted in shared->late: it may still have something to tell */
    sn_heap again;     /* hosts whose robots.txt is asked for again */
    uint64_t waiting;  /* pages in chains and held visits */
    seine_err err;     /* of the queue */
    uint32_t drain_at; /* hosts before it are drained */
    uint32_t stuck_at; /* likewise */
    uint32_t ahead_of; /* the host whose next URL `ahead` is; SN_NO_HOST */
    sn_queued ahead;
    sn_post **posts; /* to each shard, in the making */
    sn_candidate batch[SN_BATCH];
    uint64_t prints[SN_BATCH];
    uint8_t is_new[SN_BATCH];
    char *memory; /* of the candidates */
};

/* frontier.c */

/* The host of a URL and what is known of it, made if it is new. */
SEINE_MUST_CHECK seine_err sn_frontier_host(sn_frontier *f, const seine_url *url,
                                            bool is_given, seine_time now,
                                            uint32_t *out_host, sn_crawl_host **out_ch);

/* The owner's part of admission: the link is work or refused from here on. */
void sn_frontier_admit(sn_frontier *f, const sn_link *link, const seine_url *url,
                       seine_time now);

/* A whole URL of a host from its target; false: too long. */
bool sn_frontier_url(const sn_frontier *f, uint32_t host, sn_str target, seine_url *out);

void sn_frontier_refuse(sn_frontier *f, const sn_link *link, const seine_url *url,
                        seine_skip reason, sn_str rule);

/* The next URL of the host stands in `ahead`; false: there is none. And it leaves. */
bool sn_frontier_look(sn_frontier *f, uint32_t host);
void sn_frontier_pop(sn_frontier *f, uint32_t host);

/* Sends what was written to other shards. */
void sn_frontier_send(sn_frontier *f, uint32_t shard);

/* frontier_rules.c */

/* Is the host's robots.txt known, or does none count? Otherwise it is asked for. */
bool sn_frontier_is_open(sn_frontier *f, uint32_t host, seine_time now);

/* OK, ROBOTS with the rule in the verdict. The rules are known. */
seine_err sn_frontier_obey(sn_frontier *f, uint32_t host, sn_str target,
                           seine_robots_verdict *out_verdict);

/* The visit for robots.txt, or for the next sitemap. NULL: no memory. */
sn_visit *sn_frontier_ask(sn_frontier *f, uint32_t host, seine_time now);

/* robots.txt could not even be asked for. */
void sn_frontier_unasked(sn_frontier *f, uint32_t host, seine_time now);

/* A new visit of our own for that URL; NULL: no memory. */
sn_visit *sn_frontier_make(sn_frontier *f, const seine_url *url, sn_visit_kind kind,
                           seine_time now);

/* A further sitemap, which the one of this visit names. */
void sn_frontier_map(sn_frontier *f, const sn_visit *v, sn_str value, seine_time now);

/* frontier_links.c */

/* One URL more that is not of this page alone: to the owner of its host. */
void sn_frontier_route(sn_frontier *f, const sn_link *link, const seine_url *url,
                       seine_time now);

#endif
