/* SPDX-License-Identifier: Apache-2.0 */
/* A worker as the program has it (cli/verbs/fetch.c): a keeper, a shard and a sink, each
 * a fiber instead of a thread; all else is the library's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "seine/fetch_control.h"
#include "store/fleet_parts.h"
#include "store/job_parts.h"
#include "store/record_hold.h"
#include "world.h"

/* Time. */

static worker *
of(seine_clock *c)
{
    return (worker *)(void *)c;
}

static seine_time
clock_now(seine_clock *c)
{
    return of(c)->of->now - of(c)->missed;
}

static seine_time
clock_up(seine_clock *c)
{
    return of(c)->of->now;
}

static int64_t
clock_wall(seine_clock *c)
{
    return EPOCH + of(c)->of->now + of(c)->skew;
}

static uint64_t
clock_dice(seine_clock *c)
{
    return sn_rng_next(&of(c)->dice);
}

static actor *
actor_now(worker *k)
{
    actor *all[] = {&k->keeper, &k->sink, &k->shard};

    for (size_t i = 0; i < 3; i++)
        if (all[i]->fiber && all[i]->fiber == fiber_now())
            return all[i];
    return NULL;
}

/* A worker that is dead has time of its own, so that its last waits end. */
void
actor_sleep(worker *k, seine_time at, const uint32_t *word)
{
    actor *a = actor_now(k);

    if (k->end == KILLED || !a) {
        if (at != SEINE_NEVER && at > k->of->now)
            k->missed -= at - k->of->now;
        return;
    }
    a->at = at;
    a->word = word;
    fiber_yield();
    a->word = NULL;
}

void
actor_ring(worker *k, uint32_t *word)
{
    actor *all[] = {&k->keeper, &k->sink, &k->shard};

    ++*word;
    for (size_t i = 0; i < 3; i++)
        if (all[i]->fiber && all[i]->word == word)
            all[i]->at = sn_time_min(all[i]->at, k->of->now);
}

static bool
clock_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    worker *k = of(c);

    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != seen)
        return true;
    actor_sleep(k, until == SEINE_NEVER ? until : until + k->missed, word);
    return until == SEINE_NEVER || clock_now(c) < until;
}

static void
clock_wake(seine_clock *c, const uint32_t *word, int n)
{
    worker *k = of(c);
    actor *all[] = {&k->keeper, &k->sink, &k->shard};

    (void)n;
    for (size_t i = 0; i < 3; i++)
        if (all[i]->fiber && all[i]->word == word)
            all[i]->at =
                sn_time_min(all[i]->at, k->of->now + (seine_time)below(k->of, 100000));
}

actor *
worker_next(worker *k, seine_time *out_at)
{
    actor *all[] = {&k->keeper, &k->sink, &k->shard}, *best = NULL;
    size_t from = (size_t)below(k->of, 3);

    *out_at = SEINE_NEVER;
    for (size_t i = 0; i < 3; i++) {
        actor *a = all[(from + i) % 3];

        if (!a->fiber || a->at == SEINE_NEVER)
            continue;
        seine_time at = sn_time_max(a->at, k->stands_until);
        if (at < *out_at) {
            *out_at = at;
            best = a;
        }
    }
    return best;
}

void
actor_run(actor *a)
{
    fiber_run(a->fiber);
    if (fiber_has_ended(a->fiber)) {
        fiber_free(a->fiber);
        a->fiber = NULL;
    }
}

static void
begin(worker *k, actor *a, void (*fn)(void *arg))
{
    *a = (actor){.of = k, .fiber = fiber_new(fn, k), .at = k->of->now};
}

/* Records go from the shard to the sink. */

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    worker *k = arg;

    (void)shard;
    if (k->end == KILLED)
        return;
    kept *one = malloc(sizeof *one + sn_record_room(r));
    one->next = NULL;
    one->record = sn_record_copy(r, one->block);
    sn_record_hold_ref(one->record->hold);
    *k->last = one;
    k->last = &one->next;
    actor_ring(k, &k->bell);
}

static void
drop_first(worker *k)
{
    kept *one = k->first;

    k->first = one->next;
    if (!k->first)
        k->last = &k->first;
    sn_record_hold_unref(one->record->hold);
    free(one);
}

static void
on_job_wake(void *arg)
{
    worker *k = arg;

    actor_ring(k, &k->bell);
}

