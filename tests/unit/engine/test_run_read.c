/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that are read by others than their shard. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "engine/page_readers.h"
#include "failing.h"
#include "gather.h"
#include "script.h"
#include "seine/extract.h"
#include "seine/metrics.h"

enum { LARGE = 200 << 10 };

/* A clock at which a reader that asks for the time waits while the gate is shut. Who
 * waits there has left the clock, so that it can be advanced. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_shut;
    unsigned waiting, entered;
    seine_time (*now)(seine_clock *c);
    void (*enter)(seine_clock *c);
} gate;

static gate at = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void
wait_at_gate(seine_clock *c)
{
    pthread_mutex_lock(&at.lock);
    at.waiting++;
    pthread_cond_broadcast(&at.changed);
    while (at.is_shut)
        pthread_cond_wait(&at.changed, &at.lock);
    pthread_mutex_unlock(&at.lock);
    (void)c;
}

static bool
is_shut(void)
{
    pthread_mutex_lock(&at.lock);
    bool shut = at.is_shut;
    pthread_mutex_unlock(&at.lock);
    return shut;
}

static seine_time
now_at_gate(seine_clock *c)
{
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof name);
    if (strncmp(name, "sn-reader", 9) == 0 && is_shut()) {
        seine_clock_fake_leave(c);
        wait_at_gate(c);
        seine_clock_fake_enter(c);
    }
    return at.now(c);
}

static void
count_enter(seine_clock *c)
{
    pthread_mutex_lock(&at.lock);
    at.entered++;
    pthread_mutex_unlock(&at.lock);
    at.enter(c);
}

static void
set_shut(bool shut)
{
    pthread_mutex_lock(&at.lock);
    at.is_shut = shut;
    pthread_cond_broadcast(&at.changed);
    pthread_mutex_unlock(&at.lock);
}

static unsigned
entered(void)
{
    pthread_mutex_lock(&at.lock);
    unsigned n = at.entered;
    pthread_mutex_unlock(&at.lock);
    return n;
}

/* A fetch of values with threads, on a clock that the test advances. */
typedef struct bench {
    seine_clock *clock;
    script *s;
    seine_extract *fields;
    seine_metrics *metrics;
    gather *g;
    seine_fetch_opts o;
    seine_fetch *f;
} bench;

static seine_clock *
new_clock(void)
{
    seine_clock *c = NULL;

    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &c), SEINE_OK);
    return c;
}

static void
set_up(bench *b, seine_clock *clock, uint32_t threads)
{
    memset(b, 0, sizeof *b);
    b->clock = clock;
    at.now = b->clock->now;
    at.enter = b->clock->enter;
    at.waiting = at.entered = 0;
    b->clock->now = now_at_gate;
    b->clock->enter = count_enter;
    b->s = script_new(b->clock);
    b->g = calloc(1, sizeof *b->g);
    b->o = script_opts(b->s);
    b->o.threads = threads;
    b->o.on_record = gather_record;
    b->o.arg = b->g;
}

static void
want_values(bench *b)
{
    CHECK_EQ(seine_extract_new(&b->fields), SEINE_OK);
    CHECK_EQ(seine_extract_add(b->fields, SEINE_EXTRACT_CSS, "body", NULL), SEINE_OK);
    CHECK_EQ(seine_metrics_new(&b->metrics), SEINE_OK);
    b->o.extract = b->fields;
    b->o.metrics = b->metrics; /* so that readers ask for the time */
}

static void
open_fetch(bench *b)
{
    CHECK_EQ(sn_fetch_open(&b->o, script_net(b->s), &b->f, NULL), SEINE_OK);
}

static void
give(bench *b, const char *url)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(b->f, &ask, NULL), SEINE_OK);
}

static void
tear_down(bench *b)
{
    seine_fetch_free(b->f);
    script_free(b->s);
    seine_extract_free(b->fields);
    seine_metrics_free(b->metrics);
    seine_clock_fake_free(b->clock);
    free(b->g);
}

/* Until a reader stands at the gate. */
static void
await_reader(bench *b)
{
    unsigned n = 0;

    while (n == 0 && b->g->n == 0) { /* a record: the shard has read the page itself */
        seine_clock_fake_advance(b->clock, SEINE_MS(10));
        pthread_mutex_lock(&at.lock);
        n = at.waiting;
        pthread_mutex_unlock(&at.lock);
    }
    CHECK_EQ(n, 1);
}

