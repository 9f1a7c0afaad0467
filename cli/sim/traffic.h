/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.h - made-up requests for those who have no trace at hand.
 *
 *     steady:50/s   one every 20 ms
 *     poisson:50/s  50 a second on average, each on its own; the same as 50/s
 *     bursty:50/s   the same average, but one second in five brings three fifths of it
 *
 * The same seed gives the same requests.
 */
#ifndef CLI_TRAFFIC_H
#define CLI_TRAFFIC_H

#include <stdint.h>

#include <seine/time.h>

#include "sim/trace.h"

/* Says what is wrong with `spec` and answers SAY_USAGE. */
int traffic_make(trace *t, const char *spec, seine_span length, uint64_t seed);

/* 64 uniform bits; `state` starts as the seed. */
uint64_t traffic_dice(uint64_t *state);

#endif
