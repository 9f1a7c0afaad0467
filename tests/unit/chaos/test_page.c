/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static snc_site
site(const char *spec)
{
    snc_site s = {.pages = 0};
    const char *why;

    CHECK(snc_site_parse(sn_str_of(spec), &s, &why));
    return s;
}

static const snc_site_base root = {.port = 8080, .dead_port = 1};

/* Follows links breadth first, as a crawler that ignores everything but pages. */
TEST(a_crawler_that_follows_links_finds_every_page)
{
    enum { PAGES = 700 };
    snc_site s = site("3:700:fan=4:dup=10:broken=5:redir=5:robots=5");
    static bool seen[PAGES];
    static uint64_t queue[PAGES];
    size_t head = 0, tail = 0;
    sn_buf out;

    memset(seen, 0, sizeof seen);
    sn_buf_init(&out, 65536);
    queue[tail++] = 0;
    seen[0] = true;
    while (head < tail) {
        snc_page page = snc_site_page(&s, queue[head++]);

        if (page.fate != SNC_FATE_PAGE && page.fate != SNC_FATE_DUPLICATE)
            continue;
        sn_buf_reset(&out);
        snc_page_html(&s, &root, &page, &out);
        for (const char *at = out.ptr; (at = strstr(at, "href=\"/")); at++) {
            uint64_t n = strtoull(at + 9, NULL, 10);
            bool hidden = at[7] == 'x';

            CHECK(n < PAGES);
            CHECK_EQ(hidden, snc_site_page(&s, n).fate == SNC_FATE_DISALLOWED);
            if (!seen[n])
                queue[tail++] = n;
            seen[n] = true;
        }
    }
    CHECK_EQ(tail, PAGES);
    sn_buf_fini(&out);
}

TEST(a_duplicate_is_its_original_byte_by_byte)
{
    snc_site s = site("3:500:dup=20");
    unsigned found = 0;
    sn_buf a, b;

    sn_buf_init(&a, 65536);
    sn_buf_init(&b, 65536);
    for (uint64_t n = 0; n < s.pages; n++) {
        snc_page page = snc_site_page(&s, n);

        if (page.fate != SNC_FATE_DUPLICATE)
            continue;
        snc_page like = snc_site_page(&s, page.like);
        sn_buf_reset(&a);
        sn_buf_reset(&b);
        snc_page_html(&s, &root, &page, &a);
        snc_page_html(&s, &root, &like, &b);
        CHECK_STR(a.ptr, b.ptr);
        found++;
    }
    CHECK(found > 50);
    sn_buf_fini(&a);
    sn_buf_fini(&b);
}

TEST(ordinary_pages_all_differ_and_have_a_title)
{
    snc_site s = site("3:100");
    sn_buf a, b;

    sn_buf_init(&a, 65536);
    sn_buf_init(&b, 65536);
    for (uint64_t n = 0; n < 100; n++) {
        snc_page page = snc_site_page(&s, n);
        char want[32];

        sn_buf_reset(&a);
        snc_page_html(&s, &root, &page, &a);
        snprintf(want, sizeof want, "<title>Page %u: ", (unsigned)n);
        CHECK(strstr(a.ptr, want));
        CHECK(a.len > 1000 && a.len < 4096);
        CHECK(b.len == 0 || strcmp(a.ptr, b.ptr) != 0);
        sn_buf_reset(&b);
        sn_buf_str(&b, sn_buf_view(&a));
    }
    sn_buf_fini(&a);
    sn_buf_fini(&b);
}

TEST(some_pages_of_a_site_with_a_trap_lead_into_it)
{
    snc_site s = site("3:200:trap=on");
    unsigned traps = 0;
    sn_buf out;

    sn_buf_init(&out, 65536);
    for (uint64_t n = 0; n < s.pages; n++) {
        snc_page page = snc_site_page(&s, n);

        sn_buf_reset(&out);
        snc_page_html(&s, &root, &page, &out);
        traps += strstr(out.ptr, "href=\"/cal/2026/1/1\"") != NULL;
    }
    CHECK(traps > 5 && traps < 45);
    sn_buf_fini(&out);
}

TEST(every_day_has_a_next_one)
{
    static const struct {
        const char *rest, *link;
    } rows[] = {
        {"2026/1/1", "\"/c/2026/1/2\">next day"},
        {"2026/12/30", "\"/c/2027/1/1\">next day"},
        {"2026/11/15", "\"/c/2026/12/15\">next month"},
        {"2026/11/15", "\"/c/2027/11/15\">next year"},
        {"999999999/12/30", "\"/c/1000000000/1/1\">next day"},
        {"", "\"/c/2026/1/2\">next day"},
        {"2026/13/1", "\"/c/2026/1/2\">next day"},
        {"x/1/1", "\"/c/2026/1/2\">next day"},
    };
    sn_buf out;

    sn_buf_init(&out, 4096);
    EACH_ROW(i, rows) {
        sn_buf_reset(&out);
        snc_calendar_html(SN_STR("/c"), sn_str_of(rows[i].rest), &out);
        CHECK(strstr(out.ptr, rows[i].link));
    }
    sn_buf_fini(&out);
}
