/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - seine-sim: the engine, hours of it, in milliseconds, from a seed.
 *
 *     seine-sim --count 2000 --base 0x1a2b3c4d     so many seeds
 *     seine-sim --seed 0x9c3e --trace              one, told step by step
 *     seine-sim --kills --count 300                every run has a job, and is killed
 *
 * The engine is the real one (engine/run.c and all below it); clock, dice and transport
 * are numbers. After every step the invariants of docs/internals/sim.md are checked; a
 * broken one prints the command that plays it again.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "disk.h"
#include "engine/admit.h"
#include "engine/fetch_job.h"
#include "engine/run.h"
#include "kills.h"
#include "net.h"
#include "oracle.h"

#define MAX_SHARDS 4

typedef struct sim {
    sim_world *world;
    sn_shared_state shared;
    sn_env env[MAX_SHARDS];
    sn_run *runs[MAX_SHARDS];
    uint32_t fed;
    uint64_t records, skips;
    seine_time stop_at, feed_at;
    int stops;
    sim_kills *kills;    /* the run has a job, and is killed now and then; NULL: not */
    sn_fetch_job before; /* what the run before has left */
    bool is_dead;        /* nobody hears it any more */
} sim;

static uint64_t until_step = UINT64_MAX;
static bool with_kills;     /* every run has a job, and is killed a few times */
static char last_words[64]; /* names the seed that is played */

/* An assertion or worse: the seed is all that is needed. */
static void
on_death(int sig)
{
    ssize_t n = write(STDOUT_FILENO, last_words, strlen(last_words));

    (void)n;
    signal(sig, SIG_DFL);
    raise(sig);
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    sim *s = arg;
    sim_world *w = s->world;

    (void)shard;
    if (s->is_dead)
        return;
    if (s->kills)
        sim_kills_record(s->kills, r);
    s->records++;
    s->skips += r->type == SEINE_RECORD_SKIP;
    if (w->site) {
        oracle_record(w, r);
        return;
    }
    if (r->number >= w->n_pages) {
        sim_broken(w, "S3", "a record of nothing: %llu", (unsigned long long)r->number);
        return;
    }
    sim_page *p = &w->pages[r->number];
    sim_note(w, "record", r->number, (uint64_t)r->fate);
    if (++p->records > 1)
        sim_broken(w, "S3", "page %llu has two records", (unsigned long long)r->number);
    if (r->fate == SEINE_FATE_OK && !(r->status >= 300 && r->status < 400) && !p->last_ok)
        sim_broken(w, "P3", "page %llu is ok and its last answer was not",
                   (unsigned long long)r->number);
    if (r->fate == SEINE_FATE_OK && r->partial)
        sim_broken(w, "P3", "page %llu is ok and partial", (unsigned long long)r->number);
    if (r->attempts > w->opts.retry.max_attempts)
        sim_broken(w, "S0-11", "page %llu had %u attempts", (unsigned long long)r->number,
                   r->attempts);
    sim_judge_attempts(w, r);
}

/* Nothing but the number of retries ends a URL that might still be had. */
void
sim_judge_attempts(sim_world *w, const seine_record *r)
{
    seine_err code = r->fault ? r->fault->code : SEINE_OK;
    bool may_pass = seine_err_class(code) == SEINE_TRANSIENT && code != SEINE_E_NOMEM &&
                    r->fate != SEINE_FATE_GAVE_UP && r->fate != SEINE_FATE_CANCELED;

    if (may_pass && !w->stopping && w->opts.retry.max_elapsed == SEINE_NEVER &&
        r->attempts < w->opts.retry.max_attempts)
        sim_broken(w, "S19", "%.*s ended with %s after %u of %u attempts",
                   (int)(r->url.len < 80 ? r->url.len : 80), r->url.ptr,
                   seine_err_name(code), r->attempts, w->opts.retry.max_attempts);
}

