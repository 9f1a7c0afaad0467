/* SPDX-License-Identifier: Apache-2.0 */
/* What is served: pages with links in every spelling, redirects, robots.txt, sitemaps.
 * The list of where it leads is made together with the text, never read out of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site.h"

enum { /* purposes of dice */
       D_PATH = 100,
       D_LINKS,
       D_KIND,
       D_WHICH,
       D_STYLE,
       D_FORM,
       D_REL,
       D_BASE,
       D_META,
       D_GO,
       D_TYPE,
       D_HEAD,
       D_MAP
};

static void
add(site_answer *a, const char *bytes, size_t n)
{
    if (a->len + n + 1 > a->room) {
        a->room = (a->len + n + 1) * 2;
        a->body = realloc(a->body, a->room);
    }
    memcpy(a->body + a->len, bytes, n);
    a->len += n;
    a->body[a->len] = '\0';
}

__attribute__((format(printf, 2, 3))) static void
say(site_answer *a, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(a, text, (size_t)n);
}

static void
leads(site_answer *a, site_link link)
{
    if (a->n_links == a->links_room) {
        a->links_room = a->links_room ? a->links_room * 2 : 32;
        a->links = realloc(a->links, a->links_room * sizeof *a->links);
    }
    a->links[a->n_links++] = link;
}

__attribute__((format(printf, 2, 3))) static uint32_t
node_at(site *s, const char *fmt, ...)
{
    char text[4096];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return site_node_of(s, (sn_str){text, (size_t)n});
}

int
site_page_url(const site *s, uint32_t page, char *buf, size_t cap)
{
    static const char *const forms[] = {"/p%u.html",     "/a/p%u.html",          "/a/p%u",
                                        "/a/b/p%u.html", "/b/p%u?x=1",           "/~p%u",
                                        "/b/p%u/",       "/Dir/p%u.html?x=1&y=2"};
    const char *host = s->hosts[page % s->n_hosts].name;
    char path[64];

    if (page == 0) /* the home page */
        return snprintf(buf, cap, "http://%s%s", host,
                        site_roll(s, 0, 0, D_PATH, 3) ? "/p0" : "/a/p0.html");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof path, forms[site_roll(s, page, 0, D_PATH, 8)], page);
#pragma GCC diagnostic pop
    return snprintf(buf, cap, "http://%s%s", host, path);
}

static uint32_t
page_node(site *s, uint64_t page)
{
    char url[200];
    int n = site_page_url(s, (uint32_t)(page % s->n_pages), url, sizeof url);

    return site_node_of(s, (sn_str){url, (size_t)n});
}

/* Links. */

/* Against what a page's references are read: a host and a directory. */
typedef struct base {
    uint32_t host;
    char dir[4096];
} base;

static base
base_of(const site *s, uint32_t i)
{
    const site_node *node = &s->nodes[i];
    base b = {.host = node->host};
    const char *path = node->url + node->path;
    size_t n = strcspn(path, "?");

    while (path[n - 1] != '/')
        n--;
    if (n >= sizeof b.dir)
        n = 0;
    memcpy(b.dir, path, n);
    return b;
}

/* "../../b/p7": up to the root and down again, or what is left below the directory. */
static int
relative(const base *b, const char *path, char *to, size_t cap)
{
    size_t dir = strlen(b->dir);
    int n = 0;

    if (strncmp(path, b->dir, dir) == 0 && path[dir] && path[dir] != '?' &&
        path[dir] != '/')
        return snprintf(to, cap, "%s", path + dir);
    for (size_t i = 1; i < dir; i++)
        if (b->dir[i] == '/')
            n += snprintf(to + n, cap - (size_t)n, "../");
    return n + snprintf(to + n, cap - (size_t)n, n ? "%s" : "./%s", path + 1);
}

static int
in_capitals(const char *host, const char *path, char *to, size_t cap)
{
    int n = snprintf(to, cap, "HTTP://%s%s", host, strchr(host, ':') ? "" : ":80");

    for (int i = 7; i < n; i++)
        if (to[i] >= 'a' && to[i] <= 'z')
            to[i] = (char)(to[i] - 32);
    return n + snprintf(to + n, cap - (size_t)n, "%s", path);
}

