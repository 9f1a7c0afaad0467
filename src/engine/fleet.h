/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - a worker of <seine/fleet.h> whose keeper has no thread of its own: whoever
 * has a clock and connections of their own gives it its turns.
 *
 *     e = sn_fleet_keeper_open(&opts, &fleet, &diag);
 *     e = sn_fleet_keeper_join(fleet, fetch);
 *     while (sn_fleet_keeper_turn(fleet))
 *         continue;
 *     sn_fleet_keeper_leave(fleet);
 *
 * Time    of the clock of the options.
 * Memory  of the fleet.
 * Threads the keeper's functions have one caller at a time.
 */
#ifndef SN_ENGINE_FLEET_H
#define SN_ENGINE_FLEET_H

#include "seine/fleet.h"
#include "store/fleet_worker.h"

/* As seine_fleet_open. */
SEINE_MUST_CHECK seine_err sn_fleet_keeper_open(const sn_fleet_opts *opts,
                                                seine_fleet **out_fleet,
                                                seine_diag *diag);

/* As seine_fleet_start, without the thread. */
SEINE_MUST_CHECK seine_err sn_fleet_keeper_join(seine_fleet *f, seine_fetch *fetch);

/* One turn; waits for Redis. False: the worker has failed, and there is no other. */
bool sn_fleet_keeper_turn(seine_fleet *f);

/* After the last turn: takes no partition any more, renews what is held. */
void sn_fleet_keeper_leave(seine_fleet *f);

#endif
