/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/limited.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOLD SEINE_SECS(3) /* before another rule becomes the verdict */

/* What URLs may wait for, in the order in which equal numbers are told. */
enum { W_RATE, W_LIMITER, W_BREAKER, W_BACKOFF, W_ROBOTS, W_SLOT, W_ROOM };

static const int codes[W_ROOM] = {
    [W_RATE] = SEINE_LIMIT_RATE,       [W_LIMITER] = SEINE_LIMIT_POLITENESS,
    [W_BREAKER] = SEINE_LIMIT_BREAKER, [W_BACKOFF] = SEINE_LIMIT_BACKOFF,
    [W_ROBOTS] = SEINE_LIMIT_ROBOTS,   [W_SLOT] = SEINE_LIMIT_PER_HOST,
};

/* Means of the looks, and of sums of time what was added. */
typedef struct means {
    double in_flight, slots, ready, queue;
    double waits[W_ROOM];
    double memory, cap;
    double span, sink_full; /* ns */
    double busy[SEINE_LIMITED_SHARDS];
    uint32_t shards;
} means;

void
seine_limited_init(seine_limited *l)
{
    if (!l)
        return;
    memset(l, 0, sizeof *l);
    l->now.code = l->wish.code = SEINE_LIMIT_NOTHING;
}

/* The place of a reason in `waits`; -1: a slot is all that it lacks; -2: it stands behind
 * others of its host and waits for whatever the first of them waits for. */
static int
place_of(int wait)
{
    switch (wait) {
    case SEINE_WAIT_CONCURRENCY:
    case SEINE_WAIT_OUTPUT:
        return -1;
    case SEINE_WAIT_QUEUE:
        return -2;
    case SEINE_WAIT_RATE:
        return W_RATE;
    case SEINE_WAIT_BREAKER:
        return W_BREAKER;
    case SEINE_WAIT_BACKOFF:
    case SEINE_WAIT_RETRY_BUDGET:
        return W_BACKOFF;
    case SEINE_WAIT_ADDRESS:
        return W_SLOT;
    default:
        return W_LIMITER;
    }
}

static void
add_waits(means *m, const seine_limited_look *k)
{
    for (int i = 0; i < SEINE_WAIT_ROOM; i++) {
        int place = place_of(i);

        if (place >= 0)
            m->waits[place] += (double)k->waiting[i];
        else if (place == -1)
            m->ready += (double)k->waiting[i];
        else
            m->queue += (double)k->waiting[i];
    }
    /* They stand in the queues of their hosts, too. */
    m->waits[W_ROBOTS] += (double)k->robots;
    m->queue -=
        (double)(k->robots < k->waiting[SEINE_WAIT_QUEUE] ? k->robots
                                                          : k->waiting[SEINE_WAIT_QUEUE]);
}

static const seine_limited_look *
look_at(const seine_limited *l, uint32_t i)
{
    uint32_t first = l->n < SEINE_LIMITED_LOOKS ? 0 : l->next;

    return &l->looks[(first + i) % SEINE_LIMITED_LOOKS];
}

static void
add_times(means *m, const seine_limited_look *first, const seine_limited_look *last)
{
    uint32_t n =
        last->shards < SEINE_LIMITED_SHARDS ? last->shards : SEINE_LIMITED_SHARDS;

    m->span = (double)(last->at - first->at);
    m->shards = last->shards > 0 ? last->shards : 1;
    if (last->sink_full_ns > first->sink_full_ns)
        m->sink_full = (double)(last->sink_full_ns - first->sink_full_ns);
    for (uint32_t i = 0; i < n && i < first->shards; i++)
        if (last->busy_ns[i] > first->busy_ns[i])
            m->busy[i] = (double)(last->busy_ns[i] - first->busy_ns[i]);
}

static void
take_means(const seine_limited *l, means *m)
{
    const double n = l->n;

    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < l->n; i++) {
        const seine_limited_look *k = look_at(l, i);

        m->in_flight += (double)k->in_flight / n;
        m->slots += (double)k->slots / n;
        m->memory += (double)k->memory_used / n;
        m->cap += (double)k->memory_cap / n;
        add_waits(m, k);
    }
    for (int i = 0; i < W_ROOM; i++)
        m->waits[i] /= n;
    m->ready /= n;
    add_times(m, look_at(l, 0), look_at(l, l->n - 1));
}

