/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - what the end of an attempt tells the guards.
 *
 * Breaker and throttle do not look at errors, they hear one of three words. The
 * rule behind the breaker's word: a 5xx worth retrying, or a broken or missing
 * answer, is a failure; every other answer is a success; what never reached the
 * host, what we refuse to trust and what is our own doing is ignored. The
 * throttle hears about pressure: 429, 503, time-outs and broken connections.
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

/* How long the host wants to be left alone by everybody: the Retry-After of a
 * 429, 503, 413 or 3xx; -1: it does not say. */
seine_span seine_outcome_pause(const seine_fault *f);

/* The attempt ended before anything was sent and for our own reasons: its tokens
 * may be given back. */
bool seine_outcome_undo(const seine_fault *f);

SEINE_END

#endif
