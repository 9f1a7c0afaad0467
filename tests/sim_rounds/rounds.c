/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of an incremental crawl (docs/user/incremental.md) over a site made of numbers.
 *
 * A site has up to 24 pages on two hosts. Between two rounds it is edited: pages change
 * their words or their numbers alone, vanish, come back, or fail for a round; which links
 * a page has depends on its words. Some pages have an ETag. What each round must tell is
 * known from the edits: of every URL that is known, once, how it has changed. A round is
 * killed at any commit, and the disk fails inside of some: what was committed stays told,
 * and the rest is told later, once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "engine/fetch_job.h"
#include "job_disk.h"
#include "script.h"
#include "seine/fetch_control.h"
#include "seine/revisit.h"
#include "store/job_parts.h"

enum { PAGES = 24, ROUNDS = 5, SEEDS = 60 };

typedef enum fault { FINE, STATUS_500, RESET, FORBIDDEN, FAULTS } fault;

typedef struct page {
    unsigned words, numbers; /* versions of what it says */
    bool is_gone, has_etag;
    fault fault; /* of this round */
    char body[2048], fields[96];
    bool is_known;       /* it was given or found, in this round or before */
    unsigned copy[2];    /* words and numbers of the last copy; 0: there is none */
    unsigned told, kept; /* records of this round; of these, committed … */
    seine_change change; /* … and what they say */
} page;

typedef struct world {
    uint64_t seed;
    sn_rng dice;
    unsigned n, round;
    page pages[PAGES];
    seine_revisit_opts revisit;
    seine_crawl_opts crawl;
    script *s;
    seine_fetch_opts opts;
    char dir[64];
    seine_durable_job *job;
    seine_fetch *f;
    uint64_t seq, done_seq;
    bool is_dead;
    unsigned kills;
} world;

static uint64_t
below(world *w, uint64_t n)
{
    return sn_rng_below(&w->dice, n);
}

/* The site. */

static int
put_url(char *to, size_t room, unsigned i)
{
    return snprintf(to, room, "http://h%u.test/p%u", i % 2, i);
}

