/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breaker.h"

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "check.h"

/*
 * A second breaker, written to be obvious: keeps every call and every probe in a list and
 * counts them again for each question.
 */

#define T0   SEINE_SECS(1000) /* any moment will do */
#define MANY 512

enum {
    CLOSED = SEINE_BREAKER_CLOSED,
    OPEN = SEINE_BREAKER_OPEN,
    HALF_OPEN = SEINE_BREAKER_HALF_OPEN,
    FORCED_OPEN = SEINE_BREAKER_FORCED_OPEN,
    DISABLED = SEINE_BREAKER_DISABLED,
    F = SEINE_FAILURE,
    S = SEINE_SUCCESS,
    I = SEINE_IGNORED
};

typedef struct model {
    const seine_breaker_opts *o;
    int state;
    uint32_t streak;
    seine_time open_until, failed_at;
    uint64_t gen, ok, bad, ignored, slow, rejected, late, opened;
    seine_err why;
    uint32_t issued, successes;
    struct {
        bool failed, slow, old; /* old: has left the window by time */
        int64_t slice;
    } call[MANY];
    int calls;
    int64_t newest; /* slice */
    struct {
        uint32_t id;
        bool loose;
        seine_time start;
    } probe[64];
    uint32_t probes;
} model;

static void
m_enter(model *m, int state, seine_time now)
{
    m->gen++;
    m->state = state;
    m->calls = 0;
    m->probes = m->issued = m->successes = 0;
    if (state == CLOSED)
        m->streak = 0;
    if (state == OPEN) {
        seine_span t = m->o->open_for;

        for (uint32_t i = 0; i < m->streak; i++)
            t = t * m->o->open_growth_pct / 100 < m->o->open_max
                    ? t * m->o->open_growth_pct / 100
                    : m->o->open_max;
        m->open_until = now + t;
        m->opened++;
    }
}

static void
m_failed(model *m, seine_err why, seine_time now)
{
    m->bad++;
    m->failed_at = now;
    m->why = why;
}

static void
m_count(const model *m, uint32_t *out_calls, uint32_t *out_failed, uint32_t *out_slow)
{
    int from = 0;

    *out_calls = *out_failed = *out_slow = 0;
    if (m->o->window_calls > 0 && m->calls > (int)m->o->window_calls)
        from = m->calls - (int)m->o->window_calls;
    for (int i = from; i < m->calls; i++) {
        if (m->call[i].old || m->o->window_calls + m->o->window_time == 0)
            continue;
        (*out_calls)++;
        *out_failed += m->call[i].failed;
        *out_slow += m->call[i].slow;
    }
}

static void
m_age(model *m, seine_time now)
{
    uint32_t n, f, s;

    if (m->o->window_time == 0)
        return;
    int64_t slice = (m->o->window_time + 9) / 10, number = now / slice;
    m_count(m, &n, &f, &s);
    if (n == 0 || number > m->newest)
        m->newest = number;
    for (int i = 0; i < m->calls; i++)
        m->call[i].old = m->call[i].old || m->call[i].slice + 10 <= m->newest;
}

static uint32_t
m_in_a_row(const model *m)
{
    uint32_t n = 0;

    for (int i = m->calls; i-- > 0 && m->call[i].failed;)
        n++;
    return n;
}

static bool
m_tally(model *m, int how, seine_err why, seine_time start, seine_time now)
{
    bool slow = how != I && m->o->slow > 0 && now - start > m->o->slow;

    m->ok += how == S;
    m->ignored += how == I;
    m->slow += slow;
    if (how == F)
        m_failed(m, why, now);
    return slow;
}

static void
m_judge(model *m, int how, seine_err why, seine_time start, seine_time now)
{
    bool slow = m_tally(m, how, why, start, now);
    uint32_t calls, failed, slows;

    m_age(m, now);
    if (how == I)
        return;
    if (m->calls == MANY) { /* 1024 calls are tested elsewhere: windows here are short */
        memmove(m->call, m->call + MANY / 2, sizeof m->call / 2);
        m->calls = MANY / 2;
    }
    m->call[m->calls].failed = how == F;
    m->call[m->calls].slow = slow;
    m->call[m->calls].old = false;
    m->call[m->calls++].slice = m->newest;
    m_count(m, &calls, &failed, &slows);
    bool judged = calls > 0 && calls >= m->o->min_calls;
    if ((m->o->failure_threshold > 0 && m_in_a_row(m) >= m->o->failure_threshold) ||
        (judged && how == F && m->o->failure_pct > 0 &&
         failed * 100 >= m->o->failure_pct * calls) ||
        (judged && slow && m->o->slow_pct > 0 && slows * 100 >= m->o->slow_pct * calls))
        m_enter(m, OPEN, now);
}

