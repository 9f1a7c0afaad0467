/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/roll.h"

#include "chaos/arg.h"

snc_roll
snc_roll_list(const snc_site *s, const snc_site_base *b)
{
    return (snc_roll){.kind = SNC_ROLL_LIST, .site = *s, .base = *b, .end = s->pages};
}

bool
snc_roll_sitemap(const snc_site *s, const snc_site_base *b, uint32_t host, sn_str name,
                 snc_roll *out_roll)
{
    uint64_t files = (s->pages + SNC_ROLL_PAGES - 1) / SNC_ROLL_PAGES, n = 0;
    snc_roll roll = {.kind = SNC_ROLL_SITEMAP, .site = *s, .base = *b, .host = host};

    if (!s->sitemap)
        return false;
    if (sn_str_eq(name, SN_STR("sitemap.xml"))) {
        roll.kind = files > 1 ? SNC_ROLL_INDEX : SNC_ROLL_SITEMAP;
        roll.end = files > 1 ? files : s->pages;
    } else if (files > 1 && sn_str_starts(name, SN_STR("sitemap-")) &&
               sn_str_ends(name, SN_STR(".xml")) &&
               snc_arg_count(sn_str_slice(name, 8, name.len - 4), files - 1, &n)) {
        roll.next = n * SNC_ROLL_PAGES;
        roll.end = n + 1 < files ? roll.next + SNC_ROLL_PAGES : s->pages;
    } else {
        return false;
    }
    *out_roll = roll;
    return true;
}

static const char *
error_of(snc_fate fate)
{
    switch (fate) {
    case SNC_FATE_BROKEN:
        return "\"http\"";
    case SNC_FATE_DISALLOWED:
        return "\"robots\"";
    case SNC_FATE_DEAD:
        return "\"connect_refused\"";
    default:
        return "null";
    }
}

/* URLs of a site are visible ASCII without quotes: nothing needs an escape. */
static void
add_truth(const snc_roll *r, sn_buf *out)
{
    snc_page page = snc_site_page(&r->site, r->next);

    sn_buf_text(out, "{\"url\":\"");
    snc_site_url(&r->site, &r->base, &page, out);
    sn_buf_printf(out, "\",\"status\":%u,\"kind\":\"%s\",\"error\":%s",
                  snc_fate_status(page.fate), snc_fate_name(page.fate),
                  error_of(page.fate));
    if (page.fails > 0)
        sn_buf_printf(out, ",\"fails\":%u", page.fails);
    if (page.fate == SNC_FATE_REDIRECT || page.fate == SNC_FATE_DUPLICATE) {
        snc_page like = snc_site_page(&r->site, page.like);

        sn_buf_text(out, page.fate == SNC_FATE_REDIRECT ? ",\"to\":\"" : ",\"of\":\"");
        snc_site_url(&r->site, &r->base, &like, out);
        sn_buf_char(out, '"');
    }
    sn_buf_text(out, "}\n");
}

static void
add_url(const snc_roll *r, sn_buf *out)
{
    snc_page page = snc_site_page(&r->site, r->next);

    if (page.host != r->host)
        return;
    sn_buf_text(out, "<url><loc>");
    snc_site_url(&r->site, &r->base, &page, out);
    sn_buf_text(out, "</loc></url>\n");
}

static void
add_file(const snc_roll *r, sn_buf *out)
{
    sn_buf_text(out, "<sitemap><loc>");
    snc_site_origin(&r->site, &r->base, r->host, out);
    sn_buf_str(out, r->base.prefix);
    sn_buf_printf(out, "/sitemap-%llu.xml</loc></sitemap>\n",
                  (unsigned long long)r->next);
}

static void
add_line(const snc_roll *r, sn_buf *out)
{
    if (r->kind == SNC_ROLL_LIST)
        add_truth(r, out);
    else if (r->kind == SNC_ROLL_SITEMAP)
        add_url(r, out);
    else
        add_file(r, out);
}

static const char *
element(const snc_roll *r)
{
    return r->kind == SNC_ROLL_INDEX ? "sitemapindex" : "urlset";
}

void
snc_roll_add(snc_roll *r, sn_buf *out, size_t want)
{
    size_t from = out->len;

    if (!r->begun && r->kind != SNC_ROLL_LIST)
        sn_buf_printf(out,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
                      element(r));
    r->begun = true;
    for (; r->next < r->end && out->len - from < want; r->next++)
        add_line(r, out);
    if (r->next == r->end && !r->over && out->len - from < want) {
        if (r->kind != SNC_ROLL_LIST)
            sn_buf_printf(out, "</%s>\n", element(r));
        r->over = true;
    }
}

bool
snc_roll_robots(const snc_site *s, const snc_site_base *b, uint32_t host, sn_buf *out)
{
    if (s->robots == 0 && !s->sitemap)
        return false;
    sn_buf_text(out, "User-agent: *\nDisallow:");
    if (s->robots > 0) {
        sn_buf_char(out, ' ');
        sn_buf_str(out, b->prefix);
        sn_buf_text(out, "/x/");
    }
    sn_buf_char(out, '\n');
    if (s->sitemap) {
        sn_buf_text(out, "Sitemap: ");
        snc_site_origin(s, b, host, out);
        sn_buf_str(out, b->prefix);
        sn_buf_text(out, "/sitemap.xml\n");
    }
    return true;
}
