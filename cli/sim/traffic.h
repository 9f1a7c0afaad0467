/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.h - makes up the requests of a trace.
 *
 *     steady:50/s   one every 20 ms
 *     poisson:50/s  50 a second on average, at random; `50/s` means the same
 *     bursty:50/s   the same average, but one second in five brings three fifths of it
 *
 * The same seed gives the same requests.
 */
#ifndef CLI_TRAFFIC_H
#define CLI_TRAFFIC_H

#include <stdint.h>

#include <seine/time.h>

#include "sim/trace.h"

/* SAY_DONE, or SAY_USAGE after a message about `spec`. */
int traffic_make(trace *t, const char *spec, seine_span length, uint64_t seed);

/* 64 uniform bits; `state` starts as the seed. */
uint64_t traffic_dice(uint64_t *state);

#endif
