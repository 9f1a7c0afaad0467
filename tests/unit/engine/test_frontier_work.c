/* SPDX-License-Identifier: Apache-2.0 */
/* A frontier alone: what it says about the work of a host, and what it offers when it is
 * asked. No scheduler, no net. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "desk.h"
#include "engine/page.h"

TEST(frontier_says_that_robots_txt_is_all_the_work_of_an_unknown_host)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/2", 1, SN_ADDRESS_PUBLIC);
    CHECK_EQ(d.last.n, 1);
    sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
    CHECK(offer.visit && offer.visit->kind == SN_KIND_ROBOTS);
    CHECK(!offer.is_no_memory);
    CHECK_EQ(offer.left, 0);
    unsigned said = d.said;
    find(&d, "http://a.example/3", 1, SN_ADDRESS_PUBLIC);
    CHECK_EQ(d.said, said); /* nothing to ask for before it ends */
    robots_end(&d, offer.visit, 404, "");
    CHECK_EQ(d.last.n, 3);
    CHECK_EQ(d.last.delay, SN_SAME_DELAY);
    check_page(&d, d.last.host, "/1", 2);
    check_page(&d, d.last.host, "/2", 1);
    check_page(&d, d.last.host, "/3", 0);
    offer = sn_frontier_next(d.f, d.last.host, 0);
    CHECK(!offer.visit && offer.left == 0 && !offer.is_no_memory);
    close_desk(&d);
}

TEST(frontier_says_the_crawl_delay_with_the_work)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
    robots_end(&d, offer.visit, 200, "User-agent: *\nCrawl-delay: 2\n");
    CHECK_EQ(d.last.n, 1);
    CHECK_EQ(d.last.delay, SEINE_SECS(2));
    CHECK(!d.event.name); /* nothing special about it */
    close_desk(&d);
}

TEST(frontier_tells_of_a_crawl_delay_that_it_cuts)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
    robots_end(&d, offer.visit, 200, "User-agent: *\nCrawl-delay: 61\n");
    CHECK_EQ(d.last.delay, SEINE_SECS(60));
    CHECK_STR(d.event.name, "crawl_delay.clamped");
    CHECK_EQ(d.event.to, 60000000); /* in us */
    CHECK_EQ(d.event.until, SEINE_NEVER);
    close_desk(&d);
}

TEST(frontier_refuses_a_link_to_what_cannot_be_a_host_name)
{
    char url[600] = "http://a";
    desk d;

    open_desk(&d, UINT32_MAX);
    for (size_t n = strlen(url); n < 500; n += 2)
        memcpy(url + n, ".a/", 4);
    find(&d, url, 1, SN_ADDRESS_PUBLIC);
    CHECK_EQ(d.refused, 1);
    CHECK_EQ(d.reason, SEINE_SKIP_BAD_URL);
    CHECK_STR(d.rule, "not a host name");
    CHECK_EQ(d.said, 0);
    close_desk(&d);
}

/* A stop or a host that is given up asks for what waits at any host. */
TEST(frontier_has_nothing_to_drain_at_a_host_that_it_does_not_know)
{
    char text[64];
    uint32_t host;
    seine_url url;
    desk d;

    open_desk(&d, UINT32_MAX);
    CHECK(!sn_frontier_drain(d.f, 0, 0));
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    CHECK(!sn_frontier_drain(d.f, d.last.host + 1, 0));
    seine_url_init(&url, text, sizeof text);
    CHECK_EQ(seine_url_parse(&url, "http://other.example/", 21, NULL), SEINE_OK);
    CHECK_EQ(sn_hosts_find(sn_scheduler_host_table(d.t.s), &url, 0, &host), SEINE_OK);
    CHECK(!sn_frontier_drain(d.f, host, 0));
    CHECK_EQ(sn_frontier_waiting(d.f), 1);
    close_desk(&d);
}

TEST(frontier_refuses_before_it_offers)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/x/1", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/x/2", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/y", 1, SN_ADDRESS_PUBLIC);
    sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
    robots_end(&d, offer.visit, 200, "User-agent: *\nDisallow: /x\n");
    CHECK_EQ(d.last.n, 3); /* they are judged when their turn comes */
    CHECK_EQ(d.refused, 0);
    check_page(&d, d.last.host, "/y", 0);
    CHECK_EQ(d.refused, 2);
    close_desk(&d);
}

TEST(frontier_offers_nothing_of_a_host_without_robots_txt)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    uint32_t host = d.last.host;
    robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 503, "");
    sn_offer offer = sn_frontier_next(d.f, host, 0);
    CHECK(!offer.visit);
    CHECK_EQ(offer.left, 0);
    CHECK_EQ(sn_frontier_when(d.f), SEINE_SECS(60));
    sn_frontier_due(d.f, SEINE_SECS(60));
    CHECK_EQ(d.last.n, 1);
    robots_end(&d, sn_frontier_next(d.f, host, SEINE_SECS(60)).visit, 404, "");
    check_page(&d, host, "/1", 0);
    close_desk(&d);
}

