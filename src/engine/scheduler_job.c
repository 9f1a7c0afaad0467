/* SPDX-License-Identifier: Apache-2.0 */
/* What the job keeps of a host, so that a later run asks it no earlier than this one
 * would have. A row is written when something slows the host down, and otherwise at most
 * once a second. */
#include "base/alloc.h"
#include "engine/scheduler_parts.h"
#include "guard/breaker.h"

#define OFTEN    SEINE_SECS(1)
#define LONGEST  SEINE_SECS(24 * 3600) /* a moment further ahead is no moment */
#define FEW      4096                  /* hosts whose learned pace comes back */
#define IS_GIVEN 1

void
sn_scheduler_set_lane(sn_scheduler *s, sn_job_lane *lane)
{
    s->lane = lane;
}

/* Room for the moment of the last row of each host. */
static bool
reserve_saved(sn_scheduler *s)
{
    if (s->hosts.n <= s->n_saved)
        return true;
    seine_time *more = sn_realloc(s->saved, s->hosts.room * sizeof *more);
    if (!more)
        return false;
    s->saved = more;
    for (; s->n_saved < s->hosts.room; s->n_saved++)
        s->saved[s->n_saved] = INT64_MIN;
    return true;
}

typedef struct moment {
    seine_time now;
    int64_t wall, up;
    int64_t boot;
} moment;

/* The three clocks side by side. The time of the turn is older than the others: a pause
 * that is counted from it would end too early. */
static moment
read_clocks(const sn_scheduler *s, seine_time now)
{
    seine_clock *clock = s->shared->opts.clock;
    moment m = {.wall = clock->wall(clock),
                .up = sn_time_up(clock),
                .boot = sn_job_boot(s->shared->job)};

    m.now = sn_time_max(now, clock->now(clock));
    return m;
}

/* The wall time of a moment in ms, rounded up; 0: it has passed. */
static int64_t
wall_of(const moment *m, seine_time at)
{
    if (at <= m->now || at == SEINE_NEVER)
        return 0;
    return (m->wall + sn_time_min(at - m->now, LONGEST) + SEINE_MS(1) - 1) / SEINE_MS(1);
}

/* How long ago the row was made. Wall time may have been set since then, so it counts
 * only if the machine was started anew, and never backwards. */
static int64_t
age_of(const sn_job_host *row, const moment *m)
{
    int64_t up = sn_time_sub(m->up / SEINE_MS(1), row->up_ms);
    int64_t wall = sn_time_sub(m->wall / SEINE_MS(1), row->saved_ms);

    if (row->boot == m->boot && up >= 0)
        return up;
    return wall > 0 ? wall : 0;
}

/* Until when, of a wall time in that row; `now` if it has passed. */
static seine_time
moment_of(const sn_job_host *row, const moment *m, int64_t wall_ms)
{
    seine_span ahead = sn_time_sub(sn_time_sub(wall_ms, row->saved_ms), age_of(row, m));

    if (wall_ms == 0 || ahead <= 0)
        return m->now;
    return m->now + (ahead < LONGEST / SEINE_MS(1) ? SEINE_MS(ahead) : LONGEST);
}

static void
fill_guards(const sn_guards *g, const moment *m, sn_job_host *row)
{
    sn_pace_row pace = sn_pace_save(&g->pace, m->now);
    seine_breaker_stats b = {.state = SEINE_BREAKER_CLOSED};

    row->pause_ms = wall_of(m, g->pace.pause);
    row->interval_us = pace.ivl_us;
    row->knee_us = pace.knee_us;
    row->base_us = pace.base_us;
    row->calm_us = pace.calm_us;
    row->recent = pace.recent;
    row->level = pace.level;
    if (g->set.breaker)
        seine_breaker_stats_get(&g->breaker, &b);
    row->breaker = b.state;
    row->streak = b.streak;
    if (b.state == SEINE_BREAKER_OPEN)
        row->open_ms = wall_of(m, b.open_until);
}

static void
save_row(sn_scheduler *s, uint32_t host, int64_t flags, seine_time now)
{
    const sn_host *h = &s->hosts.all[host];
    moment m = read_clocks(s, now);
    sn_job_host row = {.name = sn_hosts_name(&s->hosts, host)};

    s->saved[host] = now;
    row.saved_ms = m.wall / SEINE_MS(1);
    row.up_ms = m.up / SEINE_MS(1);
    row.boot = m.boot;
    row.next_ms = wall_of(&m, h->next);
    row.delay_ms = s->hosts.cards[host].delay_ms;
    row.zone = h->pin;
    row.flags = flags | (h->is_given ? IS_GIVEN : 0);
    if (h->guards != SN_NONE)
        fill_guards(sn_hosts_guards(&s->hosts, host), &m, &row);
    seine_err e = sn_job_host_put(s->lane, &row);
    if (e != SEINE_OK)
        s->lane_err = e;
}

void
sn_scheduler_save(sn_scheduler *s, uint32_t host, bool at_once, seine_time now)
{
    if (!reserve_saved(s))
        s->lane_err = SEINE_E_NOMEM;
    else if (at_once || s->saved[host] <= now - OFTEN)
        save_row(s, host, 0, now);
}

