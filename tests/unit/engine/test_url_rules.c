/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/url_rules.h"

#include <string.h>

#include "check.h"

TEST(url_rules_names_the_first_rule_that_refuses)
{
    static const struct {
        const char *url, *rule;
        seine_skip reason;
    } rows[] = {
        {"http://e.example/", "", 0},
        {"mailto:a@e.example", "neither http nor https", SEINE_SKIP_SCHEME},
        {"ftp://e.example/", "neither http nor https", SEINE_SKIP_SCHEME},
        {"http://o.example:25/", "scope host", SEINE_SKIP_OFFSITE},
        {"http://e.example:25/x/x/x/x", "scope host", SEINE_SKIP_OFFSITE},
        {"http://mail.example:25/x/x/x/x", "a port of another protocol", SEINE_SKIP_PORT},
        {"http://e.example/no/x/x/x/x", "exclude '/no/'", SEINE_SKIP_PATTERN},
        {"http://e.example/a/a/a/a", "", 0}, /* its pages are looked at first */
    };
    static const char *const exclude[] = {"/no/", NULL}, *const domains[] = {
                                                             "mail.example", NULL};
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_crawl_opts c = SEINE_CRAWL_OPTS;
    char mem[SEINE_URL_ROOM];
    sn_scope *s = NULL;
    sn_url_verdict got;
    seine_url u;

    o.crawl = &c;
    o.exclude = exclude;
    c.domains = domains;
    CHECK_EQ(sn_scope_new(&o, &s, NULL), SEINE_OK);
    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&u, "http://e.example/", 17, NULL), SEINE_OK);
    CHECK_EQ(sn_scope_seed(s, &u), SEINE_OK);
    EACH_ROW(i, rows) {
        char rule[200] = "";

        CHECK_EQ(seine_url_parse(&u, rows[i].url, strlen(rows[i].url), NULL), SEINE_OK);
        bool is = sn_url_rules_refuse(&o, s, &u, false, &got);
        CHECK_EQ(is, rows[i].rule[0] != '\0');
        CHECK_EQ(is, got.refused);
        if (!is)
            continue;
        memcpy(rule, got.rule.ptr, got.rule.len);
        CHECK_STR(rule, rows[i].rule);
        CHECK_EQ(got.reason, rows[i].reason);
    }
    o.https_only = true;
    CHECK_EQ(seine_url_parse(&u, "http://o.example/", 17, NULL), SEINE_OK);
    CHECK(sn_url_rules_refuse(&o, s, &u, false, &got));
    CHECK_EQ(got.reason, SEINE_SKIP_SCHEME);
    sn_scope_free(s);
}

TEST(url_rules_let_a_part_of_a_page_be_out_of_scope)
{
    static const struct {
        const char *url;
        bool refused;
    } rows[] = {
        {"http://cdn.example/a.png", false},    {"http://cdn.example/no/a.png", true},
        {"ftp://cdn.example/a.png", true},      {"http://cdn.example:25/a.png", true},
        {"http://e.example/other.html", false}, /* no matter what is included */
    };
    static const char *const exclude[] = {"/no/", NULL}, *const include[] = {"/docs/",
                                                                             NULL};
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_crawl_opts c = SEINE_CRAWL_OPTS;
    char mem[SEINE_URL_ROOM];
    sn_scope *s = NULL;
    sn_url_verdict got;
    seine_url u;

    o.crawl = &c;
    o.exclude = exclude;
    o.include = include;
    CHECK_EQ(sn_scope_new(&o, &s, NULL), SEINE_OK);
    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&u, "http://e.example/", 17, NULL), SEINE_OK);
    CHECK_EQ(sn_scope_seed(s, &u), SEINE_OK);
    EACH_ROW(i, rows) {
        CHECK_EQ(seine_url_parse(&u, rows[i].url, strlen(rows[i].url), NULL), SEINE_OK);
        CHECK_EQ(sn_url_rules_refuse(&o, s, &u, true, &got), rows[i].refused);
    }
    sn_scope_free(s);
}

TEST(url_rules_look_at_a_pattern_that_varies)
{
    seine_crawl_opts c = SEINE_CRAWL_OPTS;

    CHECK_EQ(sn_url_rules_budget(&c, &(sn_trap_kind){.varies = true}), 1000);
    CHECK_EQ(sn_url_rules_budget(&c, &(sn_trap_kind){.varies = true, .params = 9}), 1000);
    CHECK_EQ(sn_url_rules_budget(&c, &(sn_trap_kind){.varies = false}), 0);
    c.pattern_budget = 0;
    CHECK_EQ(sn_url_rules_budget(&c, &(sn_trap_kind){.varies = true}), 0);
}