/* What the engine says of its breakers is held against it. */
static void
on_event(const seine_event *e, unsigned shard, void *arg)
{
    sim *s = arg;
    sim_host *h = sim_host_of(s->world, e->host);

    (void)shard;
    if (!h || s->is_dead)
        return;
    sim_note(s->world, e->name, (uint64_t)(h - s->world->hosts), 0);
    if (strcmp(e->name, "breaker.open") == 0) {
        h->closed_until = e->until;
        h->half_open = false;
        h->epoch++;
        h->row = h->wave = 0;
    } else if (strcmp(e->name, "breaker.half_open") == 0) {
        h->half_open = true;
    } else if (strcmp(e->name, "breaker.closed") == 0) {
        h->closed_until = 0;
        h->half_open = false;
        h->epoch++;
        h->row = h->wave = 0;
    }
}

static int
next_url(const sim_world *w, uint32_t i, char *url, size_t cap)
{
    if (w->site)
        return snprintf(url, cap, "%s", w->site->nodes[w->site->seeds[i]].url);
    return snprintf(url, cap, "http://h%u.sim/p/%u", i % w->n_hosts, i);
}

/* As seine_fetch_add does it. */
static void
give(sim *s, sn_visit *v)
{
    sn_shared_state *c = &s->shared;

    if (!v->is_skip && !sn_shared_state_admit(c))
        sn_admit_refuse(v, SEINE_SKIP_BUDGET, SN_STR("max_pages"));
    if (v->is_skip)
        atomic_fetch_add(&c->refused, 1);
    sn_run_give(s->runs[sn_shared_state_shard(c, &v->url, s->world->n_shards)], v);
}

/* What the run before was given and has not finished, as seine_fetch_resume does it. */
static seine_err
feed_again(sim *s)
{
    sn_shared_state *c = &s->shared;
    seine_err e = SEINE_OK, bad = SEINE_OK;
    uint64_t number;
    seine_ask ask;
    sn_visit *v;

    while (e == SEINE_OK && sn_visits_out(c->visits) < c->opts.queue &&
           sn_fetch_job_next(&s->before, &ask, &number, &bad)) {
        e = bad == SEINE_OK ? sn_admit_again(c, &ask, number, s->world->now, &v) : bad;
        if (e != SEINE_OK)
            return e;
        if (v->is_skip) {
            atomic_fetch_sub(&c->admitted, 1);
            atomic_fetch_add(&c->refused, 1);
        }
        sn_run_give(s->runs[sn_shared_state_shard(c, &v->url, s->world->n_shards)], v);
    }
    return e;
}

static seine_err
feed(sim *s)
{
    sim_world *w = s->world;
    char url[200];
    seine_err again = s->kills ? feed_again(s) : SEINE_OK;

    if (again != SEINE_OK || s->before.first)
        return again;

    while (s->fed < w->n_pages && s->stops == 0) {
        int n = next_url(w, s->fed, url, sizeof url);
        seine_ask ask = SEINE_ASK;
        ask.url = (seine_view){url, (size_t)n};
        ask.priority = (int8_t)((int)(s->fed % 19) - 9);
        sn_visit *v;
        seine_err e = sn_admit(&s->shared, &ask, w->now, &v);
        if (e == SEINE_E_FULL)
            return SEINE_OK;
        if (e == SEINE_E_ALREADY && (w->site || s->kills)) { /* it is known */
            s->fed++;
            continue;
        }
        if (e != SEINE_OK)
            return e;
        w->pages[s->fed++].given = 1;
        give(s, v);
    }
    atomic_store(&s->shared.closed, true);
    return SEINE_OK;
}

/* A crawl: every unit of work is a visit, or waits in a queue or in a letter. */
static void
check_load(sim *s, uint64_t out)
{
    sim_world *w = s->world;
    sn_load load = sn_shared_state_load(&s->shared);
    uint64_t admitted = atomic_load(&s->shared.admitted);

    if (out > load.work)
        sim_broken(w, "S1", "%llu visits are out, and work is %u",
                   (unsigned long long)out, load.work);
    if (load.stuck > load.work)
        sim_broken(w, "S1", "%u of %u are stuck", load.stuck, load.work);
    if (s->records - s->skips > admitted)
        sim_broken(w, "S1", "%llu are admitted, and %llu have results",
                   (unsigned long long)admitted,
                   (unsigned long long)(s->records - s->skips));
    uint64_t left = atomic_load(&s->shared.left);
    if (admitted > s->records - s->skips + load.work + left && !s->before.first)
        sim_broken(w, "S1", "%llu are admitted, %llu have results, work is %u",
                   (unsigned long long)admitted,
                   (unsigned long long)(s->records - s->skips), load.work);
    if (s->skips != atomic_load(&s->shared.refused))
        sim_broken(w, "S1", "%llu are refused, and %llu are skips",
                   (unsigned long long)atomic_load(&s->shared.refused),
                   (unsigned long long)s->skips);
}