TEST(frontier_says_what_waits_behind_a_robots_txt_and_for_how_long)
{
    seine_time until = 5;
    desk d;

    open_desk(&d, UINT32_MAX);
    CHECK_EQ(sn_frontier_shut(d.f, 0, &until), 0); /* nobody knows it */
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/2", 1, SN_ADDRESS_PUBLIC);
    uint32_t host = d.last.host;
    CHECK_EQ(sn_frontier_shut(d.f, host, &until), 2);
    CHECK_EQ(until, 5);
    robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 503, "");
    CHECK_EQ(sn_frontier_shut(d.f, host, &until), 2);
    CHECK_EQ(until, SEINE_SECS(60));
    sn_frontier_due(d.f, SEINE_SECS(60));
    until = 5;
    CHECK_EQ(sn_frontier_shut(d.f, host, &until), 2);
    CHECK_EQ(until, 5); /* it is asked for, and nobody knows how long that takes */
    robots_end(&d, sn_frontier_next(d.f, host, SEINE_SECS(60)).visit, 404, "");
    CHECK_EQ(sn_frontier_shut(d.f, host, &until), 0);
    CHECK_EQ(sn_frontier_shut(d.f, host + 1, &until), 0);
    close_desk(&d);
}

/* The shard drains so many in a turn; the frontier must not start one of the others. */
TEST(frontier_over_its_bytes_refuses_all_that_wait)
{
    for (unsigned over = 0; over < 2; over++) {
        desk d;

        open_desk(&d, UINT32_MAX);
        find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
        find(&d, "http://a.example/2", 1, SN_ADDRESS_PUBLIC);
        uint32_t host = d.last.host;
        robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 404, "");
        d.t.shared.opts.max_bytes = 1000;
        snprintf(d.t.shared.max_bytes_rule, sizeof d.t.shared.max_bytes_rule, "so many");
        atomic_store(&d.t.shared.bytes_body, 999 + over);
        if (over) {
            sn_offer offer = sn_frontier_next(d.f, host, 0);
            CHECK(!offer.visit && offer.left == 0 && !offer.is_no_memory);
            CHECK_EQ(d.refused, 2);
            CHECK_EQ(d.reason, SEINE_SKIP_BUDGET);
            CHECK_STR(d.rule, "so many");
        } else {
            check_page(&d, host, "/1", 1);
        }
        close_desk(&d);
    }
}

/* That another host is not there says nothing about this one. */
TEST(frontier_waits_for_a_robots_txt_that_moved_to_a_host_that_is_gone)
{
    static const struct {
        unsigned hops;
        seine_err code;
        uint16_t status;
        bool is_open;
    } rows[] = {
        {0, SEINE_E_DNS_NXDOMAIN, 0, true},
        {1, SEINE_E_DNS_NXDOMAIN, 0, false},
        {1, SEINE_E_HTTP, 404, true}, /* it answered */
    };

    EACH_ROW(i, rows) {
        desk d;

        open_desk(&d, UINT32_MAX);
        find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
        uint32_t host = d.last.host;
        sn_visit *v = sn_frontier_next(d.f, host, 0).visit;
        v->n_hops = (uint8_t)rows[i].hops;
        v->fault = (sn_fault)SN_FAULT;
        v->fault.code = rows[i].code;
        v->fault.status = rows[i].status;
        CHECK(sn_frontier_back(d.f, v, 0));
        sn_visits_give(d.t.shared.visits, v);
        sn_shared_state_end_work(&d.t.shared, 1);
        CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, rows[i].is_open ? 0 : 1);
        if (rows[i].is_open)
            check_page(&d, host, "/1", 0);
        else
            CHECK(!sn_frontier_next(d.f, host, 0).visit);
        close_desk(&d);
    }
}

/* Given URLs wait like those that were found, and are released together. */
TEST(frontier_holds_given_urls_while_robots_txt_cannot_be_had)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    uint32_t host = d.last.host;
    sn_visit *a = visit(&d.t, "http://a.example/a"),
             *b = visit(&d.t, "http://a.example/b");
    sn_shared_state_add_work(&d.t.shared, 2);
    atomic_fetch_add(&d.t.shared.admitted, 2);
    CHECK_EQ(sn_frontier_admit(d.f, a, 0), SN_ADMISSION_HELD);
    robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 503, "");
    CHECK_EQ(sn_frontier_admit(d.f, b, 0), SN_ADMISSION_HELD);
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 3);
    CHECK_EQ(sn_frontier_waiting(d.f), 3);
    CHECK_EQ(sn_frontier_behind(d.f, host), 3);
    sn_frontier_due(d.f, SEINE_SECS(60));
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 0);
    CHECK(!sn_frontier_has_released(d.f));
    robots_end(&d, sn_frontier_next(d.f, host, SEINE_SECS(60)).visit, 404, "");
    CHECK(sn_frontier_released(d.f) == a);
    CHECK(sn_frontier_released(d.f) == b);
    CHECK(!sn_frontier_released(d.f));
    CHECK_EQ(a->host, SN_NO_HOST);
    CHECK_EQ(b->host, SN_NO_HOST);
    CHECK_EQ(sn_frontier_admit(d.f, a, SEINE_SECS(60)), SN_ADMISSION_OK);
    CHECK_EQ(sn_frontier_admit(d.f, b, SEINE_SECS(60)), SN_ADMISSION_OK);
    CHECK_EQ(d.f->hosts.all[host].n_pages, 3);
    check_page(&d, host, "/1", 0);
    emit(&d, a);
    emit(&d, b);
    d.f->n_taken += 2; /* which came from elsewhere */
    close_desk(&d);
}

