/* SPDX-License-Identifier: Apache-2.0 */
#include "crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/time.h"
#include "redis_model.h"
#include "store/fleet_parts.h"
#include "world.h"

#define LEASE   SEINE_SECS(15)
#define ANSWER  SEINE_US(200)
#define START   SEINE_SECS(4)  /* all workers begin within */
#define SETTLED SEINE_SECS(60) /* … and have their partitions by then */
#define WATCH   SEINE_SECS(30)

typedef struct crowd crowd;

typedef struct peer {
    seine_clock clock; /* first: it leads back */
    crowd *of;
    sn_redis_wire inner[2], wires[2];
    sn_fleet *fleet;
    seine_time at; /* of its next turn */
    seine_span spent;
    sn_rng dice;
    bool is_dead;
} peer;

enum { READS, RENEWALS, MEETINGS, ACQUIRES, OTHERS, KINDS };

typedef struct tally {
    uint64_t calls[KINDS], out[KINDS];
} tally;

struct crowd {
    seine_time now;
    redis_model *model;
    peer *peers;
    uint32_t n, parts;
    uint32_t *heap; /* of peers by their time */
    uint32_t in_heap;
    tally sum;
    bool is_nil; /* the last reply had nothing */
};

/* Time and wires of a worker. */

static seine_time
clock_now(seine_clock *c)
{
    const peer *p = (peer *)(void *)c;

    return p->of->now + p->spent;
}

static int64_t
clock_wall(seine_clock *c)
{
    return EPOCH + clock_now(c);
}

static uint64_t
clock_dice(seine_clock *c)
{
    return sn_rng_next(&((peer *)(void *)c)->dice);
}

static bool
clock_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    peer *p = (peer *)(void *)c;

    (void)word;
    (void)seen;
    p->spent = sn_time_max(p->spent, until - p->of->now);
    return false;
}

static void
clock_wake(seine_clock *c, const uint32_t *word, int n)
{
    (void)c;
    (void)word;
    (void)n;
}

static sn_redis_wire *
inner_of(void *self, peer **out_peer)
{
    uintptr_t tagged = (uintptr_t)self;

    *out_peer = (peer *)(tagged & ~(uintptr_t)1); /* NOLINT: a tag in the lowest bit */
    return &(*out_peer)->inner[tagged & 1];
}

static seine_err
on_open(void *self, seine_time until)
{
    peer *p;
    const sn_redis_wire *w = inner_of(self, &p);

    return w->open(w->self, until);
}

static seine_err
on_send(void *self, sn_str bytes, seine_time until)
{
    peer *p;
    const sn_redis_wire *w = inner_of(self, &p);

    redis_model_set_now(p->of->model, (EPOCH + p->of->now) / SEINE_MS(1));
    p->spent += ANSWER;
    p->of->is_nil = false;
    seine_err e = w->send(w->self, bytes, until);
    if (p->of->is_nil) /* it has waited for as long as it was told */
        p->spent += sn_fleet_patience(p->fleet);
    return e;
}

static seine_err
on_receive(void *self, char *into, size_t room, seine_time until, size_t *out_n)
{
    peer *p;
    const sn_redis_wire *w = inner_of(self, &p);

    return w->receive(w->self, into, room, until, out_n);
}

static void
on_close(void *self)
{
    peer *p;
    const sn_redis_wire *w = inner_of(self, &p);

    w->close(w->self);
}

/* What the server is asked. */

static void
see(const sn_str *words, size_t n, sn_str reply, void *arg)
{
    static const char *const names[] = {"seine1_renew", "seine1_meet", "seine1_acquire"};
    crowd *c = arg;
    size_t kind = OTHERS;

    if (sn_str_eq(words[0], SN_STR("XREADGROUP")))
        kind = READS;
    for (size_t i = 0; n > 1 && i < 3; i++)
        if (sn_str_eq(words[1], sn_str_of(names[i])))
            kind = RENEWALS + i;
    c->sum.calls[kind]++;
    c->sum.out[kind] += reply.len;
    c->is_nil |= kind == READS && sn_str_starts(reply, SN_STR("*-1"));
}

/* Workers. */

static seine_err
ok_acquired(uint32_t part, bool again, void *arg)
{
    (void)part;
    (void)again;
    (void)arg;
    return SEINE_OK;
}

static void
nothing(void *arg)
{
    (void)arg;
}

static bool
never(void *arg)
{
    (void)arg;
    return false;
}

static uint64_t
none(void *arg)
{
    (void)arg;
    return 0;
}

static seine_err
open_peer(crowd *c, peer *p, const char *spec)
{
    static const char *const url = "redis://one.test:1";
    char warning[SEINE_DIAG_ROOM];
    seine_diag diag = SEINE_DIAG;
    sn_fleet_opts o = {.urls = &url,
                       .n_urls = 1,
                       .name = "crowd",
                       .spec = spec,
                       .parts = c->parts,
                       .lease = LEASE,
                       .weight = 64,
                       .clock = &p->clock,
                       .up = clock_now,
                       .wires = p->wires};

    *p = (peer){.of = c, .dice = sn_rng_seed((uint64_t)(p - c->peers) + 1)};
    p->clock = (seine_clock){clock_now,  clock_wall, clock_dice, clock_wait,
                             clock_wake, NULL,       NULL};
    for (uintptr_t i = 0; i < 2; i++) {
        p->inner[i] = redis_model_wire(c->model);
        p->wires[i] = (sn_redis_wire){on_open, on_send, on_receive, on_close,
                                      (void *)((uintptr_t)p | i)}; /* NOLINT: the tag */
    }
    seine_err e = sn_fleet_open(&o, &p->fleet, warning, &diag);
    if (e != SEINE_OK)
        printf("sim-fleet: a worker does not begin: %s\n", diag.text);
    return e;
}

