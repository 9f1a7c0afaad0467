/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breaker.h"

#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/time.h"
#include "guard/breaker.h"
#include "guard/breaker_window.h"

#define MAX_PROBES 64
#define MAX_CALLS  1024
#define LAST_ID    0x7fffffffu /* breakers.c uses the bit above */

typedef sn_probe probe;
typedef sn_breaker_body body;

/* The state that does not fit into `word`. */
typedef struct more {
    sn_window *window; /* behind the probes, or NULL */
    probe probes[];    /* oldest first; empty when only one probe is allowed */
} more;

_Static_assert(sizeof(seine_breaker) == 128, "two cache lines");
_Static_assert(sizeof(body) == sizeof((seine_breaker *)0)->word, "body fills word");

/* How a call ended, as the breaker counts it. */
typedef struct call {
    seine_outcome how;
    uint16_t why;
    seine_time start, now;
} call;

static inline body *
of(seine_breaker *b)
{
    return sn_breaker_of(b);
}

static inline const body *
seen(const seine_breaker *b)
{
    return sn_breaker_seen(b);
}

static inline sn_window *
window_of(const seine_breaker *b)
{
    const more *m = b->extra;

    return m ? m->window : NULL;
}

static probe *
probes_of(seine_breaker *b)
{
    more *m = b->extra;

    return b->opts->half_open_max > 1 ? m->probes : &of(b)->only;
}

/* Counters stop at their maximum instead of wrapping. */
static inline void
bump(uint64_t *counter)
{
    *counter += *counter < UINT64_MAX;
}

static inline uint32_t
next_count(uint32_t n)
{
    return n + (n < UINT32_MAX);
}

static bool
is_valid(const seine_breaker_opts *o)
{
    bool shares = o->failure_pct > 0 || o->slow_pct > 0;

    if (o->failure_threshold == 0 && !shares)
        return false;
    if (o->half_open_max == 0 || o->half_open_max > MAX_PROBES ||
        o->success_threshold == 0 || o->open_growth_pct < 100)
        return false;
    if (o->window_calls > MAX_CALLS || o->window_time < 0 ||
        (o->window_calls > 0 && o->window_time > 0))
        return false;
    if (o->failure_pct > 100 || o->slow_pct > 100 || o->slow < 0 ||
        (o->slow_pct > 0 && o->slow == 0))
        return false;
    if (shares && (o->min_calls == 0 || (o->window_calls == 0 && o->window_time == 0) ||
                   (o->window_calls > 0 && o->min_calls > o->window_calls)))
        return false;
    return o->open_for > 0 && o->open_max >= o->open_for && o->probe_lease >= 0;
}

static more *
more_new(const seine_breaker_opts *o, size_t probes, size_t window)
{
    more *m = sn_zalloc(sizeof *m + probes + window);

    if (m && window > 0) {
        m->window = (sn_window *)(void *)((char *)m->probes + probes);
        sn_window_init(m->window, o->window_calls, o->window_time);
    }
    return m;
}

seine_err
seine_breaker_init(seine_breaker *b, const seine_breaker_opts *opts)
{
    if (!b)
        return SEINE_E_INVAL;
    if (!opts || !sn_opts_fit(opts, sizeof *opts) || !is_valid(opts))
        return SEINE_E_INVAL;

    more *m = NULL;
    size_t probes = opts->half_open_max > 1 ? opts->half_open_max * sizeof(probe) : 0;
    size_t window = sn_window_size(opts->window_calls, opts->window_time);
    if (probes + window > 0) {
        m = more_new(opts, probes, window);
        if (!m)
            return SEINE_E_NOMEM;
    }
    *b = (seine_breaker){.opts = opts, .extra = m};
    return SEINE_OK;
}

void
seine_breaker_fini(seine_breaker *b)
{
    if (!b)
        return;
    sn_free(b->extra);
    b->extra = NULL;
}

void
sn_change_tell(const seine_breaker_opts *opts, seine_view key, const sn_change *change)
{
    if (change->from != change->to && opts->on_change)
        opts->on_change(key, change->from, change->to, change->seq, opts->arg);
}

/* open_for, multiplied once per failed probe. Growth ends at a step that changes less
 * than a nanosecond: repeating it would change nothing. */
static seine_span
open_time(const seine_breaker *b)
{
    const seine_breaker_opts *o = b->opts;
    seine_span t = o->open_for;

    for (uint32_t i = 0; i < seen(b)->streak && t < o->open_max; i++) {
        sn_u128 grown = (sn_u128)(uint64_t)t * o->open_growth_pct / 100;
        seine_span longer =
            grown > (uint64_t)o->open_max ? o->open_max : (seine_span)grown;

        if (longer == t)
            break;
        t = longer;
    }
    return t;
}

