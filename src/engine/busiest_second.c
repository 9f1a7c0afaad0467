/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/busiest_second.h"

#include <stdbool.h>

#include "base/time.h"

#define SECOND SEINE_SECS(1)
#define ROOM   SN_BUSIEST_SECOND_RUNS
#define FEWER  (ROOM - 8) /* runs that begin 20 ms apart: 53 touch a second */
#define FINEST SEINE_US(1)

_Static_assert(sizeof(sn_busiest_second) == 1048, "busiest_second.h says so");

static sn_event_run *
run_at(sn_busiest_second *b, uint32_t i)
{
    return &b->runs[(b->tail + i) % ROOM];
}

static seine_time
last_of(const sn_event_run *run)
{
    return run->first + run->span;
}

/* Forgets the runs that lie wholly before the second that ends now. */
static void
drop_old(sn_busiest_second *b, seine_time now)
{
    while (b->n_runs > 0 && now - last_of(run_at(b, 0)) >= SECOND) {
        b->n -= run_at(b, 0)->n;
        b->tail = (b->tail + 1) % ROOM;
        b->n_runs--;
    }
}

static bool
join_run(sn_event_run *run, const sn_event_run *next, seine_span grain)
{
    if (next->first - run->first >= grain)
        return false;
    run->span = (uint32_t)(last_of(next) - run->first);
    run->n += next->n;
    return true;
}

/* Joins the runs that begin within a grain. */
static void
join_all(sn_busiest_second *b)
{
    uint32_t kept = 0;

    for (uint32_t i = 1; i < b->n_runs; i++) {
        const sn_event_run *next = run_at(b, i);

        if (!join_run(run_at(b, kept), next, b->grain))
            *run_at(b, ++kept) = *next;
    }
    b->n_runs = kept + 1;
}

/* Makes the grain as coarse as it must be for some places to be free. */
static void
make_room(sn_busiest_second *b)
{
    do {
        b->grain = b->grain > 0 ? sn_time_min(2 * b->grain, SECOND / 50) : FINEST;
        join_all(b);
    } while (b->n_runs > FEWER);
}

/* Makes the grain finer while there are places enough. */
static void
use_room(sn_busiest_second *b)
{
    if (b->n <= ROOM / 2)
        b->grain = 0;
    else if (b->n_runs <= ROOM / 4)
        b->grain /= 2;
}

/* Those of the oldest run that are a second old. */
static uint32_t
count_outside(const sn_event_run *run, seine_time now)
{
    seine_span over = now - SECOND - run->first;

    if (over < 0)
        return 0;
    if (run->n <= 2)
        return 1; /* the last one is younger */
    return 1 + (uint32_t)((int64_t)(run->n - 2) * over / run->span);
}

void
sn_busiest_second_add(sn_busiest_second *b, seine_time now)
{
    if (b->n_runs > 0)
        now = sn_time_max(now, last_of(run_at(b, b->n_runs - 1)));
    drop_old(b, now);
    use_room(b);
    if (b->n_runs == ROOM)
        make_room(b);
    const sn_event_run one = {now, 0, 1};
    if (b->n_runs == 0 || !join_run(run_at(b, b->n_runs - 1), &one, b->grain))
        *run_at(b, b->n_runs++) = one;
    b->n++;

    uint32_t inside = b->n - count_outside(run_at(b, 0), now);
    if (inside > b->most)
        b->most = inside;
}
