/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_limiter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <seine/keyed.h>

#include "screen/say.h"
#include "screen/xalloc.h"

const char *
sim_limiter_bucket(const policy *p, seine_time now, seine_limiter *out)
{
    seine_rate rate = {p->rate.count, p->rate.per, p->burst};

    if (p->rate.count == 0)
        return seine_limiter_init(out, 0, p->burst) == SEINE_OK ? NULL : "burst 0";
    if (seine_limiter_init_rate(out, &rate, p->initial, now) != SEINE_OK)
        return "a full bucket would take more than 146 years to fill";
    return NULL;
}

/* The most tokens in any second, of all requests or of the admitted ones. */
static uint64_t
peak_rate(const sim_limiter *sim, bool admitted)
{
    const event *events = sim->trace->events;
    size_t count = sim->trace->count, from = 0;
    uint64_t now = 0, most = 0;

#define START(i)  (events[i].at + (admitted ? sim->waits[i] : 0))
#define COUNTS(i) (!admitted || sim->waits[i] != SIM_LIMITER_REFUSED)
    for (size_t i = 0; i < count; i++) {
        if (!COUNTS(i))
            continue;
        now += events[i].n;
        for (; from < i; from++) {
            if (!COUNTS(from))
                continue;
            if (START(from) > START(i) - SEINE_SECS(1))
                break;
            now -= events[from].n;
        }
        most = now > most ? now : most;
    }
#undef START
#undef COUNTS
    return most;
}

/* The burst that a bucket of this rate needs so that no request waits: the deepest debt
 * when every request is served at once. 0: more than a bucket can hold. */
static uint64_t
burst_for(const sim_limiter *sim, seine_frequency rate)
{
    const trace *t = sim->trace;
    const size_t *places = sim->by_key;
    seine_span every = seine_every(rate.count, rate.per), deepest = 0;
    seine_time full = INT64_MIN;

    for (size_t i = 0; i < t->count; i++) {
        const event *e = &t->events[places[i]];
        seine_span cost;

        if (full < e->at || sim->begins[i])
            full = e->at;
        if (__builtin_mul_overflow(every, (seine_span)e->n, &cost) ||
            __builtin_add_overflow(full, cost, &full))
            return 0;
        deepest = full - e->at > deepest ? full - e->at : deepest;
    }
    uint64_t burst = ((uint64_t)deepest + (uint64_t)every - 1) / (uint64_t)every;
    return burst <= UINT32_MAX ? burst : 0;
}

/* The next higher rate of three digits, as somebody would type it. */
static offer
round_up(double per_second)
{
    static const struct {
        double seconds;
        char name;
    } units[] = {{1, 's'}, {60, 'm'}, {3600, 'h'}, {86400, 'd'}};
    size_t u = 0;
    int decimals = 0;

    while (u < 3 && per_second * units[u].seconds < 1)
        u++;
    double rate = per_second * units[u].seconds, step = 1;
    for (; rate >= 1000 * step; step *= 10) {
    }
    for (; rate < 100 * step && decimals < 6; decimals++)
        step /= 10;

    offer out;
    double digits = ceil(rate / step - 1e-9);
    for (; decimals > 0 && fmod(digits, 10) == 0; decimals--)
        digits /= 10;
    snprintf(out.text, sizeof out.text, "%.*f/%c", decimals,
             decimals ? digits / pow(10, decimals) : digits * fmax(step, 1),
             units[u].name);
    if (seine_units_rate(out.text, &out.rate))
        out.rate = (seine_frequency){0, SEINE_SECS(1)};
    return out;
}

/* The lowest rate at which this burst is enough, by bisection: a higher rate never needs
 * more burst. */
static offer
rate_for(const sim_limiter *sim)
{
    const trace *t = sim->trace;
    const policy *p = &sim->policy;
    double low = seine_frequency_per_second(p->rate), high = low;
    offer none = {{0, SEINE_SECS(1)}, ""};

    for (size_t i = 0; i < t->count; i++)
        if (t->events[i].n > p->burst)
            return none; /* no rate helps a request larger than the bucket */
    do {
        high *= 2;
        if (high > 1e8)
            return none; /* requests at the same moment: only no limit helps */
    } while (burst_for(sim, round_up(high).rate) > p->burst);
    for (int i = 0; i < 24 && high / low > 1.0005; i++) {
        double middle = sqrt(low * high);

        if (burst_for(sim, round_up(middle).rate) > p->burst)
            low = middle;
        else
            high = middle;
    }
    return round_up(high);
}