/* One of the ways to write it. */
static int
refer(const site *s, const base *b, uint32_t i, uint64_t style, char *to, size_t cap)
{
    const site_node *node = &s->nodes[i];

    if (node->host == SITE_NONE)
        return snprintf(to, cap, "%s", node->url);
    const char *host = s->hosts[node->host].name, *path = node->url + node->path;
    bool here = node->host == b->host;

    switch (style) {
    case 0:
        return snprintf(to, cap, "//%s%s", host, path);
    case 1:
        return in_capitals(host, path, to, cap);
    case 2:
        return snprintf(to, cap, " \t%s#part-%u ", node->url, i);
    case 3:
        return snprintf(to, cap, "http://%s/x/..%s#", host, path);
    case 4:
        if (path[1] == '~')
            return snprintf(to, cap, "http://%s/%%7%c%s", host, i & 1 ? 'e' : 'E',
                            path + 2);
        break;
    case 5:
    case 6:
    case 7:
        if (here)
            return snprintf(to, cap, "%s%s", path, style == 7 ? "#top" : "");
        break;
    case 8:
    case 9:
    case 10:
        if (here) {
            int n = relative(b, path, to, cap);
            return n + snprintf(to + n, cap - (size_t)n, "%s", style == 8 ? "#a?b" : "");
        }
        break;
    case 12:
        return snprintf(to, cap, "http://user:word@%s%s", host, path);
    case 11:
        if (here)
            return snprintf(to, cap, "/./%.1s\n%s", path + 1, path[1] ? path + 2 : "");
        break;
    default:
        break;
    }
    return snprintf(to, cap, "%s", node->url);
}

/* As the value of an attribute. */
static void
say_value(site_answer *a, const char *ref, uint64_t form)
{
    const char *quote = form % 3 == 0 ? "'" : "\"";

    if (form % 7 == 0 && !strpbrk(ref, " \t\n\"'<>=`"))
        quote = "";
    add(a, quote, strlen(quote));
    for (; *ref; ref++) {
        if (*ref == '&' && form % 2 == 0)
            add(a, "&amp;", 5);
        else if (*ref == 'p' && form % 11 == 0)
            add(a, "&#x70;", 6);
        else
            add(a, ref, 1);
    }
    add(a, quote, strlen(quote));
}

static void
say_link(site *s, site_answer *a, const base *b, uint32_t from, site_link link,
         uint64_t k)
{
    uint64_t form = site_roll(s, s->nodes[from].id, k, D_FORM, 1000);
    char ref[10000];

    refer(s, b, link.node, site_roll(s, s->nodes[from].id, k, D_STYLE, 16), ref,
          sizeof ref);
    const char *rel =
        link.nofollow ? form & 1 ? " rel=nofollow" : " REL='ext NoFollow'" : "";
    if (form % 19 == 0 && !link.nofollow && s->nodes[link.node].host != SITE_NONE) {
        say(a, "<meta http-equiv=Refresh content=\"7;URL='%s'\">\n",
            s->nodes[link.node].url);
    } else if (form % 23 == 0 && !link.nofollow) {
        say(a, "<link rel=\"next\" href=");
        say_value(a, ref, form);
        say(a, ">\n");
    } else if (form % 29 == 0 && !link.nofollow) {
        say(a, "<iframe src=");
        say_value(a, ref, form);
        say(a, "></iframe>\n");
    } else if (form % 31 == 0) {
        say(a, "<map><area%s href=", rel);
        say_value(a, ref, form);
        say(a, "></map>\n");
    } else {
        say(a, form % 5 == 0 ? "<p><A%s\n  HREF=" : "<p><a%s class=x href=", rel);
        say_value(a, ref, form);
        say(a, ">link %llu</a>\n", (unsigned long long)k);
    }
    leads(a, link);
}

#define WHY(reason) (1u << SEINE_SKIP_##reason)

/* Longer than any URL may be. */
static uint32_t
too_long(site *s, unsigned n)
{
    char text[9000];
    int len = snprintf(text, sizeof text, "http://h0.d0.sim/%02u", n);

    memset(text + len, 'z', sizeof text - (size_t)len);
    return site_node_of(s, (sn_str){text, sizeof text - 1});
}

static uint32_t
junk(site *s, uint32_t from, uint64_t k)
{
    static const struct {
        const char *text;
        uint32_t why;
    } all[] = {{"mailto:a%u@d0.sim", WHY(SCHEME)},
               {"javascript:void(%u)", WHY(SCHEME)},
               {"tel:+49%u", WHY(SCHEME)},
               {"ftp://h0.d0.sim/%u", WHY(SCHEME)},
               {"http://a b%u/", WHY(BAD_URL)},
               {"http://h0.d0.sim:25/%u", WHY(PORT) | WHY(OFFSITE) | WHY(PATTERN)},
               {"", WHY(TOO_LONG)},
               {"http://elsewhere.example/%u", WHY(OFFSITE)}};
    uint64_t which = site_roll(s, s->nodes[from].id, k, D_WHICH,
                               s->crawl.scope == SEINE_SCOPE_ANY ? 7 : 8);
    unsigned number = (unsigned)site_roll(s, s->nodes[from].id, k, D_GO, 20);
    char text[100];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int n = snprintf(text, sizeof text, all[which].text, number);
#pragma GCC diagnostic pop
    uint32_t node =
        n > 0 ? site_node_of(s, (sn_str){text, (size_t)n}) : too_long(s, number % 3);
    s->nodes[node].skip = all[which].why;
    return node;
}

