/* SPDX-License-Identifier: Apache-2.0 */
/* The graph: hosts and their rules drawn from the seed, and the table of URLs. What a
 * page looks like is in site_text.c. */
#include "site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "seine/time.h"
#include "seine/url.h"

uint64_t
site_roll(const site *s, uint64_t a, uint64_t b, uint64_t what, uint64_t below)
{
    uint64_t x = s->seed ^ a * UINT64_C(0x9e3779b97f4a7c15) ^
                 b * UINT64_C(0xd1342543de82ef95) ^ what * UINT64_C(0xff51afd7ed558ccd);

    for (int i = 0; i < 2; i++) {
        x = (x ^ x >> 31) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 29;
    }
    return below ? x % below : 0;
}

/* Drawing. */

static bool
chance(sn_rng *r, uint64_t percent)
{
    return sn_rng_below(r, 100) < percent;
}

static void
draw_rules(sn_rng *r, site_host *h)
{
    static const site_rule all[] = {
        {false, "/a/"},
        {false, "/cal/"},
        {false, "/*.pdf$"},
        {false, "/go/"},
        {true, "/a/p1"},
        {false, "/*?"},
        {false, "/a/b/"},
        {false, "/s/"},
        {true, "/a/b/*.html$"},
        {false, "/b/p*2"},
        {false, "/~"},
        {false, "/spiral/x/y/"},
        {false, "/"},
        {true, "/p"},
        {false, ""},
        {false, "/sitemap.xml"},
    };

    h->n_rules = 1 + (uint32_t)sn_rng_below(r, 4);
    for (uint32_t i = 0; i < h->n_rules; i++)
        h->rules[i] = all[sn_rng_below(r, chance(r, 80) ? 12 : 16)];
    h->names_agent = chance(r, 30);
    if (chance(r, 25))
        h->delay_ms = (int64_t)sn_rng_below(r, chance(r, 10) ? 200000 : 8000);
}

static void
draw_host(site *s, sn_rng *r, uint32_t i)
{
    site_host *h = &s->hosts[i];
    static const site_robots bad[] = {
        ROBOTS_LATE,   ROBOTS_LATE, ROBOTS_BROKEN, ROBOTS_SILENT,    ROBOTS_MOVED,
        ROBOTS_CIRCLE, ROBOTS_HUGE, ROBOTS_HTML,   ROBOTS_FORBIDDEN, ROBOTS_MOVED};

    h->domain = i % s->n_domains;
    snprintf(h->name, sizeof h->name, "h%u.d%u.sim%s", i, h->domain,
             chance(r, 10) ? ":8080" : "");
    h->delay_ms = -1;
    h->robots = chance(r, 40)   ? ROBOTS_ABSENT
                : chance(r, 60) ? ROBOTS_RULES
                                : bad[sn_rng_below(r, sizeof bad / sizeof *bad)];
    h->late = 1 + (uint32_t)sn_rng_below(r, 4);
    draw_rules(r, h);
    h->has_map = chance(r, 40);
    h->map_named = chance(r, 40);
    h->map_gz = chance(r, 20);
    h->map_index = chance(r, 25);
    h->map_broken = chance(r, 12);
    h->cal = chance(r, 15);
    h->session = chance(r, 10);
    h->spiral = chance(r, 15);
}

