/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_metrics.h - what outputs have written, as metrics.
 *
 * Formats count their own records and bytes; the sink thread tells the differences after
 * each flush. NULL metrics count nothing.
 *
 *     e = sn_sink_metrics_new(registry, &m);
 *     sn_sink_metrics_flushed(m, outs, n_outs);         on the sink thread
 *
 * Time    spans come from the caller.
 * Memory  the registry's, and one table of handles.
 * Threads any thread.
 */
#ifndef SN_SINK_METRICS_H
#define SN_SINK_METRICS_H

#include "seine/metrics.h"
#include "store/out.h"

typedef struct sn_sink_metrics sn_sink_metrics;

/* The registry owns it and has one. What registering says. */
SEINE_MUST_CHECK seine_err sn_sink_metrics_new(seine_metrics *registry,
                                               sn_sink_metrics **out_metrics);

/* Adds what the outputs have written since they were told last. */
void sn_sink_metrics_flushed(sn_sink_metrics *m, sn_out *outs, size_t n);
void sn_sink_metrics_failed(sn_sink_metrics *m, const sn_out *o);
void sn_sink_metrics_committed(sn_sink_metrics *m, seine_span took);

/* Bytes that wait in the rings of the shards, and all that have room there. */
void sn_sink_metrics_waiting(sn_sink_metrics *m, uint64_t records);

#endif
