/* SPDX-License-Identifier: Apache-2.0 */
#include "store/referrers.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "store/record_hold.h"
#include "store/record_links.h"

static seine_view
view(const char *text)
{
    return (seine_view){text, strlen(text)};
}

/* The table hears of a page with these links, "" ends; of a redirect with `moved`. */
static void
see_page(sn_referrers *t, const char *url, const char *moved, const char *const *links)
{
    sn_record_links list;
    sn_record_hold hold = {.refs = 1, .links = &list};
    seine_record r = {.type = SEINE_RECORD_RESULT, .url = view(url), .key = view(url)};
    uint32_t line = 1;

    sn_record_links_init(&list, view("http://e.example/"), NULL);
    if (moved)
        sn_record_links_add(&list, &(sn_raw_link){.value = view(moved)});
    for (; links && **links; links++)
        sn_record_links_add(
            &list, &(sn_raw_link){.value = view(*links), .line = line++, .tag = 1});
    CHECK_EQ(sn_record_links_done(&list), SEINE_OK);
    r.hold = &hold;
    r.fate = SEINE_FATE_OK;
    sn_referrers_see(t, &r);
    sn_record_links_fini(&list);
}

#define LINKS(...) ((const char *const[]){__VA_ARGS__, ""})

static void
see_end(sn_referrers *t, const char *url, seine_fate fate)
{
    seine_record r = {
        .type = SEINE_RECORD_RESULT, .url = view(url), .key = view(url), .fate = fate};

    sn_referrers_see(t, &r);
}

/* "2 of 3: http://e.example/a:1 http://e.example/b:2" */
static void
check_referrers(const sn_referrers *t, const char *url, const char *want)
{
    seine_referrer pages[16];
    char text[512];
    size_t count, n = sn_referrers_get(t, view(url), pages, &count);
    int at = snprintf(text, sizeof text, "%zu of %zu:", n, count);

    for (size_t i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %.*s:%u",
                       (int)pages[i].url.len, pages[i].url.ptr, pages[i].line);
    CHECK_STR(text, want);
}

TEST(referrers_are_all_pages_that_link_to_a_url_each_once)
{
    sn_referrers t;

    sn_referrers_init(&t, 9);
    see_page(&t, "http://e.example/a", NULL, LINKS("/gone", "/b", "gone#x"));
    see_end(&t, "http://e.example/gone", SEINE_FATE_HTTP_ERROR);
    see_page(&t, "http://e.example/b", NULL, LINKS("/a", "//e.example/gone"));
    check_referrers(&t, "http://e.example/gone",
                    "2 of 2: http://e.example/a:1 http://e.example/b:2");
    check_referrers(&t, "http://e.example/none", "0 of 0:");
    sn_referrers_fini(&t);
}

TEST(referrers_beyond_the_number_asked_for_are_counted)
{
    sn_referrers t;
    char url[64];

    sn_referrers_init(&t, 2);
    for (int i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://e.example/p%d", i);
        see_page(&t, url, NULL, LINKS("/gone", "/gone"));
    }
    check_referrers(&t, "http://e.example/gone",
                    "2 of 100: http://e.example/p0:1 http://e.example/p1:1");
    sn_referrers_fini(&t);
}

TEST(referrers_of_a_url_that_is_fine_take_no_memory)
{
    sn_referrers t;
    char url[64];

    sn_referrers_init(&t, 100);
    see_page(&t, "http://e.example/x", NULL, LINKS("/good"));
    see_end(&t, "http://e.example/good", SEINE_FATE_OK);
    size_t before = t.bytes;
    for (int i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://e.example/p%d", i);
        see_page(&t, url, NULL, LINKS("/good"));
    }
    check_referrers(&t, "http://e.example/good", "0 of 0:");
    CHECK(t.bytes - before <= 256 * 16); /* its own slots alone */
    sn_referrers_fini(&t);
    CHECK_EQ(t.bytes, 0);
}

TEST(referrers_of_a_redirect_are_those_of_where_it_leads)
{
    sn_referrers t;

    sn_referrers_init(&t, 9);
    see_page(&t, "http://e.example/a", NULL, LINKS("/old", "/gone"));
    see_page(&t, "http://e.example/b", NULL, LINKS("x", "/old"));
    see_page(&t, "http://e.example/old", "/older", NULL);
    see_page(&t, "http://e.example/older", "/gone", NULL);
    see_page(&t, "http://e.example/c", NULL, LINKS("/old"));
    see_end(&t, "http://e.example/gone", SEINE_FATE_TIMEOUT);
    check_referrers(&t, "http://e.example/gone",
                    "3 of 3: http://e.example/a:1 http://e.example/b:2 "
                    "http://e.example/c:1");
    sn_referrers_fini(&t);
}

