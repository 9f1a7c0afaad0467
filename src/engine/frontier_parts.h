/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frontier_parts.h - the frontier as its own files see it, in the order of a URL's way:
 *
 *     frontier_links.c    the links of a page, judged by their text, routed to the owner
 *     frontier_admit.c    the owner's part: is it work, or refused?
 *     frontier_budget.c   budgets of domain, host, bytes
 *     frontier_traps.c    path patterns: counted, looked at, refused while they repeat
 *     frontier_robots.c   the robots.txt of a host: asked for, obeyed, asked for again
 *     frontier_room.c     memory for the rules of all hosts
 *     frontier_sitemap.c  the sitemaps of a host
 *     frontier_store.c    the lists of URLs that wait, and when they are finished
 *     frontier.c          hosts; the next URL of a host
 *     frontier_visit.c    a URL becomes a visit
 *     frontier_end.c      what waits when the crawl ends, and what is told then
 *     frontier_job.c      what a job keeps of all this, and how it comes back
 *     frontier_fleet.c    hosts whose partition may go to another worker
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
#include "engine/known_links.h"
#include "engine/link_prints.h"
#include "engine/scope.h"
#include "engine/url_rules.h"
#include "store/fleet_worker.h"
#include "text/trap.h"

enum {
    SN_BATCH = 32,          /* links judged together … */
    SN_BATCH_BYTES = 16384, /* … or so many bytes of them */
    SN_GROUP = 64,          /* URLs finished together */
    SN_PUT_NOFOLLOW = 64,   /* with the reason of one that was put off: and a nofollow */
    SN_PUT_KNOWN = 128,     /* likewise: it is known from an earlier round … */
    SN_PUT_NOT_DUE = 32,    /* … and this is no reason, but the lack of one */
    SN_PUT_REASON = 31,     /* the bits of the reason */
    SN_IDLE = 600,          /* looks after which a pattern without pages makes room */
    SN_LOOKED = 64,         /* patterns of a shard whose pages are looked at, at most */
    SN_CHILDREN = 128,      /* directories of a directory that make them a device */
    SN_DIRECTORIES = 2,     /* levels of directories that are counted */
    SN_FEW = 10,            /* pages of a pattern that tell whether it is a good one */
    SN_ROBOTS_TURN = 1000000, /* steps of robots.txt in one turn of a shard … */
    SN_REFUSED_TURN = 1000,   /* … and waiting URLs of a host that are refused in one */
    SN_UNREAD = 4,            /* pages with unread links, beyond which nothing starts */
    SN_LINKS_TURN_MS = 20,    /* of links, besides the first batch of a turn */
    SN_SAMPLE = 8 /* of plain words one page in so many, while they are good */
};

/* How the leader of a URL and its look stand in one byte. */
#define SN_LEADER_OF(byte) ((sn_leader)((byte)&3))
#define SN_LOOK_OF(byte)   ((unsigned)(byte) >> 2)

/* A pattern whose pages are looked at. */
typedef struct sn_looked {
    uint64_t key; /* 0: none */
    sn_novelty_kind kind;
    uint32_t last; /* page of it, counted by `looks` */
    uint32_t host;
} sn_looked;

/* A page that is looked at, while its links are read. */
typedef struct sn_looking {
    const sn_visit *visit; /* NULL: none */
    sn_text_news text[SN_TRAP_LEVELS];
    bool leads[SN_TRAP_LEVELS]; /* to a new URL outside of the level */
    bool is_index; /* leads to a new URL of a pattern whose pages have texts */
} sn_looking;

/* A link while it is judged. */
typedef struct sn_candidate {
    sn_link link;
    seine_url url;
    sn_str key;
    sn_str bad; /* no URL: why */
    bool is_too_long;
    uint8_t flaw;    /* seine_url_flaw_kind of a text that is no URL */
    bool nofollow;   /* asked not to */
    bool is_part;    /* a page needs it: see requisites of seine_fetch_opts */
    int64_t lastmod; /* of a sitemap, wall time in ms; 0: it does not say */
    uint64_t mark;   /* of its spelling, see known_links.h; 0: none */
    bool is_judged;
    sn_url_verdict verdict; /* if it is judged */
    char *href_mem, *key_mem;
} sn_candidate;

