/* SPDX-License-Identifier: Apache-2.0 */
/* 09_schedule - a service that reads schedules, on the library: what does it do when its
 * queue is full, how does it tell what its operations took, and which month goes first?
 */
#include <stdio.h>
#include <string.h>

#include <seine/seine.h>

/* Operations of services: how many ended how, and how long they took. */
typedef struct operations {
    seine_counter *ended;
    seine_histogram *took;
} operations;

enum { SCRAPE, PARSE, OPERATIONS };

static const char *const services[] = {"amion"}, *const names[] = {"scrape", "parse"},
                         *const results[] = {"ok", "failed"};

static seine_err
register_operations(seine_metrics *m, operations *out)
{
    const seine_label labels[] = {{"service", services, 1},
                                  {"operation", names, OPERATIONS},
                                  {"result", results, 2}};
    seine_err e = seine_metrics_counter(m, "service_operations_total", "Ended.", labels,
                                        3, &out->ended);

    return e != SEINE_OK
               ? e
               : seine_metrics_histogram(m, "service_operation_duration_seconds",
                                         "Time taken.", labels, 2, NULL, &out->took);
}

static void
record_operation(operations *o, unsigned operation, seine_span took, bool failed)
{
    seine_counter_add(o->ended, 2 * operation + failed, 1);
    seine_histogram_observe(o->took, operation, took);
}

static seine_err
scrape(seine_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    return SEINE_OK;
}

/* The workers of this example begin when the queue has been full three times. */
static seine_err
wait_for_room(seine_pool *pool, seine_ctx *ctx, uint32_t k, seine_span wait)
{
    if (k < 2)
        return seine_ctx_sleep(ctx, seine_ctx_now(ctx) + wait);
    seine_pool_resume(pool);
    return seine_pool_wait(pool, ctx);
}

/* Asks a full queue again after 10 ms, 20 ms, 40 ms … at most 1 s. Who needs no waits of
 * its own calls seine_pool_submit, which returns when there is room. */
static seine_err
submit_patiently(seine_pool *pool, seine_ctx *ctx, int month)
{
    seine_retry_opts waits = SEINE_RETRY_OPTS;
    seine_err e = seine_pool_try_submit(pool, scrape, NULL, NULL);

    waits.base = SEINE_MS(10);
    waits.max = SEINE_SECS(1);
    for (uint32_t k = 0; e == SEINE_E_FULL; k++) {
        seine_span wait = seine_retry_backoff(&waits, k);

        printf("month %d: %s, again in %d ms\n", month, seine_err_text(e),
               (int)(wait / SEINE_MS(1)));
        e = wait_for_room(pool, ctx, k, wait);
        if (e == SEINE_OK)
            e = seine_pool_try_submit(pool, scrape, NULL, NULL);
    }
    return e;
}

static int
fill_the_queue(seine_ctx *ctx)
{
    seine_pool_opts opts = {
        .size = sizeof(seine_pool_opts), .workers = 5, .queue_cap = 3, .paused = true};
    seine_pool *pool = NULL;
    seine_pool_stats stats;

    if (seine_pool_new(&opts, ctx, &pool) != SEINE_OK)
        return 1;
    for (int month = 1; month <= 4; month++)
        if (submit_patiently(pool, ctx, month) != SEINE_OK)
            return 1;
    if (seine_pool_close(pool, SEINE_CLOSE_DRAIN, ctx) != SEINE_OK)
        return 1;
    seine_pool_stats_get(pool, &stats);
    printf("%d months done, %d refused\n\n", (int)stats.completed, (int)stats.rejected);
    seine_pool_free(pool);
    return 0;
}

static int
tell_operations(void)
{
    seine_metrics *m = NULL;
    operations o;
    seine_text text = {NULL, 0};

    if (seine_metrics_new(&m) != SEINE_OK || register_operations(m, &o) != SEINE_OK)
        return 1;
    record_operation(&o, SCRAPE, SEINE_MS(1250), false);
    record_operation(&o, SCRAPE, SEINE_SECS(30), true);
    record_operation(&o, PARSE, SEINE_MS(3), false);
    if (seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text) != SEINE_OK)
        return 1;
    char *rest = NULL;
    for (char *line = strtok_r(text.bytes, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#' && !strstr(line, "_bucket"))
            puts(line);
    puts("");
    seine_text_free(&text);
    seine_metrics_free(m);
    return 0;
}

static void
on_record(const seine_record *record, unsigned shard, void *arg)
{
    (void)shard;
    (void)arg;
    printf("%.*s\n", (int)record->id.len, record->id.ptr);
}

/* Nobody listens on port 1 of this machine; the order is what is shown. */
static int
most_urgent_first(seine_ctx *ctx)
{
    static const struct {
        const char *month;
        int8_t priority;
    } rows[] = {{"last year", -5}, {"next month", 0}, {"this month", 5}};
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    seine_fetch *fetch = NULL;

    opts.concurrency = opts.per_host = 1;
    opts.threads = 0; /* nothing starts before seine_fetch_finish */
    opts.mine = true;
    opts.retry.max_attempts = 1;
    opts.on_record = on_record;
    if (seine_fetch_new(&opts, &fetch, NULL) != SEINE_OK)
        return 1;
    for (int i = 0; i < 3; i++) {
        seine_ask ask = SEINE_ASK;
        char url[64];

        snprintf(url, sizeof url, "http://127.0.0.1:1/%d", i);
        ask.url = (seine_view){url, strlen(url)};
        ask.id = (seine_view){rows[i].month, strlen(rows[i].month)};
        ask.priority = rows[i].priority;
        if (seine_fetch_add(fetch, &ask, NULL) != SEINE_OK)
            return 1;
    }
    seine_fetch_close(fetch);
    seine_err e = seine_fetch_finish(fetch, ctx);
    seine_fetch_free(fetch);
    return e != SEINE_OK;
}

int
main(void)
{
    seine_ctx *ctx = NULL;

    if (seine_ctx_root(seine_clock_system(), &ctx) != SEINE_OK)
        return 1;
    int code = fill_the_queue(ctx) || tell_operations() || most_urgent_first(ctx);
    seine_ctx_unref(ctx);
    return code;
}