/* Were half of the shards busy? Says which one most. */
static bool
is_busy(const means *m, seine_limited_verdict *v)
{
    uint32_t busy = 0,
             n = m->shards < SEINE_LIMITED_SHARDS ? m->shards : SEINE_LIMITED_SHARDS;
    double most = 0;

    if (m->span <= 0)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        busy += m->busy[i] >= 0.9 * m->span;
        if (m->busy[i] > most) {
            most = m->busy[i];
            v->busiest = i;
        }
    }
    v->busy_percent = (unsigned)(100 * most / m->span);
    return 2 * busy >= n;
}

/* What most URLs wait for. A URL in the queue of its host counts where nothing else is
 * known: then all connections of its host are taken. */
static int
weigh(const means *m, seine_limited_verdict *v)
{
    double waits[W_ROOM], all = m->ready;
    int first = W_SLOT, second = -1;

    memcpy(waits, m->waits, sizeof waits);
    for (int i = 0; i < W_ROOM; i++)
        all += waits[i];
    if (all <= 0) {
        waits[W_SLOT] = m->queue;
        all = m->queue;
    }
    for (int i = W_ROOM - 1; i >= 0; i--)
        if (waits[i] >= waits[first])
            first = i;
    for (int i = 0; i < W_ROOM; i++)
        if (i != first && waits[i] > 0 && (second < 0 || waits[i] > waits[second]))
            second = i;
    v->first = waits[first] > 0 ? codes[first] : SEINE_LIMIT_CONCURRENCY;
    v->second = second >= 0 ? codes[second] : SEINE_LIMIT_CONCURRENCY;
    if (all <= 0)
        return m->in_flight > 0 ? SEINE_LIMIT_SERVER : SEINE_LIMIT_NOTHING;
    return waits[first] * 2 >= all ? codes[first] : SEINE_LIMIT_MIXED;
}

/* True: the state of the run says it all. */
static bool
judge_state(const seine_limited_look *k, seine_limited_verdict *v)
{
    v->code = k->is_finished   ? SEINE_LIMIT_FINISHED
              : k->is_stopping ? SEINE_LIMIT_STOPPING
              : k->is_paused   ? SEINE_LIMIT_PAUSED
                               : SEINE_LIMIT_NOTHING;
    return v->code != SEINE_LIMIT_NOTHING;
}

static void
judge(const seine_limited *l, seine_limited_verdict *v)
{
    means m;

    take_means(l, &m);
    if (m.span > 0 && m.sink_full * 100 >= 5 * m.span * m.shards)
        v->code = SEINE_LIMIT_OUTPUT;
    else if (m.cap > 0 && m.memory * 100 >= 95 * m.cap)
        v->code = SEINE_LIMIT_MEMORY;
    else if (is_busy(&m, v))
        v->code = SEINE_LIMIT_CPU;
    else if (m.slots > 0 && m.in_flight * 100 >= 95 * m.slots && m.ready > 0)
        v->code = SEINE_LIMIT_CONCURRENCY;
    else
        v->code = weigh(&m, v);
}

/* Takes the wish over where it has held for long enough. */
static void
settle(seine_limited *l, const seine_limited_verdict *wish, bool is_state, seine_time at)
{
    bool is_same = l->wish.code == wish->code;
    seine_time since = is_same ? l->wish.since : at;

    l->wish = *wish;
    l->wish.since = since;
    if (l->now.code == wish->code) {
        since = l->now.since;
        l->now = *wish;
        l->now.since = since;
    } else if (is_state || l->now.since == 0 || at - since >= HOLD) {
        l->now = l->wish;
    }
}

void
seine_limited_add(seine_limited *l, const seine_limited_look *look)
{
    seine_limited_verdict wish = {.code = SEINE_LIMIT_NOTHING};

    if (!l || !look)
        return;
    bool was_state = l->n > 0 && (l->now.code == SEINE_LIMIT_PAUSED ||
                                  l->now.code == SEINE_LIMIT_STOPPING ||
                                  l->now.code == SEINE_LIMIT_FINISHED);
    bool is_state = judge_state(look, &wish);

    if (was_state && !is_state) /* it goes on: what was before says nothing */
        l->n = l->next = 0;
    l->looks[l->next] = *look;
    l->next = (l->next + 1) % SEINE_LIMITED_LOOKS;
    if (l->n < SEINE_LIMITED_LOOKS)
        l->n++;
    if (!is_state)
        judge(l, &wish);
    settle(l, &wish, is_state || was_state, look->at);
}

void
seine_limited_get(const seine_limited *l, seine_limited_verdict *out_verdict)
{
    if (l && out_verdict)
        *out_verdict = l->now;
}