static void
check_balance(sim *s)
{
    sim_world *w = s->world;
    seine_fetch_stats sum = {0};
    uint32_t in_flight = 0;

    for (uint32_t i = 0; i < w->n_shards; i++) {
        sn_run_stats(s->runs[i], &sum);
        in_flight += sim_net_in_flight(s->env[i].transport);
    }
    uint64_t out = sn_visits_out(s->shared.visits);
    if (!w->site && !s->kills && s->fed != s->records + out)
        sim_broken(w, "S1", "given %u, records %llu, out %llu", s->fed,
                   (unsigned long long)s->records, (unsigned long long)out);
    if (w->site)
        check_load(s, out);
    if (sum.in_flight != in_flight)
        sim_broken(w, "S1", "in flight %llu, on the wire %u",
                   (unsigned long long)sum.in_flight, in_flight);
    if (in_flight > w->opts.concurrency)
        sim_broken(w, "S4", "%u in flight in all", in_flight);
    seine_want used;
    if (s->shared.budget) {
        seine_budget_used_get(s->shared.budget, &used);
        if (used.n[SEINE_RES_MEMORY] > w->opts.max_memory)
            sim_broken(w, "S16", "memory over the budget");
    }
}

static void
check_end(sim *s)
{
    sim_world *w = s->world;
    seine_want used = {{0}};

    w->has_left = atomic_load(&s->shared.left) > 0;
    for (uint32_t i = 0; i < w->n_pages && !w->site; i++)
        if (w->pages[i].given && w->pages[i].records != 1)
            sim_broken(w, "S2", "page %u has %u records", i, w->pages[i].records);
    if (w->site)
        oracle_judge(w);
    if (w->missing > atomic_load(&s->shared.lost) + atomic_load(&s->shared.left))
        sim_broken(w, "S17", "%llu have no record, %llu are counted",
                   (unsigned long long)w->missing,
                   (unsigned long long)atomic_load(&s->shared.lost));
    if (sim_disk_err(w) == SEINE_OK && atomic_load(&s->shared.lost) > 0)
        sim_broken(w, "S17", "URLs are lost, and the disk is %s", sim_disk_name(w));
    if (s->kills)
        sim_kills_judge(s->kills, atomic_load(&s->shared.left));
    sn_load load = sn_shared_state_load(&s->shared);
    if (load.work != 0 || load.stuck != 0 || atomic_load(&s->shared.mail_bytes) != 0)
        sim_broken(w, "S11", "work %u, stuck %u, %llu bytes of mail", load.work,
                   load.stuck, (unsigned long long)atomic_load(&s->shared.mail_bytes));
    if (atomic_load(&s->shared.admitted) != s->records - s->skips && !w->has_left)
        sim_broken(w, "S1", "%llu were admitted, %llu have results",
                   (unsigned long long)atomic_load(&s->shared.admitted),
                   (unsigned long long)(s->records - s->skips));
    if (sn_visits_out(s->shared.visits) != 0)
        sim_broken(w, "S11", "visits are out");
    if (seine_throttle_in_flight(&s->shared.in_flight) != 0)
        sim_broken(w, "S11", "slots are held");
    if (s->shared.budget)
        seine_budget_used_get(s->shared.budget, &used);
    if (used.n[SEINE_RES_MEMORY] != 0)
        sim_broken(w, "S11", "%llu bytes are held",
                   (unsigned long long)used.n[SEINE_RES_MEMORY]);
}

/* The moment of the next thing that can happen. */
static seine_time
next_moment(const sim *s)
{
    seine_time at = SEINE_NEVER;

    for (uint32_t i = 0; i < s->world->n_shards; i++) {
        at = sn_time_min(at, sim_net_when(s->env[i].transport));
        at = sn_time_min(at, sn_run_when(s->runs[i]));
    }
    at = sn_time_min(at, sim_disk_when(s->world));
    if (s->stops < 2)
        at = sn_time_min(at, s->stop_at);
    return at;
}