static const answer large = {.fields = "Content-Type: text/html", .fill = LARGE};

/* The reader stands at the gate with the large page until all others have a record. */
TEST(a_large_page_with_values_does_not_hold_the_other_urls_of_its_shard)
{
    bench b;

    set_up(&b, new_clock(), 1);
    want_values(&b);
    script_on(b.s, "http://a.test/large", &large);
    open_fetch(&b);
    set_shut(true);
    give(&b, "http://a.test/large");
    await_reader(&b);
    give(&b, "http://a.test/1");
    give(&b, "http://a.test/2");
    give(&b, "http://b.test/");
    while (b.g->n < 3)
        seine_clock_fake_advance(b.clock, SEINE_MS(10));
    for (int i = 0; i < 3; i++)
        CHECK(!strstr(b.g->all[i].url, "large"));
    set_shut(false);
    while (b.g->n < 4)
        seine_clock_fake_advance(b.clock, SEINE_MS(10));
    CHECK_STR(b.g->all[3].url, "http://a.test/large");
    CHECK_EQ(b.g->all[3].fate, SEINE_FATE_OK);
    CHECK_EQ(b.g->all[3].extract, SEINE_OK);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(b.g->of[i], 1);
    tear_down(&b);
}

TEST(a_small_page_with_values_stays_with_the_one_shard)
{
    bench b;

    set_up(&b, new_clock(), 1);
    want_values(&b);
    script_on(b.s, "http://a.test/",
              &(answer){.fields = "Content-Type: text/html", .fill = LARGE / 2});
    open_fetch(&b);
    give(&b, "http://a.test/");
    while (b.g->n < 1)
        seine_clock_fake_advance(b.clock, SEINE_MS(10));
    CHECK_EQ(entered(), 1);
    CHECK_EQ(b.g->all[0].extract, SEINE_OK);
    tear_down(&b);
}

/* One page is being read and two wait when the run is stopped at once. */
TEST_THREADS(a_stop_while_pages_are_read_leaves_one_record_of_each)
{
    static const char *const urls[] = {"http://a.test/1", "http://a.test/2",
                                       "http://b.test/3"};
    bench b;
    unsigned canceled = 0;

    set_up(&b, new_clock(), 1);
    want_values(&b);
    for (int i = 0; i < 3; i++)
        script_on(b.s, urls[i], &large);
    open_fetch(&b);
    set_shut(true);
    for (int i = 0; i < 3; i++)
        give(&b, urls[i]);
    await_reader(&b);
    while (script_requests(b.s) < 3 || script_in_flight(b.s) > 0)
        seine_clock_fake_advance(b.clock, SEINE_MS(10));
    CHECK_EQ(b.g->n, 0);
    seine_fetch_stop(b.f, SEINE_E_CANCELED);
    seine_fetch_stop(b.f, SEINE_E_CANCELED);
    seine_clock_fake_advance(b.clock, 0); /* the shard obeys */
    CHECK(!seine_fetch_is_done(b.f));
    set_shut(false);
    CHECK_EQ(seine_fetch_finish(b.f, NULL), SEINE_OK);
    CHECK_EQ(b.g->n, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(b.g->of[i], 1);
        CHECK(b.g->all[i].code == SEINE_OK || b.g->all[i].code == SEINE_E_CANCELED);
        canceled += b.g->all[i].code == SEINE_E_CANCELED;
    }
    CHECK(canceled >= 2); /* those that waited; the first may have been read */
    tear_down(&b);
}

/* A site of one host, whose pages come faster than 64 KiB in 4 ms. */

enum { PAGES = 60, FILL = 20 << 10 };

typedef struct site {
    char *body[PAGES];
} site;

static void
site_make(site *w)
{
    for (int n = 0; n < PAGES; n++) {
        char *to = w->body[n] = malloc(FILL + 1024);
        size_t len = (size_t)snprintf(to, 64, "<title>Page %d</title>", n);

        while (len < FILL)
            len += (size_t)snprintf(to + len, 64, "<p class=x>a net</p>\n");
        snprintf(to + len, 256, "<a href=/%d>a</a><a href=/%d>b</a><a href=/%d>c</a>",
                 (2 * n + 1) % PAGES, (2 * n + 2) % PAGES, (n + 7) % PAGES);
    }
}

