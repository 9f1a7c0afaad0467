/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_fleet.c - seine-sim-fleet: minutes of a fleet in milliseconds, from a seed.
 *
 *     seine-sim-fleet --count 300 --base 0x1a2b3c4d      so many seeds
 *     seine-sim-fleet --seed 0x9c3e --trace              one, told step by step
 *     seine-sim-fleet --count 30 --slow                  Redis as slow as a lease allows
 *     seine-sim-fleet --crowd 10000                      so many workers, see crowd.h
 *
 * Workers are the real ones: keeper, engine and commits. They are killed, stopped in
 * order, paused, suspended and cut off; Redis is restarted, full and slow. It must hold:
 *
 *     every URL that was given or found has one record in the committed segments
 *     no commit succeeds without the lease, and no lease is given twice
 *     no request leaves a worker that has not the lease at that moment
 *     no host is asked earlier than its interval and Crawl-delay allow, whoever asks
 *     no worker starts more than the rate of the fleet has granted it
 *     the job ends
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/time.h"
#include "crowd.h"
#include "store/fleet_call.h"
#include "world.h"

uint64_t
below(world *w, uint64_t n)
{
    return sn_rng_below(&w->dice, n);
}

bool
chance(world *w, uint64_t percent)
{
    return below(w, 100) < percent;
}

seine_span
between(world *w, seine_span from, seine_span to)
{
    return from + (seine_span)below(w, (uint64_t)(to - from) + 1);
}

void
broken(world *w, const char *fmt, ...)
{
    va_list args;

    if (w->is_broken)
        return;
    w->is_broken = true;
    va_start(args, fmt);
    vsnprintf(w->what, sizeof w->what, fmt, args);
    va_end(args);
}

void
note(world *w, const char *what, uint64_t a, uint64_t b)
{
    static const uint64_t key[2] = {1, 2};
    uint64_t mixed[4] = {w->hash, (uint64_t)w->now, a, b};

    mixed[1] ^= sn_siphash(key, what, strlen(what));
    w->hash = sn_siphash(key, mixed, sizeof mixed);
    if (w->trace)
        printf("%10.6f %s %" PRIu64 " %" PRIu64 "\n", (double)w->now / 1e9, what, a, b);
}

/* Drawing. */

static world *
world_new(uint64_t seed, bool trace, bool is_slow)
{
    const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    world *w = calloc(1, sizeof *w);

    w->seed = seed;
    w->trace = trace;
    w->dice = sn_rng_seed(seed);
    w->now = SEINE_SECS(1000);
    snprintf(w->dir, sizeof w->dir, "%s/seine-fleet-XXXXXX", where);
    if (!mkdtemp(w->dir))
        abort();
    w->n_servers = chance(w, 25) ? 2 : 1;
    w->parts = 1 + (uint32_t)below(w, 12);
    w->lease = between(w, SEINE_MS(600), SEINE_SECS(3));
    /* A lease has time for some dozens of questions: else a partition is lost before it
     * is read. */
    w->latency = between(w, is_slow ? w->lease / 80 : SEINE_US(50),
                         is_slow || chance(w, 20) ? w->lease / 60 : SEINE_MS(2));
    w->interval = between(w, SEINE_MS(20), SEINE_MS(300));
    w->every = chance(w, 25) ? between(w, SEINE_MS(5), SEINE_MS(80)) : 0;
    site_draw(w);
    w->crawl = seine_crawl_defaults();
    w->crawl.scope = SEINE_SCOPE_ANY;
    w->crawl.depth = UINT32_MAX;
    w->crawl.sitemaps = SEINE_SITEMAPS_OFF;
    servers_init(w);
    return w;
}

/* The files of segments. */
static void
remove_all(world *w)
{
    char path[400];

    snprintf(path, sizeof path, "%s/job", w->dir);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/job/%s", w->dir, e->d_name);
        (void)!unlink(path);
    }
    if (d)
        closedir(d);
    snprintf(path, sizeof path, "%s/job", w->dir);
    (void)!rmdir(path);
    (void)!rmdir(w->dir);
}

