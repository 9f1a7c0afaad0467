/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "engine/fetch.h"
#include "engine/fetch_opts.h"

/* Many shards tell their records; each result is written once, by one of them. */
typedef struct gathering {
    const seine_fetch_opts *theirs;
    seine_fetched *results;
    size_t n;
    pthread_mutex_t lock; /* of the summary */
    seine_summary sum;
} gathering;

/* A refusal at the door, as an error. */
static seine_err
kind_of(seine_skip reason)
{
    switch (reason) {
    case SEINE_SKIP_SCHEME:
        return SEINE_E_BLOCKED_SCHEME;
    case SEINE_SKIP_PORT:
        return SEINE_E_BLOCKED_PORT;
    case SEINE_SKIP_BUDGET:
        return SEINE_E_BUDGET;
    default:
        return SEINE_E_BAD_URL;
    }
}

static void
set_fault(seine_fetched *got, const seine_fault *f)
{
    got->fault = *f;
    got->fate = seine_fate_of(f->code);
    if (f->code != SEINE_OK)
        seine_fault_text(f, got->error, sizeof got->error);
}

static void
set_error(seine_fetched *got, seine_err e)
{
    seine_fault f = SEINE_FAULT;

    f.code = e;
    snprintf(f.url, sizeof f.url, "%s", got->url);
    set_fault(got, &f);
}

/* Refused at the door: our own rules, whatever the kind says elsewhere. */
static void
set_refused(seine_fetched *got, seine_skip reason)
{
    set_error(got, kind_of(reason));
    if (reason != SEINE_SKIP_BUDGET)
        got->fate = SEINE_FATE_BLOCKED;
}

static bool
keep_body(seine_fetched *got, seine_view body)
{
    got->body.bytes = sn_alloc(body.len + 1);
    if (!got->body.bytes)
        return false;
    if (body.len > 0)
        memcpy(got->body.bytes, body.ptr, body.len);
    got->body.bytes[body.len] = '\0';
    got->body.len = body.len;
    return true;
}

static void
sum_up(gathering *g, const seine_fetched *got, seine_span took)
{
    pthread_mutex_lock(&g->lock);
    seine_summary_add(&g->sum, seine_fetched_is_ok(got), took);
    pthread_mutex_unlock(&g->lock);
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    gathering *g = arg;

    if (r->line > 0 && r->line <= g->n) {
        seine_fetched *got = &g->results[r->line - 1];

        got->status = r->status;
        got->attempts = r->attempts;
        got->duration_ms = (uint64_t)(r->total / SEINE_MS(1));
        if (r->type == SEINE_RECORD_SKIP)
            set_refused(got, r->reason);
        else if (r->fate == SEINE_FATE_OK && !keep_body(got, r->body))
            set_error(got, SEINE_E_NOMEM);
        else
            set_fault(got, r->fault);
        sum_up(g, got, r->total);
    }
    if (g->theirs->on_record)
        g->theirs->on_record(r, shard, g->theirs->arg);
}

static bool
pass_ready(unsigned shard, void *arg)
{
    const gathering *g = arg;

    return g->theirs->ready(shard, g->theirs->arg);
}

static void
on_event(const seine_event *e, unsigned shard, void *arg)
{
    const gathering *g = arg;

    g->theirs->on_event(e, shard, g->theirs->arg);
}

/* The numbers of lines are how results find their place: every URL has its own. */
static seine_err
give_url(seine_fetch *f, const char *url, size_t i, seine_ctx *ctx, bool threads)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    ask.line = i + 1;
    for (;;) {
        seine_err e = seine_fetch_add(f, &ask, ctx);
        if (e != SEINE_E_FULL || threads)
            return e;
        sn_fetch_turn(f, ctx ? seine_ctx_deadline(ctx) : SEINE_NEVER);
        e = ctx ? seine_ctx_err(ctx, seine_ctx_clock(ctx)->now(seine_ctx_clock(ctx)))
                : SEINE_OK;
        if (e != SEINE_OK)
            return e;
    }
}