static void
stop(sim *s)
{
    sim_world *w = s->world;

    s->stops++;
    sim_note(w, "stop", (uint64_t)s->stops, 0);
    w->stopping = true;
    w->stopped_at = w->now;
    atomic_store(&s->shared.stop_why, SEINE_E_CANCELED);
    atomic_store(&s->shared.stop, s->stops == 1 ? SN_DRAINING : SN_STOPPING);
    s->stop_at = s->stops == 1 ? w->now + w->opts.grace : SEINE_NEVER;
}

/* A disk that fails stops the run, and the run says why. */
static void
check_disk(sim *s)
{
    sim_world *w = s->world;
    seine_err want = sim_disk_err(w), got = (seine_err)atomic_load(&s->shared.err);

    if (got != want)
        sim_broken(w, "S17", "the disk is %s, and the run says %s", sim_disk_name(w),
                   seine_err_name(got));
    if (got == SEINE_OK || w->stopping)
        return;
    sim_note(w, "disk", (uint64_t)got, 0);
    w->stopping = true;
    w->stopped_at = w->now;
}

static bool
is_done(const sim *s)
{
    if (!sn_shared_state_is_done(&s->shared))
        return false;
    for (uint32_t i = 0; i < s->world->n_shards; i++)
        if (!sn_run_is_idle(s->runs[i]))
            return false;
    return true;
}

static void
live(sim *s)
{
    sim_world *w = s->world;
    int still = 0, dead = 0; /* turns without effect; without a moment to wait for */

    while (!is_done(s) && !w->broken && w->step < until_step) {
        w->step++;
        seine_err e = feed(s);
        if (e != SEINE_OK)
            sim_broken(w, "S1", "feeding: %s", seine_err_name(e));
        seine_time before = w->now;
        uint64_t hash = w->hash;
        w->was_late = w->late;
        w->late = 0;
        uint32_t first = (uint32_t)sn_rng_below(&w->model, w->n_shards);
        for (uint32_t i = 0; i < w->n_shards; i++) {
            w->stalled = 0;
            sn_run_turn(s->runs[(first + i) % w->n_shards], w->now);
        }
        check_disk(s);
        check_balance(s);
        seine_time at = next_moment(s);
        dead = at == SEINE_NEVER && !is_done(s) && hash == w->hash ? dead + 1 : 0;
        if (dead > 3)
            sim_broken(w, "S13", "nothing will ever happen, and work waits");
        if (at <= w->now)
            still += w->now == before && hash == w->hash;
        else
            still = 0;
        if (still > 1000)
            sim_broken(w, "S13", "a thousand turns at one moment without effect");
        if (at != SEINE_NEVER && at > w->now)
            w->now = at;
        if (w->now >= s->stop_at && s->stops < 2)
            stop(s);
        if (w->now > SEINE_SECS(3600 * 24 * 30))
            sim_broken(w, "S13", "a month has passed");
        if (s->kills && sim_kills_step(s->kills, &s->records, &s->skips))
            return;
    }
}

/* The engine, with what its job has kept. */
static seine_err
build(sim *s, seine_diag *diag)
{
    sim_world *w = s->world;
    seine_err e = SEINE_OK;

    if (s->kills)
        e = sim_kills_open(s->kills, &w->opts.job, diag);
    if (e == SEINE_OK)
        e = sn_shared_state_init(&s->shared, &w->opts, diag);
    for (uint32_t i = 0; i < w->n_shards && e == SEINE_OK; i++) {
        s->env[i] = (sn_env){.clock = &w->clock,
                             .transport = sim_net_new(w, i),
                             .store = sim_disk_back_end(w)};
        e = sn_run_new(&s->shared, &s->env[i], s->runs, i, w->n_shards, &s->runs[i]);
    }
    if (!s->kills || e != SEINE_OK)
        return e;
    sn_fetch_job_init(&s->before);
    e = sn_fetch_job_scan(&s->before, &s->shared, s->runs, w->n_shards, w->now, diag);
    s->fed = w->opts.dedup || w->site ? 0 : (uint32_t)sn_job_next_number(w->opts.job);
    return e;
}