/* Does page i lead to page k, by its words? */
static bool
leads(const world *w, unsigned i, unsigned k)
{
    uint64_t x = w->seed ^ (i * 64 + k + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
                 w->pages[i].words * UINT64_C(0xd1342543de82ef95);

    x = (x ^ x >> 29) * UINT64_C(0xff51afd7ed558ccd);
    return (x ^ x >> 32) % 5 == 0;
}

static void
write_page(world *w, unsigned i)
{
    page *p = &w->pages[i];
    char word[32] = "w", url[64];
    size_t at;

    for (unsigned n = 0; n < p->words; n++)
        word[n + 1] = (char)('a' + (i + n) % 20);
    word[p->words + 1] = '\0';
    at = (size_t)snprintf(p->body, sizeof p->body, "<title>t</title><p>%s</p><p>%u</p>",
                          word, p->numbers);
    for (unsigned k = 0; k < w->n; k++)
        if (leads(w, i, k)) {
            put_url(url, sizeof url, k);
            at += (size_t)snprintf(p->body + at, sizeof p->body - at, "<a href=%s>x</a>",
                                   url);
        }
    at = (size_t)snprintf(p->fields, sizeof p->fields, "Content-Type: text/html");
    if (p->has_etag)
        snprintf(p->fields + at, sizeof p->fields - at, "\nETag: \"%u-%u-%u\"", i,
                 p->words, p->numbers);
}

static unsigned
page_of(sn_str url)
{
    for (unsigned i = 0; i < PAGES; i++) {
        char text[64];

        if (sn_str_eq(url, (sn_str){text, (size_t)put_url(text, sizeof text, i)}))
            return i;
    }
    return PAGES;
}

/* Does the request name this copy of the page? */
static bool
asks_for(const asked *a, unsigned i, unsigned words, unsigned numbers)
{
    char tag[64];

    snprintf(tag, sizeof tag, "If-None-Match: \"%u-%u-%u\"\n", i, words, numbers);
    return strstr(a->fields, tag) != NULL;
}

/* A condition names the last copy that was told of, or the one of this round. */
static void
check_condition(const page *p, unsigned i, const asked *a)
{
    CHECK(!strstr(a->fields, "If-None-Match") || asks_for(a, i, p->copy[0], p->copy[1]) ||
          asks_for(a, i, p->words, p->numbers));
}

static answer
serve(const asked *a, void *arg)
{
    static const answer faults[FAULTS] = {[STATUS_500] = {.status = 500},
                                          [RESET] = {.err = SEINE_E_CONN_RESET},
                                          [FORBIDDEN] = {.status = 403}};
    world *w = arg;
    unsigned i = page_of(sn_str_of(a->url));

    CHECK(i < w->n);
    if (i >= w->n)
        return (answer){.status = 404};
    page *p = &w->pages[i];
    check_condition(p, i, a);
    if (p->fault != FINE)
        return faults[p->fault];
    if (p->is_gone)
        return (answer){.status = 404};
    if (p->has_etag && asks_for(a, i, p->words, p->numbers))
        return (answer){.status = 304, .fields = p->fields};
    return (answer){.fields = p->fields, .body = p->body};
}

/* What an editor does between two rounds. */
static void
edit(world *w)
{
    for (unsigned i = 0; i < w->n; i++) {
        page *p = &w->pages[i];
        unsigned what = (unsigned)below(w, 10);

        p->fault = below(w, 8) == 0 ? 1 + (fault)below(w, FAULTS - 1) : FINE;
        p->words += what == 0;
        p->numbers += what == 1;
        if (what == 2 && i > 0)
            p->is_gone = !p->is_gone;
        write_page(w, i);
    }
}

/* What a round must tell. */

static bool
is_read(const page *p)
{
    return p->fault == FINE && !p->is_gone;
}

/* All that was known, and all that pages lead to which are read. */
static void
find_pages(world *w)
{
    bool more = true;

    w->pages[0].is_known = true;
    while (more) {
        more = false;
        for (unsigned i = 0; i < w->n; i++)
            for (unsigned k = 0; k < w->n && w->pages[i].is_known; k++)
                if (is_read(&w->pages[i]) && leads(w, i, k) && !w->pages[k].is_known)
                    more = w->pages[k].is_known = true;
    }
}

static seine_change
expect(const world *w, const page *p)
{
    if (p->fault != FINE)
        return SEINE_CHANGE_NONE;
    if (p->is_gone)
        return p->copy[0] ? SEINE_CHANGE_GONE : SEINE_CHANGE_NONE;
    if (!p->copy[0])
        return SEINE_CHANGE_NEW;
    return p->copy[0] == p->words && (p->copy[1] == p->numbers || w->revisit.by_content)
               ? SEINE_CHANGE_SAME
               : SEINE_CHANGE_CHANGED;
}

static void
judge_round(world *w)
{
    find_pages(w);
    for (unsigned i = 0; i < w->n; i++) {
        page *p = &w->pages[i];

        CHECK_EQ(p->told, p->is_known ? 1 : 0);
        if (p->told == 1)
            CHECK_EQ(p->change, expect(w, p));
        if (p->is_known && p->fault == FINE) {
            p->copy[0] = p->is_gone ? 0 : p->words;
            p->copy[1] = p->is_gone ? 0 : p->numbers;
        }
        p->told = p->kept = 0;
    }
}

/* The run. */

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    world *w = arg;
    unsigned i = page_of(r->url);

    (void)shard;
    if (w->is_dead)
        return;
    CHECK(i < w->n);
    CHECK_EQ(r->type, SEINE_RECORD_RESULT);
    CHECK_EQ(sn_job_result(w->job, r, ++w->seq), SEINE_OK);
    if (i >= w->n)
        return;
    w->pages[i].told++;
    w->pages[i].change = seine_record_change(r);
}

static void
remember(world *w)
{
    for (unsigned i = 0; i < w->n; i++)
        w->pages[i].kept = w->pages[i].told;
    w->done_seq = w->seq;
}

/* What ended in one group follows in the next. False: the disk has failed. */
static bool
commit(world *w, bool may_fail)
{
    seine_err e = SEINE_OK;

    if (may_fail)
        sim_job_disk_fail((uint32_t)below(w, 12), (sim_write_failure)below(w, 3));
    for (int i = 0; i < 2 && e == SEINE_OK; i++)
        e = sn_job_commit(w->job, NULL);
    bool has_failed = may_fail && sim_job_disk_has_failed();
    sim_job_disk_mend();
    CHECK_EQ(e == SEINE_OK, !has_failed);
    if (e == SEINE_OK)
        remember(w);
    return e == SEINE_OK;
}

static void
open_run(world *w)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_ask ask = SEINE_ASK;
    char url[64];

    o.state = w->dir;
    o.name = "job";
    o.durability = SEINE_DURABILITY_FAST;
    o.is_remote_ok = o.next_round = true;
    CHECK_EQ(seine_job_open(&o, &w->job, NULL), SEINE_OK);
    w->opts.job = w->job;
    CHECK_EQ(sn_fetch_open(&w->opts, script_net(w->s), &w->f, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_resume(w->f, NULL), SEINE_OK);
    ask.url = (seine_view){url, (size_t)put_url(url, sizeof url, 0)};
    CHECK_EQ(seine_fetch_add(w->f, &ask, NULL), SEINE_OK);
    seine_fetch_close(w->f);
}

