/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard - what a decision costs, and how much memory a guard takes.
 *
 * Thread CPU time around millions of operations, five runs, median and minimum;
 * rows with two threads give the mean of both. The cost of reading the clock, of
 * a compare-and-swap, a mutex and a bucket behind a mutex stand in the same run:
 * figures of two machines are compared through them. The bars in ns belong to a
 * machine that reads its clock in 22 ns; where that takes longer, a bar that is
 * missed as it stands may still be met scaled by it, and the table says which.
 * Prints a table for people, and one JSON object per line with -j.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seine/alloc.h>
#include <seine/attempt.h>
#include <seine/breakers.h>
#include <seine/keyed.h>
#include <seine/pool.h>
#include <seine/retry.h>

#include "bench.h"

enum { RUNS = BENCH_RUNS(5), MANY = BENCH_ROUNDS(5000000), SOME = BENCH_ROUNDS(1000000) };

static volatile uint64_t sink;
static bool as_json;
static int missed;
static double slowness = 1; /* this machine's clock_gettime over 22 ns */

/* An allocator that counts: a decision allocates nothing. */
static atomic_llong out_bytes, out_calls, all_bytes; /* held; calls; ever asked for */

static void *
get(size_t n, void *arg)
{
    void *p = malloc(n);

    (void)arg;
    out_calls++;
    all_bytes += (long long)n;
    out_bytes += (long long)malloc_usable_size(p);
    return p;
}

static void *
resize(void *p, size_t n, void *arg)
{
    (void)arg;
    out_calls++;
    all_bytes += (long long)n;
    out_bytes -= p ? (long long)malloc_usable_size(p) : 0;
    p = realloc(p, n);
    out_bytes += (long long)malloc_usable_size(p);
    return p;
}

static void
put(void *p, void *arg)
{
    (void)arg;
    out_bytes -= (long long)malloc_usable_size(p);
    free(p);
}

static double
clock_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef struct bar {
    double at;     /* 0: none */
    bool at_least; /* else at most */
} bar;

static bool
meets(double value, bar want, double scale)
{
    return want.at_least ? value >= want.at : value <= want.at * scale;
}

static const char *
verdict(double value, bar want, bool is_time)
{
    if (want.at == 0)
        return "";
    if (meets(value, want, 1))
        return "met";
    return is_time && meets(value, want, slowness) ? "met, scaled" : "MISSED";
}

static void
report(const char *name, double value, double best, const char *unit, bar want)
{
    const char *how = verdict(value, want, strcmp(unit, "ns") == 0);
    char text[32] = "";

    missed += strcmp(how, "MISSED") == 0;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.2f,\"best\":%.2f,\"unit\":\"%s\"", name,
               value, best, unit);
        if (want.at > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"verdict\":\"%s\"", want.at,
                   value / want.at, how);
        printf("}\n");
        return;
    }
    if (want.at > 0)
        snprintf(text, sizeof text, "%s %g", want.at_least ? ">=" : "<=", want.at);
    printf("%-42s %11.2f %11.2f  %-4s %-10s %s\n", name, value, best, unit, text, how);
}

static bar
at_most(double at)
{
    return (bar){at, false};
}

static const bar none;

typedef void (*body)(void *arg, long n);

/* ns of CPU per operation of one thread. */
static double
measure(const char *name, bar want, body fn, void *arg, long n)
{
    double runs[RUNS];

    fn(arg, n / 10);
    long long calls = out_calls;
    for (int i = 0; i < RUNS; i++) {
        double start = clock_of(CLOCK_THREAD_CPUTIME_ID);

        fn(arg, n);
        runs[i] = (clock_of(CLOCK_THREAD_CPUTIME_ID) - start) / (double)n;
    }
    calls = out_calls - calls;
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report(name, runs[RUNS / 2], runs[0], "ns", want);
    if (calls > 0) {
        printf("%s allocates: %lld times in %ld operations MISSED\n", name, calls,
               RUNS * n);
        missed++;
    }
    return runs[RUNS / 2];
}

typedef struct half {
    body fn;
    void *arg;
    long n;
    double ns;
    pthread_barrier_t *start;
} half;

