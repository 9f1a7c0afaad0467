/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/site.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static snc_site
site(const char *spec)
{
    snc_site s = {.pages = 0};
    const char *why = NULL;

    CHECK(snc_site_parse(sn_str_of(spec), &s, &why));
    CHECK_STR(why ? why : "", "");
    return s;
}

TEST(a_spec_is_a_seed_a_number_of_pages_and_settings)
{
    snc_site s = site("7:1000");

    CHECK(s.seed == 7 && s.pages == 1000 && s.fan == 8 && s.hosts == 1 && !s.sitemap);
    s = site(
        "site:1:10:fan=2:dup=5:broken=3:redir=2:fail=10:hosts=200:robots=5:sitemap=on:"
        "trap=on:dead=1:flaky=50");
    CHECK(s.fan == 2 && s.dup == 5 && s.broken == 3 && s.redir == 2 && s.fail == 10);
    CHECK(s.hosts == 200 && s.robots == 5 && s.sitemap && s.trap && s.dead == 1 &&
          s.flaky == 50);
}

TEST(the_demo_has_everything_that_is_worth_showing)
{
    snc_site s = site("demo");

    CHECK_EQ(s.pages, 1000);
    CHECK(s.robots > 0 && s.sitemap && s.trap && s.dead == 1);
    CHECK_EQ(s.flaky, 50);
}

TEST(a_spec_that_makes_no_sense_is_named)
{
    static const struct {
        const char *spec, *why;
    } rows[] = {
        {"", "a site starts with its seed, a number"},
        {"x:5", "a site starts with its seed, a number"},
        {"1", "a site has 1 page or more"},
        {"1:0", "a site has 1 page or more"},
        {"1:1099511627777", "a site has 1 page or more"},
        {"1:5:fan", "a setting of a site is NAME=VALUE"},
        {"1:5:fan=0", "a setting of a site is out of range"},
        {"1:5:dup=101", "a setting of a site is out of range"},
        {"1:5:fun=1", "a site has no such setting"},
        {"1:5:sitemap=yes", "sitemap is on or off"},
        {"1:5:trap=1", "trap is on or off"},
        {"1:5:dead=1", "a site has fewer dead hosts than hosts"},
        {"1:5:hosts=2:dead=2", "a site has fewer dead hosts than hosts"},
        {"1:5:dup=50:robots=51", "percentages of a site add up to more than 100"},
    };

    EACH_ROW(i, rows) {
        snc_site s = {.pages = 99};
        const char *why = NULL;

        CHECK(!snc_site_parse(sn_str_of(rows[i].spec), &s, &why));
        CHECK_STR(why ? why : "", rows[i].why);
        CHECK_EQ(s.pages, 99);
    }
}

TEST(a_site_has_one_spelling_that_reads_back_the_same)
{
    snc_site s = site("demo");
    sn_buf out;

    sn_buf_init(&out, 4096);
    snc_site_spell(&s, &out);
    CHECK_STR(out.ptr, "42:1000:dup=3:broken=2:redir=2:hosts=8:robots=3:dead=1:flaky=50:"
                       "sitemap=on:trap=on");
    snc_site again = site(out.ptr);
    sn_buf_reset(&out);
    snc_site_spell(&again, &out);
    CHECK(strncmp(out.ptr, "42:1000:", 8) == 0);
    sn_buf_fini(&out);
}

