/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/site.h"

#include <string.h>

#include "base/time.h"
#include "chaos/arg.h"

_Static_assert(sizeof(snc_site) == 56, "site.h says so");

/* Each use of random numbers has its own stream. */
enum { FOR_FATE = 1, FOR_HOST, FOR_LIKE, FOR_FAIL, FOR_FAILS, FOR_FLAKY, FOR_FAULT };

#define BILLION 1000000000u

/* robots.txt and a sitemap, a trap and a dead host; half of the first requests fail, in
 * every way that can be retried. */
#define DEMO                                                                \
    "42:1000:fan=8:dup=3:broken=2:redir=2:hosts=8:robots=3:dead=1:flaky=50" \
    ":sitemap=on:trap=on"

typedef struct setting {
    sn_str name;
    size_t at;
    uint32_t min, max;
} setting;

#define SETTING(name, min, max)                                       \
    {                                                                 \
        {#name, sizeof #name - 1}, offsetof(snc_site, name), min, max \
    }

/* In the order in which a spec spells them. */
static const setting settings[] = {
    SETTING(fan, 1, 1000),   SETTING(dup, 0, 100),    SETTING(broken, 0, 100),
    SETTING(redir, 0, 100),  SETTING(fail, 0, 100),   SETTING(hosts, 1, 60000),
    SETTING(robots, 0, 100), SETTING(dead, 0, 59999), SETTING(flaky, 0, 100),
};

static uint32_t *
place(snc_site *s, size_t i)
{
    return (uint32_t *)(void *)((char *)s + settings[i].at);
}

static bool
read_switch(sn_str value, bool *out)
{
    *out = sn_str_eq(value, SN_STR("on"));
    return *out || sn_str_eq(value, SN_STR("off"));
}

static const char *
read_setting(snc_site *s, sn_str part)
{
    sn_str name, value;
    uint64_t n;

    if (!sn_str_cut(part, '=', &name, &value))
        return "a setting of a site is NAME=VALUE";
    if (sn_str_eq(name, SN_STR("sitemap")))
        return read_switch(value, &s->sitemap) ? NULL : "sitemap is on or off";
    if (sn_str_eq(name, SN_STR("trap")))
        return read_switch(value, &s->trap) ? NULL : "trap is on or off";
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (!sn_str_eq(name, settings[i].name))
            continue;
        if (!snc_arg_count(value, settings[i].max, &n) || n < settings[i].min)
            return "a setting of a site is out of range";
        *place(s, i) = (uint32_t)n;
        return NULL;
    }
    return "a site has no such setting";
}

bool
snc_site_parse(sn_str spec, snc_site *out_ch, const char **out_why)
{
    snc_site s = {.fan = 8, .hosts = 1};
    sn_str part;

    if (sn_str_starts(spec, SN_STR("site:")))
        spec = sn_str_slice(spec, 5, spec.len);
    if (sn_str_eq(spec, SN_STR("demo")))
        spec = SN_STR(DEMO);
    *out_why = NULL;
    if (!sn_str_next(&spec, ':', &part) || !snc_arg_count(part, UINT64_MAX, &s.seed))
        *out_why = "a site starts with its seed, a number";
    else if (!sn_str_next(&spec, ':', &part) ||
             !snc_arg_count(part, SNC_SITE_PAGES, &s.pages) || s.pages == 0)
        *out_why = "a site has 1 page or more";
    while (!*out_why && sn_str_next(&spec, ':', &part))
        *out_why = read_setting(&s, part);
    if (!*out_why && s.dead >= s.hosts && s.dead > 0)
        *out_why = "a site has fewer dead hosts than hosts";
    if (!*out_why && s.dup + s.broken + s.redir + s.robots > 100)
        *out_why = "percentages of a site add up to more than 100";
    if (*out_why)
        return false;
    *out_ch = s;
    return true;
}

void
snc_site_spell(const snc_site *s, sn_buf *out)
{
    snc_site plain = {.fan = 8, .hosts = 1}, mine = *s;

    sn_buf_u64(out, s->seed);
    sn_buf_char(out, ':');
    sn_buf_u64(out, s->pages);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (*place(&mine, i) != *place(&plain, i))
            sn_buf_printf(out, ":%s=%u", settings[i].name.ptr, *place(&mine, i));
    if (s->sitemap)
        sn_buf_text(out, ":sitemap=on");
    if (s->trap)
        sn_buf_text(out, ":trap=on");
}

/* Pages 0 … inner - 1 have children. */
static uint64_t
inner(const snc_site *s)
{
    return (s->pages - 1 + s->fan - 1) / s->fan;
}

/* Converts a share of all pages to a share of the leaves. */
static uint64_t
of_leaves(const snc_site *s, uint32_t percent)
{
    uint64_t leaves = s->pages - inner(s);
    sn_u128 share = (sn_u128)percent * (BILLION / 100) * s->pages / leaves;

    return share < BILLION ? (uint64_t)share : BILLION;
}

static snc_fate
fate_of_leaf(const snc_site *s, uint64_t n)
{
    const struct {
        uint32_t percent;
        snc_fate fate;
    } rows[] = {
        {s->dup, SNC_FATE_DUPLICATE},
        {s->broken, SNC_FATE_BROKEN},
        {s->redir, SNC_FATE_REDIRECT},
        {s->robots, SNC_FATE_DISALLOWED},
    };
    uint64_t file = snc_below(snc_mix(s->seed, n, FOR_FATE), BILLION), sum = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (file < (sum += of_leaves(s, rows[i].percent)))
            return rows[i].fate;
    return SNC_FATE_PAGE;
}