static void *
half_run(void *arg)
{
    half *h = arg;

    pthread_barrier_wait(h->start);
    double start = clock_of(CLOCK_THREAD_CPUTIME_ID);
    h->fn(h->arg, h->n);
    h->ns = (clock_of(CLOCK_THREAD_CPUTIME_ID) - start) / (double)h->n;
    return NULL;
}

/* The same on two threads at once: the mean of both. */
static void
measure_two(const char *name, bar want, body fn, void *arg, long n)
{
    double runs[RUNS];

    for (int i = 0; i < RUNS; i++) {
        pthread_barrier_t start;
        half halves[2];
        pthread_t threads[2];

        pthread_barrier_init(&start, NULL, 2);
        for (int t = 0; t < 2; t++) {
            halves[t] = (half){fn, arg, n, 0, &start};
            pthread_create(&threads[t], NULL, half_run, &halves[t]);
        }
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        pthread_barrier_destroy(&start);
        runs[i] = (halves[0].ns + halves[1].ns) / 2;
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report(name, runs[RUNS / 2], runs[0], "ns", want);
}

static void
clock_body(void *arg, long n)
{
    seine_clock *c = seine_clock_system();
    uint64_t sum = 0;

    (void)arg;
    for (long i = 0; i < n; i++)
        sum += (uint64_t)c->now(c);
    sink += sum;
}

static void
swap_body(void *arg, long n)
{
    _Atomic uint64_t *word = arg;
    uint64_t sum = 0;

    for (long i = 0; i < n; i++) {
        uint64_t was = atomic_load(word);

        sum += atomic_compare_exchange_strong(word, &was, was + 1);
    }
    sink += sum;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void
mutex_body(void *arg, long n)
{
    uint64_t *sum = arg;

    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        ++*sum;
        pthread_mutex_unlock(&mutex);
    }
}

/* The bucket most programs write: a count, a timestamp, a mutex, doubles. */
static void
mutex_bucket_body(void *arg, long n)
{
    static double tokens = 100, last;
    uint64_t granted = 0;

    (void)arg;
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        double now = clock_of(CLOCK_MONOTONIC) / 1e9;
        tokens += (now - last) * 50;
        tokens = tokens > 100 ? 100 : tokens;
        last = now;
        if (tokens >= 1) {
            tokens -= 1;
            granted++;
        }
        pthread_mutex_unlock(&mutex);
    }
    sink += granted;
}

static void
machine(void)
{
    static _Atomic uint64_t word;
    static uint64_t count;

    double clock = measure("machine: clock_gettime", none, clock_body, NULL, SOME);

    slowness = clock > 22 ? clock / 22 : 1;
    measure("machine: compare-and-swap", none, swap_body, &word, MANY);
    measure("machine: mutex lock + unlock", none, mutex_body, &count, MANY);
    measure("mutex bucket with clock", none, mutex_bucket_body, NULL, SOME);
    measure_two("mutex bucket with clock, 2 threads", none, mutex_bucket_body, NULL,
                SOME);
}

static void
limiter_body(void *arg, long n)
{
    seine_limiter *lim = arg;
    seine_time now = lim->full > 0 ? lim->full : 1;
    uint64_t granted = 0;

    for (long i = 0; i < n; i++)
        granted += seine_limiter_allow(lim, now += lim->every, 1);
    sink += granted;
}

static void
limiter_refuse_body(void *arg, long n)
{
    uint64_t granted = 0;

    for (long i = 0; i < n; i++)
        granted += seine_limiter_allow(arg, 0, 1);
    sink += granted;
}

/* A bucket so deep that every call is granted. */
static void
shared_body(void *arg, long n)
{
    long granted = 0;

    for (long i = 0; i < n; i++)
        granted += seine_shared_allow(arg, 1, 1);
    if (granted != n)
        bench_ok(SEINE_E_LIMITED);
}

static void
shared_clock_body(void *arg, long n)
{
    seine_clock *c = seine_clock_system();
    uint64_t granted = 0;

    for (long i = 0; i < n; i++)
        granted += seine_shared_allow(arg, c->now(c), 1);
    sink += granted;
}