/* kill -9: what was not committed never was. */
static void
crash(world *w)
{
    w->is_dead = true;
    seine_fetch_stop(w->f, SEINE_E_CANCELED);
    seine_fetch_stop(w->f, SEINE_E_CANCELED);
    CHECK_EQ(seine_fetch_finish(w->f, NULL), SEINE_OK);
    seine_fetch_free(w->f);
    w->job->err = SEINE_E_IO;
    (void)seine_job_close(w->job, false);
    for (unsigned i = 0; i < w->n; i++)
        w->pages[i].told = w->pages[i].kept;
    w->seq = w->done_seq;
    w->is_dead = false;
    w->kills++;
}

/* True: the round is over; else it was killed. */
static bool
live(world *w, unsigned kills)
{
    open_run(w);
    for (unsigned turns = 0; !seine_fetch_is_done(w->f) && turns < 100000; turns++) {
        bool by_disk = w->kills < kills && below(w, 40) == 0;

        sn_fetch_turn(w->f, script_now(w->s) + SEINE_MS(5));
        if ((below(w, 4) == 0 || by_disk) && !commit(w, by_disk)) {
            crash(w);
            return false;
        }
        if (w->kills < kills && below(w, 20) == 0) {
            crash(w);
            return false;
        }
    }
    seine_fetch_left left;
    CHECK_EQ(seine_fetch_finish(w->f, NULL), SEINE_OK);
    seine_fetch_left_get(w->f, &left);
    CHECK_EQ(left.urls, 0);
    seine_fetch_free(w->f);
    if (w->kills < kills && below(w, 4) == 0) { /* all is done, and nothing committed */
        w->job->err = SEINE_E_IO;
        (void)seine_job_close(w->job, false);
        for (unsigned i = 0; i < w->n; i++)
            w->pages[i].told = w->pages[i].kept;
        w->seq = w->done_seq;
        w->kills++;
        return false;
    }
    commit(w, false);
    CHECK_EQ(seine_job_close(w->job, true), SEINE_OK);
    return true;
}

static void
set_up(world *w, uint64_t seed)
{
    const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    *w = (world){.seed = seed, .dice = sn_rng_seed(seed)};
    snprintf(w->dir, sizeof w->dir, "%s/seine-rounds-XXXXXX", where);
    CHECK(mkdtemp(w->dir) != NULL);
    sim_job_disk_install();
    w->n = 1 + (unsigned)below(w, PAGES);
    for (unsigned i = 0; i < w->n; i++) {
        w->pages[i].words = 1;
        w->pages[i].has_etag = below(w, 2) == 0;
        w->pages[i].is_gone = i > 0 && below(w, 8) == 0;
        write_page(w, i);
    }
    w->s = script_new(NULL);
    script_by(w->s, serve, w);
    w->opts = script_opts(w->s);
    w->crawl = seine_crawl_defaults();
    w->crawl.scope = SEINE_SCOPE_ANY;
    w->crawl.sitemaps = SEINE_SITEMAPS_OFF;
    w->crawl.depth = UINT32_MAX;
    w->revisit = (seine_revisit_opts)SEINE_REVISIT_OPTS;
    w->revisit.start = 0;
    w->revisit.by_content = below(w, 2) == 0;
    w->opts.crawl = &w->crawl;
    w->opts.revisit = &w->revisit;
    w->opts.robots = SEINE_OBEY_OFF;
    w->opts.concurrency = 1 + (uint32_t)below(w, 4);
    w->opts.retry.max_attempts = 1 + (uint32_t)below(w, 3);
    w->opts.breaker.failure_threshold = w->opts.breaker.failure_pct = 0;
    w->opts.on_record = on_record;
    w->opts.arg = w;
}

static void
tear_down(world *w)
{
    static const char *const files[] = {"job/job.db",
                                        "job/job.db-wal",
                                        "job/job.db-shm",
                                        "job/lock",
                                        "job/ballast",
                                        "job",
                                        ""};
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", w->dir, files[i]);
        (void)!remove(path); /* some were never made */
    }
    script_free(w->s);
}

TEST(rounds_tell_the_edits_of_a_site_through_kills_and_bad_disks)
{
    uint64_t base = check_seed();
    world *w = malloc(sizeof *w);
    unsigned kills = 0;

    for (uint64_t i = 0; i < SEEDS; i++) {
        set_up(w, base + i);
        for (w->round = 1; w->round <= ROUNDS; w->round++) {
            unsigned most = w->kills + (unsigned)below(w, 4);

            if (w->round > 1)
                edit(w);
            while (!live(w, most))
                continue;
            judge_round(w);
            script_jump(w->s, SEINE_SECS(3600));
        }
        kills += w->kills;
        tear_down(w);
    }
    CHECK(kills > SEEDS); /* else nobody was killed to speak of */
    free(w);
}
