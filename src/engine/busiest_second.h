/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busiest_second.h - how many of these events fell into the busiest second?
 *
 * The second slides: it ends at any event and reaches back over everything that is less
 * than a second older. Up to 64 events in a second are kept one by one, and the count is
 * exact. Above that, events that are close become one run that knows its first moment,
 * its last and their number. Of a run that lies partly within the second, the share that
 * belongs to it is computed as if its events were spread evenly. Runs are as short as
 * their number allows; they begin at most a fiftieth of a second apart.
 *
 *     sn_busiest_second_add(b, now);
 *     most = b->most;
 *
 * Time    is passed in; a step back counts as no step.
 * Memory  1048 bytes, the caller's; zero bytes are an empty one.
 * Threads one owner.
 */
#ifndef SN_BUSIEST_SECOND_H
#define SN_BUSIEST_SECOND_H

#include <stdint.h>

#include "seine/time.h"

#define SN_BUSIEST_SECOND_RUNS 64

typedef struct sn_event_run {
    seine_time first;
    uint32_t span; /* from the first to the last, in ns */
    uint32_t n;
} sn_event_run;

typedef struct sn_busiest_second {
    sn_event_run runs[SN_BUSIEST_SECOND_RUNS]; /* a ring, the oldest at `tail` */
    uint32_t tail, n_runs;
    uint32_t n;       /* events in all runs */
    uint32_t most;    /* in any second so far */
    seine_span grain; /* runs begin at least so far apart */
} sn_busiest_second;

void sn_busiest_second_add(sn_busiest_second *b, seine_time now);

#endif