/* Visits whose links are read in slices; the first of them is begun. */
typedef struct sn_reading {
    sn_visit *first, *last;
    uint32_t n;       /* of them */
    size_t at;        /* the next link of the first one; NOT_BEGUN */
    uint8_t leader;   /* of its links */
    seine_time since; /* of this turn; 0: no batch was judged yet */
} sn_reading;

struct sn_frontier {
    sn_shared_state *shared;
    sn_hosts *host_table; /* of the shard: numbers, names, what is under way */
    sn_frontier_ops ops;
    uint32_t index, n;
    sn_store *store;
    sn_job_lane *lane;           /* where a job hears of it; NULL: there is none */
    struct sn_job_reader *pages; /* of an incremental crawl; NULL: it is none */
    uint64_t parent_number;      /* of the page whose links are read; SN_JOB_NONE */
    sn_crawl_hosts hosts;
    sn_url_list late;               /* too deep, nofollow, offsite while seeds come */
    sn_str restored_name;           /* of the last host, while a job comes back */
    uint32_t restored_host;         /* … and its number */
    bool holds_end;                 /* counted in shared->late: something to tell */
    size_t max_robots;              /* bytes that the rules of its hosts may hold */
    size_t reserved;                /* for those that are asked for again */
    uint32_t first_room, last_room; /* hosts that wait for room; SN_NONE */
    sn_heap again;                  /* hosts whose robots.txt is asked for again */
    sn_visit *released;             /* their robots.txt is known … */
    sn_visit *last_released;        /* … and they are still to be judged */
    uint64_t robots_steps;          /* of this turn */
    seine_clock *clock;             /* NULL: a turn has all the time for links */
    sn_reading reading;
    uint32_t paused;   /* hosts whose URLs are judged further in the next; SN_NONE */
    uint64_t waiting;  /* pages in lists and held visits */
    uint64_t admitted; /* links, all in all */
    uint64_t allowed;  /* by a robots.txt that counts, when they left for their host */
    bool is_allowed;   /* what robots.txt said last was a yes */
    uint64_t n_taken;  /* pages that have left their list */
    uint64_t n_left;   /* of these: stay with the job */
    uint64_t done[SN_GROUP]; /* those whose record is out since the commit */
    uint32_t n_done;
    seine_err err;        /* why the crawl has to end; OK: it does not */
    uint32_t drain_at;    /* hosts before it are drained */
    uint32_t stuck_at;    /* likewise */
    sn_post **posts;      /* to each shard, in the making */
    sn_known_links known; /* links that lead to known URLs */
    sn_link_prints links; /* of the visit that is read, in an incremental crawl */
    sn_candidate batch[SN_BATCH];
    uint64_t prints[SN_BATCH];
    uint8_t is_new[SN_BATCH];
    char *memory;                /* of the candidates */
    sn_looked looked[SN_LOOKED]; /* a ring, see frontier_traps.c for who makes room */
    uint32_t looks;              /* pages over their budget */
    uint64_t sitemap_bytes;      /* that this shard has read */
    uint32_t next_looked;
    sn_looking looking;
};

/* Why a URL is not asked for. */
typedef struct sn_skip_why {
    seine_skip reason;
    sn_str rule; /* a constant, or in `mem` */
    char mem[2 * SN_TRAP_ROOM + 128];
} sn_skip_why;

static inline bool /* true: so that a check can return it */
sn_skip_for(sn_skip_why *why, seine_skip reason, sn_str rule)
{
    why->reason = reason;
    why->rule = rule;
    return true;
}

/* frontier.c */

