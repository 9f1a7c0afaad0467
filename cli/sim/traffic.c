/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/traffic.h"

#include <math.h>
#include <string.h>

#include <seine/units.h>

#include "screen/say.h"
#include "screen/xalloc.h"

enum { MOST = 10000000 };

/* splitmix64 */
uint64_t
traffic_dice(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef enum shape { STEADY, POISSON, BURSTY } shape;

/* The rate at this moment as a multiple of the average: 3 in every fifth second, else
 * one half. */
static double
swell_rate(shape how, double seconds)
{
    if (how != BURSTY)
        return 1;
    return fmod(seconds, 5) >= 2 && fmod(seconds, 5) < 3 ? 3 : 0.5;
}

static void
add_arrival(trace *t, size_t *cap, seine_time at)
{
    t->events = xalloc_room(t->events, t->count, cap, sizeof *t->events);
    t->events[t->count] = (event){.at = at, .n = 1, .line = t->count + 1};
    t->count++;
}

static void
fill_trace(trace *t, shape how, seine_frequency p, seine_span length, uint64_t seed)
{
    size_t cap = 0;
    double rate = seine_frequency_per_second(p), most = how == BURSTY ? 3 * rate : rate,
           at = 0;

    if (how == STEADY) {
        for (uint64_t i = 0; t->count < MOST; i++) {
            long double when = (long double)i * (long double)p.per / (long double)p.count;

            if (when >= (long double)length)
                break;
            add_arrival(t, &cap, (seine_time)when);
        }
        return;
    }
    /* Thinning: draws arrivals at the rate of the busiest second and drops some. */
    while (t->count < MOST) {
        double u = (double)(traffic_dice(&seed) >> 11) * 0x1p-53;
        double keep = (double)(traffic_dice(&seed) >> 11) * 0x1p-53;

        at += -log1p(-u) / most;
        if (at * 1e9 >= (double)length)
            break;
        if (keep * most < swell_rate(how, at) * rate)
            add_arrival(t, &cap, (seine_time)(at * 1e9));
    }
}

int
traffic_make(trace *t, const char *spec, seine_span length, uint64_t seed)
{
    static const char hint[] = "--traffic 50/s, steady:50/s or bursty:50/s";
    const char *colon = strchr(spec, ':');
    size_t n = colon ? (size_t)(colon - spec) : 0;
    shape how = POISSON;
    seine_frequency p;

    *t = (trace){.name = spec};
    if (n == 6 && strncmp(spec, "steady", n) == 0)
        how = STEADY;
    else if (n == 6 && strncmp(spec, "bursty", n) == 0)
        how = BURSTY;
    else if (colon && (n != 7 || strncmp(spec, "poisson", n) != 0))
        return say_fail(SAY_USAGE, hint, "--traffic '%s': not a kind of traffic",
                        show(spec).text);
    const char *why = seine_units_rate(colon ? colon + 1 : spec, &p);
    if (why || p.count == 0)
        return say_fail(SAY_USAGE, hint, "--traffic '%s': %s", show(spec).text,
                        why ? why : "a rate must be above 0");
    if (length <= 0)
        return say_fail(SAY_USAGE, "--for 30s",
                        "--for '0': there is no time for traffic");
    if (seine_frequency_per_second(p) * (double)length / 1e9 > MOST)
        return say_fail(SAY_USAGE, "a lower rate or a shorter --for",
                        "--traffic '%s': more than 10 million requests", show(spec).text);
    fill_trace(t, how, p, length, seed);
    if (t->count == 0)
        return say_fail(SAY_USAGE, "a higher rate or a longer --for",
                        "--traffic '%s': no request comes in that time", show(spec).text);
    return SAY_DONE;
}
