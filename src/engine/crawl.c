/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/crawl.h"

seine_crawl_opts
seine_crawl_defaults(void)
{
    return (seine_crawl_opts){.size = sizeof(seine_crawl_opts),
                              .depth = 5,
                              .scope = SEINE_SCOPE_HOST,
                              .sitemaps = SEINE_SITEMAPS_AUTO,
                              .nofollow = true,
                              .skips = true,
                              .pattern_budget = 1000,
                              .max_subdomains = 256,
                              .max_links = 50000,
                              .max_sitemaps = 10000,
                              .max_sitemap_bytes = UINT64_C(4) << 30};
}

const char *
seine_scope_name(seine_scope s)
{
    static const char *const names[] = {"host", "domain", "prefix", "any"};

    return (unsigned)s < sizeof names / sizeof *names ? names[s] : "?";
}
