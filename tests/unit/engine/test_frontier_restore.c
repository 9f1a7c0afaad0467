/* SPDX-License-Identifier: Apache-2.0 */
/* What a job has kept comes back to a frontier. */
#include <stdlib.h>

#include "base/alloc.h"
#include "desk.h"

#define HOST "http://a.example:80"

static const int64_t day_ms = 24 * 3600 * 1000;

static sn_job_robots
robots_row(sn_robots_state state, sn_address_zone ceiling, int64_t wall_ms)
{
    return (sn_job_robots){.host = SN_STR(HOST),
                           .wall_ms = wall_ms,
                           .state = (int64_t)state | (int64_t)ceiling << 8,
                           .text = SN_STR("User-agent: *\nDisallow: /x\n")};
}

static sn_job_url
url_row(const char *target, uint32_t depth, uint64_t number)
{
    return (sn_job_url){.url = {.host = SN_STR(HOST),
                                .target = sn_str_of(target),
                                .depth = depth,
                                .number = number,
                                .kind = SN_KIND_PAGE},
                        .print = number + 1,
                        .parent_number = SN_JOB_NONE};
}

static sn_crawl_state *
state_of(desk *d)
{
    return sn_crawl_hosts_state(&d->f->hosts, 0);
}

TEST(frontier_restore_keeps_rules_that_are_less_than_a_day_old)
{
    static const struct {
        int64_t age;
        bool is_kept;
    } rows[] = {{0, true}, {day_ms - 1, true}, {day_ms, false}, {-1, false}};
    static const sn_robots_state states[] = {SN_ROBOTS_PARSED, SN_ROBOTS_ABSENT};

    EACH_ROW(i, rows)
        for (int k = 0; k < 2; k++) {
            desk d;
            seine_time now = SEINE_SECS(200000);
            sn_job_robots row = robots_row(states[k], SN_ADDRESS_LOCAL, 5 * day_ms);

            open_desk(&d, UINT32_MAX);
            CHECK_EQ(sn_frontier_restore_host(d.f, SN_STR(HOST), false, now), SEINE_OK);
            CHECK_EQ(sn_frontier_restore_robots(d.f, &row, 5 * day_ms + rows[i].age, now),
                     SEINE_OK);
            CHECK_EQ(state_of(&d)->robots.state,
                     rows[i].is_kept ? states[k] : SN_ROBOTS_UNKNOWN);
            if (rows[i].is_kept) {
                CHECK_EQ(state_of(&d)->robots.until,
                         now + SEINE_MS(day_ms) - SEINE_MS(rows[i].age));
                CHECK_EQ(state_of(&d)->ceiling, SN_ADDRESS_LOCAL);
            }
            CHECK_EQ(d.f->hosts.robots_bytes > 0, rows[i].is_kept && k == 0);
            close_desk(&d);
        }
}

TEST(frontier_restore_asks_again_for_rules_that_have_no_room)
{
    sn_job_robots row = robots_row(SN_ROBOTS_PARSED, SN_ADDRESS_PUBLIC, 0);
    desk d;

    open_desk(&d, UINT32_MAX);
    d.f->max_robots = 0;
    CHECK_EQ(sn_frontier_restore_host(d.f, SN_STR(HOST), false, 0), SEINE_OK);
    CHECK_EQ(sn_frontier_restore_robots(d.f, &row, 0, 0), SEINE_OK);
    CHECK_EQ(state_of(&d)->robots.state, SN_ROBOTS_UNKNOWN);
    close_desk(&d);
}

TEST(frontier_restore_says_once_what_each_host_has_to_do)
{
    for (int is_known = 0; is_known < 2; is_known++) {
        sn_job_robots row = robots_row(SN_ROBOTS_ABSENT, SN_ADDRESS_PUBLIC, 0);
        sn_job_url a = url_row("/1", 1, 1), b = url_row("/2", 1, 2);
        desk d;

        open_desk(&d, UINT32_MAX);
        CHECK_EQ(sn_frontier_restore_host(d.f, SN_STR(HOST), false, 0), SEINE_OK);
        CHECK_EQ(sn_frontier_restore_host(d.f, SN_STR("http://idle.example:80"), true, 0),
                 SEINE_OK);
        if (is_known)
            CHECK_EQ(sn_frontier_restore_robots(d.f, &row, 0, 0), SEINE_OK);
        a.url.ceiling = SN_ADDRESS_LOCAL;
        CHECK_EQ(sn_frontier_restore_url(d.f, &a, 0), SEINE_OK);
        CHECK_EQ(sn_frontier_restore_url(d.f, &b, 0), SEINE_OK);
        CHECK_EQ(d.said, 0);
        sn_frontier_restored(d.f, 0);
        CHECK_EQ(d.said, 1);
        CHECK_EQ(d.last.host, 0);
        CHECK_EQ(d.last.n, is_known ? 2 : 1); /* robots.txt alone, if nobody knows it */
        CHECK_EQ(sn_frontier_waiting(d.f), 2);
        CHECK_EQ(sn_frontier_admitted(d.f), 2);
        CHECK_EQ(d.f->hosts.all[0].n_pages, 2);
        if (!is_known) {
            sn_offer offer = sn_frontier_next(d.f, 0, 0);
            CHECK_EQ(offer.visit->kind, SN_KIND_ROBOTS);
            CHECK_EQ(offer.visit->ceiling,
                     SN_ADDRESS_LOCAL); /* of the first that waits */
            robots_end(&d, offer.visit, 404, "");
        }
        check_page(&d, 0, "/1", 1);
        check_page(&d, 0, "/2", 0);
        close_desk(&d);
    }
}

