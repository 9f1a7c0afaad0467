/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frontier.h - stage 1 of a crawl: a URL was found. Is it work, a refusal, or nothing
 * new?
 *
 * The shard that finds a link judges it by its text: scheme, port, shape, scope, and
 * whether its key is new. A link that passes goes to the shard that owns its host, as
 * mail if that is another one. The owner asks the rest: robots.txt if it is known, and
 * the budgets of domain, host, path pattern and crawl. The URL then waits in the store
 * until the scheduler asks for the next one of its host, and becomes a visit. Every
 * refusal has a record at once. URLs that are too deep, or that only a nofollow leads to,
 * are told at the very end, since another link may still lead there.
 *
 *     sn_frontier_page(frontier, visit, now);
 *     sn_frontier_post(frontier, post, now);
 *     sn_admission admission = sn_frontier_admit(frontier, visit, now);
 *     sn_offer offer = sn_frontier_next(frontier, host, now);
 *     sn_frontier_back(frontier, visit, now);
 *
 * robots.txt is the first request to every host; while it is on its way nothing else is
 * asked. When it cannot be had the URLs of its host wait; when nothing else is left
 * anywhere they are refused. Sitemaps come next, and while the depth is limited a host is
 * asked level by level.
 *
 * Every URL is one unit of shared->load from the moment a shard routes it until its
 * record is out, and so is every robots.txt and sitemap: a crawl is over when there is
 * none left.
 *
 * Time    is passed in.
 * Memory  hosts in engine/crawl_host.h, URLs in store/store.h.
 * Threads one owner: its shard.
 */
#ifndef SN_FRONTIER_H
#define SN_FRONTIER_H

#include "engine/host.h"
#include "engine/job_kinds.h"
#include "engine/mail.h"
#include "engine/robots_cache.h"
#include "engine/work.h"

typedef struct sn_frontier sn_frontier;
struct sn_job_reader;

/* One URL that is not asked for, and why. */
typedef struct sn_refusal {
    const sn_link *link;
    sn_str key;
    seine_skip reason;
    sn_str rule;
    bool is_late; /* it was admitted before */
} sn_refusal;

/* What the frontier says; none of these calls it back. */
typedef struct sn_frontier_ops {
    void (*work)(const sn_work *work, void *arg); /* a host has work: to the scheduler */
    void (*refuse)(const sn_refusal *r, void *arg); /* its record, now */
    void (*send)(uint32_t shard, sn_post *give, void *arg);
    void (*tell)(const seine_event *e, void *arg);
    void (*keep)(uint32_t host, void *arg); /* its row; see sn_frontier_host_kept */
    void *arg;
} sn_frontier_ops;

typedef struct sn_frontier_opts {
    uint32_t index, n;                /* shard `index` of `n` */
    sn_hosts *hosts;                  /* of the shard; borrowed */
    seine_clock *clock;               /* ends a turn of links; NULL: each is one turn */
    const struct sn_store_ops *store; /* where URLs wait; NULL: store/store_mem.h */
} sn_frontier_opts;

/* NOMEM, and what sn_store_open says. */
SEINE_MUST_CHECK seine_err sn_frontier_new(sn_shared_state *c, const sn_frontier_opts *o,
                                           const sn_frontier_ops *ops,
                                           sn_frontier **out_frontier);
void sn_frontier_free(sn_frontier *f); /* nothing waits in it */

/* Takes over the URLs that an earlier run has left in the store; before the first turn.
 * NOMEM, and what sn_store_scan says. */
SEINE_MUST_CHECK seine_err sn_frontier_resume(sn_frontier *f, seine_time now);

/* Where a job hears of what is found. */
void sn_frontier_set_lane(sn_frontier *f, sn_job_lane *lane);

/* Where an incremental crawl reads what is known of pages; NULL: it is none. Borrowed. */
void sn_frontier_set_pages(sn_frontier *f, struct sn_job_reader *pages);

/* The same from a job, before the first turn: hosts first, then robots.txt, URLs, how
 * many pages hosts have had; at last the hosts begin. NOMEM, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_frontier_restore_host(sn_frontier *f, sn_str name,
                                                    bool is_given, seine_time now);
SEINE_MUST_CHECK seine_err sn_frontier_restore_robots(sn_frontier *f,
                                                      const sn_job_robots *row,
                                                      int64_t wall_ms, seine_time now);
SEINE_MUST_CHECK seine_err sn_frontier_restore_url(sn_frontier *f, const sn_job_url *u,
                                                   seine_time now);
/* A pattern whose pages repeated in an earlier run: its URLs are refused. */
SEINE_MUST_CHECK seine_err sn_frontier_restore_trap(sn_frontier *f, sn_str name,
                                                    uint64_t key, seine_time now);
/* In a fleet: pages of a pattern that earlier owners of the host have asked for. */
SEINE_MUST_CHECK seine_err sn_frontier_restore_count(sn_frontier *f, sn_str name,
                                                     uint64_t key, uint32_t pages,
                                                     seine_time now);
SEINE_MUST_CHECK seine_err sn_frontier_restore_pages(sn_frontier *f, sn_str name,
                                                     const sn_job_standing *n,
                                                     seine_time now);
