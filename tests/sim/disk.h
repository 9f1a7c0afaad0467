/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.h - where the URLs of a simulated crawl wait: the real store on a disk made of
 * numbers, which is slow, stalls, is full, cannot be read or returns other bytes.
 *
 *     NONE    the store of the engine, in memory
 *     CHOPPY  everything that can be is spilled; calls are interrupted and do a part
 *     SLOW    a URL that is taken comes some milliseconds later
 *     STALLS  reading and writing take their time, and the loop waits for them
 *     FULL    from some byte on
 *     UNREAD  from some read on
 *     FLIPS   one bit of what was written
 *
 * What a failing disk must lead to is known: the run stops, says which failure it was,
 * and counts every URL that has no record.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "net.h"
#include "store/store.h"

typedef enum sim_disk_kind {
    DISK_NONE,
    DISK_CHOPPY,
    DISK_SLOW,
    DISK_STALLS,
    DISK_FULL,
    DISK_UNREAD,
    DISK_FLIPS
} sim_disk_kind;

/* Draws the disk of a world from dice of its own. Only crawls have one. */
void sim_disk_draw(sim_world *w);

/* The back end of the world that is played next; NULL: the engine's. */
const sn_store_ops *sim_disk_back_end(sim_world *w);
void sim_disk_free(sim_world *w);

/* When the next URL that was asked for has been read; NEVER: none was. */
seine_time sim_disk_when(const sim_world *w);

/* Which error the run has to end with by now; OK: none. */
seine_err sim_disk_err(const sim_world *w);

const char *sim_disk_name(const sim_world *w);

/* No disk at all, whatever was drawn. */
void sim_disk_good(sim_world *w);

#endif
