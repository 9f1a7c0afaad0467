/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frontier.h - stage 1 of a crawl: a URL was found. Is it work, a refusal, or nothing
 * new?
 *
 * Whoever finds links judges what can be judged by their text: scheme, port, shape,
 * scope, and whether the key is new. What is left goes to the shard that owns its host,
 * as mail if that is another one. The owner asks the rest (robots.txt if it is known,
 * budgets of host, pattern and crawl), and the URL waits in a queue until the scheduler
 * wants one of its host; then it becomes a visit. Every refusal has a record, at once.
 * URLs that are too deep, or that only a nofollow leads to, are told at the very end,
 * since another link may still lead there.
 *
 *     sn_frontier_page(f, visit, now);          its links, or where it redirects to
 *     sn_frontier_post(f, post, now);           mail of another shard
 *     e = sn_frontier_visit(f, visit, now);     a given URL: robots.txt counts for it too
 *     sn_frontier_back(f, visit, now);          a robots.txt or a sitemap has ended
 *
 * robots.txt is the first request to every host; while it is on its way nothing else is
 * asked. When it cannot be had the URLs of its host wait; when nothing else is left
 * anywhere they are refused. Sitemaps come next, and while the depth is limited a host is
 * asked level by level.
 *
 * Every URL is one unit of shared->load from the moment somebody routes it until its
 * record is out, and so is every robots.txt and sitemap: a crawl is over when there is
 * none left.
 *
 * Time    is passed in.
 * Memory  hosts in engine/crawl_host.h, URLs in store/queue.h.
 * Threads one owner: its shard.
 */
#ifndef SN_FRONTIER_H
#define SN_FRONTIER_H

#include "engine/mail.h"
#include "engine/scheduler.h"
#include "engine/shared_state.h"

typedef struct sn_frontier sn_frontier;

/* One URL that is not asked for, and why. */
typedef struct sn_refusal {
    const sn_link *link;
    sn_str key;
    seine_skip reason;
    sn_str rule;
} sn_refusal;

typedef struct sn_frontier_ops {
    void (*refuse)(const sn_refusal *r, void *arg); /* its record, now */
    void (*end)(sn_visit *v, void *arg); /* it was refused after all: likewise */
    void (*send)(uint32_t shard, sn_post *give, void *arg);
    void (*tell)(const seine_event *e, void *arg);
    void *arg;
} sn_frontier_ops;

/* Shard `index` of `n`. It is the source of that scheduler from here on. NOMEM. */
SEINE_MUST_CHECK seine_err sn_frontier_new(sn_shared_state *c, sn_scheduler *s,
                                           const sn_frontier_ops *ops, uint32_t index,
                                           uint32_t n, sn_frontier **out_frontier);
void sn_frontier_free(sn_frontier *f); /* nothing waits in it */

/* A visit on its way to its host. OK: it waits, here or at the scheduler. ROBOTS: it is
 * refused, v->is_skip. NOMEM. */
SEINE_MUST_CHECK seine_err sn_frontier_visit(sn_frontier *f, sn_visit *v, seine_time now);

/* A page was answered, with whatever status: its host is there. */
void sn_frontier_answered(sn_frontier *f, const sn_visit *v, seine_time now);

/* A page has ended well: where it leads. */
void sn_frontier_page(sn_frontier *f, sn_visit *v, seine_time now);

/* A robots.txt or sitemap has ended, one way or the other; the visit and its unit of work
 * stay the caller's. */
void sn_frontier_back(sn_frontier *f, sn_visit *v, seine_time now);

/* Links of another shard, which are read and freed. */
void sn_frontier_post(sn_frontier *f, sn_post *give, seine_time now);

/* Hosts whose robots.txt is asked for again; and when the next one is. */
void sn_frontier_due(sn_frontier *f, seine_time now);
seine_time sn_frontier_when(const sn_frontier *f);

/* The next URL that waits as a visit, to be ended by the caller; of one host, or of any
 * (SN_NO_HOST). NULL: none is left. */
sn_visit *sn_frontier_drain(sn_frontier *f, uint32_t host, seine_time now);

/* The host is given up in this run. */
void sn_frontier_park(sn_frontier *f, uint32_t host);

/* At the end: refuses what waits for a robots.txt that cannot be had; tells of late
 * refusals. At most `most` records a call; true: there are more. */
bool sn_frontier_stuck(sn_frontier *f, uint32_t most, seine_time now);
bool sn_frontier_late(sn_frontier *f, uint32_t most, seine_time now);

/* URLs that wait in its queue, and what is not OK with it. */
uint64_t sn_frontier_waiting(const sn_frontier *f);
seine_err sn_frontier_err(const sn_frontier *f);

#endif
