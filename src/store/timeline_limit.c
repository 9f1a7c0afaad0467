/* SPDX-License-Identifier: Apache-2.0 */
/* What held a slice back: the first rule that fits. */
#include "seine/timeline.h"

const char *
seine_limit_name(seine_limit l)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEINE_LIMITS(X)
#undef X
    };

    return (unsigned)l < SEINE_LIMIT_ROOM ? names[l] : "";
}

/* Which limit a reason to wait belongs to. A URL in the queue of its host waits for
 * whatever the first of that queue waits for. */
static seine_limit
limit_of(int wait)
{
    switch (wait) {
    case SEINE_WAIT_CONCURRENCY:
        return SEINE_LIMIT_CONCURRENCY;
    case SEINE_WAIT_RATE:
        return SEINE_LIMIT_RATE;
    case SEINE_WAIT_HOST_RATE:
    case SEINE_WAIT_PACE:
    case SEINE_WAIT_RATE_LIMIT:
    case SEINE_WAIT_RETRY_AFTER:
    case SEINE_WAIT_CRAWL_DELAY:
        return SEINE_LIMIT_POLITENESS;
    case SEINE_WAIT_BREAKER:
        return SEINE_LIMIT_BREAKER;
    case SEINE_WAIT_BACKOFF:
    case SEINE_WAIT_RETRY_BUDGET:
        return SEINE_LIMIT_BACKOFF;
    case SEINE_WAIT_OUTPUT:
        return SEINE_LIMIT_OUTPUT;
    default:
        return SEINE_LIMIT_PER_HOST;
    }
}

/* The limit that most URLs wait for, if that is half of them. */
static seine_limit
weigh_waits(const seine_slice *s)
{
    double by[SEINE_LIMIT_ROOM] = {0}, all = 0;
    seine_limit most = SEINE_LIMIT_PER_HOST;

    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        if (i != SEINE_WAIT_QUEUE) {
            by[limit_of(i)] += (double)s->waiting[i];
            all += (double)s->waiting[i];
        }
    for (int i = 0; i < SEINE_LIMIT_ROOM; i++)
        if (by[i] > by[most])
            most = (seine_limit)i;
    return by[most] * 2 >= all ? most : SEINE_LIMIT_MIXED;
}

/* Is `part` at least that many percent of the time of all shards? */
static bool
is_share(const seine_slice *s, uint64_t part, double percent)
{
    double all = (double)s->lived / 1000 * (double)(s->shards > 0 ? s->shards : 1);

    return all > 0 && (double)part * 100 >= percent * all;
}

seine_limit
seine_slice_limit(const seine_slice *s)
{
    uint64_t waits = 0;

    if (!s)
        return SEINE_LIMIT_NOTHING;
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        waits |= s->waiting[i];
    if (is_share(s, s->paused_us, 50))
        return SEINE_LIMIT_PAUSED;
    if (is_share(s, s->output_us, 5))
        return SEINE_LIMIT_OUTPUT;
    if (is_share(s, s->memory_us, 5))
        return SEINE_LIMIT_MEMORY;
    if (is_share(s, s->cpu_us, 90))
        return SEINE_LIMIT_CPU;
    if (waits && s->slots > 0 &&
        seine_slice_mean(s, s->in_flight) >= 0.95 * (double)s->slots)
        return SEINE_LIMIT_CONCURRENCY;
    /* A URL that lacks nothing else: no limit of a host matters then. */
    if (seine_slice_mean(s, s->waiting[SEINE_WAIT_RATE]) >= 1)
        return SEINE_LIMIT_RATE;
    if (waits)
        return weigh_waits(s);
    return s->in_flight > 0 ? SEINE_LIMIT_SERVER : SEINE_LIMIT_NOTHING;
}
