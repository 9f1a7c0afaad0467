/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h - all the engine may ask of the world. Handed down at start; there is no other
 * way to it.
 *
 * In a program the clock is the system's and the transport works on sockets. In tests/sim
 * both are numbers in one process: hours of faults in milliseconds, the same from the
 * same seed.
 *
 * Time    comes from here.
 * Memory  borrowed: outlives whoever was given it.
 * Threads an env belongs to one shard.
 */
#ifndef SN_ENV_H
#define SN_ENV_H

#include "seine/clock.h"

struct sn_transport;

typedef struct sn_env {
    seine_clock *clock;             /* now, wall, dice */
    struct sn_transport *transport; /* start, cancel, turn, wake (net/transport.h) */
} sn_env;

#endif