static bool
turn(crowd *c, peer *p)
{
    static const sn_fleet_hooks hooks = {
        .acquired = ok_acquired, .renewed = nothing, .is_idle = never, .backlog = none};
    seine_diag diag = SEINE_DIAG;

    p->spent = 0;
    if (!p->fleet && open_peer(c, p, NULL) != SEINE_OK)
        return false;
    if (sn_fleet_tick(p->fleet, &hooks, &diag) == SN_FLEET_FAILED) {
        printf("sim-fleet: a worker has failed: %s\n", diag.text);
        return false;
    }
    p->at = c->now + sn_time_max(p->spent, SEINE_MS(1));
    return true;
}

/* The order of turns: a heap. */

static void
sink_down(crowd *c, uint32_t i)
{
    for (;;) {
        uint32_t least = i;

        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < c->in_heap; k++)
            if (c->peers[c->heap[k]].at < c->peers[c->heap[least]].at)
                least = k;
        if (least == i)
            return;
        uint32_t swap = c->heap[i];
        c->heap[i] = c->heap[least];
        c->heap[least] = swap;
        i = least;
    }
}

static bool
live_until(crowd *c, seine_time until)
{
    while (c->in_heap > 0 && c->peers[c->heap[0]].at <= until) {
        peer *p = &c->peers[c->heap[0]];

        c->now = sn_time_max(c->now, p->at);
        if (p->is_dead)
            c->heap[0] = c->heap[--c->in_heap];
        else if (!turn(c, p))
            return false;
        sink_down(c, 0);
    }
    c->now = until;
    return true;
}

/* Partitions that no living worker has. */
static uint32_t
count_free(const crowd *c, uint32_t *out_most)
{
    uint32_t held = 0;

    *out_most = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const peer *p = &c->peers[i];

        if (p->is_dead || !p->fleet)
            continue;
        held += p->fleet->held;
        *out_most = p->fleet->held > *out_most ? p->fleet->held : *out_most;
    }
    return c->parts - (held < c->parts ? held : c->parts);
}

static void
print_tally(const crowd *c, const char *when, seine_span span)
{
    static const char *const names[KINDS] = {"reads of inboxes", "renewals", "meetings",
                                             "acquisitions", "others"};
    double seconds = (double)span / 1e9;

    for (size_t i = 0; i < KINDS; i++)
        if (c->sum.calls[i] > 0)
            printf("# %s: %s %.0f/s, %.0f B of replies a second, %.0f each\n", when,
                   names[i], (double)c->sum.calls[i] / seconds,
                   (double)c->sum.out[i] / seconds,
                   (double)c->sum.out[i] / (double)c->sum.calls[i]);
}

/* A hundredth of the workers dies. When has somebody all partitions again? */
static bool
kill_some(crowd *c)
{
    seine_time since = c->now;
    uint32_t most, dead = c->n / 100 > 0 ? c->n / 100 : 1, lost = 0;
    seine_span bar = LEASE + SEINE_SECS(5) +
                     SEINE_SECS(1) * c->parts / (16 * (c->n - dead)) + LEASE / 3;

    for (uint32_t i = 0; i < dead; i++) {
        c->peers[i].is_dead = true;
        lost += c->peers[i].fleet->held;
    }
    c->sum = (tally){0};
    do {
        if (!live_until(c, c->now + SEINE_MS(100)))
            return false;
    } while (count_free(c, &most) > 0 && c->now - since < 4 * bar);
    printf("# %u workers died with %u partitions: all go on after %.1f s, at most %.1f s "
           "are promised\n",
           dead, lost, (double)(c->now - since) / 1e9, (double)bar / 1e9);
    print_tally(c, "meanwhile", c->now - since);
    return c->now - since <= bar;
}

static bool
run(crowd *c)
{
    seine_diag diag = SEINE_DIAG;
    uint32_t most;

    if (open_peer(c, &c->peers[0], "{}") != SEINE_OK ||
        sn_fleet_given_all(c->peers[0].fleet, &diag) != SEINE_OK)
        return false;
    for (uint32_t i = 0; i < c->n; i++) {
        c->peers[i].at = c->now + (seine_span)i * START / c->n;
        c->heap[c->in_heap++] = i;
    }
    if (!live_until(c, c->now + SETTLED))
        return false;
    print_tally(c, "start", SETTLED);
    uint32_t free_parts = count_free(c, &most);
    printf("# %u workers, %u partitions: %u have nobody, one has %u\n", c->n, c->parts,
           free_parts, most);
    c->sum = (tally){0};
    if (free_parts > 0 || !live_until(c, c->now + WATCH))
        return false;
    print_tally(c, "after that", WATCH);
    /* A meeting at which nothing has changed tells nothing: its reply is not longer for
     * more workers. */
    if (c->sum.out[MEETINGS] > 64 * c->sum.calls[MEETINGS])
        return false;
    return kill_some(c);
}

bool
crowd_run(uint32_t workers, uint32_t parts)
{
    crowd c = {.now = SEINE_SECS(1000), .n = workers, .parts = parts};

    c.model = redis_model_new();
    redis_model_watch(c.model, see, &c);
    c.peers = calloc(workers, sizeof *c.peers);
    c.heap = calloc(workers, sizeof *c.heap);
    bool ok = run(&c);
    redis_model_watch(c.model, NULL, NULL);
    for (uint32_t i = 0; i < workers; i++) {
        if (c.peers[i].fleet)
            (void)seine_job_close(sn_fleet_job(c.peers[i].fleet), false);
        sn_fleet_free(c.peers[i].fleet);
    }
    redis_model_free(c.model);
    free(c.heap);
    free(c.peers);
    printf("%d passed, %d failed\n", ok, !ok);
    return ok;
}