static void
draw_crawl(site *s, sn_rng *r)
{
    seine_crawl_opts *c = &s->crawl;
    static const char *const parts[] = {"/a/", "/b/",  "p1",   "x=1",
                                        "/s/", "/go/", "/cal/"};

    *c = seine_crawl_defaults();
    c->depth = chance(r, 40) ? UINT32_MAX : (uint32_t)sn_rng_below(r, 7);
    c->scope = chance(r, 35)   ? SEINE_SCOPE_HOST
               : chance(r, 50) ? SEINE_SCOPE_DOMAIN
               : chance(r, 40) ? SEINE_SCOPE_PREFIX
                               : SEINE_SCOPE_ANY;
    c->sitemaps = chance(r, 60)   ? SEINE_SITEMAPS_AUTO
                  : chance(r, 20) ? SEINE_SITEMAPS_ONLY
                                  : SEINE_SITEMAPS_OFF;
    c->nofollow = chance(r, 85);
    c->skips = chance(r, 85);
    c->pattern_budget = 3 + (uint32_t)sn_rng_below(r, chance(r, 50) ? 20 : 400);
    if (chance(r, 10))
        c->max_subdomains = 1 + (uint32_t)sn_rng_below(r, 5);
    if (chance(r, 10))
        c->max_per_host = 1 + sn_rng_below(r, 30);
    if (chance(r, 15)) {
        s->domains[0] = chance(r, 50) ? "*.d1.sim" : "h2.d0.sim";
        c->domains = s->domains;
    }
    if (chance(r, 15))
        s->exclude[0] = parts[sn_rng_below(r, 7)];
    if (s->exclude[0] && chance(r, 30))
        s->exclude[1] = parts[sn_rng_below(r, 7)];
    if (chance(r, 10))
        s->include[0] = chance(r, 50) ? "sim/" : parts[sn_rng_below(r, 4)];
}

static bool
is_excluded(const site *s, const char *url)
{
    return (s->exclude[0] && strstr(url, s->exclude[0])) ||
           (s->exclude[1] && strstr(url, s->exclude[1]));
}

static void
draw_seeds(site *s, sn_rng *r)
{
    char url[200];
    uint32_t n = 1 + (uint32_t)sn_rng_below(r, chance(r, 60) ? 1 : 4);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t page = i == 0 ? 0 : (uint32_t)sn_rng_below(r, s->n_pages);
        int len;
        if (chance(r, 8))
            len = snprintf(url, sizeof url, "http://%s/go/%u",
                           s->hosts[page % s->n_hosts].name, page);
        else
            len = site_page_url(s, page, url, sizeof url);
        uint32_t node = site_node_of(s, (sn_str){url, (size_t)len});
        s->nodes[node].given = true;
        if (!is_excluded(s, s->nodes[node].url)) /* who is refused names nobody */
            s->hosts[s->nodes[node].host].is_given = true;
        s->seeds[s->n_seeds++] = node;
    }
}

site *
site_new(uint64_t seed, uint32_t max_hosts, uint32_t max_pages)
{
    site *s = calloc(1, sizeof *s);
    sn_rng r = sn_rng_seed(seed ^ UINT64_C(0xc4a31));

    s->seed = seed;
    s->answered = SITE_NONE;
    s->n_hosts =
        1 + (uint32_t)(chance(&r, 35) ? 0 : sn_rng_below(&r, chance(&r, 20) ? 60 : 12));
    s->n_pages = 1 + (uint32_t)sn_rng_below(&r, chance(&r, 6)    ? 2000
                                                : chance(&r, 30) ? 200
                                                                 : 40);
    s->n_hosts = s->n_hosts < max_hosts ? s->n_hosts : max_hosts;
    s->n_pages = s->n_pages < max_pages ? s->n_pages : max_pages;
    s->n_domains = 1 + (uint32_t)sn_rng_below(&r, 8);
    if (s->n_domains > s->n_hosts)
        s->n_domains = s->n_hosts;
    s->hosts = calloc(s->n_hosts, sizeof *s->hosts);
    s->n_buckets = 4096;
    s->buckets = malloc(s->n_buckets * sizeof *s->buckets);
    memset(s->buckets, 0xff, s->n_buckets * sizeof *s->buckets);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        draw_host(s, &r, i);
    draw_crawl(s, &r);
    draw_seeds(s, &r);
    return s;
}

void
site_free(site *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        free(s->nodes[i].url);
    free(s->nodes);
    free(s->buckets);
    free(s->hosts);
    free(s->answer.body);
    free(s->answer.links);
    free(s);
}

/* The table of URLs. */

