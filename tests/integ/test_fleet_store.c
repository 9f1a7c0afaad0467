/* SPDX-License-Identifier: Apache-2.0 */
/* A job in a real redis-server beside a model of it (RD8): random histories of links,
 * results and commits, a crash after each, and what the next worker finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "redis.h"
#include "store/fleet_worker.h"
#include "store/job_parts.h"

enum { URLS = 48, PARTS = 3, TURNS = 4000 };

typedef enum standing { UNKNOWN, WAITING, ENDED } standing;

typedef struct url {
    char text[48];
    uint64_t print;
    standing is; /* the model: as of the last commit */
    /* of this worker */
    bool is_waiting, is_ended, is_done; /* told of, as either; finished here */
    uint64_t number;
} url;

typedef struct history {
    sn_rng dice;
    const char *store;
    char dir[64], name[32];
    url urls[URLS];
    sn_fleet *worker;
    bool is_given; /* URLs were given: a worker may begin */
    uint64_t seq;
} history;

static uint64_t
roll(history *h, uint64_t n)
{
    return sn_rng_below(&h->dice, n);
}

static url *
find(history *h, sn_str text)
{
    for (unsigned i = 0; i < URLS; i++)
        if (sn_str_eq(text, sn_str_of(h->urls[i].text)))
            return &h->urls[i];
    return NULL;
}

/* What the worker is told. */

static seine_err
on_acquired(uint32_t part, bool again, void *arg)
{
    (void)part;
    (void)again;
    (void)arg;
    return SEINE_OK;
}

static seine_err
on_prints(uint64_t number, const uint64_t *prints, size_t n, void *arg)
{
    history *h = arg;

    (void)number;
    for (size_t k = 0; k < n; k++) {
        unsigned i = 0;

        while (i < URLS && h->urls[i].print != prints[k])
            i++;
        CHECK(i < URLS && !h->urls[i].is_ended);
        if (i < URLS)
            h->urls[i].is_ended = true;
    }
    return SEINE_OK;
}

static seine_err
on_host(const sn_job_host *row, void *arg)
{
    (void)row;
    (void)arg;
    return SEINE_OK;
}

static void
on_kept(sn_str host, void *arg)
{
    (void)host;
    (void)arg;
}

static seine_err
on_pattern(sn_str host, uint64_t key, uint32_t pages, bool is_trap, void *arg)
{
    (void)host;
    (void)key;
    (void)pages;
    (void)is_trap;
    (void)arg;
    return SEINE_OK;
}

static seine_err
on_print(const sn_fleet_link *l, uint64_t number, uint64_t *out_print, bool *out_known,
         void *arg)
{
    url *u = find(arg, l->url.target);

    (void)number;
    CHECK(u != NULL);
    if (!u)
        return SEINE_E_INVAL;
    *out_print = u->print;
    *out_known = u->is_waiting || u->is_ended;
    u->is_waiting |= !*out_known;
    return SEINE_OK;
}

static seine_err
on_url(const sn_fleet_link *l, uint64_t number, void *arg)
{
    url *u = find(arg, l->url.target);

    CHECK(u && u->is_waiting && !u->is_ended && u->number == 0);
    if (u)
        u->number = number;
    return SEINE_OK;
}

static seine_err
on_seed(sn_str text, void *arg)
{
    (void)text;
    (void)arg;
    return SEINE_OK;
}

static seine_err
on_widened(sn_str from, sn_str to, void *arg)
{
    (void)from;
    (void)to;
    (void)arg;
    return SEINE_OK;
}

static void
on_renewed(void *arg)
{
    (void)arg;
}

static void
on_paused(bool is, void *arg)
{
    (void)is;
    (void)arg;
}

static bool
on_is_idle(void *arg)
{
    (void)arg;
    return false; /* the job is never over: more may be given */
}

static uint64_t
on_backlog(void *arg)
{
    (void)arg;
    return 0;
}

/* A history. */

static void
open_worker(history *h)
{
    sn_fleet_opts o = {.urls = &h->store,
                       .n_urls = 1,
                       .name = h->name,
                       .verb = "crawl",
                       .spec = "{}",
                       .command = "{}",
                       .parts = PARTS,
                       .out = h->dir,
                       .lease = SEINE_SECS(600)};
    char warning[SEINE_DIAG_ROOM];
    seine_diag diag = SEINE_DIAG;

    for (unsigned i = 0; i < URLS; i++) {
        url *u = &h->urls[i];

        u->is_waiting = u->is_ended = u->is_done = false;
        u->number = 0;
    }
    CHECK_EQ(sn_fleet_open(&o, &h->worker, warning, &diag), SEINE_OK);
    CHECK_STR(diag.text, "");
}

/* Links that are given are there at once. */
static void
give_some(history *h)
{
    seine_diag diag = SEINE_DIAG;

    for (uint64_t n = 1 + roll(h, 12); n > 0; n--) {
        url *u = &h->urls[roll(h, URLS)];
        sn_fleet_link l = {.url = {.target = sn_str_of(u->text)}};

        CHECK_EQ(sn_fleet_give(h->worker, &l, &diag), SEINE_OK);
        u->is = u->is == UNKNOWN ? WAITING : u->is;
    }
    CHECK_EQ(sn_fleet_given_all(h->worker, &diag), SEINE_OK);
    h->is_given = true;
}