/* A row of the table in docs/user/limiter.md: ns, bytes and allocations of a decision. */
static void
limiter_row(const seine_shared_opts *opts)
{
    const double n = (double)RUNS * SOME;
    char name[64], what[80];
    seine_shared *shared;

    bench_ok(seine_shared_new(opts, 0, &shared));
    snprintf(name, sizeof name, "shared with clock, burst %u, %llu/s", opts->rate.burst,
             (unsigned long long)opts->rate.count);
    long long calls = out_calls, bytes = all_bytes;
    measure(name, none, shared_clock_body, shared, SOME);
    double by_calls = (double)(out_calls - calls) / n,
           by_bytes = (double)(all_bytes - bytes) / n;
    snprintf(what, sizeof what, "%s, bytes", name);
    report(what, by_bytes, by_bytes, "B", none);
    snprintf(what, sizeof what, "%s, allocations", name);
    report(what, by_calls, by_calls, "", none);
    seine_shared_free(shared);
}

static void
limiters(void)
{
    static const uint32_t bursts[] = {1, 10, 100, 1000};
    static const uint64_t rates[] = {10, 1000, 1000000};
    seine_limiter lim;
    seine_shared *shared;
    seine_shared_opts opts = {sizeof(seine_shared_opts),
                              {1000000000, SEINE_SECS(1), UINT32_MAX},
                              SEINE_FULL,
                              8};

    bench_ok(seine_limiter_init(&lim, 1000, 100));
    measure("limiter allow", at_most(5), limiter_body, &lim, MANY);
    bench_ok(seine_limiter_init(&lim, SEINE_SECS(1000), 1));
    limiter_refuse_body(&lim, 1);
    measure("limiter refuse", at_most(5), limiter_refuse_body, &lim, MANY);

    bench_ok(seine_shared_new(&opts, 0, &shared));
    measure("shared allow", at_most(15), shared_body, shared, MANY);
    measure_two("shared allow, 2 threads", at_most(40), shared_body, shared, MANY);
    measure("shared allow with clock", at_most(40), shared_clock_body, shared, SOME);
    measure_two("shared allow with clock, 2 threads", none, shared_clock_body, shared,
                SOME);
    seine_shared_free(shared);

    for (size_t b = 0; b < sizeof bursts / sizeof *bursts; b++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            opts.rate = (seine_rate){rates[r], SEINE_SECS(1), bursts[b]};
            limiter_row(&opts);
        }
}

typedef struct keys {
    seine_keyed *keyed;
    seine_breakers *breakers;
    char (*names)[24];
    uint32_t n;
} keys;

static keys
keys_new(uint32_t n)
{
    keys k = {.names = malloc(n * sizeof *k.names), .n = n};

    if (!k.names)
        exit(1);
    for (uint32_t i = 0; i < n; i++)
        snprintf(k.names[i], sizeof k.names[i], "host-%u.example", i);
    return k;
}

static seine_view
any_key(const keys *k, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return seine_key_str(k->names[(*state >> 33) * k->n >> 31]);
}

static void
keyed_body(void *arg, long n)
{
    keys *k = arg;
    uint64_t state = 1, granted = 0;

    for (long i = 0; i < n; i++)
        granted += seine_keyed_allow(k->keyed, any_key(k, &state), 1, 1);
    sink += granted;
}

static void
keyed(void)
{
    static const struct {
        uint32_t n;
        double bar;
    } rows[] = {{1000, 80}, {100000, 150}, {1000000, 350}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        keys k = keys_new(rows[i].n);
        seine_keyed_opts opts = SEINE_KEYED_OPTS;
        char name[64];

        opts.max_keys = rows[i].n;
        opts.each = (seine_rate){1, SEINE_SECS(1), 1000000000};
        bench_ok(seine_keyed_new(&opts, &k.keyed));
        double before = bench_resident();
        for (uint32_t j = 0; j < k.n; j++)
            sink += seine_keyed_allow(k.keyed, seine_key_str(k.names[j]), 1, 1);
        double each = (bench_resident() - before) / k.n;
        snprintf(name, sizeof name, "keyed allow, %u keys", rows[i].n);
        measure(name, at_most(rows[i].bar), keyed_body, &k, SOME);
        if (rows[i].n == 1000)
            measure_two("keyed allow, 1000 keys, 2 threads", none, keyed_body, &k, SOME);
        if (rows[i].n == 1000000)
            report("keyed, resident per key", each, each, "B", at_most(96));
        seine_keyed_free(k.keyed);
        free(k.names);
    }
}