static void
world_free(world *w)
{
    for (uint32_t i = 0; i < w->n_workers; i++)
        worker_free(w->workers[i]);
    servers_free(w);
    remove_all(w);
    free(w);
}

/* Faults. */

static uint32_t
living(const world *w)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n_workers; i++)
        n += !worker_is_over(w->workers[i]) && w->workers[i]->end == LIVING;
    return n;
}

static worker *
any_worker(world *w)
{
    uint32_t n = living(w), k = n > 0 ? (uint32_t)below(w, n) : 0;

    for (uint32_t i = 0; i < w->n_workers; i++)
        if (!worker_is_over(w->workers[i]) && w->workers[i]->end == LIVING && k-- == 0)
            return w->workers[i];
    return NULL;
}

/* The world stands still for a worker; in a suspended one its clock does, too. */
static void
halt(world *w, worker *k, bool is_suspended)
{
    actor *all[] = {&k->keeper, &k->sink, &k->shard};
    seine_span span = between(w, 1, chance(w, 30) ? 10 * w->lease : 2 * w->lease);

    note(w, is_suspended ? "suspend" : "pause", k->index, (uint64_t)span);
    if (w->now < k->stands_until)
        return;
    k->stands_until = w->now + span;
    if (!is_suspended)
        return;
    k->missed += span;
    for (size_t i = 0; i < 3; i++)
        if (all[i]->fiber && all[i]->at != SEINE_NEVER)
            all[i]->at += span;
}

static void
hurt_worker(world *w)
{
    worker *k = any_worker(w);

    if (!k)
        return;
    switch (below(w, 6)) {
    case 0:
        worker_stop(k);
        break;
    case 1:
    case 2:
        worker_kill(k);
        break;
    case 3:
        halt(w, k, true);
        break;
    case 4:
        halt(w, k, false);
        break;
    default:
        k->cut_until = w->now + between(w, 1, chance(w, 30) ? 10 * w->lease : w->lease);
        note(w, "cut", k->index, (uint64_t)k->cut_until);
    }
}

static void
hurt_server(world *w)
{
    uint32_t i = (uint32_t)below(w, w->n_servers);
    seine_time until = w->now + between(w, SEINE_MS(1), SEINE_SECS(4));

    switch (below(w, 3)) {
    case 0:
        note(w, "restart", i, (uint64_t)until);
        server_restart(w, i, until - w->now);
        break;
    case 1:
        note(w, "full", i, (uint64_t)until);
        w->servers[i].full_until = until;
        break;
    default:
        note(w, "slow", i, (uint64_t)until);
        w->servers[i].slow_until = until;
    }
}

static void
hurt(world *w)
{
    uint64_t what = below(w, 10);

    if (what < 3 && w->n_workers < MAX_WORKERS - 1)
        worker_start(worker_new(w));
    else if (what < 8)
        hurt_worker(w);
    else
        hurt_server(w);
}

/* Living. */

/* The next actor, packet or fault; false: nothing will ever happen. */
static bool
step(world *w, seine_time *io_fault, uint32_t *io_faults)
{
    seine_time at =
        sn_time_min(packets_when(w), *io_faults > 0 ? *io_fault : SEINE_NEVER);
    uint32_t from = (uint32_t)below(w, w->n_workers);
    actor *who = NULL;

    for (uint32_t i = 0; i < w->n_workers; i++) {
        seine_time when;
        actor *a = worker_next(w->workers[(from + i) % w->n_workers], &when);

        if (a && when < at) {
            at = when;
            who = a;
        }
    }
    if (at == SEINE_NEVER)
        return false;
    w->now = sn_time_max(w->now, at);
    w->steps++;
    if (who) {
        actor_run(who);
    } else if (packets_when(w) <= w->now) {
        packets_deliver(w);
    } else {
        --*io_faults;
        *io_fault = w->now + between(w, SEINE_MS(1), SEINE_SECS(2));
        hurt(w);
    }
    return true;
}

