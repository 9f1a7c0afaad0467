/* SPDX-License-Identifier: Apache-2.0 */
/* A frontier on a store that is not in memory: URLs of an earlier run wait there, what is
 * taken has to be read first, and the disk may fail. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/frontier.h"
#include "fake_disk.h"
#include "script.h"
#include "store/store_mem.h"

#define HOST "http://a.test:80"

/* A store whose every URL comes one commit after it was asked for. */
typedef struct slow_store {
    sn_store base;
    sn_store *mem;
    sn_store_opts opts;
    bool is_asked, is_here;
} slow_store;

static const sn_store_ops slow;

/* What the tests say and want to know; stores come and go. */
static struct {
    const char *left[4]; /* pages of HOST that an earlier run has left */
    uint32_t n_busy, n_ready;
    uint64_t done;
    uint64_t numbers[16]; /* of these */
} disk;

static seine_err
slow_open(const sn_store_opts *o, sn_store **out_store)
{
    slow_store *s = sn_zalloc(sizeof *s);

    s->opts = *o;
    CHECK_EQ(sn_store_open(&sn_store_mem, o, &s->mem), SEINE_OK);
    s->base.ops = &slow;
    *out_store = &s->base;
    return SEINE_OK;
}

static seine_err
slow_scan(sn_store *s, const sn_scan *into)
{
    slow_store *w = (slow_store *)s;

    for (size_t i = 0; i < 4 && disk.left[i]; i++) {
        sn_waiting_url u = {.target = sn_str_of(disk.left[i]), .number = 100 + i};
        sn_url_list *list = into->list(SN_STR(HOST), SN_KIND_PAGE, into->arg);

        if (!list)
            return SEINE_E_NOMEM;
        CHECK_EQ(sn_store_enqueue(w->mem, list, &u), SEINE_OK);
    }
    return SEINE_OK;
}

static seine_err
slow_enqueue(sn_store *s, sn_url_list *list, const sn_waiting_url *url)
{
    CHECK(url->host.len == 0 || sn_str_eq(url->host, SN_STR(HOST)));
    return sn_store_enqueue(((slow_store *)s)->mem, list, url);
}

static seine_err
slow_take(sn_store *s, sn_url_list *list, uint32_t deepest, sn_waiting_url *out_url)
{
    slow_store *w = (slow_store *)s;

    if (list->n == 0)
        return SEINE_E_CLOSED;
    if (!w->is_here && deepest != SN_STORE_AT_ONCE) {
        w->is_asked = true;
        disk.n_busy++;
        return SEINE_E_BUSY;
    }
    w->is_here = false;
    return sn_store_take(w->mem, list, deepest, out_url);
}

static seine_err
slow_skip(sn_store *s, sn_url_list *list, sn_lost *out_lost)
{
    return sn_store_skip(((slow_store *)s)->mem, list, out_lost);
}

static seine_err
slow_commit(sn_store *s, const sn_group *group)
{
    slow_store *w = (slow_store *)s;

    for (uint32_t i = 0; i < group->n_done; i++, disk.done++)
        if (disk.done < 16)
            disk.numbers[disk.done] = group->done[i];
    s->figures.done += group->n_done;
    if (w->is_asked) {
        w->is_asked = false;
        w->is_here = true;
        disk.n_ready++;
        w->opts.ready(SN_STR(HOST), w->opts.arg);
    }
    return SEINE_OK;
}

static seine_err
slow_close(sn_store *s, bool clean)
{
    CHECK_EQ(sn_store_close(((slow_store *)s)->mem, clean), SEINE_OK);
    sn_free(s);
    return SEINE_OK;
}

static const sn_store_ops slow = {slow_open, slow_scan,   slow_enqueue, slow_take,
                                  slow_skip, slow_commit, slow_close};

typedef struct told {
    uint32_t n, ok;
    bool is_new[4]; /* /a /b /c /d */
} told;

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    told *t = arg;

    (void)shard;
    t->n++;
    t->ok += r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK;
    if (r->url.len == strlen("http://a.test/x"))
        t->is_new[(r->url.ptr[r->url.len - 1] - 'a') & 3] = true;
}

