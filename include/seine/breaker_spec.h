/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker_spec.h - which circuit breaker did somebody type?
 *
 *     fail=5,open=60s            five failures in a row open it for a minute
 *     rate=50%,min=10,window=50  half of the last 50 calls, once there were 10
 *     off                        never opens
 *
 *     key       value     sets
 *     fail      count     failure_threshold
 *     rate      share     failure_pct; without fail=, failure_threshold becomes 0
 *     min       1..1024   min_calls
 *     window    1..1024   window_calls; with rate= and without it: 100
 *     open      span      open_for
 *     max-open  span      open_max; without it: at least open_for
 *     probes    1..64     half_open_max
 *     close     count     success_threshold
 *     park      count     *park: failed probes after which a host is given up
 *
 * Values are typed as units.h reads them:
 *
 *     seine_breaker_opts opts = SEINE_BREAKER_OPTS;
 *     seine_diag diag = SEINE_DIAG;
 *     if (seine_breaker_spec("fail=5,open=60s", &opts, NULL, &diag) != SEINE_OK)
 *         puts(diag.text);
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SEINE_BREAKER_SPEC_H
#define SEINE_BREAKER_SPEC_H

#include "seine/breaker.h"
#include "seine/diag.h"

SEINE_BEGIN

/* Changes what the specification names in *opts and *park (NULL: "park" is unknown) and
 * leaves the rest. CONFIG, and nothing changed: `diag` has the key as its member, if one
 * is wrong, and says why. */
SEINE_MUST_CHECK seine_err seine_breaker_spec(const char *text, seine_breaker_opts *opts,
                                              uint32_t *park, seine_diag *diag);

SEINE_END

#endif
