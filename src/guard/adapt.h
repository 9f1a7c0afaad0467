/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapt.h - the throttle's strategies that find their limit themselves.
 *
 * Time    of the samples; none is read.
 * Memory  one allocation, given back by the strategy's fini.
 * Threads any thread.
 */
#ifndef SN_ADAPT_H
#define SN_ADAPT_H

#include "seine/throttle.h"

extern const seine_throttle_ops sn_adapt_ops;

/* INVAL, NOMEM. */
seine_err sn_adapt_new(const seine_adapt_opts *opts, void **out_self);

/* The limit never exceeds `max` from here on; INVAL for less than its minimum. */
seine_err sn_adapt_ceiling(void *self, uint32_t max);

#endif
