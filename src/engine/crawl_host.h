/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_host.h - what a frontier knows of the hosts of its shard, by their numbers.
 *
 * 24 bytes of each for ever: the list of its waiting URLs, how many were admitted, the
 * level it is at. Everything else (robots.txt, the counts of path patterns, sitemaps,
 * given URLs that wait for the rules) is its state, which exists while the host has work,
 * and is given up for hosts that are idle when there are many; the rules alone are given
 * up when they hold much memory. robots.txt is then asked for again.
 *
 *     e = sn_crawl_hosts_at(&hosts, host, &ch);
 *     e = sn_crawl_hosts_make_state(&hosts, host, &state);
 *
 * Time    plays no part.
 * Memory  24 bytes a host; states in blocks that are used again.
 * Threads one owner.
 */
#ifndef SN_CRAWL_HOST_H
#define SN_CRAWL_HOST_H

#include "base/map.h"
#include "engine/pattern_table.h"
#include "engine/robots_cache.h"
#include "engine/segment_counts.h"
#include "engine/visit.h"
#include "store/store.h"

enum {
    SN_CRAWL_HOST_GIVEN = 1,    /* a URL of it was named by the user */
    SN_CRAWL_HOST_FREE = 2,     /* robots.txt does not count here */
    SN_CRAWL_HOST_PARKED = 4,   /* given up in this run */
    SN_CRAWL_HOST_STUCK = 8,    /* what waits here is counted as stuck */
    SN_CRAWL_HOST_COUNTED = 16, /* as one of its domain */
    SN_CRAWL_HOST_MAPPED = 32   /* a sitemap of it was found, or its own were asked for */
};

enum { SN_CRAWL_HOST_MAPS = 50000 }; /* files of sitemaps */

typedef struct sn_crawl_host {
    sn_url_list chain; /* URLs that wait */
    uint32_t n_pages;  /* admitted */
    uint32_t state;    /* SN_NONE */
    uint16_t level;    /* no deeper URL starts before all up to here have ended */
    uint8_t flags;
    uint8_t map_level; /* of the sitemaps that its robots.txt names */
} sn_crawl_host;

typedef struct sn_crawl_state {
    uint32_t host; /* SN_NONE: free */
    uint32_t link; /* next free one */
    sn_robots_cache robots;
    sn_pattern_table patterns;  /* of pages that were asked for */
    sn_bloom directories;       /* that were counted */
    sn_segment_counts segments; /* of the paths of pages, once there are many */
    sn_url_list first;          /* what goes before: sitemaps, pages of a level that
                                has begun */
    uint32_t maps_out;          /* sitemaps under way */
    sn_visit *held, *last_held; /* given URLs that wait for the rules */
    uint32_t n_held;
    uint32_t n_maps;      /* files of sitemaps, all of them */
    uint8_t ceiling;      /* sn_address_zone: of the URL that waits in front */
    uint32_t next_paused; /* SN_NONE: the last */
    uint32_t next_room;   /* likewise */
    size_t needs;         /* bytes of its rules, for which it waits … */
    size_t reserved;      /* … and for which room is kept */
    bool waits_room;
    bool is_paused;  /* its URLs are judged further in the next turn */
    bool is_wanted;  /* robots.txt is what the host is asked for next */
    bool has_maps;   /* the first sitemaps were looked for */
    uint8_t row;     /* in a fleet: is what the next owner has to know in Redis? … */
    uint32_t tenure; /* … in this tenure of its partition */
} sn_crawl_state;

typedef struct sn_crawl_hosts {
    sn_crawl_host *all;
    uint32_t n, room;
    sn_crawl_state **states; /* blocks: pointers into them stay valid */
    uint32_t n_states, free_state, used;
    uint32_t made;       /* since the last search for an idle one */
    uint32_t sweep;      /* where the last search for an idle one ended */
    size_t robots_bytes; /* that the rules of all hosts hold */
    sn_map domains;      /* registrable domain → hosts of it */
    sn_arena names;
} sn_crawl_hosts;

void sn_crawl_hosts_init(sn_crawl_hosts *s);
void sn_crawl_hosts_fini(sn_crawl_hosts *s); /* lists and held visits are the caller's */

/* What is known of that host, made if it is new. NOMEM. Valid until the next is made. */
SEINE_MUST_CHECK seine_err sn_crawl_hosts_at(sn_crawl_hosts *s, uint32_t host,
                                             sn_crawl_host **out_ch);

/* Its state, made if there is none. NOMEM. */
SEINE_MUST_CHECK seine_err sn_crawl_hosts_make_state(sn_crawl_hosts *s, uint32_t host,
                                                     sn_crawl_state **out_state);
sn_crawl_state *sn_crawl_hosts_state(const sn_crawl_hosts *s,
                                     uint32_t host); /* NULL: it has none */

/* Above so many states, gives up some of hosts that is_idle says yes to: it looks at as
 * many as were made since the last call, and at a few more. */
void sn_crawl_hosts_evict(sn_crawl_hosts *s, bool (*is_idle)(uint32_t host, void *arg),
                          void *arg);

/* The host whose rules hold most, and more than `than`; SN_NONE. */
uint32_t sn_crawl_hosts_largest_robots(const sn_crawl_hosts *s, size_t than);
void sn_crawl_hosts_drop_robots(sn_crawl_hosts *s, sn_crawl_state *x);

/* The rules of the state were read anew; they held `before` bytes. */
void sn_crawl_hosts_count_robots(sn_crawl_hosts *s, const sn_crawl_state *x,
                                 size_t before);

/* Gives up the rules of hosts that is_quiet says yes to, until all of them hold at most
 * `most` bytes. True: they do. */
bool sn_crawl_hosts_shrink_robots(sn_crawl_hosts *s, size_t most,
                                  bool (*is_quiet)(uint32_t host, void *arg), void *arg);

/* One more host of a registrable domain: how many there are now. NOMEM. */
SEINE_MUST_CHECK seine_err sn_crawl_hosts_domain(sn_crawl_hosts *s, sn_str domain,
                                                 uint32_t *out_hosts);

#endif
