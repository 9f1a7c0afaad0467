/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of the elements of sitemaps and feeds. */
#include <string.h>

#include "text/sitemap.h"

enum {
    OTHER,
    URLSET,
    INDEX,
    RSS,
    CHANNEL,
    FEED,
    PAGE, /* each of these is an entry … */
    MAP,
    ITEM,
    ENTRY,
    LOC, /* … and these are inside of one */
    LASTMOD,
    FREQ,
    PRIORITY,
    GUID, /* serves as the link of an item without link */
    HREF, /* Atom: the link is in the attributes */
    PUBLISHED
};

#define MARK(parent, name, role) parent, role, sizeof(name) - 1, name

static const struct {
    uint8_t parent, role, len;
    const char *name;
} marks[] = {
    {MARK(URLSET, "url", PAGE)},       {MARK(URLSET, "sitemap", MAP)},
    {MARK(INDEX, "sitemap", MAP)},     {MARK(INDEX, "url", PAGE)},
    {MARK(PAGE, "loc", LOC)},          {MARK(PAGE, "lastmod", LASTMOD)},
    {MARK(PAGE, "changefreq", FREQ)},  {MARK(PAGE, "priority", PRIORITY)},
    {MARK(MAP, "loc", LOC)},           {MARK(MAP, "lastmod", LASTMOD)},
    {MARK(RSS, "channel", CHANNEL)},   {MARK(RSS, "item", ITEM)},
    {MARK(CHANNEL, "item", ITEM)},     {MARK(ITEM, "link", LOC)},
    {MARK(ITEM, "guid", GUID)},        {MARK(ITEM, "pubDate", LASTMOD)},
    {MARK(FEED, "entry", ENTRY)},      {MARK(ENTRY, "link", HREF)},
    {MARK(ENTRY, "updated", LASTMOD)}, {MARK(ENTRY, "published", PUBLISHED)},
};

static const struct {
    const char *name;
    uint8_t role;
    seine_sitemap_kind kind;
} roots[] = {
    {"urlset", URLSET, SEINE_SITEMAP_URLSET},
    {"sitemapindex", INDEX, SEINE_SITEMAP_INDEX},
    {"rss", RSS, SEINE_SITEMAP_RSS},
    {"RDF", RSS, SEINE_SITEMAP_RSS},
    {"feed", FEED, SEINE_SITEMAP_ATOM},
};

static uint8_t
root(seine_sitemap *s, const sn_xml_event *e)
{
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        if (!sn_str_eq_nocase(e->name, sn_str_of(roots[i].name)))
            continue;
        if (e->prefix.len > 0 && e->prefix.len <= sizeof s->prefix) {
            memcpy(s->prefix, e->prefix.ptr, e->prefix.len);
            s->n_prefix = (uint8_t)e->prefix.len;
        }
        s->kind = roots[i].kind;
        return roots[i].role;
    }
    sn_sitemap_fail(s, SEINE_E_BAD_XML,
                    sn_str_eq_nocase(e->name, SN_STR("html"))
                        ? "it is a page of HTML, no sitemap"
                        : "its root element is that of no sitemap");
    return OTHER;
}

/* Extensions have prefixes: <image:loc> is no page. */
static bool
is_ours(const seine_sitemap *s, const sn_xml_event *e)
{
    return e->prefix.len == 0 || sn_str_eq(e->prefix, (sn_str){s->prefix, s->n_prefix});
}

static uint8_t
role_of(const seine_sitemap *s, const sn_xml_event *e)
{
    if (e->parent == OTHER || !is_ours(s, e))
        return OTHER;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].parent == e->parent && marks[i].len == e->name.len &&
            sn_str_eq_nocase(e->name, (sn_str){marks[i].name, marks[i].len}))
            return marks[i].role;
    return OTHER;
}

static sn_xml_answer
opened(seine_sitemap *s, const sn_xml_event *e)
{
    uint8_t role = e->depth == 1 ? root(s, e) : role_of(s, e);

    if (role >= PAGE && role <= ENTRY)
        sn_sitemap_begin_entry(s);
    if (role == GUID || role == HREF) {
        s->is_spare_good = true;
        s->len[SN_SITEMAP_SPARE] = 0;
    }
    return (sn_xml_answer){.role = role,
                           .text = role >= LOC && role != HREF,
                           .attrs = role == GUID || role == HREF,
                           .stop = s->err != SEINE_OK};
}

/* An Atom link without rel is the page (RFC 4287, 4.2.7.2). */
static void
attribute(seine_sitemap *s, const sn_xml_event *e)
{
    if (e->role == HREF && sn_str_eq_nocase(e->name, SN_STR("href")))
        sn_sitemap_put(s, SN_SITEMAP_SPARE, e->value);
    else if (e->role == HREF && sn_str_eq_nocase(e->name, SN_STR("rel")))
        s->is_spare_good = sn_str_eq_nocase(sn_str_trim(e->value), SN_STR("alternate"));
    else if (e->role == GUID && sn_str_eq_nocase(e->name, SN_STR("isPermaLink")))
        s->is_spare_good = !sn_str_eq_nocase(sn_str_trim(e->value), SN_STR("false"));
}

static double
priority(sn_str text)
{
    int64_t n;

    text = sn_str_trim(text);
    if (text.len > 8) /* "0.800000": further digits are ignored */
        text.len = 8;
    if (sn_str_decimal(text, 6, &n) != SEINE_OK || n < 0 || n > 1000000)
        return -1;
    return (double)n / 1e6;
}

/* Keeps the first text that is not empty. */
static void
put_once(seine_sitemap *s, sn_sitemap_slot slot, sn_str text)
{
    if (s->len[slot] == 0)
        sn_sitemap_put(s, slot, text);
}

static void
spare_to_loc(seine_sitemap *s)
{
    if (s->is_spare_good)
        put_once(s, SN_SITEMAP_LOC,
                 (sn_str){s->slots[SN_SITEMAP_SPARE], s->len[SN_SITEMAP_SPARE]});
}

static void
closed(seine_sitemap *s, const sn_xml_event *e)
{
    switch (e->role) {
    case LOC:
        put_once(s, SN_SITEMAP_LOC, e->value);
        break;
    case LASTMOD: /* updated replaces published */
        sn_sitemap_put(s, SN_SITEMAP_LASTMOD, e->value);
        break;
    case PUBLISHED:
        put_once(s, SN_SITEMAP_LASTMOD, e->value);
        break;
    case FREQ:
        put_once(s, SN_SITEMAP_FREQ, e->value);
        break;
    case PRIORITY:
        s->priority = priority(e->value);
        break;
    case GUID:
        if (s->is_spare_good)
            sn_sitemap_put(s, SN_SITEMAP_SPARE, e->value);
        break;
    case HREF:
        spare_to_loc(s);
        break;
    case ITEM:
        spare_to_loc(s);
        sn_sitemap_give(s, false);
        break;
    case MAP:
    case PAGE:
    case ENTRY:
        sn_sitemap_give(s, e->role == MAP);
        break;
    default:
        break;
    }
}

sn_xml_answer
sn_sitemap_mark(const sn_xml_event *e, void *sitemap)
{
    seine_sitemap *s = sitemap;

    if (e->what == SN_XML_OPEN)
        return opened(s, e);
    if (e->what == SN_XML_ATTR)
        attribute(s, e);
    else
        closed(s, e);
    return (sn_xml_answer){.stop = s->is_enough};
}
