/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h - the clock, the network and the store that the engine uses.
 *
 * The program hands it down at start, and the engine has no other way to the outside.
 * In a program the clock is the system's and the transport works on sockets. In
 * tests/sim both are simulated in one process: hours of faults run in milliseconds, and
 * the same seed gives the same run.
 *
 * Time    comes from here.
 * Memory  borrowed; the env outlives its users.
 * Threads an env belongs to one shard.
 */
#ifndef SN_ENV_H
#define SN_ENV_H

#include "seine/clock.h"

struct sn_transport;
struct sn_store_ops;

typedef struct sn_env {
    seine_clock *clock;               /* now, wall, dice */
    struct sn_transport *transport;   /* start, cancel, turn, wake (net/transport.h) */
    const struct sn_store_ops *store; /* where URLs wait (store/store.h); NULL: memory */
} sn_env;

#endif