TEST(referrers_survive_redirects_in_a_circle)
{
    sn_referrers t;

    sn_referrers_init(&t, 9);
    see_page(&t, "http://e.example/a", NULL, LINKS("/1", "/2", "/self"));
    see_page(&t, "http://e.example/1", "/2", NULL);
    see_page(&t, "http://e.example/2", "/1", NULL);
    see_page(&t, "http://e.example/self", "/self", NULL);
    see_page(&t, "http://e.example/b", NULL, LINKS("/1", "/2"));
    check_referrers(&t, "http://e.example/2",
                    "2 of 2: http://e.example/a:1 http://e.example/b:1");
    sn_referrers_fini(&t);
}

TEST(referrers_stay_within_their_memory)
{
    sn_referrers t;
    char url[64], link[64];

    sn_referrers_init(&t, 1000);
    t.max_bytes = 20000;
    for (int i = 0; i < 2000; i++) {
        snprintf(url, sizeof url, "http://e.example/p%d", i);
        snprintf(link, sizeof link, "/gone%d", i);
        see_page(&t, url, NULL, LINKS("/gone", link));
        CHECK(t.bytes <= t.max_bytes);
    }
    seine_referrer pages[1000];
    size_t count, n = sn_referrers_get(&t, view("http://e.example/gone"), pages, &count);
    CHECK(n > 10 && n <= count && count < 2000);
    sn_referrers_fini(&t);
    CHECK_EQ(t.bytes, 0);
}

/* Hears of a small site with redirects, and keeps the news of every record. */
static size_t
see_site(sn_referrers *t, char news[][256], size_t *len)
{
    size_t n = 0;
    const struct {
        const char *url, *moved;
        const char *const *links;
        bool is_gone;
    } site[] = {
        {"http://e.example/a", NULL, LINKS("/fine", "/moved", "/gone", "/gone"), false},
        {"http://e.example/fine", NULL, NULL, false},
        {"http://e.example/b", NULL, LINKS("/gone", "/fine", "/there"), false},
        {"http://e.example/moved", "/there", NULL, false},
        {"http://e.example/c", NULL, LINKS("/moved", "/there"), false},
        {"http://e.example/there", "/gone", NULL, false},
    };

    for (size_t i = 0; i < sizeof site / sizeof *site; i++) {
        see_page(t, site[i].url, site[i].moved, site[i].links);
        sn_str v = sn_referrers_news(t);
        CHECK(v.len > 0 && v.len <= 256);
        memcpy(news[n], v.ptr, v.len);
        len[n++] = v.len;
    }
    see_end(t, "http://e.example/gone", SEINE_FATE_HTTP_ERROR);
    return n;
}

/* The pages of a URL in the order of their names. */
static void
sorted_referrers(const sn_referrers *t, const char *url, char out[256])
{
    seine_referrer pages[16];
    size_t count, n = sn_referrers_get(t, view(url), pages, &count);
    int at = snprintf(out, 256, "%zu:", count);

    for (int last = 'a'; last <= 'z'; last++)
        for (size_t i = 0; i < n; i++)
            if (pages[i].url.ptr[pages[i].url.len - 1] == last)
                at += snprintf(out + at, 256 - (size_t)at, " %c%u", last, pages[i].line);
}

TEST(referrers_that_another_table_learns_in_any_order_are_the_same)
{
    static const uint64_t secret[2] = {1, 2};
    char news[8][256], want[256], got[256];
    size_t len[8];
    sn_referrers first;

    sn_referrers_init(&first, 9);
    sn_referrers_secret(&first, secret);
    size_t n = see_site(&first, news, len);
    sorted_referrers(&first, "http://e.example/gone", want);
    CHECK_STR(want, "3: a2 b1 c1");
    for (size_t from = 0; from < n; from++)
        for (size_t step = 1; step < n; step += 4) { /* forwards and backwards */
            sn_referrers t;

            sn_referrers_init(&t, 9);
            sn_referrers_secret(&t, secret);
            for (size_t i = 0, at = from; i < n; i++, at = (at + step) % n)
                CHECK(sn_referrers_learn(&t, (sn_str){news[at], len[at]}));
            see_end(&t, "http://e.example/gone", SEINE_FATE_HTTP_ERROR);
            sorted_referrers(&t, "http://e.example/gone", got);
            CHECK_STR(got, want);
            check_referrers(&t, "http://e.example/fine", "0 of 0:");
            sn_referrers_fini(&t);
        }
    sn_referrers_fini(&first);
}

TEST(referrers_learn_nothing_from_a_text_that_is_cut)
{
    sn_referrers t;

    sn_referrers_init(&t, 9);
    see_page(&t, "http://e.example/a", NULL, LINKS("/gone"));
    char copy[256];
    sn_str whole = sn_referrers_news(&t);
    memcpy(copy, whole.ptr, whole.len);
    for (size_t i = 0; i < whole.len; i++)
        if (i != 24 + strlen("http://e.example/a")) /* a page whose links are all fine */
            CHECK(!sn_referrers_learn(&t, (sn_str){copy, i}));
    CHECK_EQ(t.n_pages, 1);
    sn_referrers_fini(&t);
}
