/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/tally.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/time.h"
#include "store/text_writer.h"

/*
 * One thread adds while others read. So every number is atomic and nothing is locked: a
 * reader sees each number as it was a moment ago, and computes sums from what it read.
 *
 * Latencies: 32 bins per power of two of nanoseconds, so that a bin is at most 1/32 as
 * wide as its values.
 */

enum { STEPS = 32, OCTAVES = 64 - 5, BINS = (OCTAVES + 1) * STEPS, STATUSES = 1000 };

typedef _Atomic uint64_t number;

struct seine_tally {
    number fates[SEINE_FATE_ROOM], skips[SEINE_SKIP_ROOM];
    number errors[SEINE_ERR_ROOM], statuses[STATUSES];
    number attempts, retries, bytes_in, bytes_body;
    number duration; /* ns */
    number queue, throttle, backoff, retry_budget, max;
    number bins[BINS];
};

seine_err
seine_tally_new(seine_tally **out_tally)
{
    if (!out_tally)
        return SEINE_E_INVAL;
    seine_tally *t = sn_zalloc(sizeof *t);

    if (!t)
        return SEINE_E_NOMEM;
    *out_tally = t;
    return SEINE_OK;
}

void
seine_tally_free(seine_tally *t)
{
    sn_free(t);
}

static uint64_t
get(const number *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

/* Only one thread adds, so no atomic addition is needed. */
static void
add_count(number *n, uint64_t more)
{
    uint64_t sum;

    if (__builtin_add_overflow(get(n), more, &sum))
        sum = UINT64_MAX;
    atomic_store_explicit(n, sum, memory_order_relaxed);
}

static void
add_span(number *n, seine_span span)
{
    add_count(n, span > 0 ? (uint64_t)span : 0);
}

/* One bin per value below 32; above that the five bits after the highest bit. */
static unsigned
bin_of(uint64_t ns)
{
    if (ns < STEPS)
        return (unsigned)ns;

    unsigned shift = 63 - 5 - (unsigned)__builtin_clzll(ns);
    return (shift + 1) * STEPS + (unsigned)(ns >> shift) - STEPS;
}

/* Returns the middle of a bin. */
static uint64_t
value_of(unsigned bin)
{
    if (bin < STEPS)
        return bin;

    unsigned shift = bin / STEPS - 1;
    uint64_t least = (uint64_t)(bin % STEPS + STEPS) << shift;
    return least + ((UINT64_C(1) << shift) - 1) / 2;
}

static void
add_latency(seine_tally *t, uint64_t took)
{
    add_count(&t->bins[bin_of(took)], 1);
    if (took > get(&t->max))
        atomic_store_explicit(&t->max, took, memory_order_relaxed);
}

static void
add_result(seine_tally *t, const seine_record *r)
{
    seine_span took = seine_record_latency(r);

    add_count(&t->fates[r->fate < SEINE_FATE_ROOM ? r->fate : SEINE_FATE_GAVE_UP], 1);
    if (r->fate != SEINE_FATE_OK && r->fault && r->fault->code < SEINE_ERR_ROOM &&
        r->fault->code != SEINE_OK)
        add_count(&t->errors[r->fault->code], 1);
    if (r->status > 0 && r->status < STATUSES)
        add_count(&t->statuses[r->status], 1);
    add_count(&t->attempts, r->attempts);
    add_count(&t->retries, r->attempts > 1 ? r->attempts - 1 : 0);
    add_count(&t->bytes_in, r->bytes_in);
    add_count(&t->bytes_body, r->bytes_body);
    add_span(&t->duration, r->total);
    add_span(&t->queue, r->queue);
    add_span(&t->throttle, r->throttle);
    add_span(&t->backoff, r->backoff);
    add_span(&t->retry_budget, r->retry_budget);
    if (r->attempts > 0)
        add_latency(t, took > 0 ? (uint64_t)took : 0);
}

void
seine_tally_add(seine_tally *t, const seine_record *r)
{
    if (!t || !r)
        return;
    if (r->type == SEINE_RECORD_RESULT)
        add_result(t, r);
    else
        add_count(
            &t->skips[r->reason < SEINE_SKIP_ROOM ? r->reason : SEINE_SKIP_BAD_INPUT], 1);
}

/* Returns the smallest value that `percent` of all values do not exceed. */
static seine_span
percentile(const uint64_t bins[BINS], uint64_t n, unsigned percent, uint64_t max)
{
    uint64_t rank = (uint64_t)(((sn_u128)n * percent + 99) / 100), seen = 0;
    unsigned bin = 0;

    if (n == 0)
        return 0;
    while (bin < BINS - 1 && (seen += bins[bin]) < rank)
        bin++;
    uint64_t value = value_of(bin) < max ? value_of(bin) : max;
    return value > INT64_MAX ? INT64_MAX : (seine_span)value;
}

static void
read_latencies(const seine_tally *t, seine_tally_sums *s)
{
    uint64_t bins[BINS], n = 0, max;

    for (unsigned i = 0; i < BINS; i++)
        n += bins[i] = get(&t->bins[i]);
    max = get(&t->max);
    s->p50 = percentile(bins, n, 50, max);
    s->p90 = percentile(bins, n, 90, max);
    s->p95 = percentile(bins, n, 95, max);
    s->p99 = percentile(bins, n, 99, max);
    s->max = max > INT64_MAX ? INT64_MAX : (seine_span)max;
}

static uint64_t
read_all(const number *from, uint64_t *to, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += to[i] = get(&from[i]);
    return sum;
}

static seine_span
span(const number *n)
{
    return get(n) > INT64_MAX ? INT64_MAX : (seine_span)get(n);
}

void
seine_tally_sums_get(const seine_tally *t, seine_tally_sums *out_sums)
{
    if (!t || !out_sums)
        return;
    seine_tally_sums *s = out_sums;
    uint64_t results = read_all(t->fates, s->fates, SEINE_FATE_ROOM);

    s->skipped = read_all(t->skips, s->skips, SEINE_SKIP_ROOM);
    read_all(t->errors, s->errors, SEINE_ERR_ROOM);
    read_all(t->statuses, s->statuses, STATUSES);
    s->ok = s->fates[SEINE_FATE_OK];
    s->blocked = s->fates[SEINE_FATE_BLOCKED];
    s->failed = results - s->ok - s->blocked;
    s->total = results + s->skipped;
    s->attempts = get(&t->attempts);
    s->retries = get(&t->retries);
    s->bytes_in = get(&t->bytes_in);
    s->bytes_body = get(&t->bytes_body);
    s->total_duration_ms = get(&t->duration) / 1000000;
    s->avg_duration_ms = results ? s->total_duration_ms / results : 0;
    s->success_rate = 0;
    if (s->ok + s->failed > 0)
        s->success_rate = (double)s->ok / (double)(s->ok + s->failed) * 100;
    s->queue = span(&t->queue);
    s->throttle = span(&t->throttle);
    s->backoff = span(&t->backoff);
    s->retry_budget = span(&t->retry_budget);
    read_latencies(t, s);
}