const char *
seine_limited_name(int code)
{
    switch (code) {
    case SEINE_LIMIT_STOPPING:
        return "stopping";
    case SEINE_LIMIT_FINISHED:
        return "finished";
    case SEINE_LIMIT_ROBOTS:
        return "robots";
    default:
        return code >= 0 && code < SEINE_LIMIT_ROOM ? seine_limit_name((seine_limit)code)
                                                    : "";
    }
}

/* Texts */

static const char *
plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void
write_size(uint64_t bytes, char *buf, size_t cap)
{
    if (bytes < UINT64_C(1) << 30)
        snprintf(buf, cap, "%" PRIu64 " MiB", bytes >> 20);
    else
        snprintf(buf, cap, "%.1f GiB", (double)bytes / 1073741824.0);
}

static void
write_span(seine_span span, char *buf, size_t cap)
{
    if (span <= 0)
        snprintf(buf, cap, "a moment");
    else if (span < SEINE_SECS(100))
        snprintf(buf, cap, "%d s", (int)((span + SEINE_SECS(1) - 1) / SEINE_SECS(1)));
    else
        snprintf(buf, cap, "%d min", (int)((span + SEINE_SECS(60) - 1) / SEINE_SECS(60)));
}

/* "limited by politeness on 3 hosts (…)" */
static void
write_politeness(const seine_limited_facts *f, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "limited by politeness");

    if (f->hosts > 0 && n > 0 && (size_t)n < cap)
        n += snprintf(buf + n, cap - (size_t)n, " on %" PRIu64 " host%s", f->hosts,
                      plural(f->hosts));
    if (f->top && f->top[0] && n > 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n, " (%s)", f->top);
}

static void
write_waiting(const seine_limited_facts *f, int code, char *buf, size_t cap)
{
    char span[32];

    write_span(f->next, span, sizeof span);
    if (code == SEINE_LIMIT_ROBOTS)
        snprintf(buf, cap, "waiting for robots.txt of %" PRIu64 " host%s", f->hosts,
                 plural(f->hosts));
    else if (code == SEINE_LIMIT_BACKOFF)
        snprintf(buf, cap, "retries wait %s", span);
    else if (f->hosts > 0)
        snprintf(buf, cap, "waiting on breaker: %" PRIu64 " host%s, next probe in %s",
                 f->hosts, plural(f->hosts), span);
    else
        snprintf(buf, cap, "waiting on breaker, next probe in %s", span);
}

void
seine_limited_text(const seine_limited_verdict *v, const seine_limited_facts *f,
                   char *buf, size_t cap)
{
    char used[32], all[32];

    if (!v || !f || !buf || cap == 0)
        return;
    buf[0] = '\0';
    switch (v->code) {
    case SEINE_LIMIT_OUTPUT:
        snprintf(buf, cap, "limited by writing to %s", f->sink ? f->sink : "the outputs");
        break;
    case SEINE_LIMIT_MEMORY:
        write_size(f->memory_used, used, sizeof used);
        write_size(f->memory_cap, all, sizeof all);
        snprintf(buf, cap, "limited by memory: %s of %s", used, all);
        break;
    case SEINE_LIMIT_CPU:
        snprintf(buf, cap, "limited by this machine: shard %u busy %u %%", v->busiest,
                 v->busy_percent);
        break;
    case SEINE_LIMIT_CONCURRENCY:
        snprintf(buf, cap, "limited by concurrency %" PRIu64, f->slots);
        break;
    case SEINE_LIMIT_RATE:
        snprintf(buf, cap, "limited by the global rate%s%s", f->rate ? " " : "",
                 f->rate ? f->rate : "");
        break;
    case SEINE_LIMIT_POLITENESS:
        write_politeness(f, buf, cap);
        break;
    case SEINE_LIMIT_BREAKER:
    case SEINE_LIMIT_BACKOFF:
    case SEINE_LIMIT_ROBOTS:
        write_waiting(f, v->code, buf, cap);
        break;
    case SEINE_LIMIT_PER_HOST:
        if (f->per_host > 0)
            snprintf(buf, cap, "limited by %" PRIu64 " connection%s per host",
                     f->per_host, plural(f->per_host));
        else
            snprintf(buf, cap, "limited by connections per host");
        break;
    case SEINE_LIMIT_MIXED:
        snprintf(buf, cap, "limited by %s and %s", seine_limited_name(v->first),
                 seine_limited_name(v->second));
        break;
    case SEINE_LIMIT_SERVER:
        snprintf(buf, cap,
                 "waiting for servers: %" PRIu64
                 " request%s in flight, nothing else to start",
                 f->in_flight, plural(f->in_flight));
        break;
    default:
        break;
    }
}