/* What is left at a host that was given up ends there. */
TEST(frontier_sends_given_urls_to_a_host_that_was_given_up)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    sn_visit *v = visit(&d.t, "http://a.example/a");
    sn_frontier_park(d.f, d.last.host);
    CHECK_EQ(sn_frontier_admit(d.f, v, 0), SN_ADMISSION_OK);
    CHECK_EQ(sn_frontier_waiting(d.f), 1);
    sn_visits_give(d.t.shared.visits, v);
    close_desk(&d);
}

/* Drained as refusals when nothing else is left. */
TEST(frontier_refuses_what_is_stuck_and_nothing_else)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://open.example/1", 1, SN_ADDRESS_PUBLIC);
    uint32_t open = d.last.host;
    robots_end(&d, sn_frontier_next(d.f, open, 0).visit, 404, "");
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/2", 1, SN_ADDRESS_PUBLIC);
    robots_end(&d, sn_frontier_next(d.f, d.last.host, 0).visit, 503, "");
    for (int i = 0; i < 2; i++) {
        sn_visit *v = sn_frontier_stuck(d.f, 0);
        CHECK(v && v->is_skip && v->reason == SEINE_SKIP_ROBOTS_UNREACHABLE);
        CHECK(sn_str_eq(v->rule, SN_STR("robots.txt could not be read")));
        emit(&d, v);
    }
    CHECK(!sn_frontier_stuck(d.f, 0));
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 0);
    find(&d, "http://a.example/3", 1, SN_ADDRESS_PUBLIC); /* it may still come */
    CHECK(!sn_frontier_stuck(d.f, 0));
    check_page(&d, open, "/1", 0);
    close_desk(&d);
}

TEST(frontier_holds_a_level_back_while_one_before_it_is_under_way)
{
    desk d;

    open_desk(&d, 5);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/2", 2, SN_ADDRESS_PUBLIC);
    uint32_t host = d.last.host;
    robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 404, "");
    check_page(&d, host, "/1", 1);
    sn_hosts *hosts = sn_scheduler_host_table(d.t.s);
    hosts->all[host].in_flight = 1; /* /1 */
    sn_offer offer = sn_frontier_next(d.f, host, 0);
    CHECK(!offer.visit);
    CHECK_EQ(offer.left, 1);
    hosts->all[host].in_flight = 0;
    check_page(&d, host, "/2", 0);
    close_desk(&d);
}

TEST(robots_txt_reaches_as_far_as_the_url_that_names_its_host)
{
    static const sn_address_zone zones[] = {SN_ADDRESS_PUBLIC, SN_ADDRESS_LOCAL};

    EACH_ROW(i, zones) {
        desk d;

        open_desk(&d, UINT32_MAX);
        find(&d, "http://a.example/1", 1, zones[i]);
        find(&d, "http://a.example/2", 1, zones[1 - i]);
        sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
        CHECK_EQ(offer.visit->ceiling, zones[i]);
        robots_end(&d, offer.visit, 404, "");
        close_desk(&d);
    }
}

/* A page of that depth that redirects. */
static sn_visit *
redirect(desk *d, const char *target, uint32_t depth)
{
    sn_visit *v = visit(&d->t, "http://a.example/");
    size_t room = strlen(target) + 8;

    v->depth = depth;
    seine_url *to = SN_ARENA_NEW(&v->arena, seine_url);
    seine_url_init(to, sn_arena_get(&v->arena, room, 1, 1), room);
    CHECK_EQ(seine_url_parse(to, target, strlen(target), NULL), SEINE_OK);
    v->target = to;
    return v;
}

TEST(frontier_ends_no_more_of_what_was_put_off_than_it_is_told_to)
{
    char target[] = "http://a.example/0";
    desk d;

    open_desk(&d, 1);
    for (int i = 0; i < 5; i++) {
        target[sizeof target - 2] = (char)('0' + i);
        sn_visit *v = redirect(&d, target, 2);
        CHECK(sn_frontier_page(d.f, v, 0));
        sn_visits_give(d.t.shared.visits, v);
    }
    CHECK_EQ(d.refused, 0);
    CHECK(sn_frontier_late(d.f, 2, 0));
    CHECK_EQ(d.refused, 2);
    CHECK(sn_frontier_late(d.f, 2, 0));
    CHECK_EQ(d.refused, 4);
    CHECK(!sn_frontier_late(d.f, 2, 0));
    CHECK_EQ(d.refused, 5);
    close_desk(&d);
}

/* What is thought of its own leader: it has no text by which to judge. */
TEST(frontier_thinks_of_the_target_of_a_redirect_as_of_the_redirect)
{
    static const sn_leader leaders[] = {SN_LEADER_UNKNOWN, SN_LEADER_NEW,
                                        SN_LEADER_REPEAT};

    EACH_ROW(i, leaders) {
        desk d;

        open_desk(&d, UINT32_MAX);
        sn_visit *v = redirect(&d, "http://a.example/1", 0);
        v->leader = (uint8_t)leaders[i];
        CHECK(sn_frontier_page(d.f, v, 0));
        sn_visits_give(d.t.shared.visits, v);
        robots_end(&d, sn_frontier_next(d.f, d.last.host, 0).visit, 404, "");
        sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
        CHECK(offer.visit && offer.visit->kind == SN_KIND_PAGE);
        CHECK_EQ(offer.visit->leader, leaders[i]);
        emit(&d, offer.visit);
        close_desk(&d);
    }
}