static void
breaker_body(void *arg, long n)
{
    seine_permit p;
    uint64_t sum = 0;

    for (long i = 0; i < n; i++) {
        sum += (uint64_t)seine_breaker_acquire(arg, i, &p);
        sum += (uint64_t)seine_breaker_settle(arg, &p, SEINE_SUCCESS, i);
    }
    sink += sum;
}

static void
breaker_refuse_body(void *arg, long n)
{
    seine_permit p;
    uint64_t sum = 0;

    for (long i = 0; i < n; i++)
        sum += (uint64_t)seine_breaker_acquire(arg, 1, &p);
    sink += sum;
}

static void
breakers_body(void *arg, long n)
{
    keys *k = arg;
    uint64_t state = 1, sum = 0;
    seine_permit p;

    for (long i = 0; i < n; i++) {
        seine_view key = any_key(k, &state);

        sum += (uint64_t)seine_breakers_acquire(k->breakers, key, i, &p);
        sum += (uint64_t)seine_breakers_settle(k->breakers, key, &p, SEINE_SUCCESS, i);
    }
    sink += sum;
}

static void
breakers(void)
{
    seine_breaker_opts opts = SEINE_BREAKER_OPTS, window = SEINE_BREAKER_OPTS;
    seine_breaker b;
    keys k = keys_new(1000);

    window.window_calls = 100;
    window.failure_pct = 50;
    bench_ok(seine_breaker_init(&b, &opts));
    measure("breaker acquire + settle", at_most(40), breaker_body, &b, MANY);
    for (int i = 0; i < 5; i++)
        seine_breaker_record(&b, SEINE_FAILURE, 1);
    measure("breaker refuse, open", at_most(15), breaker_refuse_body, &b, MANY);
    seine_breaker_fini(&b);
    bench_ok(seine_breaker_init(&b, &window));
    measure("breaker acquire + settle, window of 100", none, breaker_body, &b, MANY);
    seine_breaker_fini(&b);
    bench_ok(seine_breakers_new(&opts, 65536, &k.breakers));
    measure("breakers acquire + settle, 1000 keys", at_most(160), breakers_body, &k,
            SOME);
    measure_two("breakers acquire + settle, 2 threads", none, breakers_body, &k, SOME);
    seine_breakers_free(k.breakers);
    free(k.names);
}

static const seine_fault good = {SEINE_OK, SEINE_PHASE_BODY, 200, true, 0, -1, {0}, {0}};
static const seine_fault busy = {
    SEINE_E_HTTP_BUSY, SEINE_PHASE_HEAD, 500, true, 0, -1, {0}, {0}};

static void
retry_body(void *arg, long n)
{
    uint64_t dice = 88172645463325252u, sum = 0;

    for (long i = 0; i < n; i++) {
        seine_retry r = {.opts = arg, .deadline = SEINE_NEVER, .idempotent = true};

        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        seine_retry_begin(&r, i);
        sum += (uint64_t)seine_retry_next(&r, &busy, i, dice).at;
    }
    sink += sum;
}

static void
semaphore_body(void *arg, long n)
{
    seine_slot slot;
    uint64_t sum = 0;

    for (long i = 0; i < n; i++)
        if (seine_throttle_try(arg, i, &slot))
            sum += (uint64_t)seine_throttle_release(&slot, SEINE_SUCCESS, i);
    sink += sum;
}

static void
budget_body(void *arg, long n)
{
    static const seine_want want = {{1000, 1, 1, 0}};
    seine_held held;
    uint64_t sum = 0;

    for (long i = 0; i < n; i++) {
        sum += (uint64_t)seine_budget_try(arg, &want, &held);
        seine_budget_release(&held);
    }
    sink += sum;
}

static void
attempt_body(void *arg, long n)
{
    static seine_time now;
    seine_attempt a;

    for (long i = 0; i < n; i++) {
        seine_attempt_verdict answer = seine_attempt_begin(&a, arg, NULL, now += 1000);

        bench_ok(answer.err);
        bench_ok(seine_attempt_end(&a, &good, now + 500));
    }
}