/* Where link k of a page leads. */
static uint32_t
draw_target(site *s, uint32_t from, uint64_t k)
{
    uint64_t dice = site_roll(s, s->nodes[from].id, k, D_KIND, 100);
    uint32_t at = s->nodes[from].host;
    uint64_t which = site_roll(s, s->nodes[from].id, k, D_WHICH, s->n_pages);
    uint32_t there =
        dice % 4 ? at : (uint32_t)site_roll(s, s->nodes[from].id, k, D_GO, s->n_hosts);
    const char *name = s->hosts[there].name;

    if (dice < 55)
        return page_node(s, dice < 30 && s->n_hosts > 1 ? which - which % s->n_hosts + at
                                                        : which);
    if (dice < 64)
        return node_at(s, "http://%s/go/%llu", name, (unsigned long long)which % 20);
    if (dice < 68)
        return node_at(s, "http://%s/file/%llu.pdf", name, (unsigned long long)which);
    if (dice < 72)
        return node_at(s, "http://%s/gone/%llu", name, (unsigned long long)which);
    if (dice < 77)
        return junk(s, from, k);
    if (dice < 81 && s->hosts[there].cal)
        return node_at(s, "http://%s/cal/2026/1", name);
    if (dice < 85 && s->hosts[there].session)
        return node_at(
            s, "http://%s/s/%u?sid=%llx", name, there,
            (unsigned long long)site_roll(s, s->nodes[from].id, k, D_META, 4096));
    if (dice < 88 && s->hosts[there].spiral)
        return node_at(s, "http://%s/spiral/x/", name);
    if (dice < 90)
        return node_at(s, "http://%s/long/1", name);
    return from; /* itself */
}

static void
say_links(site *s, site_answer *a, uint32_t i, const base *b, bool nofollow)
{
    uint32_t n = s->nodes[i].n;
    uint64_t count = site_roll(s, s->nodes[i].id, 0, D_LINKS, 14);

    for (uint64_t k = 0; k < count + 2; k++) {
        /* the first two make a tree of all pages */
        uint64_t child = 2 * (uint64_t)n + 1 + k;
        if (k < 2 && child >= s->n_pages)
            continue;
        site_link link = {.node = k < 2 ? page_node(s, child) : draw_target(s, i, k)};
        link.nofollow = nofollow || site_roll(s, s->nodes[i].id, k, D_REL, 100) < 8;
        if (nofollow) { /* the page says it, not the link */
            uint32_t before = a->n_links;
            link.nofollow = false;
            say_link(s, a, b, i, link, k);
            a->links[before].nofollow = true;
        } else {
            say_link(s, a, b, i, link, k);
            if (k % 5 == 4) /* once more, written otherwise */
                say_link(s, a, b, i, link, k + 1000);
        }
    }
}

static void
give_page(site *s, site_answer *a, uint32_t i)
{
    base b = base_of(s, i);
    uint64_t dice = site_roll(s, s->nodes[i].id, 0, D_META, 100);
    bool header = dice >= 4 && dice < 6, nofollow = dice < 6;

    a->type = site_roll(s, s->nodes[i].id, 0, D_TYPE, 8) ? "text/html; charset=utf-8"
                                                         : "application/xhtml+xml";
    a->x_robots = header ? "nofollow" : NULL;
    say(a, "<!doctype html><html><head><title>node %u</title>\n", i);
    if (site_roll(s, s->nodes[i].id, 0, D_BASE, 10) == 0) {
        b.host = (uint32_t)site_roll(s, s->nodes[i].id, 1, D_BASE, s->n_hosts);
        snprintf(b.dir, sizeof b.dir, "/b/");
        say(a, "<base href=\"http://%s/b/ignored\">\n", s->hosts[b.host].name);
    }
    if (dice < 4)
        say(a, "<meta name=%s content=\"%s\">\n", dice & 1 ? "ROBOTS" : "robots",
            dice & 2 ? "noindex, nofollow" : "none");
    say(a, "</head><body>\n<!-- <a href=\"/never/1\">no</a> -->\n"
           "<script>var x = '<a href=\"/never/2\">no</a>';</script><img src=/never/3>\n");
    say_links(s, a, i, &b, nofollow);
    say(a, "<textarea><a href=/never/4></textarea></body></html>\n");
}

