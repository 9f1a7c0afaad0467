/* SPDX-License-Identifier: Apache-2.0 */
/* Responses that together need far more memory than there is: all come home, each asked
 * for once, and the limit holds. */
#include "engine/response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "script.h"

enum { URLS = 16, BODY = 512 << 10, HEAD = 19 };

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    seine_fetch *f;
    uint32_t of[URLS]; /* records of each */
    uint64_t lengths[URLS], taken[URLS], captured[URLS];
    seine_err codes[URLS];
    uint64_t next; /* the number that is written next */
    unsigned n;
    int64_t most; /* bytes that were allocated at once */
    sn_memory_brake *brake;
} fixture;

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    fixture *t = arg;

    (void)shard;
    t->n++;
    t->of[r->number]++;
    t->codes[r->number] = r->fault->code;
    t->lengths[r->number] = r->body.len;
    t->taken[r->number] = r->bytes_body;
    for (size_t i = 0; i < r->n_captures; i++)
        t->captured[r->number] += r->captures[i].response.len;
    while (t->next < URLS && t->of[t->next] > 0)
        t->next++;
}

static uint64_t
next_due(void *arg)
{
    const fixture *t = arg;

    return t->next;
}

static fixture *
set_up(unsigned keep, bool is_known)
{
    fixture *t = calloc(1, sizeof *t);
    const char *fields = is_known ? "Content-Length: 524288" : "X: y";

    t->s = script_new(NULL);
    script_in_pieces(t->s);
    t->opts = script_opts(t->s);
    t->opts.on_record = on_record;
    t->opts.arg = t;
    t->opts.keep = keep;
    t->opts.max_body = BODY;
    t->opts.retry.max_attempts = 1;
    for (int i = 0; i < URLS; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://h%d.test/", i);
        script_on(t->s, url, &(answer){.fields = fields, .fill = BODY});
    }
    return t;
}

static void
run_all(fixture *t, int n)
{
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    for (int i = 0; i < n; i++) {
        seine_ask ask = SEINE_ASK;
        char url[32];

        ask.url =
            (seine_view){url, (size_t)snprintf(url, sizeof url, "http://h%d.test/", i)};
        CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    }
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
}

static void
tear_down(fixture *t)
{
    script_free(t->s);
    free(t);
}

/* What one of these responses takes. */
static uint64_t
need_of(unsigned keep)
{
    return (uint64_t)BODY * (!(keep & SEINE_KEEP_BODY) ? 0
                             : keep & SEINE_KEEP_COPY  ? 2
                                                       : 1) +
           (keep & SEINE_KEEP_WIRE ? (uint64_t)2 * BODY : 0);
}

static const unsigned keeps[] = {SEINE_KEEP_BODY, SEINE_KEEP_BODY | SEINE_KEEP_COPY,
                                 SEINE_KEEP_WIRE, SEINE_KEEP_BODY | SEINE_KEEP_WIRE};

static void
check_home(const fixture *t, unsigned keep)
{
    CHECK_EQ(t->n, URLS);
    for (int i = 0; i < URLS; i++) {
        CHECK_EQ(t->of[i], 1);
        CHECK_EQ(t->codes[i], SEINE_OK);
        CHECK_EQ(t->lengths[i], keep & SEINE_KEEP_BODY ? BODY : 0);
        CHECK_EQ(t->captured[i], keep & SEINE_KEEP_WIRE ? BODY + HEAD : 0);
    }
}

/* By what of a response is kept, whether its length is known, and whether records are
 * written in order. */
TEST(what_does_not_fit_at_once_waits_and_comes_home_whole)
{
    for (int row = 0; row < 16; row++) {
        unsigned keep = keeps[row / 4];
        fixture *t = set_up(keep, row & 1);

        t->opts.max_memory = 4 * need_of(keep);
        if (row & 2)
            t->opts.due = next_due;
        run_all(t, URLS);
        check_home(t, keep);
        CHECK_EQ(script_requests(t->s), URLS);
        tear_down(t);
    }
}

/* There is memory for one of them and little more: the others are asked for again. */
TEST(what_fits_alone_comes_home)
{
    for (int row = 0; row < 16; row++) {
        unsigned keep = keeps[row / 4];
        fixture *t = set_up(keep, row & 1);

        t->opts.max_memory = need_of(keep) + (64 << 10);
        if (row & 2)
            t->opts.due = next_due;
        run_all(t, URLS);
        check_home(t, keep);
        CHECK(script_requests(t->s) <= 4 * URLS);
        tear_down(t);
    }
}