static void
site_free(site *w)
{
    for (int n = 0; n < PAGES; n++)
        free(w->body[n]);
}

static answer
site_answer(const asked *request, void *arg)
{
    site *w = arg;
    const char *path = strrchr(request->url, '/') + 1;

    return (answer){.fields = "Content-Type: text/html",
                    .body = w->body[strtoul(path, NULL, 10)]};
}

/* What a record says of its page, whatever came first. */
static int
by_url(const void *a, const void *b)
{
    return strcmp(((const gathered *)a)->url, ((const gathered *)b)->url);
}

/* Crawls it; returns how many threads there were. */
static unsigned
crawl_site(site *w, uint32_t threads, gather *out)
{
    seine_crawl_opts crawl = seine_crawl_defaults();
    bench b;

    set_up(&b, new_clock(), threads);
    script_by(b.s, site_answer, w);
    crawl.sitemaps = SEINE_SITEMAPS_OFF;
    crawl.depth = UINT32_MAX;
    crawl.pattern_budget = 0;
    b.o.crawl = &crawl;
    b.o.robots = SEINE_OBEY_OFF;
    b.o.keep = SEINE_KEEP_TITLE | SEINE_KEEP_LINKS;
    open_fetch(&b);
    give(&b, "http://a.test/0");
    seine_fetch_close(b.f);
    while (!seine_fetch_is_done(b.f))
        seine_clock_fake_advance(b.clock, SEINE_MS(10));
    CHECK_EQ(seine_fetch_finish(b.f, NULL), SEINE_OK);
    *out = *b.g;
    qsort(out->all, out->n, sizeof *out->all, by_url);
    unsigned n = entered();
    tear_down(&b);
    return n;
}

TEST_TIMES(a_crawl_tells_the_same_whoever_reads_its_pages, 10)
{
    gather *one = calloc(1, sizeof *one), *many = calloc(1, sizeof *many);
    site w;

    site_make(&w);
    CHECK_EQ(crawl_site(&w, 1, one), 1);
    CHECK_EQ(one->n, PAGES);
    for (uint32_t threads = 2; threads <= 3; threads++) {
        CHECK(crawl_site(&w, threads, many) > threads); /* somebody else read */
        CHECK_EQ(many->n, one->n);
        for (unsigned i = 0; i < PAGES; i++) {
            CHECK_STR(many->all[i].url, one->all[i].url);
            CHECK_STR(many->all[i].title, one->all[i].title);
            CHECK_EQ(many->all[i].n_links, 3);
            CHECK_EQ(many->all[i].fate, SEINE_FATE_OK);
        }
    }
    site_free(&w);
    free(one);
    free(many);
}

/* Fetches the large page, as far as there is memory. */
static void
fetch_large(bench *b)
{
    seine_err e = seine_extract_new(&b->fields);
    seine_ask ask = SEINE_ASK;

    if (e == SEINE_OK)
        e = seine_extract_add(b->fields, SEINE_EXTRACT_CSS, "body", NULL);
    b->o.extract = b->fields;
    script_on(b->s, "http://a.test/large", &large);
    if (e == SEINE_OK)
        e = sn_fetch_open(&b->o, script_net(b->s), &b->f, NULL);
    ask.url = (seine_view){"http://a.test/large", 19};
    if (e == SEINE_OK)
        e = seine_fetch_add(b->f, &ask, NULL);
    CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
    while (e == SEINE_OK && b->g->n < 1)
        seine_clock_fake_advance(b->clock, SEINE_SECS(1));
    CHECK_EQ(b->g->of[0], e == SEINE_OK);
    if (e == SEINE_OK)
        CHECK(fail_hit() ||
              (b->g->all[0].code == SEINE_OK && b->g->all[0].extract == SEINE_OK));
}

/* Any allocation of any thread may fail: there is a record, and it says so or is whole.
 */
TEST(whatever_memory_is_refused_a_page_that_others_read_has_one_record)
{
    FAIL_EACH(round)
    {
        seine_clock *clock = NULL;
        seine_err e = seine_clock_fake_new(T0, 0, 1, &clock);
        bench b;

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e != SEINE_OK)
            continue;
        set_up(&b, clock, 1);
        fetch_large(&b);
        tear_down(&b);
    }
}
