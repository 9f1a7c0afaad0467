/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - a generated site of any size, as a function of a seed and a page number.
 *
 * `1:1000:fan=8:robots=5` is seed 1, 1,000 pages, each with up to 8 children. Page n has
 * the children fan·n + 1 … fan·n + fan, so every page is reachable from page 0. A page
 * follows from (seed, n) alone, so a million pages need no memory. Pages with a special
 * fate are leaves of that tree, so that none hides another: duplicates, missing ones
 * (404), redirects, those that robots.txt disallows, and all on a dead host. Percentages
 * are of all pages, as far as there are leaves.
 *
 *     snc_site site;
 *     const char *why;
 *     if (!snc_site_parse(SN_STR("1:1000:robots=5"), &site, &why))
 *         return complain(why);
 *     snc_page page = snc_site_page(&site, 17);
 *
 * With more than one host each page lives on one of them: 127.1.0.1, 127.1.0.2 …, or
 * h0.test, h1.test … when a client asks by such a name. The last hosts are dead: their
 * links have a port that refuses, and one leaf in a hundred lives on each of them.
 *
 * Time    plays no part.
 * Memory  a site is 56 bytes of numbers.
 * Threads any thread.
 */
#ifndef SNC_SITE_H
#define SNC_SITE_H

#include "base/buf.h"
#include "base/str.h"

#define SNC_SITE_PAGES ((uint64_t)1 << 40)
#define SNC_SITE_FAILS 6 /* a flaky page fails at most so many times */

typedef struct snc_site {
    uint64_t seed, pages;
    uint32_t fan, hosts, dead;
    uint32_t dup, broken, redir, robots; /* percent of the pages, all of them leaves */
    uint32_t fail;                       /* percent that fail once or twice first */
    uint32_t flaky;                      /* percent of the first requests that fail */
    bool sitemap, trap;
} snc_site;

typedef enum snc_fate {
    SNC_FATE_PAGE,
    SNC_FATE_DUPLICATE,
    SNC_FATE_BROKEN,
    SNC_FATE_REDIRECT,
    SNC_FATE_DISALLOWED,
    SNC_FATE_DEAD
} snc_fate;

typedef struct snc_page {
    uint64_t n;
    snc_fate fate;
    uint32_t host;
    uint32_t fails; /* so many requests fail before one succeeds, by `fail` */
    uint64_t like;  /* the page it duplicates or redirects to */
} snc_page;

/* "demo" is an example site; a leading "site:" is optional. False: *out_why (static) says
 * what is wrong. */
bool snc_site_parse(sn_str spec, snc_site *out_ch, const char **out_why);

/* Writes the canonical spec of the site. */
void snc_site_spell(const snc_site *s, sn_buf *out);

/* `n` is below the number of pages. */
snc_page snc_site_page(const snc_site *s, uint64_t n);
const char *snc_fate_name(snc_fate fate);
unsigned snc_fate_status(snc_fate fate); /* 0: no response at all */

/* The words that the n-th request for a page gets instead of the page; empty: none. */
sn_str snc_site_fault(const snc_site *s, const snc_page *page, uint64_t hit);

/* How the hosts of a site are written. */
typedef struct snc_site_base {
    sn_str origin; /* "http://127.0.0.1:8080", for a site with one host */
    sn_str prefix; /* "/site:1:1000", or empty: at the root */
    bool names;    /* h0.test instead of 127.1.0.1 */
    bool tls;      /* https:// instead of http:// */
    uint16_t port, dead_port;
} snc_site_base;

/* The number of the host with that name; `s->hosts` when there is none. */
uint32_t snc_site_host(const snc_site *s, sn_str name);

/* 127.1.0.1 for host 0. */
uint32_t snc_site_address(uint32_t host);

/* "http://127.1.0.1:8080/site:1:9:hosts=2/p/3". */
void snc_site_url(const snc_site *s, const snc_site_base *b, const snc_page *page,
                  sn_buf *out);
void snc_site_origin(const snc_site *s, const snc_site_base *b, uint32_t host,
                     sn_buf *out);

/* Finds the page of "p/17" or "x/17", if it has this path; false for any other text. */
bool snc_site_find(const snc_site *s, sn_str rest, snc_page *out_page);

#endif
