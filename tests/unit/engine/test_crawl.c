/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <seine/crawl.h>

TEST(crawl_defaults_are_those_of_a_good_guest)
{
    seine_crawl_opts c = SEINE_CRAWL_OPTS;

    CHECK_EQ(c.depth, 5);
    CHECK_EQ(c.scope, SEINE_SCOPE_HOST);
    CHECK_EQ(c.sitemaps, SEINE_SITEMAPS_AUTO);
    CHECK(c.nofollow && c.skips);
    CHECK_EQ(c.pattern_budget, 1000);
    CHECK_EQ(c.max_subdomains, 256);
    CHECK_EQ(c.max_links, 50000);
    CHECK_EQ(c.max_per_host, 0);
    CHECK_EQ(c.max_sitemaps, 10000);
    CHECK_EQ(c.max_sitemap_bytes, 4294967296);
}

TEST(crawl_scopes_have_the_names_of_the_option)
{
    CHECK_STR(seine_scope_name(SEINE_SCOPE_HOST), "host");
    CHECK_STR(seine_scope_name(SEINE_SCOPE_DOMAIN), "domain");
    CHECK_STR(seine_scope_name(SEINE_SCOPE_PREFIX), "prefix");
    CHECK_STR(seine_scope_name(SEINE_SCOPE_ANY), "any");
    CHECK_STR(seine_scope_name((seine_scope)4), "?");
    CHECK_STR(seine_scope_name((seine_scope)-1), "?");
}