/* Crawls from "/", which leads to /c and /d, on such a store. */
static told
crawl(seine_fetch_stats *out_stats)
{
    script *s = script_new(NULL);
    seine_crawl_opts opts = seine_crawl_defaults();
    seine_fetch_opts o = script_opts(s);
    sn_net net = *script_net(s);
    seine_ask ask = SEINE_ASK;
    told t = {0};
    seine_fetch *f = NULL;

    opts.sitemaps = SEINE_SITEMAPS_OFF;
    o.crawl = &opts;
    o.robots = SEINE_OBEY_ON;
    o.on_record = on_record;
    o.arg = &t;
    net.store = &slow;
    disk.n_busy = disk.n_ready = 0;
    disk.done = 0;
    script_on(s, "http://a.test/robots.txt", &(answer){.status = 404});
    script_on(s, "http://a.test/",
              &(answer){.fields = "Content-Type: text/html",
                        .body = "<a href=c>c</a><a href=d>d</a>"});
    CHECK_EQ(sn_fetch_open(&o, &net, &f, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(seine_fetch_add(f, &ask, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_stats_get(f, out_stats);
    seine_fetch_free(f);
    script_free(s);
    return t;
}

TEST(frontier_waits_for_a_url_that_has_to_be_read)
{
    seine_fetch_stats stats;

    disk.left[0] = NULL;
    told t = crawl(&stats);
    CHECK_EQ(t.n, 3);
    CHECK_EQ(t.ok, 3);
    CHECK_EQ(disk.n_busy, 2); /* once for each */
    CHECK_EQ(disk.n_ready, 2);
    CHECK_EQ(stats.admitted, 3);
    CHECK_EQ(stats.waiting + stats.in_flight, 0);
}

TEST(frontier_finishes_every_url_that_came_out_of_the_store)
{
    seine_fetch_stats stats;

    disk.left[0] = NULL;
    crawl(&stats);
    CHECK_EQ(disk.done, 2); /* the seed was never in it */
    CHECK(disk.numbers[0] != disk.numbers[1]);
}

TEST(frontier_asks_for_what_an_earlier_run_has_left)
{
    seine_fetch_stats stats;

    disk.left[0] = "/a";
    disk.left[1] = "/b";
    disk.left[2] = NULL;
    told t = crawl(&stats);
    CHECK_EQ(t.n, 5);
    CHECK_EQ(t.ok, 5);
    for (int i = 0; i < 4; i++)
        CHECK(t.is_new[i]);
    CHECK_EQ(stats.admitted, 5);
    CHECK_EQ(disk.done, 4);
}

/* A store that spills all it can to a disk in memory. */

enum { LINKS = 4000 };

static fake_disk bad_disk;
static sn_spill_disk bad_ops;

static seine_err
bad_open(const sn_store_opts *o, sn_store **out_store)
{
    sn_store_opts small = *o;

    small.max_bytes = 1;
    small.disk = &bad_ops;
    return sn_store_open(&sn_store_mem, &small, out_store);
}

static const sn_store_ops bad = {.open = bad_open};

typedef struct ends {
    uint32_t n, ok, canceled, skips;
} ends;

static void
count_ends(const seine_record *r, unsigned shard, void *arg)
{
    ends *t = arg;

    (void)shard;
    t->n++;
    t->skips += r->type == SEINE_RECORD_SKIP;
    t->ok += r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK;
    t->canceled += r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_CANCELED;
}

static char *
many_links(void)
{
    enum { ROOM = 40 };
    char *page = malloc(LINKS * ROOM), *at = page;

    for (unsigned i = 0; i < LINKS; i++)
        at += snprintf(at, ROOM, "<a href='/%u/%u'>", i * 7919 % LINKS, i);
    return page;
}

/* Crawls a page with many links on the disk as it is; returns what finish does. */
static seine_err
crawl_on_bad_disk(uint32_t depth, ends *out_ends, seine_fetch_stats *out_stats,
                  seine_diag *out_diag)
{
    script *s = script_new(NULL);
    seine_crawl_opts opts = seine_crawl_defaults();
    seine_fetch_opts o = script_opts(s);
    sn_net net = *script_net(s);
    seine_ask ask = SEINE_ASK;
    seine_fetch *f = NULL;
    char *page = many_links();

    *out_ends = (ends){0};
    bad_ops = fake_disk_ops(&bad_disk);
    opts.sitemaps = SEINE_SITEMAPS_OFF;
    opts.depth = depth;
    o.crawl = &opts;
    o.on_record = count_ends;
    o.arg = out_ends;
    net.store = &bad;
    script_on(s, "http://a.test/",
              &(answer){.fields = "Content-Type: text/html", .body = page});
    CHECK_EQ(sn_fetch_open(&o, &net, &f, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(seine_fetch_add(f, &ask, NULL), SEINE_OK);
    seine_err e = seine_fetch_finish(f, NULL);
    CHECK_EQ(seine_fetch_err(f, out_diag), e);
    seine_fetch_stats_get(f, out_stats);
    CHECK_EQ(out_stats->waiting + out_stats->in_flight, 0);
    CHECK_EQ(out_stats->given,
             out_stats->admitted + out_stats->refused + out_stats->lost);
    CHECK_EQ(out_ends->n, out_stats->done + out_stats->refused);
    seine_fetch_free(f);
    script_free(s);
    fake_disk_free(&bad_disk);
    free(page);
    return e;
}

TEST(frontier_spills_and_loses_nothing)
{
    seine_fetch_stats stats;
    seine_diag diag;
    ends t;

    bad_disk = (fake_disk){.choppy = true};
    CHECK_EQ(crawl_on_bad_disk(5, &t, &stats, &diag), SEINE_OK);
    CHECK_EQ(t.ok, LINKS + 1);
    CHECK_EQ(stats.lost, 0);
    CHECK_STR(diag.text, "");
    CHECK(bad_disk.writes > 5);
}

TEST(frontier_ends_the_crawl_when_its_disk_is_full)
{
    seine_fetch_stats stats;
    seine_diag diag;
    ends t;

    bad_disk = (fake_disk){.write_from = 2, .write_error = ENOSPC};
    CHECK_EQ(crawl_on_bad_disk(5, &t, &stats, &diag), SEINE_E_DISK_FULL);
    CHECK_EQ(t.ok + t.canceled, LINKS + 1); /* each of them has its record */
    CHECK(t.canceled > LINKS / 2);
    CHECK_EQ(stats.lost, 0);
    CHECK(strstr(diag.text, "no space left on device") != NULL);
}

TEST(frontier_ends_the_crawl_when_waiting_urls_cannot_be_read)
{
    seine_fetch_stats stats;
    seine_diag diag;
    ends t;

    bad_disk = (fake_disk){.read_from = 3, .read_error = EIO};
    CHECK_EQ(crawl_on_bad_disk(5, &t, &stats, &diag), SEINE_E_IO);
    CHECK(t.ok > 5 && t.canceled > 5);
    CHECK(stats.lost > 100);
    CHECK_EQ(t.ok + t.canceled + stats.lost, LINKS + 1);
    CHECK(strstr(diag.text, "input/output error") != NULL);
}

TEST(frontier_counts_refusals_for_the_end_that_cannot_be_read)
{
    seine_fetch_stats stats;
    seine_diag diag;
    ends t;

    bad_disk = (fake_disk){.read_from = 1, .read_error = EIO};
    CHECK_EQ(crawl_on_bad_disk(0, &t, &stats, &diag), SEINE_E_IO); /* all are too deep */
    CHECK_EQ(t.ok, 1);
    CHECK(t.skips > 5 && stats.lost > 100);
    CHECK_EQ(t.skips + stats.lost, LINKS);
}
