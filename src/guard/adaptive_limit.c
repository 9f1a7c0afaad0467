/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/adaptive_limit.h"

#include <math.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/time.h"

/*
 * A lock of its own protects the samples. The limit is an atomic integer, so reading it
 * takes no lock. Both strategies lower the limit in the same way, from failures alone:
 * the latency of a failure means nothing.
 */

#define WARM_UP   10  /* samples whose plain mean starts the long average */
#define WINDOW    600 /* samples that the long average covers, about */
#define TOLERANCE 1.5
#define SMOOTHING 0.2

typedef struct adapt {
    pthread_mutex_t lock;
    sn_aimd base;
    bool gradient;
    seine_span slow;
    uint32_t samples; /* gradient: counted up to WARM_UP */
    double usual;     /* gradient: the long average of latency */
    double estimate;  /* gradient: the limit before rounding */
} adapt;

static void
move(sn_aimd *a, uint32_t limit)
{
    __atomic_store_n(&a->limit, limit, __ATOMIC_SEQ_CST);
    a->successes = 0;
}

static uint32_t
aimd_limit(void *self)
{
    const sn_aimd *a = self;

    return a->limit;
}

static uint32_t
limit_of(void *self)
{
    const adapt *a = self;

    return __atomic_load_n(&a->base.limit, __ATOMIC_SEQ_CST);
}

/* Lowers once per round trip: of all calls that met the same trouble, only the first
 * lowers the limit. */
static bool
lower(sn_aimd *a, seine_time start, seine_time now)
{
    uint32_t less = (uint32_t)((uint64_t)a->limit * 9 / 10);

    if (start <= a->lowered_at)
        return false;
    a->lowered_at = sn_time_max(a->lowered_at, now);
    move(a, less > a->min ? less : a->min);
    return true;
}

static void
count_success(sn_aimd *a)
{
    if (++a->successes >= a->limit)
        move(a, a->limit < a->max ? a->limit + 1 : a->limit);
}

static bool
is_in_use(const sn_aimd *a, uint32_t in_flight)
{
    return 2 * (uint64_t)in_flight >= a->limit;
}

void
sn_aimd_sample(void *self, seine_outcome how, seine_time start, seine_time now,
               uint32_t in_flight)
{
    sn_aimd *a = self;

    if (how == SEINE_FAILURE)
        lower(a, start, now);
    else if (how == SEINE_SUCCESS && is_in_use(a, in_flight))
        count_success(a);
}

const seine_throttle_ops sn_aimd_ops = {aimd_limit, sn_aimd_sample, NULL};

void
sn_aimd_ceiling(sn_aimd *a, uint32_t max)
{
    a->max = max;
    if (a->limit > max)
        move(a, max);
}

/* Adds a latency to the long average; returns the average. */
static double
remember(adapt *a, double latency)
{
    double weight = 2.0 / (WINDOW + 1);

    if (a->samples < WARM_UP)
        weight = 1.0 / ++a->samples;
    a->usual += (latency - a->usual) * weight;

    double usual = a->usual;
    if (usual > 2 * latency) /* the server became faster: forget the old times */
        a->usual *= 0.95;
    return usual;
}

/* A gradient below 1 says that calls queue up at the server. The square root allows a
 * short queue, and lets the limit grow while there is none. */
static void
follow(adapt *a, double latency, bool in_use)
{
    double usual = remember(a, latency);

    if (!in_use)
        return;
    double gradient = fmax(0.5, fmin(1.0, TOLERANCE * usual / latency));
    double next = a->estimate * gradient + sqrt(a->estimate);

    a->estimate += (next - a->estimate) * SMOOTHING;
    a->estimate = fmax(a->base.min, fmin(a->base.max, a->estimate));
    move(&a->base, (uint32_t)a->estimate);
}

static void
sample(void *self, seine_outcome how, seine_time start, seine_time now,
       uint32_t in_flight)
{
    adapt *a = self;
    seine_span latency = sn_time_sub(now, start);

    if (how == SEINE_IGNORED)
        return;
    pthread_mutex_lock(&a->lock);
    bool in_use = is_in_use(&a->base, in_flight);

    if (how == SEINE_FAILURE || latency > a->slow) {
        if (lower(&a->base, start, now))
            a->estimate = a->base.limit;
    } else if (!a->gradient && in_use)
        count_success(&a->base);
    else if (a->gradient && latency > 0) /* a clock that stands still gives no latency */
        follow(a, (double)latency, in_use);
    pthread_mutex_unlock(&a->lock);
}

static void
fini(void *self)
{
    adapt *a = self;

    pthread_mutex_destroy(&a->lock);
    sn_free(a);
}

const seine_throttle_ops sn_adaptive_limit_ops = {limit_of, sample, fini};

seine_err
sn_adaptive_limit_new(const seine_adapt_opts *opts, void **out_self)
{
    if (!sn_opts_fit(opts, sizeof *opts) || opts->min == 0 || opts->initial < opts->min ||
        opts->max < opts->initial || opts->slow <= 0)
        return SEINE_E_INVAL;
    adapt *a = sn_zalloc(sizeof *a);
    if (!a)
        return SEINE_E_NOMEM;

    pthread_mutex_init(&a->lock, NULL);
    a->base = (sn_aimd)SN_AIMD(opts->initial, opts->min, opts->max);
    a->gradient = opts->gradient;
    a->slow = opts->slow;
    a->estimate = opts->initial;
    *out_self = a;
    return SEINE_OK;
}

seine_err
sn_adaptive_limit_ceiling(void *self, uint32_t max)
{
    adapt *a = self;
    seine_err e = SEINE_E_INVAL;

    pthread_mutex_lock(&a->lock);
    if (max >= a->base.min) {
        sn_aimd_ceiling(&a->base, max);
        a->estimate = fmin(a->estimate, max);
        e = SEINE_OK;
    }
    pthread_mutex_unlock(&a->lock);
    return e;
}