static void
m_judge_probe(model *m, uint32_t i, int how, seine_err why, seine_time now)
{
    m_tally(m, how, why, m->probe[i].start, now);
    for (uint32_t k = i; k + 1 < m->probes; k++)
        m->probe[k] = m->probe[k + 1];
    m->probes--;
    m->successes += how == S;
    if (how == F) {
        m->streak++;
        m_enter(m, OPEN, now);
    } else if (how == S && m->successes >= m->o->success_threshold) {
        m_enter(m, CLOSED, now);
    }
}

static seine_span
m_lease(const model *m)
{
    return m->o->probe_lease ? m->o->probe_lease : m->o->open_for;
}

static bool
m_gives_up(model *m, seine_time now)
{
    for (uint32_t i = 0; m->state == HALF_OPEN && i < m->probes; i++) {
        if (now - m->probe[i].start >= m_lease(m)) {
            m_failed(m, SEINE_E_TIMEOUT, now);
            m->streak++;
            m_enter(m, OPEN, now);
            return true;
        }
    }
    return false;
}

static bool
m_acquire(model *m, seine_time now, bool loose)
{
    bool yes = !m_gives_up(m, now);

    if (m->state == OPEN && yes && now >= m->open_until)
        m_enter(m, HALF_OPEN, now);
    else if (m->state == OPEN || m->state == FORCED_OPEN)
        yes = false;
    if (m->state == HALF_OPEN && m->probes == m->o->half_open_max)
        yes = false;
    if (m->state == HALF_OPEN && yes) {
        m->probe[m->probes].id = ++m->issued;
        m->probe[m->probes].start = now;
        m->probe[m->probes++].loose = loose;
    }
    m->rejected += !yes;
    return yes;
}

static seine_err
m_settle(model *m, const seine_permit *p, int how, seine_time now)
{
    seine_err why = (seine_err)p->why;

    if (p->generation != m->gen) {
        m->late++;
        return SEINE_OK;
    }
    if (m->state == CLOSED)
        m_judge(m, how, why, p->start, now);
    if (m->state == DISABLED)
        m_tally(m, how, why, p->start, now);
    if (m->state != HALF_OPEN)
        return SEINE_OK;
    for (uint32_t i = 0; i < m->probes; i++) {
        if (m->probe[i].id == p->id && !m->probe[i].loose) {
            m_judge_probe(m, i, how, why, now);
            return SEINE_OK;
        }
    }
    return SEINE_E_ALREADY;
}

static void
m_record(model *m, int how, seine_time now)
{
    if (m->state == CLOSED) {
        m_judge(m, how, SEINE_OK, now, now);
        return;
    }
    if (m->state == DISABLED) {
        m_tally(m, how, SEINE_OK, now, now);
        return;
    }
    for (uint32_t i = 0; i < m->probes; i++) {
        if (m->probe[i].loose) {
            m_judge_probe(m, i, how, SEINE_OK, now);
            return;
        }
    }
    m->late++;
}

static seine_time
m_when(model *m, seine_time now)
{
    m_gives_up(m, now);
    if (m->state == FORCED_OPEN)
        return SEINE_NEVER;
    if (m->state == OPEN)
        return m->open_until > now ? m->open_until : now;
    if (m->state != HALF_OPEN || m->probes < m->o->half_open_max)
        return now;
    seine_time first = SEINE_NEVER;
    for (uint32_t i = 0; i < m->probes; i++) {
        if (m->probe[i].start + m_lease(m) < first)
            first = m->probe[i].start + m_lease(m);
    }
    return first;
}

static bool
agree(const seine_breaker *b, const model *m)
{
    seine_breaker_stats s;
    uint32_t calls, failed, slow;

    seine_breaker_stats_get(b, &s);
    m_count(m, &calls, &failed, &slow);
    CHECK_EQ(s.state, m->state);
    CHECK_EQ(s.generation, m->gen);
    CHECK_EQ(s.failures, m_in_a_row(m));
    CHECK_EQ(s.half_open_successes, m->successes);
    CHECK_EQ(s.half_open_active, m->probes);
    CHECK_EQ(s.streak, m->streak);
    CHECK_EQ(s.open_until, m->state == OPEN ? m->open_until : 0);
    CHECK_EQ(s.last_failure_at, m->failed_at);
    CHECK_EQ(s.why, m->why);
    CHECK_EQ(s.succeeded, m->ok);
    CHECK_EQ(s.failed, m->bad);
    CHECK_EQ(s.ignored, m->ignored);
    CHECK_EQ(s.slow, m->slow);
    CHECK_EQ(s.rejected, m->rejected);
    CHECK_EQ(s.late, m->late);
    CHECK_EQ(s.opened, m->opened);
    CHECK(s.failure_rate == (calls ? 100.0 * failed / calls : 0.0));
    CHECK(s.slow_rate == (calls ? 100.0 * slow / calls : 0.0));
    return s.generation == m->gen && (int)s.state == m->state &&
           s.rejected == m->rejected && s.late == m->late;
}

