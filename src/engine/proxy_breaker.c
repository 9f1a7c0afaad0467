/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/proxy_breaker.h"

#include "base/log.h"
#include "base/time.h"

#define PATIENCE SEINE_SECS(1) /* while a probe is under way */

seine_err
sn_proxy_breakers_init(sn_proxy_breakers *v, const seine_fetch_opts *opts)
{
    seine_err e = SEINE_OK;

    *v = (sn_proxy_breakers){.opts = opts, .how = opts->breaker};
    v->how.on_change = NULL; /* that is for hosts */
    if (opts->breaker.failure_threshold == 0 && opts->breaker.failure_pct == 0)
        return SEINE_OK;
    while (v->n < SN_PROXIES_MOST && e == SEINE_OK) {
        e = seine_breaker_init(&v->breakers[v->n], &v->how);
        if (e == SEINE_OK)
            v->n++;
    }
    if (e != SEINE_OK)
        sn_proxy_breakers_fini(v);
    return e;
}

void
sn_proxy_breakers_fini(sn_proxy_breakers *v)
{
    while (v->n > 0)
        seine_breaker_fini(&v->breakers[--v->n]);
}

seine_err
sn_proxy_breakers_begin(sn_proxy_breakers *v, const sn_proxy *proxy, seine_time now,
                        seine_permit *out_permit, seine_time *out_at)
{
    *out_permit = (seine_permit){0};
    if (v->n == 0)
        return SEINE_OK;
    if (v->given_up[proxy->index])
        return SEINE_E_PROXY_ERROR;

    seine_breaker *b = &v->breakers[proxy->index];
    seine_err e = seine_breaker_acquire(b, now, out_permit);
    if (e != SEINE_OK) {
        *out_at = seine_breaker_when(b, now);
        if (seine_breaker_state_get(b) == SEINE_BREAKER_HALF_OPEN || *out_at <= now)
            *out_at = sn_time_add(now, PATIENCE); /* it may close at any moment */
    }
    return e;
}

/* What changed is said once, not per URL. */
static void
log_change(const sn_proxy_breakers *v, const sn_proxy *proxy, seine_breaker_state was,
           seine_breaker_state is, seine_err why)
{
    if (v->given_up[proxy->index])
        SN_SAY(v->opts->log, WARN, "proxy.parked", "proxy given up for this run",
               SN_S("proxy", proxy->shown), SN_E("err", why));
    else if (is == SEINE_BREAKER_OPEN && was == SEINE_BREAKER_CLOSED)
        SN_SAY(v->opts->log, WARN, "proxy.open", "proxy left alone for a while",
               SN_S("proxy", proxy->shown), SN_E("err", why));
    else if (is == SEINE_BREAKER_CLOSED && was != SEINE_BREAKER_CLOSED)
        SN_LOG(v->opts->log, INFO, "proxy.closed", SN_S("proxy", proxy->shown));
}

void
sn_proxy_breakers_end(sn_proxy_breakers *v, const sn_proxy *proxy, seine_permit *permit,
                      const sn_end *end, seine_time now)
{
    static const seine_outcome said[] = {[SN_PROXY_NONE] = SEINE_IGNORED,
                                         [SN_PROXY_GOOD] = SEINE_SUCCESS,
                                         [SN_PROXY_BAD] = SEINE_FAILURE};
    seine_breaker_stats stats;

    if (!permit->held)
        return;
    seine_breaker *b = &v->breakers[proxy->index];
    seine_breaker_state was = seine_breaker_state_get(b);
    if (end)
        permit->why = (uint16_t)end->fault.code;
    seine_err e =
        seine_breaker_settle(b, permit, said[end ? end->via : SN_PROXY_NONE], now);
    seine_breaker_stats_get(b, &stats);
    if (e != SEINE_OK || stats.state == was)
        return;
    if (stats.state == SEINE_BREAKER_OPEN && v->opts->park > 0 &&
        stats.streak >= v->opts->park)
        v->given_up[proxy->index] = true;
    log_change(v, proxy, was, stats.state, stats.why);
}