static void
decide_call(sim_limiter *sim, seine_limiter *lim, size_t i)
{
    const event *e = &sim->trace->events[i];
    seine_span most = sim->policy.max_wait;
    seine_time latest = most > SEINE_NEVER - e->at ? SEINE_NEVER : e->at + most, at;

    sim->waits[i] = SIM_LIMITER_REFUSED;
    if (seine_limiter_reserve(lim, e->at, e->n, latest, &at)) {
        sim->waits[i] = at - e->at;
        if (at > e->at) {
            sim->waited++;
            sim->sum += at - e->at;
            sim->longest = at - e->at > sim->longest ? at - e->at : sim->longest;
        }
    } else {
        sim->refused++;
    }
    sim->left[i] = seine_limiter_left(lim, e->at);
    sim->weighted |= e->n != 1;
}

/* Decides with a bucket for each key, in the table that a server would use, where no
 * request waits. */
static const char *
decide_keyed(sim_limiter *sim)
{
    const trace *t = sim->trace;
    const policy *p = &sim->policy;
    seine_keyed_opts opts = SEINE_KEYED_OPTS;
    seine_keyed *buckets;
    seine_keyed_totals totals;

    opts.each = (seine_rate){p->rate.count, p->rate.per, p->burst};
    seine_err e = seine_keyed_new(&opts, &buckets);
    if (e != SEINE_OK)
        return seine_err_text(e);
    for (size_t i = 0; i < t->count; i++) {
        const event *now = &t->events[i];
        seine_grant grant = {.left = p->burst};

        if (now->n > 0)
            e = seine_keyed_try(buckets, seine_key_str(t->keys + now->key), now->at,
                                now->n, &grant);
        sim->waits[i] = now->n == 0 || e == SEINE_OK ? 0 : SIM_LIMITER_REFUSED;
        sim->refused += sim->waits[i] == SIM_LIMITER_REFUSED;
        sim->left[i] = grant.left;
        sim->weighted |= now->n != 1;
    }
    seine_keyed_totals_get(buckets, &totals);
    sim->overflowed = totals.overflowed;
    seine_keyed_free(buckets);
    return NULL;
}

static const char *
decide_all(sim_limiter *sim)
{
    seine_limiter lim;
    const char *why = sim_limiter_bucket(&sim->policy, sim->trace->events[0].at, &lim);

    if (why)
        return why;
    if (sim->trace->keys)
        return decide_keyed(sim);
    for (size_t i = 0; i < sim->trace->count; i++)
        decide_call(sim, &lim, i);
    return NULL;
}

int
sim_limiter_run(sim_limiter *sim, const trace *t, const policy *p)
{
    *sim = (sim_limiter){.trace = t, .policy = *p, .keys = 1};
    sim->waits = xalloc_zeroed(t->count, sizeof *sim->waits);
    sim->left = xalloc_zeroed(t->count, sizeof *sim->left);
    sim->by_key = trace_by_key(t);
    sim->begins = xalloc_zeroed(t->count, sizeof *sim->begins);
    for (size_t i = 1; i < t->count; i++) {
        sim->begins[i] = !trace_same_key(t, sim->by_key[i], sim->by_key[i - 1]);
        sim->keys += sim->begins[i];
    }

    const char *why = decide_all(sim);
    if (why) {
        sim_limiter_free(sim);
        return say_fail(SAY_USAGE, "a higher rate or a smaller burst", "%s", why);
    }

    sim->peak_offered = peak_rate(sim, false);
    sim->peak_admitted = peak_rate(sim, true);
    if (p->rate.count && p->initial == SEINE_FULL && (sim->refused || sim->waited)) {
        sim->enough_burst = burst_for(sim, p->rate);
        sim->enough_rate = rate_for(sim);
    }
    return SAY_DONE;
}

void
sim_limiter_free(sim_limiter *sim)
{
    free(sim->waits);
    free(sim->left);
    free(sim->by_key);
    free(sim->begins);
}