static void
composition(void)
{
    seine_retry_opts retry = SEINE_RETRY_OPTS;
    seine_breaker_opts breaker_opts = SEINE_BREAKER_OPTS;
    seine_shared_opts shared_opts = {
        sizeof(seine_shared_opts), {1000000000, SEINE_SECS(1), 1000}, SEINE_FULL, 8};
    seine_adapt_opts adapt = SEINE_ADAPT_OPTS;
    seine_want limits = {{1 << 20, 100, 100, UINT64_MAX}};
    seine_breaker breaker;
    seine_limiter limiter;
    seine_throttle host, global, adaptive;
    seine_guards g = {.breaker = &breaker,
                      .limiter = &limiter,
                      .throttle = &host,
                      .global_throttle = &global,
                      .want = {{1000, 1, 1, 0}}};

    bench_ok(seine_breaker_init(&breaker, &breaker_opts));
    bench_ok(seine_limiter_init(&limiter, 100, 100));
    bench_ok(seine_throttle_init_semaphore(&host, 4));
    bench_ok(seine_throttle_init_semaphore(&global, 64));
    bench_ok(seine_throttle_init_adaptive(&adaptive, &adapt));
    bench_ok(seine_shared_new(&shared_opts, 0, &g.global_limiter));
    bench_ok(seine_budget_new(&limits, &g.budget));

    measure("retry begin + next", at_most(50), retry_body, &retry, MANY);
    measure("semaphore try + release", at_most(30), semaphore_body, &host, MANY);
    measure_two("semaphore try + release, 2 threads", none, semaphore_body, &global,
                MANY);
    measure("adaptive try + release", none, semaphore_body, &adaptive, SOME);
    measure("budget try + release", none, budget_body, g.budget, SOME);
    measure("attempt begin + end, all guards", at_most(300), attempt_body, &g, SOME);

    seine_breaker_fini(&breaker);
    seine_throttle_fini(&host);
    seine_throttle_fini(&global);
    seine_throttle_fini(&adaptive);
    seine_shared_free(g.global_limiter);
    seine_budget_free(g.budget);
}

static atomic_long jobs_run;
static _Atomic double started_at;

static seine_err
count_job(seine_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    atomic_fetch_add_explicit(&jobs_run, 1, memory_order_relaxed);
    return SEINE_OK;
}

static seine_err
stamp_job(seine_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    started_at = clock_of(CLOCK_MONOTONIC);
    return SEINE_OK;
}

static void
pool_size(seine_ctx *root)
{
    seine_pool_opts opts = SEINE_POOL_OPTS;
    seine_pool *p;
    long long before = out_bytes;

    opts.paused = true;
    bench_ok(seine_pool_new(&opts, root, &p));
    for (int i = 0; i < 100; i++)
        bench_ok(seine_pool_try_submit(p, count_job, NULL, NULL));
    double bytes = (double)(out_bytes - before);
    report("pool of 5 with 100 jobs queued", bytes, bytes, "B", at_most(200000));
    seine_pool_free(p);
}

static void
pool_latency(seine_ctx *root)
{
    enum { TIMES = 501 };
    static double waits[TIMES];
    seine_pool_opts opts = {sizeof(seine_pool_opts), 1, 100, false};
    seine_pool *p;

    bench_ok(seine_pool_new(&opts, root, &p));
    for (int i = 0; i < TIMES; i++) {
        usleep(200); /* the worker goes to sleep */
        double start = clock_of(CLOCK_MONOTONIC);
        bench_ok(seine_pool_try_submit(p, stamp_job, NULL, NULL));
        bench_ok(seine_pool_wait(p, root));
        waits[i] = (started_at - start) / 1000;
    }
    qsort(waits, TIMES, sizeof *waits, bench_by_value);
    report("pool submit to a sleeping worker", waits[TIMES / 2], waits[0], "us",
           at_most(10));
    seine_pool_free(p);
}

