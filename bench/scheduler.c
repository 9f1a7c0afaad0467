/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler - what the scheduler costs per URL.
 *
 * found   as a crawl does it: every host has URLs at the frontier; the next one that may
 *         start is asked for, becomes a visit, ends well, and its host is armed for the
 *         one after it.
 * visits  the same with a visit that stands at its host: it comes back as a retry does.
 * given   as a fetch does it: the visit is new each time, and its host is found by the
 *         name in its URL.
 *
 * A fake clock jumps from moment to moment; hosts may be asked 5 times a second each and
 * always have a URL. Thread CPU time, five runs, median; and the time that one operation
 * in a hundred exceeds (p99, by the wall, with the clock's own cost in it). A table, JSON
 * lines with -j; `-t found 1000` is one row of it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "bench.h"
#include "engine/scheduler.h"

enum { RUNS = BENCH_RUNS(5), OPS = BENCH_ROUNDS(400000), POOL = 64 };

typedef enum way { FOUND, VISITS, GIVEN } way;

static const char *const names[] = {"found", "visits", "given"};
static bool as_json;

typedef struct bench {
    sn_shared_state shared;
    sn_scheduler *s;
    seine_clock *clock;
    sn_visit *free; /* visits for the frontier */
} bench;

static double
read_ns(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double
cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void
need(bool fine)
{
    if (!fine)
        abort();
}

static void
url_of(uint32_t host, char *mem, size_t cap, seine_url *out)
{
    char text[64];
    int n = snprintf(text, sizeof text, "http://h%u.example/", host);

    seine_url_init(out, mem, cap);
    need(seine_url_parse(out, text, (size_t)n, NULL) == SEINE_OK);
}

static sn_visit *
visit_of(sn_shared_state *c, uint32_t host)
{
    seine_err e;
    sn_visit *v = sn_visits_take(c->visits, &e);

    need(v != NULL);
    url_of(host, sn_arena_get(&v->arena, 64, 1, 1), 64, &v->url);
    v->state = SN_ADMITTED;
    return v;
}

/* The next URL of any host, as the frontier would offer it. */
static sn_offer
offer(bench *b)
{
    sn_visit *v = b->free;

    b->free = v->next;
    v->state = SN_ADMITTED;
    return (sn_offer){.visit = v, .left = OPS * 2};
}

static seine_fetch_opts
options(void)
{
    return (seine_fetch_opts){
        .size = sizeof(seine_fetch_opts),
        .concurrency = 64,
        .per_host = 4,
        .host_rate = {5, SEINE_SECS(1), 1},
        .adaptive = true,
        .timeout = SEINE_SECS(30),
        .connect_timeout = SEINE_SECS(10),
        .dns_timeout = SEINE_SECS(5),
        .tcp_timeout = SEINE_SECS(5),
        .tls_timeout = SEINE_SECS(5),
        .head_timeout = SEINE_SECS(20),
        .retry = SEINE_RETRY_OPTS,
        .retry_budget = {sizeof(seine_retry_budget_opts), UINT32_MAX, 1, {1, 1, 1}},
        .breaker = SEINE_BREAKER_OPTS,
        .max_retry_after = SEINE_SECS(300),
        .method = "GET",
        .user_agent = "bench"};
}

static void
set_up(bench *b, way how, uint32_t hosts)
{
    seine_fetch_opts o = options();

    *b = (bench){0};
    need(seine_clock_fake_new(0, 0, 1, &b->clock) == SEINE_OK);
    o.clock = b->clock;
    o.queue = how == FOUND ? POOL : hosts + POOL;
    need(sn_shared_state_init(&b->shared, &o, NULL) == SEINE_OK);
    need(sn_scheduler_new(&b->shared, 0, &b->s) == SEINE_OK);
    if (how != FOUND) {
        for (uint32_t i = 0; i < hosts; i++)
            need(sn_scheduler_add(b->s, visit_of(&b->shared, i), 0) == SEINE_OK);
        return;
    }
    for (uint32_t i = 0; i < hosts; i++) {
        char mem[64];
        seine_url url;
        uint32_t host;

        url_of(i, mem, sizeof mem, &url);
        need(sn_hosts_find(sn_scheduler_host_table(b->s), &url, 0, &host) == SEINE_OK);
        sn_scheduler_work(b->s, &(sn_work){.host = host, .n = OPS * 2}, 0);
    }
    for (uint32_t i = 0; i < POOL; i++) {
        sn_visit *v = visit_of(&b->shared, 0);
        v->next = b->free;
        b->free = v;
    }
}

static void
tear_down(bench *b, uint32_t hosts)
{
    (void)hosts;
    for (sn_visit *v; (v = sn_scheduler_drain(b->s));)
        sn_visits_give(b->shared.visits, v);
    for (sn_visit *v; (v = b->free);) {
        b->free = v->next;
        sn_visits_give(b->shared.visits, v);
    }
    sn_scheduler_free(b->s);
    sn_shared_state_fini(&b->shared);
    seine_clock_fake_free(b->clock);
}

/* One URL: started and ended, and its host armed again. False: it is too early. */
static inline bool
step(bench *b, way how, seine_time now)
{
    uint32_t host;
    sn_visit *v = sn_scheduler_next(b->s, now, &host);

    if (host != SN_NO_HOST) {
        sn_offer next = offer(b);
        v = sn_scheduler_answer(b->s, &next, now);
    }
    if (!v)
        return false;
    v->state = SN_IN_FLIGHT;
    v->ttfb = SEINE_MS(40);
    v->end.fault.sent = true;
    v->end.fault.status = 200;
    sn_scheduler_sent(b->s, v, now);
    sn_scheduler_end(b->s, v, now);
    if (how == FOUND) {
        v->next = b->free;
        b->free = v;
    } else if (how == VISITS) {
        need(sn_scheduler_again(b->s, v, now, SEINE_WAIT_QUEUE, now) == SEINE_OK);
    } else {
        v->state = SN_ADMITTED;
        need(sn_scheduler_add(b->s, v, now) == SEINE_OK);
    }
    return true;
}

static double
once(way how, uint32_t hosts, double *out_p99)
{
    static uint32_t took[OPS / 8];
    bench b;
    seine_time now = 0;
    double start = 0;

    set_up(&b, how, hosts);
    for (uint32_t done = 0; done < OPS + 2 * hosts;) {
        if (done == 2 * hosts && start == 0)
            start = cpu_ns(); /* warm */
        if (step(&b, how, now))
            done++;
        else
            now = sn_scheduler_when(b.s, now);
    }
    double mean = (cpu_ns() - start) / OPS;
    for (uint32_t done = 0; done < OPS / 8;) {
        double from = read_ns(CLOCK_MONOTONIC);
        if (!step(&b, how, now)) {
            now = sn_scheduler_when(b.s, now);
            continue;
        }
        took[done++] = (uint32_t)(read_ns(CLOCK_MONOTONIC) - from);
    }
    uint32_t above = 0, limit = 0; /* by counting: the highest of the lowest 99 % */
    for (limit = 100; above == 0 || above > OPS / 8 / 100; limit += 100) {
        above = 1;
        for (uint32_t i = 0; i < OPS / 8; i++)
            above += took[i] > limit;
    }
    *out_p99 = limit - 100;
    tear_down(&b, hosts);
    return mean;
}

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The median decides; the best says how much of it was the neighbours' doing. */
static bool
tell(const char *what, uint32_t hosts, double *runs, double bar)
{
    qsort(runs, RUNS, sizeof *runs, by_size);
    double value = runs[RUNS / 2];
    bool ok = value <= bar;

    if (as_json)
        printf("{\"name\":\"scheduler_%s_%u_hosts\",\"value\":%.1f,\"best\":%.1f,"
               "\"unit\":\"ns\",\"bar\":%.0f,\"ok\":%s}\n",
               what, hosts, value, runs[0], bar, ok ? "true" : "false");
    else
        printf("%-11s %8u hosts  %8.1f ns  best %8.1f  (bar %.0f)%s\n", what, hosts,
               value, runs[0], bar, ok ? "" : " missed");
    fflush(stdout);
    return ok;
}

static bool
row(way how, uint32_t hosts, double bar)
{
    double runs[RUNS], p99[RUNS];
    char what[32];

    for (int i = 0; i < RUNS; i++)
        runs[i] = once(how, hosts, &p99[i]);
    bool ok = tell(names[how], hosts, runs, bar);
    snprintf(what, sizeof what, "%s_p99", names[how]);
    return tell(what, hosts, p99, 2000) && ok;
}

int
main(int argc, char **argv)
{
    static const struct {
        uint32_t hosts;
        double bar;
    } sizes[] = {{1000, 150}, {100000, 250}, {1000000, 450}};
    bool fine = true;

    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    if (argc > 3) { /* one row, for those who measure: found 1000 */
        for (way how = FOUND; how <= GIVEN; how++)
            if (strcmp(argv[2], names[how]) == 0)
                row(how, (uint32_t)strtoul(argv[3], NULL, 10), 150);
        return 0;
    }
    for (way how = FOUND; how <= GIVEN; how++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            fine = row(how, sizes[i].hosts, sizes[i].bar) && fine;
    return !fine;
}