TEST(frontier_thinks_well_of_given_urls_and_sitemaps_as_leaders)
{
    static const struct {
        uint8_t kind;
        bool is_stored;
        sn_leader leader;
    } rows[] = {
        {SN_KIND_PAGE, false, SN_LEADER_NEW},
        {SN_KIND_SITEMAP, true, SN_LEADER_NEW},
        {SN_KIND_PAGE, true, SN_LEADER_UNKNOWN}, /* nobody looked at it */
    };
    desk d;

    open_desk(&d, UINT32_MAX);
    EACH_ROW(i, rows) {
        sn_visit *v = visit(&d.t, "http://a.example/");

        v->kind = rows[i].kind;
        v->is_stored = rows[i].is_stored;
        CHECK_EQ(SN_LEADER_OF(sn_frontier_look(d.f, v)), rows[i].leader);
        sn_visits_give(d.t.shared.visits, v);
    }
    close_desk(&d);
}

/* Memory for anything but a visit. */
static void *
get_unless_visit(size_t n, void *arg)
{
    (void)arg;
    return n == sizeof(sn_visit) ? NULL : malloc(n);
}

static void *
resize(void *p, size_t n, void *arg)
{
    (void)arg;
    return realloc(p, n);
}

static void
put(void *p, void *arg)
{
    (void)arg;
    free(p);
}

TEST(a_page_without_memory_for_its_visit_is_refused)
{
    static const seine_alloc poor = {
        .get = get_unless_visit, .resize = resize, .put = put};
    seine_err e;
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    robots_end(&d, sn_frontier_next(d.f, d.last.host, 0).visit, 404, "");
    sn_visit *last = sn_visits_take(d.t.shared.visits, &e); /* no other one is there */
    CHECK_EQ(seine_set_alloc(&poor), SEINE_OK);
    sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    CHECK(!offer.visit && offer.is_no_memory);
    CHECK_EQ(d.refused, 1);
    CHECK_EQ(offer.left, 0);
    sn_visits_give(d.t.shared.visits, last);
    close_desk(&d);
}

/* A clock on which each look at it takes 5 ms. */
static seine_time slow_now;

static seine_time
look_slowly(seine_clock *c)
{
    (void)c;
    return slow_now += SEINE_MS(5);
}

/* A page that leads to `n` others; `own`: its words are wanted, without these. */
static sn_visit *
page_of_words(desk *d, const char *url, const char *name, unsigned n, sn_str own)
{
    sn_visit *v = visit(&d->t, url);
    char link[64];

    v->page = sn_page_new();
    sn_page_begin(v->page, &(sn_page_wants){.kind = SN_KIND_PAGE,
                                            .links = true,
                                            .content_type = SN_STR("text/html"),
                                            .charset = SN_STR("utf-8"),
                                            .own = own});
    for (unsigned i = 0; i < n; i++) {
        int len = snprintf(link, sizeof link, "<a href=/%s%u>x</a>", name, i);
        sn_page_feed(v->page, (sn_str){link, (size_t)len});
    }
    sn_page_end(v->page);
    CHECK_EQ(sn_page_n_links(v->page), n);
    return v;
}

static sn_visit *
page_of_links(desk *d, const char *url, const char *name, unsigned n)
{
    return page_of_words(d, url, name, n, (sn_str){0});
}

static void
drop_page(desk *d, sn_visit *v)
{
    sn_page_free(v->page);
    v->page = NULL;
    sn_visits_give(d->t.shared.visits, v);
}

/* Four looks of 5 ms are a turn: the batch that begins it, and four more of 32. */
TEST(frontier_reads_the_links_of_a_page_in_slices_of_a_turn)
{
    seine_clock clock = {.now = look_slowly};
    unsigned turns = 1;
    desk d;

    open_desk_at(&d, UINT32_MAX, &clock);
    sn_visit *a = page_of_links(&d, "http://a.example/", "a", 1000);
    sn_visit *b = page_of_links(&d, "http://a.example/b", "b", 40);
    CHECK(!sn_frontier_page(d.f, a, 0));
    CHECK(!sn_frontier_page(d.f, b, 0)); /* behind it */
    CHECK(sn_frontier_is_reading(d.f));
    CHECK_EQ(sn_frontier_admitted(d.f), 5 * 32);
    CHECK(!sn_frontier_read(d.f, 0)); /* not in this turn */

    sn_visit *done = NULL;
    for (; !done && turns < 20; turns++) {
        CHECK(sn_frontier_admitted(d.f) <= turns * 5 * 32);
        sn_frontier_end_turn(d.f);
        done = sn_frontier_read(d.f, 0);
    }
    CHECK(done == a);
    CHECK_EQ(turns, 7);
    CHECK(sn_frontier_admitted(d.f) >= 1000);
    while (!(done = sn_frontier_read(d.f, 0)) && turns++ < 20)
        sn_frontier_end_turn(d.f);
    CHECK(done == b && !sn_frontier_is_reading(d.f));
    CHECK_EQ(sn_frontier_admitted(d.f), 1040);
    drop_page(&d, a);
    drop_page(&d, b);
    close_desk(&d);
}

