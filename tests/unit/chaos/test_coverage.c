/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/coverage.h"

#include <stdlib.h>

#include "check.h"
#include "failing.h"

static snc_site
site(const char *spec)
{
    snc_site s = {.pages = 0};
    const char *why;

    CHECK(snc_site_parse(sn_str_of(spec), &s, &why));
    return s;
}

static snc_coverage *
coverage(void)
{
    static snc_coverage l;

    snc_coverage_reset(&l);
    return &l;
}

TEST(a_page_is_counted_up_to_sixty_three_times)
{
    snc_coverage *l = coverage();
    snc_site s = site("1:10");
    snc_site_pages *asked = snc_coverage_site(l, &s);

    for (uint64_t i = 1; i <= 63; i++)
        CHECK_EQ(snc_site_pages_hit(asked, 3), i);
    CHECK_EQ(snc_site_pages_hit(asked, 3), 63);
    CHECK_EQ(snc_site_pages_hit(asked, 4), 1);
    CHECK_EQ(asked->hits, 65);
    CHECK(snc_coverage_site(l, &s) == asked);
    snc_coverage_reset(l);
}

TEST(what_is_served_is_not_missing_and_what_comes_again_is_a_duplicate)
{
    snc_coverage *l = coverage();
    snc_site s = site("1:20:broken=20:robots=20");
    snc_site_pages *asked = snc_coverage_site(l, &s);
    uint64_t ordinary = 0, first = 0;

    for (uint64_t n = 0; n < 20; n++)
        ordinary += snc_site_page(&s, n).fate == SNC_FATE_PAGE;
    while (snc_site_page(&s, 19 - first).fate != SNC_FATE_PAGE)
        first++;
    uint64_t last = 19 - first;
    CHECK_EQ(snc_site_pages_sum_up(asked).total, ordinary);
    CHECK_EQ(snc_site_pages_sum_up(asked).served, 0);
    CHECK_EQ(snc_site_pages_sum_up(asked).missing[0], 0);
    snc_site_pages_hit(asked, last);
    snc_site_pages_served(asked, last);
    snc_site_pages_served(asked, last);
    CHECK_EQ(asked->again, 0);
    snc_site_pages_hit(asked, last);
    CHECK_EQ(asked->again, 1);
    CHECK_EQ(snc_site_pages_sum_up(asked).served, 1);
    snc_coverage_reset(l);
}

TEST(sites_that_find_no_room_are_counted_and_always_new)
{
    snc_coverage *l = coverage();
    snc_site huge = site("1:99999999");

    snc_site_pages *asked = snc_coverage_site(l, &huge);
    CHECK_EQ(l->dropped, 1);
    CHECK_EQ(snc_site_pages_hit(asked, 5), 1);
    CHECK_EQ(snc_site_pages_hit(asked, 5), 1);
    for (uint64_t i = 1; i < SNC_COVERAGE_SITES; i++) {
        snc_site s = site("1:10");

        s.seed = i;
        CHECK(snc_coverage_site(l, &s));
    }
    snc_site more = site("999:10");
    CHECK(!snc_coverage_site(l, &more));
    CHECK_EQ(snc_site_pages_hit(NULL, 1), 1);
    snc_site_pages_served(NULL, 1);
    snc_coverage_reset(l);
    FAIL_EACH(r)
    {
        asked = snc_coverage_site(l, &more);
        CHECK_EQ(l->dropped, asked->pages ? 0 : 1);
        snc_coverage_reset(l);
    }
}
