/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/health_schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"

#define REMIND SEINE_SECS(300)

static bool
is_name(const char *name)
{
    size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;

    return n >= 1 && n <= 32 && name[n] == '\0';
}

bool
sn_health_find(const sn_health_schedule *s, const char *name, size_t *out_i)
{
    for (size_t i = 0; name && i < s->n; i++)
        if (strcmp(s->all[i].name, name) == 0) {
            *out_i = i;
            return true;
        }
    return false;
}

seine_err
sn_health_schedule_add(sn_health_schedule *s, const seine_health_check *c)
{
    size_t at;

    if (!is_name(c->name) || !c->fn || c->period <= 0 || c->timeout <= 0 ||
        c->period == SEINE_NEVER || c->timeout == SEINE_NEVER)
        return SEINE_E_INVAL;
    if (sn_health_find(s, c->name, &at))
        return SEINE_E_ALREADY;
    if (s->n == SEINE_HEALTH_MAX)
        return SEINE_E_FULL;
    sn_health_entry *e = &s->all[s->n++];
    *e = (sn_health_entry){.fn = c->fn,
                           .arg = c->arg,
                           .period = c->period,
                           .timeout = c->timeout,
                           .critical = c->critical};
    snprintf(e->name, sizeof e->name, "%s", c->name);
    return SEINE_OK;
}

static seine_time
late_at(const sn_health_entry *e)
{
    return sn_time_add(e->began, e->timeout);
}

bool
sn_health_take(sn_health_schedule *s, seine_time now, uint64_t dice, size_t *out_i)
{
    sn_health_entry *best = NULL;

    for (size_t i = 0; i < s->n; i++) {
        sn_health_entry *e = &s->all[i];

        if (!e->running && e->next <= now && (!best || e->next < best->next))
            best = e;
    }
    if (!best)
        return false;
    seine_span tenth = best->period / 10;
    best->running = true;
    best->hung = false;
    best->began = now;
    best->next = sn_time_add(now, best->period - tenth +
                                      (seine_span)(dice % (uint64_t)(2 * tenth + 1)));
    *out_i = (size_t)(best - s->all);
    return true;
}

static void
say_late(const sn_health_entry *e, seine_health_result *out_r)
{
    *out_r = (seine_health_result){
        .status = SEINE_HEALTH_UNKNOWN, .at = late_at(e), .took = e->timeout};
    if (e->timeout % SEINE_SECS(1) == 0)
        snprintf(out_r->reason, sizeof out_r->reason, "timed out after %lld s",
                 (long long)(e->timeout / SEINE_SECS(1)));
    else
        snprintf(out_r->reason, sizeof out_r->reason, "timed out after %lld ms",
                 (long long)(e->timeout / SEINE_MS(1)));
}

static bool
is_late(const sn_health_entry *e, seine_time now)
{
    return e->running && !e->hung && now >= late_at(e);
}

bool
sn_health_expire(sn_health_schedule *s, seine_time now, size_t *out_i)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_late(&s->all[i], now)) {
            s->all[i].hung = true;
            s->all[i].has_result = true;
            say_late(&s->all[i], &s->all[i].last);
            *out_i = i;
            return true;
        }
    return false;
}

bool
sn_health_finish(sn_health_schedule *s, size_t i, const seine_health_result *r,
                 seine_time now)
{
    sn_health_entry *e = &s->all[i];
    bool in_time = !e->hung && now < late_at(e);

    e->has_result = true;
    if (in_time)
        e->last = *r;
    else if (!e->hung)
        say_late(e, &e->last);
    if (in_time) {
        e->last.at = now;
        e->last.took = now - e->began;
        e->last.reason[sizeof e->last.reason - 1] = '\0';
    }
    if (in_time && r->status == SEINE_HEALTH_HEALTHY)
        e->last.reason[0] = '\0';
    e->running = e->hung = false;
    return in_time;
}

seine_time
sn_health_next_due(const sn_health_schedule *s)
{
    seine_time next = SEINE_NEVER;

    for (size_t i = 0; i < s->n; i++)
        if (!s->all[i].running)
            next = sn_time_min(next, s->all[i].next);
    return next;
}

seine_time
sn_health_next_late(const sn_health_schedule *s)
{
    seine_time next = SEINE_NEVER;

    for (size_t i = 0; i < s->n; i++)
        if (s->all[i].running && !s->all[i].hung)
            next = sn_time_min(next, late_at(&s->all[i]));
    return next;
}

/* When a result is too old to say anything: kept for two periods and a time limit. */
static seine_span
kept_for(const sn_health_entry *e)
{
    return sn_time_add(sn_time_add(e->period, e->period), e->timeout);
}

void
sn_health_see(const sn_health_schedule *s, size_t i, seine_time now,
              seine_health_result *out_r)
{
    const sn_health_entry *e = &s->all[i];

    if (is_late(e, now)) {
        say_late(e, out_r);
        return;
    }
    *out_r = e->last;
    if (s->no_worker && !e->running) {
        out_r->status = SEINE_HEALTH_UNKNOWN;
        snprintf(out_r->reason, sizeof out_r->reason, "no worker");
    } else if (!e->has_result) {
        out_r->status = SEINE_HEALTH_UNKNOWN;
        snprintf(out_r->reason, sizeof out_r->reason, "not checked yet");
    } else if (now - e->last.at > kept_for(e) && !e->hung) {
        out_r->status = SEINE_HEALTH_UNKNOWN;
        snprintf(out_r->reason, sizeof out_r->reason, "last result is %lld s old",
                 (long long)((now - e->last.at) / SEINE_SECS(1)));
    }
}

bool
sn_health_must_tell(sn_health_schedule *s, size_t i, seine_time now,
                    seine_health_result *out_r)
{
    sn_health_entry *e = &s->all[i];
    seine_health_result r;

    sn_health_see(s, i, now, &r);
    if (!e->has_result && !s->no_worker)
        return false;
    bool is_new = !e->is_told || e->told != r.status;
    bool lasts =
        r.status != SEINE_HEALTH_HEALTHY && e->is_told && now - e->told_at >= REMIND;
    if (!is_new && !lasts)
        return false;
    e->is_told = true;
    e->told = r.status;
    e->told_at = now;
    *out_r = r;
    return true;
}
