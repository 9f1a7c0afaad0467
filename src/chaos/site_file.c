/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/site_file.h"

#include "chaos/arg.h"

snc_site_file
snc_site_file_list(const snc_site *s, const snc_site_base *b)
{
    return (snc_site_file){
        .kind = SNC_SITE_FILE_LIST, .site = *s, .base = *b, .end = s->pages};
}

bool
snc_site_file_sitemap(const snc_site *s, const snc_site_base *b, uint32_t host,
                      sn_str name, snc_site_file *out_file)
{
    uint64_t files = (s->pages + SNC_SITE_FILE_PAGES - 1) / SNC_SITE_FILE_PAGES, n = 0;
    snc_site_file file = {
        .kind = SNC_SITE_FILE_SITEMAP, .site = *s, .base = *b, .host = host};

    if (!s->sitemap)
        return false;
    if (sn_str_eq(name, SN_STR("sitemap.xml"))) {
        file.kind = files > 1 ? SNC_SITE_FILE_INDEX : SNC_SITE_FILE_SITEMAP;
        file.end = files > 1 ? files : s->pages;
    } else if (files > 1 && sn_str_starts(name, SN_STR("sitemap-")) &&
               sn_str_ends(name, SN_STR(".xml")) &&
               snc_arg_count(sn_str_slice(name, 8, name.len - 4), files - 1, &n)) {
        file.next = n * SNC_SITE_FILE_PAGES;
        file.end = n + 1 < files ? file.next + SNC_SITE_FILE_PAGES : s->pages;
    } else {
        return false;
    }
    *out_file = file;
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

/* URLs of a site are visible ASCII without quotes, so nothing needs an escape. */
static void
add_truth(const snc_site_file *r, sn_buf *out)
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
add_url(const snc_site_file *r, sn_buf *out)
{
    snc_page page = snc_site_page(&r->site, r->next);

    if (page.host != r->host)
        return;
    sn_buf_text(out, "<url><loc>");
    snc_site_url(&r->site, &r->base, &page, out);
    sn_buf_text(out, "</loc></url>\n");
}

static void
add_file(const snc_site_file *r, sn_buf *out)
{
    sn_buf_text(out, "<sitemap><loc>");
    snc_site_origin(&r->site, &r->base, r->host, out);
    sn_buf_str(out, r->base.prefix);
    sn_buf_printf(out, "/sitemap-%llu.xml</loc></sitemap>\n",
                  (unsigned long long)r->next);
}

static void
add_line(const snc_site_file *r, sn_buf *out)
{
    if (r->kind == SNC_SITE_FILE_LIST)
        add_truth(r, out);
    else if (r->kind == SNC_SITE_FILE_SITEMAP)
        add_url(r, out);
    else
        add_file(r, out);
}

static const char *
root_element(const snc_site_file *r)
{
    return r->kind == SNC_SITE_FILE_INDEX ? "sitemapindex" : "urlset";
}

void
snc_site_file_add(snc_site_file *r, sn_buf *out, size_t want)
{
    size_t from = out->len;

    if (!r->begun && r->kind != SNC_SITE_FILE_LIST)
        sn_buf_printf(out,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
                      root_element(r));
    r->begun = true;
    for (; r->next < r->end && out->len - from < want; r->next++)
        add_line(r, out);
    if (r->next == r->end && !r->over && out->len - from < want) {
        if (r->kind != SNC_SITE_FILE_LIST)
            sn_buf_printf(out, "</%s>\n", root_element(r));
        r->over = true;
    }
}

bool
snc_site_file_robots(const snc_site *s, const snc_site_base *b, uint32_t host,
                     sn_buf *out)
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