void
sn_scheduler_keep(sn_scheduler *s, uint32_t host, seine_time now)
{
    if (!reserve_saved(s))
        s->lane_err = SEINE_E_NOMEM;
    else if (s->lane)
        save_row(s, host, SN_JOB_HOST_AWAITED, now);
}

seine_err
sn_scheduler_lane_err(const sn_scheduler *s)
{
    return s->lane_err;
}

/* Coming back. */

bool
sn_scheduler_row_is_given(const sn_job_host *row)
{
    return (row->flags & IS_GIVEN) != 0;
}

/* The first request is a whole interval away, or further. */
static void
restore_next(sn_scheduler *s, uint32_t host, const sn_job_host *row, const moment *m)
{
    sn_host *h = &s->hosts.all[host];

    if (row->boot != 0) /* else a URL of it was found, and nobody has asked it */
        h->pin = (uint8_t)row->zone;
    const sn_host_policy *p = sn_hosts_policy(&s->hosts, host);
    seine_obey robots = p ? p->robots : s->shared->opts.robots;
    if (robots == SEINE_OBEY_ON && row->delay_ms > 0) {
        s->hosts.cards[host].delay_ms = (uint32_t)row->delay_ms;
        h->is_delayed = true;
        sn_hosts_retune(&s->hosts, host, m->now); /* it may have been ours before */
    }
    if (sn_hosts_is_mine(&s->hosts, h))
        return;
    seine_span every =
        sn_time_max(sn_hosts_every(&s->hosts, host), SEINE_US(row->interval_us));
    h->next = sn_time_max(h->next, sn_time_add(m->now, every));
    h->next = sn_time_max(h->next, moment_of(row, m, row->next_ms));
}

static void
restore_pace(sn_guards *g, const sn_job_host *row, seine_time now)
{
    sn_pace_row pace = {.ivl_us = (uint32_t)row->interval_us,
                        .knee_us = (uint32_t)row->knee_us,
                        .base_us = (uint32_t)row->base_us,
                        .calm_us = (uint32_t)row->calm_us,
                        .recent = (uint32_t)row->recent,
                        .level = (uint8_t)row->level};

    if (g->pace.ivl_us > 0 && row->interval_us > 0)
        sn_pace_restore(&g->pace, g->pace.floor_us, &pace, now);
}

static bool
has_open_breaker(const sn_job_host *row)
{
    return row->breaker == SEINE_BREAKER_OPEN || row->breaker == SEINE_BREAKER_HALF_OPEN;
}

/* Has it more to say than a new host? */
static bool
is_special(const sn_job_host *row, const moment *m)
{
    return moment_of(row, m, row->pause_ms) > m->now || has_open_breaker(row) ||
           row->knee_us > 0 || row->level > 0 || row->interval_us > 1000000;
}

/* It is open for the rest alone; if that is over the next request is a probe. Probes that
 * have failed count on, so that a host that is down is given up as in one run. */
static void
restore_breaker(sn_guards *g, const sn_job_host *row, const moment *m)
{
    seine_time open = moment_of(row, m, row->open_ms);

    if (!g->set.breaker || !has_open_breaker(row))
        return;
    seine_time opened = sn_time_sub(open, g->breaker.opts->open_for);
    seine_breaker_force(&g->breaker, SEINE_BREAKER_OPEN, sn_time_min(opened, m->now));
    if (open > m->now)
        seine_breaker_hold(&g->breaker, open, m->now);
    sn_breaker_of(&g->breaker)->streak =
        row->streak > 0 && row->streak < UINT32_MAX ? (uint32_t)row->streak : 0;
}

static void
restore_brakes(sn_scheduler *s, uint32_t host, sn_guards *g, const sn_job_host *row,
               const moment *m)
{
    seine_time pause = moment_of(row, m, row->pause_ms);

    if (pause > m->now) {
        g->retry_after = 1;
        sn_pace_pause(&g->pace, pause);
    }
    restore_breaker(g, row, m);
    if (pause - m->now > sn_hosts_max_retry_after(&s->hosts, host))
        sn_scheduler_park(s, host, SEINE_E_RETRY_AFTER_TOO_LONG, pause);
}

seine_err
sn_scheduler_restore(sn_scheduler *s, const sn_job_host *row, seine_time now)
{
    char mem[SN_HOST_NAME + 2];
    moment m = read_clocks(s, now);
    seine_url url;
    sn_guards *g;
    uint32_t host;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, row->name.ptr, row->name.len, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = sn_hosts_find(&s->hosts, &url, now, &host);
    if (e != SEINE_OK)
        return e;
    if (sn_scheduler_row_is_given(row))
        sn_hosts_set_given(&s->hosts, host, now);
    restore_next(s, host, row, &m);
    if (!is_special(row, &m) &&
        (s->hosts.guards_used >= FEW || sn_hosts_is_mine(&s->hosts, &s->hosts.all[host])))
        return SEINE_OK;
    e = sn_hosts_guard(&s->hosts, host, now, &g);
    if (e != SEINE_OK)
        return e;
    restore_pace(g, row, now);
    restore_brakes(s, host, g, row, &m);
    return SEINE_OK;
}