static void
take_apart(sim *s)
{
    for (uint32_t i = 0; i < s->world->n_shards; i++) {
        sn_run_free(s->runs[i]);
        sim_net_free(s->env[i].transport);
        s->runs[i] = NULL;
    }
    sn_shared_state_fini(&s->shared);
    if (s->kills)
        sn_fetch_job_fini(&s->before);
}

/* kill -9: whatever the engine holds is gone, and nobody hears how. */
static void
kill_engine(sim *s)
{
    sim_world *w = s->world;
    seine_time now = w->now;

    sim_note(w, "kill", 0, 0);
    s->is_dead = true;
    atomic_store(&s->shared.stop_why, SEINE_E_CANCELED);
    atomic_store(&s->shared.stop, SN_STOPPING);
    atomic_store(&s->shared.closed, true);
    for (int n = 0; !is_done(s) && n < 100000; n++) {
        for (uint32_t i = 0; i < w->n_shards; i++)
            sn_run_turn(s->runs[i], w->now);
        seine_time at = next_moment(s);
        if (at != SEINE_NEVER && at > w->now)
            w->now = at;
    }
    if (!is_done(s))
        sim_broken(w, "S11", "a run that is stopped does not end");
    sim_kills_crash(s->kills);
    take_apart(s);
    w->now = now;
    w->late = w->was_late = w->stalled = 0;
    sim_kills_restore(s->kills, &s->records, &s->skips);
    s->is_dead = false;
}

/* Lives until it ends by itself. */
static void
live_and_die(sim *s)
{
    seine_diag diag = SEINE_DIAG;

    while (live(s), s->kills && sim_kills_is_due(s->kills) && !s->world->broken) {
        kill_engine(s);
        seine_err e = s->world->broken ? SEINE_OK : build(s, &diag);
        if (e != SEINE_OK)
            sim_broken(s->world, "S14", "a killed job is not opened: %s %s",
                       seine_err_name(e), diag.text);
        if (s->world->broken)
            return;
    }
}

/* True: all invariants held. *out_hash: of everything that happened. */
static bool
run_seed(uint64_t seed, uint32_t hosts, uint32_t pages, bool trace, uint64_t *out_hash,
         seine_time *out_spent)
{
    sim s = {.world = sim_world_new(seed, hosts, pages)};
    sim_world *w = s.world;
    seine_diag diag = SEINE_DIAG;

    snprintf(last_words, sizeof last_words, "sim: died, seed=0x%" PRIx64 "\n", seed);
    w->trace = trace;
    if (trace && w->site)
        site_print(w->site);
    w->opts.on_record = on_record;
    w->opts.on_event = on_event;
    w->opts.arg = &s;
    s.stop_at = sn_rng_below(&w->model, 10) == 0
                    ? w->now + (seine_time)sn_rng_below(&w->model, SEINE_SECS(60))
                    : SEINE_NEVER;
    if (with_kills) {
        s.kills = sim_kills_new(w);
        s.stop_at = SEINE_NEVER;
    }
    seine_err e = build(&s, &diag);
    if (e != SEINE_OK)
        sim_broken(w, "S0", "the engine is not made: %s %s", seine_err_name(e),
                   diag.text);
    if (!w->broken)
        live_and_die(&s);
    if (!w->broken && w->step < until_step)
        check_end(&s);
    bool ok = !w->broken;
    if (!ok)
        printf("sim: %s seed=0x%" PRIx64 " step=%" PRIu64
               " t=%.6fs replay: seine-sim %s--seed 0x%" PRIx64 " --hosts %u --pages %u"
               " --until %" PRIu64 " --trace\n",
               w->what, seed, w->step, (double)w->now / 1e9, with_kills ? "--kills " : "",
               seed, hosts, pages, w->step);
    else if (trace)
        printf("hash %016" PRIx64 ", %" PRIu64 " steps, %" PRIu64 " starts, %.3f s\n",
               w->hash, w->step, w->starts, (double)w->now / 1e9);
    *out_hash = w->hash;
    *out_spent = w->now;
    if (ok && w->step < until_step) { /* a broken engine cannot be taken apart in order */
        take_apart(&s);
        sim_kills_free(s.kills);
        sim_world_free(w);
    }
    return ok;
}

