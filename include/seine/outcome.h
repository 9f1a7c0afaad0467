/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - what the end of an attempt tells the guards.
 *
 * Breaker and throttle do not look at errors: they get one of three outcomes. For the
 * breaker a 5xx worth retrying and a broken or missing response are failures, and every
 * other response is a success. An attempt that never reached the host, that we refuse to
 * trust, or that we ended ourselves is ignored. For the throttle pressure is a failure:
 * 429, 503, timeouts and broken connections.
 *
 *     permit.why = (uint16_t)fault.code;
 *     e = seine_breaker_settle(b, &permit, seine_outcome_breaker(&fault), now);
 *     e = seine_throttle_release(&slot, seine_outcome_throttle(&fault), now);
 *
 * An error, however fast, never raises a rate or a limit.
 *
 * Time    plays no part.
 * Memory  plain values.
 * Threads any thread.
 */
#ifndef SEINE_OUTCOME_H
#define SEINE_OUTCOME_H

#include <stdbool.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/time.h"

typedef enum seine_outcome {
    SEINE_SUCCESS,
    SEINE_FAILURE,
    SEINE_IGNORED /* says nothing about the host */
} seine_outcome;

SEINE_BEGIN

seine_outcome seine_outcome_breaker(const seine_fault *f);
seine_outcome seine_outcome_throttle(const seine_fault *f);

/* How long every caller should leave the host alone: the Retry-After of a 429, 503, 413
 * or 3xx; -1: none. */
seine_span seine_outcome_pause(const seine_fault *f);

/* May the tokens be given back? True when the attempt ended before anything was sent and
 * for our own reasons. */
bool seine_outcome_undo(const seine_fault *f);

SEINE_END

#endif