static bool
is_over(const world *w)
{
    for (uint32_t i = 0; i < w->n_workers; i++)
        if (!worker_is_over(w->workers[i]))
            return false;
    return true;
}

static bool
is_done(world *w)
{
    sn_fleet_key key = sn_fleet_key_of_job(&w->id, "cfg");

    return sn_str_eq(
        redis_model_field(w->servers[0].model, sn_fleet_key_view(&key), SN_STR("done")),
        SN_STR("1"));
}

static void
live(world *w, uint32_t faults)
{
    seine_time fault = w->now + between(w, 0, SEINE_SECS(2));
    seine_time end = w->now + SEINE_SECS(600);
    uint32_t none = 0;

    worker_submit(worker_new(w));
    while (!is_over(w) && !w->is_broken && step(w, &fault, &none))
        continue;
    for (uint64_t n = 1 + below(w, 4); n > 0; n--)
        worker_start(worker_new(w));
    while (!w->is_broken) {
        if (is_over(w) && is_done(w))
            return;
        if (living(w) == 0 && !is_done(w)) { /* somebody looks after it */
            if (w->n_workers == MAX_WORKERS)
                broken(w, "all workers have ended, and the job has not");
            else
                worker_start(worker_new(w));
        }
        if (!w->is_broken && !step(w, &fault, &faults))
            broken(w, "nothing will ever happen, and the job has not ended");
        if (w->now > end)
            broken(w, "the job does not end");
    }
}

/* The end. */

static void
count_line(world *w, const char *line, size_t len)
{
    static const char mark[] = "\"url\":\"";
    const char *at = memmem(line, len, mark, sizeof mark - 1);
    const char *end = at ? memchr(at + sizeof mark - 1, '"',
                                  len - (size_t)(at - line) - (sizeof mark - 1))
                         : NULL;

    if (!end) {
        broken(w, "a segment has a line without a URL");
        return;
    }
    at += sizeof mark - 1;
    uint32_t i = site_page_of(w, (sn_str){at, (size_t)(end - at)});
    if (i == w->n_pages)
        broken(w, "there is a record of %.*s", (int)(end - at), at);
    else
        w->pages[i].records++;
}

/* Up to the length that was committed. */
static void
read_segment(world *w, sn_str name, sn_str says)
{
    char path[160], text[24];
    uint64_t len = strtoull(says.ptr, NULL, 10), records = 0, lines = 0;
    const char *space = memchr(says.ptr, ' ', says.len);

    snprintf(text, sizeof text, "%s", space ? space + 1 : "");
    records = strtoull(text, NULL, 10);
    snprintf(path, sizeof path, "%s/job/%.*s", w->dir, SN_FMT(name));
    FILE *f = fopen(path, "r");
    char *bytes = malloc(len + 1);
    if (!f || fread(bytes, 1, len, f) != len) {
        broken(w, "segment %.*s is shorter than what was committed", SN_FMT(name));
    } else {
        for (size_t at = 0; at < len; lines++) {
            const char *end = memchr(bytes + at, '\n', len - at);
            size_t n = end ? (size_t)(end - bytes) - at : len - at;

            if (!end)
                broken(w, "segment %.*s ends inside of a record", SN_FMT(name));
            count_line(w, bytes + at, n);
            at += n + 1;
        }
        if (lines != records)
            broken(w, "segment %.*s has %" PRIu64 " records, not %" PRIu64, SN_FMT(name),
                   lines, records);
    }
    free(bytes);
    if (f)
        fclose(f);
}