/* One page is being read, and four more may wait. */
TEST(frontier_says_that_pages_come_faster_than_their_links_are_read)
{
    seine_clock clock = {.now = look_slowly};
    sn_visit *v[6];
    char url[32];
    desk d;

    open_desk_at(&d, UINT32_MAX, &clock);
    for (unsigned i = 0; i < 6; i++) {
        snprintf(url, sizeof url, "http://a.example/%u", i);
        v[i] = page_of_links(&d, url, url + 17, 200);
        CHECK(!sn_frontier_page(d.f, v[i], 0));
        CHECK_EQ(sn_frontier_is_behind(d.f), i >= 4);
    }
    sn_visit *done = NULL;
    for (unsigned turns = 0; !done && turns < 9; turns++) {
        sn_frontier_end_turn(d.f);
        done = sn_frontier_read(d.f, 0);
    }
    CHECK(done == v[0] && sn_frontier_is_behind(d.f));
    CHECK(sn_frontier_unread(d.f) == v[1] && !sn_frontier_is_behind(d.f));
    while (sn_frontier_unread(d.f))
        continue;
    for (unsigned i = 0; i < 6; i++)
        drop_page(&d, v[i]);
    close_desk(&d);
}

TEST(frontier_gives_pages_back_whose_links_are_not_read)
{
    seine_clock clock = {.now = look_slowly};
    desk d;

    open_desk_at(&d, UINT32_MAX, &clock);
    sn_visit *a = page_of_words(&d, "http://a.example/", "a", 1000, SN_STR("/"));
    sn_visit *b = page_of_links(&d, "http://a.example/b", "b", 40);
    CHECK(!sn_frontier_page(d.f, a, 0));
    CHECK(!sn_frontier_page(d.f, b, 0));
    CHECK(d.f->looking.visit == a);
    CHECK(sn_frontier_unread(d.f) == a);
    CHECK(!d.f->looking.visit); /* its memory may be gone */
    sn_frontier_end_turn(d.f);
    CHECK(sn_frontier_read(d.f, 0) == b); /* from its first link on */
    CHECK(!sn_frontier_unread(d.f) && !sn_frontier_is_reading(d.f));
    CHECK_EQ(sn_frontier_admitted(d.f), 5 * 32 + 40);
    drop_page(&d, a);
    drop_page(&d, b);
    close_desk(&d);
}

TEST(frontier_drains_a_page_without_memory_as_a_refusal)
{
    static const seine_alloc poor = {
        .get = get_unless_visit, .resize = resize, .put = put};
    seine_err e;
    desk d;

    open_desk(&d, UINT32_MAX);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    find(&d, "http://a.example/2", 1, SN_ADDRESS_PUBLIC);
    robots_end(&d, sn_frontier_next(d.f, d.last.host, 0).visit, 404, "");
    sn_visit *last = sn_visits_take(d.t.shared.visits, &e); /* no other one is there */
    CHECK_EQ(seine_set_alloc(&poor), SEINE_OK);
    CHECK(!sn_frontier_drain(d.f, d.last.host, 0));
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    CHECK_EQ(d.refused, 2);
    CHECK_EQ(d.reason, SEINE_SKIP_BUDGET);
    CHECK_STR(d.rule, "no memory");
    CHECK_EQ(sn_frontier_waiting(d.f), 0);
    sn_visits_give(d.t.shared.visits, last);
    close_desk(&d);
}

/* Room for rules. */

/* A robots.txt of so many rules; the file is kept until the next call. */
static const char *
rules(int n)
{
    static char text[100000];
    size_t len = (size_t)snprintf(text, sizeof text, "User-agent: *\n");

    for (int i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "Disallow: /private/%d/\n",
                                i);
    return text;
}

/* A page waits at a host of that name. */
static uint32_t
host_with_page(desk *d, const char *name)
{
    char url[64];

    snprintf(url, sizeof url, "http://%s.example/1", name);
    find(d, url, 1, SN_ADDRESS_PUBLIC);
    return d->last.host;
}

/* robots.txt is what the host is asked for, and it answers so. */
static void
read_rules(desk *d, uint32_t host, int n)
{
    sn_offer offer = sn_frontier_next(d->f, host, 0);

    CHECK(offer.visit && offer.visit->kind == SN_KIND_ROBOTS);
    if (offer.visit)
        robots_end(d, offer.visit, 200, rules(n));
}

static bool
offers_nothing(desk *d, uint32_t host)
{
    sn_offer offer = sn_frontier_next(d->f, host, 0);

    return !offer.visit && offer.left == 0 && !offer.is_no_memory;
}

TEST(frontier_shares_an_eighth_of_the_memory_among_the_rules_of_its_hosts)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    d.t.shared.opts.max_memory = 0; /* no limit */
    CHECK_EQ(sn_frontier_max_robots(d.f), SIZE_MAX);
    d.t.shared.opts.max_memory = (uint64_t)1 << 30;
    CHECK_EQ(sn_frontier_max_robots(d.f), 128 << 20);
    d.f->n = 4; /* shards */
    CHECK_EQ(sn_frontier_max_robots(d.f), 32 << 20);
    d.f->n = 1;
    d.t.shared.opts.max_memory = 1 << 20; /* the largest file fits in any case */
    CHECK_EQ(sn_frontier_max_robots(d.f), 8 << 20);
    close_desk(&d);
}

