/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pace.h"

#include "base/time.h"

#define LONG_AGO   INT64_MIN
#define LEAST_US   100
#define MOST_US    60000000u
#define CUT_SPACE  SEINE_SECS(1)
#define EPOCH_MOST SEINE_SECS(10)
#define HOLD_S     30u  /* after the first push-back of a series */
#define HOLD_MOST  600u /* and after the last */
#define HOLD_SLOW  SEINE_SECS(10)
#define KNEE_FOR   SEINE_SECS(300)
#define SLACK_US   50000u /* by which any median may exceed the double of the best */
#define QUOTA_MOST SEINE_SECS(24 * 3600)
#define QUICK      SEINE_MS(500) /* a response of a host that has nothing else to do */

enum { QUICK_OKS = 4, OKS = 8, MEDIANS = 16, RECENT = 20 };

_Static_assert(sizeof(sn_pace) == 168, "pace.h says so");

static uint32_t
min_us(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t
max_us(uint64_t a, uint64_t b)
{
    return (uint32_t)(a > b ? a : b);
}

static uint32_t
ceiling_of(const sn_pace *p)
{
    return max_us(MOST_US, p->floor_us);
}

void
sn_pace_init(sn_pace *p, uint32_t floor_us, uint32_t first_us, seine_time now)
{
    *p = (sn_pace){
        .last = LONG_AGO,
        .pause = LONG_AGO,
        .cut = LONG_AGO,
        .risen = LONG_AGO,
        .hold = LONG_AGO,
        .knee_until = LONG_AGO,
        .quota_until = LONG_AGO,
        .epoch = now,
        .floor_us = max_us(floor_us, LEAST_US),
        .hold_s = HOLD_S,
    };
    p->ivl_us = min_us(max_us(first_us, p->floor_us), ceiling_of(p));
}

void
sn_pace_init_off(sn_pace *p, uint32_t floor_us, seine_time now)
{
    sn_pace_init(p, floor_us, 0, now);
    p->floor_us = floor_us;
    p->ivl_us = 0;
}

void
sn_pace_welcome(sn_pace *p)
{
    p->quick_left = p->ivl_us > 0 ? QUICK_OKS : 0;
}

void
sn_pace_set_floor(sn_pace *p, uint32_t floor_us)
{
    if (p->ivl_us == 0) {
        p->floor_us = floor_us;
        return;
    }
    p->floor_us = max_us(floor_us, LEAST_US);
    p->ivl_us = min_us(max_us(p->ivl_us, p->floor_us), ceiling_of(p));
}

void
sn_pace_tune(sn_pace *p, uint32_t floor_us)
{
    sn_pace_set_floor(p, floor_us);
    if (p->ivl_us > 0 && p->knee_us == 0 && p->level == 0)
        p->ivl_us = p->floor_us;
}

void
sn_pace_slow(sn_pace *p, uint32_t at_least_us)
{
    if (p->ivl_us > 0)
        p->ivl_us = max_us(p->ivl_us, min_us(at_least_us, ceiling_of(p)));
}

static uint32_t
every_us(const sn_pace *p, seine_time now)
{
    uint32_t us = max_us(p->ivl_us, p->floor_us);

    return p->ivl_us > 0 && now < p->quota_until ? max_us(us, p->quota_us) : us;
}

seine_span
sn_pace_every(const sn_pace *p, seine_time now)
{
    return SEINE_US((seine_span)every_us(p, now));
}

seine_time
sn_pace_next(const sn_pace *p, seine_time now, uint64_t dice)
{
    seine_span every = sn_pace_every(p, now), jitter = 0;

    if (p->ivl_us > 0)
        jitter = (seine_span)((sn_u128)dice * (uint64_t)(every / 8 + 1) >> 64);
    return sn_time_add(p->last, every + jitter);
}

seine_time
sn_pace_start(sn_pace *p, seine_time now, uint64_t dice)
{
    p->last = now;
    return sn_pace_next(p, now, dice);
}

void
sn_pace_starve(sn_pace *p)
{
    p->starved = 1;
}

void
sn_pace_pause(sn_pace *p, seine_time until)
{
    p->pause = sn_time_max(p->pause, until);
}

/* The lowest median of the last epochs, in milliseconds. There is one. */
static uint32_t
base_ms(const sn_pace *p)
{
    uint32_t base = p->med_ms[0];

    for (int i = 1; i < p->n_med && i < MEDIANS; i++)
        base = min_us(base, p->med_ms[i]);
    return base;
}

/* Rounded up, so that the limit is never below what the responses need. */
static void
push_median(sn_pace *p, uint32_t us)
{
    p->med_ms[p->n_med % MEDIANS] =
        (uint16_t)min_us(((uint64_t)us + 999) / 1000, UINT16_MAX);
    p->n_med = p->n_med == 2 * MEDIANS - 1 ? MEDIANS : (uint8_t)(p->n_med + 1);
}

/* A push-back during a hold for slow responses or errors moves no knee; kept as one,
 * lest the hold be forgotten. */
static uint32_t
knee_to_keep(const sn_pace *p, seine_time now)
{
    if (now < p->hold)
        return p->knee_us > 0 ? p->knee_us : p->ivl_us;
    return now < p->knee_until ? p->knee_us : 0;
}

sn_pace_row
sn_pace_save(const sn_pace *p, seine_time now)
{
    return (sn_pace_row){
        every_us(p, now),
        knee_to_keep(p, now),
        p->n_med > 0 ? base_ms(p) * 1000 : 0,
        p->calm_us,
        p->recent,
        p->level,
    };
}

void
sn_pace_restore(sn_pace *p, uint32_t floor_us, const sn_pace_row *row, seine_time now)
{
    sn_pace_init(p, floor_us, row->ivl_us, now);
    p->last = now;
    p->quota_us = row->ivl_us; /* a quota may be slower than any interval of ours */
    p->quota_until = sn_time_add(now, SEINE_US((seine_span)row->ivl_us));
    if (row->knee_us > 0) { /* nobody remembers how far the series had gone */
        p->knee_us = row->knee_us;
        p->hold_s = HOLD_MOST;
        p->hold = sn_time_add(now, SEINE_SECS(HOLD_MOST));
        p->knee_until = sn_time_add(p->hold, KNEE_FOR);
    }
    p->calm_us = row->calm_us;
    p->recent = row->recent;
    p->level = row->level;
    if (row->recent != 0)
        p->hold = sn_time_max(p->hold, sn_time_add(now, SEINE_SECS(HOLD_S)));
    if (row->base_us > 0)
        push_median(p, row->base_us);
}

sn_pace_kind
sn_pace_judge(const seine_fault *f)
{
    switch (f->code) {
    case SEINE_E_CONN_STALE: /* the idle connection's fault, not the host's */
    case SEINE_E_DNS_TIMEOUT:
    case SEINE_E_PROXY_ERROR:
    case SEINE_E_PROXY_REFUSED:
    case SEINE_E_PROXY_AUTH:
    case SEINE_E_BAD_STATUS_LINE: /* no whole response, but no sign of weakness */
    case SEINE_E_BAD_HEADER:
    case SEINE_E_BAD_FRAMING:
        return SN_PACE_NONE;
    default:
        break;
    }
    switch (seine_err_group(f->code)) {
    case SEINE_OK:
    case SEINE_E_HTTP:
    case SEINE_E_HTTP_BUSY:
    case SEINE_E_PARSE:
        if (f->status == 429)
            return SN_PACE_PUSH;
        return f->status == 503 || (f->code == SEINE_E_HTTP_BUSY && f->status >= 500)
                   ? SN_PACE_FAIL
                   : SN_PACE_OK;
    case SEINE_E_TIMEOUT:
    case SEINE_E_CONNECT:
    case SEINE_E_RESET:
    case SEINE_E_SHORT:
        return f->phase == SEINE_PHASE_DNS || f->phase == SEINE_PHASE_PROXY
                   ? SN_PACE_NONE
                   : SN_PACE_FAIL;
    default:
        return SN_PACE_NONE;
    }
}

/* So long what comes in belongs to one event. */
static seine_span
event_span(const sn_pace *p)
{
    return sn_time_max(CUT_SPACE, SEINE_US(2 * (seine_span)p->srtt_us));
}

/* Twice as slow, at most once per event; the first cut of an event moves the knee. */
static void
push_back(sn_pace *p, seine_time now)
{
    if (now < sn_time_add(p->cut, event_span(p)))
        return;
    if (now >= p->hold) {
        bool series = p->knee_us > 0 && now < p->knee_until;

        p->hold_s = series ? min_us(HOLD_MOST, 2 * (uint64_t)p->hold_s) : HOLD_S;
        p->knee_us = series ? max_us(p->ivl_us, 3 * (uint64_t)p->knee_us / 2) : p->ivl_us;
    }
    p->ivl_us = min_us(2 * (uint64_t)p->ivl_us, ceiling_of(p));
    p->cut = now;
    p->hold = sn_time_add(now, SEINE_SECS(p->hold_s));
    p->knee_until = sn_time_add(p->hold, KNEE_FOR);
}

/* The upper one of the two in the middle. */
static uint32_t
median_ttfb(const sn_pace *p)
{
    uint32_t sorted[OKS] = {0};

    for (int i = 0; i < p->n_ok; i++) {
        int at = i;

        for (; at > 0 && sorted[at - 1] > p->ttfb_us[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = p->ttfb_us[i];
    }
    return sorted[p->n_ok / 2];
}

/* The interval without what failures add to it. */
static uint32_t *
own_us(sn_pace *p)
{
    return p->calm_us > 0 ? &p->calm_us : &p->ivl_us;
}

/* The interval of that level. */
static uint32_t
level_us(const sn_pace *p)
{
    return min_us((uint64_t)p->calm_us << p->level, ceiling_of(p));
}

/* Responses take longer than they should: by as much, at most the double. */
static void
slow_down(sn_pace *p, uint64_t m, uint64_t limit, seine_time now)
{
    uint32_t *own = own_us(p);

    if (now >= p->hold) {
        p->knee_us = *own;
        p->knee_until = sn_time_add(now, KNEE_FOR);
    }
    *own = min_us(*own * (m < 2 * limit ? m : 2 * limit) / limit, ceiling_of(p));
    p->ivl_us = max_us(p->ivl_us, level_us(p));
    p->hold = sn_time_max(p->hold, sn_time_add(now, HOLD_SLOW));
}

/* A third faster; near a knee in small steps, and never nearer than an eighth. */
static void
speed_up(sn_pace *p, seine_time now)
{
    if (now >= p->knee_until)
        p->knee_us = 0;

    uint32_t *own = own_us(p);
    uint64_t knee = p->knee_us, ivl = *own;
    uint32_t low = max_us(p->floor_us, 9 * knee / 8);
    if (ivl <= low)
        return;
    if (knee == 0 || 2 * ivl > 3 * knee)
        *own = max_us(low, 2 * ivl / 3);
    else
        *own = max_us(low, ivl * 16 * knee / (16 * knee + ivl));
}

/* In this epoch nothing got worse. Tells what may have changed the interval. */
static sn_pace_why
end_epoch(sn_pace *p, seine_time now)
{
    uint32_t m = median_ttfb(p);
    push_median(p, m);
    uint64_t limit = 2 * (uint64_t)base_ms(p) * 1000 + SLACK_US;
    if (m > limit) {
        slow_down(p, m, limit, now);
        return SN_PACE_LATENCY;
    }
    if (now >= p->hold && !p->starved)
        speed_up(p, now);
    return SN_PACE_RECOVERED;
}

/* Failures. */

static uint32_t
n_failed(const sn_pace *p)
{
    return (uint32_t)__builtin_popcount(p->recent & ((1u << RECENT) - 1));
}

/* The next level, twice as slow, at most once per event. */
static void
rise(sn_pace *p, seine_time now)
{
    static const uint8_t from[] = {1, 10, 15}; /* failures that lead to level i + 1 */

    if (p->level == sizeof from || n_failed(p) < from[p->level] ||
        now < sn_time_add(p->risen, event_span(p)))
        return;
    if (p->level++ == 0)
        p->calm_us = p->ivl_us;
    p->ivl_us = min_us(2 * (uint64_t)p->ivl_us, ceiling_of(p));
    p->risen = now;
    p->is_troubled = true;
}

/* The level of what is left of the failures; the steps are so that each level has two
 * good responses to get down by, and the last good one of twenty ends at the bottom. */
static void
sink(sn_pace *p)
{
    static const uint8_t upto[] = {1, 6, 12}; /* failures at which level i is enough */

    while (p->level > 0 && n_failed(p) <= upto[p->level - 1])
        p->level--;
    uint32_t want = level_us(p);
    if (p->ivl_us > want)
        p->ivl_us = max_us(want, 2 * (uint64_t)p->ivl_us / 3);
}

static void
note_failure(sn_pace *p, seine_time now)
{
    p->recent = p->recent << 1 | 1;
    rise(p, now);
}

/* From here on the host's own limit counts: the interval is not the failures' any more.
 */
static void
note_push(sn_pace *p, seine_time now)
{
    p->is_troubled = true;
    p->level = 0;
    p->recent = 0;
    p->calm_us = 0;
    push_back(p, now);
}

static void
note_success(sn_pace *p, seine_span ttfb)
{
    seine_span us = ttfb > 0 ? ttfb / 1000 : 0;
    int64_t t = min_us((uint64_t)us, UINT32_MAX), srtt = p->srtt_us;

    p->ttfb_us[p->n_ok++] = (uint32_t)t;
    p->srtt_us = (uint32_t)(srtt == 0 ? t : srtt + (t - srtt) / 8);
    p->recent <<= 1;
    if (p->calm_us == 0)
        return;
    sink(p);
    if (p->level == 0 && p->ivl_us <= p->calm_us) {
        p->calm_us = 0;
        p->is_troubled = true; /* one response shortens the interval once */
    }
}

/* Counts quick responses from the first on; any other response ends the welcome. */
static void
welcome(sn_pace *p, sn_pace_kind kind, seine_span ttfb)
{
    if (p->quick_left == 0)
        return;
    if (kind != SN_PACE_OK || ttfb >= QUICK)
        p->quick_left = 0;
    else if (--p->quick_left == 0)
        p->ivl_us = p->floor_us;
}

sn_pace_why
sn_pace_settle(sn_pace *p, sn_pace_kind kind, seine_span ttfb, seine_time now)
{
    sn_pace_why why = SN_PACE_SAME;
    uint32_t before = p->ivl_us;

    if (kind == SN_PACE_NONE || p->ivl_us == 0)
        return SN_PACE_SAME;
    if (kind == SN_PACE_PUSH) {
        note_push(p, now);
        why = SN_PACE_PUSHBACK;
    } else if (kind == SN_PACE_FAIL) {
        note_failure(p, now);
        why = SN_PACE_ERRORS;
    } else {
        note_success(p, ttfb);
        why = SN_PACE_RECOVERED;
    }
    welcome(p, kind, ttfb);

    bool is_end = p->n_ok == OKS || now >= sn_time_add(p->epoch, EPOCH_MOST);
    if (is_end && kind == SN_PACE_OK) {
        if (!p->is_troubled)
            why = end_epoch(p, now);
        p->epoch = now;
        p->n_ok = p->starved = 0;
        p->is_troubled = false;
    }
    return p->ivl_us != before ? why : SN_PACE_SAME;
}

void
sn_pace_quota(sn_pace *p, uint64_t left, seine_span reset, seine_time now)
{
    if (reset < 0 || reset > QUOTA_MOST)
        return;
    if (left == 0) {
        sn_pace_pause(p, sn_time_add(now, reset));
        return;
    }
    /* Nine tenths of it are ours; the rest is for whoever else counts. */
    sn_u128 parts = (sn_u128)9 * left * 1000,
            us = ((sn_u128)reset * 10 + parts - 1) / parts;

    p->quota_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
    p->quota_until = sn_time_add(now, reset);
}

bool
sn_pace_is_news(uint32_t from_us, uint32_t to_us)
{
    uint64_t change = from_us < to_us ? to_us - from_us : from_us - to_us;

    return 4 * change > from_us;
}

const char *
sn_pace_why_name(sn_pace_why why)
{
    static const char *const names[] = {
        [SN_PACE_SAME] = "same",           [SN_PACE_LATENCY] = "latency",
        [SN_PACE_ERRORS] = "errors",       [SN_PACE_PUSHBACK] = "pushback",
        [SN_PACE_RECOVERED] = "recovered",
    };

    return names[why];
}
