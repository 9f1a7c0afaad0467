/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wired - what a request costs the transport alone: no scheduler, no records.
 *
 *     bench-wired [-j] [-n REQUESTS] [-c CONNECTIONS] [URL]
 *
 * GET after GET of one URL, 64 in flight on kept connections, by one thread; the URL is
 * 2 KB of a chaos server in the same process unless one is given. CPU is that of the
 * thread alone, user and system apart, per request; five runs, median and best. Prints a
 * table for people, and one JSON object per line with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <seine/chaos.h>

#include "base/str.h"
#include "net/wired.h"

enum { RUNS = 5 };

static bool as_json;
static int missed;
static char mem[SEINE_URL_ROOM];
static seine_url url;
static sn_transport *t;
static uint64_t wanted = 50000, started, ended, failed;
static uint32_t width = 64;
static sn_limits limits = {.max_wire = 16 << 20, .max_body = 16 << 20};
static const sn_field fields[] = {{{"User-Agent", 10}, {"seine-bench", 11}},
                                  {{"Accept", 6}, {"*/*", 3}}};

typedef struct guest {
    sn_request q;
    sn_exchange *x;
    uint64_t bytes;
} guest;

static void
must(seine_err e)
{
    if (e != SEINE_OK) {
        fprintf(stderr, "bench: %s\n", seine_err_text(e));
        exit(1);
    }
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* `more` is better, or less is; 0: no bar. */
static void
report(const char *name, const char *unit, double runs[RUNS], bool more, double bar)
{
    qsort(runs, RUNS, sizeof *runs, by_value);
    double value = runs[RUNS / 2], best = runs[more ? RUNS - 1 : 0];
    bool ok = bar == 0 || value <= bar;

    missed += !ok;
    if (!as_json) {
        printf("%-34s %11.2f %11.2f  %-5s ", name, value, best, unit);
        if (bar > 0)
            printf("<= %g %s", bar, ok ? "met" : "MISSED");
        printf("\n");
    } else {
        printf("{\"name\":\"%s\",\"value\":%.3f,\"best\":%.3f,\"unit\":\"%s\"", name,
               value, best, unit);
        if (bar > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"ok\":%s", bar, value / bar,
                   ok ? "true" : "false");
        printf("}\n");
    }
    if (fflush(stdout) != 0) /* the reader has left */
        exit(1);
}

static seine_time
now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static double
us_of(struct timeval v)
{
    return (double)v.tv_sec * 1e6 + (double)v.tv_usec;
}

static void start(guest *g);

static void
head(const sn_head *h, void *arg)
{
    (void)arg;
    failed += h->status != 200;
}

static bool
body(sn_str piece, void *arg)
{
    guest *g = arg;

    g->bytes += piece.len;
    return true;
}

static void
end(const sn_end *e, void *arg)
{
    failed += e->fault.code != SEINE_OK;
    ended++;
    if (started < wanted)
        start(arg);
}

static void
start(guest *g)
{
    g->q = (sn_request){.method = SN_STR("GET"),
                        .url = &url,
                        .fields = fields,
                        .n_fields = sizeof fields / sizeof *fields,
                        .deadline = now() + SEINE_SECS(30),
                        .limits = &limits,
                        .ceiling = SN_ZONE_LOCAL,
                        .pin = SN_ZONE_NO_PIN};
    sn_handler h = {NULL, head, body, end, g};

    started++;
    must(t->ops->start(t, &g->q, &h, &g->x));
}

static void
run(guest *guests)
{
    started = ended = 0;
    for (uint32_t i = 0; i < width && started < wanted; i++)
        start(&guests[i]);
    while (ended < wanted)
        t->ops->turn(t, SEINE_NEVER);
}

static void
measure(void)
{
    double rate[RUNS], user[RUNS], system_[RUNS], all[RUNS];
    guest *guests = calloc(width, sizeof *guests);
    struct rusage from, to;

    if (!guests)
        must(SEINE_E_NOMEM);
    run(guests);
    for (int i = 0; i < RUNS; i++) {
        seine_time begun = now();

        getrusage(RUSAGE_THREAD, &from);
        run(guests);
        getrusage(RUSAGE_THREAD, &to);
        double n = (double)wanted;
        rate[i] = n / ((double)(now() - begun) / 1e9);
        user[i] = (us_of(to.ru_utime) - us_of(from.ru_utime)) / n;
        system_[i] = (us_of(to.ru_stime) - us_of(from.ru_stime)) / n;
        all[i] = user[i] + system_[i];
    }
    free(guests);
    report("requests a second", "1/s", rate, true, 0);
    report("user CPU a request", "us", user, false, 1.5);
    report("system CPU a request", "us", system_, false, 0);
    report("CPU a request", "us", all, false, 0);
}

static void
parse(const char *base, const char *path)
{
    char text[SEINE_URL_ROOM];

    snprintf(text, sizeof text, "%s%s", base, path);
    seine_url_init(&url, mem, sizeof mem);
    must(seine_url_parse(&url, text, strlen(text), NULL));
}

int
main(int argc, char **argv)
{
    seine_chaos *c = NULL;
    char why[SEINE_WHY] = "";

    for (int o; (o = getopt(argc, argv, "jn:c:")) != -1;)
        if (o == 'j')
            as_json = true;
        else if (o == 'n')
            wanted = strtoull(optarg, NULL, 10);
        else if (o == 'c')
            width = (uint32_t)strtoul(optarg, NULL, 10);
        else
            return 2;
    limits.time = SN_TIMEOUTS;
    if (optind == argc)
        must(seine_chaos_new(NULL, &c));
    parse(c ? seine_chaos_url(c) : argv[optind], c ? "/bytes:2048" : "");
    sn_wired_opts opts = {.clock = seine_clock_system(),
                          .dns = {.timeout = SEINE_SECS(5), .max_names = 1000},
                          .max_connections = width,
                          .max_idle = width,
                          .max_idle_origin = width,
                          .idle_time = SEINE_SECS(15),
                          .max_age = SEINE_SECS(600),
                          .max_requests = UINT32_MAX};
    must(sn_wired_new(&opts, why, &t));
    measure();
    sn_wired_stats stats;
    sn_wired_stats_get(t, &stats);
    if (!as_json)
        printf("%llu connections opened, %llu requests failed\n",
               (unsigned long long)stats.opened, (unsigned long long)failed);
    sn_wired_free(t);
    seine_chaos_free(c);
    return failed > 0;
}