/* Endless ones: each leads to one that nobody has seen, and home. */
static void
give_trap(site *s, site_answer *a, uint32_t i)
{
    const char *name = s->hosts[s->nodes[i].host].name;
    uint32_t n = s->nodes[i].n + 1, next;
    base b = base_of(s, i);

    a->type = "text/html";
    if (s->nodes[i].kind == SITE_CAL)
        next = node_at(s, "http://%s/cal/%u/%u", name, n / 12, n % 12 + 1);
    else if (s->nodes[i].kind == SITE_SESSION)
        next =
            node_at(s, "http://%s/s/%u?sid=%llx", name, n - 1,
                    (unsigned long long)site_roll(s, s->nodes[i].id, 0, D_META, 1 << 30));
    else
        next = node_at(s, "%s%s", s->nodes[i].url,
                       site_roll(s, s->nodes[i].id, 0, D_KIND, 2) ? "y/" : "x/");
    say(a, "<a href=\"%s\">more</a>",
        s->nodes[i].kind == SITE_SPIRAL ? s->nodes[next].url + s->nodes[i].len
                                        : s->nodes[next].url);
    leads(a, (site_link){.node = next});
    say_link(s, a, &b, i, (site_link){.node = page_node(s, 0)}, 0);
}

static void
give_go(site *s, site_answer *a, uint32_t i)
{
    uint32_t n = s->nodes[i].n, host = s->nodes[i].host, to;
    uint64_t dice = site_roll(s, host, n, D_GO, 10);
    static const uint16_t statuses[] = {301, 302, 303, 307, 308};

    a->status = statuses[site_roll(s, s->nodes[i].id, 0, D_HEAD, 5)];
    a->type = "text/html";
    say(a, "<a href=/never/5>moved</a>");
    if (s->nodes[i].kind == SITE_LONG)
        to = node_at(s, "http://%s/long/%u", s->hosts[host].name, n + 1);
    else if (dice < 3)
        to = node_at(s, "http://%s/go/%u", s->hosts[host].name, (n + 7) % 20);
    else if (dice < 4)
        to = i;
    else if (dice < 5)
        to = node_at(s, "http://%s/file/1.pdf", s->hosts[host].name);
    else
        to = page_node(s, site_roll(s, host, n, D_WHICH, s->n_pages));
    base b = base_of(s, i);
    refer(s, &b, to, 8 * site_roll(s, s->nodes[i].id, 1, D_STYLE, 2), a->location,
          sizeof a->location);
    leads(a, (site_link){.node = to, .moved = true});
}

/* robots.txt. */

static void
say_rules(site_answer *a, const site_host *h)
{
    for (uint32_t i = 0; i < h->n_rules; i++)
        say(a, "%s: %s\n", h->rules[i].allow ? "Allow" : "Disallow", h->rules[i].pattern);
    if (h->delay_ms >= 0)
        say(a, "Crawl-delay: %lld.%03lld\n", (long long)h->delay_ms / 1000,
            (long long)h->delay_ms % 1000);
}

static void
give_rules(site *s, site_answer *a, uint32_t host)
{
    const site_host *h = &s->hosts[host];

    a->type = "text/plain";
    if (h->map_named)
        say(a, "Sitemap: http://%s/sitemap-named.xml\n", h->name);
    say(a, "User-agent: other\nDisallow: /\n\nUser-Agent: %s\n",
        h->names_agent ? "Seine" : "*");
    say_rules(a, h);
    if (h->names_agent)
        say(a, "\nUser-agent: *\nDisallow: /\nCrawl-delay: 3000\n");
    if (h->robots == ROBOTS_HUGE) {
        for (int i = 0; i < 9000; i++)
            say(a, "# %060d\n", i);
        say(a, "User-agent: seine\nDisallow: /\n");
    }
}

static void
give_robots(site *s, site_answer *a, uint32_t i)
{
    uint32_t of = s->nodes[i].n;
    const site_host *h = &s->hosts[of];
    bool first = s->nodes[i].url[s->nodes[i].path + 1] == 'r';
    uint32_t there = (of + 1) % s->n_hosts;

    switch (h->robots) {
    case ROBOTS_ABSENT:
    case ROBOTS_FORBIDDEN:
        a->status = h->robots == ROBOTS_ABSENT ? 404 : 403;
        say(a, "User-agent: *\nDisallow: /\n");
        break;
    case ROBOTS_MOVED:
    case ROBOTS_CIRCLE:
        if (first || h->robots == ROBOTS_CIRCLE) {
            const char *hop = strrchr(s->nodes[i].url, '/') + 1;
            unsigned n = first ? 0 : (unsigned)strtoul(hop, NULL, 10) + 1;
            a->status = 302;
            snprintf(a->location, sizeof a->location, "http://%s/moved-robots/%u/%u",
                     s->hosts[h->robots == ROBOTS_MOVED ? there : of].name, of, n);
            break;
        }
        give_rules(s, a, of);
        break;
    case ROBOTS_HTML:
        a->type = "text/html";
        say(a, "<html><body>Disallow nothing</body></html>");
        break;
    default:
        give_rules(s, a, of);
        break;
    }
}