static void
run_sink(void *arg)
{
    worker *k = arg;
    seine_durable_job *job = seine_fleet_job(k->fleet);
    seine_err e = SEINE_OK;

    while (k->end != KILLED) {
        bool is_last = k->is_fetched;

        while (k->first && e == SEINE_OK) {
            e = sn_job_result(job, k->first->record, ++k->seq);
            if (k->end == KILLED)
                return;
            drop_first(k);
        }
        if (e == SEINE_OK)
            e = sn_job_commit(job, NULL);
        if (e != SEINE_OK) {
            seine_fetch_stop(k->fetch, e);
            while (k->first)
                drop_first(k);
        }
        if (is_last && !k->first)
            break;
        actor_sleep(k, k->of->now + SEINE_MS(20) + (seine_span)below(k->of, SEINE_MS(30)),
                    NULL);
    }
    k->is_committed = true;
}

static void
run_shard(void *arg)
{
    worker *k = arg;

    while (k->end != KILLED && !seine_fetch_is_done(k->fetch))
        sn_fetch_turn(k->fetch, SEINE_NEVER);
    if (k->end == KILLED)
        return;
    if (seine_fetch_finish(k->fetch, NULL) != SEINE_OK && k->end == LIVING &&
        seine_fleet_err(k->fleet, NULL) == SEINE_OK)
        broken(k->of, "worker %u does not finish", k->index);
    k->is_fetched = true;
}

/* Opening. */

static sn_fleet_opts
opts_of(worker *k, const sn_redis_wire *wires)
{
    static const char *const urls[] = {"redis://one.test:1", "redis://two.test:1"};
    world *w = k->of;

    return (sn_fleet_opts){.urls = urls,
                           .n_urls = w->n_servers,
                           .name = "job",
                           .parts = w->parts,
                           .out = w->dir,
                           .lease = w->lease,
                           .wait = SEINE_SECS(3600),
                           .weight = 1 + (uint32_t)sn_rng_below(&k->dice, 4),
                           .every = w->every,
                           .clock = &k->clock,
                           .up = clock_up,
                           .wires = wires};
}

static seine_fetch_opts
fetch_opts_of(worker *k)
{
    world *w = k->of;
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    o.clock = &k->clock;
    o.threads = 0;
    o.concurrency = 8;
    o.crawl = &w->crawl;
    o.host_rate = (seine_rate){1, w->interval, 1};
    o.adaptive = false;
    o.robots = SEINE_OBEY_ON;
    o.retry.max_attempts = 8;
    o.retry.base = SEINE_MS(100);
    o.retry.max = SEINE_SECS(1);
    o.retry_budget.ratio_milli = UINT32_MAX;
    o.breaker.failure_threshold = o.breaker.failure_pct = 0;
    o.job = seine_fleet_job(k->fleet);
    o.user_agent = "test";
    o.on_record = on_record;
    o.arg = k;
    return o;
}

/* False: the job is finished, or the worker has ended meanwhile. */
static bool
open_fleet(worker *k)
{
    sn_redis_wire wires[2 * SERVERS];
    world *w = k->of;
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_E_STORE_UNAVAILABLE;

    wires_open(k, wires);
    sn_fleet_opts o = opts_of(k, wires);
    while (k->end == LIVING && e != SEINE_OK) {
        e = sn_fleet_keeper_open(&o, &k->fleet, &diag);
        if (e == SEINE_E_ALREADY || k->end == KILLED)
            break;
        if (e != SEINE_OK && e != SEINE_E_STORE_UNAVAILABLE)
            broken(w, "worker %u does not open the job: %s", k->index, diag.text);
        if (e != SEINE_OK)
            actor_sleep(k, w->now + SEINE_MS(500), NULL);
    }
    if (e == SEINE_OK)
        k->own = sn_job_fleet(seine_fleet_job(k->fleet));
    return e == SEINE_OK && k->end == LIVING;
}

static void
close_all(worker *k)
{
    seine_fetch_free(SN_STEAL(k->fetch));
    if (k->fleet)
        (void)seine_job_close(seine_fleet_job(k->fleet), true);
    seine_fleet_free(SN_STEAL(k->fleet));
    while (k->first)
        drop_first(k);
    k->own = NULL;
}

/* When the last fault of this worker and of the servers is over. */
static seine_time
hurt_until(const worker *k)
{
    seine_time until = sn_time_max(k->stands_until, k->cut_until);

    for (uint32_t i = 0; i < k->of->n_servers; i++) {
        const server *s = &k->of->servers[i];

        until = sn_time_max(until, sn_time_max(s->down_until, s->full_until));
        until = sn_time_max(until, s->slow_until);
    }
    return until;
}

/* When all has ended nobody has work. A worker that was not hurt for a while has noticed
 * by now which partitions it has lost. */
static void
judge_idle(worker *k)
{
    world *w = k->of;
    uint32_t work = sn_shared_state_load(sn_fetch_shared(k->fetch)).work;

    if (work > 0 && w->now > hurt_until(k) + 2 * w->lease + SEINE_SECS(1))
        broken(w, "worker %u has %u pieces of work, and the job has ended", k->index,
               work);
}

