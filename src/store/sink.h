/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - the sinks of seine/sink.h, as the library itself uses them.
 *
 *     e = sn_sinks_commit(s);      records, lines and what the shards said are durable
 *
 * Time    plays no part.
 * Memory  of the sinks.
 * Threads any thread.
 */
#ifndef SN_SINK_H
#define SN_SINK_H

#include "seine/sink.h"

/* Drains, and ends the group of the job, where there is one: what was put before is
 * committed. Drain alone leaves it to the group, which ends in its time or at close. The
 * first error. */
SEINE_MUST_CHECK seine_err sn_sinks_commit(seine_sinks *s);

#endif