/* Every page has a parent that is an ordinary page of a live host, up to page 0. */
TEST(every_page_is_reachable_from_the_first_through_ordinary_pages)
{
    static const char *const specs[] = {
        "1:1",
        "1:2",
        "1:500:fan=1:dup=50:hosts=9:dead=3",
        "3:777",
        "9:1000:fan=3",
        "5:2000:dup=20:broken=20:redir=20:robots=20:hosts=50:dead=10",
    };

    EACH_ROW(i, specs) {
        snc_site s = site(specs[i]);

        CHECK_EQ(snc_site_page(&s, 0).fate, SNC_FATE_PAGE);
        CHECK_EQ(snc_site_page(&s, 0).host, 0);
        for (uint64_t n = 1; n < s.pages; n++) {
            snc_page page = snc_site_page(&s, n),
                     parent = snc_site_page(&s, (n - 1) / s.fan);

            CHECK_EQ(parent.fate, SNC_FATE_PAGE);
            CHECK(page.host < s.hosts);
            CHECK_EQ(page.fate == SNC_FATE_DEAD, page.host >= s.hosts - s.dead);
            if (page.fate == SNC_FATE_DUPLICATE || page.fate == SNC_FATE_REDIRECT)
                CHECK_EQ(snc_site_page(&s, page.like).fate, SNC_FATE_PAGE);
        }
    }
}

TEST(percentages_are_of_all_pages)
{
    snc_site s =
        site("11:100000:dup=5:broken=3:redir=2:robots=4:fail=10:hosts=10:dead=1");
    uint64_t fates[6] = {0}, fails = 0, good = 0;

    for (uint64_t n = 0; n < s.pages; n++) {
        snc_page page = snc_site_page(&s, n);

        fates[page.fate]++;
        fails += page.fails > 0;
        good += snc_fate_status(page.fate) == 200;
        CHECK(page.fails <= 2);
    }
    /* A hundredth of the leaves are dead, which the other fates lack; within 5 %. */
    CHECK(fates[SNC_FATE_DUPLICATE] > 4750 && fates[SNC_FATE_DUPLICATE] < 5250);
    CHECK(fates[SNC_FATE_BROKEN] > 2800 && fates[SNC_FATE_BROKEN] < 3200);
    CHECK(fates[SNC_FATE_REDIRECT] > 1850 && fates[SNC_FATE_REDIRECT] < 2150);
    CHECK(fates[SNC_FATE_DISALLOWED] > 3750 && fates[SNC_FATE_DISALLOWED] < 4250);
    CHECK(fates[SNC_FATE_DEAD] > 780 && fates[SNC_FATE_DEAD] < 970);
    CHECK(fails * 100 > good * 9 && fails * 100 < good * 11);
}

TEST(a_page_follows_from_seed_and_number_alone)
{
    snc_site a = site("1:1000:hosts=7:dup=10"), b = site("2:1000:hosts=7:dup=10");
    unsigned differ = 0;

    for (uint64_t n = 0; n < 1000; n++) {
        snc_page x = snc_site_page(&a, n), y = snc_site_page(&a, n),
                 z = snc_site_page(&b, n);

        CHECK(x.fate == y.fate && x.host == y.host && x.like == y.like);
        differ += x.host != z.host;
    }
    CHECK(differ > 700);
}

TEST(pages_that_fail_first_do_so_exactly_as_often_as_they_say)
{
    snc_site s = site("1:1000:fail=30");

    for (uint64_t n = 0; n < s.pages; n++) {
        snc_page page = snc_site_page(&s, n);

        for (uint64_t hit = 1; hit < 5; hit++)
            CHECK_EQ(snc_site_fault(&s, &page, hit).len > 0, hit <= page.fails);
    }
}

TEST(half_of_the_first_requests_for_a_flaky_site_fail_and_no_page_for_ever)
{
    snc_site s = site("1:10000:flaky=50");
    unsigned fails = 0;

    for (uint64_t n = 0; n < s.pages; n++) {
        snc_page page = snc_site_page(&s, n);

        for (uint64_t hit = 1; hit <= SNC_SITE_FAILS; hit++)
            fails += snc_site_fault(&s, &page, hit).len > 0;
        CHECK_EQ(snc_site_fault(&s, &page, SNC_SITE_FAILS + 1).len, 0);
    }
    CHECK(fails > 29400 && fails < 30600); /* of 60,000; five deviations */
}