TEST(frontier_without_room_takes_the_most_rules_and_asks_for_them_again)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t large = host_with_page(&d, "large"), small = host_with_page(&d, "small");
    read_rules(&d, large, 300);
    d.f->max_robots = d.f->hosts.robots_bytes; /* not a byte more */
    read_rules(&d, small, 3);
    CHECK(d.f->hosts.robots_bytes <= d.f->max_robots);
    CHECK(sn_crawl_hosts_state(&d.f->hosts, large)->waits_room);
    CHECK(offers_nothing(&d, large)); /* nobody knows what it forbids */
    sn_frontier_end_turn(d.f);
    CHECK(offers_nothing(&d, large)); /* the other one still needs its rules */
    check_page(&d, small, "/1", 0);
    sn_frontier_end_turn(d.f);
    CHECK_EQ(d.last.host, large);
    CHECK_EQ(d.last.n, 1);
    CHECK(d.f->reserved > 0);
    find(&d, "http://large.example/private/7/x", 1, SN_ADDRESS_PUBLIC);
    read_rules(&d, large, 300);
    CHECK_EQ(d.f->reserved, 0);
    check_page(&d, large, "/1", 1);
    CHECK(offers_nothing(&d, large));
    CHECK_EQ(d.refused, 1); /* the rules are there again */
    close_desk(&d);
}

TEST(frontier_lets_hosts_wait_for_room_in_the_order_they_came)
{
    static const char *const names[] = {"b", "c", "d"};
    uint32_t hosts[3];
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t first = host_with_page(&d, "a");
    for (int i = 0; i < 3; i++)
        hosts[i] = host_with_page(&d, names[i]);
    read_rules(&d, first, 100);
    d.f->max_robots = d.f->hosts.robots_bytes;
    for (int i = 0; i < 3; i++) {
        read_rules(&d, hosts[i], 100); /* nobody has more: it waits itself */
        CHECK(offers_nothing(&d, hosts[i]));
    }
    check_page(&d, first, "/1", 0);
    for (int i = 0; i < 3; i++) {
        sn_frontier_end_turn(d.f);
        CHECK_EQ(d.last.host, hosts[i]);
        read_rules(&d, hosts[i], 100);
        check_page(&d, hosts[i], "/1", 0);
        CHECK_EQ(d.f->reserved, 0);
    }
    CHECK_EQ(d.f->first_room, SN_NONE);
    close_desk(&d);
}

static bool
waits_for_room(const desk *d, uint32_t host)
{
    return sn_crawl_hosts_state(&d->f->hosts, host)->waits_room;
}

/* What is promised to one host is not promised to the next, to the byte. */
TEST(frontier_gives_room_that_is_free_and_not_reserved)
{
    static const struct {
        int less; /* bytes that are missing */
        bool first;
    } rows[] = {{0, true}, {1, false}};

    EACH_ROW(i, rows) {
        desk d;

        open_desk(&d, UINT32_MAX);
        uint32_t busy = host_with_page(&d, "busy"), b = host_with_page(&d, "b"),
                 c = host_with_page(&d, "c");
        read_rules(&d, busy, 3);
        size_t own = d.f->hosts.robots_bytes;
        d.f->max_robots = own;
        read_rules(&d, b, 100);
        read_rules(&d, c, 100);
        CHECK(waits_for_room(&d, b) && waits_for_room(&d, c));
        size_t needs = sn_crawl_hosts_state(&d.f->hosts, b)->needs;
        CHECK_EQ(sn_crawl_hosts_state(&d.f->hosts, c)->needs, needs);

        d.f->max_robots = own + needs - (size_t)rows[i].less;
        sn_frontier_end_turn(d.f);
        CHECK_EQ(waits_for_room(&d, b), !rows[i].first);
        CHECK_EQ(d.f->reserved, rows[i].first ? needs : 0);
        sn_frontier_end_turn(d.f);
        CHECK(waits_for_room(&d, c)); /* the rest is reserved */
        CHECK_EQ(d.f->reserved, rows[i].first ? needs : 0);

        d.f->max_robots = own + 2 * needs - 1;
        sn_frontier_end_turn(d.f);
        CHECK(waits_for_room(&d, c));
        d.f->max_robots = own + 2 * needs;
        sn_frontier_end_turn(d.f);
        CHECK(!waits_for_room(&d, c));
        CHECK_EQ(d.f->reserved, 2 * needs);
        read_rules(&d, b, 100);
        read_rules(&d, c, 100);
        CHECK(!waits_for_room(&d, b) && !waits_for_room(&d, c));
        CHECK_EQ(d.f->reserved, 0);
        CHECK_EQ(d.f->hosts.robots_bytes, d.f->max_robots);
        close_desk(&d);
    }
}

TEST(frontier_reads_rules_that_do_not_fit_when_nobody_else_has_any)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t busy = host_with_page(&d, "busy"), large = host_with_page(&d, "large");
    read_rules(&d, busy, 3);
    d.f->max_robots = d.f->hosts.robots_bytes;
    read_rules(&d, large, 300);
    sn_frontier_end_turn(d.f);
    CHECK(waits_for_room(&d, large)); /* it needs more than all */
    check_page(&d, busy, "/1", 0);
    sn_frontier_end_turn(d.f);
    CHECK(!waits_for_room(&d, large));
    CHECK_EQ(d.f->hosts.robots_bytes, 0);
    close_desk(&d);
}