static bool
cuts(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static uint32_t
digits(const char **at)
{
    uint32_t n = 0;

    for (; sn_is_digit(**at) && n < 100000000; ++*at)
        n = n * 10 + (uint32_t)(**at - '0');
    return n;
}

static bool
is_page(const site *s, const site_node *node, uint32_t n)
{
    char url[200];

    return n < s->n_pages && site_page_url(s, n, url, sizeof url) > 0 &&
           strcmp(url, node->url) == 0;
}

/* Which of the things of site.h it is. */
static void
classify(const site *s, site_node *node)
{
    const char *at = node->url + node->path, *mark;

    node->kind = SITE_GONE;
    if (cuts(&at, "/go/")) {
        node->n = digits(&at);
        node->kind = *at ? SITE_GONE : SITE_GO;
    } else if (cuts(&at, "/long/")) {
        node->n = digits(&at);
        node->kind = *at || node->n > 20 ? SITE_GONE : SITE_LONG;
    } else if (cuts(&at, "/file/")) {
        node->kind = SITE_FILE;
    } else if (cuts(&at, "/cal/")) {
        node->kind = SITE_CAL;
        node->n = digits(&at) * 12;
        at += *at == '/';
        node->n += digits(&at) - 1;
    } else if (cuts(&at, "/s/")) {
        node->n = digits(&at);
        node->kind = SITE_SESSION;
    } else if (cuts(&at, "/spiral/")) {
        node->kind = SITE_SPIRAL;
    } else if (cuts(&at, "/never/")) {
        node->kind = SITE_NEVER;
    } else if (strcmp(at, "/robots.txt") == 0) {
        node->kind = SITE_ROBOTS;
        node->n = node->host;
    } else if (cuts(&at, "/moved-robots/")) { /* of which host, which hop */
        node->kind = SITE_ROBOTS;
        node->n = digits(&at);
        if (node->n >= s->n_hosts)
            node->kind = SITE_GONE;
    } else if (cuts(&at, "/sitemap")) {
        node->kind = SITE_MAP;
        node->n = digits(&at); /* 0: the first; others are those an index names */
    } else {
        for (mark = at; mark; mark = strchr(mark + 1, '/')) {
            const char *number = mark + 1 + (mark[1] == '~');
            if (*number++ != 'p' || !sn_is_digit(*number))
                continue;
            node->n = digits(&number);
            if (is_page(s, node, node->n))
                node->kind = SITE_PAGE;
        }
    }
}

/* "http://h3.d1.sim:8080/…": its host, if it is one. */
static uint32_t
host_of(const site *s, const char *url, uint32_t *out_path)
{
    const char *at = url;

    *out_path = 0;
    if (!cuts(&at, "http://h"))
        return SITE_NONE;
    uint32_t n = digits(&at);
    const char *path = strchr(at, '/');
    if (n >= s->n_hosts || !path ||
        strlen(s->hosts[n].name) != (size_t)(path - url) - 7 ||
        memcmp(s->hosts[n].name, url + 7, (size_t)(path - url) - 7) != 0)
        return SITE_NONE;
    *out_path = (uint32_t)(path - url);
    return n;
}

/* What two spellings of one URL have in common, as far as this web writes them. */
static size_t
normal(sn_str url, char *to)
{
    size_t n = 0;

    for (size_t i = 0; i < url.len && url.ptr[i] != '#'; i++) {
        if (url.ptr[i] == '%' && i + 2 < url.len && url.ptr[i + 1] == '7' &&
            sn_lower(url.ptr[i + 2]) == 'e') {
            to[n++] = '~';
            i += 2;
        } else {
            to[n++] = url.ptr[i];
        }
    }
    to[n] = '\0';
    return n;
}

static uint64_t
id_of(const char *url, size_t len)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)url[i]) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

static uint32_t
look(const site *s, const char *url, size_t len, uint32_t bucket)
{
    for (uint32_t i = s->buckets[bucket]; i != SITE_NONE; i = s->nodes[i].next)
        if (s->nodes[i].len == len && memcmp(s->nodes[i].url, url, len) == 0)
            return i;
    return SITE_NONE;
}

uint32_t
site_find(const site *s, sn_str url)
{
    char *text = malloc(url.len + 1);
    size_t len = normal(url, text);
    uint32_t found = look(s, text, len, (uint32_t)(id_of(text, len) % s->n_buckets));

    free(text);
    return found;
}