/* Halves hosts and pages while it still fails. */
static void
shrink(uint64_t seed)
{
    uint32_t hosts = 500, pages = 5000;
    uint64_t hash;
    seine_time spent;

    for (bool more = true; more;) {
        more = false;
        if (hosts > 1 && !run_seed(seed, hosts / 2, pages, false, &hash, &spent)) {
            hosts /= 2;
            more = true;
        } else if (pages > 1 && !run_seed(seed, hosts, pages / 2, false, &hash, &spent)) {
            pages /= 2;
            more = true;
        }
    }
    printf("smallest: --seed 0x%" PRIx64 " --hosts %u --pages %u\n", seed, hosts, pages);
}

static uint64_t
number(const char *text)
{
    return text ? strtoull(text, NULL, 0) : 0;
}

/* Seeds that once broke something: one a line, # begins a comment. */
static int
play_file(const char *path, uint64_t *passed)
{
    FILE *f = fopen(path, "r");
    char line[128];
    int failed = 0;

    if (!f) {
        fprintf(stderr, "seine-sim: cannot read %s\n", path);
        return 1;
    }
    while (fgets(line, sizeof line, f)) {
        uint64_t hash;
        seine_time spent;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (run_seed(number(line), 500, 5000, false, &hash, &spent))
            ++*passed;
        else
            failed++;
    }
    fclose(f);
    return failed;
}

int
main(int argc, char **argv)
{
    uint64_t seed = 0, base = 1, count = 0, passed = 0, hash, twin;
    uint32_t hosts = 500, pages = 5000;
    bool trace = false, one = false, shrinking = false;
    int failed = 0;
    double hours = 0;
    seine_time spent;

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--trace") == 0) {
            trace = true;
        } else if (strcmp(argv[i], "--shrink") == 0) {
            shrinking = true;
        } else if (strcmp(argv[i], "--kills") == 0) {
            with_kills = true;
        } else if (!value) {
            fprintf(stderr,
                    "usage: seine-sim [--seed N | --count N [--base N]] [--until STEP]"
                    " [--hosts N] [--pages N] [--seeds FILE] [--trace] [--shrink] "
                    "[--kills]\n");
            return 2;
        } else {
            i++;
            if (strcmp(argv[i - 1], "--seed") == 0) {
                seed = number(value);
                one = true;
            } else if (strcmp(argv[i - 1], "--base") == 0) {
                base = number(value);
            } else if (strcmp(argv[i - 1], "--count") == 0) {
                count = number(value);
            } else if (strcmp(argv[i - 1], "--until") == 0) {
                until_step = number(value);
            } else if (strcmp(argv[i - 1], "--hosts") == 0) {
                hosts = (uint32_t)number(value);
            } else if (strcmp(argv[i - 1], "--pages") == 0) {
                pages = (uint32_t)number(value);
            } else if (strcmp(argv[i - 1], "--seeds") == 0) {
                failed += play_file(value, &passed);
            } else {
                fprintf(stderr, "seine-sim: unknown option '%s'\n", argv[i - 1]);
                return 2;
            }
        }
    }
    if (one && shrinking) {
        shrink(seed);
        return 0;
    }
    if (one) {
        count = 1;
        base = seed;
    }
    clock_t began = clock();
    signal(SIGABRT, on_death);
    signal(SIGSEGV, on_death);
    for (uint64_t i = 0; i < count && failed < 5; i++) {
        uint64_t this = one ? seed : base * UINT64_C(1000003) + i;
        bool ok = run_seed(this, hosts, pages, trace, &hash, &spent);
        hours += (double)spent / 3600e9;
        if (ok && i % 100 == 0 && !one) { /* one of a hundred is played twice */
            ok = run_seed(this, hosts, pages, false, &twin, &spent) && twin == hash;
            if (twin != hash)
                printf("sim: seed 0x%" PRIx64 " played twice differs\n", this);
        }
        if (ok)
            passed++;
        else
            failed++;
    }
    if (!trace && count > 1)
        printf("# %.1f simulated hours in %.1f s of CPU\n", hours,
               (double)(clock() - began) / CLOCKS_PER_SEC);
    printf("%" PRIu64 " passed, %d failed\n", passed, failed);
    return failed > 0;
}
