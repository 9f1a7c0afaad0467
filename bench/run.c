/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - what a URL costs above the transport: admitted, scheduled, started, judged,
 * emitted.
 *
 * The transport answers at once and costs next to nothing itself (a list and a head that
 * is made once); 64 in flight, hosts that are ours. Thread CPU time, five runs, median
 * and minimum. The bar holds on a machine whose clock_gettime takes 22 ns and is scaled
 * by it elsewhere. A table for people, JSON lines with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "bench.h"
#include "engine/fetch.h"

enum { RUNS = BENCH_RUNS(5), URLS = BENCH_ROUNDS(100000), MAX = 4096 };

static bool as_json;
static int missed;
static double slowness = 1; /* this machine's clock_gettime over 22 ns */

static double
measure_clock(void)
{
    struct timespec t;
    double begin = bench_cpu_ns();

    for (int i = 0; i < 1000000; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
    return (bench_cpu_ns() - begin) / 1e6;
}

/* A clock that stands, and a net whose answers are there before the next turn. */

static seine_time virtual_now = SEINE_SECS(1000);

static seine_time
now(seine_clock *c)
{
    (void)c;
    return virtual_now;
}

static int64_t
wall(seine_clock *c)
{
    (void)c;
    return virtual_now;
}

static uint64_t
dice(seine_clock *c)
{
    static uint64_t n = 1;

    (void)c;
    return n = n * 6364136223846793005u + 1442695040888963407u;
}

static bool
wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    (void)c;
    (void)word;
    (void)seen;
    (void)until;
    return true;
}

static void
wake_word(seine_clock *c, const uint32_t *word, int n)
{
    (void)c;
    (void)word;
    (void)n;
}

static seine_clock standing = {now, wall, dice, wait, wake_word, NULL, NULL};

typedef struct flat {
    sn_transport base;
    sn_handler live[MAX];
    unsigned n;
    sn_head head;
} flat;

static const char page[2048] = "<!doctype html><title>A page</title>";

static seine_err
start(sn_transport *t, const sn_request *request, const sn_handler *handler,
      sn_exchange **out_exchange)
{
    flat *f = (flat *)(void *)t;

    (void)request;
    f->live[f->n++] = *handler;
    *out_exchange = (sn_exchange *)(void *)f;
    return SEINE_OK;
}

static void
cancel(sn_transport *t, sn_exchange *x, seine_err why)
{
    (void)t;
    (void)x;
    (void)why;
}

static seine_time
turn(sn_transport *t, seine_time until)
{
    static const sn_ip peer = {4, {192, 0, 2, 1}};
    flat *f = (flat *)(void *)t;
    sn_end end = {.fault = SN_FAULT,
                  .reused = true,
                  .peer = peer,
                  .http = 1,
                  .wire_bytes = sizeof page,
                  .body_bytes = sizeof page};
    unsigned n = f->n;

    (void)until;
    virtual_now += SEINE_US(50);
    end.fault.status = 200;
    end.fault.sent = true;
    end.spent[SEINE_PHASE_HEAD] = SEINE_US(50);
    f->n = 0;
    for (unsigned i = 0; i < n; i++) {
        sn_handler h = f->live[i];
        if (h.ops->admit(&peer, h.arg) != SEINE_OK)
            abort();
        if (h.ops->sent)
            h.ops->sent(h.arg);
        h.ops->head(&f->head, h.arg);
        h.ops->body((sn_str){page, sizeof page}, h.arg);
        h.ops->end(&end, h.arg);
    }
    return virtual_now;
}

static void
wake(sn_transport *t)
{
    (void)t;
}

static int
no_fd(sn_transport *t)
{
    (void)t;
    return -1;
}

static void
no_resume(sn_transport *t, sn_exchange *x)
{
    (void)t, (void)x; /* nobody is asked for room */
}

static const sn_transport_ops ops = {start, cancel,    turn, wake,
                                     no_fd, no_resume, NULL, NULL};

static void
say(sn_head *head, const char *name, const char *value)
{
    size_t n = strlen(name), m = strlen(value);

    if (sn_head_room(head, n + m) != SEINE_OK)
        abort();
    memcpy(head->text + head->len, name, n);
    memcpy(head->text + head->len + n, value, m);
    sn_head_add(head, (sn_head_field){head->len, (uint32_t)n, head->len + (uint32_t)n,
                                      (uint32_t)m});
    head->len += (uint32_t)(n + m);
}