/* They come by number; one that is less deep than one before it goes first, and so do
 * sitemaps. */
TEST(frontier_restore_brings_levels_back_in_order)
{
    static const uint32_t depths[] = {1, 3, 2, 3, 1};
    static const char *const paths[] = {"/1a", "/3a", "/2", "/3b", "/1b"};
    sn_job_robots row = robots_row(SN_ROBOTS_ABSENT, SN_ADDRESS_PUBLIC, 0);
    desk d;

    open_desk(&d, 5);
    CHECK_EQ(sn_frontier_restore_host(d.f, SN_STR(HOST), false, 0), SEINE_OK);
    CHECK_EQ(sn_frontier_restore_robots(d.f, &row, 0, 0), SEINE_OK);
    for (unsigned i = 0; i < 5; i++) {
        sn_job_url u = url_row(paths[i], depths[i], i);
        CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_OK);
    }
    sn_job_url map = url_row("/map.xml", 0, 9);
    map.url.kind = SN_KIND_SITEMAP;
    CHECK_EQ(sn_frontier_restore_url(d.f, &map, 0), SEINE_OK);
    CHECK_EQ(state_of(&d)->n_maps, 1);
    CHECK_EQ(d.t.shared.sitemaps, 1);
    CHECK(d.f->hosts.all[0].flags & SN_CRAWL_HOST_MAPPED);
    CHECK_EQ(d.f->hosts.all[0].n_pages, 5);
    sn_frontier_restored(d.f, 0);
    CHECK_EQ(d.f->hosts.all[0].level, 0); /* none has begun */
    check_page(&d, 0, "/2", 5);
    check_page(&d, 0, "/1b", 4);
    sn_offer offer = sn_frontier_next(d.f, 0, 0);
    CHECK_EQ(offer.visit->kind, SN_KIND_SITEMAP);
    state_of(&d)->maps_out--;
    sn_shared_state_end_work(&d.t.shared, 1);
    sn_visits_give(d.t.shared.visits, offer.visit);
    check_page(&d, 0, "/1a", 2);
    check_page(&d, 0, "/3a", 1);
    check_page(&d, 0, "/3b", 0);
    close_desk(&d);
}

TEST(frontier_restore_counts_the_pages_that_a_host_has_had)
{
    static const struct {
        uint64_t done;
        uint32_t n_pages;
    } rows[] = {{0, 1}, {7, 8}, {UINT32_MAX - 2, UINT32_MAX - 1}, {UINT32_MAX, 1}};

    EACH_ROW(i, rows) {
        sn_job_url u = url_row("/1", 1, 1);
        desk d;

        open_desk(&d, UINT32_MAX);
        CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_OK);
        CHECK_EQ(sn_frontier_restore_pages(d.f, SN_STR(HOST),
                                           &(sn_job_standing){.done = rows[i].done}, 0),
                 SEINE_OK);
        CHECK_EQ(d.f->hosts.all[0].n_pages, rows[i].n_pages);
        CHECK(d.f->hosts.all[0].flags & SN_CRAWL_HOST_COUNTED); /* against its domain */
        CHECK_EQ(sn_frontier_restore_pages(d.f, SN_STR("http://b.example:80"),
                                           &(sn_job_standing){.done = 0}, 0),
                 SEINE_OK);
        CHECK(!(d.f->hosts.all[1].flags & SN_CRAWL_HOST_COUNTED)); /* it had none */
        close_desk(&d);
    }
}