/* A page that is not due waits until the end, when all sitemaps are read. */
SEINE_MUST_CHECK seine_err sn_frontier_restore_not_due(sn_frontier *f,
                                                       const sn_job_url *u);
void sn_frontier_restored(sn_frontier *f, seine_time now);

/* With a job: what waits at the host stays there, and is counted in shared->left; given
 * URLs that are held are not among it. How many. */
uint32_t sn_frontier_leave(sn_frontier *f, uint32_t host);
void sn_frontier_leave_late(sn_frontier *f); /* refusals for the end */

/* With a job: a page that came out of the store stays with it. */
void sn_frontier_left(sn_frontier *f, const sn_visit *v);
uint32_t sn_frontier_n_hosts(const sn_frontier *f);

typedef enum sn_admission {
    SN_ADMISSION_OK,      /* it may go to its host */
    SN_ADMISSION_HELD,    /* it waits here for robots.txt; see sn_frontier_released */
    SN_ADMISSION_REFUSED, /* by robots.txt: v->is_skip */
    SN_ADMISSION_NO_MEMORY
} sn_admission;

/* A visit on its way to its host: may it go there? */
sn_admission sn_frontier_admit(sn_frontier *f, sn_visit *v, seine_time now);

/* The next visit that was held and whose robots.txt is known now: it is to be admitted
 * once more. NULL: none in this turn. */
sn_visit *sn_frontier_released(sn_frontier *f);
bool sn_frontier_has_released(const sn_frontier *f);

/* The next URL of a host, which may start at once. */
sn_offer sn_frontier_next(sn_frontier *f, uint32_t host, seine_time now);

/* In a fleet: the row of the host is in Redis, so that the next owner of its partition
 * knows its Crawl-delay. Before that no page of it is asked for. */
void sn_frontier_host_kept(sn_frontier *f, sn_str name);
void sn_frontier_watch_tenures(sn_frontier *f); /* some were lost */

/* The record of a page that came out of the store is out. */
void sn_frontier_finish(sn_frontier *f, uint64_t number);

/* Commits what was found and finished in this turn, and forgets hosts that are idle if
 * there are many. */
void sn_frontier_end_turn(sn_frontier *f);

/* A page was answered, with whatever status: its host is there. */
void sn_frontier_answered(sn_frontier *f, const sn_visit *v, seine_time now);

/* A page has ended well: where it leads. False: there are more links than the turn has
 * time for; sn_frontier_read returns the visit when all are read. */
bool sn_frontier_page(sn_frontier *f, sn_visit *v, seine_time now);

/* A robots.txt or sitemap has ended, one way or the other; the visit and its unit of work
 * stay the caller's. False: as above. */
bool sn_frontier_back(sn_frontier *f, sn_visit *v, seine_time now);

/* Reads on in the links that wait; the first visit that is done with. NULL: none in this
 * turn. */
sn_visit *sn_frontier_read(sn_frontier *f, seine_time now);
bool sn_frontier_is_reading(const sn_frontier *f);

/* Do pages come faster than their links are read? Then nothing should start: what they
 * would say, of traps for instance, is not known yet, and they take memory. */
bool sn_frontier_is_behind(const sn_frontier *f);

/* The first visit whose links are read no further. NULL: none is left. */
sn_visit *sn_frontier_unread(sn_frontier *f);

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

/* The next URL that waits for a robots.txt which cannot be had, as a visit that is
 * refused: the caller writes its record. NULL: none is left. */
sn_visit *sn_frontier_stuck(sn_frontier *f, seine_time now);

/* At the end: tells of at most `most` late refusals; true: there are more. */
bool sn_frontier_late(sn_frontier *f, uint32_t most, seine_time now);

/* URLs that wait in its lists. */
uint64_t sn_frontier_admitted(const sn_frontier *f); /* links, all in all */
uint64_t sn_frontier_allowed(const sn_frontier *f);  /* by robots.txt */
uint64_t sn_frontier_waiting(const sn_frontier *f);
uint64_t sn_frontier_sitemap_bytes(const sn_frontier *f); /* read in this run */

/* Not OK: found URLs cannot be kept or read again, and the crawl has to end. DISK_FULL,
 * NO_FILES, IO, STATE_CORRUPT, NOMEM; the words, which may be empty. */
seine_err sn_frontier_err(const sn_frontier *f);
const seine_diag *sn_frontier_why(const sn_frontier *f);

/* URLs of the host that wait for its robots.txt; *out_until: when that is asked for
 * again, if it could not be had. */
uint32_t sn_frontier_shut(const sn_frontier *f, uint32_t host, seine_time *out_until);

/* What robots.txt of that host says about a target, for those who look on. */
typedef enum sn_robots_says {
    SN_ROBOTS_SAYS_NOTHING, /* it plays no part here */
    SN_ROBOTS_SAYS_ASKED,   /* it has not come yet */
    SN_ROBOTS_SAYS_ALLOW,
    SN_ROBOTS_SAYS_DENY,
    SN_ROBOTS_SAYS_UNREACHABLE,
} sn_robots_says;

const char *sn_robots_says_name(sn_robots_says s); /* "deny"; "" of nothing */
/* `rule`: the line that says so, "" where there is none. */
sn_robots_says sn_frontier_robots_say(const sn_frontier *f, uint32_t host, sn_str target,
                                      char rule[SN_ROBOTS_RULE]);

#endif