static seine_err
open_net(void *self, const sn_shared_state *shared, uint32_t shard, uint32_t n,
         sn_transport **out_transport, seine_diag *diag)
{
    flat *f = calloc(1, sizeof *f);

    (void)self;
    (void)shared;
    (void)shard;
    (void)n;
    (void)diag;
    f->base.ops = &ops;
    sn_head_init(&f->head, NULL);
    f->head.status = 200;
    f->head.minor = 1;
    say(&f->head, "Server", "nginx/1.22.1");
    say(&f->head, "Date", "Sun, 06 Nov 1994 08:49:37 GMT");
    say(&f->head, "Content-Type", "text/html; charset=utf-8");
    say(&f->head, "Content-Length", "2048");
    say(&f->head, "Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT");
    say(&f->head, "Connection", "keep-alive");
    say(&f->head, "ETag", "\"2eb9a461-800\"");
    say(&f->head, "Accept-Ranges", "bytes");
    *out_transport = &f->base;
    return SEINE_OK;
}

static void
close_net(void *self, sn_transport *t)
{
    flat *f = (flat *)(void *)t;

    (void)self;
    sn_head_fini(&f->head);
    free(f);
}

static const sn_net flat_net = {.open = open_net, .close = close_net};

static void
count(const seine_record *r, unsigned shard, void *arg)
{
    (void)shard;
    *(uint64_t *)arg += r->fate == SEINE_FATE_OK;
}

typedef struct kind {
    const char *what;
    unsigned hosts, keep;
    bool mine, dedup;
    double bar; /* 0: none */
} kind;

/* Behind the first `at` bytes; where it ends. printf would cost a tenth of it all. */
static size_t
digits(char *text, size_t at, unsigned n)
{
    char back[10];
    size_t len = 0;

    do
        back[len++] = (char)('0' + n % 10);
    while (n /= 10);
    while (len > 0)
        text[at++] = back[--len];
    return at;
}

static double
once(const kind *k)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    uint64_t ok = 0;
    seine_fetch *f;

    o.threads = 0;
    o.clock = &standing;
    o.mine = k->mine;
    o.dedup = k->dedup;
    o.keep = k->keep;
    o.host_rate = (seine_rate){1000000, SEINE_SECS(1), 1000};
    o.adaptive = false;
    o.per_host = 64;
    o.per_ip = 0;
    o.on_record = count;
    o.arg = &ok;
    if (sn_fetch_open(&o, &flat_net, &f, NULL) != SEINE_OK)
        abort();
    double begin = bench_cpu_ns();
    for (unsigned i = 0; i < URLS; i++) {
        char url[64] = "http://h";
        seine_ask ask = SEINE_ASK;
        size_t n = digits(url, 8, i % k->hosts);
        memcpy(url + n, ".example/a/page/", 16);
        ask.url = (seine_view){url, digits(url, n + 16, i)};
        seine_err e;
        while ((e = seine_fetch_add(f, &ask, NULL)) == SEINE_E_FULL)
            sn_fetch_turn(f, INT64_MIN);
        if (e != SEINE_OK)
            abort();
    }
    if (seine_fetch_finish(f, NULL) != SEINE_OK || ok != URLS)
        abort();
    double spent = (bench_cpu_ns() - begin) / URLS;
    seine_fetch_free(f);
    return spent;
}

static void
report(const kind *k)
{
    double runs[RUNS];

    for (int i = 0; i < RUNS; i++)
        runs[i] = once(k);
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    double value = runs[RUNS / 2];
    bool ok = k->bar == 0 || value <= k->bar * slowness;
    const char *verdict = k->bar == 0       ? ""
                          : value <= k->bar ? "<= 1500 met"
                          : ok              ? "<= 1500 met, scaled"
                                            : "<= 1500 MISSED";

    missed += !ok;
    if (!as_json)
        printf("%-44s %8.0f %8.0f  ns  %s\n", k->what, value, runs[0], verdict);
    else if (k->bar == 0)
        printf("{\"name\":\"%s\",\"value\":%.0f,\"best\":%.0f,\"unit\":\"ns\"}\n",
               k->what, value, runs[0]);
    else
        printf("{\"name\":\"%s\",\"value\":%.0f,\"best\":%.0f,\"unit\":\"ns\",\"bar\":%g,"
               "\"ratio\":%.2f,\"ok\":%s}\n",
               k->what, value, runs[0], k->bar, value / k->bar, ok ? "true" : "false");
    if (fflush(stdout) != 0) /* the reader has left */
        exit(1);
}

int
main(int argc, char **argv)
{
    static const kind kinds[] = {
        {"a URL, 100 hosts of ours", 100, 0, true, true, 1500},
        {"a URL, one host", 1, 0, true, true, 1500},
        {"a URL, 10,000 hosts with limits", 10000, 0, false, true, 0},
        {"a URL and its title", 100, SEINE_KEEP_TITLE, true, true, 0},
        {"a URL and its body of 2 KB", 100, SEINE_KEEP_BODY, true, true, 0},
        {"a URL without dedup", 100, 0, true, false, 0},
    };

    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    slowness = measure_clock() / 22;
    if (slowness < 1)
        slowness = 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        report(&kinds[i]);
    return missed > 0;
}
