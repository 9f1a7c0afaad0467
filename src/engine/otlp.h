/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.h - the exporter of seine/otlp.h as the engine sees it, and when it tries again.
 *
 *     sn_otlp_put(o, &span);                            never waits
 *
 * Time    the retry's is passed in.
 * Memory  the ring's.
 * Threads any thread.
 */
#ifndef SN_OTLP_H
#define SN_OTLP_H

#include "base/span_ring.h"
#include "seine/otlp.h"

void sn_otlp_put(seine_otlp *o, const sn_span *span);

/* Is this trace one of the share that is kept? Its last seven bytes decide, as everywhere
 * in OpenTelemetry. */
bool sn_otlp_samples(const seine_otlp *o, const uint8_t trace[16]);
uint32_t sn_otlp_failed_rate(const seine_otlp *o);
bool sn_otlp_is_away(const seine_otlp *o); /* it did not take the last batch */

/* The retry of a batch. */
typedef struct sn_otlp_retry {
    uint32_t tries;   /* that have failed */
    seine_time began; /* of the first */
} sn_otlp_retry;

/* May this answer pass? Status 0: there was none. */
bool sn_otlp_may_pass(unsigned status);

/* A try has failed: when is the next? False: the batch is given up, after five tries or
 * a minute. `asked` is Retry-After, below 0: none. */
bool sn_otlp_again(sn_otlp_retry *r, seine_time now, seine_span asked, uint64_t dice,
                   seine_time *out_at);

#endif