/* The host of a URL and what is known of it, made if it is new. */
SEINE_MUST_CHECK seine_err sn_frontier_host(sn_frontier *f, const seine_url *url,
                                            bool is_given, seine_time now,
                                            uint32_t *out_host, sn_crawl_host **out_ch);

/* Has the host no work, and nothing under way? `arg` is the frontier. */
bool sn_frontier_is_quiet(uint32_t host, void *arg);

/* What waits at a host behind its robots.txt: pages, sitemaps, given URLs. */
uint32_t sn_frontier_behind(const sn_frontier *f, uint32_t host);

/* Says how much work the host has; `delay` as in sn_work. */
void sn_frontier_say(sn_frontier *f, uint32_t host, seine_span delay);

/* frontier_store.c */
SEINE_MUST_CHECK seine_err sn_frontier_open_store(sn_frontier *f,
                                                  const sn_store_ops *back_end);

/* The link as the store keeps it, but for host and target. */
sn_waiting_url sn_frontier_waiting_of(const sn_link *l);

/* A URL more waits at the host: before the others, or behind them. NOMEM, DISK_FULL … */
SEINE_MUST_CHECK seine_err sn_frontier_put(sn_frontier *f, uint32_t host, bool first,
                                           const sn_link *l, sn_str target);

/* The next URL of the host leaves its list; its texts are valid until the next call.
 * CLOSED: there is none. BUSY: it is deeper than `deepest`. URLs that cannot be read are
 * passed over and counted, and the crawl ends. */
SEINE_MUST_CHECK seine_err sn_frontier_take(sn_frontier *f, uint32_t host,
                                            uint32_t deepest, sn_waiting_url *out);

/* Commits the URLs that were finished. */
void sn_frontier_commit(sn_frontier *f);

/* Drops the head of a list, which cannot be read, and counts its URLs as lost. */
void sn_frontier_skip(sn_frontier *f, sn_url_list *list, sn_lost *out);

/* What was found can no longer be kept: the crawl has to end. The first reason counts. */
void sn_frontier_fail(sn_frontier *f, seine_err e);

/* The same, and n URLs have no record. */
void sn_frontier_lose(sn_frontier *f, uint32_t n, seine_err e);

/* frontier_links.c */

/* One URL more that is not of this page alone: to the owner of its host. */
void sn_frontier_route(sn_frontier *f, const sn_link *link, const seine_url *url,
                       seine_time now);

/* The next number of all shards. */
uint64_t sn_frontier_number(sn_frontier *f);

/* Sends what was written to other shards. */
void sn_frontier_send(sn_frontier *f);

/* frontier_admit.c */

/* The owner's part of admission: the link is work or refused from here on. */
void sn_frontier_admit_link(sn_frontier *f, const sn_link *link, const seine_url *url,
                            seine_time now);

/* The record of a URL that is not asked for. */
void sn_frontier_refuse(sn_frontier *f, const sn_link *link, const seine_url *url,
                        seine_skip reason, sn_str rule);

/* What has come up against a URL since it was admitted? */
bool sn_frontier_refuses_late(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                              sn_skip_why *why);

/* A URL that waited is refused after all. */
void sn_frontier_refuse_waiting(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                                seine_skip reason, sn_str rule);
sn_link sn_frontier_link_of(const sn_waiting_url *u, const seine_url *url);

/* Whether redirects of a given URL lead there; whoever gave it wants to know if it is
 * refused. Parts of a page have a tag. */
static inline bool
sn_frontier_is_seed_target(const sn_link *l)
{
    return l->depth == 0 && l->moved > 0 && l->tag == 0;
}

/* frontier_budget.c: true, the budget is spent, and *why says which. The URL is counted
 * against each budget that has room. */
bool sn_frontier_spend_domain(sn_frontier *f, const seine_url *url, sn_crawl_host *ch,
                              sn_skip_why *why);
