/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_readers - what does a second thread give? One host's crawl, and the fetch of
 * eight.
 *
 * The transport lives in this process and feeds pages that were made before, with the
 * links of the URL that was asked for written over those that are in them: no server and
 * no kernel takes a part of a processor. One thread and two take turns; wall time,
 * five runs each, medians. The figure is the ratio of the two, the bar 1.7. Two fetches
 * of one thread beside each other, which share nothing, say what the machine can give at
 * all
 * (`most`). CPU time of
 * the process says what the second thread costs. URLs are given before the clock starts,
 * since that is the caller's work. A machine with other work to do gives
 * no figure of worth, unless this program runs before it: chrt -f 1 bench-page_readers. A
 * table for people, JSON lines with -j; -n N takes N runs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "bench.h"
#include "engine/fetch.h"
#include "seine/crawl.h"

enum {
    PAGES = BENCH_ROUNDS(10000),
    MADE =
        16, /* pages of each transport; what comes from a socket is in the cache, too */
    BYTES = 10240,
    LINKS = 30,
    PIECE = 16384,
    FLIGHT = 64,
    HOSTS = 8
};

static bool as_json;
static int missed, n_runs = BENCH_RUNS(5);

/* The pages. */

typedef struct page {
    char *bytes;
    size_t len;
    size_t links[LINKS]; /* where they begin */
} page;

