/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/decide.h"
#include "chaos/site_file.h"

static void
redirect_page(snc_deciding *d, const snc_site_base *base, const snc_page *page)
{
    snc_site site = d->plan.site;
    sn_buf *text = &d->w->lines;

    sn_buf_reset(text);
    snc_site_url(&site, base, page, text);
    char *to = sn_arena_text(d->scene.arena, sn_buf_view(text));
    snc_decide_say(d, 302, SN_STR("over there\n"));
    if (to)
        snc_plan_field(&d->plan, SN_STR("Location"), sn_str_of(to));
}

/* Words that cut or delay apply to the page; words that name a body replace it. */
static void
strike(snc_deciding *d, sn_str words)
{
    snc_plan before = d->plan;
    snc_wrong wrong;

    d->plan.has_final = d->plan.stop = false;
    if (!snc_url_words_apply(words, &d->scene, &d->plan, &wrong)) {
        d->plan = before;
        return;
    }
    d->plan.has_final = true;
    d->fault = words;
}

static void
decide_page(snc_deciding *d, const snc_site_base *base, const snc_page *page,
            uint32_t host)
{
    const snc_site *site = &d->plan.site;

    if (site->hosts > 1 && host != page->host) {
        redirect_page(d, base, page); /* a page has one URL, and this is another */
        return;
    }
    d->trace->asked = snc_coverage_site(&d->w->coverage, site);
    d->trace->page = page->n;
    uint64_t hit = snc_site_pages_hit(d->trace->asked, page->n);
    if (page->fate == SNC_FATE_DISALLOWED && d->trace->seen.host)
        d->trace->seen.host->disallowed++;
    if (page->fate == SNC_FATE_REDIRECT) {
        snc_page to = snc_site_page(site, page->like);

        redirect_page(d, base, &to);
    } else if (page->fate == SNC_FATE_BROKEN) {
        snc_decide_say(d, 404, SN_STR("this page is not here\n"));
    } else {
        sn_str words = snc_site_fault(site, page, hit);

        if (words.len > 0)
            strike(d, words);
    }
}

void
snc_decide_site(snc_deciding *d)
{
    const snc_site *site = &d->plan.site;
    sn_str rest = d->plan.rest, name = snc_request_host_name(d->req);
    snc_site_base base = {.prefix = d->plan.prefix,
                          .names = sn_str_ends(name, SN_STR(".test")),
                          .tls = d->tls,
                          .port = d->tls ? d->w->tls_port : d->w->port,
                          .dead_port = d->w->dead_port};
    snc_page page;
    snc_site_file file;

    if (rest.len == 0) {
        page = snc_site_page(site, 0);
        redirect_page(d, &base, &page);
    } else if (snc_site_find(site, rest, &page)) {
        decide_page(d, &base, &page, snc_site_host(site, name));
    } else if (sn_str_eq(rest, SN_STR("robots.txt"))) {
        if (site->robots == 0 && !site->sitemap)
            snc_decide_say(d, 404, SN_STR("no robots.txt\n"));
    } else if (!sn_str_eq(rest, SN_STR("_list")) &&
               !(site->trap && sn_str_starts(rest, SN_STR("cal/"))) &&
               !snc_site_file_sitemap(site, &base, 0, rest, &file)) {
        snc_decide_say(d, 404, SN_STR("no such page\n"));
    }
}
