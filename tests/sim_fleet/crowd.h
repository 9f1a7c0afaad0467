/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - many keepers on the model of Redis, without engines: what a large fleet asks
 * of one server, and how soon the partitions of workers that die go on.
 *
 *     crowd_run(10000, 65536)           prints what it counted; false: a promise is
 * broken
 *
 * Each worker is the real sn_fleet; its turns are given in the order of a virtual time. A
 * question takes 200 us, the work of the server no time.
 */
#ifndef SIM_FLEET_CROWD_H
#define SIM_FLEET_CROWD_H

#include <stdbool.h>
#include <stdint.h>

bool crowd_run(uint32_t workers, uint32_t parts);

#endif