TEST(what_does_not_fit_alone_is_refused_and_asked_for_once)
{
    for (int row = 0; row < 8; row++) {
        unsigned keep = keeps[row / 2];
        fixture *t = set_up(keep, row & 1);

        t->opts.max_memory = need_of(keep) - (64 << 10);
        t->opts.retry.max_attempts = 3;
        run_all(t, 1);
        CHECK_EQ(t->codes[0], SEINE_E_BUDGET);
        CHECK_EQ(script_requests(t->s), 1);
        if (row & 1) /* its length says so with the first piece */
            CHECK(t->taken[0] <= 32 << 10);
        tear_down(t);
    }
}

static bool
look(unsigned shard, void *arg)
{
    fixture *t = arg;

    (void)shard;
    t->most = count_bytes() > t->most ? count_bytes() : t->most;
    return true;
}

/* The most bytes that were allocated in any turn. The length of the bodies is not known:
 * of a buffer that is made at once for all of a body only the filled pages are there. */
static int64_t
peak_of(unsigned keep, bool has_bodies)
{
    fixture *t = set_up(keep, false);

    if (!has_bodies)
        script_flaky(t->s, &(flaky){.pct = 0});
    t->opts.max_memory = 4 * need_of(keep);
    t->opts.ready = look;
    count_begin();
    run_all(t, URLS);
    count_end();
    int64_t most = t->most;
    tear_down(t);
    return most;
}

TEST(bodies_together_take_no_more_than_the_limit)
{
    EACH_ROW(i, keeps) {
        int64_t bare = peak_of(keeps[i], false), full = peak_of(keeps[i], true);

        CHECK(full > bare + BODY);
        CHECK(full - bare <= (int64_t)(4 * need_of(keeps[i])) + URLS * (16 << 10));
    }
}

static void
on_charged(const seine_record *r, unsigned shard, void *arg)
{
    fixture *t = arg;

    (void)shard;
    CHECK_EQ(r->fault->code, SEINE_OK);
    t->most = (int64_t)atomic_load(&script_shared(t->s)->brake->charged);
}

/* The first 4 KiB are free, and small buffers count twice, since they lie on the heap
 * with gaps between them. */
TEST(a_response_is_charged_with_what_it_takes)
{
    const unsigned body = SEINE_KEEP_BODY, copy = SEINE_KEEP_BODY | SEINE_KEEP_COPY;
    enum { gratis = 4096, heap = 20480 };
    const struct {
        size_t len;
        int64_t known; /* as announced; -1: not */
        unsigned keep;
        int64_t want;
    } rows[] = {
        {0, 0, body, 0},
        {1, 1, body, 0},
        {gratis, gratis, body, 0},
        {gratis, -1, body, 0},
        {gratis + 1, gratis + 1, body, 2 * (gratis + 1) - gratis},
        {gratis + 1, -1, body, 2 * (gratis + 1) - gratis},
        {heap - 1, heap - 1, body, 2 * (heap - 1) - gratis},
        {heap, heap, body, heap - gratis},
        {heap, -1, body, 2 * (heap - 1024) - gratis}, /* as before its last piece */
        {100000, 100000, body, 100000 - gratis},
        {100000, 100000, copy, 2 * (100000 - gratis)},
        {100000, 100000, SEINE_KEEP_SHA256 | SEINE_KEEP_COPY, 100000 - gratis},
        {100000, 100000, 0, 0},
        /* a length that is not so: all that was announced, if it is taken at all */
        {gratis + 1, heap - 1, body, 2 * (heap - 1) - gratis},
        {gratis + 1, heap, body, 1},
        {gratis + 1, BODY, body, 1},
        {gratis + 1, BODY + 1, body, 2 * (gratis + 1) - gratis},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture *t = set_up(rows[i].keep, false);
        char fields[64] = "X: y";

        if (rows[i].known >= 0)
            snprintf(fields, sizeof fields, "Content-Length: %lld",
                     (long long)rows[i].known);
        script_free(t->s);
        t->s = script_new(NULL);
        t->opts.clock = script_clock(t->s);
        t->opts.on_record = on_charged;
        script_on(t->s, "http://h0.test/",
                  &(answer){.fields = fields, .fill = rows[i].len});
        run_all(t, 1);
        CHECK_EQ(t->most, rows[i].want);
        tear_down(t);
    }
}

static void
keep_brake(const seine_record *r, unsigned shard, void *arg)
{
    fixture *t = arg;

    on_record(r, shard, arg);
    if (!t->brake) {
        t->brake = script_shared(t->s)->brake;
        sn_memory_brake_ref(t->brake);
    }
}

/* Records keep their memory until the outputs have written them. */
TEST(a_record_that_outlives_its_fetch_wakes_nobody)
{
    fixture *t = set_up(SEINE_KEEP_BODY, false);

    t->opts.on_record = keep_brake;
    run_all(t, 1);
    CHECK(t->brake && !t->brake->wake);
    sn_memory_brake_unref(t->brake);
    tear_down(t);
}
