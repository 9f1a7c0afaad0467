/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_breaker.h - is this proxy worth asking at all?
 *
 * Every proxy has a breaker with the settings of those of hosts. Failures of a proxy
 * count here and nowhere else: not at the site's breaker, limiter or pace. While the
 * breaker is open, visits wait until the proxy may be probed, and no attempt is counted.
 * After `park` failed probes in a row the proxy is given up for this run, and all visits
 * that would go through it end.
 *
 *     e = sn_proxy_breakers_begin(&proxy_breakers, proxy, now, &permit, &at);
 *     if (e == SEINE_E_BREAKER)                come back at `at`
 *         wait_until(at);
 *     if (e == SEINE_E_PROXY_ERROR)            the proxy is given up
 *         give_up();
 *     sn_proxy_breakers_end(&proxy_breakers, proxy, &permit, &end, now);
 *
 * | the attempt                                        | says of the proxy |
 * | it did its part, or said that it will not          | success           |
 * | not reached, no sense, no response, no login       | failure           |
 * | cancelled, our own limits, nothing learned         | nothing           |
 *
 * Time    is passed in.
 * Memory  128 bytes per proxy.
 * Threads one owner: each shard counts for itself, so there is no lock; a dead proxy is
 *         found out by each of them.
 */
#ifndef SN_PROXY_BREAKER_H
#define SN_PROXY_BREAKER_H

#include "net/proxy.h"
#include "net/transport.h"
#include "seine/breaker.h"
#include "seine/fetch.h"

typedef struct sn_proxy_breakers {
    const seine_fetch_opts *opts;
    seine_breaker_opts how;
    seine_breaker breakers[SN_PROXIES_MOST];
    uint8_t n; /* made; 0: breakers are off */
    bool given_up[SN_PROXIES_MOST];
} sn_proxy_breakers;

/* The options are borrowed; it may not be moved afterwards. NOMEM. */
SEINE_MUST_CHECK seine_err sn_proxy_breakers_init(sn_proxy_breakers *v,
                                                  const seine_fetch_opts *opts);
void sn_proxy_breakers_fini(sn_proxy_breakers *v);

SEINE_MUST_CHECK seine_err sn_proxy_breakers_begin(sn_proxy_breakers *v,
                                                   const sn_proxy *proxy, seine_time now,
                                                   seine_permit *out_permit,
                                                   seine_time *out_at);

/* A permit that is not held is fine, whatever the rest. `end` NULL: it was not asked
 * after all. */
void sn_proxy_breakers_end(sn_proxy_breakers *v, const sn_proxy *proxy,
                           seine_permit *permit, const sn_end *end, seine_time now);

#endif
