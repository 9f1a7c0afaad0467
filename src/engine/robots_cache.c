/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/robots_cache.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/time.h"
#include "text/robots.h"

#define GOOD_FOR SEINE_SECS(24 * 3600)
#define FIRST    SEINE_SECS(60)
#define LONGEST  SEINE_SECS(3600)

void
sn_robots_cache_fini(sn_robots_cache *r)
{
    seine_robots_free(r->robots);
    *r = (sn_robots_cache){0};
}

/* Can nothing be had of the host, ever? Then there are no rules to break either. */
static bool
is_nowhere(seine_err e)
{
    switch (seine_err_group(e)) {
    case SEINE_E_DNS:
    case SEINE_E_TLS:
        return true;
    default:
        return e == SEINE_E_BLOCKED_ADDRESS || e == SEINE_E_BLOCKED_PORT;
    }
}

/* RFC 9309, 2.3.1.3: a redirect that leads nowhere is "unavailable". Where we gave up
 * ourselves the status is that of a hop, and says nothing. */
static bool
is_unavailable(const seine_fault *f)
{
    bool is_whole = f->code == SEINE_OK || f->code == SEINE_E_HTTP;
    bool is_4xx = f->status >= 400 && f->status < 500 && f->status != 429;
    bool is_3xx = f->status >= 300 && f->status < 400;

    return f->code == SEINE_E_TOO_MANY_REDIRECTS || f->code == SEINE_E_BAD_REDIRECT ||
           f->code == SEINE_E_REDIRECT_REFUSED || f->code == SEINE_E_BLOCKED_SCHEME ||
           (is_4xx && seine_err_class(f->code) != SEINE_LOCAL) || (is_3xx && is_whole);
}

void
sn_robots_cache_fail(sn_robots_cache *r, seine_time now)
{
    seine_span wait = FIRST;

    for (unsigned i = 0; i < r->failures && wait < LONGEST; i++)
        wait *= 2;
    if (r->failures < UINT8_MAX)
        r->failures++;
    r->state = SN_ROBOTS_UNREACHABLE;
    r->until = sn_time_add(now, sn_time_min(wait, LONGEST));
}

static void
set_state(sn_robots_cache *r, sn_robots_state state, seine_time now)
{
    r->state = (uint8_t)state;
    r->failures = 0;
    r->until = sn_time_add(now, GOOD_FOR);
}

/* Is the file whole, or cut off by us at its limit? */
static bool
is_whole_file(const seine_fault *end, sn_str body)
{
    bool ok = end->status >= 200 && end->status < 300;

    return ok && (end->code == SEINE_OK || body.len >= SEINE_ROBOTS_BYTES);
}

void
sn_robots_cache_ignore(sn_robots_cache *r, seine_time now)
{
    seine_robots_free(SN_STEAL(r->robots));
    set_state(r, SN_ROBOTS_ABSENT, now);
}

void
sn_robots_cache_settle(sn_robots_cache *r, const seine_fault *end, sn_str body,
                       const char *agent, seine_time now)
{
    seine_robots *robots;

    if (is_whole_file(end, body)) {
        seine_err e = agent ? seine_robots_new_for(body.ptr, body.len, agent, &robots)
                            : seine_robots_new(body.ptr, body.len, &robots);

        if (e != SEINE_OK) {
            sn_robots_cache_fail(r, now);
            return;
        }
        seine_robots_free(r->robots);
        r->robots = robots;
        set_state(r, SN_ROBOTS_PARSED, now);
    } else if (is_unavailable(end) || is_nowhere(end->code)) {
        sn_robots_cache_ignore(r, now);
    } else {
        sn_robots_cache_fail(r, now);
    }
}

bool
sn_robots_cache_expire(sn_robots_cache *r, seine_time now)
{
    if ((r->state != SN_ROBOTS_PARSED && r->state != SN_ROBOTS_ABSENT) || now < r->until)
        return r->state == SN_ROBOTS_UNKNOWN;
    r->state = SN_ROBOTS_UNKNOWN;
    return true;
}

bool
sn_robots_cache_allow(const sn_robots_cache *r, const char *agent, sn_str target,
                      seine_robots_verdict *out_verdict, uint64_t *io_steps)
{
    *out_verdict = (seine_robots_verdict){.allowed = true};
    if (r->state == SN_ROBOTS_PARSED)
        *io_steps += sn_robots_judge(r->robots, agent, target, out_verdict);
    return out_verdict->allowed;
}

size_t
sn_robots_cache_bytes(const sn_robots_cache *r)
{
    return r->robots ? sn_robots_bytes(r->robots) : 0;
}

size_t
sn_robots_cache_rule(const seine_robots_verdict *v, char out[SN_ROBOTS_RULE])
{
    int n = v->is_over ? snprintf(out, SN_ROBOTS_RULE,
                                  "robots.txt: its rules take more than %d "
                                  "steps",
                                  SN_ROBOTS_STEPS)
                       : snprintf(out, SN_ROBOTS_RULE, "robots.txt:%u %.*s", v->line,
                                  (int)(v->rule.len < 200 ? v->rule.len : 200),
                                  v->rule.ptr ? v->rule.ptr : "");

    return (size_t)n;
}

seine_span
sn_robots_cache_delay(const sn_robots_cache *r, const char *agent, seine_span longest,
                      bool *out_cut)
{
    int64_t delay =
        r->state == SN_ROBOTS_PARSED ? seine_robots_delay(r->robots, agent) : 0;

    *out_cut = delay > longest;
    return delay <= 0 ? 0 : *out_cut ? longest : delay;
}
