/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler - what the scheduler costs per URL: asked for the next one, told how it
 * ended, given another one for the same host.
 *
 * A fake clock jumps from moment to moment; hosts may be asked 5 times a second each and
 * always have a URL. Thread CPU time, five runs, median. A table, JSON lines with -j.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/scheduler.h"

enum { RUNS = 5 };

static bool as_json;

static double
cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static sn_visit *
visit_of(sn_commons *c, uint32_t host)
{
    seine_err e;
    sn_visit *v = sn_visits_take(c->visits, &e);
    char url[64];

    if (!v)
        abort();
    int n = snprintf(url, sizeof url, "http://h%u.example/", host);
    seine_url_init(&v->url, sn_arena_get(&v->arena, 64, 1, 1), 64);
    if (seine_url_parse(&v->url, url, (size_t)n, NULL) != SEINE_OK)
        abort();
    v->state = SN_ADMITTED;
    seine_hint_init(&v->hint, 0);
    return v;
}

static double
once(uint32_t hosts, uint32_t ops)
{
    seine_fetch_opts o = {.concurrency = 64,
                          .per_host = 4,
                          .queue = hosts + 128,
                          .host_rate = {5, SEINE_SECS(1), 1},
                          .adaptive = true,
                          .timeout = SEINE_SECS(30),
                          .connect_timeout = SEINE_SECS(10),
                          .dns_timeout = SEINE_SECS(5),
                          .tcp_timeout = SEINE_SECS(5),
                          .tls_timeout = SEINE_SECS(5),
                          .head_timeout = SEINE_SECS(20),
                          .retry = SEINE_RETRY_OPTS,
                          .retry_budget = {UINT32_MAX, 1, {1, 1, 1}},
                          .breaker = SEINE_BREAKER_OPTS,
                          .max_retry_after = SEINE_SECS(300),
                          .method = "GET",
                          .user_agent = "bench"};
    sn_commons c;
    sn_scheduler *s;
    seine_clock *clock;

    if (seine_clock_fake_new(0, 0, 1, &clock) != SEINE_OK)
        abort();
    o.clock = clock;
    if (sn_commons_init(&c, &o, NULL) != SEINE_OK ||
        sn_scheduler_new(&c, 0, &s) != SEINE_OK)
        abort();
    for (uint32_t i = 0; i < hosts; i++)
        if (sn_scheduler_add(s, visit_of(&c, i), 0) != SEINE_OK)
            abort();
    seine_time now = 0;
    double start = 0;
    for (uint32_t done = 0; done < ops + hosts;) {
        if (done >= hosts && start == 0)
            start = cpu_ns(); /* warm */
        sn_visit *v = sn_scheduler_next(s, now);
        if (!v) {
            now = sn_scheduler_when(s, now);
            continue;
        }
        v->state = SN_IN_FLIGHT;
        v->ttfb = SEINE_MS(40);
        v->end.fault.sent = true;
        v->end.fault.status = 200;
        sn_scheduler_end(s, v, now);
        v->state = SN_ADMITTED;
        if (sn_scheduler_add(s, v, now) != SEINE_OK)
            abort();
        done++;
    }
    double took = (cpu_ns() - start) / ops;
    for (sn_visit *v; (v = sn_scheduler_drain(s));)
        sn_visits_give(c.visits, v);
    sn_scheduler_free(s);
    sn_commons_fini(&c);
    seine_clock_fake_free(clock);
    return took;
}

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static int
row(uint32_t hosts, double bar)
{
    double runs[RUNS];

    for (int i = 0; i < RUNS; i++)
        runs[i] = once(hosts, 200000);
    qsort(runs, RUNS, sizeof *runs, by_size);
    double value = runs[RUNS / 2];
    bool ok = value <= bar;
    if (as_json)
        printf("{\"name\":\"scheduler_%u_hosts\",\"value\":%.1f,\"unit\":\"ns\",\"bar\":%"
               ".0f,"
               "\"ok\":%s}\n",
               hosts, value, bar, ok ? "true" : "false");
    else
        printf("%9u hosts  %7.1f ns  (bar %.0f) %s\n", hosts, value, bar,
               ok ? "" : "missed");
    fflush(stdout);
    return !ok;
}

int
main(int argc, char **argv)
{
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    int missed = row(1000, 150);
    missed += row(100000, 150);
    missed += row(1000000, 450);
    return missed > 0;
}