static void
enter(seine_breaker *b, seine_breaker_state to, seine_time now, sn_change *change)
{
    body *s = of(b);
    sn_window *w = window_of(b);

    *change = (sn_change){(seine_breaker_state)s->state, to, ++s->generation};
    s->state = (uint8_t)to;
    s->run = 0;
    s->active = 0;
    s->issued = 0;
    if (w)
        sn_window_clear(w);
    if (to == SEINE_BREAKER_CLOSED)
        s->streak = 0;
    if (to == SEINE_BREAKER_OPEN) {
        bump(&s->opened);
        s->open_until = sn_time_add(now, open_time(b));
    }
}

static void
reopen(seine_breaker *b, seine_time now, sn_change *change)
{
    of(b)->streak = next_count(of(b)->streak);
    enter(b, SEINE_BREAKER_OPEN, now, change);
}

static void
count_failure(body *s, uint16_t why, seine_time now)
{
    bump(&s->failed);
    s->failed_at = now;
    s->why = why;
}

static seine_span
lease_of(const seine_breaker *b)
{
    return b->opts->probe_lease > 0 ? b->opts->probe_lease : b->opts->open_for;
}

/* The earliest end of a lease of the active probes. Starts may be out of order, since the
 * clock may have stepped back between them. */
static seine_time
lease_end(seine_breaker *b)
{
    const probe *p = probes_of(b);
    seine_time first = SEINE_NEVER;

    for (uint32_t i = 0; i < of(b)->active; i++)
        first = sn_time_min(first, sn_time_add(p[i].start, lease_of(b)));
    return first;
}

/* A probe whose lease ended has failed: opens the breaker and returns true. */
static bool
give_up(seine_breaker *b, seine_time now, sn_change *change)
{
    body *s = of(b);

    if (s->active == 0 || now < lease_end(b))
        return false;
    count_failure(s, SEINE_E_TIMEOUT, now);
    reopen(b, now, change);
    return true;
}

static uint32_t
admit_probe(seine_breaker *b, seine_time now, bool loose)
{
    body *s = of(b);

    s->issued = s->issued == LAST_ID ? 1 : s->issued + 1;
    probes_of(b)[s->active++] = (probe){now, s->issued, loose};
    return s->issued;
}

static void
remove_probe(seine_breaker *b, uint32_t i)
{
    probe *p = probes_of(b);
    body *s = of(b);

    s->active--;
    memmove(&p[i], &p[i + 1], (s->active - i) * sizeof *p);
}

static seine_err
refuse_call(body *s)
{
    bump(&s->rejected);
    return SEINE_E_BREAKER;
}

seine_err
sn_breaker_acquire(seine_breaker *b, seine_time now, bool loose, seine_permit *out_permit,
                   sn_change *change)
{
    body *s = of(b);
    uint32_t id = 0;

    switch ((seine_breaker_state)s->state) {
    case SEINE_BREAKER_CLOSED:
    case SEINE_BREAKER_DISABLED:
        break;
    case SEINE_BREAKER_OPEN:
        if (now < s->open_until)
            return refuse_call(s);
        enter(b, SEINE_BREAKER_HALF_OPEN, now, change);
        id = admit_probe(b, now, loose);
        break;
    case SEINE_BREAKER_HALF_OPEN:
        if (give_up(b, now, change) || s->active >= b->opts->half_open_max)
            return refuse_call(s);
        id = admit_probe(b, now, loose);
        break;
    case SEINE_BREAKER_FORCED_OPEN:
        return refuse_call(s);
    }
    *out_permit = (seine_permit){s->generation, now, id, 0, 1};
    return SEINE_OK;
}

/* Counts the call; true if it was slow. */
static inline bool
tally(seine_breaker *b, const call *c)
{
    body *s = of(b);
    bool slow = false;

    if (c->how == SEINE_IGNORED) {
        bump(&s->ignored);
        return false;
    }
    if (c->how == SEINE_SUCCESS)
        bump(&s->succeeded);
    else
        count_failure(s, c->why, c->now);
    if (b->opts->slow > 0 && sn_time_sub(c->now, c->start) > b->opts->slow) {
        bump(&s->slow);
        slow = true;
    }
    return slow;
}

static bool
reaches(uint64_t part, uint64_t whole, uint32_t pct)
{
    return pct > 0 && part * 100 >= whole * pct;
}

/* A rate opens the breaker only when it grows: a success never trips the failure rate,
 * nor a fast call the rate of slow calls. */