TEST(frontier_keeps_no_room_for_a_host_whose_pages_are_gone)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t a = host_with_page(&d, "a"), b = host_with_page(&d, "b");
    read_rules(&d, a, 100);
    d.f->max_robots = d.f->hosts.robots_bytes;
    read_rules(&d, b, 100);
    sn_visit *v = sn_frontier_drain(d.f, b, 0);
    CHECK(v != NULL);
    emit(&d, v);
    check_page(&d, a, "/1", 0);
    unsigned said = d.said;
    sn_frontier_end_turn(d.f);
    CHECK_EQ(d.said, said);
    CHECK_EQ(d.f->reserved, 0);
    CHECK_EQ(d.f->first_room, SN_NONE);
    close_desk(&d);
}

TEST(frontier_that_drains_a_host_gives_its_reserved_room_back)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t a = host_with_page(&d, "a"), b = host_with_page(&d, "b");
    read_rules(&d, a, 100);
    d.f->max_robots = d.f->hosts.robots_bytes;
    read_rules(&d, b, 100);
    check_page(&d, a, "/1", 0);
    sn_frontier_end_turn(d.f);
    CHECK(d.f->reserved > 0);
    sn_visit *v = sn_frontier_drain(d.f, b, 0);
    CHECK(v != NULL);
    emit(&d, v);
    CHECK_EQ(d.f->reserved, 0);
    close_desk(&d);
}

/* Slices of a turn. */

TEST(frontier_refuses_so_many_of_a_host_in_a_turn_and_goes_on_in_the_next)
{
    char url[64];
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t other = host_with_page(&d, "other");
    for (unsigned i = 0; i < SN_REFUSED_TURN + 5; i++) {
        snprintf(url, sizeof url, "http://a.example/private/%u", i);
        find(&d, url, 1, SN_ADDRESS_PUBLIC);
    }
    find(&d, "http://a.example/open", 1, SN_ADDRESS_PUBLIC);
    uint32_t host = d.last.host;
    robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 200,
               "User-agent: *\nDisallow: /private/\n");
    robots_end(&d, sn_frontier_next(d.f, other, 0).visit, 404, "");
    CHECK_EQ(sn_frontier_when(d.f), SEINE_NEVER);

    CHECK(!sn_frontier_next(d.f, host, 0).visit);
    CHECK_EQ(d.refused, SN_REFUSED_TURN);
    CHECK_EQ(sn_frontier_when(d.f), 0); /* there is more to say at once */
    unsigned said = d.said;
    sn_frontier_due(d.f, 0);
    CHECK_EQ(d.said, said + 1);
    CHECK_EQ(d.last.host, host);
    CHECK_EQ(d.last.n, 6);
    CHECK_EQ(sn_frontier_when(d.f), SEINE_NEVER);
    check_page(&d, host, "/open", 0);
    CHECK_EQ(d.refused, SN_REFUSED_TURN + 5);
    check_page(&d, other, "/1", 0);
    close_desk(&d);
}

TEST(frontier_out_of_steps_judges_nobody_before_the_next_turn)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t a = host_with_page(&d, "a"), b = host_with_page(&d, "b");
    robots_end(&d, sn_frontier_next(d.f, a, 0).visit, 200, rules(3));
    robots_end(&d, sn_frontier_next(d.f, b, 0).visit, 200, rules(3));
    d.f->robots_steps = SN_ROBOTS_TURN - 1; /* one more is there */
    check_page(&d, a, "/1", 0);
    d.f->robots_steps = SN_ROBOTS_TURN;
    CHECK(!sn_frontier_next(d.f, b, 0).visit);
    CHECK(!sn_frontier_next(d.f, b, 0).visit); /* it is noted once */
    CHECK_EQ(sn_frontier_when(d.f), 0);

    sn_visit *given = visit(&d.t, "http://a.example/given");
    CHECK_EQ(sn_frontier_admit(d.f, given, 0), SN_ADMISSION_HELD);
    CHECK_EQ(sn_frontier_waiting(d.f), 2);
    CHECK(sn_frontier_has_released(d.f));
    CHECK(!sn_frontier_released(d.f));
    sn_frontier_end_turn(d.f);
    CHECK(sn_frontier_released(d.f) == given);
    CHECK(!sn_frontier_has_released(d.f));
    CHECK_EQ(sn_frontier_waiting(d.f), 1);
    CHECK_EQ(sn_frontier_admit(d.f, given, 0), SN_ADMISSION_OK);
    sn_visits_give(d.t.shared.visits, given);

    unsigned said = d.said;
    sn_frontier_due(d.f, 0);
    CHECK_EQ(d.said, said + 1);
    CHECK_EQ(d.last.n, 1);
    check_page(&d, b, "/1", 0);
    close_desk(&d);
}

/* A lack of memory. */