static uint32_t
below(sn_rng *r, uint32_t n)
{
    return (uint32_t)sn_rng_below(r, n);
}

static seine_breaker_opts
random_opts(sn_rng *r)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    o.failure_threshold = below(r, 5);
    o.half_open_max = 1 + below(r, 2) * below(r, 64);
    o.success_threshold = 1 + below(r, 3);
    o.open_growth_pct = 100 + 70 * below(r, 3);
    o.open_for = 1 + below(r, 1000);
    o.open_max = o.open_for + below(r, 5000);
    o.probe_lease = (seine_span)below(r, 2) * below(r, 1500);
    o.slow = (seine_span)below(r, 2) * 40;
    o.window_calls = below(r, 2) * (1 + below(r, 40));
    o.window_time = o.window_calls ? 0 : below(r, 3000);
    o.min_calls = 1 + below(r, o.window_calls ? o.window_calls : 20);
    if (o.window_calls + o.window_time > 0) {
        o.failure_pct = below(r, 2) * (1 + below(r, 100));
        o.slow_pct = o.slow ? below(r, 2) * (1 + below(r, 100)) : 0;
    }
    if (o.failure_pct + o.slow_pct == 0)
        o.failure_threshold++;
    return o;
}

/* Mostly a little forwards, often not at all, sometimes back or to an edge. */
static seine_time
random_moment(sn_rng *r, const model *m, seine_time now)
{
    switch (below(r, 12)) {
    case 0:
        return now > T0 + 500 ? now - below(r, 500) : now;
    case 1:
        return m->state == OPEN ? m->open_until - 1 + below(r, 3) : now;
    case 2:
        return m->probes ? m->probe[0].start + m_lease(m) - 1 + below(r, 3) : now;
    case 3:
        return now + below(r, 2000);
    case 4:
    case 5:
        return now;
    default:
        return now + below(r, 60);
    }
}

#define PERMITS 24

static bool
random_step(sn_rng *r, seine_breaker *b, model *m, seine_permit *held, seine_time now)
{
    int how = below(r, 8) == 0 ? I : below(r, 2) ? F : S;
    seine_permit *p = &held[below(r, PERMITS)];
    seine_time until;

    switch (below(r, 20)) {
    case 0:
        CHECK_EQ(seine_breaker_can_execute(b, now) == SEINE_OK, m_acquire(m, now, true));
        break;
    case 1:
    case 2:
        seine_breaker_record(b, (seine_outcome)how, now);
        m_record(m, how, now);
        break;
    case 3:
        CHECK_EQ(seine_breaker_when(b, now), m_when(m, now));
        break;
    case 4:
        until = now + below(r, 3000);
        seine_breaker_hold(b, until, now);
        if (until > now + m->o->open_max)
            until = now + m->o->open_max;
        if (m->state == OPEN && until > m->open_until)
            m->open_until = until;
        break;
    case 5:
        if (below(r, 20) == 0) {
            int to = (int)below(r, 5);

            seine_breaker_force(b, (seine_breaker_state)to, now);
            m_enter(m, to, now);
        } else if (below(r, 8) == 0) {
            seine_breaker_reset(b);
            m_enter(m, CLOSED, now);
        }
        break;
    default:
        if (p->held) {
            bool twice = below(r, 10) == 0;

            p->why = (uint16_t)below(r, SN_ERR_COUNT);
            CHECK_EQ(m_settle(m, p, how, now),
                     seine_breaker_settle(b, p, (seine_outcome)how, now));
            if (twice)
                CHECK_EQ(seine_breaker_settle(b, p, SEINE_FAILURE, now), SEINE_E_ALREADY);
            p->held = twice && m->state == HALF_OPEN; /* as if it were a copy */
        } else {
            bool yes = m_acquire(m, now, false);

            CHECK_EQ(seine_breaker_acquire(b, now, p), yes ? SEINE_OK : SEINE_E_BREAKER);
            if (yes)
                CHECK_EQ(p->id, m->state == HALF_OPEN ? m->issued : 0);
        }
    }
    return agree(b, m);
}

TEST(breaker_agrees_with_the_obvious_one_on_random_traces)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 150; round++) {
        seine_breaker_opts o = random_opts(&r);
        seine_breaker b;
        model m = {.o = &o};
        seine_permit held[PERMITS] = {{0}};
        seine_time now = T0;
        bool same = true;

        CHECK_EQ(seine_breaker_init(&b, &o), SEINE_OK);
        for (int i = 0; same && i < 400; i++) {
            now = random_moment(&r, &m, now);
            same = random_step(&r, &b, &m, held, now);
        }
        seine_breaker_fini(&b);
        if (!same)
            return;
    }
}