static bool
trips(const seine_breaker *b, const sn_window *w, bool failed, bool slow)
{
    const seine_breaker_opts *o = b->opts;

    if (o->failure_threshold > 0 && seen(b)->run >= o->failure_threshold)
        return true;
    if (!w || w->calls < o->min_calls)
        return false;
    return (failed && reaches(w->failed, w->calls, o->failure_pct)) ||
           (slow && reaches(w->slow, w->calls, o->slow_pct));
}

static inline void
judge(seine_breaker *b, const call *c, sn_change *change)
{
    body *s = of(b);
    sn_window *w = window_of(b);
    bool slow = tally(b, c), failed = c->how == SEINE_FAILURE;

    if (c->how == SEINE_IGNORED) {
        if (w)
            sn_window_roll(w, c->now);
        return;
    }
    s->run = failed ? next_count(s->run) : 0;
    if (w)
        sn_window_add(w, c->now, failed, slow);
    if (trips(b, w, failed, slow))
        enter(b, SEINE_BREAKER_OPEN, c->now, change);
}

static void
judge_probe(seine_breaker *b, uint32_t i, call c, sn_change *change)
{
    body *s = of(b);

    c.start = probes_of(b)[i].start;
    remove_probe(b, i);
    tally(b, &c);
    if (c.how == SEINE_FAILURE) {
        reopen(b, c.now, change);
    } else if (c.how == SEINE_SUCCESS) {
        s->run = next_count(s->run);
        if (s->run >= b->opts->success_threshold)
            enter(b, SEINE_BREAKER_CLOSED, c.now, change);
    }
}

/* Index of the probe with this id, or of the oldest loose probe for id 0; the number of
 * active probes if there is none. */
static uint32_t
find_probe(seine_breaker *b, uint32_t id)
{
    const probe *p = probes_of(b);
    uint32_t i = 0, n = of(b)->active;

    while (i < n && !(id > 0 ? p[i].id == id : p[i].loose))
        i++;
    return i;
}

seine_err
sn_breaker_settle(seine_breaker *b, seine_permit *permit, seine_outcome how,
                  seine_time now, sn_change *change)
{
    body *s = of(b);
    call c = {how, permit->why, permit->start, now};

    if (!permit->held)
        return SEINE_E_ALREADY;
    if ((unsigned)how > SEINE_IGNORED)
        return SEINE_E_INVAL;
    permit->held = 0;
    if (permit->generation != s->generation) {
        bump(&s->late);
    } else if (s->state == SEINE_BREAKER_HALF_OPEN) {
        uint32_t i = find_probe(b, permit->id);

        if (permit->id == 0 || i == s->active)
            return SEINE_E_ALREADY;
        judge_probe(b, i, c, change);
    } else if (s->state == SEINE_BREAKER_CLOSED) {
        judge(b, &c, change);
    } else {
        tally(b, &c);
    }
    return SEINE_OK;
}

static void
record(seine_breaker *b, call c, sn_change *change)
{
    body *s = of(b);
    uint32_t i;

    switch ((seine_breaker_state)s->state) {
    case SEINE_BREAKER_CLOSED:
        judge(b, &c, change);
        return;
    case SEINE_BREAKER_DISABLED:
        tally(b, &c);
        return;
    case SEINE_BREAKER_HALF_OPEN:
        i = find_probe(b, 0);
        if (i < s->active) {
            judge_probe(b, i, c, change);
            return;
        }
        break;
    case SEINE_BREAKER_OPEN:
    case SEINE_BREAKER_FORCED_OPEN:
        break;
    }
    bump(&s->late);
}

seine_time
sn_breaker_when(seine_breaker *b, seine_time now, sn_change *change)
{
    const body *s = seen(b);

    if (s->state == SEINE_BREAKER_HALF_OPEN && !give_up(b, now, change))
        return s->active < b->opts->half_open_max ? now : lease_end(b);
    if (s->state == SEINE_BREAKER_OPEN)
        return sn_time_max(now, s->open_until);
    return s->state == SEINE_BREAKER_FORCED_OPEN ? SEINE_NEVER : now;
}

void
sn_breaker_reset(seine_breaker *b, sn_change *change)
{
    enter(b, SEINE_BREAKER_CLOSED, 0, change);
}

bool
sn_breaker_is_idle(const seine_breaker *b)
{
    return seen(b)->state == SEINE_BREAKER_CLOSED && seen(b)->run == 0;
}

seine_time
sn_breaker_open_until(const seine_breaker *b)
{
    return seen(b)->state == SEINE_BREAKER_OPEN ? seen(b)->open_until : SEINE_NEVER;
}

uint64_t
sn_breaker_generation(const seine_breaker *b)
{
    return seen(b)->generation;
}

