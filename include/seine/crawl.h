/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl.h - from lists to sites: which links are followed, how far, and who decides?
 *
 * A fetch with `crawl` set takes the URLs it is given as seeds. Every page that came
 * whole is read for links; each link is judged once, and what is in scope, new, shallow
 * enough, no trap and allowed by robots.txt is fetched like a given URL. Each of the
 * others has one record too, which says why it was refused and by which rule.
 *
 *     seine_crawl_opts c = SEINE_CRAWL_OPTS;
 *     seine_fetch_opts o = SEINE_FETCH_OPTS;
 *     c.depth = 3;
 *     o.crawl = &c;
 *     o.robots = SEINE_OBEY_ON;
 *     e = seine_fetch_new(&o, &f, &diag);
 *     e = seine_fetch_add(f, &seed, ctx);
 *     e = seine_fetch_finish(f, ctx);           until nothing waits anywhere
 *
 * A redirect is a link: the page that says it ends with its 3xx, and where it leads is
 * judged, fetched and recorded by itself. Nothing is fetched twice.
 *
 * While the depth is limited a host is asked level by level, so that how far a crawl
 * reaches does not depend on how fast pages answer.
 *
 * Time    plays no part.
 * Memory  51 to 64 bytes for a URL that waits; beyond a share of `max_memory` they go to
 *         a file in `spill`.
 * Threads a set of options.
 */
#ifndef SEINE_CRAWL_H
#define SEINE_CRAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"

/* Which links belong to the crawl, by the URLs that were given. */
typedef enum seine_scope {
    SEINE_SCOPE_HOST,   /* the same host and port, http or https */
    SEINE_SCOPE_DOMAIN, /* the same registrable domain */
    SEINE_SCOPE_PREFIX, /* below the directory of the given URL */
    SEINE_SCOPE_ANY
} seine_scope;

/* What robots.txt is taken for. */
typedef enum seine_obey {
    SEINE_OBEY_OFF,  /* it is not asked for */
    SEINE_OBEY_ON,   /* RFC 9309, for given URLs too */
    SEINE_OBEY_AUDIT /* asked for and not obeyed: records say what it would refuse */
} seine_obey;

typedef enum seine_sitemaps {
    SEINE_SITEMAPS_AUTO, /* those robots.txt names, and /sitemap.xml; besides links */
    SEINE_SITEMAPS_ONLY, /* links of pages are not followed */
    SEINE_SITEMAPS_OFF
} seine_sitemaps;

typedef struct seine_crawl_opts {
    size_t size;                /* of this struct: SEINE_CRAWL_OPTS sets it */
    uint32_t depth;             /* 5 links from a given URL; UINT32_MAX: any number */
    seine_scope scope;          /* HOST */
    const char *const *domains; /* further hosts in scope, "*.e.example"; NULL ends */
    seine_sitemaps sitemaps;    /* AUTO */
    bool nofollow;              /* true: rel, meta and header nofollow are obeyed */
    bool skips;              /* true: refused URLs have records; false: offsite ones and
                                other schemes are not even remembered */
    uint32_t pattern_budget; /* 1,000 pages of one path pattern of a host; further ones
                                are refused while the last 200 repeat; 0: off */
    uint32_t max_subdomains; /* 256 hosts of a domain beyond given ones; 0: off */
    uint64_t max_per_host;   /* pages; 0: off */
    uint32_t max_links;      /* 50,000 of a page, and URLs of a sitemap; 0: likewise */
    const char *spill;       /* directory; NULL: /tmp */
    uint32_t max_sitemaps;   /* 10,000 files in all; 0: off */
    uint64_t max_sitemap_bytes; /* 4 GiB of them in all, decoded; 0: off */
} seine_crawl_opts;

#define SEINE_CRAWL_OPTS seine_crawl_defaults()

SEINE_BEGIN

/* The figures in the comments above. */
seine_crawl_opts seine_crawl_defaults(void);

const char *seine_scope_name(seine_scope s); /* "host" */

SEINE_END

#endif