bool sn_frontier_spend_page(sn_frontier *f, const sn_crawl_host *ch, sn_skip_why *why);
bool sn_frontier_is_over_bytes(const sn_frontier *f);

/* frontier_traps.c */

/* The page is asked for: counts it, and says in the visit whether it is looked at. */
void sn_frontier_count_page(sn_frontier *f, uint32_t host, sn_visit *v);

/* Do the pages of its pattern repeat? */
bool sn_frontier_repeats(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                         sn_skip_why *why);

/* Before the links of a page are read: looks at its text. What its links are led by. */
uint8_t sn_frontier_look(sn_frontier *f, sn_visit *v);

/* The page that is looked at leads to a URL that was not known and is in scope. */
void sn_frontier_lead(sn_frontier *f, const seine_url *url);

/* After its links: judges the page. */
void sn_frontier_judge(sn_frontier *f);

/* frontier_fleet.c */

/* Sends a link that is not followed to the owner of its partition, who knows whether it
 * has a record already. */
void sn_frontier_send_refused(sn_frontier *f, const sn_candidate *c, seine_skip reason,
                              uint64_t print);
/* … where it is refused, unless it is in scope by now. */
void sn_frontier_refuse_sent(sn_frontier *f, const sn_link *l, seine_time now);

typedef enum sn_standing {
    SN_STANDING_HELD,
    SN_STANDING_NEW, /* held, but since too short a time: host.next says when */
    SN_STANDING_LOST /* another worker's */
} sn_standing;

/* In a fleet: looks whose the host is now. */
sn_standing sn_frontier_enter_tenure(sn_frontier *f, uint32_t host, seine_time now);
/* May its pages be asked for, as far as the next owner is concerned? */
bool sn_frontier_has_row(const sn_frontier *f, uint32_t host);
void sn_frontier_want_row(sn_frontier *f, uint32_t host); /* once in a tenure */
void sn_frontier_leave_lost(sn_frontier *f, uint32_t host);

/* frontier_robots.c */

/* Asks for the host's robots.txt if it is not known or too old. True: the URLs of the
 * host may go, since it is known or does not count. */
bool sn_frontier_check_robots(sn_frontier *f, uint32_t host, seine_time now);

/* Is it known, or does it not count? */
/* What robots.txt means for this host. */
static inline seine_obey
sn_frontier_obey(const sn_frontier *f, uint32_t host)
{
    const sn_host_policy *p = sn_hosts_policy(f->host_table, host);

    return p ? p->robots : f->shared->opts.robots;
}

bool sn_frontier_is_open(const sn_frontier *f, uint32_t host);

/* Does it forbid the target? It is known, and counts unless the host is free. */
bool sn_frontier_forbids(sn_frontier *f, uint32_t host, sn_str target, sn_skip_why *why);

/* Rules may be slow: has this turn steps left to ask them? URLs that are found when it
 * has none wait like those of a host whose robots.txt is not known yet, and are judged
 * before they are asked for. */
bool sn_frontier_has_steps(const sn_frontier *f);

/* The URLs of the host are judged further in the next turn. */
void sn_frontier_pause(sn_frontier *f, uint32_t host);

/* The visit is judged once more in the next turn. */
void sn_frontier_release(sn_frontier *f, sn_visit *first, sn_visit *last);
/* Given URLs that waited for robots.txt go on: the caller takes them. */
void sn_frontier_release_held(sn_frontier *f, uint32_t host);

/* There was no memory for the visit that asks for it. */
void sn_frontier_robots_lost(sn_frontier *f, uint32_t host, seine_time now);
void sn_frontier_robots_back(sn_frontier *f, sn_visit *v, seine_time now);

/* robots.txt is known: what waits behind it may go. */
void sn_frontier_open_host(sn_frontier *f, uint32_t host, sn_address_zone ceiling,
                           seine_time now);

/* frontier_room.c */

/* Memory for the rules of all hosts: an eighth of `max_memory`, and room for the largest
 * file at least. */