/* Sitemaps. */

static uint32_t
crc32_of(const char *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static char *
put_le(char *to, uint32_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (char)(n >> 8 * i);
    return to;
}

/* gzip, RFC 1952, with one block that is stored as it is. */
static void
pack(site_answer *a)
{
    uint32_t n = (uint32_t)a->len;
    char *packed = malloc(n + 64), *to = packed;

    memcpy(to, "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
    to = put_le(to + 11, n, 2);
    to = put_le(to, ~n, 2);
    memcpy(to, a->body, n);
    to = put_le(to + n, crc32_of(a->body, n), 4);
    to = put_le(to, n, 4);
    free(a->body);
    a->body = packed;
    a->room = n + 64;
    a->len = (size_t)(to - packed);
    a->type = "application/gzip";
}

static void
give_map(site *s, site_answer *a, uint32_t i)
{
    uint32_t host = s->nodes[i].host, n = s->nodes[i].n;
    const site_host *h = &s->hosts[host];
    bool is_index = h->map_index && n == 0;
    uint64_t count = site_roll(s, s->nodes[i].id, 0, D_MAP, 12);

    a->type = "application/xml";
    say(a,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%s xmlns=\"http://www.sitemaps.org/"
        "schemas/sitemap/0.9\">\n",
        is_index ? "sitemapindex" : "urlset");
    for (uint64_t k = 0; k < count; k++) {
        uint32_t node;
        if (is_index)
            node = node_at(s, "http://%s/sitemap%llu.xml", h->name,
                           (unsigned long long)k + 1);
        else
            node = page_node(s, site_roll(s, s->nodes[i].id, k, D_WHICH, s->n_pages));
        say(a, "<%s><loc>", is_index ? "sitemap" : "url");
        for (const char *c = s->nodes[node].url; *c; c++)
            add(a, *c == '&' ? "&amp;" : c, *c == '&' ? 5 : 1);
        say(a, "</loc></%s>\n", is_index ? "sitemap" : "url");
        leads(a, (site_link){.node = node, .is_map = is_index});
    }
    if (h->map_broken)
        say(a, "<url><loc>http://%s/never/6</urls", h->name);
    else
        say(a, "</%s>\n", is_index ? "sitemapindex" : "urlset");
    if (h->map_gz && n != 3 && a->len < 65536)
        pack(a);
}

static bool
has_map(const site *s, uint32_t i)
{
    const site_host *h = &s->hosts[s->nodes[i].host];
    const char *path = s->nodes[i].url + s->nodes[i].path;

    if (strcmp(path, "/sitemap-named.xml") == 0)
        return h->map_named;
    if (strcmp(path, "/sitemap.xml") == 0)
        return h->has_map;
    return s->nodes[i].n > 0 && s->nodes[i].n < 13 && h->map_index;
}

const site_answer *
site_answer_of(site *s, uint32_t i)
{
    site_answer *a = &s->answer;

    if (s->answered == i)
        return a;
    s->answered = i;
    a->status = 200;
    a->type = "text/plain";
    a->x_robots = NULL;
    a->location[0] = '\0';
    a->len = 0;
    a->n_links = 0;
    switch (s->nodes[i].kind) {
    case SITE_PAGE:
        give_page(s, a, i);
        break;
    case SITE_CAL:
    case SITE_SESSION:
    case SITE_SPIRAL:
        give_trap(s, a, i);
        break;
    case SITE_GO:
    case SITE_LONG:
        give_go(s, a, i);
        break;
    case SITE_FILE:
        a->type = "application/pdf";
        say(a, "%%PDF-1.4 <a href=/never/7>");
        break;
    case SITE_ROBOTS:
        give_robots(s, a, i);
        break;
    case SITE_MAP:
        if (has_map(s, i)) {
            give_map(s, a, i);
            break;
        }
        /* fall through */
    default:
        a->status = 404;
        a->type = "text/html";
        say(a, "<a href=/never/8>not here</a>");
        break;
    }
    return a;
}