/* Each dead host has one leaf in a hundred; the other hosts share the rest. */
static uint32_t
host_of(const snc_site *s, uint64_t n, bool leaf)
{
    uint64_t bits = snc_mix(s->seed, n, FOR_HOST);
    uint32_t live = s->hosts - s->dead;
    uint64_t hundredth = snc_below(bits, 100);

    if (leaf && hundredth < s->dead)
        return live + (uint32_t)(s->dead > 100 ? bits % s->dead : hundredth);
    return (uint32_t)(bits % live);
}

snc_page
snc_site_page(const snc_site *s, uint64_t n)
{
    bool leaf = n > 0 && n >= inner(s);
    snc_page page = {.n = n, .host = n > 0 ? host_of(s, n, leaf) : 0};

    if (page.host >= s->hosts - s->dead)
        page.fate = SNC_FATE_DEAD;
    else if (leaf)
        page.fate = fate_of_leaf(s, n);
    if (page.fate == SNC_FATE_DUPLICATE || page.fate == SNC_FATE_REDIRECT)
        page.like = snc_below(snc_mix(s->seed, n, FOR_LIKE), inner(s));
    if (snc_fate_status(page.fate) == 200 &&
        snc_below(snc_mix(s->seed, n, FOR_FAIL), 100) < s->fail)
        page.fails = 1 + (uint32_t)snc_below(snc_mix(s->seed, n, FOR_FAILS), 2);
    return page;
}

const char *
snc_fate_name(snc_fate fate)
{
    static const char *const names[] = {"page",     "duplicate",  "broken",
                                        "redirect", "disallowed", "dead"};

    return names[fate];
}

unsigned
snc_fate_status(snc_fate fate)
{
    static const uint16_t statuses[] = {200, 200, 404, 302, 200, 0};

    return statuses[fate];
}

/* All faults after which a client may retry. */
sn_str
snc_site_fault(const snc_site *s, const snc_page *page, uint64_t hit)
{
    static const sn_str faults[] = {
        {"status:503", 10}, {"status:500", 10}, {"reset:0", 7},     {"status:502", 10},
        {"short:10", 8},    {"reset:40", 8},    {"status:503", 10}, {"status:503", 10},
    };
    bool fails = hit <= page->fails;

    if (hit <= SNC_SITE_FAILS && snc_fate_status(page->fate) == 200)
        fails |=
            snc_below(snc_mix(s->seed, page->n, FOR_FLAKY << 8 | hit), 100) < s->flaky;
    if (!fails)
        return (sn_str){NULL, 0};
    return faults[snc_mix(s->seed, page->n, FOR_FAULT << 8 | hit) % 8];
}

uint32_t
snc_site_address(uint32_t host)
{
    return 0x7f010001u + host;
}

/* h17.test, 127.1.0.18. */
uint32_t
snc_site_host(const snc_site *s, sn_str name)
{
    uint64_t n = 0, part = 0;
    sn_str text;

    if (name.len > 6 && name.ptr[0] == 'h' && sn_str_ends(name, SN_STR(".test")))
        return snc_arg_count(sn_str_slice(name, 1, name.len - 5), s->hosts - 1, &n)
                   ? (uint32_t)n
                   : s->hosts;
    for (int i = 0; i < 4; i++) {
        if (!sn_str_next(&name, '.', &text) || !snc_arg_count(text, 255, &part))
            return s->hosts;
        n = n << 8 | part;
    }
    if (name.len > 0 || n < snc_site_address(0) || n - snc_site_address(0) >= s->hosts)
        return s->hosts;
    return (uint32_t)(n - snc_site_address(0));
}

void
snc_site_origin(const snc_site *s, const snc_site_base *b, uint32_t host, sn_buf *out)
{
    uint32_t at = snc_site_address(host);
    unsigned port = host >= s->hosts - s->dead ? b->dead_port : b->port;

    if (s->hosts == 1) {
        sn_buf_str(out, b->origin);
        return;
    }
    sn_buf_text(out, b->tls ? "https://" : "http://");
    if (b->names)
        sn_buf_printf(out, "h%u.test", host);
    else
        sn_buf_printf(out, "127.%u.%u.%u", at >> 16 & 255, at >> 8 & 255, at & 255);
    if (port != (b->tls ? 443 : 80))
        sn_buf_printf(out, ":%u", port);
}

void
snc_site_url(const snc_site *s, const snc_site_base *b, const snc_page *page, sn_buf *out)
{
    snc_site_origin(s, b, page->host, out);
    sn_buf_str(out, b->prefix);
    sn_buf_text(out, page->fate == SNC_FATE_DISALLOWED ? "/x/" : "/p/");
    sn_buf_u64(out, page->n);
}

bool
snc_site_find(const snc_site *s, sn_str rest, snc_page *out_page)
{
    bool hidden = sn_str_starts(rest, SN_STR("x/"));
    uint64_t n;

    if (!hidden && !sn_str_starts(rest, SN_STR("p/")))
        return false;
    rest = sn_str_slice(rest, 2, rest.len);
    /* A page has one spelling: page 7 is not also page 07. */
    if (!snc_arg_count(rest, s->pages - 1, &n) || (rest.len > 1 && rest.ptr[0] == '0'))
        return false;
    *out_page = snc_site_page(s, n);
    return hidden == (out_page->fate == SNC_FATE_DISALLOWED);
}