size_t sn_frontier_max_robots(const sn_frontier *f);

/* Makes room for the rules of the host, which have come. If there is none, the host has
 * none either, and waits. */
void sn_frontier_fit_robots(sn_frontier *f, uint32_t host);

/* Asks for robots.txt of the first host that waits, if there is room now. */
void sn_frontier_find_room(sn_frontier *f);

/* The robots.txt that room was kept for has come, or will not. */
void sn_frontier_end_reserve(sn_frontier *f, uint32_t host);

/* frontier_sitemap.c */

/* How a sitemap was found, in the byte that says of pages how often they moved: indexes
 * and robots.txt that led there, also from host to host, and redirects since the last. */
#define SN_TRAIL(level, hops) ((uint8_t)((hops) << 4 | ((level)&15)))
#define SN_TRAIL_LEVEL(byte)  ((unsigned)(byte)&15)
#define SN_TRAIL_HOPS(byte)   ((unsigned)(byte) >> 4)
enum { SN_SITEMAP_HOPS = 10 };

/* Have the sitemaps of the crawl had all the bytes they may? Then one more is left out.
 */
bool sn_frontier_is_over_sitemap_bytes(sn_frontier *f);

/* The first sitemaps of a host: those that its robots.txt names; of a given one the usual
 * one besides. */
void sn_frontier_begin_sitemaps(sn_frontier *f, uint32_t host, sn_address_zone ceiling,
                                seine_time now);

/* A further sitemap, which the one of this visit names. */
void sn_frontier_add_sitemap(sn_frontier *f, const sn_visit *v, sn_str value,
                             seine_time now);
bool sn_frontier_sitemap_back(sn_frontier *f, sn_visit *v, seine_time now);

/* It is done with; `is_read`: all its URLs are read, and the job need not know it. */
void sn_frontier_sitemap_end(sn_frontier *f, const sn_visit *v, bool is_read);
void sn_frontier_end_sitemap(sn_frontier *f, uint64_t number); /* nobody asked for it */

/* frontier_job.c: the first five with a job alone; ended and widened do nothing without
 */
void sn_frontier_keep_found(sn_frontier *f, const sn_link *l, const seine_url *url,
                            uint64_t print);
void sn_frontier_keep_late(sn_frontier *f, const sn_link *l, uint8_t flags,
                           uint64_t print); /* it was put off */
void sn_frontier_keep_refused(sn_frontier *f, uint64_t number, uint64_t print);
void sn_frontier_keep_robots(sn_frontier *f, uint32_t host, sn_address_zone ceiling,
                             sn_str text);
void sn_frontier_keep_ended(sn_frontier *f, uint64_t number); /* without a record */
void sn_frontier_keep_count(sn_frontier *f, uint32_t host, uint64_t key, uint32_t pages);
void sn_frontier_keep_trap(sn_frontier *f, uint32_t host, uint64_t key);
SEINE_MUST_CHECK seine_err sn_frontier_find_name(sn_frontier *f, sn_str name,
                                                 seine_time now, uint32_t *out_host);
/* The sitemap names the URLs with these prints; with a job. */
void sn_frontier_keep_listed(sn_frontier *f, const seine_url *sitemap, sn_str prints);
void sn_frontier_keep_widened(sn_frontier *f, const seine_url *from, const seine_url *to);

/* frontier_visit.c: NULL is no memory */

/* A whole URL of a host from its target; false: too long. */
bool sn_frontier_url(const sn_frontier *f, uint32_t host, sn_str target, seine_url *out);
sn_visit *sn_frontier_visit_page(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                                 seine_time now);
sn_visit *sn_frontier_visit_robots(sn_frontier *f, uint32_t host, seine_time now);
sn_visit *sn_frontier_visit_sitemap(sn_frontier *f, uint32_t host,
                                    const sn_waiting_url *u, seine_time now);

#endif