static void
pool_throughput(seine_ctx *root)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), 2, 1000, false};
    seine_pool *p;
    double runs[RUNS];

    bench_ok(seine_pool_new(&opts, root, &p));
    for (int i = 0; i < RUNS; i++) {
        double start = clock_of(CLOCK_MONOTONIC);

        for (int j = 0; j < SOME; j++)
            bench_ok(seine_pool_submit(p, root, count_job, NULL, NULL));
        bench_ok(seine_pool_wait(p, root));
        runs[i] = SOME / (clock_of(CLOCK_MONOTONIC) - start) * 1e3;
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report("pool jobs, 2 workers", runs[RUNS / 2], runs[RUNS - 1], "M/s", (bar){1, true});
    seine_pool_free(p);
}

static void
cancel_children(seine_ctx *root)
{
    enum { CHILDREN = 10000 };
    static seine_ctx *children[CHILDREN];
    double runs[RUNS];

    for (int i = 0; i < RUNS; i++) {
        seine_ctx *parent;

        bench_ok(seine_ctx_new(root, SEINE_NEVER, &parent));
        for (int j = 0; j < CHILDREN; j++)
            bench_ok(seine_ctx_new(parent, SEINE_NEVER, &children[j]));
        double start = clock_of(CLOCK_MONOTONIC);
        seine_ctx_cancel(parent, SEINE_OK);
        runs[i] = (clock_of(CLOCK_MONOTONIC) - start) / 1e6;
        for (int j = 0; j < CHILDREN; j++)
            seine_ctx_unref(children[j]);
        seine_ctx_unref(parent);
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report("ctx cancel of 10000 children", runs[RUNS / 2], runs[0], "ms", at_most(2));
}

typedef struct sleeper {
    seine_ctx *ctx;
    double woke;
} sleeper;

static void *
sleeper_run(void *arg)
{
    sleeper *s = arg;

    sink += (uint64_t)seine_ctx_sleep(s->ctx, SEINE_NEVER - 1);
    s->woke = clock_of(CLOCK_MONOTONIC);
    return NULL;
}

static void
cancel_wait(seine_ctx *root)
{
    enum { TIMES = 101 };
    static double waits[TIMES];

    for (int i = 0; i < TIMES; i++) {
        sleeper s = {0};
        pthread_t thread;

        bench_ok(seine_ctx_new(root, SEINE_NEVER, &s.ctx));
        pthread_create(&thread, NULL, sleeper_run, &s);
        usleep(500); /* it parks */
        double start = clock_of(CLOCK_MONOTONIC);
        seine_ctx_cancel(s.ctx, SEINE_OK);
        pthread_join(thread, NULL);
        waits[i] = (s.woke - start) / 1e6;
        seine_ctx_unref(s.ctx);
    }
    qsort(waits, TIMES, sizeof *waits, bench_by_value);
    report("parked wait returns after cancel", waits[TIMES / 2], waits[0], "ms",
           at_most(1));
}

static void
sizes(void)
{
    seine_shared *shared;
    seine_shared_opts opts = SEINE_SHARED_OPTS;
    long long before = out_bytes;

    bench_ok(seine_shared_new(&opts, 0, &shared));
    double bytes = (double)(out_bytes - before);
    report("limiter", sizeof(seine_limiter), sizeof(seine_limiter), "B", at_most(200));
    report("shared limiter", bytes, bytes, "B", at_most(300));
    report("breaker", sizeof(seine_breaker), sizeof(seine_breaker), "B", at_most(128));
    seine_shared_free(shared);
}

int
main(int argc, char **argv)
{
    static const seine_alloc counting = {get, resize, put, NULL, NULL, NULL};
    seine_ctx *root;

    setvbuf(stdout, NULL, _IOLBF, 0);
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    bench_ok(seine_set_alloc(&counting));
    bench_ok(seine_ctx_root(seine_clock_system(), &root));
    if (!as_json)
        printf("%-42s %11s %11s  %-4s %-10s\n", "", "median", "best", "unit", "bar");
    machine();
    limiters();
    keyed();
    breakers();
    composition();
    pool_size(root);
    pool_latency(root);
    pool_throughput(root);
    cancel_children(root);
    cancel_wait(root);
    sizes();
    seine_ctx_unref(root);
    if (!as_json)
        printf("%d bar%s missed; scaled: by %.2f\n", missed, missed == 1 ? "" : "s",
               slowness);
    return 0;
}