void
sn_breaker_set_generation(seine_breaker *b, uint64_t generation)
{
    of(b)->generation = generation;
}

seine_err
seine_breaker_acquire(seine_breaker *b, seine_time now, seine_permit *out_permit)
{
    if (!out_permit)
        return SEINE_E_INVAL;
    sn_change change = {0};

    if (!b) {
        *out_permit = (seine_permit){.start = now, .held = 1};
        return SEINE_OK;
    }
    seine_err e = sn_breaker_acquire(b, now, false, out_permit, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
    return e;
}

seine_err
seine_breaker_settle(seine_breaker *b, seine_permit *permit, seine_outcome how,
                     seine_time now)
{
    if (!permit)
        return SEINE_E_INVAL;
    sn_change change = {0};

    if (!b) {
        seine_err e = permit->held ? SEINE_OK : SEINE_E_ALREADY;

        permit->held = 0;
        return e;
    }
    seine_err e = sn_breaker_settle(b, permit, how, now, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
    return e;
}

seine_time
seine_breaker_when(seine_breaker *b, seine_time now)
{
    sn_change change = {0};

    if (!b)
        return now;
    seine_time at = sn_breaker_when(b, now, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
    return at;
}

void
seine_breaker_hold(seine_breaker *b, seine_time until, seine_time now)
{
    if (!b || of(b)->state != SEINE_BREAKER_OPEN)
        return;
    seine_time at = sn_time_min(until, sn_time_add(now, b->opts->open_max));
    of(b)->open_until = sn_time_max(of(b)->open_until, at);
}

seine_breaker_state
seine_breaker_state_get(const seine_breaker *b)
{
    return b ? (seine_breaker_state)seen(b)->state : SEINE_BREAKER_DISABLED;
}

const char *
seine_breaker_state_name(int state)
{
    static const char *const names[] = {
        [SEINE_BREAKER_CLOSED] = "Closed",          [SEINE_BREAKER_OPEN] = "Open",
        [SEINE_BREAKER_HALF_OPEN] = "HalfOpen",     [SEINE_BREAKER_DISABLED] = "Disabled",
        [SEINE_BREAKER_FORCED_OPEN] = "ForcedOpen",
    };

    return state >= 0 && state <= SEINE_BREAKER_DISABLED ? names[state] : "Unknown";
}

seine_err
seine_breaker_can_execute(seine_breaker *b, seine_time now)
{
    sn_change change = {0};
    seine_permit permit;

    if (!b)
        return SEINE_OK;
    seine_err e = sn_breaker_acquire(b, now, true, &permit, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
    return e;
}

void
seine_breaker_record(seine_breaker *b, seine_outcome how, seine_time now)
{
    sn_change change = {0};

    if (!b || (unsigned)how > SEINE_IGNORED)
        return;
    record(b, (call){how, SEINE_OK, now, now}, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
}

void
seine_breaker_reset(seine_breaker *b)
{
    sn_change change = {0};

    if (!b)
        return;
    sn_breaker_reset(b, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
}

void
seine_breaker_force(seine_breaker *b, seine_breaker_state state, seine_time now)
{
    sn_change change = {0};

    if (!b || (unsigned)state > SEINE_BREAKER_DISABLED)
        return;
    enter(b, state, now, &change);
    sn_change_tell(b->opts, (seine_view){0}, &change);
}

static double
percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

void
seine_breaker_stats_get(const seine_breaker *b, seine_breaker_stats *out_stats)
{
    if (!out_stats)
        return;
    if (!b) {
        *out_stats = (seine_breaker_stats){.state = SEINE_BREAKER_DISABLED};
        return;
    }
    const body *s = seen(b);
    const sn_window *w = window_of(b);
    bool closed = s->state == SEINE_BREAKER_CLOSED;
    bool half_open = s->state == SEINE_BREAKER_HALF_OPEN;

    *out_stats = (seine_breaker_stats){
        .state = (seine_breaker_state)s->state,
        .why = (seine_err)s->why,
        .failures = closed ? s->run : 0,
        .half_open_successes = half_open ? s->run : 0,
        .half_open_active = s->active,
        .streak = s->streak,
        .last_failure_at = s->failed_at,
        .open_until = s->state == SEINE_BREAKER_OPEN ? s->open_until : 0,
        .generation = s->generation,
        .succeeded = s->succeeded,
        .failed = s->failed,
        .ignored = s->ignored,
        .slow = s->slow,
        .rejected = s->rejected,
        .late = s->late,
        .opened = s->opened,
        .failure_rate = w ? percent(w->failed, w->calls) : 0.0,
        .slow_rate = w ? percent(w->slow, w->calls) : 0.0,
    };
}
