/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traceparent.h - the trace that a request belongs to, from its field `traceparent`
 * (W3C Trace Context, level 1).
 *
 *     if (!sn_traceparent_read(text, trace, parent)) …        a trace of its own
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_TRACEPARENT_H
#define SN_TRACEPARENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* False, and nothing is written: there is none that counts. */
bool sn_traceparent_read(sn_str text, uint8_t out_trace[16], uint8_t out_parent[8]);

#endif