TEST(frontier_restore_refuses_a_name_that_is_none)
{
    sn_job_robots row = robots_row(SN_ROBOTS_PARSED, SN_ADDRESS_PUBLIC, 0);
    sn_job_url u = url_row("/1", 1, 1);
    desk d;

    open_desk(&d, UINT32_MAX);
    row.host = u.url.host = SN_STR("nothing");
    CHECK_EQ(sn_frontier_restore_host(d.f, row.host, false, 0), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(sn_frontier_restore_robots(d.f, &row, 0, 0), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(sn_frontier_restore_pages(d.f, row.host, &(sn_job_standing){.done = 1}, 0),
             SEINE_E_STATE_CORRUPT);
    u.url.host = (sn_str){0};
    u.url.target = SN_STR("no URL");
    CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(d.f->hosts.n, 0);
    close_desk(&d);
}

/* A link to what cannot be a host has no host in the job, and is refused once more. */
TEST(frontier_restore_refuses_a_link_without_a_host)
{
    char url[600] = "http://a";
    sn_job_url u = url_row(url, 1, 7);
    desk d;

    for (size_t n = strlen(url); n < 500; n += 2)
        memcpy(url + n, ".a/", 4);
    open_desk(&d, UINT32_MAX);
    u.url.host = (sn_str){0};
    u.url.target = sn_str_of(url);
    CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_OK);
    CHECK_EQ(d.refused, 1);
    CHECK_EQ(d.reason, SEINE_SKIP_BAD_URL);
    close_desk(&d);
}

/* One that was put off is told at the end, unless another link leads there. */
TEST(frontier_restore_brings_back_what_was_put_off)
{
    sn_job_url u = url_row("http://a.example/deep", 9, 3);
    desk d;

    open_desk(&d, 5);
    u.url.kind = SN_JOB_PUT_OFF;
    u.url.flags = SEINE_SKIP_DEPTH;
    u.url.host = (sn_str){0};
    CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_OK);
    CHECK_EQ(d.t.shared.late, 1); /* the crawl must not end before it is told */
    u.url.target = SN_STR("http://a.example/deeper");
    u.print = 99;
    CHECK_EQ(sn_frontier_restore_url(d.f, &u, 0), SEINE_OK);
    CHECK_EQ(d.t.shared.late, 1);
    CHECK_EQ(d.refused, 0);
    CHECK(!sn_frontier_late(d.f, 10, 0));
    CHECK_EQ(d.refused, 2);
    CHECK_EQ(d.reason, SEINE_SKIP_DEPTH);
    CHECK_EQ(d.t.shared.late, 0);
    close_desk(&d);
}

/* Memory for so many calls, then for none. */
static long calls_left;

static void *
get_some(size_t n, void *arg)
{
    (void)arg;
    return calls_left-- > 0 ? malloc(n) : NULL;
}

static void *
resize_some(void *p, size_t n, void *arg)
{
    (void)arg;
    return calls_left-- > 0 ? realloc(p, n) : NULL;
}

static void
put(void *p, void *arg)
{
    (void)arg;
    free(p);
}

static seine_err
restore_some(desk *d)
{
    sn_job_url u = url_row("/1", 1, 1), late = url_row("http://a.example/2", 9, 2);
    seine_err e = sn_frontier_restore_host(d->f, SN_STR(HOST), false, 0);

    late.url.kind = SN_JOB_PUT_OFF;
    late.url.flags = SEINE_SKIP_DEPTH;
    late.url.host = (sn_str){0};
    if (e == SEINE_OK)
        e = sn_frontier_restore_url(d->f, &u, 0);
    if (e == SEINE_OK)
        e = sn_frontier_restore_url(d->f, &late, 0);
    u.url.host = SN_STR("http://b.example:80");
    if (e == SEINE_OK)
        e = sn_frontier_restore_url(d->f, &u, 0);
    if (e == SEINE_OK)
        e = sn_frontier_restore_pages(d->f, SN_STR("http://c.example:80"),
                                      &(sn_job_standing){.done = 3}, 0);
    return e;
}

TEST(frontier_restore_without_memory_says_so)
{
    static const seine_alloc poor = {.get = get_some, .resize = resize_some, .put = put};
    bool is_short = true;

    for (long n = 0; is_short && n < 200; n++) {
        desk d;

        open_desk(&d, 5);
        calls_left = n;
        CHECK_EQ(seine_set_alloc(&poor), SEINE_OK);
        seine_err e = restore_some(&d);
        CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
        is_short = calls_left < 0;
        if (!is_short)
            CHECK_EQ(e, SEINE_OK);
        else if (e == SEINE_OK) /* what was not needed */
            CHECK_EQ(sn_frontier_waiting(d.f), 2);
        else
            CHECK_EQ(e, SEINE_E_NOMEM);
        if (e == SEINE_OK) {
            CHECK_EQ(d.f->late.n, 1);
            CHECK_EQ(d.f->hosts.n, 3);
        }
        (void)sn_frontier_late(d.f, 10, 0);
        close_desk(&d);
    }
    CHECK(!is_short);
}
