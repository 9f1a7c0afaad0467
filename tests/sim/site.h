/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - a web made of numbers: hosts, pages, what stands on them and where it leads.
 *
 * Everything is a hash of the seed and the URL: asked again, a page reads the same. What
 * a URL answers and where its links lead is known here without reading a byte of what is
 * served, so that the oracle (oracle.h) can judge a crawl without any code of the engine.
 *
 *     host 3 of domain 1     h3.d1.sim, some at port 8080
 *     page 12                its path depends on the seed: /a/p12.html, /~p12, /b/p12?x=1
 *     /go/5                  a redirect to a page, to another, to itself, out of scope
 *     /long/1                a redirect to /long/2, to /long/3 … to /long/20
 *     /cal/2026/1            a calendar without end
 *     /s/4?sid=1f            every look at it is another one
 *     /spiral/x/y/           a relative link that goes round
 *     /file/7.pdf            no HTML
 *     /gone/9                404, as is everything that is not known
 *     /never/1               stands in comments, scripts and images: no link at all
 *
 * A node is a URL that was mentioned, in its normal form, and what became of it.
 */
#ifndef SIM_SITE_H
#define SIM_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "seine/fetch.h"

#define SITE_NONE UINT32_MAX

typedef enum site_kind {
    SITE_PAGE,
    SITE_GO,
    SITE_LONG,
    SITE_FILE,
    SITE_GONE,
    SITE_CAL,
    SITE_SESSION,
    SITE_SPIRAL,
    SITE_NEVER,
    SITE_ROBOTS,
    SITE_MAP,
    SITE_JUNK /* no URL of ours: mailto:, another port, what no parser reads */
} site_kind;

typedef enum site_robots {
    ROBOTS_ABSENT,    /* 404 */
    ROBOTS_FORBIDDEN, /* 403: as if it were absent */
    ROBOTS_RULES,
    ROBOTS_LATE,   /* 5xx, 429 or a reset at first */
    ROBOTS_BROKEN, /* 5xx for ever */
    ROBOTS_SILENT, /* no answer, ever */
    ROBOTS_MOVED,  /* another host has it */
    ROBOTS_CIRCLE, /* redirects without end: as if it were absent */
    ROBOTS_HUGE,   /* the rules that count, 512 KiB of nothing, and some that do not */
    ROBOTS_HTML    /* a page that has no rules */
} site_robots;

typedef struct site_rule {
    bool allow;
    const char *pattern;
} site_rule;

typedef struct site_host {
    char name[32]; /* "h3.d1.sim", "h4.d0.sim:8080" */
    uint32_t domain;
    site_robots robots;
    uint32_t late; /* so many answers of robots.txt are bad */
    site_rule rules[4];
    uint32_t n_rules;
    int64_t delay_ms; /* Crawl-delay; -1: none */
    bool names_agent; /* the group is for seine; that for all says the contrary */
    bool has_map;     /* /sitemap.xml, or what robots.txt names */
    bool map_named, map_gz, map_index, map_broken;
    bool cal, session, spiral; /* traps that its pages lead to */
    bool is_given;
    /* the witness's */
    uint32_t robots_asked; /* answers of robots.txt begun */
    uint32_t robots_since; /* those since the last that was good … */
    seine_time robots_at;  /* … the first of them */
    bool decided, sure, nowhere;
    seine_time decided_at;
    seine_time last, seen; /* start of any request, and when it got there */
    seine_time seen_left;  /* start of the one that got there */
    bool asked;
} site_host;

typedef struct site_node {
    char *url;   /* as its key should read */
    uint64_t id; /* what the dice know it by */
    uint32_t next, len;
    uint32_t host; /* SITE_NONE: of no host of ours */
    uint32_t path; /* where "/path?query" begins */
    uint32_t n;    /* its number */
    uint8_t kind;
    uint32_t skip; /* of junk: the reasons that are fine, a bit each */
    /* the witness's */
    bool given, found, followed; /* a link led here; one without nofollow */
    bool whole;                  /* its last answer was whole and accepted */
    bool flying, counted;
    uint8_t zone; /* of the highest peer that named it */
    uint16_t status;
    uint32_t asked;
    seine_time left; /* start of its newest request */
    /* of its record */
    uint8_t records, type, fate, reason;
    seine_err extract;
    uint32_t depth, parent;
    /* the oracle's */
    uint32_t near;        /* the shallowest depth at which a page led here … */
    uint32_t near_at_all; /* … counting links that are not to be followed */
    uint32_t level;       /* links from a given URL, as the crow flies */
    bool need, may;       /* has to have a record, is allowed to */
} site_node;

typedef struct site_link {
    uint32_t node;
    bool nofollow;
    bool moved; /* a redirect */
    bool is_map;
} site_link;

/* What a URL answers, and where that leads. */
typedef struct site_answer {
    uint16_t status;
    const char *type;
    const char *x_robots;
    char location[160];
    char *body;
    size_t len, room;
    site_link *links;
    uint32_t n_links, links_room;
} site_answer;

typedef struct site {
    uint64_t seed;
    uint32_t n_hosts, n_domains, n_pages;
    site_host *hosts;
    site_node *nodes;
    uint32_t n, room;
    uint32_t *buckets, n_buckets;
    uint32_t seeds[8], n_seeds;
    seine_crawl_opts crawl;
    const char *domains[2];
    const char *include[2], *exclude[3];
    site_answer answer; /* used again and again … */
    uint32_t answered;  /* … of this node */
} site;

site *site_new(uint64_t seed, uint32_t max_hosts, uint32_t max_pages);
void site_free(site *s);

/* Dice that depend on the seed and three numbers: 0 … below - 1. */
uint64_t site_roll(const site *s, uint64_t a, uint64_t b, uint64_t what, uint64_t below);

/* The node of a URL in any form an engine may ask for it; made if it is new. */
uint32_t site_node_of(site *s, sn_str url);
/* SITE_NONE: nobody has mentioned it. */
uint32_t site_find(const site *s, sn_str url);

/* The URL of a page, normal form; its length. */
int site_page_url(const site *s, uint32_t page, char *buf, size_t cap);

/* The answer of a node that is asked and not failed; valid until the next call. */
const site_answer *site_answer_of(site *s, uint32_t i);

/* May seine ask for it, by the rules its host has? */
bool site_is_allowed(const site *s, uint32_t node);

/* What was drawn, for people. */
void site_print(const site *s);

/* Is what stands in its robots.txt ever to be known? */
bool site_has_robots(const site_host *h);

#endif