static void
judge(world *w)
{
    for (uint32_t p = 0; p < w->parts; p++) {
        sn_fleet_key key = sn_fleet_key_of(&w->id, p, "seg");
        sn_str name, says;

        for (size_t i = 0; redis_model_pair(w->servers[p % w->n_servers].model,
                                            sn_fleet_key_view(&key), i, &name, &says);
             i++)
            read_segment(w, name, says);
    }
    site_judge(w);
}

typedef struct sums {
    uint64_t commits, fenced, tenures, requests, kills, steps;
    double hours;
} sums;

/* True: all of it held. */
static bool
run_seed(uint64_t seed, bool trace, bool is_slow, uint64_t *out_hash, sums *io_sums)
{
    world *w = world_new(seed, trace, is_slow);
    seine_time began = w->now;

    live(w, chance(w, 10) ? 0 : (uint32_t)below(w, 30));
    if (!w->is_broken)
        judge(w);
    *out_hash = w->hash;
    io_sums->commits += w->commits;
    io_sums->fenced += w->fenced;
    io_sums->tenures += w->tenures;
    io_sums->requests += w->requests;
    io_sums->kills += w->kills;
    io_sums->steps += w->steps;
    io_sums->hours += (double)(w->now - began) / 3600e9;
    if (w->is_broken) {
        printf("sim-fleet: %s\n    seed=0x%" PRIx64 " t=%.6f s replay: seine-sim-fleet "
               "--seed 0x%" PRIx64 " --trace\n",
               w->what, seed, (double)w->now / 1e9, seed);
        remove_all(w);
        return false; /* what is broken cannot be taken apart in order */
    }
    world_free(w);
    return true;
}

int
main(int argc, char **argv)
{
    uint64_t base = 1, count = 1, passed = 0, hash = 0, twin = 0;
    bool trace = false, is_one = false, is_slow = false;
    int failed = 0;
    sums all = {0}, again;

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--trace") == 0) {
            trace = true;
            continue;
        }
        if (strcmp(argv[i], "--slow") == 0) {
            is_slow = true;
            continue;
        }
        if (!value) {
            fprintf(stderr, "usage: seine-sim-fleet [--seed N | --count N [--base N]] "
                            "[--slow] [--trace] | --crowd N\n");
            return 2;
        }
        uint64_t n = strtoull(value, NULL, 0);
        if (strcmp(argv[i], "--crowd") == 0)
            return crowd_run((uint32_t)n, n > 8192 ? 65536 : 8 * (uint32_t)n) ? 0 : 1;
        if (strcmp(argv[i], "--seed") == 0)
            base = n, is_one = true;
        else if (strcmp(argv[i], "--base") == 0)
            base = n;
        else if (strcmp(argv[i], "--count") == 0)
            count = n;
        else
            return fprintf(stderr, "seine-sim-fleet: unknown option '%s'\n", argv[i]), 2;
        i++;
    }
    clock_t began = clock();
    for (uint64_t i = 0; i < count && failed < 5; i++) {
        uint64_t seed = is_one ? base : base * UINT64_C(1000003) + i;
        bool ok = run_seed(seed, trace, is_slow, &hash, &all);

        if (ok && i % 50 == 0 && !trace) { /* some are played twice */
            again = (sums){0};
            ok = run_seed(seed, false, is_slow, &twin, &again) && twin == hash;
            if (twin != hash)
                printf("sim-fleet: seed 0x%" PRIx64 " played twice differs\n", seed);
        }
        passed += ok;
        failed += !ok;
    }
    printf("# %.1f simulated hours in %.1f s of CPU: %" PRIu64 " requests, %" PRIu64
           " tenures, %" PRIu64 " commits, %" PRIu64 " of them fenced, %" PRIu64
           " kills, %" PRIu64 " steps\n",
           all.hours, (double)(clock() - began) / CLOCKS_PER_SEC, all.requests,
           all.tenures, all.commits + all.fenced, all.fenced, all.kills, all.steps);
    printf("%" PRIu64 " passed, %d failed\n", passed, failed);
    return failed > 0;
}