static void
give_all(seine_fetch *f, gathering *g, seine_ctx *ctx, const char *const *urls)
{
    bool threads = g->theirs->threads > 0;
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < g->n; i++) {
        /* Once the ctx is done the rest is not even given. */
        if (e != SEINE_E_CANCELED && e != SEINE_E_DEADLINE)
            e = give_url(f, urls[i], i, ctx, threads);
        if (e != SEINE_OK) {
            set_error(&g->results[i], e);
            sum_up(g, &g->results[i], 0);
        }
    }
}

/* A ctx that never ends, for a caller who has none: adding then waits for room. */
static seine_err
make_ctx(seine_clock *clock, seine_ctx *given, seine_ctx **out_ctx)
{
    if (given) {
        *out_ctx = seine_ctx_ref(given);
        return SEINE_OK;
    }
    return seine_ctx_root(clock, out_ctx);
}

static seine_err
run_fetch(gathering *g, const sn_net *net, seine_ctx *ctx, const char *const *urls)
{
    seine_fetch_opts o = *g->theirs;
    seine_fetch *f;

    o.arg = g;
    o.on_record = on_record;
    o.ready = o.ready ? pass_ready : NULL;
    o.due = NULL;
    o.on_event = o.on_event ? on_event : NULL;
    o.on_trace = NULL; /* its argument is the caller's, and ours is another */
    o.dedup = false;
    o.keep |= SEINE_KEEP_BODY;
    seine_err e = sn_fetch_open(&o, net, &f, NULL);
    if (e != SEINE_OK)
        return e;
    give_all(f, g, ctx, urls);
    (void)!seine_fetch_finish(f, ctx); /* what it means stands in the results */
    seine_fetch_free(f);
    return SEINE_OK;
}

seine_err
sn_fetch_all(const seine_fetch_opts *opts, const sn_net *net, seine_ctx *ctx,
             const char *const *urls, size_t n, seine_fetched *out_results,
             seine_summary *out_summary)
{
    seine_clock *clock = opts->clock ? opts->clock : seine_clock_system();
    seine_time start = clock->now(clock);
    gathering g = {.theirs = opts, .results = out_results, .n = n};
    seine_ctx *own;

    if (n > 0)
        memset(out_results, 0, n * sizeof *out_results);
    for (size_t i = 0; i < n; i++)
        out_results[i].url = urls[i];
    seine_err e = make_ctx(clock, ctx, &own);
    if (e != SEINE_OK)
        return e;
    pthread_mutex_init(&g.lock, NULL);
    e = run_fetch(&g, net, own, urls);
    pthread_mutex_destroy(&g.lock);
    seine_ctx_unref(own);
    if (e != SEINE_OK)
        return e;
    g.sum.wall_ms = (uint64_t)((clock->now(clock) - start) / SEINE_MS(1));
    if (out_summary)
        *out_summary = g.sum;
    return SEINE_OK;
}

seine_err
seine_fetch_all(const seine_fetch_opts *opts, seine_ctx *ctx, const char *const *urls,
                size_t n, seine_fetched *out_results, seine_summary *out_summary)
{
    seine_fetch_opts own;

    if (!opts || (n > 0 && (!urls || !out_results)))
        return SEINE_E_INVAL;
    for (size_t i = 0; i < n; i++)
        if (!urls[i])
            return SEINE_E_INVAL;
    seine_err e = sn_fetch_opts_read(&own, opts, NULL);
    return e == SEINE_OK ? sn_fetch_all(&own, &sn_net_sockets, ctx, urls, n, out_results,
                                        out_summary)
                         : e;
}

bool
seine_fetched_is_ok(const seine_fetched *r)
{
    if (!r)
        return false;
    return r->fate == SEINE_FATE_OK && r->fault.code == SEINE_OK;
}

void
seine_fetched_free(seine_fetched *results, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seine_text_free(&results[i].body);
}