static const char begin[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<link rel=\"stylesheet\" href=\"/style/main.css\">\n"
    "<title>A page about nets &amp; fish</title>\n</head>\n<body class=\"page wide\">\n"
    "<div id=\"top\" class=\"bar\"><span class=\"name\">Nets</span></div>\n<ul "
    "class=\"list\">\n";

static const char before[] = "<li class=\"item\"><a class=\"to\" href=\"";
static const char anchor[] = "/aaaaa/aa.html\">a page</a></li>\n";
static const char text[] =
    "<div class=\"row\"><p>A <em>seine</em> is a net that encloses a school of fish and "
    "leaves\nthe <span class=\"deep\">sea bed</span> alone.</p><img "
    "src=\"/pictures/net.png\" alt=\"a net\" width=\"120\"></div>\n";

/* Names are letters alone: no pattern has a budget to be used up. */
static void
letters(char *at, uint64_t n, int count)
{
    for (int i = count; i-- > 0; n >>= 4)
        at[i] = (char)('a' + (n & 15));
}

static void
add(page *p, const char *bytes, size_t n)
{
    memcpy(p->bytes + p->len, bytes, n);
    p->len += n;
}

/* Page n leads to 2n+1 and 2n+2, and to others that follow from n. */
static uint64_t
target(uint64_t n, uint64_t i)
{
    uint64_t to = i < 2 ? 2 * n + 1 + i : (n * 2654435761u + i * 40503u) >> 3;

    return to % PAGES;
}

static void
make_page(page *p)
{
    p->bytes = malloc(BYTES + sizeof text + sizeof begin);
    bench_must(p->bytes, "no memory");
    add(p, begin, sizeof begin - 1);
    for (int i = 0; i < LINKS; i++) {
        p->links[i] = p->len + sizeof before - 1;
        add(p, before, sizeof before - 1);
        add(p, anchor, sizeof anchor - 1);
    }
    while (p->len < BYTES - sizeof text)
        add(p, text, sizeof text - 1);
}

static void
write_links(page *p, uint64_t n)
{
    for (uint64_t i = 0; i < LINKS; i++) {
        letters(p->bytes + p->links[i] + 1, target(n, i) >> 8, 5);
        letters(p->bytes + p->links[i] + 7, target(n, i), 2);
    }
}

static uint64_t
number_of(const seine_url *url)
{
    seine_view path = seine_url_target(url);
    uint64_t n = 0;

    for (size_t i = 1; i < 9 && i < path.len; i++)
        if (path.ptr[i] != '/')
            n = n << 4 | (uint64_t)(path.ptr[i] - 'a');
    return n;
}

/* The net: what was started is answered in the next turn. */

typedef struct fed {
    sn_handler handler;
    bool has_page;
    uint64_t number; /* of the page */
} fed;

typedef struct feeder {
    sn_transport base;
    seine_clock *clock;
    fed live[4096];
    unsigned n;
    sn_head head, none;
    page pages[MADE];
    uint32_t word, taken; /* word: counts wakes; taken: those that were answered */
    atomic_bool is_parked;
} feeder;

static seine_err
start(sn_transport *t, const sn_request *request, const sn_handler *handler,
      sn_exchange **out_exchange)
{
    feeder *f = (feeder *)(void *)t;
    seine_view path = seine_url_target(request->url);
    bool has_page = path.len == 14 && memcmp(path.ptr, "/robots.txt", 11) != 0;

    bench_must(f->n < sizeof f->live / sizeof *f->live, "too many in flight");
    f->live[f->n++] = (fed){*handler, has_page, number_of(request->url) % PAGES};
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

static void
answer(feeder *f, const fed *one)
{
    static const sn_ip peer = {4, {192, 0, 2, 1}};
    const sn_handler *h = &one->handler;
    page *p = &f->pages[one->number % MADE];
    size_t len = one->has_page ? p->len : 0;
    sn_end end = {.fault = SN_FAULT,
                  .reused = true,
                  .peer = peer,
                  .http = 1,
                  .wire_bytes = len + 200,
                  .body_bytes = len};

    end.fault.status = one->has_page ? 200 : 404;
    end.fault.sent = true;
    end.spent[SEINE_PHASE_HEAD] = SEINE_US(50);
    bench_must(h->ops->admit(&peer, h->arg) == SEINE_OK, "an address was refused");
    if (h->ops->sent)
        h->ops->sent(h->arg);
    h->ops->head(one->has_page ? &f->head : &f->none, h->arg);
    write_links(p, one->number);
    for (size_t at = 0; at < len; at += PIECE) {
        sn_str piece = {p->bytes + at, len - at < PIECE ? len - at : PIECE};

        if (h->ops->room)
            bench_must(h->ops->room(h->arg) >= piece.len, "memory is short");
        if (!h->ops->body(piece, h->arg))
            break;
    }
    h->ops->end(&end, h->arg);
}

static seine_time
turn(sn_transport *t, seine_time until)
{
    feeder *f = (feeder *)(void *)t;
    unsigned n = f->n;

    if (n == 0 && until > f->clock->now(f->clock)) {
        atomic_store(&f->is_parked, true);
        if (__atomic_load_n(&f->word, __ATOMIC_SEQ_CST) == f->taken)
            f->clock->wait(f->clock, &f->word, f->taken, until);
        atomic_store(&f->is_parked, false);
    }
    f->taken = __atomic_load_n(&f->word, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < n; i++) { /* what these start comes behind */
        fed one = f->live[i];

        answer(f, &one);
    }
    f->n -= n;
    memmove(f->live, f->live + n, f->n * sizeof *f->live);
    return f->clock->now(f->clock);
}

static void
wake(sn_transport *t)
{
    feeder *f = (feeder *)(void *)t;

    __atomic_add_fetch(&f->word, 1, __ATOMIC_SEQ_CST);
    if (atomic_load(&f->is_parked))
        f->clock->wake(f->clock, &f->word, 1);
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
    (void)t;
    (void)x;
}

static const sn_transport_ops ops = {start, cancel,    turn, wake,
                                     no_fd, no_resume, NULL, NULL};

static void
say(sn_head *head, const char *name, const char *value)
{
    size_t n = strlen(name), m = strlen(value);

    bench_ok(sn_head_room(head, n + m));
    memcpy(head->text + head->len, name, n);
    memcpy(head->text + head->len + n, value, m);
    sn_head_add(head, (sn_head_field){head->len, (uint32_t)n, head->len + (uint32_t)n,
                                      (uint32_t)m});
    head->len += (uint32_t)(n + m);
}

static void
make_head(sn_head *head, uint16_t status)
{
    sn_head_init(head, NULL);
    head->status = status;
    head->minor = 1;
    say(head, "Server", "nginx/1.22.1");
    say(head, "Date", "Sun, 06 Nov 1994 08:49:37 GMT");
    say(head, "Content-Type", "text/html; charset=utf-8");
    say(head, "Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT");
    say(head, "Connection", "keep-alive");
}

static seine_err
open_net(void *self, const sn_shared_state *shared, uint32_t shard, uint32_t n,
         sn_transport **out_transport, seine_diag *diag)
{
    feeder *f = calloc(1, sizeof *f);

    (void)self;
    (void)shard;
    (void)n;
    (void)diag;
    bench_must(f, "no memory");
    f->base.ops = &ops;
    f->clock = shared->opts.clock;
    make_head(&f->head, 200);
    make_head(&f->none, 404);
    for (int i = 0; i < MADE; i++)
        make_page(&f->pages[i]);
    *out_transport = &f->base;
    return SEINE_OK;
}

static void
close_net(void *self, sn_transport *t)
{
    feeder *f = (feeder *)(void *)t;

    (void)self;
    sn_head_fini(&f->head);
    sn_head_fini(&f->none);
    for (int i = 0; i < MADE; i++)
        free(f->pages[i].bytes);
    free(f);
}

static const sn_net net = {.open = open_net, .close = close_net};

/* The runs. */

typedef struct scene {
    const char *what;
    unsigned hosts, urls;
    bool is_crawl;
} scene;

typedef struct figure {
    double wall, cpu; /* microseconds a page */
} figure;

typedef struct tally {
    _Atomic uint64_t ok;
    atomic_bool is_open; /* URLs may be asked for: all of them are given */
} tally;

static void
count(const seine_record *r, unsigned shard, void *arg)
{
    (void)shard;
    if (r->fate == SEINE_FATE_OK)
        atomic_fetch_add(&((tally *)arg)->ok, 1);
}

static bool
is_open(unsigned shard, void *arg)
{
    (void)shard;
    return atomic_load(&((tally *)arg)->is_open);
}

static double
seconds(clockid_t of)
{
    struct timespec t;

    clock_gettime(of, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
give(seine_fetch *f, seine_ctx *ctx, unsigned host, unsigned n)
{
    char url[64];
    seine_ask ask = SEINE_ASK;
    int len = snprintf(url, sizeof url, "http://h%u.example/aaaaa/aa.html", host);

    letters(url + len - 13, n >> 8, 5);
    letters(url + len - 7, n, 2);
    ask.url = (seine_view){url, (size_t)len};
    bench_ok(seine_fetch_add(f, &ask, ctx));
}

static figure
once(const scene *s, unsigned threads)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    tally t = {0};
    seine_fetch *f;
    seine_ctx *ctx;

    crawl.depth = UINT32_MAX;
    crawl.sitemaps = SEINE_SITEMAPS_OFF;
    crawl.pattern_budget = 0;
    crawl.max_links = 50000;
    o.threads = threads;
    o.mine = true;
    o.keep = SEINE_KEEP_TITLE;
    o.crawl = s->is_crawl ? &crawl : NULL;
    o.host_rate = (seine_rate){1000000, SEINE_SECS(1), 1000};
    o.adaptive = false;
    o.concurrency = s->is_crawl ? FLIGHT : FLIGHT * threads;
    o.per_host = s->is_crawl ? FLIGHT : FLIGHT / HOSTS;
    o.per_ip = 0;
    o.on_record = count;
    o.ready = is_open;
    o.queue = 2 * s->urls + 1000;
    o.arg = &t;
    bench_ok(seine_ctx_background(&ctx));
    bench_ok(sn_fetch_open(&o, &net, &f, NULL));
    for (unsigned i = 0; i < s->urls; i++)
        give(f, ctx, i % s->hosts, i / s->hosts);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    atomic_store(&t.is_open, true);
    seine_fetch_wake(f);
    bench_ok(seine_fetch_finish(f, ctx));
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    bench_must(t.ok == (s->is_crawl ? PAGES : s->urls), "a page is missing");
    seine_fetch_free(f);
    seine_ctx_unref(ctx);
    return (figure){wall * 1e6 / (double)t.ok, cpu * 1e6 / (double)t.ok};
}

typedef struct lone {
    const scene *of;
    figure got;
} lone;

static void *
run_alone(void *arg)
{
    lone *l = arg;

    l->got = once(l->of, 1);
    return NULL;
}

/* Two runs beside each other, which share nothing: what the machine has to give. */
static double
twice(const scene *s)
{
    lone other = {.of = s}, own = {.of = s};
    pthread_t thread;

    bench_must(pthread_create(&thread, NULL, run_alone, &other) == 0, "no thread");
    run_alone(&own);
    pthread_join(thread, NULL);
    return (own.got.wall + other.got.wall) / 4;
}

/* The kernel stops real-time threads that take more than 95 % of a second. */
static void
pause_between(void)
{
    struct timespec t = {0, 150000000};

    nanosleep(&t, NULL);
}

static double
median(double *values)
{
    qsort(values, (size_t)n_runs, sizeof *values, bench_by_value);
    return values[n_runs / 2];
}

static void
report(const scene *s)
{
    enum { MOST = 101 };
    double wall[2][MOST], cpu[2][MOST], apart[MOST];

    for (int i = 0; i < n_runs; i++) {
        pause_between();
        apart[i] = twice(s);
        for (unsigned t = 0; t < 2; t++) {
            pause_between();
            figure one = once(s, t + 1);

            wall[t][i] = one.wall;
            cpu[t][i] = one.cpu;
        }
    }
    double one = median(wall[0]), two = median(wall[1]), ratio = one / two;
    double one_cpu = median(cpu[0]), two_cpu = median(cpu[1]);
    double most = one / median(apart);

    missed += ratio < 1.7;
    if (as_json)
        printf("{\"name\":\"%s\",\"value\":%.2f,\"unit\":\"times\",\"one_us\":%.2f,"
               "\"two_us\":%.2f,\"one_cpu_us\":%.2f,\"two_cpu_us\":%.2f,\"most\":%.2f,"
               "\"bar\":1.7,"
               "\"ok\":%s}\n",
               s->what, ratio, one, two, one_cpu, two_cpu, most,
               ratio >= 1.7 ? "true" : "false");
    else
        printf("%-22s %7.2f %7.2f %8.2f %8.2f %5.2f  %5.2f x  >= 1.7 %s\n", s->what, one,
               two, one_cpu, two_cpu, most, ratio, ratio >= 1.7 ? "met" : "MISSED");
    if (fflush(stdout) != 0) /* the reader has left */
        exit(1);
}

int
main(int argc, char **argv)
{
    static const scene scenes[] = {
        {"one host's crawl", 1, 1, true},
        {"eight hosts' fetch", HOSTS, 5 * PAGES, false},
    };

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-j") == 0)
            as_json = true;
        else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            n_runs = (int)strtol(argv[++i], NULL, 10);
    }
    bench_must(n_runs > 0 && n_runs <= 101, "-n: 1 to 101");
    if (!as_json)
        printf("%-22s %7s %7s %8s %8s %5s\n", "us a page", "1", "2", "cpu of 1",
               "cpu of 2", "most");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        report(&scenes[i]);
    return missed > 0 ? 1 : 0;
}