static bool
url_is(const snc_site *s, const snc_site_base *b, uint64_t n, const char *want)
{
    snc_page page = snc_site_page(s, n);
    sn_buf out;

    sn_buf_init(&out, 4096);
    snc_site_url(s, b, &page, &out);
    bool same = strcmp(out.ptr, want) == 0;
    if (!same)
        check_fail(__FILE__, __LINE__, "got %s", out.ptr);
    sn_buf_fini(&out);
    return same;
}

TEST(urls_carry_origin_prefix_and_number)
{
    snc_site one = site("1:10"), many = site("1:10:hosts=2");
    snc_site_base b = {.origin = SN_STR("http://e.org:81"),
                       .prefix = SN_STR("/site:1:10"),
                       .port = 8080,
                       .dead_port = 9};

    CHECK(url_is(&one, &b, 3, "http://e.org:81/site:1:10/p/3"));
    CHECK(url_is(&many, &b, 0, "http://127.1.0.1:8080/site:1:10/p/0"));
    b.names = true;
    b.port = 80;
    CHECK(url_is(&many, &b, 0, "http://h0.test/site:1:10/p/0"));
}

TEST(disallowed_pages_lie_elsewhere_and_dead_ones_on_another_port)
{
    snc_site s = site("1:2000:robots=20:hosts=3:dead=1");
    snc_site_base b = {.port = 1, .dead_port = 2};
    bool hidden = false, dead = false;

    for (uint64_t n = 0; n < s.pages; n++) {
        snc_page page = snc_site_page(&s, n), found;
        char want[64], rest[32];

        snprintf(rest, sizeof rest, "%c/%u", page.fate == SNC_FATE_DISALLOWED ? 'x' : 'p',
                 (unsigned)n);
        snprintf(want, sizeof want, "http://127.1.0.%u:%d/%s", 1 + page.host,
                 page.fate == SNC_FATE_DEAD ? 2 : 1, rest);
        CHECK(url_is(&s, &b, n, want));
        CHECK(snc_site_find(&s, sn_str_of(rest), &found) && found.n == n);
        rest[0] = rest[0] == 'x' ? 'p' : 'x'; /* and nowhere else */
        CHECK(!snc_site_find(&s, sn_str_of(rest), &found));
        hidden |= page.fate == SNC_FATE_DISALLOWED;
        dead |= page.fate == SNC_FATE_DEAD;
    }
    CHECK(hidden && dead);
}

TEST(a_page_has_one_path)
{
    static const char *const none[] = {"p/10", "p/07", "p/",   "p", "q/1",
                                       "p/1/", "p/-1", "p/1x", ""};
    snc_site s = site("1:10");
    snc_page page;

    EACH_ROW(i, none)
        CHECK(!snc_site_find(&s, sn_str_of(none[i]), &page));
    CHECK(snc_site_find(&s, SN_STR("p/9"), &page) && page.n == 9);
    CHECK(snc_site_find(&s, SN_STR("p/0"), &page));
}

TEST(hosts_are_known_by_name_and_by_address)
{
    static const struct {
        const char *name;
        uint32_t host;
    } rows[] = {
        {"h0.test", 0},
        {"h199.test", 199},
        {"h200.test", 200},
        {"hx.test", 200},
        {"127.1.0.1", 0},
        {"127.1.0.200", 199},
        {"127.1.0.201", 200},
        {"127.1.0.0", 200},
        {"127.0.0.1", 200},
        {"127.1.0", 200},
        {"127.1.0.1.1", 200},
        {"e.org", 200},
        {"", 200},
    };
    snc_site s = site("1:1000:hosts=200");

    EACH_ROW(i, rows)
        CHECK_EQ(snc_site_host(&s, sn_str_of(rows[i].name)), rows[i].host);
    CHECK_EQ(snc_site_address(0), 0x7f010001);
    CHECK_EQ(snc_site_address(255), 0x7f010100);
}