static bool
knows_all(const history *h)
{
    sn_fleet_figures n;

    for (unsigned i = 0; i < URLS; i++)
        if (h->urls[i].is != UNKNOWN && !h->urls[i].is_waiting && !h->urls[i].is_ended)
            return false;
    sn_fleet_figures_get(h->worker, &n);
    return n.held == PARTS;
}

/* Until the worker knows what the model knows. */
static void
listen(history *h)
{
    const sn_fleet_hooks hooks = {
        .acquired = on_acquired,
        .prints = on_prints,
        .host = on_host,
        .kept = on_kept,
        .pattern = on_pattern,
        .print = on_print,
        .url = on_url,
        .seed = on_seed,
        .widened = on_widened,
        .renewed = on_renewed,
        .paused = on_paused,
        .is_idle = on_is_idle,
        .backlog = on_backlog,
        .arg = h,
    };

    for (unsigned n = 0; n < TURNS && !knows_all(h); n++)
        CHECK_EQ(sn_fleet_tick(h->worker, &hooks, NULL), SN_FLEET_GOING);
    CHECK(knows_all(h));
    for (unsigned i = 0; i < URLS; i++) {
        const url *u = &h->urls[i];

        CHECK_EQ(u->is_ended || u->is_done, u->is == ENDED || u->is_done);
        CHECK_EQ(u->is_waiting || u->is_ended, u->is != UNKNOWN);
    }
}

static void
finish_some(history *h)
{
    for (uint64_t n = roll(h, 12); n > 0; n--) {
        url *u = &h->urls[roll(h, URLS)];
        seine_record r = {.type = SEINE_RECORD_RESULT,
                          .fate = SEINE_FATE_OK,
                          .number = u->number,
                          .status = 200,
                          .url = sn_str_of(u->text)};

        if (!u->is_waiting || u->is_done)
            continue;
        u->is_done = true;
        CHECK_EQ(sn_job_result(sn_fleet_job(h->worker), &r, ++h->seq), SEINE_OK);
    }
}

static void
commit(history *h)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_job_remote_commit(sn_fleet_job(h->worker), true, &diag), SEINE_OK);
    for (unsigned i = 0; i < URLS; i++)
        if (h->urls[i].is_done)
            h->urls[i].is = ENDED;
}

/* What was not committed is gone. */
static void
crash(history *h)
{
    sn_fleet_job(h->worker)->is_given_up = true;
    CHECK_EQ(seine_job_close(sn_fleet_job(h->worker), false), SEINE_OK);
    sn_fleet_free(h->worker);
    h->worker = NULL;
}

static void
begin(history *h, uint64_t seed, const char *store)
{
    static const uint64_t key[2] = {3, 4};
    const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    *h = (history){.dice = sn_rng_seed(seed), .store = store};
    snprintf(h->name, sizeof h->name, "job%llx", (unsigned long long)seed);
    snprintf(h->dir, sizeof h->dir, "%s/seine-store-XXXXXX", where);
    CHECK(mkdtemp(h->dir) != NULL);
    for (unsigned i = 0; i < URLS; i++) {
        url *u = &h->urls[i];
        int n =
            snprintf(u->text, sizeof u->text, "http://h%u.d%u.test/p%u", i % 9, i % 7, i);

        u->print = sn_siphash(key, u->text, (size_t)n);
    }
}

/* Each URL that has ended stands once within the lengths that count. */
static void
remove_segments(const history *h)
{
    char path[160];

    for (unsigned p = 0; p < PARTS; p++)
        for (unsigned e = 1; e < 100; e++) {
            snprintf(path, sizeof path, "%s/%s/p%05u.e%u.jsonl", h->dir, h->name, p, e);
            (void)!unlink(path); /* most are not there */
        }
    snprintf(path, sizeof path, "%s/%s", h->dir, h->name);
    CHECK_EQ(rmdir(path), 0);
    CHECK_EQ(rmdir(h->dir), 0);
}

static void
play(uint64_t seed, test_redis *server)
{
    history *h = malloc(sizeof *h);

    begin(h, seed, test_redis_url(server));
    for (uint64_t worker = 0; worker < 6; worker++) {
        open_worker(h);
        for (uint64_t step = roll(h, 4); step > 0; step--) {
            if (!h->is_given || roll(h, 2)) /* workers wait until the URLs are given */
                give_some(h);
            listen(h);
            finish_some(h);
            if (roll(h, 3))
                commit(h);
        }
        crash(h);
        if (roll(h, 6) == 0) {
            test_redis_kill9(server);
            CHECK(test_redis_again(server));
        }
    }
    open_worker(h);
    give_some(h);
    listen(h);
    crash(h);
    remove_segments(h);
    free(h);
}

TEST(rd8_a_job_in_redis_is_what_its_model_is_after_every_crash)
{
    static const char *const durable[] = {"--appendfsync", "always", NULL};
    test_redis *server = test_redis_start(durable);
    uint64_t base = check_seed(), n = getenv("SOAK") ? 300 : 6;

    for (uint64_t i = 0; i < n && server; i++)
        play(base + i, server);
    test_redis_free(server);
}