static void
run_keeper(void *arg)
{
    worker *k = arg;
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    if (open_fleet(k)) {
        seine_fetch_opts o = fetch_opts_of(k);

        e = sn_fetch_open(&o, &k->net, &k->fetch, &diag);
        if (e == SEINE_OK)
            e = sn_fleet_keeper_join(k->fleet, k->fetch);
        if (e != SEINE_OK) {
            broken(k->of, "worker %u has no engine: %s", k->index, diag.text);
            return;
        }
        sn_job_listen(seine_fleet_job(k->fleet), on_job_wake, k);
        begin(k, &k->sink, run_sink);
        begin(k, &k->shard, run_shard);
        while (k->end != KILLED && !k->is_committed && sn_fleet_keeper_turn(k->fleet))
            if (k->own->is_done && k->end == LIVING)
                judge_idle(k);
        while (k->end != KILLED && !k->is_committed)
            actor_sleep(k, k->of->now + SEINE_MS(10), NULL);
        if (k->end != KILLED)
            sn_fleet_keeper_leave(k->fleet);
    }
    if (k->end == KILLED)
        return;
    if (k->fleet)
        k->state = seine_fleet_state_get(k->fleet);
    if (k->state == SEINE_FLEET_FAILED) {
        (void)seine_fleet_err(k->fleet, &diag);
        broken(k->of, "worker %u has failed: %s", k->index, diag.text);
    }
    close_all(k);
    k->has_left = true;
}

static void
run_submit(void *arg)
{
    worker *k = arg;
    sn_redis_wire wires[2 * SERVERS];
    seine_diag diag = SEINE_DIAG;
    seine_ask ask = SEINE_ASK;

    wires_open(k, wires);
    sn_fleet_opts o = opts_of(k, wires);
    o.verb = "crawl";
    o.spec = o.command = "{}";
    seine_err e = sn_fleet_keeper_open(&o, &k->fleet, &diag);
    ask.url = sn_str_of(k->of->pages[0].url);
    if (e == SEINE_OK)
        e = seine_fleet_give(k->fleet, &ask, &diag);
    if (e == SEINE_OK)
        e = seine_fleet_given_all(k->fleet, &diag);
    if (e != SEINE_OK)
        broken(k->of, "the job is not made: %s", diag.text);
    else
        k->of->id = sn_job_fleet(seine_fleet_job(k->fleet))->id;
    close_all(k);
    k->has_left = true;
}

/* Its life. */

worker *
worker_new(world *w)
{
    worker *k = calloc(1, sizeof *k);

    k->clock = (seine_clock){clock_now,  clock_wall, clock_dice, clock_wait,
                             clock_wake, NULL,       NULL};
    k->of = w;
    k->index = w->n_workers;
    k->dice = sn_rng_seed(w->seed ^ (k->index + 1) * UINT64_C(0x9e3779b97f4a7c15));
    k->skew = between(w, -SEINE_SECS(100), SEINE_SECS(100));
    k->net = site_net(k);
    k->last = &k->first;
    w->workers[w->n_workers++] = k;
    return k;
}

void
worker_submit(worker *k)
{
    begin(k, &k->keeper, run_submit);
}

void
worker_start(worker *k)
{
    note(k->of, "start", k->index, 0);
    begin(k, &k->keeper, run_keeper);
}

void
worker_stop(worker *k)
{
    note(k->of, "term", k->index, 0);
    k->end = TERMINATED;
    if (k->fetch)
        seine_fetch_stop(k->fetch, SEINE_E_CANCELED);
}

/* kill -9: nothing of it reaches anybody from now on. Its memory is put in order. */
void
worker_kill(worker *k)
{
    actor *all[] = {&k->keeper, &k->sink, &k->shard};

    note(k->of, "kill", k->index, 0);
    k->end = KILLED;
    k->of->kills++;
    for (size_t i = 0; i < 3; i++)
        while (all[i]->fiber)
            actor_run(all[i]);
    if (k->fetch) {
        seine_fetch_stop(k->fetch, SEINE_E_CANCELED);
        seine_fetch_stop(k->fetch, SEINE_E_CANCELED);
        for (int n = 0; !seine_fetch_is_done(k->fetch) && n < 100000; n++)
            sn_fetch_turn(k->fetch, k->of->now - k->missed);
        (void)!seine_fetch_finish(k->fetch, NULL);
    }
    if (k->fleet)
        seine_fleet_job(k->fleet)->is_given_up = true;
    close_all(k);
    k->has_left = true;
}

bool
worker_is_over(const worker *k)
{
    return k->has_left;
}

void
worker_free(worker *k)
{
    wires_free(k);
    free(k);
}