TEST(frontier_without_memory_for_robots_txt_asks_again_later)
{
    static const seine_alloc poor = {
        .get = get_unless_visit, .resize = resize, .put = put};
    seine_err e;
    desk d;

    open_desk(&d, UINT32_MAX);
    uint32_t host = host_with_page(&d, "a");
    d.f->reserved = sn_crawl_hosts_state(&d.f->hosts, host)->reserved = 1000;
    CHECK_EQ(seine_set_alloc(&poor), SEINE_OK);
    sn_visit *last = NULL, *own;
    while ((own = sn_visits_take(d.t.shared.visits, &e))) { /* no other one is there */
        own->next = last;
        last = own;
    }
    sn_offer offer = sn_frontier_next(d.f, host, 0);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    CHECK(!offer.visit && offer.is_no_memory);
    CHECK_EQ(offer.left, 0);
    CHECK_EQ(d.f->reserved, 0);
    CHECK_STR(d.event.name, "robots.unreachable");
    CHECK_EQ(d.event.cause, SEINE_E_NOMEM);
    CHECK_EQ(d.event.until, SEINE_SECS(60));
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 1);
    CHECK_EQ(sn_frontier_when(d.f), SEINE_SECS(60));
    sn_frontier_due(d.f, SEINE_SECS(60));
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 0);
    robots_end(&d, sn_frontier_next(d.f, host, SEINE_SECS(60)).visit, 404, "");
    check_page(&d, host, "/1", 0);
    while ((own = last)) {
        last = own->next;
        sn_visits_give(d.t.shared.visits, own);
    }
    close_desk(&d);
}

/* No memory at all. */
static void *
get_nothing(size_t n, void *arg)
{
    (void)n;
    (void)arg;
    return NULL;
}

static void *
resize_nothing(void *p, size_t n, void *arg)
{
    (void)p;
    return get_nothing(n, arg);
}

/* Each link has a place to wait, a refusal, or is lost and counted. */
TEST(frontier_without_memory_counts_every_link_that_it_loses)
{
    static const seine_alloc none = {
        .get = get_nothing, .resize = resize_nothing, .put = put};
    enum { LINKS = 20000 };
    desk d;

    open_desk(&d, UINT32_MAX);
    sn_visit *v = page_of_links(&d, "http://a.example/", "a", LINKS);
    CHECK_EQ(seine_set_alloc(&none), SEINE_OK);
    CHECK(sn_frontier_page(d.f, v, 0));
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    CHECK(atomic_load(&d.t.shared.lost) > 0);
    CHECK_EQ(sn_frontier_err(d.f), SEINE_E_NOMEM);
    CHECK_EQ(sn_frontier_admitted(d.f) + d.refused + atomic_load(&d.t.shared.lost),
             LINKS);
    drop_page(&d, v);
    close_desk(&d);
}

/* robots.txt that is not obeyed is not waited for, and its old rules are gone. */
TEST(frontier_in_an_audit_forgets_rules_that_cannot_be_had_again)
{
    desk d;

    open_desk(&d, UINT32_MAX);
    d.t.shared.opts.robots = SEINE_OBEY_AUDIT;
    uint32_t host = host_with_page(&d, "a");
    read_rules(&d, host, 100);
    CHECK(d.f->hosts.robots_bytes > 0);
    seine_time later = SEINE_SECS(25 * 3600);
    sn_offer offer = sn_frontier_next(d.f, host, later);
    CHECK(offer.visit && offer.visit->kind == SN_KIND_ROBOTS);
    robots_end(&d, offer.visit, 503, "");
    CHECK_EQ(d.f->hosts.robots_bytes, 0);
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 0);
    CHECK_EQ(d.last.n, 1);
    check_page(&d, host, "/1", 0);
    close_desk(&d);
}

/* With a job what waits stays there. */

TEST(frontier_that_leaves_a_host_has_nothing_more_of_it)
{
    desk d;

    open_desk(&d, 5);
    uint32_t a = host_with_page(&d, "a"), b = host_with_page(&d, "b");
    CHECK_EQ(sn_frontier_leave(d.f, b + 7), 0); /* nobody knows it */
    robots_end(&d, sn_frontier_next(d.f, a, 0).visit, 503, "");
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 1);
    d.f->reserved = sn_crawl_hosts_state(&d.f->hosts, b)->reserved = 1000;
    unsigned said = d.said;
    CHECK_EQ(sn_frontier_leave(d.f, a), 1);
    CHECK_EQ(sn_shared_state_load(&d.t.shared).stuck, 0);
    CHECK_EQ(d.said, said + 1);
    CHECK_EQ(d.last.n, 0);
    CHECK_EQ(sn_frontier_leave(d.f, b), 1);
    CHECK_EQ(d.f->reserved, 0);
    CHECK_EQ(d.last.n, 0);
    CHECK_EQ(sn_frontier_leave(d.f, b), 0);
    CHECK_EQ(d.said, said + 2); /* there was nothing to say */
    CHECK_EQ(sn_frontier_waiting(d.f), 0);
    CHECK_EQ(atomic_load(&d.t.shared.left), 2);
    close_desk(&d);
}

TEST(frontier_that_leaves_a_host_leaves_what_goes_first_too)
{
    desk d;

    open_desk(&d, 5);
    find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
    uint32_t host = d.last.host;
    robots_end(&d, sn_frontier_next(d.f, host, 0).visit, 404, "");
    find(&d, "http://a.example/2", 2, SN_ADDRESS_PUBLIC);
    check_page(&d, host, "/1", 1);
    find(&d, "http://a.example/1b", 1, SN_ADDRESS_PUBLIC); /* of a level that has begun */
    CHECK_EQ(sn_crawl_hosts_state(&d.f->hosts, host)->first.n, 1);
    CHECK_EQ(sn_frontier_waiting(d.f), 2);
    CHECK_EQ(sn_frontier_leave(d.f, host), 2);
    CHECK_EQ(sn_frontier_waiting(d.f), 0);
    CHECK(!sn_frontier_next(d.f, host, 0).visit);
    close_desk(&d);
}