uint32_t
site_node_of(site *s, sn_str url)
{
    char *text = malloc(url.len + 1);
    size_t len = normal(url, text);
    uint64_t id = id_of(text, len);
    uint32_t bucket = (uint32_t)(id % s->n_buckets);
    uint32_t found = look(s, text, len, bucket);

    if (found != SITE_NONE) {
        free(text);
        return found;
    }
    if (s->n == s->room) {
        s->room = s->room ? s->room * 2 : 64;
        s->nodes = realloc(s->nodes, s->room * sizeof *s->nodes);
    }
    site_node *node = &s->nodes[s->n];
    *node = (site_node){.url = text,
                        .id = id,
                        .len = (uint32_t)len,
                        .near = UINT32_MAX,
                        .near_at_all = UINT32_MAX,
                        .kind = SITE_JUNK};
    node->host = len > SEINE_URL_MAX ? SITE_NONE : host_of(s, text, &node->path);
    if (node->host != SITE_NONE)
        classify(s, node);
    node->next = s->buckets[bucket];
    s->buckets[bucket] = s->n;
    return s->n++;
}

/* Robots. */

/* Does the pattern match from the begin of the text? The plain reading of RFC 9309. */
static bool
matches(const char *pattern, const char *text)
{
    for (; *pattern; pattern++, text++) {
        if (pattern[0] == '$' && pattern[1] == '\0')
            return *text == '\0';
        if (*pattern == '*') {
            for (;; text++) {
                if (matches(pattern + 1, text))
                    return true;
                if (*text == '\0')
                    return false;
            }
        }
        if (*pattern != *text)
            return false;
    }
    return true;
}

bool
site_has_robots(const site_host *h)
{
    return h->robots == ROBOTS_RULES || h->robots == ROBOTS_LATE ||
           h->robots == ROBOTS_MOVED || h->robots == ROBOTS_HUGE;
}

bool
site_is_allowed(const site *s, uint32_t i)
{
    const site_node *node = &s->nodes[i];
    const site_host *h = &s->hosts[node->host];
    size_t best = 0;
    bool allow = true;

    if (!site_has_robots(h))
        return true;
    for (uint32_t k = 0; k < h->n_rules; k++) {
        size_t len = strlen(h->rules[k].pattern);

        if (len == 0 || len < best ||
            !matches(h->rules[k].pattern, node->url + node->path))
            continue;
        allow = h->rules[k].allow || (len == best && allow);
        best = len;
    }
    return allow;
}

void
site_print(const site *s)
{
    static const char *const states[] = {"absent", "forbidden", "rules", "late",
                                         "broken", "silent",    "moved", "circle",
                                         "huge",   "html"};

    printf("%u hosts, %u pages, scope %s, depth %d, sitemaps %d, nofollow %d, skips %d, "
           "pattern budget %u, subdomains %u, per host %llu, domains %s, include %s, "
           "exclude %s %s\n",
           s->n_hosts, s->n_pages, seine_scope_name(s->crawl.scope), (int)s->crawl.depth,
           (int)s->crawl.sitemaps, s->crawl.nofollow, s->crawl.skips,
           s->crawl.pattern_budget, s->crawl.max_subdomains,
           (unsigned long long)s->crawl.max_per_host, s->domains[0] ? s->domains[0] : "-",
           s->include[0] ? s->include[0] : "-", s->exclude[0] ? s->exclude[0] : "-",
           s->exclude[1] ? s->exclude[1] : "");
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const site_host *h = &s->hosts[i];
        printf("  %s%s: robots %s", h->name, h->is_given ? " given" : "",
               states[h->robots]);
        for (uint32_t k = 0; k < h->n_rules && site_has_robots(h); k++)
            printf(" %c%s", h->rules[k].allow ? '+' : '-', h->rules[k].pattern);
        printf(" delay %lld%s%s%s%s%s\n", (long long)h->delay_ms,
               h->has_map ? " map" : "", h->map_named ? " named" : "",
               h->map_gz ? " gz" : "", h->map_index ? " index" : "",
               h->map_broken ? " broken" : "");
    }
}
